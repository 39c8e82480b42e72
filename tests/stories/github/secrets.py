"""The story of the token: only the bot and GitHub ever see it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from adapters.github.tokens import for_git
from tests.stories.github.shipping import MERGE_ALL, ends_complete, three_are_open
from tests.stories.github.workshop import Workshop

KEYS = ("T001", "T002", "T003")


async def the_token_stays_with_the_bot(shop: Workshop) -> None:
    """Not even what went wrong shows it: not in files, chats, agents, git's settings or pull requests."""
    token = shop.github.token
    shapes = (token, for_git(token))
    assert token in shop.bot.environ.values()
    shop.github.git_faults.answer(401, "push")
    shop.github.faults.answer(500, "POST", "*/pulls")
    shown: set[str] = set()
    await three_are_open(shop.scene, shop.hosting)
    shown |= set(_command_lines())
    await shop.person.presses(MERGE_ALL, on="#3")
    await ends_complete(shop.scene)
    shown |= set(_command_lines())
    assert not [line for line in shown if _holds(line, shapes)]
    assert not [str(path) for path, text in _files(shop.folder) if _holds(text, shapes)]
    assert not [one.run for key in KEYS for one in shop.runs(key) if _holds(one.process, shapes)]
    assert not [m for m in shop.slack.world.messages if _holds(m.reads, shapes)]
    assert not [p.number for p in shop.there.pulls if _holds(f"{p.title}{p.body}", shapes)]


def _holds(text: str, shapes: tuple[str, ...]) -> bool:
    return any(shape in text for shape in shapes)


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    """All that is there, also in the bot's own repositories and beside the agents' work."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path, path.read_bytes().decode("latin-1")


def _command_lines() -> Iterator[str]:
    """Of all processes that can be looked at."""
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                yield (process / "cmdline").read_text(errors="replace")
            except OSError:
                continue  # it has ended
