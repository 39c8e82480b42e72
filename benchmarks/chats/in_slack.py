"""The bot in Slack, as fast as Slack would take it: without the pause of a second between two messages.

python -m benchmarks.chats.in_slack <address of the Web API> <home>
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from adapters.posting import WriteTurns
from adapters.slack.chat import SlackChat
from adapters.slack.client import SlackAccess
from benchmarks.chats.work import Syncs, at_the_desk, until_asked_to_end
from bot.core.gate import Door
from bot.core.people import Role
from tests.beds.slack import APP_TOKEN, BOT_TOKEN, MIKA, PUBLIC, TEAM


async def main(api_url: str, home: Path) -> None:
    syncs = Syncs()
    place = f"{TEAM}:{PUBLIC}"
    door = Door(dict.fromkeys(Role, frozenset({f"{TEAM}:{MIKA}"})), frozenset({place}))
    access = SlackAccess(BOT_TOKEN, APP_TOKEN, api_url=api_url)
    async with (
        SlackChat(access, home / "slack", [place], turns=WriteTurns(), shared=[place]) as chat,
        at_the_desk(home, "slack", chat, door) as desk,
    ):
        await until_asked_to_end(syncs, chat.listen(desk.take))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
