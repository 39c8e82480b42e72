"""The bot on Matrix.

python -m benchmarks.chats.in_matrix <homeserver> <user id> <access token> <who may ask> <room> <home>
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from adapters.matrix.chat import MatrixChat
from adapters.matrix.client import MatrixAccess
from benchmarks.chats.work import Syncs, at_the_desk, until_asked_to_end
from bot.core.gate import Door
from bot.core.people import Role


async def main(access: MatrixAccess, person: str, room: str, home: Path) -> None:
    syncs = Syncs()
    door = Door(dict.fromkeys(Role, frozenset({person})), frozenset({room}))
    async with (
        MatrixChat(access, home / "matrix", lambda *_: False) as chat,
        at_the_desk(home, "matrix", chat, door) as desk,
    ):
        await until_asked_to_end(syncs, chat.listen(desk.take))


if __name__ == "__main__":
    homeserver, user_id, token, person, room, home = sys.argv[1:]
    asyncio.run(main(MatrixAccess(homeserver, user_id, token), person, room, Path(home)))
