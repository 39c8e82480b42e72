"""One card of every kind, as sessions show them: what every chat must be able to show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.core.cards import (
    AnswerCard,
    ApprovalCard,
    Card,
    CardDecision,
    CheckLine,
    DocumentCard,
    EarlierCard,
    HomeCard,
    NeedsYouCard,
    NewsCard,
    OfferCard,
    PartsCard,
    PlannedTask,
    ProblemCard,
    PullLine,
    PullsCard,
    QuestionsCard,
    ReceivedCard,
    RootCard,
    StatusCard,
    StoppedCard,
    SummaryCard,
    TaskLine,
    WherePart,
)
from bot.core.choices import Choice, Style, Verb
from bot.core.evidence import ExecutionResult
from bot.core.intent import Question
from bot.core.llm import Usage
from bot.core.people import Person, Thread
from bot.core.plan import (
    Alteration,
    Altered,
    Analysis,
    Difference,
    DocumentKind,
    Finding,
    Forecast,
    RequirementCoverage,
    Severity,
    Spread,
)
from bot.core.sheets import Entry, Table, Tone
from bot.core.states import OverallStatus

AT = datetime(2026, 11, 18, 12, 3, 4, tzinfo=UTC)
MIKA = Person(platform="console", id="mika", name="Mika")
THREAD = Thread(platform="console", channel="terminal", root="11111111-1111-4111-8111-111111111111")
OTHER_THREAD = THREAD.model_copy(update={"root": "22222222-2222-4222-8222-222222222222"})
DIGEST = "abcdef0123456789" * 4

_USAGE = Usage(calls=7, prompt_tokens=18_000, reply_tokens=4_211)
_LONG = "A task with a very long name that nobody would read to its end but which must wrap well"

RECEIVED = ReceivedCard(
    key="received",
    session="1a2b3c4d",
    request="Add a dark mode to the settings page.\n設定は次回の起動時にも保存されること。",
    repository="/home/mika/src/a/quite/long/path/to/the/repository/of/the/webshop",
    branch="main",
    commit="1234567890abcdef",
    uncommitted=3,
    agent="claude",
    notes=("Spec, plan and tasks go to the branch agent/spec-1a2b3c4d.",),
)
QUESTIONS = QuestionsCard(
    key="questions",
    questions=(
        Question(
            number=1,
            text="Where shall the setting be kept?",
            why="It decides whether it follows the user to other machines.",
            options=("In the browser", "In the user's profile on the server"),
            default="In the browser",
        ),
        Question(number=2, text="どの画面に切り替えを置きますか?", default="設定画面"),
    ),
)
HALF_ANSWERED = QUESTIONS.model_copy(
    update={
        "questions": (
            QUESTIONS.questions[0].model_copy(update={"answer": "In the browser"}),
            QUESTIONS.questions[1],
        )
    }
)
DOCUMENT = DocumentCard(
    key="document:spec:1",
    document=DocumentKind.SPEC,
    spec_id="SPEC-1a2b3c4d",
    revision=1,
    text="# Feature Specification: Dark mode\n\n- **FR-001**: 利用者は切り替えられる\n",
)
APPROVAL = ApprovalCard(
    key="approval:1",
    spec_id="SPEC-1a2b3c4d",
    revision=1,
    digest=DIGEST,
    base="main at 1234567890",
    tasks=(
        PlannedTask(key="T001", name="Set up the theme module", agent="claude"),
        PlannedTask(
            key="T002", name="設定画面に切り替えを追加する", after=("T001",), agent="claude"
        ),
        PlannedTask(key="T003", name=_LONG, after=("T001", "T002"), agent="codex"),
    ),
    parallelism=2,
    agent_flags="--dangerously-skip-permissions",
    test_command="python -m pytest -q",
    usage=_USAGE,
    expires=AT + timedelta(hours=24),
)
APPROVED = APPROVAL.model_copy(update={"decided": CardDecision(what="Approved", by="Mika", at=AT)})
ANALYSIS = Analysis(
    findings=(
        Finding(
            id="A1",
            severity=Severity.LOW,
            category="ambiguity",
            summary="«Soon» is said of the reminder.",
        ),
        Finding(
            id="G1",
            severity=Severity.HIGH,
            category="coverage",
            where="tasks.md",
            summary="FR-003 is served by no task.",
            recommendation="Add a task for it.",
        ),
    ),
    coverage=(
        RequirementCoverage(requirement="FR-001", tasks=("T001", "T002")),
        RequirementCoverage(requirement="FR-002", tasks=("T002",)),
        RequirementCoverage(requirement="FR-003"),
    ),
    score=82,
)
CRITICAL = Finding(
    id="I1",
    severity=Severity.CRITICAL,
    category="inconsistency",
    where="plan.md",
    summary="The plan keeps the setting on the server; the spec forbids it.",
)
FORECAST = Forecast(
    sessions=5,
    tasks=Spread(median=4, low=3, high=6),
    minutes=Spread(median=14.2, low=9, high=31),
    tokens=Spread(median=48_000, low=30_000, high=90_000),
)
DIFFERENCE = Difference(
    since=1,
    sections=(
        Alteration(
            what=Altered.CHANGED,
            where="spec.md",
            name="Requirements",
            details=("FR-003 is new: 設定を端末間で同期する",),
        ),
        Alteration(what=Altered.REMOVED, where="plan.md", name="Cookies"),
    ),
    tasks=(
        Alteration(what=Altered.ADDED, where="T004", name="Keep it in step"),
        Alteration(
            what=Altered.CHANGED,
            where="T002",
            name="設定画面に切り替えを追加する",
            details=("after T001 and T004, no longer after T001", _LONG),
        ),
    ),
)
REVISED = APPROVAL.model_copy(
    update={
        "key": "approval:2",
        "revision": 2,
        "risk": "high",
        "risk_reasons": ("it touches what people have stored", "it cannot be taken back"),
        "analysis": ANALYSIS,
        "forecast": FORECAST,
        "difference": DIFFERENCE,
        "approvers": 2,
        "approved_by": ("Anna",),
    }
)
CHANGE = REVISED.model_copy(
    update={
        "key": "change:1",
        "offer": "change-1",
        "approvers": 1,
        "approved_by": (),
        "change": "The setting must be the same on all my machines.",
        "stops": ("T002 設定画面に切り替えを追加する: it shows the setting",),
        "goes_on": ("T001 Set up the theme module",),
        "edits_only": True,
    }
)
STATUS = StatusCard(
    key="status",
    title="Add a dark mode",
    session="1a2b3c4d",
    status="Active",
    phase="executing",
    tasks=(
        TaskLine(key="T001", name="Set up the theme module", state="Completed", seconds=75),
        TaskLine(
            key="T002",
            name="設定画面に切り替えを追加する",
            state="Running",
            seconds=3723,
            note="tests failed 1×, being mended",
            tail="$ pytest -q\n....F\nE  assert 1 == 2\n\n",
        ),
        TaskLine(key="T003", name=_LONG, state="Pending"),
    ),
    usage=_USAGE,
    at=AT,
    choices=(Choice(label="Stop", verb=Verb.STOP, style=Style.DANGER),),
)
NEWS = NewsCard(
    key="news",
    title="T002: tests failed, 1 of 3",
    tone=Tone.FAILURE,
    lines=("They go back to the same agent.",),
    output="FAILED tests/test_theme.py::test_dark - AssertionError: " + "assert " * 20,
)
NEEDS_YOU = NeedsYouCard(
    key="needs:T002",
    title="T002 failed three times",
    reason="The tests do not pass.",
    output="E  assert 1 == 2",
    affected=("T003 Document it",),
    choices=(
        Choice(label="Retry", verb=Verb.RETRY, about="t2", style=Style.PRIMARY),
        Choice(label="Go on without it", verb=Verb.SKIP, about="t2"),
        Choice(
            label="Give it up, and what depends on it",
            verb=Verb.GIVE_UP,
            about="t2",
            style=Style.DANGER,
            confirm="Give this task up?",
        ),
    ),
)
OFFER = OfferCard(key="offer", base="main", branches=("T001: agent/theme", "T002: agent/settings"))
PULLS = PullsCard(
    key="pulls",
    base="main",
    repository="acme/shop",
    pulls=(
        PullLine(
            task="T001",
            number=7,
            url="https://forge.example/acme/shop/pull/7",
            title="feat: a dark theme",
            state="checks passed",
        ),
        PullLine(
            task="T002",
            number=9,
            url="https://forge.example/acme/shop/pull/9",
            title=_LONG,
            state="draft, depends on #7",
            problem="A review is missing.",
        ),
    ),
    choices=(
        Choice(
            label="Merge all, in order",
            verb=Verb.MERGE_PULLS,
            about="7,9",
            style=Style.PRIMARY,
            confirm="Merge 2 pull requests into main, each when its checks have passed?",
        ),
        Choice(label="Merge #7", verb=Verb.MERGE_PULL, about="t1:1234567890ab"),
        Choice(
            label="Do not wait for them",
            verb=Verb.UNNEEDED,
            about="7,9",
            confirm="End this session and leave the open pull requests to people?",
        ),
    ),
)
STOPPED = StoppedCard(
    key="stopped", by="Mika", stopped_runs=2, survivors=(123, 456), session="1a2b3c4d"
)
SUMMARY = SummaryCard(
    key="summary",
    title="Add a dark mode",
    result=ExecutionResult(overall_status=OverallStatus.COMPLETE, session_id="1a2b3c4d"),
    tasks=(TaskLine(key="T001", name="Theme", state="Completed", seconds=75, note="agent/theme"),),
    checks=(
        CheckLine(
            task="T001", command="pytest -q", commit="1234567890ab", result="passed", tries=1
        ),
    ),
    evidence=("evidence/1.json  check of T001 on 1234567890",),
    merged="merged into main as 9999999999",
    kept=("agent/theme: not merged",),
    usage=_USAGE,
    agent_runs=4,
    seconds=754,
)
PROBLEM = ProblemCard(
    key="failure",
    title="tmux is required",
    reason="tmux is not installed.",
    remedy="apt-get install tmux",
    choices=(
        Choice(label="Try again", verb=Verb.TRY_AGAIN, style=Style.PRIMARY),
        Choice(label="Discard", verb=Verb.DISCARD, style=Style.DANGER),
    ),
)
ANSWER = AnswerCard(
    key="answer:1",
    title="Sessions",
    body=(Table(head=("Session", "What"), rows=(("1a2b3c4d", "Dark mode"), ("5e6f", "ログイン"))),),
)
PARTS = PartsCard(
    key="parts",
    parts=(
        WherePart(title="Take payments", body="Cards and bank transfers, with receipts."),
        WherePart(title="返金", body="Refunds, in full and in part, by the staff."),
        WherePart(title="Monthly reports", body=f"For the book-keepers. {_LONG}."),
    ),
)
SPLIT = PARTS.model_copy(
    update={
        "parts": tuple(
            part.model_copy(update={"thread": THREAD.model_copy(update={"root": f"part-{n}"})})
            for n, part in enumerate(PARTS.parts, 1)
        ),
        "decided": CardDecision(what="Split into 3 sessions", by="Mika", at=AT),
    }
)
EARLIER = EarlierCard(
    key="earlier",
    session="5e6f7a8b",
    title="Add a login page",
    reason="It asks for one more way to sign in on the page that was made there.",
)
ROOT = RootCard(
    key="root:9c8d7e6f",
    session="9c8d7e6f",
    title="Payments",
    request="Take payments by card.\nレシートも送る。",
    by="Mika",
    origin=OTHER_THREAD,
    origin_title="A web shop",
)
DISCARDED = AnswerCard(key="discarded", title="Discarded")

_WORK = Entry(
    title="Dark mode",
    facts=("1a2b3c4d", "executing: 1 of 3 done, 2 agents at work", "4 min ago"),
    thread=THREAD,
    choices=(Choice(label="Stop", verb=Verb.STOP, about="1a2b3c4d", style=Style.DANGER),),
)
HOME = HomeCard(
    key="home:mika",
    health=(("Model", "qwen at http://127.0.0.1:8000/v1"), ("tmux", "2 panes")),
    waiting=(_WORK.model_copy(update={"title": "ログイン", "facts": ("Questions",)}),),
    running=(_WORK,),
    recent=(Entry(title="A web shop", facts=("Completed",), thread=OTHER_THREAD),),
    branches=("agent/theme · T001 Completed · 1a2b3c4d",),
    settings=(("Repository", "shop"), ("You may", "ask for work")),
    choices=(Choice(label="Start a feature", verb=Verb.BEGIN, style=Style.PRIMARY),),
    at=AT,
)
"""The bot's own page: a chat shows it to one person, and in no thread."""
QUIET_HOME = HomeCard(key="home:nobody", at=AT)

EVERY_KIND: tuple[Card, ...] = (
    RECEIVED,
    QUESTIONS,
    DOCUMENT,
    APPROVAL,
    PARTS,
    EARLIER,
    ROOT,
    STATUS,
    NEWS,
    NEEDS_YOU,
    OFFER,
    PULLS,
    STOPPED,
    SUMMARY,
    PROBLEM,
    ANSWER,
)
