"""A few files and folders by their names: as they are at a commit, and whether a worktree has others. Never through a link."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from adapters.git.checkout import mark
from adapters.git.place import Place
from adapters.git.run import Git
from adapters.git.tree import readable
from adapters.git.writing import checked

LARGEST = 1 << 20
MOST = 200
"""Entries below a folder; more of them are not what anybody writes by hand."""


class Named:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def at(self, place: Place, commit: str, names: Sequence[str]) -> dict[str, str]:
        """What they say at a commit. Of a folder and of a link it is enough that they are there."""
        if not names:
            return {}
        listed = await self._git.read("ls-tree", "-z", commit, "--", *_checked(names), at=place)
        found: dict[str, str] = {}
        for entry in listed.fields:
            about, _, name = entry.partition("\t")
            mode, _, object_id = about.split(" ")[:3]
            found[name] = ""
            if mode.startswith("100"):
                blob = await self._git.read(
                    *("cat-file", "blob", object_id), at=place, limit=LARGEST
                )
                found[name] = blob.out.decode("utf-8", "replace")
        return found

    async def changed(self, place: Place, commit: str, names: Sequence[str]) -> dict[str, str]:
        """Those that are not as they are at the commit, ignored ones too, each with a mark of how it is."""
        if not names:
            return {}
        words = _checked(names)
        tracked = await self._git.read(
            *("diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"),
            *("--ignore-submodules=dirty", commit, "--", *words),
            at=place,
        )
        others = await self._git.read("ls-files", "-z", "--others", "--", *words, at=place)
        paths = sorted({*tracked.fields, *others.fields})[:MOST]
        return await asyncio.to_thread(
            lambda: {readable(path): mark(place.top / path, "") for path in paths}
        )


def _checked(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        checked(name)
    return tuple(names)
