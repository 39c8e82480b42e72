"""The contents of the files that matter. Its rule: the most important first, until the room or the time is used up."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.git.build_systems import MANIFESTS, project_manifests
from adapters.git.place import Place
from adapters.git.run import Git
from adapters.git.scan.listing import Listing
from adapters.git.scan.telling import CONVENTIONS, READMES, SPEC

FILE_LIMIT = 64 * 1024
TOTAL_LIMIT = 512 * 1024
LARGEST = 1024 * 1024
"""A file larger than this is not even begun."""
SPECS = 100


@dataclass(frozen=True)
class Wanted:
    """What is read of the listed files."""

    first: list[str]
    then: list[str]
    projects: list[str]
    """The directories below the top that look like projects."""

    @classmethod
    def of(cls, listing: Listing) -> Wanted:
        first = [name for name in (*CONVENTIONS, *MANIFESTS, *READMES) if name in listing.blobs]
        below = project_manifests(listing.blobs)
        manifests = [path for paths in below.values() for path in paths]
        specs = [path for path in listing.blobs if path.startswith("specs/")]
        specs = [path for path in specs if re.fullmatch(SPEC, path)][:SPECS]
        return cls(first, manifests + specs, list(below))


async def contents(
    git: Git, place: Place, listing: Listing, wanted: Wanted, deadline: float
) -> tuple[dict[str, str], bool]:
    """Text by path, and whether nothing was cut or left out."""
    texts: dict[str, str] = {}
    try:
        async with asyncio.timeout_at(deadline):
            paths = wanted.first + wanted.then
            sizes = await _sizes(git, place, [listing.blobs[path] for path in paths])
            chosen, whole = _chosen(paths, listing, sizes)
            # in two steps, so that what is most important is there when the time is up
            for step in (wanted.first, wanted.then):
                texts |= await _texts(
                    git, place, {path: listing.blobs[path] for path in step if path in chosen}
                )
    except TimeoutError:
        whole = False
    return texts, whole


def _chosen(
    paths: Sequence[str], listing: Listing, sizes: dict[str, int]
) -> tuple[frozenset[str], bool]:
    chosen: list[str] = []
    room, whole = TOTAL_LIMIT, True
    for path in paths:
        size = sizes.get(listing.blobs[path], LARGEST + 1)
        needed = min(size, FILE_LIMIT)
        whole = whole and size <= FILE_LIMIT
        if size > LARGEST or needed > room:
            whole = False
            continue
        room -= needed
        chosen.append(path)
    return frozenset(chosen), whole


async def _sizes(git: Git, place: Place, blobs: list[str]) -> dict[str, int]:
    """Blobs that a damaged repository lacks are left out."""
    if not blobs:
        return {}
    answer = await git.read("cat-file", "--batch-check", at=place, stdin=_lines(blobs))
    told = [line.split() for line in answer.text.splitlines()]
    return {facts[0]: int(facts[2]) for facts in told if facts[1] == "blob"}


async def _texts(git: Git, place: Place, files: dict[str, str]) -> dict[str, str]:
    if not files:
        return {}
    blobs = [*files.values()]
    answer = await git.read("cat-file", "--batch", at=place, stdin=_lines(blobs))
    found = _split(answer.out)
    return {path: _text(found[blob]) for path, blob in files.items() if blob in found}


def _split(out: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        blob, kind, *size = out[at:end].decode().split()
        at = end + 1
        if kind == "blob":
            found[blob] = out[at : at + min(int(size[0]), FILE_LIMIT)]
            at += int(size[0]) + 1
    return found


def _lines(blobs: Sequence[str]) -> bytes:
    return "".join(f"{blob}\n" for blob in blobs).encode()


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\0", "\ufffd")
