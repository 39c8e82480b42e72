"""Branch mode: list, show, merge and delete a repository's branches from a chat.

It needs no session, no tmux and no model.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bot.core.cards import AnswerCard
from bot.core.choices import Verb
from bot.core.commands import AnsweredBy, words_answered_by
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.events import Commanded, FromPeople, Pressed
from bot.core.git import BranchDetails
from bot.core.naming import worktree_path
from bot.core.overview import is_visible_from
from bot.core.people import Person, Thread
from bot.core.projections.audit import branch_entry
from bot.core.repositories import Repositories
from bot.core.session import Session
from bot.core.session_commands import AnswerDelivery
from bot.core.sheets import Element, Text, Tone
from bot.core.text import sentences
from bot.core.world import World
from bot.steps.asking import ask
from bot.steps.branches import cards as branch_cards
from bot.steps.branches.cards import BranchWork, ButtonTarget, short_hash
from bot.steps.branches.questions import MAX_PATCH_CHARS, BranchPrompt
from bot.steps.chat import chat_of

# Finds the session and task of a branch, as far as the viewer may know of them.

MAX_FINISHED_SEARCHED = 200
"""Finished sessions that are searched for branches; each is read from disk once."""


WorkByBranch = Mapping[str, BranchWork]
"""By the name of the branch."""


@dataclass(frozen=True)
class BranchOwners:
    world: World
    awake: Callable[[], Iterable[Session]]
    _finished: dict[str, tuple[str, Session]] = field(
        default_factory=dict[str, tuple[str, Session]]
    )
    """Sessions already read from disk, with the time of their last change."""

    def works(self, repository: str) -> WorkByBranch:
        """Return the work on each branch. If several sessions used a branch, the newest one counts."""
        mine = [one for one in self._known() if one.repository.path == repository]
        mine.sort(key=lambda one: (not one.over, one.updated_at))
        return {name: carried for session in mine for name, carried in _branches_of(session)}

    def needs(self, repository: str, branch: str) -> Session | None:
        """Return an unfinished session that starts from this branch or has its documents on it, and could not go on
        without it.
        """
        for session in self.awake():
            if session.over or session.repository.path != repository:
                continue
            spec = session.plan.spec.workspace.branch if session.plan.spec else ""
            if branch in (session.repository.base_branch, spec):
                return session
        return None

    def _known(self) -> Iterable[Session]:
        awake = list(self.awake())
        there = {one.id for one in awake}
        yield from awake
        over = [one for one in self.world.store.sessions() if one.id not in there][
            :MAX_FINISHED_SEARCHED
        ]
        for gone in self._finished.keys() - {one.id for one in over}:
            del self._finished[gone]
        for listed in over:
            if session := self._read(listed.id, listed.updated_at.isoformat()):
                yield session

    def _read(self, session_id: str, changed: str) -> Session | None:
        known = self._finished.get(session_id)
        if known and known[0] == changed:
            return known[1]
        record = self.world.store.find(session_id)
        if record is None:
            return None
        self._finished[session_id] = (changed, record.session)
        return record.session


def visible_work(thread: Thread, work: BranchWork | None) -> BranchWork | None:
    """Return the work, or `None` if it belongs to a direct conversation that the thread must not know of."""
    return work if work and is_visible_from(thread, work.session.thread) else None


def _branches_of(session: Session) -> Iterable[tuple[str, BranchWork]]:
    if session.plan.spec:
        yield session.plan.spec.workspace.branch, BranchWork(session)
    for task in session.tasks:
        if task.workspace:
            yield task.workspace.branch, BranchWork(session, task)


log = logging.getLogger("bot.branches")

_WORDS = words_answered_by(AnsweredBy.BRANCHES)
_VERBS = frozenset({Verb.SHOW_BRANCH, Verb.MERGE_BRANCH, Verb.DELETE_BRANCH})
_READING = "The model is reading it; what it says is added here."
_MAX_CACHED_SUMMARIES = 200
"""Summaries that are cached; a branch that has not moved is not summarised again."""


@dataclass(frozen=True)
class _BranchView:
    """A user's view of one branch: its repository, and the card that shows it."""

    thread: Thread
    path: str
    asked: str
    name: str


@dataclass(frozen=True)
class BranchMode:
    """Answers commands and presses about branches.

    `session_in` finds the session of a thread, whose repository is used; otherwise the channel's.
    """

    world: World
    repositories: Repositories
    whose: BranchOwners
    answers: AnswerDelivery
    session_in: Callable[[Thread], Session | None]
    _summaries: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])

    def concerns(self, event: FromPeople) -> bool:
        if isinstance(event, Commanded):
            return event.command.word in _WORDS
        return isinstance(event, Pressed) and event.verb in _VERBS

    async def answered(self, thread: Thread, event: Commanded | Pressed) -> bool:
        """Return when the first card is shown, or is late."""
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
            await self._look(_BranchView(thread, path, short_hash(event.id), name))
        else:
            await self._list(thread, event, path)

    async def _path(self, thread: Thread, event: FromPeople) -> str:
        """Return the repository's path; empty if none is known, and then the person was told."""
        if session := self.session_in(thread):
            return session.repository.path
        if why := self.repositories.problem(thread):
            await self._tell(thread, event, why)
            return ""
        return self.repositories.path_for(thread)

    async def _list(self, thread: Thread, event: FromPeople, path: str) -> None:
        body = (*await self.listed(thread, path), Text(text=branch_cards.HINT))
        card = AnswerCard(key=f"answer:{event.id}", title="Branches", body=body)
        await self._whisper(thread, event, card)

    async def listed(self, thread: Thread, path: str) -> tuple[Element, ...]:
        """Return the repository's branches, each with its buttons."""
        found = await self.world.repository.branch_list(path)
        works = self.whose.works(found.repository)
        return branch_cards.branch_list(
            found, lambda name: visible_work(thread, works.get(name)), self.world.clock.now()
        )

    async def _look(self, look: _BranchView, done: str = "") -> None:
        """Show git's facts first, then the model's summary on the same card.

        `done`: what was just done to the branch.
        """
        found = await self.world.repository.branch_details(look.path, look.name)
        known = self._summaries.get(self._key(look, found))
        missing = self.world.preferences.model().missing
        wanted = bool(found.branch.ahead) and known is None and not missing
        without = f"AI settings are required: {missing}" if missing else ""
        told = known or (_READING if wanted else without if found.branch.ahead else "")
        there = await self._show(look, found, told, done)
        if wanted:
            await self._show(there, found, await self._summary(there, found), done)

    async def _summary(self, look: _BranchView, found: BranchDetails) -> str:
        """Return the summary, or a sentence that says why there is none."""
        room = await self.world.rules.context_window(BranchPrompt.role)
        try:
            patch = await self.world.repository.branch_patch(look.path, look.name, MAX_PATCH_CHARS)
            carried = self._known(look, found)
            session = carried.session if carried else None
            question = BranchPrompt(found, patch, room, session)
            text, usage = await ask(self.world.llm, question)
        except PortError as problem:
            return sentences(f"No summary now: {problem.reason}", problem.remedy)
        self.world.beside.add(usage)
        self._summaries[self._key(look, found)] = text
        while len(self._summaries) > _MAX_CACHED_SUMMARIES:
            self._summaries.popitem(last=False)
        return text

    async def _show(
        self, look: _BranchView, found: BranchDetails, summary: str, done: str
    ) -> _BranchView:
        """Show the card. In the channel itself it starts a thread, so that it can be edited later."""
        about = ButtonTarget(
            look.asked,
            short_hash(found.repository),
            found.branch.commit,
            found.lost,
            found.base,
            look.name,
        )
        carried = self.whose.works(found.repository).get(look.name)
        needed = needed_by(self.whose, found.repository, look.name)
        obstacle = why_not_deletable(found, carried, needed)
        known = visible_work(look.thread, carried)
        now = self.world.clock.now()
        card = branch_cards.branch_card(
            found, known, about, summary, now, done=done, obstacle=obstacle
        )
        return _BranchView(await self._put(look.thread, card), look.path, look.asked, look.name)

    async def _change(self, thread: Thread, event: Pressed, path: str) -> None:
        about = ButtonTarget.read(event.about)
        found = await self.world.repository.branch_details(path, about.name) if about else None
        if about is None or found is None or about.where != short_hash(found.repository):
            await self._tell(thread, event, "That is about another repository; ask for it again.")
            return
        look = _BranchView(thread, path, about.asked, about.name)
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
            done = await merge_branch(self.world, found.repository, about, event.by)
            self._audited(thread, event, done)
            await self._look(look, done)
        else:
            await self._delete(look, about, event, found)

    async def _delete(
        self, look: _BranchView, about: ButtonTarget, event: Pressed, found: BranchDetails
    ) -> None:
        carried = self.whose.works(found.repository).get(look.name)
        needed = needed_by(self.whose, found.repository, look.name)
        if why := why_not_deletable(found, carried, needed):
            await self._tell(look.thread, event, f"{about.name} stays: {why}.")
            return
        spare = spare_worktree(found, carried)
        done = await delete_branch(self.world, about, event.by, found, spare)
        self._audited(look.thread, event, done)
        card = AnswerCard(
            key=about.card,
            title=branch_cards.title(found),
            tone=Tone.SUCCESS,
            body=(Text(text=done),),
        )
        await self._put(look.thread, card)

    def _audited(self, thread: Thread, event: Pressed, done: str) -> None:
        # It is already done: if the disk is full, only the program's log records it.
        log.info("a branch was changed", extra={"data": {"by": event.by.id, "done": done}})
        try:
            now = self.world.clock.now()
            self.world.audit.note(branch_entry(thread, event, now, done))
        except Unavailable as full:
            log.warning("not noted", extra={"data": {"why": full.reason}})

    async def _put(self, thread: Thread, card: AnswerCard) -> Thread:
        chat = chat_of(self.world, thread.platform)
        if not thread.root:
            return await chat.open(thread, card)
        await chat.show(thread, card)
        return thread

    async def _tell(self, thread: Thread, event: FromPeople, *said: str) -> None:
        text = sentences(*said)
        key = f"told:{event.id}:{short_hash(text)}"
        await self._whisper(thread, event, AnswerCard(key=key, title=text))

    async def _whisper(self, thread: Thread, event: FromPeople, card: AnswerCard) -> None:
        chat = chat_of(self.world, thread.platform)
        await chat.whisper(thread, event.by, card)

    def _known(self, look: _BranchView, found: BranchDetails) -> BranchWork | None:
        return visible_work(look.thread, self.whose.works(found.repository).get(look.name))

    def _key(self, look: _BranchView, found: BranchDetails) -> str:
        # A summary depends on two commits, and on the task if the viewer may know of it.
        carried = self._known(look, found)
        whose = carried.session.id if carried else ""
        return f"{found.repository}:{found.parted}:{found.branch.commit}:{whose}"


# Merges or deletes a branch exactly as it was shown, or not at all.


async def merge_branch(world: World, path: str, about: ButtonTarget, by: Person) -> str:
    """Merge in a scratch worktree. The base only moves forward, and only if that touches nobody's changes."""
    scratch = worktree_path(path, f"agent/merge-{about.asked}")
    try:
        commit = await _merge_into_base(world, path, about, scratch)
    except Refused as refusal:
        if refusal.reason != "moved":
            raise
        raise Refused("Something has moved since you looked.", refusal.remedy) from refusal
    finally:
        await world.worktrees.remove_scratch(path, scratch)
    return f"Merged into {about.base} by {by}: {commit[:10]}"


async def _merge_into_base(world: World, path: str, about: ButtonTarget, scratch: str) -> str:
    """Merge the branch's shown commit, and no other, into the base; return the merge commit."""
    wanted = {about.name: about.commit}
    merged = await world.worktrees.merge_all(path, about.base, wanted, scratch)
    if merged.conflicts:
        files = ", ".join(merged.conflicts[:8])
        raise Refused(f"{about.name} and {about.base} collide in {files}.", "Merge by hand.")
    await world.worktrees.move_base(path, about.base, merged.commit)
    return merged.commit


async def delete_branch(
    world: World, about: ButtonTarget, by: Person, found: BranchDetails, worktree: str
) -> str:
    """Delete the branch. `worktree`: one of the bot's own, which may be removed with it."""
    free = worktree if worktree == found.branch.worktree else ""
    await world.worktrees.delete_branch(
        found.repository, about.name, about.commit, about.lost, worktree=free
    )
    return f"Deleted by {by}. It stood at {about.commit}; git branch {about.name} {about.commit[:10]} brings it back."


def why_not_deletable(found: BranchDetails, work: BranchWork | None, needed: str) -> str:
    """Return why a branch may not be deleted; empty if it may, after confirmation.

    `needed`: the session that needs it.
    """
    if needed:
        return f"session {needed} is built upon it"
    where = found.branch.worktree
    if where and not (where == spare_worktree(found, work) and not found.uncommitted):
        return f"it is checked out in {where}"
    return ""


def spare_worktree(found: BranchDetails, work: BranchWork | None) -> str:
    """Return the bot's worktree of the branch, if no session needs it any more."""
    if work and work.session.over:
        return work.worktree
    return ""


def needed_by(whose: BranchOwners, path: str, branch: str) -> str:
    session = whose.needs(path, branch)
    return session.short if session else ""
