"""Whatever happens, in whatever order, late or twice: nothing raises, nobody is forgotten, and no agent is left alone."""

from __future__ import annotations

from random import Random

import pytest

from bot.core.actions import Deed, HoldPlace, Order, Relink, Show, ShowLogs, StopRun, Whisper
from bot.core.choices import Command, Verb, Word
from bot.core.events import (
    Broke,
    CollisionsSeen,
    Commanded,
    Event,
    OrderFailed,
    Overheard,
    Pressed,
    Relinked,
    Result,
    RunStopped,
    Said,
    Ticked,
    TroubleBegan,
    TroubleEnded,
    Woken,
)
from bot.core.git import Collision
from bot.core.layout import lay_out
from bot.core.people import Person
from bot.core.plan import DocumentKind
from bot.core.states import Phase, Status, TaskState
from bot.core.talk import ChangeStage
from bot.steps.blocked.rules import WAITS_FOR_PREFIX
from bot.steps.decisions import decide, due, is_held_back
from tests.steps.anything import Answers, Mark
from tests.steps.scenes import ANN, fresh

BEA = Person(platform="memory", id="T1/U2", name="Bea")
WORDS = ("yes", "no", "D1: first", "make the receipt wider", "how far are you?", "thanks", "ok")
COMMANDS = (
    Word.STOP,
    Word.RESUME,
    Word.STATUS,
    Word.STATUS,
    Word.REOPEN,
    Word.TASKS,
    Word.DECISIONS,
    Word.TAKEOVER,
    Word.HANDBACK,
    Word.HANDBACK,
    Word.CONTINUE,
    Word.RELINK,
)
STEPS = 160
_WAY_ON = {Status.PAUSED: Verb.RESUME, Status.FAILED: Verb.TRY_AGAIN}


class Spoken(Mark):
    by: Person


class Life:
    """A session, its inbox, and everybody who wants something of it."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311 - the same life for the same seed
        self.answers = Answers(self.chance)
        self.session = fresh(llm__context_window=600)
        self.inbox: list[Event] = []
        self.past: list[Event] = []
        self.offered: list[tuple[Verb, str]] = []
        self.panes: set[str] = set()
        self.story: list[str] = []
        self.seen: set[tuple[Status, Phase, ChangeStage | None]] = set()

    def live(self) -> None:
        self.hear(Said(**self.answers.mark(), by=ANN, text="Add discounts"))
        for _ in range(STEPS):
            self.hear(self.next_event())
            self.check()

    def next_event(self) -> Event:
        orders = [order for order in due(self.session) if not self._is_held(order)]
        luck = self.chance.random()
        if luck < 0.5 and (verb := _WAY_ON.get(self.session.status)):
            return Pressed(**self.answers.mark(), by=ANN, verb=verb)
        if orders and luck < 0.72:
            order = self.chance.choice(orders)
            failed = self.chance.random() < 0.04
            return self.failed(order) if failed else self.answers.to(self.session, order)
        if self.past and luck < 0.78:
            return self.chance.choice(self.past)
        if luck < 0.97:
            return self.of_people()
        return self.of_the_bot()

    def _is_held(self, order: Order) -> bool:
        return isinstance(order, HoldPlace) and self.session.queue.has_place

    def failed(self, order: Order) -> OrderFailed:
        task_id = getattr(order, "task_id", "")
        return OrderFailed(
            **self.answers.mark(),
            answers=order.key,
            what=order.kind,
            task_id=task_id,
            reason="It refuses.",
            away=self.chance.random() < 0.2,
        )

    def of_people(self) -> Event:
        mark = Spoken(**self.answers.mark(), by=self.chance.choice([ANN, BEA]))
        match self.chance.randint(0, 9):
            case 0 | 1:
                return Said(
                    **mark, text=self.chance.choice(WORDS), mention=self.chance.random() < 0.7
                )
            case 2:
                word = self.chance.choice(COMMANDS)
                texts = {Word.REOPEN: ["", "second"], Word.RELINK: ["", "/elsewhere"]}
                text = self.chance.choice(texts.get(word, [""]))
                argument = "T001" if word in (Word.TAKEOVER, Word.HANDBACK) else "D1"
                return Commanded(**mark, command=Command(word=word, argument=argument, text=text))
            case 3:
                verb = self.chance.choice([verb for verb in Verb if verb is not Verb.DISCARD])
                return Pressed(**mark, verb=verb, answers={1: "first"}, text="wider")
            case 4 if self.chance.random() < 0.15:
                return Pressed(**mark, verb=Verb.DISCARD)
            case _ if self.offered:
                verb, about = self.chance.choice(self.offered[-8:])
                verb = Verb.RETRY if verb is Verb.DISCARD else verb
                return Pressed(**mark, verb=verb, about=about, text="wider", answers={1: "first"})
            case _:
                return Said(**mark, text=self.chance.choice(WORDS))

    def of_the_bot(self) -> Event:
        mark = self.answers.mark()
        match self.chance.randint(0, 7):
            case 7:
                pair = Collision(one="agent/a", other="agent/b", files=("a.py",))
                return CollisionsSeen(**mark, collisions=(pair,))
            case 0:
                return Woken(**mark, restarted=True, hold=self.chance.random() < 0.3)
            case 1:
                return TroubleBegan(**mark, reason="The model does not answer.")
            case 2:
                return TroubleEnded(**mark)
            case 3:
                return Overheard(**mark, by=BEA, text="aside")
            case 4 if self.chance.random() < 0.3:
                return Broke(**mark, reason="a bug")
            case 5:
                return RunStopped(**mark, answers="stop", run_id="r", survivors=(7,))
            case 6:
                where = self.chance.choice(["", "/elsewhere"])
                return Relinked(**mark, by=ANN, path=where, problem="It is not there.")
            case _:
                runs = [task.run.id for task in self.session.tasks if task.run]
                tails = {run: self.chance.choice(["same", "other"]) for run in runs}
                return Ticked(**mark, tails=tails)

    def hear(self, event: Event) -> None:
        """As an actor does: what must wait waits."""
        self.inbox.append(event)
        while waiting := [e for e in self.inbox if not is_held_back(self.session, e)]:
            self.inbox.remove(waiting[0])
            self.decided(waiting[0])

    def decided(self, event: Event) -> None:
        s = self.session
        self.story.append(f"{s.status}/{s.phase} {event!r}"[:230])
        asked = {order.key for order in due(s)}
        for deed in decide(s, event):
            self.done(deed)
        if isinstance(event, Result):
            self.past = [*self.past, event][-12:]
        if isinstance(event, OrderFailed) and event.answers in asked:
            again = {order.key for order in due(s)}
            assert event.answers not in again, self.told("refused, and ordered again unasked")

    def done(self, deed: Deed) -> None:
        match deed:
            case StopRun(run_id=run_id):
                self.panes.discard(run_id)
            case Show(card=card):
                self.offered += [(choice.verb, choice.about) for choice in lay_out(card).choices]
            case Whisper(card=card):
                lay_out(card)
            case ShowLogs() | Relink():
                pass

    def check(self) -> None:
        s = self.session
        self.seen.add((s.status, s.phase, s.change.stage if s.change else None))
        keys = [order.key for order in due(s)]
        assert len(keys) == len(set(keys)), self.told(f"the same twice: {keys}")
        alive = {t.run.id for t in s.tasks if t.run and t.run.alive}
        assert all(t.state is TaskState.RUNNING for t in s.tasks if t.run and t.run.alive), (
            self.told("an agent is left alone")
        )
        started = {r.id for t in s.tasks for r in t.runs}
        self.panes = (self.panes | alive) & started
        ended = {r.id for t in s.tasks for r in t.runs if r.outcome and r.outcome != "killed"}
        assert self.panes - ended == alive, self.told("a pane that nobody has stopped")
        if s.phase in (Phase.SPECIFYING, Phase.APPROVING, Phase.EXECUTING):
            assert s.ending.choice is None, self.told("an ending before its time")
        if s.phase is Phase.APPROVING:
            assert {d.kind for d in s.plan.documents} == set(DocumentKind), self.told(
                "no documents"
            )
        if s.status is Status.PAUSED:
            assert not keys, self.told("under way while paused")
        if s.queue.has_place:
            assert s.phase is Phase.EXECUTING, self.told("a place kept")
            assert s.queue.since, self.told("a place that is not wanted")
        assert s.over or s.status is Status.PAUSED or self.goes_on(keys), self.told("stuck")

    def goes_on(self, keys: list[str]) -> bool:
        """Something is under way, or a person is asked."""
        s = self.session
        if any(not (key.startswith("place:") and s.queue.has_place) for key in keys):
            return True
        match s.phase:
            case Phase.INTAKE:
                return (
                    not s.intent.body
                    or s.request.vague
                    or (
                        s.request.destination is None and bool(s.request.parts or s.request.earlier)
                    )
                )
            case Phase.CLARIFYING:
                return bool(s.intent.open_questions)
            case Phase.APPROVING:
                return True
            case Phase.EXECUTING:
                waiting = s.in_state(TaskState.FAILED, TaskState.BLOCKED)
                asks = any(not task.blocked.startswith(WAITS_FOR_PREFIX) for task in waiting)
                person = any(task.pull_problem or task.taken_by for task in s.tasks)
                change = s.change and s.change.stage is ChangeStage.AWAITING
                return asks or person or bool(change)
            case Phase.FINISHING:
                return s.ending.choice is None
            case _:
                return False

    def told(self, what: str) -> str:
        s = self.session
        tasks = [(t.key, t.state, t.blocked, t.dependencies, t.choice) for t in s.tasks]
        story = "\n".join(self.story[-14:])
        return f"{what}: {s.status} {s.phase} {tasks} change={s.change and s.change.stage}\n{story}"


@pytest.mark.parametrize("seed", range(150))
def test_whatever_happens_no_session_breaks_is_stuck_or_leaves_an_agent_alone(seed: int) -> None:
    Life(seed).live()


def test_chance_leads_everywhere() -> None:
    """Else the test above says nothing."""
    lives = [Life(seed) for seed in range(60)]
    for life in lives:
        life.live()
    seen = {place for life in lives for place in life.seen}
    assert {phase for _, phase, _ in seen} == set(Phase)
    assert {status for status, _, _ in seen} == set(Status)
    assert {stage for _, _, stage in seen if stage} == set(ChangeStage)
