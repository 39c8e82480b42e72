"""An agent says it is done, which is never just believed: git shows what is there, the bot runs the tests itself, and a
model judges.

A person may accept what a task is held for, or send it back to its agent.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed, JudgeWork, LookAtWork, Order, RunCheck
from bot.core.cards import CardDecision
from bot.core.choices import Verb
from bot.core.events import (
    BaseChecked,
    CheckRan,
    EventBase,
    OrderFailed,
    Pressed,
    WorkJudged,
    WorkSeen,
)
from bot.core.evidence import Check, Judgement, Verdict
from bot.core.runs import Run, Why
from bot.core.session import Session
from bot.core.sheets import Tone
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.tampering.signs import Flag, Sign
from bot.core.task import Counters, Hold, Task
from bot.core.text import as_clause
from bot.steps import messages
from bot.steps.blocked import limits
from bot.steps.blocked import rules as blocked
from bot.steps.execute import next_step
from bot.steps.ship import rules as ship
from bot.steps.verify import test_command

MAX_REPAIRS = 3
"""Attempts to fix failing tests after the first failure, before a person is asked."""
MAX_EVIDENCE_ASKS = 2
MAX_JUDGE_CONTINUES = 3
MOST_SIGNS_TOLD = 6
"""Signs of one kind in one sentence."""


def decide(
    session: Session, event: BaseChecked | WorkSeen | CheckRan | WorkJudged | OrderFailed
) -> Iterator[Deed]:
    if isinstance(event, BaseChecked):
        yield from test_command.base_checked(session, event)
        return
    task = session.task(event.task_id)
    if task is None or task.state is not TaskState.VERIFYING or task.run is None:
        return
    match event:
        case WorkSeen():
            task.note_evidence(event.evidence)
            yield from _work_seen(session, task, task.run, event)
        case CheckRan():
            task.note_evidence(event.evidence)
            yield from _checked(session, task, task.run, event)
        case WorkJudged():
            yield from _judged(session, task, task.run, event)
        case OrderFailed():
            yield from blocked.block_refused(session, event)


def _work_seen(session: Session, task: Task, run: Run, event: WorkSeen) -> Iterator[Deed]:
    if task.work and task.work.head != event.work.head:
        # tests and verdict were about another commit
        task.checked_run = task.judged_run = ""
    task.work, task.work_run = event.work, run.id
    if task.workspace:
        task.workspace = task.workspace.model_copy(update={"ready": True})
    task.verified_files, task.flags = event.verified_files, event.flags
    task.found_command, task.found_problem = event.tests_found, event.tests_problem
    if not event.unmerged:
        task.next_run.to_merge = ""
    yield from _main_checkout_touched(session, task, event)
    if missing := _missing(task, event):
        yield from _ask_for_evidence(session, task, event, missing)
    elif (left := unaccepted_flags(task)) and not _shown_by_tests(session, task, run, left):
        yield from blocked.block(session, task, _signs_in_words(task), event, Hold.FLAGS)
    else:
        yield from continue_verification(session, task, event)


def continue_verification(session: Session, task: Task, event: EventBase) -> Iterator[Deed]:
    """Take the next step of verification.

    If everything was verified already, e.g. after a merge of the base, the task is shipped.
    """
    run = task.run
    if task.state is TaskState.VERIFYING and task.work:
        yield from limits.check_files(session, task, event, task.work)
    if task.state is not TaskState.VERIFYING or run is None:
        return
    if unaccepted_flags(task) and not needs_check(session, task, run):
        yield from blocked.block(session, task, _signs_in_words(task), event, Hold.FLAGS)
        return
    if test_command.proposed_command(session, task) and task.commits:
        yield from blocked.block(
            session,
            task,
            test_command.question_about(session, task, task.found_problem),
            event,
            Hold.TESTS,
        )
        return
    if task.work_run == task.judged_run == run.id and not needs_check(session, task, run):
        yield from ship.begin(session, task, event)


def acceptance_mark(task: Task, flag: Flag) -> str:
    """Return what is recorded when a person accepts a sign at the verified commit.

    Missing tests are accepted one by one, as another run of the same commit may miss others, e.g. after test settings
    were restored for the first one.
    """
    head = task.work.head if task.work else ""
    return f"{head}:tests:{flag.says}" if flag.sign is Sign.TESTS_MISSING else head


def unaccepted_flags(task: Task) -> list[Flag]:
    """Return the signs that nobody has accepted yet."""
    return [flag for flag in task.flags if acceptance_mark(task, flag) not in task.accepted]


def accepted_flags(session: Session, task: Task) -> list[Flag]:
    """Return the accepted signs of the task and of its dependencies."""
    found: list[Flag] = []
    todo, seen = [task.id], set[str]()
    while todo:
        one = session.task(todo.pop(0))
        if one is None or one.id in seen:
            continue
        seen.add(one.id)
        todo += one.dependencies
        found += [flag for flag in one.flags if acceptance_mark(one, flag) in one.accepted]
    return found


def restored_files(session: Session, task: Task) -> tuple[str, ...]:
    """Return files that decide how tests are run and were changed without being in the plan: the tests are run with
    their old versions.

    Only if the base's tests have shown that they run in a fresh worktree and report which tests ran.
    """
    if (
        not test_command.base_tests_seen(session)
        or task.work is None
        or task.work.head in task.accepted
    ):
        return ()
    planned = {path for one in session.tasks if not one.parent for path in one.files}
    found = (flag.path for flag in task.flags if flag.sign is Sign.TEST_SETTINGS_CHANGED)
    return tuple(dict.fromkeys(path for path in found if path not in planned))


def _shown_by_tests(session: Session, task: Task, run: Run, left: list[Flag]) -> bool:
    # Run the tests first, if that shows a person more about the signs: with restored files they run as before the task.
    files = restored_files(session, task)
    return all(flag.path in files for flag in left) and needs_check(session, task, run)


def _main_checkout_touched(session: Session, task: Task, event: WorkSeen) -> Iterator[Deed]:
    # Agents must not change the main checkout. It may have been a person, so it is only reported, once per file.
    new = tuple(file for file in event.touched if file not in session.repository.touched_files)
    if not new:
        return
    session.repository.touched_files = (*session.repository.touched_files, *new)
    yield messages.news(
        f"touched:{task.key}:{len(task.runs)}",
        "Your own checkout was changed while an agent was at work",
        f"{task.key} was running when these changed: {', '.join(new[:8])}. If that was not you, look at them before you "
        "commit: nothing of it is part of this session.",
        tone=Tone.FAILURE,
    )


def _missing(task: Task, event: WorkSeen) -> str:
    """Return what speaks against the work: nothing committed, or uncommitted changes."""
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
            f"Nothing proves that it is done: {as_clause(missing)}.",
            event,
            Hold.EVIDENCE,
        )
        return
    task.next_run.why = Why.NO_EVIDENCE
    task.next_run.feedback = (
        f"You reported the end, but {as_clause(missing)}. Finish the task and commit all of it."
    )
    happened = f"the agent says it is done, but {as_clause(missing)}"
    options = (next_step.AGAIN, next_step.ASK)
    yield from next_step.offer_steps(session, task, event, "no_evidence", happened, *options)


def _signs_in_words(task: Task) -> str:
    beyond = [flag for flag in task.flags if flag.sign is Sign.REACHES_FURTHER]
    tests = [flag for flag in task.flags if flag.sign is not Sign.REACHES_FURTHER]
    # after «pass:» a command would be masked like a password
    told = [f"its tests may have been made to pass. {_list_of_signs(tests)}"] if tests else []
    told += [f"it changes what nobody has approved: {_list_of_signs(beyond)}"] if beyond else []
    return " Besides, ".join(told)


def _list_of_signs(flags: list[Flag]) -> str:
    what = " ".join(dict.fromkeys(f"{flag.path}: {flag.says}" for flag in flags[:MOST_SIGNS_TOLD]))
    return (
        f"{what} And {len(flags) - MOST_SIGNS_TOLD} more." if len(flags) > MOST_SIGNS_TOLD else what
    )


def needs_check(session: Session, task: Task, run: Run) -> bool:
    """Whether the tests have to run. Not if nothing was changed."""
    if not test_command.for_task(session, task) or task.checked_run == run.id:
        return False
    return bool(task.commits) or task.type is not TaskType.INVESTIGATION


def _checked(session: Session, task: Task, run: Run, event: CheckRan) -> Iterator[Deed]:
    check = event.check
    task.checks.append(check)
    if event.problem:
        told = f"The tests cannot be run with `{check.command}`: {event.problem}"
        yield from blocked.block(session, task, told, event, Hold.TESTS)
        return
    task.checked_run = run.id
    task.flags = (*_without_test_signs(task.flags), *_test_signs(check))
    if check.passed:
        yield from limits.check_test_runs(session, task, event)
        yield from continue_verification(session, task, event)
        return
    failed = task.count("failed_checks")
    if failed > MAX_REPAIRS:
        reason = f"its tests still fail after {MAX_REPAIRS} repairs"
        yield from blocked.fail(session, task, reason, event)
        return
    task.next_run.why = Why.CHECK_FAILED
    task.next_run.feedback = (
        f"The tests were run on your commit {check.commit[:10]} with `{check.command}`: {_failure_in_words(check)}. "
        f"{_test_conditions(check)}The end of the output:\n\n{check.output}\n\n"
        "Mend the cause, not the test, and commit."
    )
    happened = f"the tests fail ({_failure_in_words(check)}, repair {failed} of {MAX_REPAIRS})"
    cut = (next_step.CUT,) if next_step.may_be_split(session, task) else ()
    options = (
        next_step.AGAIN,
        next_step.FRESH,
        *next_step.other_agents(session, task),
        *cut,
        next_step.ASK,
    )
    yield from next_step.offer_steps(session, task, event, "check_failed", happened, *options)


def _without_test_signs(flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    return tuple(flag for flag in flags if flag.sign is not Sign.TESTS_MISSING)


def _test_signs(check: Check) -> tuple[Flag, ...]:
    """Return signs from the run itself: tests that did not run, or may not have run."""
    told = check.tests.signs if check.tests else ()
    return tuple(Flag(sign=Sign.TESTS_MISSING, path=check.command, says=says) for says in told)


def _failure_in_words(check: Check) -> str:
    if check.exit_code is None:
        return "time limit reached"
    if check.tests is None or not check.tests.new_failures:
        return f"exit code {check.exit_code}"
    though = ", though the command ended as if all had passed" if check.exit_code == 0 else ""
    return f"{check.tests.failing}{though}"


def _test_conditions(check: Check) -> str:
    """Return what the agent must know about how the tests were run."""
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
    task.judged_run = run.id
    match verdict.outcome:
        case Judgement.DONE:
            yield from ship.begin(session, task, event)
        case Judgement.CONTINUE:
            yield from _not_yet(session, task, event, verdict)
        case Judgement.REPLAN if next_step.may_be_split(session, task):
            happened = f"the judge says: {_verdict_in_words(verdict)}"
            options = (next_step.CUT, next_step.AGAIN, next_step.ASK)
            _tell_what_is_missing(task, verdict)
            yield from next_step.offer_steps(session, task, event, "too_large", happened, *options)
        case Judgement.REPLAN | Judgement.BLOCKED:
            yield from blocked.block(session, task, _verdict_in_words(verdict), event, Hold.VERDICT)


def _not_yet(session: Session, task: Task, event: WorkJudged, verdict: Verdict) -> Iterator[Deed]:
    continues = task.count("judge_continues")
    said = _verdict_in_words(verdict)
    if continues > MAX_JUDGE_CONTINUES:
        reason = f"after {MAX_JUDGE_CONTINUES} rounds the judge still misses something: {said}"
        yield from blocked.block(session, task, reason, event, Hold.VERDICT)
        return
    _tell_what_is_missing(task, verdict)
    happened = f"the judge misses something ({continues} of {MAX_JUDGE_CONTINUES}): {said}"
    yield from next_step.offer_steps(session, task, event, "judged", happened, next_step.AGAIN)


def _tell_what_is_missing(task: Task, verdict: Verdict) -> None:
    missing = "\n".join(f"- {one}" for one in verdict.missing or verdict.reasons)
    task.next_run.why = Why.JUDGED
    task.next_run.feedback = (
        "Your work was held against what the task asks for. This is still missing:\n"
        f"{missing}\n\nDo exactly that, with tests, and commit."
    )


def _verdict_in_words(verdict: Verdict) -> str:
    return "; ".join((*verdict.missing, *verdict.reasons)[:4]) or verdict.outcome.value


# A person has reviewed what a task was held for: it is accepted, or goes back to its agent with their words.


def hold_pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    task_id, _, asking = event.about.partition(":")
    task = session.task(task_id)
    if task is None or task.state is not TaskState.BLOCKED or asking != task.asking:
        yield messages.stale_press(session, event)
        return
    title, reason = f"{task.key} {task.name}", task.blocked
    if event.verb is Verb.ACCEPT and task.hold in (
        Hold.FLAGS,
        Hold.LIMIT,
        Hold.SETTINGS,
        Hold.VERDICT,
    ):
        what = "Let go on" if task.hold in (Hold.LIMIT, Hold.SETTINGS) else "Accepted as it is"
        yield from _accept(session, task, event)
    elif event.verb is Verb.SEND_BACK and event.text.strip():
        what = "Sent back to its agent"
        _sent_back(task, event)
    elif task.hold is Hold.TESTS and (what := _command_decided(session, task, event)):
        yield from recheck_tasks(session, messages.decided(what, event), except_task=task.id)
    else:
        yield messages.stale_press(session, event)
        return
    yield blocked.decided_card(task, title, reason, what, event, asking)


def _command_decided(session: Session, task: Task, event: Pressed) -> str:
    """Apply a decision about the test command and return it in a few words; empty if there is none."""
    found = test_command.proposed_command(session, task)
    match event.verb:
        case Verb.ACCEPT if found:
            test_command.accept_command(session, found)
            return f"Tested with `{found}`"
        case Verb.TESTS if event.text.strip():
            test_command.set_by_person(session, event.text)
            return (
                f"Tested with `{session.tests.command}`" if session.tests.command else "Not tested"
            )
        case Verb.UNTESTED if found:
            return test_command.refuse_command(session, found)
        case _:
            return ""


def recheck_tasks(session: Session, decided: CardDecision, except_task: str = "") -> Iterator[Deed]:
    """Have tasks that waited for the test command go on.

    `except_task`: the id of a task whose card is updated elsewhere.
    """
    for task in session.in_state(TaskState.VERIFYING):
        task.checked_run = ""
    for task in session.in_state(TaskState.BLOCKED):
        if task.hold is not Hold.TESTS or test_command.proposed_command(session, task):
            continue
        if task.id != except_task:
            yield from blocked.close_card(session, task, decided)
        task.become(TaskState.VERIFYING)
        task.checked_run = ""


def _accept(session: Session, task: Task, event: Pressed) -> Iterator[Deed]:
    match task.hold:
        case Hold.FLAGS:
            head = task.work.head if task.work else ""
            passed = dict.fromkeys((head, *(acceptance_mark(task, one) for one in task.flags)))
            task.accepted = (*task.accepted, *passed)
            task.become(TaskState.VERIFYING)
            if task.check and task.check.restored:
                task.checked_run = (
                    ""  # the changed test settings are accepted: run the tests with them
                )
            yield from continue_verification(session, task, event)
        case Hold.LIMIT:
            task.accepted = (*task.accepted, task.violations[-1].limit_type)
            _continue_task(task)
            yield from continue_verification(session, task, event)
        case Hold.SETTINGS:
            task.accepted = (*task.accepted, task.settings_mark)
            _continue_task(task)
        case _:
            yield from ship.begin(session, task, event)


def _continue_task(task: Task) -> None:
    if task.blocked_from is TaskState.VERIFYING:
        task.become(TaskState.VERIFYING)
        return
    task.become(TaskState.NEEDS_CONTINUATION)
    task.go_on("You were interrupted. Look at what is there already and go on from it.")


def _sent_back(task: Task, event: Pressed) -> None:
    flags = "".join(f"\n- {flag.path}: {flag.says}" for flag in task.flags)
    seen = f"\n\nWhat was noticed:{flags}" if task.hold is Hold.FLAGS else ""
    task.become(TaskState.NEEDS_CONTINUATION)
    task.counters, task.past_choices = Counters(), ()
    task.next_run.why = Why.FLAGGED if seen else Why.FEEDBACK
    task.next_run.feedback = f"Whoever looked at your work wants this: {event.text.strip()}{seen}"


# Orders that verify a run.


def due(session: Session, task: Task, run: Run) -> Iterator[Order]:
    if run.quiet.stopping:
        return
    if task.work is None or task.work_run != run.id:
        yield LookAtWork(task_id=task.id, run_id=run.id)
    elif needs_check(session, task, run):
        yield RunCheck(
            task_id=task.id,
            commit=task.work.head,
            number=len(task.checks) + 1,
            changed=session.tests.times_set,
            restored=restored_files(session, task),
        )
    elif task.judged_run != run.id:
        number = len(task.verdicts) + 1
        yield JudgeWork(task_id=task.id, commit=task.work.head, number=number)
