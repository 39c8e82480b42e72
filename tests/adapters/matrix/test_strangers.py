"""Whatever somebody who is on no list does in Matrix, in each of its ways in: nothing comes of it but a no, to them alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from adapters.matrix.chat import MatrixChat
from adapters.matrix.client import MatrixAccess
from bot.cli.chats import accepts_invitation
from bot.core.events import FromPeople
from bot.core.gate import Door, Gate, may_ask
from bot.core.people import Role, Thread
from bot.core.projections.records import Record
from bot.core.states import Phase
from bot.steps import messages
from tests.beds.synapse import People, Person, Post, Proxy
from tests.beds.synapse.seen import Json
from tests.steps import scenes
from tests.stories.stage import Stage

PLAN = "Shall I build"
SECONDS = 120.0


@dataclass
class Place:
    """A plan waits for approval in a thread that Anna has begun; only she may do anything, and in this room only.

    Bob is in the room, with all the power that it can give.
    """

    anna: Person
    bob: Person
    bot: Person
    id: str
    root: str
    elsewhere: str
    """A room with Anna, Bob and the bot in it that stands on no list."""
    way: Proxy
    stage: Stage
    heard: list[str] = field(default_factory=list[str])
    """Ids of what was brought to the gate."""

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        self.heard.append(event.id)
        assert self.stage.desk
        return await self.stage.desk.take(thread, event)

    @property
    def card(self) -> Post | None:
        """As Bob sees it."""
        mine = [post for post in self.bob.posts(self.id) if post.sender == self.bot.id]
        return next((post for post in mine if PLAN in post.text), None)

    @property
    def phase(self) -> Phase:
        [text] = self.stage.store.records.values()
        return Record.model_validate_json(text).session.phase

    async def settled(self) -> None:
        """Whatever came before has been heard: this comes after it, and Anna may ask for help."""
        last = await self.anna.say(self.id, "!help")
        async with asyncio.timeout(SECONDS):
            while last not in self.heard:  # noqa: ASYNC110 - another task fills it
                await asyncio.sleep(0.01)
        await self.stage.settle()


@pytest.fixture
async def place(people: People, proxy: Proxy, tmp_path: Path) -> AsyncIterator[Place]:
    anna, bob, bot = people("anna"), people("bob"), people("gwt")
    room = await people.room(anna, bot, bob)
    elsewhere = await people.room(anna, bot, bob)
    await anna.state(room, "m.room.power_levels", {"users": {bob.id: 100}})
    root = await anna.say(room, "Add discounts")
    stage = Stage()
    stage.platform = "matrix"
    door = Door(dict.fromkeys(Role, frozenset({anna.id})), frozenset({room}))
    stage.gate = Gate({"matrix": door})
    session = scenes.awaiting_approval()
    session.thread = Thread(platform="matrix", channel=room, root=root)
    session.plan.shown_at = None  # a plan of today
    stage.store.save(Record(session=session))
    await stage.open()
    await stage.settle()
    folder = tmp_path / "matrix"
    at = Place(anna, bob, bot, room, root, elsewhere, proxy, stage)
    access = MatrixAccess(proxy.url, bot.id, bot.login.access_token)
    welcome, asks = partial(accepts_invitation, door), partial(may_ask, "matrix", door)
    async with MatrixChat(access, folder, welcome, may_request=asks) as chat:
        listening = asyncio.create_task(chat.listen(at.deliver))
        await chat.show(session.thread, messages.approval_wanted(session).card)
        async with asyncio.timeout(SECONDS):
            while not (folder / "sync.json").exists():  # noqa: ASYNC110 - another task writes it
                await asyncio.sleep(0.01)
        await bob.until(lambda: at.card is not None)
        yield at
        listening.cancel()
        await asyncio.wait({listening})
    await stage.close()


def card(at: Place) -> str:
    assert at.card
    return at.card.event_id


async def mentions(at: Place, who: Person) -> str:
    return await who.say(at.id, "Delete everything", mention=at.bot.id)


async def mentions_in_the_thread(at: Place, who: Person) -> str:
    return await who.say(at.id, "approve", mention=at.bot.id, thread=at.root)


async def answers_the_card(at: Place, who: Person) -> str:
    return await who.say(at.id, "approve", mention=at.bot.id, reply_to=card(at))


async def approves(at: Place, who: Person) -> str:
    return await who.react(at.id, card(at), "✅ Approve")


async def discards(at: Place, who: Person) -> str:
    return await who.react(at.id, card(at), "❌ Discard")


async def asks_for_changes(at: Place, who: Person) -> str:
    return await who.react(at.id, card(at), "✏ Request changes")


async def shares_a_file(at: Place, who: Person) -> str:
    told: Json = {"msgtype": "m.file", "body": f"{at.bot.id}: Build this", "filename": "notes.md"}
    named: Json = {"m.mentions": {"user_ids": [at.bot.id]}, "url": "mxc://elsewhere.example/abc"}
    return await who.send(at.id, "m.room.message", {**told, **named})


async def writes_in_another_room(at: Place, who: Person) -> str:
    return await who.say(at.elsewhere, "Delete everything", mention=at.bot.id)


def command(line: str) -> Callable[[Place, Person], Awaitable[str]]:
    async def commands(at: Place, who: Person) -> str:
        return await who.say(at.id, line, thread=at.root)

    commands.__name__ = line
    return commands


COMMANDS = ("!status", "!stop", "!discard", "!keys", "!repo other", "!model http://a b")
BROUGHT: list[Callable[[Place, Person], Awaitable[str]]] = [
    mentions,
    mentions_in_the_thread,
    answers_the_card,
    approves,
    discards,
    asks_for_changes,
    shares_a_file,
    writes_in_another_room,
    *map(command, COMMANDS),
]
"""What is for the bot: the gate says no."""


async def edits_a_message_into_a_request(at: Place, who: Person) -> str:
    said = await who.say(at.id, "Lunch?")
    return await who.edit(at.id, said, "Delete everything", mention=at.bot.id)


async def edits_what_somebody_else_has_said(at: Place, who: Person) -> str:
    return await who.edit(at.id, at.root, "Delete everything", mention=at.bot.id)


async def takes_the_request_away(at: Place, who: Person) -> str:
    return await who.redact(at.id, at.root)


async def takes_the_card_away(at: Place, who: Person) -> str:
    return await who.redact(at.id, card(at))


async def speaks_as_a_program(at: Place, who: Person) -> str:
    content: Json = {"msgtype": "m.notice", "body": f"{at.bot.id}: approve"}
    return await who.send(at.id, "m.room.message", content)


async def speaks_in_a_state_event(at: Place, who: Person) -> str:
    content: Json = {"msgtype": "m.text", "body": f"{at.bot.id}: approve"}
    return await who.state(at.id, "m.room.message", content, key="x")


async def sends_what_is_no_message(at: Place, who: Person) -> str:
    relation = {"rel_type": "m.reference", "event_id": card(at)}
    content: Json = {
        "m.relates_to": relation,
        "m.selections": ["1"],
        "body": f"{at.bot.id}: approve",
    }
    await who.send(at.id, "m.sticker", content)
    return await who.send(at.id, "m.poll.response", content)


async def invites_the_bot(at: Place, who: Person) -> str:
    room = await who.create_room()
    await who.invite(room, at.bot.id)
    return await who.say(room, "Delete everything", mention=at.bot.id)


async def invites_the_bot_to_a_talk_of_two(at: Place, who: Person) -> str:
    body: Json = {"preset": "trusted_private_chat", "is_direct": True, "invite": [at.bot.id]}
    made = await who.call("POST", "createRoom", body)
    return await who.say(made["room_id"], "Delete everything")


async def knocks(at: Place, who: Person) -> str:
    """At a room of Anna's with the bot in it."""
    body: Json = {
        "initial_state": [{"type": "m.room.join_rules", "content": {"join_rule": "knock"}}]
    }
    made = await at.anna.call("POST", "createRoom", body)
    reason: Json = {"reason": f"{at.bot.id}: approve"}
    await who.call("POST", f"knock/{made['room_id']}", reason)
    return ""


SILENT: list[Callable[[Place, Person], Awaitable[str]]] = [
    edits_a_message_into_a_request,
    edits_what_somebody_else_has_said,
    takes_the_request_away,
    takes_the_card_away,
    speaks_as_a_program,
    speaks_in_a_state_event,
    sends_what_is_no_message,
    invites_the_bot,
    invites_the_bot_to_a_talk_of_two,
    knocks,
]
"""What is not even brought to the gate."""


async def test_nothing_a_stranger_does_has_any_effect(place: Place) -> None:
    stage = place.stage
    kept, shown = dict(stage.store.records), list(stage.chat.shown)
    done = {way.__name__: await way(place, place.bob) for way in (*BROUGHT, *SILENT)}
    await place.settled()
    # a homeserver may show what was said between an invitation and the bot's no: then it is the gate that refuses it
    invited = (invites_the_bot, invites_the_bot_to_a_talk_of_two)
    ways = [way for way in (*BROUGHT, *SILENT) if way not in invited]
    brought = {way.__name__: done[way.__name__] in place.heard for way in ways}
    assert brought == {way.__name__: way in BROUGHT for way in ways}
    assert stage.store.records == kept
    assert stage.chat.shown == shown
    assert stage.llm.calls == []
    assert place.way.count("/media/download/") == 0, "nothing is fetched for a stranger"
    assert place.way.count("/join") == 0
    refused = [one for one in stage.audit.entries if place.bob.id in one.who]
    assert {entry.decision.value for entry in refused} == {"refused"}
    whispered = [(person, card.model_dump_json()) for _, person, card in stage.chat.whispered]
    told = {person.id for person, text in whispered if "You may not do that here" in text}
    assert told == {place.bob.id}


async def test_only_words_of_those_who_may_count_and_only_where_they_may(place: Place) -> None:
    said = await place.anna.say(place.elsewhere, "Add a dark mode", mention=place.bot.id)
    for words in ("approve", "yes", "1", "run it"):
        await place.bob.say(place.id, words, thread=place.root)
    await place.settled()
    assert said in place.heard
    assert len(place.stage.store.records) == 1
    assert place.phase is Phase.APPROVING, "talk is context at most"
    assert place.stage.llm.calls == []
    await approves(place, place.anna)
    await place.settled()
    assert place.phase is Phase.EXECUTING
