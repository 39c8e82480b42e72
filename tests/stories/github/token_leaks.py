"""The story of the bot's keys: only the bot, and those they are for, ever see them. A canary among them opens nothing."""

from __future__ import annotations

import base64
import re
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from adapters.github.tokens import git_authorization
from bot.cli.assemble import socket_name
from bot.cli.process import CANARY
from tests.stories.github.shipping import MERGE_ALL, ends_complete, three_are_open
from tests.stories.github.workshop import Workshop

KEYS = ("T001", "T002", "T003")
CANARIES = {CANARY: "canary-6f1c09d2b7a84e53", "SHOP_API_KEY": "canary-of-the-shop-41b7e8a95c"}
"""What stands in the bot's environment besides the keys of its chats."""


async def no_key_leaves_the_bot(shop: Workshop) -> None:
    """Not even what went wrong shows one: not in files, chats, processes, tmux, git's settings or pull requests."""
    shapes = _shapes(shop)
    shop.github.git_faults.answer(401, "push")
    shop.github.faults.answer(500, "POST", "*/pulls")
    seen: set[str] = set()
    await three_are_open(shop.scene, shop.hosting)
    seen |= set(_processes(shop)) | set(_tmux(shop))
    await shop.person.presses(MERGE_ALL, on="#3")
    await ends_complete(shop.scene)
    seen |= set(_processes(shop))
    assert any(shop.folder.name in one for one in seen), "nothing of the bot's was looked at"
    runs = [one.process for key in KEYS for one in shop.runs(key)]
    assert len(runs) >= len(KEYS)
    assert not [one for one in (*seen, *runs) if _holds(one, shapes)]
    assert not [str(path) for path, text in _files(shop.folder) if _holds(text, shapes)]
    assert not [m for m in shop.slack.world.messages if _holds(m.reads, shapes)]
    assert not [p.number for p in shop.there.pulls if _holds(f"{p.title}{p.body}", shapes)]
    assert not _holds(shop.bot.git("log", "--all", "--format=%B%an%ae"), shapes)
    assert _open_to_others(shop.bot.home) == []


def _shapes(shop: Workshop) -> list[str]:
    """Every key there is, as it is written and as it is encoded on its way."""
    telling = re.compile("TOKEN|KEY|SECRET")
    keys = [v for name, v in shop.bot.environ.items() if telling.search(name) and len(v) >= 8]
    assert {*CANARIES.values(), shop.github.token} <= set(keys)
    encoded = [base64.b64encode(key.encode()).decode().rstrip("=")[:-1] for key in keys]
    return [*keys, *encoded, *(key[::-1] for key in keys), git_authorization(shop.github.token)]


def _holds(text: str, shapes: Sequence[str]) -> bool:
    return any(shape in text for shape in shapes)


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    """All that is there, also in the bot's own repositories and beside the agents' work."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path, path.read_bytes().decode("latin-1")


def _open_to_others(home: Path) -> list[str]:
    """What anybody else could read, write or enter, of all the bot keeps. Links have no mode of their own; what
    agents write themselves lies in a folder that is closed."""
    modes = {path: path.lstat().st_mode for path in (home, *home.rglob("*"))}
    return [
        f"{path} {stat.S_IMODE(mode):o}"
        for path, mode in modes.items()
        if mode & 0o077 and not stat.S_ISLNK(mode) and path.name != "observations.jsonl"
    ]


def _processes(shop: Workshop) -> Iterator[str]:
    """Environments and command lines of all that was started by the bot, or lives on its tmux server."""
    server = _asked(shop, "display-message", "-p", "#{pid}").strip()
    roots = [shop.bot.pid, *([int(server)] if server else [])]
    for root in roots:
        for process in psutil.Process(root).children(recursive=True):
            yield from _told_by(process)
    if server:
        yield from _told_by(psutil.Process(int(server)))


def _told_by(process: psutil.Process) -> Iterator[str]:
    try:
        yield " ".join(process.cmdline())
        yield " ".join(f"{name}={value}" for name, value in process.environ().items())
    except psutil.Error:
        return  # it has ended


def _tmux(shop: Workshop) -> Iterator[str]:
    """What every pane of the bot's server is given, and what stands on it."""
    yield _asked(shop, "show-environment", "-g")
    for run in shop.bot.agents():
        yield _asked(shop, "show-environment", "-t", f"={run}")
        yield _asked(shop, "capture-pane", "-p", "-S", "-", "-t", f"={run}:")


def _asked(shop: Workshop, *what: str) -> str:
    command = ("tmux", "-L", socket_name(shop.bot.home), *what)
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
