"""The list of a commit's files. Its rule: regular files only, so nothing that is read later leads anywhere else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from adapters.git.place import Place
from adapters.git.run import Git

ENTRIES = 50_000
LISTING_LIMIT = 16 * 1024 * 1024
_REGULAR = "100"
"""How the mode of every file begins that is no symbolic link and no submodule."""
_BLOB = len("100644 blob ")


@dataclass(frozen=True)
class Listing:
    blobs: dict[str, str]
    """Path → blob, in git's order."""
    cut: bool
    """There are more."""


async def listed(git: Git, place: Place, commit: str) -> Listing:
    # without -l, which looks up the size of every blob, and takes three times as long
    answer = await git.read(
        *("ls-tree", "-r", "-z", "--full-tree", commit), at=place, limit=LISTING_LIMIT
    )
    return await asyncio.to_thread(_read, answer.out, answer.truncated)


def _read(out: bytes, truncated: bool) -> Listing:
    entries = out.decode("utf-8", "replace").split("\0")[:-1]
    parts = (entry.partition("\t") for entry in entries[:ENTRIES] if entry.startswith(_REGULAR))
    blobs = {path: facts[_BLOB:] for facts, _, path in parts}
    return Listing(blobs, truncated or len(entries) > ENTRIES)
