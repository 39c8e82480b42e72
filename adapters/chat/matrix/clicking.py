"""What a reaction leads to: a press, a question first, or nothing. One that was taken back before it counted never was.

Before anything comes of it a reaction is looked at once more: what a homeserver tells may be old.
"""

from __future__ import annotations

from adapters.chat.matrix.chips import choice_for, late_choice
from adapters.chat.matrix.clicks import Click, Clicks, State
from adapters.chat.matrix.forms import (
    answered,
    asks_twice,
    confirmed,
    counted_already,
    elsewhere,
    in_words,
    mark_of,
    taken_back,
    wanted_next,
)
from adapters.chat.matrix.gateway import Gateway
from adapters.chat.matrix.heard import Message, Reaction, Redaction
from adapters.chat.matrix.saying import Saying
from adapters.chat.matrix.wording import offered_in, written
from adapters.posting import Ledger, Placed
from bot.domain.cards import AnswerCard
from bot.domain.choices import Choice, Verb
from bot.domain.events import Opened, Pressed
from bot.domain.people import Person, Thread
from bot.errors import Unavailable
from bot.ports import Deliver

_LIGHT = frozenset({Verb.LOG, Verb.HELPFUL, Verb.UNHELPFUL})
"""Nothing was decided by them, so nothing is to be said when they are taken back."""


class Clicking:
    def __init__(
        self, ledger: Ledger, clicks: Clicks, gateway: Gateway, deliver: Deliver, saying: Saying
    ) -> None:
        self._ledger, self._clicks, self._gateway = ledger, clicks, gateway
        self._deliver, self._saying = deliver, saying

    async def clicked(self, reaction: Reaction, by: Person) -> None:
        placed = self._ledger.by_message(reaction.room, reaction.target)
        if placed is None:
            return
        choice = choice_for(placed, reaction.key)
        late = None if choice or asks_twice(placed) else late_choice(placed, reaction.key)
        meant = choice or late
        if meant is None or not await self._counts(reaction, meant):
            return
        click = _click(reaction, placed, by, meant)
        if meant.verb in await self._gateway.by_words(reaction.room):
            if choice:
                await self._ask_for_words(click, placed)
        elif choice:
            await self._chosen(click, placed)
        else:
            await self._press(click, placed)

    async def chosen_in_words(
        self, thread: Thread, message: Message, by: Person, unseen: tuple[str, ...] = ()
    ) -> bool:
        """Whether somebody's words choose what is offered there, where reactions do not. `unseen`: cards that came later."""
        by_words = await self._gateway.by_words(message.room)
        worded = written(self._ledger.cards(thread), message.text, by_words)
        if worded is None or worded.placed.key in unseen:
            return False
        await self._chosen(_click(message, worded.placed, by, worded.choice), worded.placed)
        return True

    async def misplaced(self, message: Message, by: Person) -> None:
        """What a card asks for, written in the room instead of in its thread: nobody may wait for an answer in vain."""
        offer = offered_in(self._ledger, message.room, message.text)
        if offer is None:
            return
        choice, thread = offer.choice, offer.placed.thread
        opened = Opened(id=message.event_id, at=message.at, by=by, verb=choice.verb)
        if await self._deliver(thread, opened):
            room = thread.model_copy(update={"root": ""})
            await self._saying.say(self._gateway.whisper(room, by, elsewhere(choice, thread)))

    async def answers(self, thread: Thread, message: Message, by: Person) -> bool:
        """Whether somebody's words are what that person was asked for."""
        click = self._clicks.asked(thread, by.id, message.at)
        if click is None:
            return False
        pressed = Pressed(
            id=message.event_id,
            at=message.at,
            by=by,
            verb=click.choice.verb,
            about=click.choice.about,
            text=message.text,
        )
        if not await self._deliver(thread, pressed):
            self._clicks.become(click, State.WITHDRAWN)
            return True
        self._clicks.become(click, State.COUNTED)
        await self._whisper(click, answered(click.choice, click.reaction))
        return True

    async def taken_back(self, redaction: Redaction) -> None:
        click = self._clicks.of(redaction.target)
        if click is None or click.thread.channel != redaction.room:
            return
        if click.state is State.ASKED:
            self._clicks.become(click, State.WITHDRAWN)
            await self._whisper(click, taken_back(click.choice, click.reaction))
        elif click.state is State.COUNTED and redaction.sender == click.by.id:
            await self._whisper(click, counted_already(click.choice))

    async def _counts(self, reaction: Reaction, choice: Choice) -> bool:
        """It is still there. Nobody who wants to stop waits for a homeserver that does not answer."""
        known = self._clicks.of(reaction.event_id)
        if known and known.state is State.WITHDRAWN:
            return False
        try:
            return await self._gateway.stands(reaction.room, reaction.event_id)
        except Unavailable:
            if choice.verb is Verb.STOP:
                return True
            raise

    async def _chosen(self, click: Click, placed: Placed) -> None:
        if card := wanted_next(click.choice, click.reaction):
            await self._ask(click, card)
        else:
            await self._press(click, placed)

    async def _ask_for_words(self, click: Click, placed: Placed) -> None:
        opened = Opened(id=click.reaction, at=click.at, by=click.by, verb=click.choice.verb)
        if await self._deliver(click.thread, opened):
            await self._whisper(click, in_words(placed, click.choice))

    async def _ask(self, click: Click, card: AnswerCard) -> None:
        known = self._clicks.of(click.reaction)
        if known and known.state is not State.ASKED:
            return
        opened = Opened(id=click.reaction, at=click.at, by=click.by, verb=click.choice.verb)
        if await self._deliver(click.thread, opened):
            self._clicks.keep(known or click)
            await self._whisper(click, card)

    async def _press(self, click: Click, placed: Placed) -> None:
        choice = click.choice
        pressed = Pressed(
            id=click.reaction, at=click.at, by=click.by, verb=choice.verb, about=choice.about
        )
        if not await self._deliver(placed.thread, pressed):
            return
        if choice.verb not in _LIGHT:
            self._clicks.become(click, State.COUNTED)
        if first := self._clicks.of(mark_of(placed)):
            self._clicks.become(first, State.COUNTED)
        if done := confirmed(placed, choice):
            await self._whisper(click, done)

    async def _whisper(self, click: Click, card: AnswerCard) -> None:
        await self._saying.say(self._gateway.whisper(click.thread, click.by, card))


def _click(heard: Reaction | Message, placed: Placed, by: Person, choice: Choice) -> Click:
    return Click(
        reaction=heard.event_id,
        thread=placed.thread,
        by=by,
        at=heard.at,
        choice=choice,
        state=State.ASKED,
    )
