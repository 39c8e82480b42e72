"""A branch may be moved at any moment, by a person or by an agent: what is judged, tested and merged is what was looked at."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bot.core.actions import (
    JudgeWork,
    LookAtWork,
    MergeLocally,
    PrepareWorkspace,
    RunCheck,
    TakeInBase,
)
from bot.core.checks import Report, compare
from bot.core.errors import Refused
from bot.core.evidence import Check
from bot.core.masking import Masker
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.runs import Executed
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import RunState, TaskState
from bot.core.tampering.signs import Flag, Sign
from bot.core.task import Task
from bot.core.world import Rules, World
from bot.steps.execute import work as execute
from bot.steps.finish import work as finish
from bot.steps.ship import work as ship
from bot.steps.verify import questions
from bot.steps.verify import work as verify
from bot.steps.verify.rules import acceptance_mark
from tests.fakes.agents import FakeAgents
from tests.fakes.archive import MemoryArchive, MemoryLogs
from tests.fakes.chat import MemoryChat
from tests.fakes.clock import FakeClock
from tests.fakes.commands import PASSED, FakeCommands
from tests.fakes.forge import SLUG, FakeForge
from tests.fakes.keeping import FakeBindings, FakePreferences, MemoryAudit, MemoryQuestions
from tests.fakes.llm import ScriptedLlm
from tests.fakes.panes import FakePanes
from tests.fakes.repository import FakeRepository
from tests.fakes.store import MemoryStore
from tests.fakes.worktrees import FakeWorktrees
from tests.steps.scenes import HOSTED, T0, executing, pull, shipped, task, workspace
from tests.steps.scenes import run as a_run

DONE = json.dumps({"verdict": "done", "reasons": [], "missing": [], "score": 100})


class Bench:
    """Tasks whose work was looked at, and somebody who moves their branches."""

    def __init__(self) -> None:
        self.repository = FakeRepository()
        self.forge = FakeForge(self.repository)
        self.worktrees = FakeWorktrees(self.repository, self.forge.hub)
        self.llm = ScriptedLlm()
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
            masker=Masker({}),
            home="/home/bot",
            archive=MemoryArchive(),
            audit=MemoryAudit(),
            logbook=TaskLogWriter(MemoryLogs()),
            bindings=FakeBindings(),
            questions=MemoryQuestions(),
            preferences=FakePreferences(),
            forge=self.forge,
        )

    async def looked_at(self, key: str, state: TaskState = TaskState.VERIFYING) -> Task:
        """One commit, and what git said of it."""
        start = self.repository.heads["main"]
        branch = f"agent/{key.lower()}"
        path = f"{self.repository.path}/.worktrees/agent-{key.lower()}"
        place = workspace(branch, path=path, start=start)
        await self.worktrees.prepare(self.repository.path, branch, path, start)
        self.worktrees.agent_commits(path, {f"{key}.py": "as it was seen\n"}, "feat: seen")
        seen = await self.worktrees.work(path, start)
        runs = [a_run(key, 1, RunState.ENDED)]
        return task(key, state, workspace=place, work=seen, runs=runs)

    def moves(self, one: Task) -> str:
        """Whoever can write to the repository."""
        assert one.workspace
        files = {f"{one.key}.py": "slipped in\n"}
        return self.worktrees.agent_commits(one.workspace.path, files, "feat: slipped in")

    def session(self, *tasks: Task) -> Session:
        base = self.repository.heads["main"]
        return executing(
            *tasks,
            repository__path=self.repository.path,
            repository__base_commit=base,
            tests__command="make test",
        )


@pytest.fixture
def bench() -> Bench:
    return Bench()


def head(one: Task) -> str:
    assert one.work
    return one.work.head


async def test_the_judge_sees_the_commit_that_was_looked_at(bench: Bench) -> None:
    one = await bench.looked_at("T001")
    bench.moves(one)
    bench.llm.then(DONE)
    order = JudgeWork(task_id=one.id, commit=head(one), number=1)
    await questions.JudgePrompt.perform(bench.world, bench.session(one), order)
    assert "as it was seen" in bench.llm.calls[0].data
    assert "slipped in" not in bench.llm.calls[0].data


async def test_signs_of_tampering_are_looked_for_in_the_commit_that_is_named(bench: Bench) -> None:
    """A branch that is moved between the two looks is not told by the other one's patch."""
    one = await bench.looked_at("T001")
    seen: list[str] = []

    class Moving(FakeWorktrees):
        async def diff(self, path: str, since: str, limit: int, until: str = "HEAD") -> str:
            bench.moves(one)
            seen.append(await super().diff(path, since, limit, until))
            return seen[-1]

    moving = Moving(bench.repository)
    moving.standing = bench.worktrees.standing
    world = replace(bench.world, worktrees=moving)
    order = LookAtWork(task_id=one.id, run_id="id-T001-1")
    event = await verify.look_at_work(world, bench.session(one), order)
    assert event.work.head == head(one)
    assert ["slipped in" in diff for diff in seen] == [False]


async def test_another_commit_than_was_looked_at_is_not_tested(bench: Bench) -> None:
    one = await bench.looked_at("T001")
    bench.moves(one)
    order = RunCheck(task_id=one.id, commit=head(one), number=1)
    with pytest.raises(Refused, match="has moved"):
        await verify.run_check(bench.world, bench.session(one), order)


async def test_a_check_during_which_the_branch_moved_does_not_count(bench: Bench) -> None:
    one = await bench.looked_at("T001")

    class Moving(FakeCommands):
        async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
            bench.moves(one)
            return await super().run(cwd, command, seconds=seconds, log=log)

    world = replace(bench.world, commands=Moving([PASSED]))
    order = RunCheck(task_id=one.id, commit=head(one), number=1)
    with pytest.raises(Refused, match="has moved"):
        await verify.run_check(world, bench.session(one), order)


async def test_whoever_builds_upon_a_task_gets_the_commit_it_is_done_with(bench: Bench) -> None:
    first = await bench.looked_at("T001", TaskState.COMPLETED)
    bench.moves(first)
    path = f"{bench.repository.path}/.worktrees/agent-t002"
    place = workspace("agent/t002", path=path, start="", ready=True)
    second = task(
        "T002",
        TaskState.RUNNING,
        workspace=place,
        dependencies=(first.id,),
        runs=[a_run("T002", 1, RunState.STARTING)],
    )
    session = bench.session(first, second)
    assert session.plan.spec
    session.plan.spec = session.plan.spec.model_copy(
        update={"commit": bench.repository.heads["main"]}
    )
    order = PrepareWorkspace(task_id=second.id, run_id=second.runs[0].id)
    event = await execute.prepare_workspace(bench.world, session, order)
    assert event.kind == "workspace_ready"
    tip = bench.repository.heads["agent/t002"]
    assert bench.repository.commits[tip].files["T001.py"] == "as it was seen\n"


@pytest.mark.parametrize("moved", [False, True])
async def test_what_comes_in_with_the_base_is_the_bots_own_only_upon_what_was_judged(
    bench: Bench, moved: bool
) -> None:
    one = await bench.looked_at("T001", TaskState.COMPLETED)
    one.pull_request = shipped("T001", 7).pull_request
    bench.forge.person_pushes("main", {"theirs.py": "x\n"})
    if moved:
        bench.moves(one)
    session = bench.session(one)
    session.pulls.host = HOSTED.model_copy(update={"slug": SLUG})
    order = TakeInBase(task_id=one.id, number=7, merged=(pull(7).head,))
    event = await ship.take_in_base(bench.world, session, order)
    merged = bench.repository.heads["agent/t001"]
    assert event.head == ("" if moved else merged)


async def test_a_branch_that_holds_more_than_was_judged_is_not_merged(bench: Bench) -> None:
    one = await bench.looked_at("T001", TaskState.COMPLETED)
    bench.moves(one)
    base = bench.repository.heads["main"]
    event = await finish.merge_locally(bench.world, bench.session(one), MergeLocally())
    assert "agent/t001" in event.problem
    assert bench.repository.heads["main"] == base


async def test_a_branch_that_two_tasks_share_may_end_with_either_of_them(bench: Bench) -> None:
    first = await bench.looked_at("T001", TaskState.COMPLETED)
    assert first.workspace
    bench.moves(first)
    seen = await bench.worktrees.work(first.workspace.path, head(first))
    second = task("T002", TaskState.COMPLETED, workspace=first.workspace, work=seen)
    event = await finish.merge_locally(bench.world, bench.session(first, second), MergeLocally())
    assert (event.problem, event.commit) == ("", bench.repository.heads["main"])


@pytest.mark.parametrize(("left", "moves"), [("d", True), ("", False)])
async def test_of_the_whole_only_those_tests_may_be_missing_that_somebody_let_pass(
    bench: Bench, left: str, moves: bool
) -> None:
    """Each task lacks one test of the base, which a person accepted; what else is missing in the whole was seen by nobody."""
    ran = "abcd"
    commands = FakeCommands([PASSED.model_copy(update={"report": reported("c", left)})])
    commands.at_base = PASSED.model_copy(update={"report": reported(*ran)})
    bench.world = replace(bench.world, commands=commands)
    done = [await bench.looked_at(key, TaskState.COMPLETED) for key in ("T001", "T002")]
    for one, gone in zip(done, "ab", strict=True):
        found = compare(reported(*set(ran) - {gone}), reported(*ran))
        check = Check(
            number=1,
            command="make test",
            commit=head(one),
            exit_code=0,
            seconds=1,
            at=T0,
            tests=found,
        )
        one.checks = [check]
        one.flags = tuple(
            Flag(sign=Sign.TESTS_MISSING, path="make test", says=says) for says in found.signs
        )
        one.accepted = tuple(acceptance_mark(one, flag) for flag in one.flags)
    base = bench.repository.heads["main"]
    event = await finish.merge_locally(bench.world, bench.session(*done), MergeLocally())
    assert (bench.repository.heads["main"] != base) is moves
    assert ("proves nothing on the merged whole" in event.problem) is not moves


def reported(*names: str) -> Report:
    return Report(tests={name: "passed" for name in names if name})


async def test_of_work_without_measure_so_much_is_told_that_it_can_be_kept(bench: Bench) -> None:
    one = await bench.looked_at("T001")
    assert one.workspace
    many = {f"f{number}.py": "x\n" for number in range(verify.MAX_RECORDED + 1)}
    bench.worktrees.agent_commits(one.workspace.path, many, "s" * 3_000_000)
    order = LookAtWork(task_id=one.id, run_id="id-T001-1")
    event = await verify.look_at_work(bench.world, bench.session(one), order)
    assert len(event.work.created_files) == verify.MAX_RECORDED
    assert len(event.model_dump_json()) < 3_000_000


@pytest.mark.covers("O-X11")
@pytest.mark.parametrize(
    ("other", "signs"),
    [
        (task("T002"), ["uv.lock"]),
        (task("T002", files=("./uv.lock",)), []),
        (task("T002", files=("uv.lock",), parent="id-T000"), ["uv.lock"]),
        (task("T002", files=("uv.lock",), type=TaskType.INTEGRATION), ["uv.lock"]),
    ],
    ids=["no plan", "the plan", "what a task was cut into", "what collided"],
)
async def test_what_is_installed_is_changed_only_where_the_approved_plan_names_it(
    bench: Bench, other: Task, signs: list[str]
) -> None:
    """Neither a task that was cut later nor a conflict makes an approval of it."""
    one = await bench.looked_at("T001")
    assert one.workspace
    bench.worktrees.agent_commits(one.workspace.path, {"uv.lock": "evil==1\n"}, "feat: evil")
    order = LookAtWork(task_id=one.id, run_id="id-T001-1")
    event = await verify.look_at_work(bench.world, bench.session(one, other), order)
    assert [flag.path for flag in event.flags] == signs
