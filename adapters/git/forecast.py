"""Tells beforehand which branches would not merge. Its rule: tried beside the repository, so nothing of it is touched and nothing of its configuration runs."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import tempfile
from pathlib import Path

from adapters.git.place import Place
from adapters.git.run import Git
from adapters.git.tree import Tree, readable
from bot.domain.world import Collision

PAIRS = 45
SECONDS = 60.0
ATTRIBUTES_LIMIT = 64 * 1024
OLDEST = (2, 38)
log = logging.getLogger("bot.git")


class Forecast:
    def __init__(self, git: Git, tree: Tree, *, seconds: float = SECONDS) -> None:
        self._git = git
        self._tree = tree
        self._seconds = seconds
        self._able: bool | None = None

    async def collisions(self, main: Place, branches: tuple[str, ...]) -> tuple[Collision, ...]:
        if not await self._is_able():
            return ()
        tips: dict[str, str] = {}
        for branch in branches:
            if tip := await self._tree.tip(main, branch):
                tips[branch] = tip
        found: list[Collision] = []
        if len(tips) < 2:
            return ()
        attributes = await self._attributes(main, next(iter(tips.values())))
        with tempfile.TemporaryDirectory(prefix="gwt-bot-") as directory:
            beside = _beside(main, Path(directory), tips, attributes)
            try:
                async with asyncio.timeout(self._seconds):
                    for one, other in itertools.islice(itertools.combinations(tips, 2), PAIRS):
                        files = await self._files(beside, tips[one], tips[other])
                        if files:
                            found.append(Collision(one=one, other=other, files=files))
            except TimeoutError:
                log.warning("forecast cut short", extra={"data": {"seconds": self._seconds}})
        return tuple(found)

    async def _files(self, beside: Place, one: str, other: str) -> tuple[str, ...]:
        """In which files they collide."""
        if one == other:
            return ()
        answer = await self._git.read(
            *("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", one, other),
            at=beside,
            ok=(0, 1, 128),
        )
        if answer.code == 128:  # they share no history, or the repository lacks objects
            data = {"one": one, "other": other, "why": answer.err[:300]}
            log.warning("no forecast", extra={"data": data})
        tree_and_files = answer.fields if answer.code == 1 else []
        return tuple(dict.fromkeys(readable(name) for name in tree_and_files[1:]))

    async def _attributes(self, main: Place, commit: str) -> bytes:
        """What the repository says of its files: `merge=union` is no collision."""
        answer = await self._git.read(
            *("cat-file", "blob", f"{commit}:.gitattributes"),
            at=main,
            ok=(0, 128),
            limit=ATTRIBUTES_LIMIT,
        )
        return answer.out if answer.code == 0 else b""

    async def _is_able(self) -> bool:
        if self._able is None:
            version = await self._git.version()
            self._able = version >= OLDEST
            if not self._able:
                log.warning("no forecasts", extra={"data": {"why": "git 2.38 is needed"}})
        return self._able


def _beside(main: Place, directory: Path, tips: dict[str, str], attributes: bytes) -> Place:
    """An empty repository that sees the objects of the other one. What a merge writes stays in it, and goes with it."""
    sha256 = any(len(tip) == 64 for tip in tips.values())
    version, extension = (1, "[extensions]\nobjectFormat = sha256\n") if sha256 else (0, "")
    for inner in ("objects/info", "refs", "info"):
        (directory / inner).mkdir(parents=True)
    (directory / "HEAD").write_text("ref: refs/heads/none\n")
    (directory / "config").write_text(f"[core]\nrepositoryformatversion = {version}\n{extension}")
    (directory / "info" / "attributes").write_bytes(attributes)
    objects = os.fsencode(main.common / "objects")
    (directory / "objects" / "info" / "alternates").write_bytes(objects + b"\n")
    return Place(git_dir=directory, common=directory, top=directory, main=directory)
