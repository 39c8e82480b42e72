"""A run has ended: nothing it says is believed. Git is asked what is there, the bot runs the tests itself, a judge compares."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.cards import Decided
from bot.domain.events import (
    BaseChecked,
    CheckRan,
    Happening,
    OrderFailed,
    RunEnded,
    WorkJudged,
    WorkSeen,
)
from bot.domain.evidence import Check, Judgement, Verdict
from bot.domain.sentences import continued
from bot.domain.session import Session
from bot.domain.sheets import Tone
from bot.domain.states import Outcome, TaskState
from bot.domain.tampering import Flag, Sign
from bot.domain.tasks import Hold, Run, Task, TaskType, Why
from bot.flow import baseline, blocked, dialogs, limits, quiet, ship, steps, telling, testing

MAX_REPAIRS = 3
"""Tries to mend failing tests after the first failure; then a person is asked."""
MAX_FAILED_RUNS = 3
MAX_EVIDENCE_ASKS = 2
MAX_JUDGE_CONTINUES = 3
MOST_TOLD = 6
"""Signs of a kind in one sentence."""


def ended(session: Session, event: RunEnded) -> Iterator[Deed]:
    """A late word about an earlier run changes nothing."""
    task = session.task_of_run(event.run_id)
    if task is None or task.run is None or not task.run.alive:
        return
    if task.run.dialog:
        gone = Decided(what="Its agent has ended", by="the pane", at=event.at)
        yield from dialogs.ended(task, task.run, gone)
    yield from quiet.over(task, Decided(what="It has ended", by="the agent", at=event.at))
    task.update_run(_over(task.run, event))
    task.note_evidence(event.evidence)
    task.note_evidence(event.report_evidence)
    if task.state is not TaskState.RUNNING:
        return
    end = event.end
    if end.outcome is Outcome.FINISHED:
        task.become(TaskState.VERIFYING)
    elif end.limit:
        yield from limits.account_empty(session, task, event, end.limit)
    else:
        yield from _run_failed(session, task, event)


def _over(run: Run, event: RunEnded) -> Run:
    end = event.end
    return run.end(
        end.outcome,
        event.at,
        exit_code=end.exit_code,
        ended_by=end.source,
        message=end.message,
        log_path=event.log_path,
        noticed=event.noticed,
        report=event.report,
        usage=end.usage,
        conversation=end.conversation or run.conversation,
        dialog=None,
        reply="",
    )


def _run_failed(session: Session, task: Task, event: RunEnded) -> Iterator[Deed]:
    failed = task.count("failed_runs")
    how = _how(event)
    if failed >= MAX_FAILED_RUNS:
        yield from blocked.fail(session, task, f"its agent {how}, {failed} times now", event)
        return
    task.go_on(
        f"Your last run {how}. Look at what is there already (git status, git log) and go on from it.",
    )
    happened = f"the agent {how} ({failed} of {MAX_FAILED_RUNS})"
    options = (steps.AGAIN, steps.FRESH, *steps.other_agents(session, task), steps.ASK)
    yield from steps.offer(session, task, event, "run_failed", happened, *options)


def _how(event: RunEnded) -> str:
    end = event.end
    if end.outcome is Outcome.VANISHED:
        return "vanished with its pane"
    if end.exit_code is not None:
        return f"ended with exit code {end.exit_code}"
    return f"ended early ({end.outcome.value.replace('_', ' ')})"


def decide(
    session: Session, event: BaseChecked | WorkSeen | CheckRan | WorkJudged | OrderFailed
) -> Iterator[Deed]:
    if isinstance(event, BaseChecked):
        yield from baseline.checked(session, event)
        return
    task = session.task(event.task_id)
    if task is None or task.state is not TaskState.VERIFYING or task.run is None:
        return
    match event:
        case WorkSeen():
            task.note_evidence(event.evidence)
            yield from _seen(session, task, task.run, event)
        case CheckRan():
            task.note_evidence(event.evidence)
            yield from _checked(session, task, task.run, event)
        case WorkJudged():
            yield from _judged(session, task, task.run, event)
        case OrderFailed():
            yield from blocked.hold(session, event)


def _seen(session: Session, task: Task, run: Run, event: WorkSeen) -> Iterator[Deed]:
    if task.work and task.work.head != event.work.head:
        # what was tested and judged is another commit
        task.checked_of = task.judged_of = ""
    task.work, task.work_of = event.work, run.id
    if task.workspace:
        task.workspace = task.workspace.model_copy(update={"ready": True})
    task.verified_files, task.flags = event.verified_files, event.flags
    task.tests_found, task.tests_problem = event.tests_found, event.tests_problem
    if not event.unmerged:
        task.to_merge = ""
    yield from _main_touched(session, task, event)
    if missing := _missing(task, event):
        yield from _ask_for_evidence(session, task, event, missing)
    elif (left := unaccepted(task)) and not _shown_by_tests(session, task, run, left):
        yield from blocked.block(session, task, _flagged(task), event, Hold.FLAGS)
    else:
        yield from go_on(session, task, event)


def go_on(session: Session, task: Task, event: Happening) -> Iterator[Deed]:
    """Where everything was looked at already, as after something came from the base, there is nothing left but to ship it."""
    run = task.run
    if task.state is TaskState.VERIFYING and task.work:
        yield from limits.files(session, task, event, task.work)
    if task.state is not TaskState.VERIFYING or run is None:
        return
    if unaccepted(task) and not wants_check(session, task, run):
        yield from blocked.block(session, task, _flagged(task), event, Hold.FLAGS)
        return
    if testing.proposed(session, task) and task.commits:
        yield from blocked.block(
            session, task, testing.reason(session, task, task.tests_problem), event, Hold.TESTS
        )
        return
    if task.work_of == task.judged_of == run.id and not wants_check(session, task, run):
        yield from ship.begin(session, task, event)


def acceptance(task: Task, flag: Flag) -> str:
    """What is noted once a person has let a sign pass at the commit that was looked at.

    Another run of the same commit may show other tests missing, as with test settings that were put back for the first one.
    """
    head = task.work.head if task.work else ""
    return f"{head}:tests:{flag.says}" if flag.sign is Sign.TESTS_MISSING else head


def unaccepted(task: Task) -> list[Flag]:
    """Signs that nobody has let pass yet."""
    return [flag for flag in task.flags if acceptance(task, flag) not in task.accepted]


def accepted(session: Session, task: Task) -> list[Flag]:
    """Signs that a person has let pass in it, and in what it builds on."""
    found: list[Flag] = []
    todo, seen = [task.id], set[str]()
    while todo:
        one = session.task(todo.pop(0))
        if one is None or one.id in seen:
            continue
        seen.add(one.id)
        todo += one.dependencies
        found += [flag for flag in one.flags if acceptance(one, flag) in one.accepted]
    return found


def restored(session: Session, task: Task) -> tuple[str, ...]:
    """Files that decide how tests are run and that nobody has asked to change: the tests are run with them as they were.

    Only where the tests at the base have shown that they run in a worktree made for them, and tell which ones ran.
    """
    if not baseline.is_seen(session) or task.work is None or task.work.head in task.accepted:
        return ()
    planned = {path for one in session.tasks if not one.parent for path in one.files}
    found = (flag.path for flag in task.flags if flag.sign is Sign.TEST_SETTINGS_CHANGED)
    return tuple(dict.fromkeys(path for path in found if path not in planned))


def _shown_by_tests(session: Session, task: Task, run: Run, left: list[Flag]) -> bool:
    """Whether a person sees more of the signs once the tests have run as they were run before the task."""
    files = restored(session, task)
    return all(flag.path in files for flag in left) and wants_check(session, task, run)


def _main_touched(session: Session, task: Task, event: WorkSeen) -> Iterator[Deed]:
    """Agents have no business in the main checkout. It may have been a person: so it is told, and once."""
    new = tuple(file for file in event.touched if file not in session.touched)
    if not new:
        return
    session.touched = (*session.touched, *new)
    yield telling.news(
        f"touched:{task.key}:{len(task.runs)}",
        "Your own checkout was changed while an agent was at work",
        f"{task.key} was running when these changed: {', '.join(new[:8])}. If that was not you, look at them before you "
        "commit: nothing of it is part of this session.",
        tone=Tone.FAILURE,
    )


def _missing(task: Task, event: WorkSeen) -> str:
    """What speaks against believing it: no commits, or work that is not committed."""
    if event.work.uncommitted:
        files = ", ".join(event.work.uncommitted[:8])
        return f"These changes are not committed: {files}."
    if event.unmerged:
        return f"This is not merged into your branch: {', '.join(event.unmerged)}."
    if event.work.commits and not _changes_anything(event):
        return "The commits on the branch change nothing."
    if event.work.commits:
        return ""
    if task.type is not TaskType.INVESTIGATION:
        return "There are no commits on the branch."
    return "" if task.report.strip() else "There is no report of what was found."


def _changes_anything(event: WorkSeen) -> bool:
    work = event.work
    return bool(work.changed_files or work.created_files or work.deleted_files)


def _ask_for_evidence(
    session: Session, task: Task, event: WorkSeen, missing: str
) -> Iterator[Deed]:
    asked = task.count("evidence_asks")
    if asked > MAX_EVIDENCE_ASKS:
        yield from blocked.block(
            session,
            task,
            f"Nothing proves that it is done: {continued(missing)}.",
            event,
            Hold.EVIDENCE,
        )
        return
    task.next_why = Why.NO_EVIDENCE
    task.next_feedback = (
        f"You reported the end, but {continued(missing)}. Finish the task and commit all of it."
    )
    happened = f"the agent says it is done, but {continued(missing)}"
    options = (steps.AGAIN, steps.ASK)
    yield from steps.offer(session, task, event, "no_evidence", happened, *options)


def _flagged(task: Task) -> str:
    beyond = [flag for flag in task.flags if flag.sign is Sign.REACHES_FURTHER]
    tests = [flag for flag in task.flags if flag.sign is not Sign.REACHES_FURTHER]
    # behind «pass:» a command would be masked as a password is
    told = [f"its tests may have been made to pass. {_listed(tests)}"] if tests else []
    told += [f"it changes what nobody has approved: {_listed(beyond)}"] if beyond else []
    return " Besides, ".join(told)


def _listed(flags: list[Flag]) -> str:
    what = " ".join(dict.fromkeys(f"{flag.path}: {flag.says}" for flag in flags[:MOST_TOLD]))
    return f"{what} And {len(flags) - MOST_TOLD} more." if len(flags) > MOST_TOLD else what


def wants_check(session: Session, task: Task, run: Run) -> bool:
    """Where nothing was changed there is nothing to test."""
    if not testing.command_for(session, task) or task.checked_of == run.id:
        return False
    return bool(task.commits) or task.type is not TaskType.INVESTIGATION


def _checked(session: Session, task: Task, run: Run, event: CheckRan) -> Iterator[Deed]:
    check = event.check
    task.checks.append(check)
    if event.problem:
        told = f"The tests cannot be run with `{check.command}`: {event.problem}"
        yield from blocked.block(session, task, told, event, Hold.TESTS)
        return
    task.checked_of = run.id
    task.flags = (*_but_tests(task.flags), *_signs(check))
    if check.passed:
        yield from limits.tests(session, task, event)
        yield from go_on(session, task, event)
        return
    failed = task.count("failed_checks")
    if failed > MAX_REPAIRS:
        reason = f"its tests still fail after {MAX_REPAIRS} repairs"
        yield from blocked.fail(session, task, reason, event)
        return
    task.next_why = Why.CHECK_FAILED
    task.next_feedback = (
        f"The tests were run on your commit {check.commit[:10]} with `{check.command}`: {_what(check)}. "
        f"{_conditions(check)}The end of the output:\n\n{check.output}\n\n"
        "Mend the cause, not the test, and commit."
    )
    happened = f"the tests fail ({_what(check)}, repair {failed} of {MAX_REPAIRS})"
    cut = (steps.CUT,) if steps.may_be_cut(session, task) else ()
    options = (steps.AGAIN, steps.FRESH, *steps.other_agents(session, task), *cut, steps.ASK)
    yield from steps.offer(session, task, event, "check_failed", happened, *options)


def _but_tests(flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    return tuple(flag for flag in flags if flag.sign is not Sign.TESTS_MISSING)


def _signs(check: Check) -> tuple[Flag, ...]:
    """What the run itself shows: tests that did not run, or of which nobody can say whether they did."""
    told = check.tests.signs if check.tests else ()
    return tuple(Flag(sign=Sign.TESTS_MISSING, path=check.command, says=says) for says in told)


def _what(check: Check) -> str:
    if check.exit_code is None:
        return "time limit reached"
    if check.tests is None or not check.tests.new_failures:
        return f"exit code {check.exit_code}"
    though = ", though the command ended as if all had passed" if check.exit_code == 0 else ""
    return f"{check.tests.failing}{though}"


def _conditions(check: Check) -> str:
    """What its agent has to know of how the tests were run."""
    told = ""
    if check.tests and check.tests.known_failures:
        told += "Tests that failed before your work do not count. "
    if check.restored:
        files = ", ".join(check.restored)
        told += (
            f"They were run with {files} as before your work: the task does not ask to change how tests are run. "
            "Undo that change, or say in your last message why it is needed. "
        )
    return told


def _judged(session: Session, task: Task, run: Run, event: WorkJudged) -> Iterator[Deed]:
    verdict = event.verdict
    task.verdicts.append(verdict)
    task.judged_of = run.id
    match verdict.outcome:
        case Judgement.DONE:
            yield from ship.begin(session, task, event)
        case Judgement.CONTINUE:
            yield from _not_yet(session, task, event, verdict)
        case Judgement.REPLAN if steps.may_be_cut(session, task):
            happened = f"the judge says: {_said(verdict)}"
            options = (steps.CUT, steps.AGAIN, steps.ASK)
            _mend(task, verdict)
            yield from steps.offer(session, task, event, "too_large", happened, *options)
        case Judgement.REPLAN | Judgement.BLOCKED:
            yield from blocked.block(session, task, _said(verdict), event, Hold.VERDICT)


def _not_yet(session: Session, task: Task, event: WorkJudged, verdict: Verdict) -> Iterator[Deed]:
    continues = task.count("judge_continues")
    said = _said(verdict)
    if continues > MAX_JUDGE_CONTINUES:
        reason = f"after {MAX_JUDGE_CONTINUES} rounds the judge still misses something: {said}"
        yield from blocked.block(session, task, reason, event, Hold.VERDICT)
        return
    _mend(task, verdict)
    happened = f"the judge misses something ({continues} of {MAX_JUDGE_CONTINUES}): {said}"
    yield from steps.offer(session, task, event, "judged", happened, steps.AGAIN)


def _mend(task: Task, verdict: Verdict) -> None:
    missing = "\n".join(f"- {one}" for one in verdict.missing or verdict.reasons)
    task.next_why = Why.JUDGED
    task.next_feedback = (
        "Your work was held against what the task asks for. This is still missing:\n"
        f"{missing}\n\nDo exactly that, with tests, and commit."
    )


def _said(verdict: Verdict) -> str:
    return "; ".join((*verdict.missing, *verdict.reasons)[:4]) or verdict.outcome.value
