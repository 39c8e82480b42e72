"""What people ask of branches, and what they press there. The card stands before the model is asked; its summary joins it there."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.domain.audit import done_to_branch
from bot.domain.branches import BranchDetails
from bot.domain.cards import AnswerCard
from bot.domain.choices import Verb, Word
from bot.domain.events import Commanded, FromPeople, Pressed
from bot.domain.people import Thread
from bot.domain.sentences import sentences
from bot.domain.session import Session
from bot.domain.sheets import Text, Tone
from bot.engine.answers import Answers
from bot.engine.brain.branches import PATCH, in_short
from bot.engine.branch_mode import cards, changing
from bot.engine.branch_mode.pressed import About, mark_of
from bot.engine.branch_mode.whose import Carried, Whose, may_know
from bot.engine.perform import telling
from bot.engine.repositories import Repositories
from bot.engine.world import World
from bot.errors import PortError, Unavailable

log = logging.getLogger("bot.branches")

_WORDS = frozenset({Word.BRANCHES, Word.BRANCH})
_VERBS = frozenset({Verb.SHOW_BRANCH, Verb.MERGE_BRANCH, Verb.DELETE_BRANCH})
_READING = "The model is reading it; what it says is added here."
_REMEMBERED = 200
"""Summaries: a branch that has not moved is not read again."""


@dataclass(frozen=True)
class _Look:
    """Somebody looks at one branch: where it lies, and the card that shows it."""

    thread: Thread
    path: str
    asked: str
    name: str


@dataclass(frozen=True)
class BranchMode:
    """`session_in` finds the session of a thread: its repository is meant there, else the one of the channel."""

    world: World
    repositories: Repositories
    whose: Whose
    answers: Answers
    session_in: Callable[[Thread], Session | None]
    _said: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])

    def concerns(self, event: FromPeople) -> bool:
        if isinstance(event, Commanded):
            return event.command.word in _WORDS
        return isinstance(event, Pressed) and event.verb in _VERBS

    async def answered(self, thread: Thread, event: Commanded | Pressed) -> bool:
        """Returns when the first card stands, or is late."""
        await self.answers.give(self._answer(thread, event))
        return True

    async def _answer(self, thread: Thread, event: Commanded | Pressed) -> None:
        try:
            if path := await self._path(thread, event):
                await self._meant(thread, event, path)
        except PortError as problem:
            await self._tell(thread, event, problem.reason, problem.remedy)

    async def _meant(self, thread: Thread, event: Commanded | Pressed, path: str) -> None:
        if isinstance(event, Pressed) and event.verb is not Verb.SHOW_BRANCH:
            await self._change(thread, event, path)
            return
        name = event.about if isinstance(event, Pressed) else event.command.argument
        if name:
            await self._look(_Look(thread, path, mark_of(event.id), name))
        else:
            await self._list(thread, event, path)

    async def _path(self, thread: Thread, event: FromPeople) -> str:
        """Where the repository lies; empty: none is known, and the person was told."""
        if session := self.session_in(thread):
            return session.repository
        if why := self.repositories.problem(thread):
            await self._tell(thread, event, why)
            return ""
        return self.repositories.path_for(thread)

    async def _list(self, thread: Thread, event: FromPeople, path: str) -> None:
        found = await self.world.repository.branch_list(path)
        works = self.whose.works(found.repository)
        body = cards.listed(
            found, lambda name: may_know(thread, works.get(name)), self.world.clock.now()
        )
        card = AnswerCard(key=f"answer:{event.id}", title="Branches", body=body)
        await self._whisper(thread, event, card)

    async def _look(self, look: _Look, done: str = "") -> None:
        """First what git knows, then what the model makes of it, on the same card. `done`: what was just done to it."""
        found = await self.world.repository.branch_details(look.path, look.name)
        known = self._said.get(self._key(look, found))
        missing = self.world.preferences.model().missing
        wanted = bool(found.branch.ahead) and known is None and not missing
        without = f"AI settings are required: {missing}" if missing else ""
        told = known or (_READING if wanted else without if found.branch.ahead else "")
        there = await self._show(look, found, told, done)
        if wanted:
            await self._show(there, found, await self._summary(there, found), done)

    async def _summary(self, look: _Look, found: BranchDetails) -> str:
        """Without the model the card is as good as it was, and says why there is no more."""
        room = self.world.rules.context_window()
        try:
            patch = await self.world.repository.branch_patch(look.path, look.name, PATCH)
            carried = self._known(look, found)
            session = carried.session if carried else None
            text, usage = await in_short(self.world.llm, found, patch, room, session)
        except PortError as problem:
            return sentences(f"No summary now: {problem.reason}", problem.remedy)
        self.world.beside.add(usage)
        self._said[self._key(look, found)] = text
        while len(self._said) > _REMEMBERED:
            self._said.popitem(last=False)
        return text

    async def _show(self, look: _Look, found: BranchDetails, summary: str, done: str) -> _Look:
        """Where it stands: in a channel itself it begins a thread, so that it can be edited there."""
        about = About(
            look.asked,
            mark_of(found.repository),
            found.branch.commit,
            found.lost,
            found.base,
            look.name,
        )
        carried = self.whose.works(found.repository).get(look.name)
        needed = changing.needed_by(self.whose, found.repository, look.name)
        obstacle = changing.obstacle(found, carried, needed)
        known = may_know(look.thread, carried)
        now = self.world.clock.now()
        card = cards.whole(found, known, about, summary, now, done=done, obstacle=obstacle)
        return _Look(await self._put(look.thread, card), look.path, look.asked, look.name)

    async def _change(self, thread: Thread, event: Pressed, path: str) -> None:
        about = About.read(event.about)
        found = await self.world.repository.branch_details(path, about.name) if about else None
        if about is None or found is None or about.where != mark_of(found.repository):
            await self._tell(thread, event, "That is about another repository; ask for it again.")
            return
        look = _Look(thread, path, about.asked, about.name)
        if (found.branch.commit, found.lost) != (about.commit, about.lost):
            await self._tell(
                thread,
                event,
                f"{about.name} has changed since that was shown: nothing was done.",
                "Its card shows how it stands now.",
            )
            await self._look(look)
            return
        if event.verb is Verb.MERGE_BRANCH:
            done = await changing.merge(self.world, found.repository, about, event.by)
            self._audited(thread, event, done)
            await self._look(look, done)
        else:
            await self._delete(look, about, event, found)

    async def _delete(
        self, look: _Look, about: About, event: Pressed, found: BranchDetails
    ) -> None:
        carried = self.whose.works(found.repository).get(look.name)
        needed = changing.needed_by(self.whose, found.repository, look.name)
        if why := changing.obstacle(found, carried, needed):
            await self._tell(look.thread, event, f"{about.name} stays: {why}.")
            return
        spare = changing.spare(found, carried)
        done = await changing.delete(self.world, about, event.by, found, spare)
        self._audited(look.thread, event, done)
        card = AnswerCard(
            key=about.card, title=cards.title(found), tone=Tone.SUCCESS, body=(Text(text=done),)
        )
        await self._put(look.thread, card)

    def _audited(self, thread: Thread, event: Pressed, done: str) -> None:
        """It is done: with a full disk only the program's log knows that it was."""
        log.info("a branch was changed", extra={"data": {"by": event.by.id, "done": done}})
        try:
            now = self.world.clock.now()
            self.world.audit.note(done_to_branch(thread, event, now, done))
        except Unavailable as full:
            log.warning("not noted", extra={"data": {"why": full.reason}})

    async def _put(self, thread: Thread, card: AnswerCard) -> Thread:
        chat = telling.chat_of(self.world, thread.platform)
        if not thread.root:
            return await chat.open(thread, card)
        await chat.show(thread, card)
        return thread

    async def _tell(self, thread: Thread, event: FromPeople, *said: str) -> None:
        text = sentences(*said)
        key = f"told:{event.id}:{mark_of(text)}"
        await self._whisper(thread, event, AnswerCard(key=key, title=text))

    async def _whisper(self, thread: Thread, event: FromPeople, card: AnswerCard) -> None:
        chat = telling.chat_of(self.world, thread.platform)
        await chat.whisper(thread, event.by, card)

    def _known(self, look: _Look, found: BranchDetails) -> Carried | None:
        return may_know(look.thread, self.whose.works(found.repository).get(look.name))

    def _key(self, look: _Look, found: BranchDetails) -> str:
        """A summary is of two commits, and of the task where people may know of it."""
        carried = self._known(look, found)
        whose = carried.session.id if carried else ""
        return f"{found.repository}:{found.parted}:{found.branch.commit}:{whose}"
