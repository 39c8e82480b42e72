"""The story the catalogue tells: a dark mode for a web shop, at the moments of its session. All in one place, so that all cards agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.core.cards import CardDecision
from bot.core.evidence import Check, VerifiedFile
from bot.core.forge import CiState, Hosted, Pull
from bot.core.git import Commit, Scan, Work
from bot.core.intent import Intent, Question
from bot.core.llm import Usage
from bot.core.people import Person, Thread
from bot.core.plan import Document, DocumentKind
from bot.core.runs import AgentUsage, Run
from bot.core.session import Session
from bot.core.session_parts import SessionAgents, SessionRepository, Spec
from bot.core.states import IntentStatus, Outcome, Phase, RunState, TaskState
from bot.core.task import PullRequest, PullText, Task, Workspace
from tests.fields import put

NOW = datetime(2026, 11, 18, 12, 3, 4, tzinfo=UTC)
MIKA = Person(platform="slack", id="T0001/U0001", name="Mika")
AKI = Person(platform="slack", id="T0001/U0002", name="Aki")
THREAD = Thread(platform="slack", workspace="T0001", channel="C0001", root="1794988800.000100")
REQUEST = "Add a dark mode to the settings page. It has to survive a reload."
HEAD = "9f2c41d07be35a1188c6"
APPROVED = CardDecision(what="Approved", by="Mika", at=NOW)
NAMES = {
    "T001": "Set up the theme module",
    "T002": "Add the switch to the settings page",
    "T003": "Remember the choice across reloads",
    "T004": "Describe it in the user guide",
}
AFTER = {"T002": ("T001",), "T003": ("T001",), "T004": ("T002", "T003")}
BRANCHES = {
    "T001": "agent/theme-module",
    "T002": "agent/settings-switch",
    "T003": "agent/remember-theme",
    "T004": "agent/theme-guide",
}


def at(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def heard(**changes: object) -> Session:
    """It was asked for; nothing is known yet."""
    session = Session(
        id="1a2b3c4d-0000-4000-8000-000000000000",
        created_at=NOW,
        updated_at=NOW,
        thread=THREAD,
        owner=MIKA,
        repository=SessionRepository(path="/srv/repositories/acme/webshop"),
        agents=SessionAgents(default="claude"),
        intent=Intent(id="1a2b3c4d", body=REQUEST, created_at=NOW),
    )
    return _with(session, changes)


def looked(**changes: object) -> Session:
    """The repository was read."""
    session = heard(
        repository__base_branch="main",
        repository__base_commit="4be1f7a93cd2",
        pulls__host=Hosted(slug="acme/webshop"),
        plan__spec=Spec(
            id="SPEC-1a2b3c4d",
            workspace=_workspace("agent/spec-1a2b3c4d"),
            commit="d" * 40,
        ),
        usage=Usage(calls=2, prompt_tokens=9_120, reply_tokens=803),
        repository__scan=Scan(commit="b" * 40),
    )
    return _with(session, changes)


def asked(*questions: Question) -> Session:
    session = looked(phase=Phase.CLARIFYING, request__questions_asked=True)
    session.intent = session.intent.model_copy(update={"clarifications": questions})
    return session


def planned(**changes: object) -> Session:
    """The plan waits for its approval."""
    session = looked(
        phase=Phase.APPROVING,
        plan__documents=tuple(
            Document(kind=kind, revision=1, text=f"# {kind}", sha256="0" * 64)
            for kind in DocumentKind
        ),
        tasks=[task(key) for key in NAMES],
        tests__command="npm test",
        agents__flags="--permission-mode bypassPermissions",
        plan__shown_at=NOW,
        plan__analysed=True,
        usage=Usage(calls=7, prompt_tokens=38_400, reply_tokens=6_211),
    )
    return _with(session, changes)


def at_work(*tasks: Task, **changes: object) -> Session:
    session = planned(tasks=list(tasks) or [task(key) for key in NAMES], phase=Phase.EXECUTING)
    session.intent = session.intent.model_copy(update={"status": IntentStatus.EXECUTING})
    session.queue.has_place, session.queue.since = True, NOW
    return _with(session, changes)


def task(key: str, state: TaskState = TaskState.PENDING, **changes: object) -> Task:
    made = Task(
        id=f"id-{key}",
        key=key,
        name=NAMES[key],
        description=f"{NAMES[key]}, with tests.",
        state=state,
        dependencies=tuple(f"id-{before}" for before in AFTER.get(key, ())),
        created_at=NOW,
        workspace=_workspace(BRANCHES[key]),
    )
    return put(made, changes)


def running(key: str, minutes: float = 4, **changes: object) -> Task:
    made = task(key, TaskState.RUNNING, runs=[run(key)], started_at=at(-minutes))
    return put(made, changes)


def done(key: str, **changes: object) -> Task:
    """Committed, tested, judged."""
    made = task(
        key,
        TaskState.COMPLETED,
        runs=[
            run(key, RunState.ENDED).model_copy(
                update={
                    "outcome": Outcome.FINISHED,
                    "usage": AgentUsage(input_tokens=21_000, output_tokens=3_400, cost=0.31),
                }
            )
        ],
        started_at=at(-9),
        completed_at=at(-2),
        work=Work(
            head=HEAD,
            commits=(Commit(sha=HEAD, subject=f"feat: {NAMES[key].lower()}"),),
            changed_files=("src/theme.ts", "src/theme.test.ts"),
        ),
        checks=[check()],
        verified_files=tuple(
            VerifiedFile(path=path, exists=True, detected_at=NOW)
            for path in ("src/theme.ts", "src/theme.test.ts")
        ),
        pull_text=PullText(title=f"feat: {NAMES[key].lower()}", body="What: …"),
    )
    return put(made, changes)


def delivered(key: str, number: int, **changes: object) -> Task:
    """With an open pull request; `changes` are about that."""
    seen = pull(number).model_copy(update=changes)
    made = PullRequest(number=number, url=seen.url, head=HEAD, seen=seen, merged=seen.merged)
    return done(key, pull_request=made)


def pull(number: int) -> Pull:
    url = f"https://github.example/acme/webshop/pull/{number}"
    return Pull(number=number, url=url, head=HEAD, base="main", ci=CiState.PASSED)


def run(key: str, state: RunState = RunState.RUNNING, number: int = 1) -> Run:
    return Run(
        id=f"{key}-r{number}",
        number=number,
        agent="claude",
        conversation=f"{key}-conversation",
        state=state,
        started_at=at(-4),
        attach="tmux -L gwt-51c2ab attach -t run-9d0f",
    )


def check(exit_code: int | None = 0, output: str = "") -> Check:
    return Check(
        number=1,
        command="npm test",
        commit=HEAD,
        exit_code=exit_code,
        seconds=14.2,
        output=output,
        at=NOW,
    )


def _workspace(branch: str) -> Workspace:
    path = f"/srv/repositories/acme/webshop/.worktrees/{branch.replace('/', '-')}"
    return Workspace(branch=branch, path=path, created_at=NOW, start="c" * 40, ready=True)


def _with(session: Session, changes: dict[str, object]) -> Session:
    return put(session, changes)
