"""matplotlib's folder in a command: in the user's home it would write a list of the fonts, which nobody has named."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def matplotlib_out_of_home() -> Iterator[None]:
    """Give matplotlib, if it is imported within the block, a temporary folder; one of the user's choice stays."""
    if "matplotlib" in sys.modules or "MPLCONFIGDIR" in os.environ:
        yield
        return
    finder: Any = _BeforeMatplotlib()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if finder.folder is not None:
            del os.environ["MPLCONFIGDIR"]
            finder.folder.cleanup()


class _BeforeMatplotlib:
    """Finds no module, but hears that matplotlib is looked for, which few commands do."""

    folder: Any = None

    def find_spec(self, name: str, *_: object) -> None:
        """Make the folder if this is matplotlib."""
        if name != "matplotlib" or self.folder is not None:
            return
        import shutil
        from tempfile import TemporaryDirectory

        self.folder = TemporaryDirectory(prefix="matplotlib-")
        os.environ["MPLCONFIGDIR"] = self.folder.name
        for file in (*_users_folder("CONFIG").glob("matplotlibrc"), *_users_folder("CACHE").glob("fontlist-*.json")):
            shutil.copy(file, self.folder.name)


def _users_folder(kind: str) -> Path:
    """The folder of the user that matplotlib would read settings or the list of fonts from."""
    home = Path("~").expanduser()
    if not sys.platform.startswith(("linux", "freebsd")):
        return home / ".matplotlib"
    return Path(os.environ.get(f"XDG_{kind}_HOME") or home / f".{kind.lower()}", "matplotlib")
