"""Runs one session: hear an event, decide on it, save, act. Nothing here knows what a step is."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from datetime import timedelta

from bot.core import approval
from bot.core.actions import (
    Action,
    AwaitRun,
    CleanUp,
    CommitDocuments,
    Deed,
    MergeLocally,
    Order,
    PrepareWorkspace,
    Show,
    ShowLogs,
    StartRun,
    StopRun,
    WatchPulls,
    Whisper,
)
from bot.core.cards import ProblemCard
from bot.core.errors import Away, Lost, PortError, Refused, Unavailable
from bot.core.events import Broke, Event, FromPerson, OrderFailed, Result, Said
from bot.core.llm import AI_SETTINGS_REQUIRED
from bot.core.projections.audit import outcome_entry
from bot.core.projections.records import REMEMBERED_EVENTS, Record
from bot.core.repositories import remember_tests
from bot.core.retry import with_retries
from bot.core.session import Session
from bot.core.states import RunState, Status
from bot.core.world import World
from bot.steps import chat, repository_state
from bot.steps.decisions import decide, due, is_held_back
from bot.steps.messages import private_reply
from bot.steps.perform import perform

# Every event and every pending action is on disk before the bot acts on it. Orders follow from the state: an order that
# is due is started, one that is no longer due is cancelled. After a crash the whole outbox is done again, so every
# action must be idempotent.

log = logging.getLogger("bot.actor")

MAX_REPEATED_ORDERS = 60
"""The same order, given this often since the bot started, means that the state makes no progress."""
DISK_RETRY = 2.0
SCRIPT_PATIENCE = timedelta(minutes=10)
"""A script keeps waiting for an outside problem for this long. For missing settings it does not wait at all."""


class Actor:
    def __init__(self, record: Record, world: World) -> None:
        self._record = record.model_copy(update={"outbox": outbox_at_start(record.outbox)})
        self._world = world
        self._changed = asyncio.Event()
        self._action_lanes: dict[str, asyncio.Lock] = {}
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._started_actions: set[int] = set()
        """The actions under way that have got the lock of their lane. Holds ids of objects."""
        self._cancelled: set[int] = set()
        self._order_counts: Counter[str] = Counter()
        self._disk_full_reported = False
        self._audited_event: Event | None = None
        self.up = asyncio.Event()
        """Set as soon as the waiting events are decided and the due actions started."""

    @property
    def session(self) -> Session:
        return self._record.session

    @property
    def quiet(self) -> bool:
        """Whether nothing is under way: the session waits for a person or for something outside, or is over."""
        return self._next() is None and (
            not self._record.outbox or bool(self.session.control.trouble)
        )

    @property
    def waiting(self) -> int:
        """How many events are heard and not yet decided."""
        return len(self._record.inbox)

    def has_heard(self, event: Event) -> bool:
        return self.has_heard_of(event.id)

    def has_heard_of(self, event_id: str) -> bool:
        return event_id in self._record.heard

    @property
    def resting(self) -> bool:
        """Whether the session cannot go on without a person.

        A problem that is retried counts as stuck only after SCRIPT_PATIENCE.
        """
        stuck = set(self._stuck_orders())
        return self._next() is None and all(
            self._waits_for_people(action) or (isinstance(action, Order) and action.key in stuck)
            for action in self._record.outbox
        )

    def _stuck_orders(self) -> Iterator[str]:
        now = self._world.clock.now()
        for trouble in self.session.control.troubles:
            lasts = trouble.since is None or now - trouble.since >= SCRIPT_PATIENCE
            if lasts or trouble.reason == AI_SETTINGS_REQUIRED:
                yield trouble.order

    def _waits_for_people(self, action: Action) -> bool:
        """Whether this action waits for a person: for what they do with open pull requests, or for the reply to an
        agent's question.
        """
        if isinstance(action, AwaitRun):
            task = self.session.task_of_run(action.run_id)
            run = task.run if task else None
            asked = run and run.state is RunState.WAITING_INPUT and not run.reply
            return bool(run and (asked or run.quiet.shown))
        return isinstance(action, WatchPulls)

    @property
    def can_be_unloaded(self) -> bool:
        """Whether the session is over with nothing pending, so that its actor can be unloaded; everything is on disk."""
        over = self.session.status in (Status.COMPLETED, Status.DISCARDED)
        return over and not (self._record.inbox or self._record.outbox or self._under_way)

    def hear(self, event: Event) -> None:
        """Save an event from outside, once; run() decides on it later. Raises Unavailable if the disk is full."""
        if self.has_heard(event):
            return
        deeds: list[Deed] = []
        if isinstance(event, Said):
            event = event.model_copy(update={"offered": approval.open_offer(self.session)})
        if is_held_back(self.session, event) and isinstance(event, FromPerson):
            event = event.model_copy(update={"waited": True}) if isinstance(event, Said) else event
            deeds.append(
                private_reply(
                    event, "This session is paused. I will come to that once it is resumed."
                )
            )
        self._save(
            inbox=[*self._record.inbox, event],
            heard=[*self._record.heard, event.id][-REMEMBERED_EVENTS:],
            outbox=with_deeds(self._record.outbox, deeds, self._started_actions),
        )
        self._changed.set()

    def tell(self, event: Event) -> None:
        """Save an event that the bot itself has noticed."""
        self._save(inbox=[*self._record.inbox, self._masked(event)])
        self._changed.set()

    def _report_trouble(self, event: Event) -> None:
        # Problems are reported while they last. With a full disk the report cannot be saved, and that must not end the
        # work.
        try:
            self.tell(event)
        except Unavailable as full:
            data = {"event": event.kind, "id": self.session.id, "why": full.reason}
            log.warning("not told", extra={"data": data})

    async def run(self) -> None:
        """Decide on events and carry out actions until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                while event := self._next():
                    await self._save_with_retries(lambda event=event: self._decide(event))
                self._sync_tasks_with_outbox(group)
                self.up.set()
                await self._changed.wait()
                self._changed.clear()

    def _next(self) -> Event | None:
        return next((e for e in self._record.inbox if not is_held_back(self.session, e)), None)

    def _decide(self, event: Event) -> None:
        """Decide on one event and save once.

        If deciding raises, its changes are thrown away and the session records a failure instead.
        """
        inbox = [other for other in self._record.inbox if other is not event]
        session = self.session.copied()
        try:
            deeds = decide(session, event)
        except Exception:
            # the edge of the actor: a bug in one decision must not end the other sessions
            log.exception(
                "decision failed", extra={"data": {"event": event.kind, "id": session.id}}
            )
            session = self.session.copied()
            deeds = decide(session, self._bug_event(f"deciding on {event.kind} failed"))
        outbox = with_deeds(
            reconciled_outbox(self._record.outbox, session, inbox), deeds, self._started_actions
        )
        before = self.session
        # the audit log comes first: a person's request must not take effect before its outcome is recorded
        if event is not self._audited_event and (entry := outcome_entry(before, event, session)):
            self._world.audit.note(entry)
            # the save below is retried when the disk is full, but the entry must be written once
            self._audited_event = event
        self._save(session=session, inbox=inbox, outbox=outbox)
        self._world.logbook.note(before, event, session)
        self._world.registrar.note(before, session)
        remember_tests(self._world, before, session)
        self._world.visits.changed(session.id)
        self._world.recall.note(before, session, event.at)

    def _bug_event(self, reason: str) -> Broke:
        return Broke(**self._world.mark(), reason=f"{reason}; the log has the details")

    def _sync_tasks_with_outbox(self, group: asyncio.TaskGroup) -> None:
        """Start the actions that are new in the outbox; cancel those that are no longer in it."""
        written = {id(action) for action in self._record.outbox}
        for number, task in self._under_way.items():
            # cancel only once: a second cancellation would interrupt the task's cleanup
            if number not in written and number not in self._cancelled:
                self._cancelled.add(number)
                task.cancel()
        for action in self._record.outbox:
            if id(action) not in self._under_way:
                self._under_way[id(action)] = group.create_task(self._act(action))

    async def _act(self, action: Action) -> None:
        try:
            async with self._action_lanes.setdefault(lane_of(action), asyncio.Lock()):
                self._started_actions.add(id(action))
                result = await self._perform_with_retries(action)
                # keep the lane's lock while saving: with a full disk, the older of two cards with one key could
                # otherwise be shown last
                await self._save_with_retries(lambda: self._finish(action, result))
        finally:
            self._under_way.pop(id(action), None)
            self._started_actions.discard(id(action))
            self._cancelled.discard(id(action))
            self._changed.set()

    async def _perform_with_retries(self, action: Action) -> Event | None:
        """Do the action. A final refusal becomes an event, too."""
        try:
            self._guard_against_loops(action)
            return await with_retries(
                self._world,
                lambda: perform(self._world, self.session, action, self.tell),
                self._report_trouble,
                order=action.key,
                quiet=isinstance(action, Show | Whisper),
            )
        except Refused as refusal:
            return self._refused(
                action, await repository_state.explain_if_moved(self._world, self.session, refusal)
            )
        except Exception:
            # the edge of the actor: a bug in one session must not end the others
            log.exception(
                "action failed", extra={"data": {"action": action.kind, "id": self.session.id}}
            )
            return (
                self._bug_event(f"{action.kind} failed") if _must_report_failure(action) else None
            )

    def _guard_against_loops(self, action: Action) -> None:
        if isinstance(action, Order):
            self._order_counts[action.key] += 1
            if self._order_counts[action.key] > MAX_REPEATED_ORDERS:
                self._order_counts.clear()
                raise RuntimeError(f"going in circles: {action.key}")

    def _refused(self, action: Action, refusal: Refused) -> OrderFailed | Broke | None:
        data = {"action": action.kind, "id": self.session.id, "reason": refusal.reason}
        log.warning("refused", extra={"data": data})
        if isinstance(action, Deed):
            reason = f"{action.kind} was refused"
            return self._bug_event(reason) if _must_report_failure(action) else None
        return OrderFailed(
            **self._world.mark(),
            answers=action.key,
            what=action.kind,
            task_id=getattr(action, "task_id", ""),
            reason=refusal.reason,
            remedy=refusal.remedy,
            lost=isinstance(refusal, Lost),
            away=isinstance(refusal, Away),
        )

    def _finish(self, action: Action, result: Event | None) -> None:
        # One save for both: the action is never removed without its result, nor the result kept without it.
        outbox = [other for other in self._record.outbox if other is not action]
        came = [self._masked(result)] if result else []
        self._save(outbox=outbox, inbox=[*self._record.inbox, *came])

    def _masked(self, event: Event) -> Event:
        """Mask an event from outside. The steps pass on what programs and the model say, and it is masked here."""
        return self._world.masker.mask_model(event, keep_exact=True)

    def _save(
        self,
        *,
        session: Session | None = None,
        inbox: list[Event] | None = None,
        outbox: list[Action] | None = None,
        heard: list[str] | None = None,
    ) -> None:
        # Disk first, then memory.
        old = self._record
        record = Record(
            session=session if session is not None else old.session,
            inbox=inbox if inbox is not None else old.inbox,
            outbox=outbox if outbox is not None else old.outbox,
            heard=heard if heard is not None else old.heard,
        )
        self._world.store.save(record)
        self._record = record

    async def _save_with_retries(self, change: Callable[[], None]) -> None:
        """Retry a change until there is room on the disk. A full disk stops this session, but nothing is lost."""
        while True:
            try:
                change()
            except Unavailable as full:
                await self._show_disk_full(full)
                await self._world.clock.sleep(DISK_RETRY)
            else:
                self._disk_full_reported = False
                return

    async def _show_disk_full(self, full: Unavailable) -> None:
        # The only card that is not saved before it is shown: the disk has no room.
        if self._disk_full_reported:
            return
        self._disk_full_reported = True
        card = ProblemCard(
            key="disk",
            title="I cannot save my work",
            reason=full.reason,
            remedy=full.remedy,
            retrying=True,
        )
        try:
            await chat.show(self._world, self.session, card)
        except PortError:
            log.warning("disk full, and the chat does not answer")


def _must_report_failure(action: Action) -> bool:
    # A card that cannot be shown is only logged, but an agent that could not be stopped must be reported.
    return isinstance(action, Order | StopRun)


# What belongs in the outbox, and which actions must not overlap. Pure functions on lists.


def reconciled_outbox(
    outbox: Iterable[Action], session: Session, inbox: Iterable[Event]
) -> list[Action]:
    """Return the outbox without orders that are no longer due, plus those that are newly due unless their result
    already waits in the inbox.
    """
    wanted = {order.key: order for order in due(session)}
    kept = [a for a in outbox if isinstance(a, Deed) or a.key in wanted]
    there = {action.key for action in kept}
    there |= {event.answers for event in inbox if isinstance(event, Result)}
    return [*kept, *(order for key, order in wanted.items() if key not in there)]


def outbox_at_start(outbox: Iterable[Action]) -> list[Action]:
    """Return the outbox as it is at the start of the bot: only the newest action of each key, even if an older one was
    under way.
    """
    newest = {action.key: action for action in outbox}
    return list(newest.values())


def with_deeds(
    outbox: Iterable[Action], deeds: Iterable[Deed], begun: Container[int]
) -> list[Action]:
    """Add deeds to the outbox.

    A deed that has not begun is replaced by a newer one with its key. `begun` holds ids of objects.
    """
    planned = list(outbox)
    for deed in deeds:
        places = (n for n, a in enumerate(planned) if a.key == deed.key and id(a) not in begun)
        waiting = next(places, None)
        if waiting is None:
            planned.append(deed)
        else:
            planned[waiting] = deed
    return planned


def lane_of(action: Action) -> str:
    """Return the lane of an action; actions of one lane run one after the other.

    Shared lanes: cards of the thread, everything done to one run, everything done to branches, and a cancelled order
    with its successor.
    """
    match action:
        case Show() | Whisper() | ShowLogs():
            return "thread"
        case PrepareWorkspace() | StartRun() | AwaitRun() | StopRun():
            return action.run_id
        case CommitDocuments() | MergeLocally() | CleanUp():
            return "branches"
        case _:
            return action.key
