"""Photographs the bot in nheko, a real client of Matrix: `python -m tests.looks.nheko [file]`.

A homeserver of its own, a screen of its own, and a window in it, which is looked at until it does not change any more.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession

from adapters.matrix.chat import MatrixChat
from adapters.matrix.client import MatrixAccess
from bot.core.people import Thread
from tests.beds.synapse import Homeserver, Login, Person
from tests.looks.catalogue import entries
from tests.looks.catalogue.sample import REQUEST

PROGRAMS = ("nheko", "Xvfb", "xdotool", "import", "dbus-run-session")
HOW_TO_GET = "apt install nheko xvfb xdotool imagemagick dbus fonts-noto-color-emoji"
DOCS = Path("docs/pictures/matrix-nheko.png")
SHOWN = ("received/repository read", "questions/answered", "approval/first revision")
SIZE = (1000, 960)
SECONDS, PAUSE = 60, 3
_SETTINGS = """\
[General]
run_without_secure_secrets_service=true

[auth]
access_token={token}
device_id={device}
home_server={url}
user_id={user}

[user]
theme=light
timeline\\stop=false
"""


def missing() -> tuple[str, ...]:
    return tuple(name for name in PROGRAMS if shutil.which(name) is None)


async def take(file: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with Homeserver(folder / "synapse") as homeserver:
            async with AsyncExitStack() as left:
                session = await left.enter_async_context(ClientSession())
                mika, gwt = (
                    Person(homeserver.url, homeserver.register(name), session)
                    for name in ("mika", "gwt")
                )
                await mika.rename("Mika")
                room = await _talk(folder, homeserver, mika, gwt)
                screen = await left.enter_async_context(_screen())
                window = _window(folder / "home", screen, homeserver.url, mika.login, room)
                await left.enter_async_context(window)
                await _picture(screen, file)


async def _talk(folder: Path, homeserver: Homeserver, mika: Person, gwt: Person) -> str:
    """Mika asks, the bot shows what it shows."""
    room = await mika.create_room(gwt.id, name="shop", room_version="10")
    await gwt.join(room)
    root = await mika.say(room, REQUEST, mention=gwt.id)
    thread = Thread(platform="matrix", channel=room, root=root)
    access = MatrixAccess(homeserver.url, gwt.id, gwt.login.access_token)
    cards = {one.name: one.card for one in entries()}
    async with MatrixChat(access, folder / "matrix", _everywhere) as chat:
        for name in SHOWN:
            await chat.show(thread, cards[name])
    return room


def _everywhere(inviter: str, room: str, direct: bool) -> bool:
    return True


@asynccontextmanager
async def _screen() -> AsyncGenerator[str]:
    width, height = SIZE
    server = await asyncio.create_subprocess_exec(
        *("Xvfb", "-displayfd", "1", "-screen", "0", f"{width}x{height}x24"),
        stdout=PIPE,
        stderr=DEVNULL,
    )
    try:
        assert server.stdout
        yield f":{(await server.stdout.readline()).decode().strip()}"
    finally:
        await _end(server)


@asynccontextmanager
async def _window(
    home: Path, screen: str, url: str, login: Login, room: str
) -> AsyncGenerator[None]:
    settings = home / ".config" / "nheko" / "nheko.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        _SETTINGS.format(
            token=login.access_token, device=login.device_id, url=url, user=login.user_id
        )
    )
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
        "LANG": "C.UTF-8",
        "DISPLAY": screen,
        "QT_QUICK_BACKEND": "software",
    }
    client = await asyncio.create_subprocess_exec(
        *("dbus-run-session", "--", "nheko", f"matrix:roomid/{room[1:]}"),
        env=environ,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        await _end(client)


async def _picture(screen: str, file: Path) -> None:
    """Where to click stands in no document: these are the places of nheko 0.11, in a window of this size."""
    width, height = SIZE
    window = ("search", "--sync", "--onlyvisible", "--class", "nheko")
    await _run(screen, "xdotool", *window, "windowsize", "%@", str(width), str(height))
    no_new_keys, no_warning, first_room = (width - 67, height - 38), (207, 65), (100, 65)
    for place in (no_new_keys, no_warning, first_room):
        await _still(screen)
        await _run(screen, "xdotool", "mousemove", *map(str, place), "click", "1")
    await _run(screen, "xdotool", "mousemove", str(width), str(height))
    file.write_bytes(await _still(screen))  # noqa: ASYNC240 - nobody waits


async def _still(screen: str) -> bytes:
    """What stands there once it does not change any more."""
    before = b""
    for _ in range(SECONDS // PAUSE):
        await asyncio.sleep(PAUSE)
        now = await _run(screen, "import", "-window", "root", "-strip", "png:-")
        if now == before:
            break
        before = now
    return before


async def _run(screen: str, *command: str) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, "DISPLAY": screen}, stdout=PIPE
    )
    out, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return out


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
    await process.wait()


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("file", nargs="?", type=Path, default=DOCS)
    given = words.parse_args()
    if lacking := missing():
        raise SystemExit(f"{', '.join(lacking)} needed: {HOW_TO_GET}")
    asyncio.run(take(given.file))


if __name__ == "__main__":
    main()
