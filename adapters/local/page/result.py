"""The screen of a session's result: what was asked for, what shows that it is there, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from adapters.local.page.charts import Share, across
from adapters.local.page.frame import Context, PageParts, cost_in_words, counted_tasks
from adapters.local.page.render import tokens
from bot.core.evidence import Check, CriterionResult, Judgement
from bot.core.layout.phrases import model_usage_in_words, usage_in_words
from bot.core.plan import DocumentKind
from bot.core.results import execution_result
from bot.core.runs import AgentUsage
from bot.core.session import Session
from bot.core.spec_kit.spec import coverage, requirement_text
from bot.core.states import TaskState
from bot.core.tampering.signs import Sign
from bot.core.task import Task
from bot.core.text import counted, duration

MAX_PLACES = 4
_LOOKED_FOR = (
    (
        (Sign.TEST_DELETED, Sign.TEST_SKIPPED, Sign.ASSERTION_WEAKENED),
        "Tests deleted, skipped or weakened",
    ),
    ((Sign.TESTS_MISSING,), "Tests that ran before and do not any more"),
    (
        (Sign.CI_CHANGED, Sign.TEST_SETTINGS_CHANGED, Sign.RUNNER_TOUCHED),
        "CI, test settings or the test runner changed",
    ),
    ((Sign.REACHES_FURTHER,), "Hooks, lock files and the like changed without a plan"),
)


class Verdict(NamedTuple):
    """A judgement in words, with the class of its colour."""

    state: str
    says: str


class Shown(NamedTuple):
    """A requirement or a criterion, and what shows that it is met."""

    id: str
    text: str
    tasks: str
    commits: str
    tests: str
    verdict: Verdict
    places: tuple[str, ...]


def result(parts: PageParts, session: Session, lines: tuple[int, int] | None) -> Context:
    """Return what the screen shows. `lines`: those added and removed, if they are known already."""
    shown = counted_tasks(session)
    last = _last_check(shown)
    requirements = list(_requirements(session, shown))
    by_task = [(task, list(_criteria(task))) for task in shown if task.acceptance]
    ended = session.ending.result or execution_result(session, session.ending.evidence)
    end = session.updated_at if session.over else parts.data.now()
    return {
        "judged": _judged(session, requirements),
        "tests": _tests(last) if last else None,
        "changed": _changed(shown),
        "lines_changed": lines,
        "took": duration(int((end - session.created_at).total_seconds())),
        "counted": counted_tasks(session),
        "spent": cost_in_words(session),
        "requirements": requirements,
        "by_task": by_task,
        "inventory": ended.evidence_inventory,
        "costs": costs_of(session),
        "agents_used": ", ".join(usage_in_words(_agents_usage(session))),
        "model_used": model_usage_in_words(session.usage),
        "looked": _looked_for(shown),
        "asked": [
            parts.card(session.thread, card, session.id) for card in parts.data.waiting(session)
        ],
        "merged": session.ending.merged_commit[:10],
        "pulls": [(task.key, task.pull_request) for task in shown if task.pull_request],
        "left": _left(session, ended.incomplete_task_reasons),
        "summary": session.ending.summary or "",
    }


def _last_check(shown: Sequence[Task]) -> Check | None:
    checks = [task.check for task in shown if task.check]
    return max(checks, key=lambda check: check.at, default=None)


def _tests(check: Check) -> dict[str, object]:
    tests = check.tests
    if tests is None or not tests.seen:
        return {"passed": check.passed, "number": "", "says": check.result, "at": check.at}
    failed = tests.new_failures + tests.known_failures
    added = f", {len(tests.added)} new" if tests.added else ""
    return {
        "passed": check.passed,
        "number": f"{tests.ran - failed}",
        "says": f"passed, {failed} failed{added}",
        "at": check.at,
    }


def _changed(shown: Sequence[Task]) -> dict[str, int]:
    files = {
        path
        for task in shown
        if task.work
        for path in (
            *task.work.created_files,
            *task.work.changed_files,
            *task.work.deleted_files,
        )
    }
    commits = {commit.sha for task in shown for commit in task.commits}
    return {"files": len(files), "commits": len(commits)}


def _judged(session: Session, requirements: Sequence[Shown]) -> Verdict:
    verdict = session.ending.verdict
    if verdict is None:
        return Verdict("", "Not judged yet")
    met = sum(one.verdict.state == "done" for one in requirements)
    if requirements and verdict.criteria:
        state = "done" if verdict.outcome is Judgement.DONE else "fail"
        return Verdict(state, f"{met} of {counted(len(requirements), 'requirement')} met")
    if verdict.outcome is Judgement.DONE:
        return Verdict("done", "Complete")
    return Verdict("fail", "Something is missing")


def _requirements(session: Session, shown: Sequence[Task]) -> Iterator[Shown]:
    document = session.plan.document(DocumentKind.SPEC)
    if document is None:
        return
    verdict = session.ending.verdict
    found = {one.criterion: one for one in verdict.criteria} if verdict else {}
    for covered in coverage(document.text, shown):
        tasks = [task for task in shown if task.key in covered.tasks]
        one = found.get(covered.requirement)
        text = requirement_text(document.text, covered.requirement)
        yield Shown(
            id=covered.requirement,
            text=text.removeprefix(covered.requirement).lstrip(": "),
            tasks=", ".join(covered.tasks),
            commits=", ".join(dict.fromkeys(task.work.head[:7] for task in tasks if task.work)),
            tests=_tests_of(tasks),
            verdict=_verdict(one) if one or not tasks else _of_tasks(tasks),
            places=one.evidence if one else _places_of(tasks),
        )


def _places_of(tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return what the verdicts on the tasks name and the bot has found."""
    found = (one for task in tasks if task.verdicts for one in task.verdicts[-1].criteria)
    places = dict.fromkeys(place for one in found if one.proven for place in one.evidence)
    return tuple(places)[:MAX_PLACES]


def _criteria(task: Task) -> Iterator[Shown]:
    found = {one.criterion: one for one in task.verdicts[-1].criteria} if task.verdicts else {}
    for criterion in task.acceptance:
        one = found.get(criterion.id)
        yield Shown(
            id=criterion.id,
            text=criterion.text,
            tasks=task.key,
            commits=task.work.head[:7] if task.work else "",
            tests=_tests_of([task]),
            verdict=_verdict(one),
            places=one.evidence if one else (),
        )


def _tests_of(tasks: Sequence[Task]) -> str:
    check = _last_check(tasks)
    if check is None:
        return ""
    if not check.passed:
        return "failed" if check.tests is None else f"{check.tests.new_failures or 1} failed"
    return f"{_tests(check)['number']} passed".strip()


def _verdict(one: CriterionResult | None) -> Verdict:
    if one is None:
        return Verdict("", "Not judged yet")
    if not one.met:
        return Verdict("fail", "Not met")
    return Verdict("done", "Met") if one.proven else Verdict("need", "Met, but not shown")


def _of_tasks(tasks: Sequence[Task]) -> Verdict:
    done = sum(task.state is TaskState.COMPLETED for task in tasks)
    if done == len(tasks):
        return Verdict("done", "Its tasks are done")
    return Verdict("", f"{done} of {counted(len(tasks), 'task')} done")


def _agents_usage(session: Session) -> AgentUsage:
    return sum((task.usage for task in session.tasks), AgentUsage())


def costs_of(session: Session) -> list[Share]:
    """Return what each task and the model have cost: in money if agents report it, else in tokens."""
    used = [(task.key, task.usage) for task in session.tasks if task.runs]
    if any(usage.cost for _, usage in used):
        return across([(key, usage.cost or 0.0, f"${usage.cost or 0:.2f}") for key, usage in used])
    sums = [(key, usage.input_tokens + usage.output_tokens) for key, usage in used]
    sums = [*(one for one in sums if one[1]), ("model", session.usage.tokens)]
    return across([(key, number, f"{tokens(number)} tokens") for key, number in sums])


def _looked_for(shown: Sequence[Task]) -> list[tuple[str, bool, list[str]]]:
    """Return what the changes were searched for, whether that was done, and what was found."""
    done = any(task.work for task in shown)
    flags = [(task.key, flag) for task in shown for flag in task.flags]
    return [
        (
            words,
            done,
            [f"{key} {flag.path}: {flag.says}" for key, flag in flags if flag.sign in signs],
        )
        for signs, words in _LOOKED_FOR
    ]


def _left(session: Session, incomplete: Sequence[str]) -> list[str]:
    """Return what is not done, or was left where it is, and why."""
    verdict = session.ending.verdict
    over_limits = (
        f"{task.key}: {one.actual_value:g} {one.limit_type.removeprefix('max_')}, {one.limit_value:g} were allowed"
        for task in session.tasks
        for one in task.violations
    )
    return [
        *(incomplete if session.over else ()),
        *(verdict.missing if verdict else ()),
        *over_limits,
        *([session.ending.problem] if session.ending.problem else ()),
        *(f"{one.branch}: {one.reason}" for one in session.ending.leftovers if one.reason),
    ]
