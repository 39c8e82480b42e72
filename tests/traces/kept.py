"""Recorded traces on disk: a compressed file each, and one file with a digest of each."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

DIGESTS = "digests.txt"


def write(folder: Path, name: str, lines: list[str]) -> str:
    """Returns its digest. The same lines make the same file."""
    content = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    path = folder / f"{name}.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0))
    return sha256(content).hexdigest()


def read(folder: Path, name: str) -> list[str]:
    content = gzip.decompress((folder / f"{name}.gz").read_bytes())
    return content.decode("utf-8", "surrogatepass").split("\n")[:-1]


def write_digests(folder: Path, digests: Mapping[str, str]) -> None:
    lines = [f"{digest}  {name}\n" for name, digest in sorted(digests.items())]
    (folder / DIGESTS).write_text("".join(lines))


def read_digests(folder: Path) -> dict[str, str]:
    lines = (folder / DIGESTS).read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
