"""URLs in the place of paths: s3://bucket/sales/, and what pathlib makes of it."""

from __future__ import annotations

import re
from pathlib import Path

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.+)", re.DOTALL)


def url_of(name: object) -> str | None:
    """The URL that somebody wrote, or None for a path.

    pathlib takes s3://bucket/key for the path s3:/bucket/key, which is read back, unless there is such a path here.
    """
    text = name.as_posix() if isinstance(name, Path) else name  # Windows turns slashes around
    if not isinstance(text, str):
        return None
    match = _URL.fullmatch(text)
    if match is None or Path(text).exists():
        return None
    if "://" in text:
        return text
    return f"{match[1]}:{'///' if match[1] == 'file' else '//'}{match[2]}"


def without_secrets(url: str) -> str:
    """The URL without a password, and that of a web server without the query, which may be a signature."""
    scheme, _, rest = url.partition("://")
    if scheme in ("http", "https"):  # elsewhere a question mark is a wildcard
        rest = rest.partition("?")[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
