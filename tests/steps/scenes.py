"""Sessions as they stand at one moment, and the events that may come next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.core.actions import Action, Deed, HoldPlace, Order, Show, Whisper
from bot.core.cards import Card, NeedsYouCard, PullsCard
from bot.core.choices import Choice, Command, Verb, Word
from bot.core.events import (
    CheckRan,
    Commanded,
    PlaceGranted,
    Pressed,
    PullsSeen,
    RunEnded,
    Said,
    StepChosen,
    Ticked,
    WholeJudged,
    WordsJudged,
    WorkJudged,
    WorkSeen,
)
from bot.core.evidence import Check, Judgement, Verdict
from bot.core.forge import Hosted, Pull
from bot.core.git import Commit, Scan, Work
from bot.core.intent import Intent, Question
from bot.core.layout import lay_out
from bot.core.people import Person, Thread
from bot.core.plan import Document, DocumentKind
from bot.core.runs import CompletionSource, Limit, Run, RunEnd
from bot.core.session import Session
from bot.core.session_parts import SessionAgents, SessionRepository, Spec
from bot.core.states import IntentStatus, Outcome, Phase, RunState, TaskState
from bot.core.talk import WordKind
from bot.core.tampering.signs import Flag
from bot.core.task import PullRequest, PullText, Strategy, Task, Workspace
from bot.steps.decisions import decide, due
from tests.fields import put

T0 = datetime(2026, 1, 2, 9, 0, tzinfo=UTC)
ANN = Person(platform="memory", id="T1/U1", name="Ann")
THREAD = Thread(platform="memory", channel="C1", root="1.0")
REPOSITORY = "/srv/shop"
TEST = "python3 -m unittest"
HOSTED = Hosted(slug="acme/shop")
HEAD = f"{1:040d}"
"""Where `work("feat: x")` stands."""


def later(seconds: int = 60) -> datetime:
    return T0 + timedelta(seconds=seconds)


def fresh(**changes: object) -> Session:
    session = Session(
        id="7682b3a8-0000-4000-8000-000000000000",
        created_at=T0,
        updated_at=T0,
        thread=THREAD,
        owner=ANN,
        repository=SessionRepository(path=REPOSITORY),
        agents=SessionAgents(default="played"),
    )
    return put(session, changes)


def surveyed(**changes: object) -> Session:
    session = fresh(
        intent=Intent(id="7682b3a8", body="Add discounts", created_at=T0),
        repository__base_branch="main",
        repository__base_commit="b" * 40,
        plan__spec=Spec(
            id="SPEC-7682b3a8", workspace=workspace("agent/spec-7682b3a8"), commit="d" * 40
        ),
    )
    return put(session, changes)


def asked(*questions: Question) -> Session:
    chosen = questions or (question(1), question(2))
    session = surveyed(
        phase=Phase.CLARIFYING,
        request__questions_asked=True,
        repository__scan=Scan(commit="b" * 40),
    )
    session.intent = session.intent.model_copy(update={"clarifications": chosen})
    return session


def question(number: int, **changes: object) -> Question:
    made = Question(
        number=number, text=f"Question {number}?", options=("first", "second"), default="first"
    )
    return made.model_copy(update=changes)


def awaiting_approval(*tasks: Task) -> Session:
    return surveyed(
        phase=Phase.APPROVING,
        plan__documents=tuple(
            Document(kind=kind, revision=1, text=f"# {kind}", sha256="0" * 64)
            for kind in DocumentKind
        ),
        tasks=list(tasks) or [task("T001")],
        tests__command=TEST,
        plan__shown_at=T0,
        repository__scan=Scan(commit="b" * 40),
        plan__analysed=True,
    )


def executing(*tasks: Task, **changes: object) -> Session:
    session = awaiting_approval(*tasks)
    session.phase = Phase.EXECUTING
    session.intent = session.intent.model_copy(update={"status": IntentStatus.EXECUTING})
    session.queue.has_place, session.queue.since = True, T0
    session.tests.base_check = check(0, 0).model_copy(
        update={"commit": session.repository.base_commit}
    )
    return put(session, changes)


def workspace(branch: str, **changes: object) -> Workspace:
    path = f"{REPOSITORY}/.worktrees/{branch.replace('/', '-')}"
    made = Workspace(branch=branch, path=path, created_at=T0, start="c" * 40, ready=True)
    return made.model_copy(update=changes)


def task(key: str, state: TaskState = TaskState.PENDING, **changes: object) -> Task:
    made = Task(
        id=f"id-{key}",
        key=key,
        name=f"Task {key}",
        state=state,
        created_at=T0,
        workspace=workspace(f"agent/{key.lower()}"),
    )
    return put(made, changes)


def running(key: str, run_state: RunState = RunState.RUNNING, **changes: object) -> Task:
    made = task(key, TaskState.RUNNING, runs=[run(key, 1, run_state)], started_at=T0)
    return put(made, changes)


def verifying(key: str, **changes: object) -> Task:
    made = task(key, TaskState.VERIFYING, runs=[run(key, 1, RunState.ENDED)], started_at=T0)
    return put(made, changes)


def run(key: str, number: int, state: RunState = RunState.RUNNING) -> Run:
    return Run(
        id=f"{key}-r{number}",
        number=number,
        agent="played",
        conversation=f"{key}-conversation",
        state=state,
        started_at=T0,
    )


def work(*subjects: str, uncommitted: tuple[str, ...] = ()) -> Work:
    commits = tuple(Commit(sha=f"{n:040d}", subject=s) for n, s in enumerate(subjects, 1))
    return Work(
        head=commits[-1].sha if commits else "c" * 40,
        commits=commits,
        changed_files=("a.py",),
        uncommitted=uncommitted,
    )


def check(number: int, exit_code: int | None, output: str = "") -> Check:
    return Check(
        number=number,
        command=TEST,
        commit="1" * 40,
        exit_code=exit_code,
        seconds=1.0,
        output=output,
        at=later(),
    )


def verdict(key: str, outcome: Judgement = Judgement.DONE, *missing: str) -> WorkJudged:
    """What the judge says of a task's work, the first time."""
    said = Verdict(outcome=outcome, missing=missing, reasons=("so",), at=later())
    return WorkJudged(
        id=f"verdict:{key}",
        at=later(),
        answers=f"judge:id-{key}:1",
        task_id=f"id-{key}",
        commit="1" * 40,
        verdict=said,
    )


def whole_judged(outcome: Judgement = Judgement.DONE) -> WholeJudged:
    return WholeJudged(
        id="whole",
        at=later(),
        answers="judge-whole:1",
        verdict=Verdict(outcome=outcome, at=later()),
    )


def shipped(key: str, number: int, **changes: object) -> Task:
    """Done, and its pull request stands on the forge as it was made."""
    run_id = f"{key}-r1"
    made = task(
        key,
        TaskState.COMPLETED,
        runs=[run(key, 1, RunState.ENDED).model_copy(update={"outcome": Outcome.FINISHED})],
        work=work("feat: x"),
        checks=[check(1, 0)],
        work_run=run_id,
        checked_run=run_id,
        judged_run=run_id,
        started_at=T0,
        completed_at=later(),
        pull_text=PullText(title="feat: x", body="What: x"),
        pull_request=PullRequest(number=number, url="", head=HEAD, seen=pull(number)),
    )
    return put(made, changes)


def pull(number: int, **changes: object) -> Pull:
    made = Pull(number=number, url=f"http://forge/{number}", head=HEAD, base="main")
    return made.model_copy(update=changes)


def delivering(*tasks: Task, **changes: object) -> Session:
    """Carried out where pull requests can be made."""
    return executing(*tasks, pulls__host=HOSTED, **changes)


def sharing(first: Task, *others: Task) -> tuple[Task, ...]:
    """Each goes on with the branch of the one before it."""
    ids = [first.id]
    there = first.workspace or workspace("agent/shared")
    first.workspace = there.model_copy(update={"task_ids": tuple(ids)})
    for other in others:
        other.worktree_strategy, other.dependencies = Strategy.SHARED, (ids[-1],)
        ids.append(other.id)
        other.workspace = there.model_copy(update={"task_ids": tuple(ids)})
    return (first, *others)


def ordered(session: Session, kind: str, about: str = "") -> Order:
    """The one order of that kind that is due."""
    found = [o for o in due(session) if o.kind == kind and about in o.model_dump_json()]
    assert len(found) == 1, f"{kind}: {[order.key for order in due(session)]}"
    return found[0]


def kinds(session: Session) -> list[str]:
    """Of all that is due, but for the place."""
    return [order.kind for order in due(session) if order.kind != "hold_place"]


def look(session: Session, *pulls: Pull) -> list[Deed]:
    """The forge shows pull requests as they are now."""
    answers = ordered(session, "watch_pulls").key
    return decide(session, PullsSeen(id="look", at=later(), answers=answers, pulls=pulls))


def ended(run_id: str, outcome: Outcome = Outcome.FINISHED, **changes: object) -> RunEnded:
    end = RunEnd(outcome=outcome, source=CompletionSource.HOOK, exit_code=0)
    return RunEnded(
        id=f"ended:{run_id}",
        at=later(),
        answers=f"await:{run_id}",
        run_id=run_id,
        end=end.model_copy(update=changes),
    )


def out_of_tokens(run_id: str, at: datetime, resets_at: datetime | None = None) -> RunEnded:
    limit = Limit(says="You have hit your limit.", resets_at=resets_at)
    return ended(run_id, Outcome.FAILED, limit=limit).model_copy(update={"at": at})


def gets_place(session: Session) -> list[Deed]:
    """It was waiting for its turn."""
    since = session.queue.since
    assert since
    answers = HoldPlace(since=since).key
    return decide(session, PlaceGranted(id="granted", at=later(), answers=answers))


def looked(session: Session, what: Work, *flags: Flag, **changes: object) -> list[Deed]:
    """Git is asked what the one task that is being verified has left."""
    order = ordered(session, "look_at_work")
    id = session.in_state(TaskState.VERIFYING)[0].id
    event = WorkSeen(id="w", at=later(), answers=order.key, task_id=id, work=what, flags=flags)
    return decide(session, event.model_copy(update=changes))


def ran_tests(session: Session, exit_code: int | None = 0, output: str = "") -> list[Deed]:
    """The bot ran the tests of the one task that is being verified."""
    order = ordered(session, "run_check")
    one = session.in_state(TaskState.VERIFYING)[0]
    ran = check(len(one.checks) + 1, exit_code, output)
    event = CheckRan(id="c", at=later(), answers=order.key, task_id=one.id, check=ran)
    return decide(session, event)


def judge_says(
    session: Session,
    outcome: Judgement = Judgement.DONE,
    *missing: str,
    suggestions: tuple[str, ...] = (),
) -> list[Deed]:
    """Of the one task that is being verified."""
    order = ordered(session, "judge_work")
    id = session.in_state(TaskState.VERIFYING)[0].id
    said = Verdict(
        outcome=outcome, missing=missing, reasons=("so",), suggestions=suggestions, at=later()
    )
    event = WorkJudged(id="j", at=later(), answers=order.key, task_id=id, commit=HEAD, verdict=said)
    return decide(session, event)


def is_verified(session: Session, what: Work) -> list[Deed]:
    """The one task that is being verified passes everything."""
    looked(session, what)
    ran_tests(session)
    return judge_says(session)


def tick(at: datetime | None = None) -> Ticked:
    return Ticked(id="tick", at=at or later())


def needs(deeds: list[Deed]) -> list[NeedsYouCard]:
    """What only a person can decide."""
    return [card for card in cards(deeds) if isinstance(card, NeedsYouCard)]


def pulls_card(deeds: list[Deed]) -> PullsCard:
    return [card for card in cards(deeds) if isinstance(card, PullsCard)][-1]


def choice(card: Card, verb: Verb) -> Choice:
    return next(one for one in lay_out(card).choices if one.verb is verb)


def press(card: Card, verb: Verb, text: str = "", at: datetime | None = None) -> Pressed:
    """A button of that card."""
    made = pressed(verb, choice(card, verb).about, text)
    return made.model_copy(update={"at": at or made.at})


def said(text: str, by: Person = ANN, at: datetime | None = None) -> Said:
    return Said(id=f"said:{text}", at=at or later(), by=by, text=text)


def pressed(verb: Verb, about: str = "", text: str = "", by: Person = ANN) -> Pressed:
    return Pressed(id=f"press:{verb}:{about}", at=later(), by=by, verb=verb, about=about, text=text)


def commanded(word: Word, argument: str = "") -> Commanded:
    command = Command(word=word, argument=argument)
    return Commanded(id=f"command:{word}", at=later(), by=ANN, command=command)


def judged(text: str, what: WordKind, reply: str = "") -> WordsJudged:
    """What the model makes of what `said(text)` said."""
    id = f"said:{text}"
    return WordsJudged(
        id=f"judged:{text}", at=later(), answers=f"words:{id}", words_id=id, what=what, reply=reply
    )


def by_default(session: Session, option: str = "") -> list[Deed]:
    """Every step that waits is chosen; without an option the default is."""
    pending = [session.execution.choice, *(task.choice for task in session.tasks)]
    deeds: list[Deed] = []
    for step in pending:
        if step:
            chosen = StepChosen(
                id=f"chosen:{step.id}",
                at=later(),
                answers=f"step:{step.id}",
                step_id=step.id,
                option=option,
            )
            deeds += decide(session, chosen)
    return deeds


def cards(actions: list[Deed]) -> list[Card]:
    return [action.card for action in actions if isinstance(action, Show)]


def titles(actions: list[Deed]) -> list[str]:
    return [lay_out(card).title for card in cards(actions)]


def whispers(actions: list[Deed]) -> list[str]:
    return [lay_out(a.card).title for a in actions if isinstance(a, Whisper)]


def keys(actions: list[Action]) -> list[str]:
    return [action.key for action in actions]


def verbs(card: Card) -> list[Verb]:
    return [choice.verb for choice in lay_out(card).choices]
