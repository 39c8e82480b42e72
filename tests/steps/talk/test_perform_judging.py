"""What the engine does with a judgement: which words, change or step it is about, what is masked, and what never waits."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

import pytest

from bot.core.actions import (
    ChooseStep,
    DescribeWork,
    JudgeContinuation,
    JudgeImpact,
    JudgeWords,
    JudgeWork,
    SummariseTalk,
)
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.masking import Masker
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.session import Session, Speaker
from bot.core.states import TaskState
from bot.core.talk import Change, WordKind, Words
from bot.core.task import Option, Step, Task
from bot.core.world import Rules, World
from bot.steps.change import questions as changing
from bot.steps.execute import questions as execute
from bot.steps.ship import questions as ship
from bot.steps.talk import questions as talk
from bot.steps.verify import questions as verify
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
from tests.steps.scenes import ANN, T0, check, executing, task, work, workspace

HIDDEN = "hunter2-is-long-enough"
STEP = Step(
    id="s1",
    happened="The tests failed.",
    options=(Option(id="again", says="Go on"), Option(id="ask", says="Ask")),
    default="again",
)
DOWN: list[PortError] = [Unavailable("the model is down"), Refused("the key is wrong")]


@dataclass
class Bench:
    """A world whose model says what the test wrote down."""

    llm: ScriptedLlm = field(default_factory=ScriptedLlm)
    repository: FakeRepository = field(default_factory=FakeRepository)

    def __post_init__(self) -> None:
        self.worktrees = FakeWorktrees(self.repository)
        self.world = World(
            chats={"memory": MemoryChat()},
            llm=self.llm,
            agents=FakeAgents(),
            panes=FakePanes(),
            repository=self.repository,
            worktrees=self.worktrees,
            commands=FakeCommands([PASSED]),
            store=MemoryStore(),
            clock=FakeClock(),
            rules=Rules(repository=self.repository.path, agent="played"),
            masker=Masker({"PASSWORD": HIDDEN}),
            home="/home/bot",
            archive=MemoryArchive(),
            audit=MemoryAudit(),
            logbook=TaskLogWriter(MemoryLogs()),
            bindings=FakeBindings(),
            questions=MemoryQuestions(),
            preferences=FakePreferences(),
        )

    def answers(self, *answers: dict[str, object] | PortError) -> None:
        self.llm.then(*(a if isinstance(a, PortError) else json.dumps(a) for a in answers))

    async def worked(self) -> Task:
        """A task with a commit in a worktree that stands."""
        start = self.repository.heads["main"]
        place = workspace("agent/t001", path="/repository/.worktrees/agent-t001", start=start)
        await self.worktrees.prepare(self.repository.path, place.branch, place.path, start)
        self.worktrees.agent_commits(place.path, {"basket.py": "x = 1\n"}, "feat: basket")
        return task(
            "T001",
            TaskState.COMPLETED,
            name="Baskets",
            workspace=place,
            work=work("feat: basket"),
            checks=[check(1, 0)],
        )


@pytest.fixture
def bench() -> Bench:
    return Bench()


def waiting(text: str = "how far are you?") -> Session:
    """Two people have said something; the second one's words are asked about."""
    first = Words(id="w1", by=ANN, at=T0, text="hello")
    return executing(talk__waiting=(first, Words(id="w2", by=ANN, at=T0, text=text)))


def data(bench: Bench, call: int = 0) -> dict[str, object]:
    return json.loads(bench.llm.calls[call].data)


async def test_the_words_that_were_asked_about_are_judged(bench: Bench) -> None:
    bench.answers({"kind": "question", "reply": "Half of it.", "reason": "It asks."})
    judged = await talk.WordsPrompt.perform(bench.world, waiting(), JudgeWords(words_id="w2"))
    assert data(bench)["said"] == "how far are you?"
    assert (judged.words_id, judged.answers) == ("w2", "words:w2")
    assert (judged.what, judged.reply, judged.reason) == (
        WordKind.QUESTION,
        "Half of it.",
        "It asks.",
    )
    assert judged.usage.calls == 1


@pytest.mark.covers("G-RULE-LIVE-1")
async def test_a_change_is_judged_while_it_is_wanted(bench: Bench) -> None:
    change = Change(id="c1", text="wider", by=ANN, at=T0, revision=2)
    session = executing(task("T001"), task("T002"), change=change)
    bench.answers({"reason": "Wider.", "affected": [{"key": "T002", "why": "It is as wide."}]})
    judged = await changing.ImpactPrompt.perform(
        bench.world, session, JudgeImpact(change_id="c1", revision=2)
    )
    assert (judged.change_id, judged.reason) == ("c1", "Wider.")
    assert judged.answers == "impact:c1:2"
    assert [one.task_id for one in judged.affected] == ["id-T002"]
    assert judged.usage.calls == 1


async def test_words_after_the_end_are_judged(bench: Bench) -> None:
    bench.answers({"verdict": "new", "reason": "Another shop.", "reply": ""})
    judged = await talk.ContinuePrompt.perform(
        bench.world, waiting("a second shop"), JudgeContinuation(words_id="w2")
    )
    assert data(bench)["said"] == "a second shop"
    assert (judged.words_id, judged.what, judged.reason) == ("w2", "new", "Another shop.")
    assert judged.answers == "continuation:w2"


@pytest.mark.parametrize("about", ["task", "session"])
async def test_a_step_is_chosen_for_a_task_or_for_the_session(bench: Bench, about: str) -> None:
    failed = task("T001", checks=[check(1, 1, "3 != 4")])
    session = executing(failed)
    if about == "task":
        failed.choice = STEP
    else:
        session.execution.choice = STEP
    bench.answers({"choice": "ask", "reason": "Twice the same."})
    chosen = await execute.NextStepPrompt.perform(bench.world, session, ChooseStep(step_id="s1"))
    assert (chosen.step_id, chosen.option, chosen.reason) == ("s1", "ask", "Twice the same.")
    assert chosen.answers == "step:s1"
    assert ("3 != 4" in str(data(bench)["task"])) == (about == "task")


@pytest.mark.parametrize("trouble", DOWN, ids=["unavailable", "refused"])
async def test_work_does_not_wait_for_a_model_that_is_to_choose(
    bench: Bench, trouble: PortError
) -> None:
    bench.answers(trouble)
    chosen = await execute.NextStepPrompt.perform(
        bench.world, executing(execution__choice=STEP), ChooseStep(step_id="s1")
    )
    assert (chosen.option, chosen.reason) == ("", trouble.reason)


@pytest.mark.parametrize("trouble", DOWN, ids=["unavailable", "refused"])
async def test_words_wait_until_the_model_can_be_asked(bench: Bench, trouble: PortError) -> None:
    bench.answers(trouble)
    with pytest.raises(type(trouble)):
        await talk.WordsPrompt.perform(bench.world, waiting(), JudgeWords(words_id="w2"))


@pytest.mark.covers("G-RULE-CONTEXT-4")
async def test_the_oldest_messages_become_a_summary(bench: Bench) -> None:
    session = executing()
    for n in range(5):
        session.say(Speaker.USER, f"message {n}", T0)
    bench.answers({"summary": "Three messages."})
    told = await talk.CompressPrompt.perform(
        bench.world, session, SummariseTalk(number=1, messages=3)
    )
    assert told.messages == 3
    assert told.summary == "Three messages."
    assert "message 2" in str(data(bench)["messages"])
    assert "message 3" not in str(data(bench)["messages"])


@pytest.mark.covers("G-RULE-PR-5")
async def test_finished_work_is_described_from_its_worktree(bench: Bench) -> None:
    done = await bench.worked()
    bench.worktrees.agent_commits(
        "/repository/.worktrees/agent-t001", {"key.py": f"{HIDDEN}\n"}, "feat: key"
    )
    bench.answers({"title": "feat: Baskets", "body": "Baskets."})
    order = DescribeWork(task_id=done.id, run_id="r1")
    described = await ship.PullRequestPrompt.perform(bench.world, executing(done), order)
    assert described.task_id == done.id
    assert described.answers == "describe:r1"
    assert described.text.title == "feat: Baskets"
    assert "+x = 1" in str(data(bench)["diff"])
    assert HIDDEN not in bench.llm.calls[0].data


async def test_a_judge_is_shown_a_patch_that_was_masked_before_it_was_cut(bench: Bench) -> None:
    done = await bench.worked()
    assert done.workspace
    head = bench.worktrees.agent_commits(
        done.workspace.path, {"key.py": f"{HIDDEN}\n"}, "feat: key"
    )
    bench.answers({"verdict": "done", "reasons": [], "missing": [], "score": 100})
    order = JudgeWork(task_id=done.id, commit=head, number=1)
    await verify.JudgePrompt.perform(bench.world, executing(done), order)
    assert "+[MASKED:PASSWORD]" in str(data(bench)["diff"])


@pytest.mark.parametrize("trouble", DOWN, ids=["unavailable", "refused"])
async def test_finished_work_never_waits_for_its_description(
    bench: Bench, trouble: PortError
) -> None:
    done = await bench.worked()
    bench.answers(trouble)
    described = await ship.PullRequestPrompt.perform(
        bench.world, executing(done), DescribeWork(task_id=done.id, run_id="r1")
    )
    assert described.text.title == "feat: Baskets"
    assert "- feat: basket" in described.text.body
    assert "`python3 -m unittest` passed" in described.text.body


@pytest.mark.parametrize("gone", ["worktree", "git"])
async def test_work_whose_worktree_is_gone_is_described_by_facts(bench: Bench, gone: str) -> None:
    done = await bench.worked()
    if gone == "worktree":
        bench.worktrees.vanish("/repository/.worktrees/agent-t001")
    else:
        bench.worktrees.problem = Unavailable("the disk does not answer")
    described = await ship.PullRequestPrompt.perform(
        bench.world, executing(done), DescribeWork(task_id=done.id, run_id="r1")
    )
    assert described.text.title == "feat: Baskets"
    assert bench.llm.count == 0


async def test_what_is_no_longer_wanted_is_refused(bench: Bench) -> None:
    world, session = bench.world, executing(task("T001"))
    came = await asyncio.gather(
        talk.WordsPrompt.perform(world, session, JudgeWords(words_id="w9")),
        changing.ImpactPrompt.perform(world, session, JudgeImpact(change_id="c9", revision=2)),
        talk.ContinuePrompt.perform(world, session, JudgeContinuation(words_id="w9")),
        execute.NextStepPrompt.perform(world, session, ChooseStep(step_id="s9")),
        ship.PullRequestPrompt.perform(world, session, DescribeWork(task_id="gone", run_id="r9")),
        return_exceptions=True,
    )
    assert [type(one) for one in came] == [Refused] * 5
    assert bench.llm.count == 0


async def test_a_model_that_refuses_to_summarise_ends_nothing(bench: Bench) -> None:
    bench.answers(Refused("the key is wrong"))
    session = executing(task("T001"))
    for number in range(4):
        session.say(Speaker.USER, f"word {number}", T0)
    found = await talk.CompressPrompt.perform(
        bench.world, session, SummariseTalk(number=1, messages=3)
    )
    assert found.messages == 3
    assert "word 2" in found.summary
