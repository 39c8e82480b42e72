"""People on Matrix who ask, answer and click, whatever becomes of the bot meanwhile; and what must have come of it all."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from adapters.demo.texts import REQUEST, english
from bot.core.session import Session, Speaker
from bot.core.states import Phase
from tests.beds.synapse import Post
from tests.stories.matrix_person import MatrixPerson
from tests.stories.serving import PATIENCE

DEFAULTS, CHANGE = "✅ Use all defaults", "Name the cents in the receipt, please."
STATUS, HELP = "how things stand", "Commands"
DOCUMENTS = ("spec.md", "plan.md", "tasks.md")
ONCE = (
    "Got it",
    "Questions, answered",
    *(f"{document} · revision {number}" for document in DOCUMENTS for number in (1, 2)),
    "Shall I build SPEC, revision 1?",
    "I am planning again with your changes.",
    "Shall I build SPEC, revision 2?",
)
_SPEC = re.compile(r"SPEC-\w+")
_FRONT = re.compile(r"^(?:⏳|👉|@\S+:) ")


@dataclass
class Wishes:
    """In one thread."""

    anna: MatrixPerson
    clicked: bool = False
    changed: bool = False
    statuses: int = 0
    helps: int = 0


@dataclass
class Crowd:
    anna: MatrixPerson
    most: int
    threads: list[Wishes] = field(default_factory=list[Wishes])

    async def talks(self, number: int) -> None:
        await self.goes_on()
        await self.asks_about(number)

    async def goes_on(self) -> None:
        """One step further where one is possible: click, want something else, or ask for something new."""
        await self.anna.person.look(wait=0)
        for wishes in self.threads:
            if await self._goes_on_in(wishes):
                return
        if len(self.threads) < self.most:
            anna = MatrixPerson(self.anna.person, self.anna.bot, self.anna.room)
            await anna.ask(REQUEST)
            self.threads.append(Wishes(anna))

    async def asks_about(self, number: int) -> None:
        """How things stand in some thread, or what the bot can do."""
        known = [one for one in self.threads if one.anna.card("Got it")]
        if not known:
            return
        wishes = known[number % len(known)]
        if number % 2:
            wishes.helps += 1
            await wishes.anna.reply("help")
        else:
            wishes.statuses += 1
            await wishes.anna.reply("status")

    async def comes_to_an_end(self) -> None:
        """Until every plan has its second revision, and everybody was answered."""
        try:
            async with asyncio.timeout(2 * PATIENCE):
                while len(self.threads) < self.most or list(self.unsettled()):
                    await self.goes_on()
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"unsettled: {list(self.unsettled())}") from None

    def unsettled(self) -> Iterator[str]:
        for number, wishes in enumerate(self.threads):
            yield from (f"{number}: {other}" for other in self._counted(wishes))

    def wrong(self, sessions: list[Session]) -> Iterator[str]:
        """Whatever is not as it must be in the end."""
        begun = Counter(session.thread.root for session in sessions)
        if begun != Counter(one.anna.root for one in self.threads):
            yield f"sessions: {begun}"
        yield from self.unsettled()
        for session in sessions:
            said = Counter(m.content for m in session.conversation if m.role is Speaker.USER)
            if said != Counter((REQUEST, CHANGE)):
                yield f"{session.short} heard {said}"
            if session.plan.spec is None or session.plan.spec.revision != 2:
                yield f"{session.short} has another revision: {session.plan.spec}"
            if session.phase is not Phase.APPROVING:
                yield f"{session.short} is {session.phase}"

    async def _goes_on_in(self, wishes: Wishes) -> bool:
        if not wishes.clicked and (card := self._offered(wishes)):
            wishes.clicked = True
            await self.anna.person.react(self.anna.room, card.event_id, DEFAULTS)
            return True
        if not wishes.changed and wishes.anna.card("revision 1?"):
            wishes.changed = True
            await wishes.anna.reply(CHANGE)
            return True
        return False

    def _offered(self, wishes: Wishes) -> Post | None:
        card = wishes.anna.card("A few questions")
        return card if card and DEFAULTS in card.keys else None

    def _counted(self, wishes: Wishes) -> Iterator[str]:
        """What stands there less or more often than it should."""
        wanted = Counter((*ONCE, *DOCUMENTS, *DOCUMENTS))
        # one status is kept up to date, and each that was asked for stays as it was
        wanted += {STATUS: 1 + wishes.statuses, HELP: wishes.helps}
        there = Counter(_title(post) for post in wishes.anna.cards)
        for title in wanted | there:
            if there[title] != wanted[title]:
                yield f"{title!r} {there[title]} times instead of {wanted[title]}"


def _title(post: Post) -> str:
    """The first line, without what differs from thread to thread."""
    line = _FRONT.sub("", _SPEC.sub("SPEC", post.text.splitlines()[0]))
    return STATUS if line in (english().title, REQUEST) else line
