"""One session's life: hear, decide, save, act. Nothing here knows what a step is."""

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
from bot.core.llm import AI_SETTINGS
from bot.core.projections.audit import outcome_entry
from bot.core.projections.records import REMEMBERED_EVENTS, Record
from bot.core.repositories import remember_tests
from bot.core.retry import with_retries
from bot.core.session import Session
from bot.core.states import RunState, Status
from bot.core.world import World
from bot.steps import chat, repository_state
from bot.steps.decisions import decide, due, held_back
from bot.steps.messages import privately
from bot.steps.perform import perform

# One session's life: hear, decide, save, act. Nothing here knows what a phase is.
#
# Everything heard and everything still to do is on disk before it is acted upon. Orders follow
# from the state: what is due and not under way is started, what is under way and no longer due is
# called off. After a crash the outbox is done again, so every action must be safe to do twice.

log = logging.getLogger("bot.actor")

CIRCLES = 60
"""The same order given so often in one life of the bot means that the state does not move on."""
DISK_RETRY = 2.0
WORTH_WAITING = timedelta(minutes=10)
"""A script is not ended by a trouble outside that passes sooner. Settings that are missing are waited for by no script."""


class Actor:
    def __init__(self, record: Record, world: World) -> None:
        self._record = record.model_copy(update={"outbox": left_over(record.outbox)})
        self._world = world
        self._wake = asyncio.Event()
        self._lanes: dict[str, asyncio.Lock] = {}
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._begun: set[int] = set()
        """Of those: the ones that have had their turn in their lane."""
        self._called_off: set[int] = set()
        self._given: Counter[str] = Counter()
        self._disk_told = False
        self._audited: Event | None = None
        self.up = asyncio.Event()
        """It has decided on what waited, and acts as written."""

    @property
    def session(self) -> Session:
        return self._record.session

    @property
    def quiet(self) -> bool:
        """Nothing is under way: it waits for a person or for something outside, or is over."""
        return self._next() is None and (
            not self._record.outbox or bool(self.session.control.trouble)
        )

    @property
    def waiting(self) -> int:
        """What it has heard and not yet come to."""
        return len(self._record.inbox)

    def has_heard(self, event: Event) -> bool:
        return self.has_heard_of(event.id)

    def has_heard_of(self, event_id: str) -> bool:
        return event_id in self._record.heard

    @property
    def resting(self) -> bool:
        """Nothing moves in it without a person. What is tried again by itself counts as moving, for a while."""
        stuck = set(self._stuck_orders())
        return self._next() is None and all(
            self._waits_for_people(action) or (isinstance(action, Order) and action.key in stuck)
            for action in self._record.outbox
        )

    def _stuck_orders(self) -> Iterator[str]:
        now = self._world.clock.now()
        for trouble in self.session.control.troubles:
            lasts = trouble.since is None or now - trouble.since >= WORTH_WAITING
            if lasts or trouble.reason == AI_SETTINGS:
                yield trouble.order

    def _waits_for_people(self, action: Action) -> bool:
        """For what they do with open pull requests, or for their answer to what an agent asks."""
        if isinstance(action, AwaitRun):
            task = self.session.task_of_run(action.run_id)
            run = task.run if task else None
            asked = run and run.state is RunState.WAITING_INPUT and not run.reply
            return bool(run and (asked or run.quiet.shown))
        return isinstance(action, WatchPulls)

    @property
    def may_sleep(self) -> bool:
        """Its work is over, and nothing waits: what it is lies on disk."""
        over = self.session.status in (Status.COMPLETED, Status.DISCARDED)
        return over and not (self._record.inbox or self._record.outbox or self._under_way)

    def hear(self, event: Event) -> None:
        """Write down what came from outside, once; run() will come to it. Unavailable when the disk is full."""
        if self.has_heard(event):
            return
        deeds: list[Deed] = []
        if isinstance(event, Said):
            event = event.model_copy(update={"offered": approval.open_offer(self.session)})
        if held_back(self.session, event) and isinstance(event, FromPerson):
            event = event.model_copy(update={"waited": True}) if isinstance(event, Said) else event
            deeds.append(
                privately(event, "This session is paused. I will come to that once it is resumed.")
            )
        self._save(
            inbox=[*self._record.inbox, event],
            heard=[*self._record.heard, event.id][-REMEMBERED_EVENTS:],
            outbox=with_deeds(self._record.outbox, deeds, self._begun),
        )
        self._wake.set()

    def tell(self, event: Event) -> None:
        """Write down what the bot itself has noticed."""
        self._save(inbox=[*self._record.inbox, self._masked(event)])
        self._wake.set()

    def _tell_if_possible(self, event: Event) -> None:
        """Trouble is told while it lasts. With a full disk it cannot be, and the work must not end over that."""
        try:
            self.tell(event)
        except Unavailable as full:
            data = {"event": event.kind, "id": self.session.id, "why": full.reason}
            log.warning("not told", extra={"data": data})

    async def run(self) -> None:
        """Live until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                while event := self._next():
                    await self._patiently_saved(lambda event=event: self._decide(event))
                self._act_as_written(group)
                self.up.set()
                await self._wake.wait()
                self._wake.clear()

    def _next(self) -> Event | None:
        return next((e for e in self._record.inbox if not held_back(self.session, e)), None)

    def _decide(self, event: Event) -> None:
        """One event, one save. Whatever goes wrong while deciding leaves no trace but the word that it did."""
        inbox = [other for other in self._record.inbox if other is not event]
        session = self.session.copied()
        try:
            deeds = decide(session, event)
        except Exception:
            # the actor's edge: a bug in a decision must not take the other sessions along
            log.exception(
                "decision failed", extra={"data": {"event": event.kind, "id": session.id}}
            )
            session = self.session.copied()
            deeds = decide(session, self._broke(f"deciding on {event.kind} failed"))
        outbox = with_deeds(fitting(self._record.outbox, session, inbox), deeds, self._begun)
        before = self.session
        # what people want does not count before it is written down what came of it
        if event is not self._audited and (entry := outcome_entry(before, event, session)):
            self._world.audit.note(entry)
            # the save below is tried again when the disk is full: the entry is written once
            self._audited = event
        self._save(session=session, inbox=inbox, outbox=outbox)
        self._world.logbook.note(before, event, session)
        self._world.registrar.note(before, session)
        remember_tests(self._world, before, session)
        self._world.visits.changed()
        self._world.recall.note(before, session, event.at)

    def _broke(self, reason: str) -> Broke:
        return Broke(**self._world.mark(), reason=f"{reason}; the log has the details")

    def _act_as_written(self, group: asyncio.TaskGroup) -> None:
        """Make what is under way agree with the outbox."""
        written = {id(action) for action in self._record.outbox}
        for number, task in self._under_way.items():
            # once: a second time would strike what it does to end in order
            if number not in written and number not in self._called_off:
                self._called_off.add(number)
                task.cancel()
        for action in self._record.outbox:
            if id(action) not in self._under_way:
                self._under_way[id(action)] = group.create_task(self._act(action))

    async def _act(self, action: Action) -> None:
        try:
            async with self._lanes.setdefault(lane_of(action), asyncio.Lock()):
                self._begun.add(id(action))
                result = await self._done(action)
                # still its turn: of two cards with one key the older must not be left over by a full disk
                await self._patiently_saved(lambda: self._finish(action, result))
        finally:
            self._under_way.pop(id(action), None)
            self._begun.discard(id(action))
            self._called_off.discard(id(action))
            self._wake.set()

    async def _done(self, action: Action) -> Event | None:
        """Do it; what the world refuses for good becomes an event, too."""
        try:
            self._count(action)
            return await with_retries(
                self._world,
                lambda: perform(self._world, self.session, action, self.tell),
                self._tell_if_possible,
                order=action.key,
                quiet=isinstance(action, Show | Whisper),
            )
        except Refused as refusal:
            return self._refused(
                action, await repository_state.explain_if_moved(self._world, self.session, refusal)
            )
        except Exception:
            # the actor's edge: a bug in one session must not take the others along
            log.exception(
                "action failed", extra={"data": {"action": action.kind, "id": self.session.id}}
            )
            return self._broke(f"{action.kind} failed") if _must_be_told(action) else None

    def _count(self, action: Action) -> None:
        if isinstance(action, Order):
            self._given[action.key] += 1
            if self._given[action.key] > CIRCLES:
                self._given.clear()
                raise RuntimeError(f"going in circles: {action.key}")

    def _refused(self, action: Action, refusal: Refused) -> OrderFailed | Broke | None:
        data = {"action": action.kind, "id": self.session.id, "reason": refusal.reason}
        log.warning("refused", extra={"data": data})
        if isinstance(action, Deed):
            reason = f"{action.kind} was refused"
            return self._broke(reason) if _must_be_told(action) else None
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
        """The action is over and its result heard: one save, so that neither is ever without the other."""
        outbox = [other for other in self._record.outbox if other is not action]
        came = [self._masked(result)] if result else []
        self._save(outbox=outbox, inbox=[*self._record.inbox, *came])

    def _masked(self, event: Event) -> Event:
        """What comes from the world enters here, so the steps hand over what programs and the model have said as it is."""
        return self._world.masker.mask_model(event, keep_exact=True)

    def _save(
        self,
        *,
        session: Session | None = None,
        inbox: list[Event] | None = None,
        outbox: list[Action] | None = None,
        heard: list[str] | None = None,
    ) -> None:
        """On disk first, then true."""
        old = self._record
        record = Record(
            session=session if session is not None else old.session,
            inbox=inbox if inbox is not None else old.inbox,
            outbox=outbox if outbox is not None else old.outbox,
            heard=heard if heard is not None else old.heard,
        )
        self._world.store.save(record)
        self._record = record

    async def _patiently_saved(self, change: Callable[[], None]) -> None:
        """A full disk stops this session, and loses nothing: the same change is tried until it fits."""
        while True:
            try:
                change()
            except Unavailable as full:
                await self._tell_of_disk(full)
                await self._world.clock.sleep(DISK_RETRY)
            else:
                self._disk_told = False
                return

    async def _tell_of_disk(self, full: Unavailable) -> None:
        """The one card that is not written down first: there is no room to."""
        if self._disk_told:
            return
        self._disk_told = True
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


def _must_be_told(action: Action) -> bool:
    """A card that does not arrive is only logged; an agent that could not be stopped is not passed over."""
    return isinstance(action, Order | StopRun)


# What stands in the outbox, and what must not overlap. Pure: lists in, lists out.


def fitting(outbox: Iterable[Action], session: Session, inbox: Iterable[Event]) -> list[Action]:
    """No order that is not due; every order that is, unless its result already waits to be decided on."""
    wanted = {order.key: order for order in due(session)}
    kept = [a for a in outbox if isinstance(a, Deed) or a.key in wanted]
    there = {action.key for action in kept}
    there |= {event.answers for event in inbox if isinstance(event, Result)}
    return [*kept, *(order for key, order in wanted.items() if key not in there)]


def left_over(outbox: Iterable[Action]) -> list[Action]:
    """What a life of the bot begins with: a card that was under way in the last one gives way to its newer self, too."""
    newest = {action.key: action for action in outbox}
    return list(newest.values())


def with_deeds(
    outbox: Iterable[Action], deeds: Iterable[Deed], begun: Container[int]
) -> list[Action]:
    """Add deeds. One that still waits for its turn gives way to its newer self. `begun` holds ids of objects."""
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
    """What shares a lane goes one after the other: cards of the thread, all that is done to a run, to the branches,
    and whatever was called off before the same thing is begun anew."""
    match action:
        case Show() | Whisper() | ShowLogs():
            return "thread"
        case PrepareWorkspace() | StartRun() | AwaitRun() | StopRun():
            return action.run_id
        case CommitDocuments() | MergeLocally() | CleanUp():
            return "branches"
        case _:
            return action.key
