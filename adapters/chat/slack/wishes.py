"""What was asked for in a form: a thread of its own is begun for it, once, and then it is said there like any message."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from adapters.chat.slack import forms
from adapters.chat.slack.delivery import Delivery, Wish
from adapters.chat.slack.drawing.limits import cut
from adapters.chat.slack.words import on_one_line
from bot.domain.cards import Card, RootCard
from bot.domain.choices import Command, Word
from bot.domain.events import Commanded, Said
from bot.domain.people import Person, Thread
from bot.domain.sentences import sentences
from bot.errors import PortError
from bot.ports import Deliver

log = logging.getLogger("bot.slack")

Open = Callable[[Thread, Card], Awaitable[Thread]]
PATIENCE = 2.0
"""Seconds: Slack waits three for an answer to a form."""
MOST = 200
_TITLE = 80
_LATER = "This takes longer than it should. Please send it again in a moment: it begins once, however often it is sent."
_NOT_THERE = "You may not start anything there. Choose a channel I am set up for, or ask whoever runs this bot."


class Wishes:
    """`open_` begins a thread in a channel; the same card begins the same thread."""

    def __init__(self, open_: Open, deliver: Deliver, *, patience: float = PATIENCE) -> None:
        self._open = open_
        self._deliver = deliver
        self._patience = patience
        self._beginning: dict[str, asyncio.Task[bool]] = {}

    async def begin(self, delivery: Delivery, wish: Wish, by: Person) -> Mapping[str, str]:
        """Returns when it is taken, with nothing; else what to say beside the fields of the form, which stays open.

        What the person wrote is in the form alone: it is not closed before all of it is on disk. Whoever waits no
        longer hinders nothing: the next try joins what is under way.
        """
        task = self._beginning.get(wish.form)
        if task is None or (task.done() and _failed(task)):
            task = asyncio.create_task(self._begin(delivery, wish, by), name="slack: a wish")
            self._remember(wish.form, task)
        try:
            async with asyncio.timeout(self._patience):
                taken = await asyncio.shield(task)
        except TimeoutError:
            return {forms.WHAT: _LATER}
        except PortError as problem:
            log.warning("a wish was not begun", extra={"data": {"reason": problem.reason}})
            return {forms.WHAT: sentences(problem.reason, problem.remedy)}
        return {} if taken else not_there()

    async def close(self) -> None:
        for task in self._beginning.values():
            task.cancel()
        await asyncio.gather(*self._beginning.values(), return_exceptions=True)

    async def _begin(self, delivery: Delivery, wish: Wish, by: Person) -> bool:
        title = cut(on_one_line(wish.text.partition("\n")[0]), _TITLE) or "A feature"
        root = RootCard(
            key=f"root:{wish.form}", session="", title=title, request=wish.text, by=str(by)
        )
        thread = await self._open(delivery.thread, root)
        return await self._deliver(thread, _said(delivery, wish, by))

    def _remember(self, form: str, task: asyncio.Task[bool]) -> None:
        """A form that was sent twice, before and after it was done, begins one thread."""
        self._beginning[form] = task
        old = [name for name, one in self._beginning.items() if one.done() and name != form]
        for name in old[: max(0, len(self._beginning) - MOST)]:
            del self._beginning[name]


def _said(delivery: Delivery, wish: Wish, by: Person) -> Said | Commanded:
    if wish.spec:
        command = Command(word=Word.SPEC, text=wish.text)
        return Commanded(id=delivery.id, at=delivery.at, by=by, command=command)
    return Said(id=delivery.id, at=delivery.at, by=by, text=wish.text, mention=True)


def not_there() -> Mapping[str, str]:
    """What a form is told whose channel is none where this person may ask for anything."""
    return {forms.CHANNEL: _NOT_THERE}


def _failed(task: asyncio.Task[bool]) -> bool:
    return task.cancelled() or task.exception() is not None
