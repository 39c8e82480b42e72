"""Where only encrypted words approve: reactions, which a homeserver could forge, do not, and what is in clear is not heard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.matrix.chat import MatrixChat
from bot.cli.chats import approval_verbs
from bot.core.cards import AnswerCard, Card
from bot.core.choices import Choice, Verb
from bot.core.events import Pressed, Said
from bot.core.people import Thread
from tests.adapters.matrix.crypto.stage import Secret
from tests.beds.synapse import Person, Post
from tests.beds.synapse.seen import Json
from tests.fakes import cards

pytestmark = pytest.mark.covers("O-MATRIX-3")

MERGE = AnswerCard(
    key="merge",
    title="Everything is built",
    choices=(
        Choice(label="Merge into main", verb=Verb.MERGE, about="m:1", confirm="Really merge?"),
        Choice(label="Keep the branches", verb=Verb.KEEP, about="m:1"),
    ),
)
ASKED = AnswerCard(
    key="dialog",
    title="An agent asks",
    choices=tuple(
        Choice(label=label, verb=Verb.REPLY, about=f"d:{n}")
        for n, label in enumerate(("Yes", "Yes, and never ask again", "No…"))
    ),
)
HINT = AnswerCard(
    key="stuck",
    title="T001 is stuck",
    choices=(Choice(label="Send back…", verb=Verb.SEND_BACK, about="t:1", asks="What is wrong?"),),
)


class Strict:
    """Anna and a bot that takes approvals in words only."""

    def __init__(self, secret: Secret, chat: MatrixChat) -> None:
        self.secret, self.chat, self.thread = secret, chat, secret.thread

    async def shown(self, card: Card, says: str) -> Post:
        if not self.thread.root:
            root = await self.secret.anna.say(
                self.secret.room, "Add a dark mode", mention=self.secret.bot.id
            )
            await self.secret.hears("Add a dark mode")
            self.thread = Thread(platform="matrix", channel=self.secret.room, root=root)
        await self.chat.show(self.thread, card)
        return await self.sees(says)

    async def sees(self, text: str) -> Post:
        def found() -> list[Post]:
            posts = self.secret.anna.posts(self.secret.room)
            return [
                post for post in posts if post.sender == self.secret.bot.id and text in post.text
            ]

        await self.secret.anna.until(lambda: bool(found()))
        return found()[-1]

    async def says(self, text: str) -> str:
        return await self.secret.anna.say(self.secret.room, text, thread=self.thread.root)

    async def pressed(self) -> list[tuple[Verb, str, str]]:
        """All that was, once something later is heard."""
        await self.says("And that is all")
        await self.secret.hears("And that is all")
        events = [event for _, event in self.secret.heard]
        return [(e.verb, e.about, e.text) for e in events if isinstance(e, Pressed)]


@pytest.fixture(name="strict")
async def _strict(secret: Secret) -> AsyncIterator[Strict]:
    secret.by_words = approval_verbs()
    async with secret.listening() as chat:
        yield Strict(secret, chat)


async def test_a_card_has_no_chip_for_what_only_words_do_and_says_what_to_write(
    strict: Strict,
) -> None:
    card = await strict.shown(MERGE, "Everything is built")
    assert "✅ Merge into main — write `Merge into main`" in card.text
    assert "📌 Keep the branches — react" in card.text
    card = await strict.shown(cards.APPROVAL, "Shall I build")
    assert "✅ Approve — write `approve`" in card.text
    assert "✏ Request changes — react, or write in this thread" in card.text
    await strict.secret.anna.until(lambda: keys(strict, "Shall I build") == ["✏ Request changes"])
    assert keys(strict, "Everything is built") == ["📌 Keep the branches"]


def keys(strict: Strict, text: str) -> list[str]:
    posts = strict.secret.anna.posts(strict.secret.room)
    return [key for post in posts if text in post.text for key in post.keys]


@pytest.mark.parametrize("key", ["✅ Approve", "👍", "❌ Discard"])
async def test_a_reaction_approves_nothing_there_and_its_sender_is_told_what_to_write(
    strict: Strict, key: str
) -> None:
    card = await strict.shown(cards.APPROVAL, "Shall I build")
    await strict.secret.anna.react(strict.secret.room, card.event_id, key)
    told = await strict.sees("reactions are not encrypted")
    assert ("discard" if "❌" in key else "approve") in told.text
    assert await strict.pressed() == []


async def test_what_needs_nobody_s_approval_is_still_a_reaction(strict: Strict) -> None:
    card = await strict.shown(MERGE, "Everything is built")
    await strict.secret.anna.react(strict.secret.room, card.event_id, "📌 Keep the branches")
    assert await strict.pressed() == [(Verb.KEEP, "m:1", "")]


def events(strict: Strict) -> list[Any]:
    return [event for _, event in strict.secret.heard]


async def test_the_words_of_a_choice_do_it_and_are_asked_about_as_a_reaction_is(
    strict: Strict,
) -> None:
    await strict.shown(MERGE, "Everything is built")
    await strict.says("merge into main")
    await strict.sees("Really merge?")
    await strict.says("Merge into main.")
    await strict.sees("Merge into main: confirmed")
    assert await strict.pressed() == [(Verb.MERGE, "m:1", "")]


async def test_words_can_name_the_number_of_an_answer_or_be_it(strict: Strict) -> None:
    await strict.shown(ASKED, "An agent asks")
    await strict.says("2")
    await strict.says("no")
    assert await strict.pressed() == [(Verb.REPLY, "d:1", ""), (Verb.REPLY, "d:2", "")]


async def test_a_choice_that_asks_for_words_asks_after_its_own(strict: Strict) -> None:
    await strict.shown(HINT, "T001 is stuck")
    await strict.says("Send back")
    await strict.sees("What is wrong?")
    await strict.says("The cents are missing.")
    await strict.sees("I have your answer")
    assert await strict.pressed() == [(Verb.SEND_BACK, "t:1", "The cents are missing.")]


async def test_other_words_are_talk(strict: Strict) -> None:
    await strict.shown(MERGE, "Everything is built")
    await strict.says("Please merge into main")
    await strict.says("Keep the branches")
    assert await strict.pressed() == []
    assert "Keep the branches" in [e.text for e in events(strict) if isinstance(e, Said)]


async def test_words_in_clear_do_nothing_and_their_sender_is_told_so(strict: Strict) -> None:
    await strict.shown(MERGE, "Everything is built")
    anna = strict.secret.anna
    relation = {"rel_type": "m.thread", "event_id": strict.thread.root}
    content: Json = {"msgtype": "m.text", "body": "Merge into main", "m.relates_to": relation}
    await Person.send(anna, strict.secret.room, "m.room.message", content)
    await strict.sees("was not encrypted")
    assert await strict.pressed() == []
