"""Server of runs with uvicorn, until a signal stops it."""

from __future__ import annotations

import importlib
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from forecast_attn.config.requests import ServeRequest, takes
from forecast_attn.errors import ConfigError, needing

if TYPE_CHECKING:
    from forecast_attn.config.keywords import ServeKeywords

PACKAGES = ("fastapi", "uvicorn", "prometheus_client")
GRACE = 10
"""Seconds for requests under way when the server is told to stop."""


def check_installed() -> None:
    """Refuse to serve without the packages of the extra.

    Raises:
        ConfigError: with the command that installs them.
    """
    with needing("a server", "serve"):
        for name in PACKAGES:
            importlib.import_module(name)


@takes([ServeRequest])
def serve(
    runs: Sequence[Path | str],
    *,
    on_listening: Callable[[str], None] = lambda address: None,
    **options: Unpack[ServeKeywords],
) -> None:
    """Serve runs over HTTP until SIGINT or SIGTERM.

    Args:
        runs: as for `create_app`.
        on_listening: called with the address, once it answers.
        **options: listed below.

    Raises:
        ConfigError: a package of the extra `serve` is missing, nobody may listen there, or an option is out of range.
        RunError: a run is unfinished or damaged.
    """
    request = ServeRequest.from_options(dict(options))
    check_installed()
    import uvicorn

    from forecast_attn.serving.app import app_of

    app = app_of(runs, request)
    config = uvicorn.Config(
        app,
        host=request.host,
        port=request.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    with _listening(request) as listener:
        host, port = listener.getsockname()[:2]
        on_listening(f"http://{f'[{host}]' if ':' in host else host}:{port}")
        uvicorn.Server(config).run(sockets=[listener])


def _listening(request: ServeRequest) -> socket.socket:
    """Open a socket that listens on the address.

    Raises:
        ConfigError: there is no such address, or another program listens there.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(request.host, request.port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except (OSError, UnicodeError) as error:  # the latter of a name with an empty part, or one of over 63 letters
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"cannot listen at {request.host}:{request.port}: {reason}", "--port 0 takes a free one"
        ) from None
