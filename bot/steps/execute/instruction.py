"""The instruction for an agent: its task, the repository's rules, the decisions taken, how to end; nothing more.

The end marker is never spelled out here, and the main checkout's path never appears.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.runs import Run
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.task import Task
from bot.core.text import shortened
from bot.steps.verify import test_command

_PREFIXES = {
    TaskType.IMPLEMENTATION: "feat",
    TaskType.DOCUMENTATION: "docs",
    TaskType.INVESTIGATION: "chore",
    TaskType.INTEGRATION: "fix",
}


HOW_TO_END = "## How to end"
REPORT_FILE = "<report>"
"""Placeholder that is filled in last, because the report is outside of the repository, whose path is removed from the
text.
"""
_CODE_RULES = """- Test first: write a failing test, then the code that makes it pass.<test>
- <commit>"""
_RULES_OF_TYPE = {
    TaskType.DOCUMENTATION: """- Write for whoever will read it. Hold every statement against the code as it is, and try every command and example you show.
- Change documents and comments, not what the code does; where the code is wrong, say so at the end. No tests are wanted.<test>
- <commit>""",
    TaskType.INVESTIGATION: f"""- Find out what is asked, and change nothing: no tests, no commits. What you write to try something out belongs into a new folder
  below /tmp; leave the worktree as you found it.
- Your report is your work. Write it as Markdown into the file
{REPORT_FILE}
  First the answer in a few sentences. Then what you found and where (file and line), how you know it (commands with what they
  printed), what remains uncertain, and what you recommend.""",
}
_COMMITTED = "When everything is committed, say in two sentences what you did, then quit (q)."
_ENDS = {
    TaskType.INVESTIGATION: "When the report is written, say its answer in a few sentences, then quit (q)."
}
MAX_REPORT_CHARS = 8_000
"""Characters of a report that are passed to tasks which build on it."""
OBSERVATION_NOTE = """## What you notice on the way
It is no part of your task, and there need not be anything: should you see something others ought to know (a bug elsewhere,
code that stands there twice, instructions that contradict each other), append it to the file
{notebook}
as one line of JSON each: {{"content": "what you saw, in a sentence", "evidence": [{{"type": "file", "ref": "src/a.py"}}]}}.
type is file, skill, history or decision. No secrets, at most 20 lines. Do not commit that file, and do not mend what you noted.

"""
LONGEST_TREE = 3_000
"""Characters of the directory tree that a complex task's agent sees."""
COMPLEX_FROM = 600
"""A task with more text than this counts as complex if the plan does not say."""


def instruction(
    session: Session,
    task: Task,
    run: Run,
    *,
    needs_marker: bool,
    notebook: str = "",
    report: str = "",
) -> str:
    """Return the whole prompt of one run.

    `needs_marker`: its CLI must print the end marker. `notebook`: the file for what the agent notices. `report`: the
    file for the result of an investigation.
    """
    parts = [*_task_part(task), *_previous_attempt(run), *_investigation_reports(session, task)]
    parts += [*_working_rules(session, task), *_decisions_taken(session)]
    if is_complex(task):
        parts += _complex_task_context(session, task)
    parts += _how_to_end(task, run, needs_marker=needs_marker)
    text = _without_paths(session, task, "\n\n".join(part for part in parts if part))
    # these paths are no secret: they are outside of every checkout
    text = text.replace(f"\n{REPORT_FILE}\n", f"\n{report}\n", 1)
    noticing = OBSERVATION_NOTE.format(notebook=notebook) if notebook else ""
    before, ending, after = text.rpartition(HOW_TO_END)
    return f"{before}{noticing}{ending}{after}\n"


def is_complex(task: Task) -> bool:
    """Whether the plan says it is complex; if it says nothing, judged by its dependencies and the length of its text."""
    if task.complexity:
        return task.complexity != "low"
    said = task.description + "".join(acceptance.text for acceptance in task.acceptance)
    return len(task.dependencies) > 1 or len(said) > COMPLEX_FROM


def _without_paths(session: Session, task: Task, text: str) -> str:
    # An agent that does not know the main checkout cannot work there by mistake. Output of tests is full of paths.
    if task.workspace:
        text = text.replace(f"{task.workspace.path}/", "").replace(task.workspace.path, ".")
    return text.replace(session.repository.path, "(the repository)")


def _task_part(task: Task) -> Iterator[str]:
    yield f"# Task {task.key}: {task.name}"
    yield task.description
    if task.acceptance:
        yield "## It is done when\n" + "\n".join(f"- {a.text}" for a in task.acceptance)
    if task.files:
        yield "## Files it is about\n" + "\n".join(f"- {file}" for file in task.files)
    if task.read_first:
        yield "## Read first\n" + "\n".join(f"- {place}" for place in task.read_first)


def _previous_attempt(run: Run) -> Iterator[str]:
    if run.feedback:
        yield f"## What came of the last try\n{run.feedback}"


def _working_rules(session: Session, task: Task) -> Iterator[str]:
    prefix = _PREFIXES[task.type]
    command = test_command.for_task(session, task) or session.tests.command
    test = f" Run `{command}` before you end." if command else ""
    commit = (
        f"Commit all your work on this branch, with Conventional Commits messages ({prefix}: …). "
        "Do not push, do not change branches, do not merge unless told to."
    )
    own = (
        _RULES_OF_TYPE.get(task.type, _CODE_RULES)
        .replace("<test>", test)
        .replace("<commit>", commit)
    )
    yield (
        "## How to work\n"
        "- Work only in the current directory; it is a git worktree of your own on a branch of your own.\n"
        f"{own}\n"
        "- Do not touch anything under specs/: it is the plan.\n"
        "- Nobody can answer questions: decide as the decisions below and the code suggest."
    )
    if session.repository.scan and session.repository.scan.conventions:
        yield f"## Conventions of this repository\n{session.repository.scan.conventions}"


def _decisions_taken(session: Session) -> Iterator[str]:
    decisions = [q for q in session.intent.clarifications if q.answer]
    if decisions:
        yield "## Decisions taken\n" + "\n".join(
            f"- {q.decision}: {q.text} → {q.answer}" for q in decisions
        )


def _complex_task_context(session: Session, task: Task) -> Iterator[str]:
    """Yield what only the agent of a complex task needs to know."""
    others = [other for other in session.tasks if other.id != task.id]
    if others:
        yield "## Other tasks, done by others\n" + "\n".join(f"- {o.key}: {o.name}" for o in others)
    if session.repository.scan and session.repository.scan.directory_tree:
        yield "## What is where\n" + session.repository.scan.directory_tree[:LONGEST_TREE]
    if session.plan.spec:
        yield f"The whole plan is in {session.plan.spec.directory}/ (spec.md, plan.md, tasks.md)."


def _investigation_reports(session: Session, task: Task) -> Iterator[str]:
    """Yield the reports of investigations that the task depends on."""
    for other in filter(None, map(session.task, task.dependencies)):
        if other.type is TaskType.INVESTIGATION and other.report:
            report = shortened(other.report.strip(), MAX_REPORT_CHARS)
            yield f"## What {other.key} ({other.name}) has found\n{report}"


def _how_to_end(task: Task, run: Run, *, needs_marker: bool) -> Iterator[str]:
    yield f"{HOW_TO_END}\n{_ENDS.get(task.type, _COMMITTED)}"
    if needs_marker:
        yield (
            "As your very last line print the word GWT_TASK_DONE followed directly, without a space, "
            f"by a hyphen and these eight characters: {run.nonce}"
        )
