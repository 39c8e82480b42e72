"""The body of a pull request: what the model wrote, what it depends on, and which requirement is shown by what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.domain import spec_kit
from bot.domain.documents import DocumentKind
from bot.domain.evidence import Judgement
from bot.domain.masking.clean import clean
from bot.domain.naming import task_label
from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tasks import Acceptance, Task

LONGEST = 60_000
"""Characters. A forge refuses longer ones."""
LONGEST_TEXT = 30_000
LONGEST_CELL = 400
LONGEST_TABLE = 20_000
LONGEST_LIST = 6_000
MOST_NUMBERS = 50
NO_EVIDENCE = "no evidence"
_SPECIAL = frozenset("\\`*_[]<>#|~&!")


def body(session: Session, task: Task, depends_on: Sequence[int] = ()) -> str:
    """Markdown, and the mark by which the bot knows it again. All but the first part and the suggestions are facts."""
    said = task.pull_text.body if task.pull_text else task.description
    text = clean(said).strip().replace("<!--", "&lt;!--")  # nobody else sets the mark
    mark = marker(task)
    told = "\n\n".join(part for part in _facts(session, task, depends_on) if part)
    room = min(LONGEST_TEXT, LONGEST - len(told) - len(mark) - 4)
    return f"{_cut(text, room)}\n\n{told}\n\n{mark}\n"


def marker(task: Task) -> str:
    return f"<!-- gwt-bot task={task.id} -->"


def _facts(session: Session, task: Task, depends_on: Sequence[int]) -> Iterator[str]:
    if depends_on:
        yield "\n".join(
            f"Depends on #{number}" for number in list(dict.fromkeys(depends_on))[:MOST_NUMBERS]
        )
    yield _evidence(session, task)
    yield _accepted(task)
    yield _suggestions(task)
    label = task_label(session.id, task.number) if task.number else task.key
    by = f"Session {session.short}, {label}"
    yield f"{by}, specification {session.spec.id}" if session.spec else by


def _evidence(session: Session, task: Task) -> str:
    rows = [f"| {_cell(wanted)} | {shown} |" for wanted, shown in _rows(session, task)]
    head = ["## Evidence", "", "| Required | Evidence |", "| --- | --- |"]
    return "\n".join([*head, *_fitting(rows, LONGEST_TABLE)]) if rows else ""


def _fitting(lines: Sequence[str], room: int) -> Iterator[str]:
    """So many whole lines as fit, and how many do not."""
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            yield f"\n… and {len(lines) - number} more"
            return
        yield line


def _rows(session: Session, task: Task) -> Iterator[tuple[str, str]]:
    """Each requirement that the branch serves, then each criterion, with what shows it."""
    tasks = [one for one in session.tasks if _on_its_branch(one, task)]
    document = session.document(DocumentKind.SPEC)
    spec = document.text if document else ""
    for covered in spec_kit.coverage(spec, tasks):
        serving = [one for one in tasks if one.key in covered.tasks]
        if serving:
            shown = "; ".join(dict.fromkeys(_shown(one) for one in serving))
            yield _requirement(spec, covered.requirement), shown
    for one in tasks:
        yield from ((_criterion(acceptance), _shown(one)) for acceptance in one.acceptance)


def _on_its_branch(one: Task, task: Task) -> bool:
    """Tasks that share a worktree share a pull request."""
    if one.id == task.id:
        return True
    gone = one.state in (TaskState.REPLACED, TaskState.CANCELLED)
    same = one.workspace and task.workspace and one.workspace.branch == task.workspace.branch
    return bool(same) and not gone


def _requirement(spec: str, id: str) -> str:
    line = next((line for line in spec.splitlines() if id in line), id)
    return " ".join(line.replace("**", "").lstrip("-*+ \t").split())


def _criterion(acceptance: Acceptance) -> str:
    return f"{acceptance.id}: {acceptance.text}"


def _shown(task: Task) -> str:
    """The last check of the bot's own; nothing that anybody says."""
    check = task.check
    if check is None:
        return NO_EVIDENCE
    return f"{_cell(check.command)} {_cell(check.result)} on {_cell(check.commit[:12])}"


def _accepted(task: Task) -> str:
    """Signs that a person has looked at and let pass."""
    head = task.work.head if task.work else ""
    if not task.flags or head not in task.accepted:
        return ""
    lines = [f"- {_cell(flag.path)}: {_cell(flag.says)}" for flag in task.flags]
    return "\n".join(["## Accepted by a person", "", *_fitting(lines, LONGEST_LIST)])


def _suggestions(task: Task) -> str:
    """What the last judgement would have better, where it let the work pass."""
    verdict = task.verdicts[-1] if task.verdicts else None
    if verdict is None or verdict.outcome is not Judgement.DONE or not verdict.suggestions:
        return ""
    lines = [f"- {_cell(one)}" for one in verdict.suggestions]
    return "\n".join(["## Suggestions, none of them required", "", *_fitting(lines, LONGEST_LIST)])


def _cell(text: str) -> str:
    """Plain text that stays what it is in a cell of a table."""
    line = _cut(" ".join(clean(text).split()), LONGEST_CELL)
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in line)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(0, room - 1)].rstrip() + "…"
