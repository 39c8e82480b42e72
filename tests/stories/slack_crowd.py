"""People in Slack who ask, answer and press, whatever becomes of the bot meanwhile; and what must have come of it all."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from adapters.demo.texts import REQUEST
from adapters.posting import PlacedCard
from adapters.slack.messages import card_metadata
from bot.core.people import Thread
from bot.core.session import Session, Speaker
from bot.core.states import Phase
from tests.beds.slack import MIKA, PUBLIC, TEAM, Delivery, SlackBed
from tests.beds.slack.forms import labels
from tests.stories.serving import PATIENCE
from tests.stories.slack_person import SlackPerson

DEFAULTS, CHANGE = "Use all defaults", "Name the cents in the receipt, please."
CARDS = ("received", "questions", "approval:1", "approval:2", "revising:2")


def card_id(root: str, key: str) -> str:
    """What the first message of a card has in its metadata."""
    thread = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=root)
    placed = PlacedCard(thread=thread, key=key, revision=1, digest="")
    return str(card_metadata(placed, 0)["event_payload"]["card"])


@dataclass
class Wishes:
    """In one thread."""

    mika: SlackPerson
    pressed: Delivery | None = None
    changed: bool = False
    statuses: list[str] = field(default_factory=list[str])
    """The messages that ask how things stand."""


class Crowd:
    def __init__(self, bed: SlackBed, most: int) -> None:
        self.bed, self._most = bed, most
        self.threads: list[Wishes] = []
        self.helps = 0

    async def talks(self, number: int) -> None:
        await self.goes_on()
        await self.asks_about(number)

    async def goes_on(self) -> None:
        """One step further where one is possible: press, want something else, or ask for something new."""
        for wishes in self.threads:
            if await self._goes_on_in(wishes):
                return
        if len(self.threads) < self._most:
            wishes = Wishes(SlackPerson(self.bed))
            self.threads.append(wishes)
            await wishes.mika.ask(REQUEST)

    async def asks_about(self, number: int) -> None:
        """How things stand in some thread; or, now and then, what the bot can do."""
        known = [one for one in self.threads if one.mika.card("Got it")]
        if number % 3 == 0 or not known:
            self.helps += 1
            await self.bed.mention(MIKA, PUBLIC, "help")
            return
        wishes = known[number % len(known)]
        asked = await self.bed.mention(MIKA, PUBLIC, "status", wishes.mika.root)
        wishes.statuses.append(asked.ts)

    async def comes_to_an_end(self) -> None:
        """Until every plan has its second revision, and everybody was answered."""
        try:
            async with asyncio.timeout(2 * PATIENCE):
                while len(self.threads) < self._most or list(self.unanswered()):
                    await self.goes_on()
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"unanswered: {list(self.unanswered())}") from None

    def unanswered(self) -> Iterator[str]:
        for number, wishes in enumerate(self.threads):
            root, there = wishes.mika.root, self._ids(wishes)
            wanted = {key: card_id(root, key) for key in CARDS}
            for ts in wishes.statuses:
                key = f"answer:slack:{TEAM}:{PUBLIC}:{ts}"
                wanted[key] = card_id(root, key)
            yield from (f"{number}: no {key}" for key, id in wanted.items() if id not in there)
            if not wishes.mika.card("revision 2?"):
                yield f"{number}: no second plan"
        if len(self.told()) < self.helps:
            yield f"help {self.helps} times, told {len(self.told())} times"

    def told(self) -> list[str]:
        """Every word about what the bot can do, to Mika alone."""
        return [one.text for one in self.bed.ephemerals(MIKA) if "Commands" in one.reads]

    def wrong(self, sessions: list[Session]) -> Iterator[str]:
        """What there is too much of."""
        begun = Counter(session.thread.root for session in sessions)
        if begun != Counter(one.mika.root for one in self.threads):
            yield f"sessions: {begun}"
        for wishes in self.threads:
            yield from (f"{id} {n} times" for id, n in self._ids(wishes).items() if n > 1)
        for session in sessions:
            said = Counter(m.content for m in session.conversation if m.role is Speaker.USER)
            if said != Counter((REQUEST, CHANGE)):
                yield f"{session.short} heard {said}"
            if session.plan.spec is None or session.plan.spec.revision != 2:
                yield f"{session.short} has another revision: {session.plan.spec}"
            if session.phase is not Phase.APPROVING:
                yield f"{session.short} is {session.phase}"

    async def _goes_on_in(self, wishes: Wishes) -> bool:
        card = wishes.mika.card("A few questions")
        waits = wishes.pressed and (wishes.pressed.acked or not wishes.pressed.over.is_set())
        if card and DEFAULTS in labels(card.blocks) and not waits:
            delivery = await self.bed.click(MIKA, card.ts, DEFAULTS)
            assert delivery
            # pressed again only where Slack says that it failed
            wishes.pressed = delivery
            return True
        if not wishes.changed and wishes.mika.card("revision 1?"):
            wishes.changed = True
            await wishes.mika.reply(CHANGE)
            return True
        return False

    def _ids(self, wishes: Wishes) -> Counter[str]:
        payloads = [m.metadata["event_payload"] for m in wishes.mika.cards if m.metadata]
        return Counter(str(payload["card"]) for payload in payloads)
