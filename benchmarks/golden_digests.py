"""Digests of the files and documents that the command line writes, without what differs between two equal runs."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Digests = dict[str, str]

# Keys of JSON documents, columns of tables and keys of metadata that differ between two equal runs.
# history.csv, as manifest.json names it, has the seconds of each epoch.
VARYING = {
    "seconds",
    "seconds_std",
    "windows_per_second",
    "package_version",
    "version of forecast-attn",
    "history.csv",
    "members/0/history.csv",
    "members/1/history.csv",
}
SHORTEST_DIGESTED = 48


def digest_file(path: Path) -> Digests:
    read: dict[str, Callable[[Path], Digests]] = {
        ".json": digest_json,
        ".csv": digest_csv,
        ".parquet": digest_parquet,
        ".safetensors": digest_weights,
    }
    return read.get(path.suffix, digest_whole)(path)


def digest_whole(path: Path) -> Digests:
    return {"": digest(without_version(path.read_bytes()))}


def digest_json(path: Path) -> Digests:
    return digest_text(path.read_text(encoding="utf-8"))


def digest_text(text: str) -> Digests:
    """Digest a JSON document value by value, any other text as a whole."""
    try:
        document = json.loads(text)
    except ValueError:
        return {"": digest(without_version(text.encode()))}
    return dict(leaves("", document))


def leaves(path: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield every value of a JSON document with its place; lists of plain numbers and words count as one value."""
    if isinstance(value, dict) and value:
        # The order of keys is part of the bytes.
        yield f"{path}/keys", digest(",".join(key for key in value if key not in VARYING).encode())
        for key, inner in value.items():
            if key not in VARYING:
                yield from leaves(f"{path}/{key}", inner)
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for number, inner in enumerate(value):
            yield from leaves(f"{path}/{number}", inner)
    else:
        text = json.dumps(value)
        yield path, text if len(text) <= SHORTEST_DIGESTED else digest(text.encode())


def digest_csv(path: Path) -> Digests:
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    digests = {name: digest("\n".join(row[n] for row in rows).encode()) for n, name in enumerate(header)}
    if VARYING.isdisjoint(header):
        digests["bytes"] = digest(path.read_bytes())
    return {name: value for name, value in digests.items() if name not in VARYING}


def digest_parquet(path: Path) -> Digests:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    digests = {f"column {name}": digest(repr(table[name].to_pylist()).encode()) for name in table.column_names}
    digests["types"] = digest(str(table.schema.remove_metadata()).encode())
    versioned = False
    for key, value in (table.schema.metadata or {}).items():
        name = key.decode()
        # Arrow's own copy of the schema holds the metadata once more.
        versioned |= name in VARYING or without_version(value) != value
        if name not in VARYING and name != "ARROW:schema":
            digests[f"metadata {name}"] = digest(without_version(value))
    if not versioned:
        digests["bytes"] = digest(path.read_bytes())
    return digests


def digest_weights(path: Path) -> Digests:
    from numpy.typing import NDArray
    from safetensors.numpy import load_file

    digests = {"bytes": digest(path.read_bytes())}
    tensors: dict[str, NDArray[Any]] = load_file(path)
    for name, tensor in tensors.items():
        digests[f"tensor {name} {list(tensor.shape)}"] = digest(tensor.tobytes())
    return digests


def without_version(content: bytes) -> bytes:
    from importlib.metadata import version

    return re.sub(rb"\b%s\b" % re.escape(version("forecast-attn").encode()), b"VERSION", content)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def prefixed(prefix: str, digests: Digests) -> Digests:
    return {f"{prefix} | {name}" if name else prefix: value for name, value in digests.items()}
