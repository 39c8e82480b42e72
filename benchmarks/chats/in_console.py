"""The bot with nothing but its local socket.

python -m benchmarks.chats.in_console <home> <id of its owner>
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from adapters.local.chat import LocalChat
from adapters.local.handshake import VERSION, Welcome
from adapters.local.server import serve_socket
from benchmarks.chats.work import Syncs, at_the_desk, until_asked_to_end
from bot.core.desk import Desk
from bot.core.errors import Refused
from bot.core.gate import Door
from bot.core.people import Person, Role


class Behind:
    """What the socket leads to."""

    def __init__(self, desk: Desk) -> None:
        self.rest, self.greet, self.tell = desk.rest, desk.welcome, desk.tell

    async def page_address(self, session: str, port: int) -> str:
        raise Refused("There is no page here.")


async def main(home: Path, owner: Person) -> None:
    syncs = Syncs()
    chat = LocalChat(home, owner)
    door = Door(dict.fromkeys(Role, frozenset({owner.id})))
    welcome = Welcome(gwt_bot=VERSION, version="", pid=os.getpid(), repository="")
    async with (
        at_the_desk(home, owner.platform, chat, door) as desk,
        serve_socket(home, chat, Behind(desk), welcome),
    ):
        await until_asked_to_end(syncs, chat.listen(desk.take))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Person(platform="console", id=sys.argv[2])))
