"""Begins sessions: from a request, and from `spec`, which writes a spec without any work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.core.cards import RootCard
from bot.core.commands import COMMANDS, AnsweredBy
from bot.core.events import Begun, Commanded, FromPeople, Said
from bot.core.gate import Auditing
from bot.core.naming import derived_id
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.core.repositories import Repositories, repository_request
from bot.core.session import Session
from bot.core.session_commands import SessionCommands
from bot.core.session_parts import SessionRepository, SessionRequest, SessionTests
from bot.core.world import World
from bot.steps.approve.rules import is_answer
from bot.steps.chat import chat_of
from bot.steps.talk import rules as talk

# A session's first record: for which thread, by whom, on which repository. On disk before
# anything has begun.

NOTHING_WAITS = "Nothing waits for an answer here. Write inbox to see what does, or what you would like to have built."


def is_request(thread: Thread, event: FromPeople) -> bool:
    """Whether a session begins with it, where there is none yet."""
    if not (isinstance(event, Said) and event.mention and thread.root):
        return False
    asks = bool(event.text.strip()) and not is_answer(event.text)
    return asks or any(file.text for file in event.files)


@dataclass(frozen=True)
class SessionStarts:
    world: World
    repositories: Repositories

    def problem(self, thread: Thread, event: FromPeople) -> str:
        """Why a request cannot be begun, in a sentence. Empty: it can, or it is none."""
        if not isinstance(event, Said):
            return ""
        if is_request(thread, event):
            name = repository_request(event.text).name
            return self.repositories.problem(thread, name) if name or not event.repository else ""
        if event.mention and is_answer(event.text):
            return NOTHING_WAITS
        # nothing but files, and none of them could be read
        return "; ".join(talk.unread_attachments(event.files)) if event.mention else ""

    def by_request(self, thread: Thread, event: Said) -> Record:
        """Where there is no room on the disk, nothing has begun."""
        asked = repository_request(event.text)
        event = event.model_copy(update={"text": asked.text})
        chosen = "" if asked.name else event.repository
        path = chosen or self.repositories.path_for(thread, asked.name)
        return self._saved(self._session(thread, event, path), event)

    def by_wizard(self, origin: Thread, thread: Thread, event: Commanded) -> Record:
        """A spec is wanted and nothing more, of what `origin` is about. The same command begins the same one."""
        asked = repository_request(event.command.text)
        path = self.repositories.path_for(origin, asked.name)
        said = Said(id=event.id, at=event.at, by=event.by, text=asked.text, may_stop=event.may_stop)
        session = self._session(thread, said, path, derived_id(event.id, "spec"))
        session.request.spec_only = session.request.dry_run = True
        return self._saved(session, said)

    def by_session(
        self, thread: Thread, session_id: str, event: Begun, parent: Session | None
    ) -> Record | None:
        """Another session, the parent, wants one on its own repository, or an intent is run. None: it is there already."""
        if self.world.store.find(session_id):
            return None
        path = (parent.repository.path if parent else event.path) or self.repositories.path_for(
            thread
        )
        session = self._session(thread, event, path, session_id)
        session.request.unattended = parent.request.unattended if parent else False
        return self._saved(session, event)

    def _session(
        self, thread: Thread, event: Said | Begun, path: str, session_id: str = ""
    ) -> Session:
        """Its agent is fixed with the survey: until then a wrong setting can be mended."""
        command, source = self.repositories.tests_of(_of(event) or path)
        return Session(
            id=session_id or self.world.clock.new_id(),
            created_at=event.at,
            updated_at=event.at,
            thread=thread,
            owner=event.by,
            request=SessionRequest(
                event_id=event.id if isinstance(event, Said) else "",
                unattended=isinstance(event, Said) and event.unattended,
            ),
            repository=SessionRepository(path=path),
            tests=SessionTests(command=command, source=source),
        )

    def _saved(self, session: Session, event: Said | Begun) -> Record:
        record = Record(session=session, inbox=[event], heard=[event.id])
        self.world.store.save(record)
        return record


def _of(event: Said | Begun) -> str:
    """What the folder is a copy of: it is tested as that is."""
    return event.copy_of if isinstance(event, Said) else ""


# `spec`: a spec is written without any work being begun, in a thread of its own. Safe to do
# twice: its ids follow from the command.

_TITLE = 72
WHAT = "Write spec, and behind it what it is about: spec a dark mode for the settings page."
NOT_HERE = "Write that in a channel: everybody there can read the spec."


def is_wanted(event: FromPeople) -> bool:
    if not isinstance(event, Commanded):
        return False
    return COMMANDS[event.command.word].answered_by is AnsweredBy.BEGINS


@dataclass(frozen=True)
class SpecWizard:
    """`known`: whether a session lives in a thread; `begun`: told of the new one."""

    world: World
    beginning: SessionStarts
    pointing: SessionCommands
    auditing: Auditing
    known: Callable[[Thread], bool]
    begun: Callable[[Record], object]

    async def answered(self, thread: Thread, event: Commanded) -> bool:
        asked = repository_request(event.command.text)
        if not asked.text:
            return await self.pointing.say(thread, event, WHAT)
        if thread.home:
            return await self.pointing.say(thread, event, NOT_HERE)
        if why := self.beginning.repositories.problem(thread, asked.name):
            return await self.pointing.say(thread, event, why)
        if self.world.store.find(derived_id(event.id, "spec")):
            return True
        self.auditing.allowed(thread, event)
        there = await self._thread(thread, event, asked.text)
        self.begun(self.beginning.by_wizard(thread, there, event))
        if there != thread:
            await self.pointing.turn_to(there)
        return True

    async def _thread(self, thread: Thread, event: Commanded, text: str) -> Thread:
        """The one it was said in, if nothing goes on there yet; else one is begun beside it."""
        if thread.root and not self.known(thread):
            return thread
        session_id, first_line = derived_id(event.id, "spec"), text.splitlines()[0][:_TITLE]
        card = RootCard(
            key=f"root:{session_id}",
            session=session_id.replace("-", "")[:8],
            title=f"Spec: {first_line}",
            request=text,
            by=str(event.by),
        )
        return await chat_of(self.world, thread.platform).open(thread, card)
