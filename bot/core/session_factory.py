"""Starts sessions: from a request, or from `spec`, which writes a spec without doing any work."""

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

# The first record of a session: its thread, owner and repository. Saved before anything else happens.

NOTHING_WAITS = "Nothing waits for an answer here. Write inbox to see what does, or what you would like to have built."


def is_request(thread: Thread, event: FromPeople) -> bool:
    """Whether the event starts a session in a thread that has none."""
    if not (isinstance(event, Said) and event.mention and thread.root):
        return False
    asks = bool(event.text.strip()) and not is_answer(event.text)
    return asks or any(file.text for file in event.files)


@dataclass(frozen=True)
class SessionStarter:
    world: World
    repositories: Repositories

    def problem(self, thread: Thread, event: FromPeople) -> str:
        """Return why a request cannot be started, in a sentence; empty if it can, or if the event is no request."""
        if not isinstance(event, Said):
            return ""
        if is_request(thread, event):
            name = repository_request(event.text).name
            return self.repositories.problem(thread, name) if name or not event.repository else ""
        if event.mention and is_answer(event.text):
            return NOTHING_WAITS
        # only files, none of which could be read
        return "; ".join(talk.unread_attachments(event.files)) if event.mention else ""

    def start_from_request(self, thread: Thread, event: Said) -> Record:
        """Start a session from a request. Raises if the disk is full; then nothing has started."""
        asked = repository_request(event.text)
        event = event.model_copy(update={"text": asked.text})
        chosen = "" if asked.name else event.repository
        path = chosen or self.repositories.path_for(thread, asked.name)
        return self._saved(self._session(thread, event, path), event)

    def start_spec_session(self, origin: Thread, thread: Thread, event: Commanded) -> Record:
        """Start a session that only writes a spec, on the repository of `origin`.

        The same command gives the same session id.
        """
        asked = repository_request(event.command.text)
        path = self.repositories.path_for(origin, asked.name)
        said = Said(id=event.id, at=event.at, by=event.by, text=asked.text, may_stop=event.may_stop)
        session = self._session(thread, said, path, derived_id(event.id, "spec"))
        session.request.spec_only = session.request.dry_run = True
        return self._saved(session, said)

    def start_for_session(
        self, thread: Thread, session_id: str, event: Begun, parent: Session | None
    ) -> Record | None:
        """Start a session that its parent session or an intent asks for. Return `None` if it exists already."""
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
        # The agent is left open until the survey, so that a wrong setting can still be fixed.
        command, source = self.repositories.test_command_and_source(_original_folder(event) or path)
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


def _original_folder(event: Said | Begun) -> str:
    # A temporary copy is tested like the original.
    return event.copy_of if isinstance(event, Said) else ""


# `spec`: writes a spec in a thread of its own without starting any work. Idempotent: the ids are derived from the
# command.

_TITLE = 72
SPEC_USAGE = "Write spec, and behind it what it is about: spec a dark mode for the settings page."
CHANNEL_NEEDED = "Write that in a channel: everybody there can read the spec."


def is_spec_command(event: FromPeople) -> bool:
    if not isinstance(event, Commanded):
        return False
    return COMMANDS[event.command.word].answered_by is AnsweredBy.BEGINS


@dataclass(frozen=True)
class SpecCommand:
    """Answers `spec`. `known`: whether a thread has a session; `begun`: called with the new session's record."""

    world: World
    beginning: SessionStarter
    pointing: SessionCommands
    auditing: Auditing
    known: Callable[[Thread], bool]
    begun: Callable[[Record], object]

    async def answered(self, thread: Thread, event: Commanded) -> bool:
        asked = repository_request(event.command.text)
        if not asked.text:
            return await self.pointing.say(thread, event, SPEC_USAGE)
        if thread.home:
            return await self.pointing.say(thread, event, CHANNEL_NEEDED)
        if why := self.beginning.repositories.problem(thread, asked.name):
            return await self.pointing.say(thread, event, why)
        if self.world.store.find(derived_id(event.id, "spec")):
            return True
        self.auditing.allowed(thread, event)
        there = await self._thread_for_spec(thread, event, asked.text)
        self.begun(self.beginning.start_spec_session(thread, there, event))
        if there != thread:
            await self.pointing.turn_to(there)
        return True

    async def _thread_for_spec(self, thread: Thread, event: Commanded, text: str) -> Thread:
        """Return the command's own thread if it has no session yet, or else open a new one."""
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
