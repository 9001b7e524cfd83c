"""Serves the pages of a folder of runs on this machine alone, to whoever has the address that is printed.

The standard library's server: a few pages for one person need no framework, and `forecast ui` no extra. The token is
the first part of every path, so that relative links carry it; no cookie is set, which every other port would be sent.
"""

from __future__ import annotations

import http.server
import re
import secrets
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack
from urllib.parse import unquote, urlsplit

from forecast_attn.config.requests import UiRequest, takes
from forecast_attn.errors import ConfigError, UserError, shell_command
from forecast_attn.live.pages import Pages
from forecast_attn.runs.run_dir import RUNS, RunDir

if TYPE_CHECKING:
    from forecast_attn.config.keywords import UiKeywords

ADDRESS = "127.0.0.1"
OUR_HOSTS = frozenset({ADDRESS, "localhost"})
"""Names under which a browser of this machine, or at the end of an SSH tunnel, asks; a page of another site that had
its own name lead here would ask under that."""
TIMEOUT = 30.0
"""Seconds that a connection may be silent."""
HTML, JSON, TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Reply(NamedTuple):
    """An answer to a request."""

    status: int
    kind: str
    text: str
    location: str | None = None


FORBIDDEN = Reply(403, TEXT, "Open the whole address that `forecast ui` printed; its token is new at every start.\n")
NOT_FOUND = Reply(404, TEXT, "There is no such page.\n")


class RunsServer(http.server.ThreadingHTTPServer):
    """Listens from the start; answers while `serve_forever` runs.

    Args:
        folder: of runs.
        port: 0 for a free one.

    Raises:
        ConfigError: another program listens there.
    """

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.pages = Pages(folder)
        self.token = secrets.token_urlsafe(24)
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ConfigError(f"cannot listen at {ADDRESS}:{port}: {reason}", "--port 0 takes a free one") from None

    @property
    def url(self) -> str:
        """The address to open, token included."""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    def server_bind(self) -> None:
        """Bind without asking the network for the name of this machine, as the library's own does."""
        if self.allow_reuse_address and sys.platform != "win32":  # there, it would let two programs listen
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that closed the connection; report any other error."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def reply(self, host: str, path: str) -> Reply:
        """Answer a request.

        Args:
            host: its Host header.
            path: as sent, still in percent signs.
        """
        try:
            _, token, *parts = urlsplit(path).path.split("/")
        except ValueError:  # such as http://[x/, or an address without a slash
            return FORBIDDEN
        is_ours = re.sub(r":\d+$", "", host).lower() in OUR_HOSTS
        if not is_ours or not secrets.compare_digest(token.encode(errors="replace"), self.token.encode()):
            return FORBIDDEN
        match [unquote(part) for part in parts]:
            case []:
                return Reply(308, TEXT, "", f"/{self.token}/")
            case [""]:
                return Reply(200, HTML, self.pages.list_page())
            case ["runs.json"]:
                return Reply(200, JSON, self.pages.runs_json())
            case ["runs", name, kind]:
                return self._run_page(name, kind)
        return NOT_FOUND

    def _run_page(self, name: str, kind: str) -> Reply:
        try:
            page = self.pages.run_page(name, kind)
        except UserError as error:
            hint = f"hint: {error.hint}\n" if error.hint else ""
            return Reply(500, TEXT, f"error: {error.message}\n{hint}")
        return NOT_FOUND if page is None else Reply(200, HTML, page)


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answer one request, then close the connection."""

    server: RunsServer
    timeout = TIMEOUT

    def do_GET(self) -> None:
        hosts = self.headers.get_all("Host", [])
        reply = self.server.reply(hosts[0] if len(hosts) == 1 else "", self.path)
        body = reply.text.encode(errors="replace")
        self.send_response(reply.status)
        headers = {**HEADERS, "Content-Type": reply.kind, "Content-Length": str(len(body))}
        for name, value in (
            headers.items() if reply.location is None else {**headers, "Location": reply.location}.items()
        ):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815

    def version_string(self) -> str:
        """The name of the server, without versions."""
        return "forecast-attn"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the terminal shows only the address."""


@takes([UiRequest])
def ui(
    runs: Path | str = RUNS,
    *,
    on_listening: Callable[[str], None] = lambda url: None,
    **options: Unpack[UiKeywords],
) -> None:
    """Show the runs of a folder in a browser of this machine, until Ctrl-C.

    Args:
        runs: the folder; `runs` may come into being later.
        on_listening: called with the address to open, once it answers.
        **options: listed below.

    Raises:
        ConfigError: there is no such folder, or another program listens at the port.
    """
    request, folder = UiRequest.from_options(dict(options)), Path(runs)
    if RunDir(folder).config.is_file():
        raise ConfigError(f"'{folder}' is one run; a folder of runs is shown", shell_command("ui", folder.parent))
    if not folder.is_dir() and folder != RUNS:
        raise ConfigError(f"there is no folder '{folder}'", "name a folder of runs, such as runs")
    with RunsServer(folder, request.port) as server:
        on_listening(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
