"""When files were changed last. Its rule: asked of the commit that is checked out, about so many files and no more."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from adapters.git.place import Place
from adapters.git.run import Git

MOST = 100
_LAST = datetime(9999, 1, 1, tzinfo=UTC)


async def last_changed(git: Git, main: Place, files: Iterable[str]) -> dict[str, datetime | None]:
    """None: there is no file of that name."""
    asked = [name for name in dict.fromkeys(files) if _is_a_path(name)][:MOST]
    lines = "".join(f"HEAD:{name}\n" for name in asked)
    answer = await git.read(*("cat-file", "--batch-check"), at=main, stdin=lines.encode())
    found = [one.endswith(" missing") for one in answer.text.splitlines()]
    missing = {name for name, gone in zip(asked, found, strict=False) if gone}
    return {name: None if name in missing else await _age(git, main, name) for name in asked}


def moment(seconds: str) -> datetime:
    """As git tells the time of a commit: whoever makes one can say any. What lies too far ahead is the last there is."""
    return datetime.fromtimestamp(min(int(seconds), int(_LAST.timestamp())), UTC)


async def _age(git: Git, main: Place, name: str) -> datetime | None:
    answer = await git.read(
        *("log", "-1", "--format=%ct", "HEAD", "--", name), at=main, ok=(0, 128)
    )
    return moment(answer.text) if answer.code == 0 and answer.text else None


def _is_a_path(name: str) -> bool:
    """One line, inside the repository."""
    parts = name.split("/")
    return bool(name) and name.isprintable() and name[0] != "/" and ".." not in parts
