"""Keeps a repository's registry up to date with its sessions, in the background: their intents while they go on, their
history at the end.

The session is the truth: anything missed is written at its next change or at the next start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import PurePath

from bot.core.errors import PortError, Refused
from bot.core.intent import Intent
from bot.core.masking import Masker
from bot.core.naming import slug
from bot.core.projections.records import history_of
from bot.core.projections.registry import FiledIntent, IntentDraft, IntentEdit, Observation
from bot.core.session import Session
from bot.core.text import sentences
from bot.ports import Clock, Registry

log = logging.getLogger("bot.registrar")

FOLDER = ".forge"
MAX_RECENT_SESSIONS = 10
"""Ended sessions whose history is checked at the start."""
HideFolder = Callable[[str, str], Awaitable[None]]


class RegistryWriter:
    """Without a registry nothing is written. `hide` excludes a folder of a repository from git's status."""

    def __init__(
        self,
        registry: Registry | None = None,
        hide: HideFolder | None = None,
        masker: Masker | None = None,
    ) -> None:
        self.registry = registry
        self._hide = hide
        self._masker = masker or Masker({})
        self._waiting: dict[str, Session] = {}
        self._writing: asyncio.Task[None] | None = None
        self._hidden: set[str] = set()
        self._files_on_disk: dict[str, frozenset[str]] = {}
        """Drafts seen at the last look, by repository."""
        self._problems: dict[str, str] = {}
        self.ended: Callable[[Session], None] = lambda session: None
        """Called with each session whose history was written for the first time."""

    def note(self, before: Session, after: Session) -> None:
        """Queue what a decision has changed. Returns at once and never raises."""
        if after.intent != before.intent or after.over != before.over:
            self._add(after)

    async def catch_up(
        self, live_sessions: Iterable[Session], recently_finished: Iterable[Session]
    ) -> None:
        """At the start, write what the previous run of the bot did not."""
        for session in live_sessions:
            self._add(session)
        if self.registry is None:
            return
        for session in recently_finished:
            try:
                names = await self.registry.histories(session.repository.path)
            except PortError as trouble:
                self._record_problem(session.repository.path, trouble)
                continue
            if session.short not in names:
                self._add(session)

    def problem(self, repository: str) -> str:
        """Why the last write to this repository failed; empty if it succeeded."""
        return self._problems.get(repository, "")

    async def written(self) -> None:
        """Wait until everything queued so far is written, or could not be."""
        while self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])

    async def close(self) -> None:
        await self.written()

    async def import_drafts(self, repository: str, clock: Clock) -> tuple[str, ...]:
        """Turn drafts into intents. Idempotent: an intent knows the draft it was made from."""
        if self.registry is None:
            return ()
        drafts = (await self.registry.shelf(repository)).drafts
        return await self._file_drafts(repository, drafts, clock)

    async def take_up(self, repository: str, clock: Clock) -> tuple[str, ...]:
        """Like `import_drafts`, but periodically: takes only drafts unchanged since the last look, as somebody may
        still be writing.
        """
        if self.registry is None:
            return ()
        drafts = (await self.registry.shelf(repository)).drafts
        before = self._files_on_disk.get(repository, frozenset())
        self._files_on_disk[repository] = frozenset(draft.digest for draft in drafts)
        rested = [draft for draft in drafts if draft.digest in before]
        return await self._file_drafts(repository, rested, clock)

    async def _file_drafts(
        self, repository: str, drafts: Iterable[IntentDraft], clock: Clock
    ) -> tuple[str, ...]:
        if drafts := [*drafts]:
            await self._hide_folder(repository)
        return tuple([await self._file_draft(repository, draft, clock) for draft in drafts])

    async def file(self, repository: str, filed: FiledIntent) -> str:
        """Store a new intent that no session carries out yet; return its id."""
        registry = self.required()
        await self._hide_folder(repository)
        return await registry.add(repository, self._masker.mask_model(filed))

    async def observe(self, repository: str, new: Iterable[Observation]) -> None:
        if told := [self._masker.mask_model(one) for one in new]:
            registry = self.required()
            await self._hide_folder(repository)
            await registry.observe(repository, told)

    def required(self) -> Registry:
        if self.registry is None:
            raise Refused("No intents are kept here.", "Set GWT_INTENTS=true.")
        return self.registry

    async def _file_draft(self, repository: str, draft: IntentDraft, clock: Clock) -> str:
        registry = self.required()
        intent = Intent(
            id=_name(draft),
            title=draft.title,
            body=draft.body,
            type=draft.type,
            risk=draft.risk,
            created_at=draft.created_at or clock.now(),
        )
        id = await registry.add(
            repository, self._masker.mask_model(FiledIntent(intent=intent, draft=draft.digest))
        )
        await registry.put_aside(repository, draft)
        return id

    def _add(self, session: Session) -> None:
        if self.registry is None or not (session.request.questions_asked or session.over):
            return
        self._waiting[session.id] = session
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name="registrar")

    async def _write(self) -> None:
        while self._waiting:
            session = self._waiting.pop(next(iter(self._waiting)))
            try:
                await self._keep(session)
            except PortError as trouble:
                self._record_problem(session.repository.path, trouble)
            except Exception:
                # the work goes on, whatever is wrong with the registry
                log.exception("not kept", extra={"data": {"id": session.id}})

    async def _keep(self, session: Session) -> None:
        registry = self.required()
        if not session.intent.body.strip():
            return
        self._problems.pop(session.repository.path, None)
        await self._hide_folder(session.repository.path)
        try:
            await self._keep_intent(registry, session)
        except Refused as refusal:
            # the intent's file was broken by hand, or another session has taken it over: the history is written all the
            # same
            self._record_problem(session.repository.path, refusal)
        if history := history_of(session):
            first = session.short not in await registry.histories(session.repository.path)
            told = self._masker.mask_model(history)
            await registry.keep_history(session.repository.path, session.short, told)
            if first:
                self.ended(session)

    async def _keep_intent(self, registry: Registry, session: Session) -> None:
        # A session that was started from an intent's file changes that file; any other gets a new file.
        intent, id = session.intent, session.intent.id
        if not session.from_registry:
            titled = intent.model_copy(update={"title": session.title})
            filed = self._masker.mask_model(FiledIntent(intent=titled, session=session.id))
            id = await registry.add(session.repository.path, filed)
        edit = IntentEdit(
            status=intent.status,
            type=intent.type,
            risk=intent.risk,
            answers={question.text: question.answer for question in intent.clarifications},
        )
        edit = self._masker.mask_model(edit)
        await registry.change(session.repository.path, id, edit, session=session.id)

    async def _hide_folder(self, repository: str) -> None:
        if self._hide and repository not in self._hidden:
            await self._hide(repository, FOLDER)
            self._hidden.add(repository)

    def _record_problem(self, repository: str, trouble: PortError) -> None:
        self._problems[repository] = sentences(trouble.reason, trouble.remedy)
        log.warning("not kept", extra={"data": {"repository": repository, "why": trouble.reason}})


def _name(draft: IntentDraft) -> str:
    """Return a name close to the draft's own that is valid for a file."""
    stem = PurePath(draft.name).stem
    return slug(stem) or slug(draft.title) or f"draft-{draft.digest[:8]}"
