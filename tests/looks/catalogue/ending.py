"""How it ends: the summary with its evidence, and problems that nothing inside the bot can mend."""

from __future__ import annotations

from bot.core.cards import CardDecision, ProblemCard
from bot.core.events import Ticked, TroubleBegan, TroubleEnded
from bot.core.evidence import Judgement, Verdict
from bot.core.git import Removal
from bot.core.session import Session
from bot.core.states import Phase, Status, TaskState
from bot.core.task import SmallerTask, Task
from bot.steps.blocked import troubles
from bot.steps.finish import rules as finish
from tests.looks.catalogue.entry import Entry, entry
from tests.looks.catalogue.sample import (
    HEAD,
    NAMES,
    NOW,
    at,
    at_work,
    check,
    delivered,
    done,
    heard,
    task,
)

ORDER = "judge:T002"


def entries() -> tuple[Entry, ...]:
    return (*_summaries(), *_problems())


def _summaries() -> tuple[Entry, ...]:
    merged = _over(*(_merged(key, n) for n, key in enumerate(NAMES, 41)))
    locally = _over(*map(done, NAMES), ending__merged_commit=HEAD, pulls__host=None)
    kept = _over(*map(done, NAMES), pulls__host=None)
    kept.ending.leftovers = (
        Removal(
            branch="agent/theme-guide",
            path="",
            worktree_gone=True,
            branch_gone=False,
            reason="it is not merged anywhere, so it is kept",
        ),
    )
    return (
        _ends("merged by pull requests", merged),
        _ends("merged here", locally),
        _ends("kept on branches", kept),
        _ends("incomplete, with proposals", _incomplete()),
        entry("summary/continued", finish.summary(_incomplete(), _tick(), _continued())),
        _ends("everything was given up", _over(_given_up())),
    )


def _continued() -> CardDecision:
    return CardDecision(what="Goes on", by="Mika", at=at(41))


def _ends(state: str, session: Session) -> Entry:
    return entry(f"summary/{state}", finish.summary(session, _tick()))


def _tick() -> Ticked:
    return Ticked(id="tick", at=at(38))


def _over(*tasks: Task, **changes: object) -> Session:
    session = at_work(*tasks, phase=Phase.DONE, status=Status.COMPLETED, **changes)
    session.ending.verdict = Verdict(
        outcome=Judgement.DONE, reasons=("All requirements are served, and tested.",), at=NOW
    )
    finish.update_result(session)
    return session


def _merged(key: str, number: int) -> Task:
    return delivered(key, number, open=False, merged=True)


def _given_up() -> Task:
    return task("T003", TaskState.CANCELLED, checks=[check(1)])


def _incomplete() -> Session:
    session = _over(done("T001"), done("T002"), _given_up(), task("T004", TaskState.CANCELLED))
    session.ending.verdict = Verdict(
        outcome=Judgement.CONTINUE,
        reasons=("The switch works, but nothing remembers it.",),
        missing=("FR-002: the choice survives a reload",),
        at=NOW,
    )
    session.ending.proposed = (
        SmallerTask(name="Remember the choice", description="Write it where a reload finds it."),
        SmallerTask(name="Describe the switch", description="A section of the user guide."),
    )
    return session


def _problems() -> tuple[Entry, ...]:
    return (
        _trouble(
            "AI settings required",
            "AI settings are required",
            "Set OPENAI_BASE_URL and OPENAI_MODEL in .env; the bot goes on as soon as they are there.",
        ),
        _trouble(
            "tmux required",
            "tmux is required, and there is none on the PATH.",
            "Install it: apt install tmux, or brew install tmux.",
        ),
        _trouble("model does not answer", "the LLM endpoint does not answer (503)", ""),
        _over_again(),
        _cannot_go_on(),
        Entry("problem/disk is full", _disk()),
    )


def _trouble(state: str, reason: str, remedy: str) -> Entry:
    return entry(f"problem/{state}", troubles.trouble(heard(), _began(reason, remedy)))


def _began(reason: str, remedy: str) -> TroubleBegan:
    return TroubleBegan(id="t", at=NOW, order=ORDER, reason=reason, remedy=remedy)


def _over_again() -> Entry:
    session = heard()
    list(troubles.trouble(session, _began("the LLM endpoint does not answer (503)", "")))
    ended = TroubleEnded(id="t2", at=at(5), order=ORDER)
    return entry("problem/it is over", troubles.trouble(session, ended))


def _cannot_go_on() -> Entry:
    reason = "/srv/repositories/acme/webshop is no git repository."
    remedy = "Set GWT_REPOSITORY to one, or bind this channel to another."
    failed = troubles.fail(heard(), _tick(), "I cannot work here yet", reason, remedy)
    return entry("problem/cannot go on", failed)


def _disk() -> ProblemCard:
    return ProblemCard(
        key="disk",
        title="I cannot save my work",
        reason="The disk is full: 0 bytes are left on /var/lib/gwt.",
        remedy="Make room; nothing is lost that was answered.",
        retrying=True,
    )
