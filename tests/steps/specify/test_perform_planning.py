"""What the engine does with a plan's questions: which earlier sessions are told, who must approve, where the base stands."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bot.core.actions import AnalysePlan, FindQuestions, LookAtBase, ReadAnswers, WriteDocument
from bot.core.approval import sha256
from bot.core.errors import Refused, Unavailable
from bot.core.events import DocumentWritten
from bot.core.intent import Intent, Risk, Source, Vague
from bot.core.masking import Masker
from bot.core.people import Destination, Earlier, Person, Thread
from bot.core.plan import Document, DocumentKind, Policy
from bot.core.projections.records import Record
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.session import Session
from bot.core.states import Status, TaskState
from bot.core.talk import Words
from bot.core.world import Rules, World
from bot.steps import repository_state
from bot.steps.clarify import questions as clarify
from bot.steps.specify import questions
from bot.steps.specify import work as specify
from tests.fakes.agents import FakeAgents
from tests.fakes.archive import MemoryArchive, MemoryLogs
from tests.fakes.chat import MemoryChat
from tests.fakes.clock import FakeClock
from tests.fakes.commands import PASSED, FakeCommands
from tests.fakes.keeping import FakeBindings, FakePreferences, MemoryAudit, MemoryQuestions
from tests.fakes.llm import ScriptedLlm
from tests.fakes.panes import FakePanes
from tests.fakes.repository import FakeRepository
from tests.fakes.store import MemoryStore
from tests.fakes.worktrees import FakeWorktrees
from tests.steps.scenes import ANN, T0, THREAD, asked, later, question, surveyed, task
from tests.stories.stage import SPEC

HIDDEN = "hunter2-is-long-enough"
BOB = Person(platform="memory", id="T1/U2", name="Bob")
DIRECT = Thread(platform="memory", channel="D1", root="9.0", direct=True)
FIND = FindQuestions()


@dataclass
class Bench:
    """A world whose model says what the test wrote down."""

    llm: ScriptedLlm = field(default_factory=ScriptedLlm)
    store: MemoryStore = field(default_factory=MemoryStore)
    repository: FakeRepository = field(default_factory=FakeRepository)
    rules: Rules = field(default_factory=lambda: Rules(repository="/repository", agent="played"))

    @property
    def world(self) -> World:
        return World(
            chats={"memory": MemoryChat()},
            llm=self.llm,
            agents=FakeAgents(),
            panes=FakePanes(),
            repository=self.repository,
            worktrees=FakeWorktrees(self.repository),
            commands=FakeCommands([PASSED]),
            store=self.store,
            clock=FakeClock(),
            rules=self.rules,
            masker=Masker({"PASSWORD": HIDDEN}),
            home="/home/bot",
            archive=MemoryArchive(),
            audit=MemoryAudit(),
            logbook=TaskLogWriter(MemoryLogs()),
            bindings=FakeBindings(),
            questions=MemoryQuestions(),
            preferences=FakePreferences(),
        )

    def keeps(self, id: str, minute: int = 0, **changes: object) -> Session:
        """A finished session with a plan."""
        spec = Document(kind=DocumentKind.SPEC, revision=1, text=f"# {id}", sha256="0" * 64)
        finished: dict[str, object] = {"plan__documents": (spec,), "status": Status.COMPLETED}
        session = surveyed(**(finished | changes))
        session.id, session.updated_at = id, later(60 * minute)
        self.store.save(Record(session=session))
        return session

    async def finds(self, session: Session | None = None, **answer: object) -> Any:
        """What comes of reading a request, and which earlier sessions the model was told of."""
        self.llm.then(json.dumps({"title": "Add discounts", "questions": []} | answer))
        event = await clarify.ClarifyPrompt.perform(self.world, session or surveyed(), FIND)
        told = json.loads(self.llm.calls[-1].data)["earlier"]
        return event, [one["id"] for one in told]


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_a_request_is_read(bench: Bench) -> None:
    event, _ = await bench.finds(
        title="Add a discount",
        risk="high",
        risk_reasons=["Money"],
        dry_run=True,
        parts=[{"title": "A", "body": "a"}, {"title": "B", "body": "b"}],
        questions=[{"text": "Is it right?", "default": "no"}],
    )
    assert (event.risk, event.risk_reasons, event.dry_run) == (Risk.HIGH, ("Money",), True)
    assert [part.title for part in event.parts] == ["A", "B"]
    assert (event.answers, event.usage.calls, len(event.questions)) == (FIND.key, 1, 1)


async def test_an_empty_request_is_vague_and_its_fixed_question_goes_with_it(bench: Bench) -> None:
    session = surveyed(intent=Intent(body="fix it"))
    event = await clarify.ClarifyPrompt.perform(bench.world, session, FIND)
    assert event.vague is Vague.CHANGE
    assert [q.default for q in event.questions] == [""]
    assert bench.llm.count == 0


async def test_finished_sessions_of_the_same_repository_and_workspace_are_told_newest_first(
    bench: Bench,
) -> None:
    bench.keeps("older", 1)
    bench.keeps("newer", 2)
    bench.keeps("elsewhere", repository__path="/srv/other")
    bench.keeps("other-workspace", thread=THREAD.model_copy(update={"workspace": "W2"}))
    bench.keeps("other-platform", thread=THREAD.model_copy(update={"platform": "slack"}))
    bench.keeps("unplanned", plan__documents=())
    bench.store.save(Record(session=surveyed()))
    _, told = await bench.finds()
    assert told == ["newer", "older"]


async def test_only_completed_sessions_are_told(bench: Bench) -> None:
    for status in Status:
        bench.keeps(status.value, status=status)
    _, told = await bench.finds()
    assert told == [Status.COMPLETED.value]


async def test_what_somebody_said_to_the_bot_alone_is_told_to_nobody_else(bench: Bench) -> None:
    bench.keeps("anns", thread=DIRECT)
    bench.keeps("bobs", thread=DIRECT, owner=BOB)
    _, told = await bench.finds()
    assert told == []
    _, told = await bench.finds(surveyed(thread=DIRECT))
    assert told == ["anns"]


async def test_what_was_said_in_one_channel_is_told_in_no_other(bench: Bench) -> None:
    bench.keeps("private", thread=THREAD.model_copy(update={"channel": "C-private"}))
    bench.keeps("here")
    _, told = await bench.finds()
    assert told == ["here"]
    _, told = await bench.finds(surveyed(thread=DIRECT))
    assert sorted(told) == ["here", "private"]  # all of one's own, to oneself alone


async def test_no_more_than_ten_are_told(bench: Bench) -> None:
    for number in range(12):
        bench.keeps(f"s{number}", number)
    _, told = await bench.finds()
    assert told == [f"s{number}" for number in range(11, 1, -1)]


async def test_a_request_that_goes_on_with_one_of_them_says_which_and_why(bench: Bench) -> None:
    bench.keeps("s1", intent=Intent(title="Basket", body="Add a basket"))
    event, _ = await bench.finds(continues="s1", continues_reason="The same basket")
    assert event.earlier == Earlier(session="s1", title="Basket", reason="The same basket")
    event, _ = await bench.finds(continues="s2", continues_reason="No such session")
    assert event.earlier is None


async def test_a_part_of_a_wish_and_one_that_stays_here_go_on_with_none(bench: Bench) -> None:
    bench.keeps("s1")
    for session in (
        surveyed(request__destination=Destination.HERE),
        surveyed(intent=Intent(body="x", parent="i")),
    ):
        _, told = await bench.finds(session)
        assert told == []


async def test_a_model_that_does_not_answer_is_waited_for(bench: Bench) -> None:
    bench.llm.then(Unavailable("busy"))
    with pytest.raises(Unavailable):
        await clarify.ClarifyPrompt.perform(bench.world, surveyed(), FIND)


async def test_words_are_read_for_the_questions_that_are_open(bench: Bench) -> None:
    session = asked(question(1), question(2))
    session.talk.waiting = (Words(id="w1", by=ANN, at=T0, text="the second"),)
    answer = {"answers": [{"id": "D2", "answer": "use it"}], "unclear": ["D1"]}
    bench.llm.then(json.dumps(answer))
    event = await clarify.AnswersPrompt.perform(bench.world, session, ReadAnswers(words_id="w1"))
    assert (event.words_id, event.unclear, list(event.found)) == ("w1", (1,), [2])
    assert event.found[2] == "use it"
    with pytest.raises(Refused):
        await clarify.AnswersPrompt.perform(bench.world, session, ReadAnswers(words_id="gone"))


async def test_a_document_is_masked_before_its_hash_is_taken(bench: Bench) -> None:
    bench.llm.then(SPEC.replace("One currency.", HIDDEN))
    order = WriteDocument(document=DocumentKind.SPEC, revision=3)
    event = await specify.write_document(bench.world, surveyed(), order)
    assert isinstance(event, DocumentWritten)
    assert HIDDEN not in event.document.text
    assert event.document.sha256 == sha256(event.document.text)
    assert (event.document.revision, event.answers) == (3, order.key)


async def test_a_plan_is_analysed_with_what_earlier_sessions_took(bench: Bench) -> None:
    for number in range(3):
        bench.keeps(f"s{number}", tasks=[task("T001", TaskState.COMPLETED)])
    bench.keeps(
        "elsewhere", repository__path="/srv/other", tasks=[task("T001", TaskState.COMPLETED)]
    )
    bench.llm.then('{"findings": []}')
    event = await questions.AnalyzePrompt.perform(bench.world, surveyed(), AnalysePlan(revision=2))
    assert (event.revision, event.forecast.sessions) == (2, 3)
    assert event.analysis.findings == ()


@pytest.mark.covers("F-RISK-2", "F-RISK-3")
@pytest.mark.parametrize(
    ("risk", "source", "policy"),
    [
        (Risk.LOW, Source.HUMAN, Policy(alone=True, approvers=1)),
        (Risk.LOW, Source.REFLECTION, Policy(alone=False, approvers=1)),
        (Risk.MED, Source.HUMAN, Policy(alone=False, approvers=1)),
        (Risk.HIGH, Source.HUMAN, Policy(alone=False, approvers=2)),
        (None, Source.HUMAN, Policy(alone=False, approvers=1)),
    ],
)
def test_the_operators_rules_say_who_must_approve_what(
    risk: Risk | None, source: Source, policy: Policy
) -> None:
    rules = replace(Bench().rules, low_risk_alone=True, high_risk_approvers=2)
    session = surveyed(intent=Intent(body="x", risk=risk, source=source))
    assert questions.policy(rules, session) == policy


@pytest.mark.parametrize(
    ("path", "approvers"),
    [
        (".github/workflows/test.yml", 2),
        (".github/CODEOWNERS", 2),
        (".gitlab-ci.yml", 2),
        (".husky/pre-commit", 2),
        (".pre-commit-config.yaml", 2),
        ("web/package-lock.json", 2),
        ("uv.lock", 2),
        ("Cargo.lock", 2),
        ("go.sum", 2),
        ("src/lock.py", 1),
        ("docs/github.md", 1),
    ],
)
def test_what_runs_elsewhere_with_other_rights_is_of_high_risk_whatever_the_model_says(
    path: str, approvers: int
) -> None:
    rules = replace(Bench().rules, low_risk_alone=True, high_risk_approvers=2, asker_counts=False)
    planned = task("T001", files=("a.py", path))
    session = surveyed(intent=Intent(body="x", risk=Risk.LOW), tasks=[planned])
    found = questions.policy(rules, session)
    high = approvers > 1
    assert found == Policy(alone=not high, approvers=approvers, others=high)


@pytest.mark.parametrize("risk", list(Risk))
def test_unless_the_operator_says_otherwise_one_person_approves_everything(risk: Risk) -> None:
    session = surveyed(intent=Intent(body="x", risk=risk))
    assert questions.policy(Bench().rules, session) == Policy(alone=False, approvers=1)


async def test_the_base_is_that_of_the_branch_the_session_began_on(bench: Bench) -> None:
    repository = bench.repository
    begun = repository.heads["main"]
    session = surveyed(repository__path=repository.path, repository__base_commit=begun)
    assert (
        await repository_state.look_at_base(bench.world, session, LookAtBase())
    ).base.commit == begun
    repository.heads["other"] = begun
    repository.branch = "other"
    repository.commit("other", {"b.py": ""}, "feat: b")
    seen = (await repository_state.look_at_base(bench.world, session, LookAtBase())).base
    assert (seen.branch, seen.commit) == ("main", begun)
    repository.commit("main", {"a.py": ""}, "feat: a")
    moved = repository.commit("main", {"a.py": "1"}, "feat: a again")
    seen = (await repository_state.look_at_base(bench.world, session, LookAtBase())).base
    assert (seen.branch, seen.commit) == ("main", moved)


async def test_what_git_is_to_run_of_the_repository_is_told_with_the_plan(
    bench: Bench,
) -> None:
    bench.repository.started = ("The git filter z runs `scrub`.",)
    session = surveyed(repository__path=bench.repository.path, repository__base_branch="main")
    seen = await repository_state.look_at_base(bench.world, session, LookAtBase())
    assert seen.brought == ("The git filter z runs `scrub`.",)
