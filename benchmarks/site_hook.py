"""Hook of mkdocs (see mkdocs.yml): brings files from outside docs/ into the site, and notebooks as pages.

A page of docs/ links to other files of the project as a forge shows them: `../data/README.md`. Such a file becomes a
page or a download under `project/`, and every link to it is rewritten. A link to a folder becomes plain text: a site
has no listings.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
ALWAYS = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "data/README.md")
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
LINKED_TEXT = re.compile(r"\[([^\[\]]+)\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the project's files that pages link to, and a page for every notebook."""
    for path in _linked_files(ALWAYS, files):
        files.append(File.generated(config, _site_path(path), abs_src_path=str(ROOT / path)))
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        for uri, content in _pages_of(notebook):
            files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite the links of a page from places in the repository to places in the site."""
    source = _repository_path(page.file.src_uri)

    def moved(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if (ROOT / path).is_dir():
            return text
        return f"[{text}]({posixpath.relpath(_site_path(path), posixpath.dirname(page.file.src_uri))}{anchor})"

    return LINKED_TEXT.sub(moved, markdown)


def _linked_files(always: tuple[str, ...], files: Files) -> list[str]:
    """Return the paths, from the root, of all files outside docs/ that the site needs: pages and what they link to."""
    waiting = [*always, *(f"docs/{file.src_uri}" for file in files if file.src_uri.endswith(".md"))]
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in seen or not (ROOT / path).is_file():
            continue
        seen.add(path)
        if path.endswith(".md"):
            text = (ROOT / path).read_text(encoding="utf-8")
            targets = LINK.findall(text)
            waiting += [posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) for target in targets]
    return sorted(path for path in seen if not path.startswith("docs/"))


def _site_path(path: str) -> str:
    """Place in the site of a file of the repository."""
    return path.removeprefix("docs/") if path.startswith("docs/") else f"project/{path}"


def _repository_path(uri: str) -> str:
    """Place in the repository of a page of the site."""
    return uri.removeprefix("project/") if uri.startswith("project/") else f"docs/{uri}"


def _pages_of(notebook: File) -> Iterator[tuple[str, str | bytes]]:
    """Yield the page of a notebook and the pictures in it, as (place in the site, content)."""
    stem = notebook.src_uri.removesuffix(".ipynb")
    cells = json.loads(Path(str(notebook.abs_src_path)).read_text(encoding="utf-8"))["cells"]
    parts: list[str] = []
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            text = "".join(output.get("text", data.get("text/plain", [])))
            if "image/png" in data:
                picture = f"{stem}-{number}.png"
                yield picture, base64.b64decode("".join(data["image/png"]))
                parts.append(f"![Output of the cell above]({posixpath.basename(picture)})")
            elif "text/html" in data:
                lines = "".join(data["text/html"]).splitlines()
                parts.append("<div>\n" + "\n".join(line for line in lines if line.strip()) + "\n</div>")
            elif text:
                parts.append(f"```text\n{text.rstrip()}\n```")
    parts.append(f"[Download this notebook]({posixpath.basename(notebook.src_uri)})")
    yield f"{stem}.md", "\n\n".join(parts) + "\n"
