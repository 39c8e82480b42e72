"""Run in a real terminal: a console whose desk writes down what it hears, and shows what it is told to.

    python -m tests.adapters.console.desk HOME

What was heard is in HOME/heard, a line each. Saying `show <name>` shows that sample card a moment later.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from adapters.console.chat import ConsoleChat
from bot.core.cards import Card
from bot.core.events import FromPeople, Pressed, Said
from bot.core.people import Thread
from tests.fakes import cards


async def main(home: Path) -> None:
    chat = ConsoleChat(home, cards.MIKA)
    shown = {card.kind: card for card in cards.EVERY_KIND}
    later: set[asyncio.Task[None]] = set()

    async def deliver(thread: Thread, event: FromPeople) -> bool:
        with (home / "heard").open("a") as heard:
            heard.write(_told(event) + "\n")
        if isinstance(event, Said) and event.text.startswith("show "):
            later.add(asyncio.create_task(_show_later(thread, shown[event.text.split()[1]])))
        return True

    async def _show_later(thread: Thread, card: Card) -> None:
        await asyncio.sleep(0.5)
        await chat.show(thread, card)

    await chat.listen(deliver)
    sys.stdout.write("the program has ended\n")


def _told(event: FromPeople) -> str:
    match event:
        case Said(text=text):
            return f"said {text}"
        case Pressed(verb=verb, text=text):
            return f"pressed {verb} {text}".strip()
        case _:
            return event.kind


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
