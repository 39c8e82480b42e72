"""Whatever may happen to a session, by chance: what the world answers, what people do, late and twice."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Literal, TypedDict

from bot.core import actions, events
from bot.core.approval import sha256
from bot.core.evidence import Judgement, TaskLimits, Verdict
from bot.core.forge import (
    CiFailure,
    CiState,
    Hosted,
    MergeState,
    MergeTried,
    Obstacle,
    Pull,
    ReviewNote,
)
from bot.core.git import Base, Removal, Scan
from bot.core.intent import Question, Risk, Vague
from bot.core.llm import Usage
from bot.core.people import Earlier
from bot.core.plan import Analysis, Document, DocumentKind, Finding, Policy, Severity
from bot.core.runs import (
    AgentReady,
    AgentUsage,
    CompletionSource,
    Dialog,
    DialogKind,
    DialogOption,
    Limit,
    RunEnd,
)
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.states import Outcome, TaskState
from bot.core.talk import Affected, WordKind
from bot.core.tampering.signs import Flag, Sign
from bot.core.task import PullText, SmallerTask, drafts_of
from tests.steps.scenes import REPOSITORY, T0, TEST, THREAD, check, question, work

COMMITS = ("b" * 40, "e" * 40)
FLAG = Flag(sign=Sign.TEST_DELETED, path="tests/a.py", says="A test is gone.")
DIALOGS = (
    Dialog(
        id="d1",
        kind=DialogKind.MENU,
        title="Do you want to proceed?",
        options=(DialogOption(id="1", label="Yes"), DialogOption(id="2", label="No")),
        topic="allow",
    ),
    Dialog(id="d2", kind=DialogKind.WORDS, title="What is your name?"),
)
VERDICTS: tuple[Literal["continue", "new", "talk"], ...] = ("continue", "new", "talk")


class Mark(TypedDict):
    id: str
    at: datetime


class Came(Mark):
    """What every result begins with."""

    answers: str
    usage: Usage


class Answers:
    """What the world and the model may answer to an order, the unusual as often as the usual."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.number = 0

    def mark(self) -> Mark:
        self.number += 1
        return Mark(id=f"e{self.number}", at=T0 + timedelta(minutes=self.number))

    def maybe(self, share: float = 0.5) -> bool:
        return self.chance.random() < share

    def to(self, session: Session, order: actions.Order) -> events.Event:
        m = Came(**self.mark(), answers=order.key, usage=Usage(calls=1))
        if isinstance(order, actions.Working):
            return self._worked(session, order, m)
        if isinstance(order, actions.Shipping):
            return self._shipped(session, order, m)
        return self._planned(session, order, m) or self._judged(session, order, m)

    def _planned(self, session: Session, order: actions.Order, m: Came) -> events.Event | None:
        match order:
            case actions.Survey():
                return self._surveyed(m)
            case actions.ScanRepository():
                command = TEST if self.maybe(0.8) else ""
                return events.Scanned(
                    **m, scan=Scan(commit=session.repository.base_commit, test_command=command)
                )
            case actions.FindQuestions():
                return self._questions(m)
            case actions.WriteDocument():
                return self._document(session, order, m)
            case actions.AnalysePlan(revision=revision):
                found = self._analysis()
                return events.PlanAnalysed(
                    **m, revision=revision, analysis=found, policy=self._policy()
                )
            case actions.LookAtBase():
                return events.BaseSeen(**m, base=self._base())
            case actions.CommitDocuments():
                assert session.plan.spec
                return events.DocumentsCommitted(
                    **m, workspace=session.plan.spec.workspace, commit="d" * 40
                )
            case _:
                return None

    def _judged(self, session: Session, order: actions.Order, m: Came) -> events.Event:
        match order:
            case actions.ReadAnswers(words_id=words):
                found = {1: "first"} if self.maybe() else {}
                return events.AnswersRead(
                    **m, words_id=words, found=found, defaults=self.maybe(0.3)
                )
            case actions.JudgeWords(words_id=words):
                kind = self.chance.choice(list(WordKind))
                return events.WordsJudged(**m, words_id=words, what=kind, reason="so", reply="r")
            case actions.JudgeImpact(change_id=change):
                return events.ImpactJudged(**m, change_id=change, affected=self._affected(session))
            case actions.JudgeContinuation(words_id=words):
                verdict = self.chance.choice(VERDICTS)
                return events.ContinuationJudged(**m, words_id=words, what=verdict, reason="so")
            case actions.ChooseStep(step_id=step):
                ways = ["again", "fresh", "ask", "cut", "agent:codex", "more", "T002", ""]
                option = self.chance.choice(ways)
                return events.StepChosen(**m, step_id=step, option=option)
            case actions.OpenSession(session=part):
                thread = THREAD.model_copy(update={"root": part})
                return events.SessionOpened(**m, session=part, thread=thread)
            case actions.PassOn(session=there):
                return events.PassedOn(**m, session=there)
            case actions.SummariseTalk(messages=messages):
                return events.TalkSummarised(**m, summary="short", messages=messages)
            case _:
                raise AssertionError(order.kind)

    def _worked(self, session: Session, order: actions.Working, m: Came) -> events.Event:  # noqa: C901
        match order:
            case actions.HoldPlace():
                waits = self.maybe(0.3)
                return events.PlaceAwaited(**m, position=1) if waits else events.PlaceGranted(**m)
            case actions.ListBranches():
                return events.BranchesListed(**m, names=("main", "agent/task-t001"))
            case actions.PrepareWorkspace():
                return self._prepared(session, order, m)
            case actions.StartRun(run_id=run):
                return events.RunStarted(**m, run_id=run, pane_id="%1", pid=7)
            case actions.AwaitRun(run_id=run):
                return self._awaited(run, m)
            case actions.AnswerDialog(run_id=run):
                return events.DialogAnswered(**m, run_id=run, dialog_id="d", moved=self.maybe(0.8))
            case actions.LookIn():
                return self._looked_in(order, m)
            case actions.WaitUntil(task_id=task):
                return events.TimeCame(**m, task_id=task)
            case actions.LookAtWork(task_id=task):
                seen = work("feat: it") if self.maybe(0.8) else work(uncommitted=("a.py",))
                signs = (FLAG,) if self.maybe(0.1) else ()
                return events.WorkSeen(**m, task_id=task, work=seen, flags=signs, evidence="e")
            case actions.CheckBase(commit=commit, command=command):
                ran = check(0, 0 if self.maybe(0.6) else 1, "E: broken")
                ran = ran.model_copy(update={"commit": commit, "command": command})
                return events.BaseChecked(**m, check=ran)
            case actions.RunCheck(task_id=task, number=number):
                ran = check(number, 0 if self.maybe(0.6) else 1, "E: broken")
                return events.CheckRan(**m, task_id=task, check=ran)
            case actions.JudgeWork(task_id=task, commit=commit):
                outcome = self.chance.choice([Judgement.DONE] * 4 + [*Judgement])
                said = Verdict(outcome=outcome, reasons=("so",), at=m["at"])
                return events.WorkJudged(**m, task_id=task, commit=commit, verdict=said)
            case actions.ReplanTask(task_id=task):
                return events.TaskReplanned(**m, task_id=task, smaller=self._smaller())

    def _smaller(self) -> tuple[SmallerTask, ...]:
        parts = (SmallerTask(name="Part 0"), SmallerTask(name="Part 1", after=(0,)))
        return parts if self.maybe(0.8) else ()

    def _looked_in(self, order: actions.LookIn, m: Came) -> events.Event:
        asked = order.ask and self.maybe(0.7)
        why = "" if asked else "no"
        return events.LookedIn(**m, run_id=order.run_id, asked=asked, why=why)

    def _shipped(self, session: Session, order: actions.Shipping, m: Came) -> events.Event:
        match order:
            case actions.DescribeWork(task_id=task):
                return events.WorkDescribed(
                    **m, task_id=task, text=PullText(title="feat: it", body="It.")
                )
            case actions.JudgeWhole():
                verdict = Verdict(outcome=self.chance.choice([*Judgement]), at=m["at"])
                more = (SmallerTask(name="More"),) if self.maybe() else ()
                return events.WholeJudged(**m, verdict=verdict, proposed=more)
            case (
                actions.OpenPull()
                | actions.WatchPulls()
                | actions.MergePull()
                | actions.TakeInBase()
            ):
                return self._of_the_forge(session, order, m)
            case actions.MergeLocally():
                problem = "collide" if self.maybe(0.3) else ""
                files = ("a.py",) if problem and self.maybe() else ()
                return events.MergedLocally(**m, commit="f" * 40, problem=problem, conflicts=files)
            case actions.CleanUp():
                return events.CleanedUp(**m, removals=self._removals(session))
            case actions.SumUp():
                return events.SummedUp(**m, text="All was built.")

    def _surveyed(self, m: Came) -> events.Event:
        return events.Surveyed(
            **m,
            base=self._base(),
            agent=AgentReady(agent="played", ok=True),
            hosted=Hosted(slug="acme/shop") if self.maybe() else None,
            other_agents={"codex": "--yolo"},
            limits=TaskLimits(
                max_tests=4 if self.maybe(0.3) else None,
                quiet_seconds=60 if self.maybe() else None,
                long_seconds=600 if self.maybe() else None,
            ),
        )

    def _awaited(self, run: str, m: Came) -> events.Event:
        """It ends, or asks something before, or no longer asks."""
        luck = self.chance.random()
        if luck < 0.25:
            return events.DialogOpened(**m, run_id=run, dialog=self.chance.choice(DIALOGS))
        if luck < 0.35:
            return events.DialogClosed(**m, run_id=run)
        return events.RunEnded(**m, run_id=run, end=self._end(m["at"]))

    def _of_the_forge(self, session: Session, order: actions.Shipping, m: Came) -> events.Event:
        match order:
            case actions.OpenPull(task_id=id, commit=commit):
                known = session.task(id)
                there = known.pull_request.number if known and known.pull_request else 0
                pull = self._pull(there or self.number, commit)
                return events.PullOpened(**m, task_id=id, commit=commit, pull=pull)
            case actions.WatchPulls(numbers=numbers):
                number = self.chance.choice(numbers)
                heads = [
                    t.pull_request.head
                    for t in session.tasks
                    if t.pull_request and t.pull_request.number == number
                ]
                return events.PullsSeen(**m, pulls=(self._pull(number, heads[-1], news=True),))
            case actions.MergePull(task_id=id):
                merged = self.maybe()
                tried = MergeTried(
                    merged=merged,
                    commit="a" * 40,
                    obstacle=None if merged else self.chance.choice([*Obstacle]),
                    reason="it cannot be",
                )
                return events.PullMergeTried(**m, task_id=id, tried=tried)
            case actions.TakeInBase(task_id=id):
                files = ("a.py",) if self.maybe(0.3) else ()
                return events.BaseTakenIn(**m, task_id=id, base="a" * 40, conflicts=files)
            case _:
                raise AssertionError(order.kind)

    def _pull(self, number: int, head: str, *, news: bool = False) -> Pull:
        pull = Pull(number=number, url="", head=head)
        if not news:
            return pull
        luck = self.chance.random()
        if luck < 0.25:
            return pull.model_copy(update={"open": False, "merged": True, "merge_commit": "a" * 40})
        if luck < 0.3:
            return pull.model_copy(update={"open": False})
        if luck < 0.5:
            failure = CiFailure(key=f"ci:{self.number}", name="build", output="E")
            return pull.model_copy(update={"ci": CiState.FAILED, "failures": (failure,)})
        if luck < 0.6:
            note = ReviewNote(key=f"n:{self.number}", author="r", trusted=self.maybe(), text="Why?")
            return pull.model_copy(update={"notes": (note,)})
        state = self.chance.choice([*MergeState])
        return pull.model_copy(update={"ci": self.chance.choice([*CiState]), "merge_state": state})

    def _base(self) -> Base:
        commit = self.chance.choice(COMMITS)
        return Base(repository=REPOSITORY, branch="main", commit=commit)

    def _questions(self, m: Came) -> events.Event:
        parts = tuple(
            events.WishPart(title=f"P{n}", body="b")
            for n in range(self.chance.choice([0] * 8 + [2]))
        )
        there = Earlier(session="s-earlier", title="t", reason="r") if self.maybe(0.1) else None
        return events.QuestionsFound(
            **m,
            title="Discounts",
            type="feature",
            risk=self.chance.choice([None, *Risk]),
            questions=tuple(question(n + 1) for n in range(self.chance.randint(0, 2))),
            vague=self.chance.choice([None] * 8 + [*Vague]),
            dry_run=self.maybe(0.2),
            parts=parts,
            earlier=there,
        )

    def _document(self, session: Session, order: actions.WriteDocument, m: Came) -> events.Event:
        plan = order.document is DocumentKind.PLAN and not session.change
        if plan and not session.request.rounds_while_planning and self.maybe(0.15):
            asked = (Question(number=1, text=f"Or {self.number}?", default="no"),)
            return events.ChoicesFound(**m, revision=order.revision, questions=asked)
        text = f"# {order.document} {self.number}"
        document = Document(
            kind=order.document, revision=order.revision, text=text, sha256=sha256(text)
        )
        drafts = self._drafts(session) if order.document is DocumentKind.TASKS else ()
        return events.DocumentWritten(
            **m, document=document, drafts=drafts, parallelism=self.chance.randint(1, 3)
        )

    def _drafts(self, session: Session) -> tuple[TaskDraft, ...]:
        """Some as they are, some put differently, some left out, some new; each after others of them."""
        gone = (TaskState.CANCELLED, TaskState.REPLACED)
        kept = drafts_of([task for task in session.tasks if task.state not in gone])
        drafts = [draft for draft in kept if self.maybe(0.9)]
        drafts = [
            draft.model_copy(update={"description": f"so {self.number}"})
            if self.maybe(0.4)
            else draft
            for draft in drafts
        ]
        used = max((int(task.key[1:]) for task in session.tasks), default=0)
        for number in range(self.chance.randint(0, 2) if kept else self.chance.randint(1, 3)):
            before = [draft.key for draft in drafts if self.maybe(0.4)]
            key = f"T{used + number + 1:03}"
            drafts.append(TaskDraft(key=key, title=f"Task {key}", depends_on=tuple(before)))
        keys = {draft.key for draft in drafts}
        return tuple(
            draft.model_copy(
                update={"depends_on": tuple(key for key in draft.depends_on if key in keys)}
            )
            for draft in drafts
        )

    def _analysis(self) -> Analysis:
        severity = Severity.CRITICAL if self.maybe(0.2) else Severity.LOW
        found = Finding(id="C1", severity=severity, category="coverage", summary="s")
        return Analysis(findings=(found,))

    def _policy(self) -> Policy:
        return Policy(alone=self.maybe(0.3), approvers=2 if self.maybe(0.2) else 1)

    def _affected(self, session: Session) -> tuple[Affected, ...]:
        return tuple(
            Affected(task_id=task.id, why="w") for task in session.tasks if self.maybe(0.5)
        )

    def _prepared(self, session: Session, order: actions.PrepareWorkspace, m: Came) -> events.Event:
        task = session.task(order.task_id)
        assert task
        assert task.workspace
        if self.maybe(0.1) and not task.workspace.start:
            return events.NameTaken(**m, task_id=task.id, branch=task.workspace.branch)
        ready = {"start": "c" * 40, "ready": True, "merged": task.dependencies}
        conflicts = ("a.py",) if task.dependencies and self.maybe(0.2) else ()
        return events.WorkspaceReady(
            **m,
            task_id=task.id,
            workspace=task.workspace.model_copy(update=ready),
            conflicts=conflicts,
            conflicting=task.dependencies[0] if conflicts else "",
        )

    def _end(self, at: datetime) -> RunEnd:
        outcome = self.chance.choice([Outcome.FINISHED] * 4 + [Outcome.FAILED, Outcome.VANISHED])
        limit = None
        if self.maybe(0.2):
            resets = at + timedelta(hours=1) if self.maybe() else None
            limit = Limit(says="You have hit your limit", resets_at=resets)
        return RunEnd(
            outcome=outcome,
            source=CompletionSource.HOOK,
            exit_code=0,
            limit=limit,
            conversation="chosen-by-itself" if self.maybe() else "",
            usage=AgentUsage(input_tokens=7, cost=0.1),
        )

    def _removals(self, session: Session) -> tuple[Removal, ...]:
        return tuple(
            Removal(branch=w.branch, path=w.path, worktree_gone=True, branch_gone=self.maybe())
            for w in session.workspaces
        )
