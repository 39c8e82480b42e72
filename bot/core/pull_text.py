"""Texts about a branch: titles of pull requests as Conventional Commits, their bodies with the evidence for each
requirement, and agents' instructions for settling a merge conflict.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from bot.core.evidence import Judgement
from bot.core.naming import task_label
from bot.core.plan import DocumentKind
from bot.core.session import Session
from bot.core.spec_kit.spec import coverage, requirement_text
from bot.core.states import TaskState
from bot.core.task import Acceptance, Task
from bot.core.text import clean, cut

# The body of a pull request: what the model wrote, what it depends on, and the evidence for each requirement.

LONGEST_BODY = 60_000
"""Characters. A forge refuses longer bodies."""
LONGEST_TEXT = 30_000
LONGEST_CELL = 400
LONGEST_TABLE = 20_000
LONGEST_LIST = 6_000
MOST_NUMBERS = 50
NO_EVIDENCE = "no evidence"
_SPECIAL = frozenset("\\`*_[]<>#|~&!")


def pull_body(session: Session, task: Task, depends_on: Sequence[int] = ()) -> str:
    """Return the body as Markdown, with the marker by which the bot recognises its own.

    Everything but the first part and the suggestions is verified.
    """
    said = task.pull_text.body if task.pull_text else task.description
    text = clean(said).strip().replace("<!--", "&lt;!--")  # nobody else may set the marker
    mark = pull_marker(task)
    told = "\n\n".join(part for part in _facts(session, task, depends_on) if part)
    room = min(LONGEST_TEXT, LONGEST_BODY - len(told) - len(mark) - 4)
    return f"{cut(text, room)}\n\n{told}\n\n{mark}\n"


def pull_marker(task: Task) -> str:
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
    yield f"{by}, specification {session.plan.spec.id}" if session.plan.spec else by


def _evidence(session: Session, task: Task) -> str:
    rows = [f"| {_cell(wanted)} | {shown} |" for wanted, shown in _evidence_rows(session, task)]
    head = ["## Evidence", "", "| Required | Evidence |", "| --- | --- |"]
    return "\n".join([*head, *_lines_that_fit(rows, LONGEST_TABLE)]) if rows else ""


def _lines_that_fit(lines: Sequence[str], room: int) -> Iterator[str]:
    """Yield as many whole lines as fit, and how many are left out."""
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            yield f"\n… and {len(lines) - number} more"
            return
        yield line


def _evidence_rows(session: Session, task: Task) -> Iterator[tuple[str, str]]:
    """Yield each requirement that the branch fulfils, then each criterion, with its evidence."""
    tasks = [one for one in session.tasks if _shares_branch(one, task)]
    document = session.plan.document(DocumentKind.SPEC)
    spec = document.text if document else ""
    for covered in coverage(spec, tasks):
        serving = [one for one in tasks if one.key in covered.tasks]
        if serving:
            shown = "; ".join(dict.fromkeys(_last_check(one) for one in serving))
            yield requirement_text(spec, covered.requirement), shown
    for one in tasks:
        yield from ((_criterion(it), _shown_by(one, it)) for it in one.acceptance)


def _shares_branch(one: Task, task: Task) -> bool:
    # Tasks that share a worktree share a pull request.
    if one.id == task.id:
        return True
    gone = one.state in (TaskState.REPLACED, TaskState.CANCELLED)
    same = one.workspace and task.workspace and one.workspace.branch == task.workspace.branch
    return bool(same) and not gone


def _criterion(acceptance: Acceptance) -> str:
    return f"{acceptance.id}: {acceptance.text}"


def _shown_by(task: Task, acceptance: Acceptance) -> str:
    """Return the places and tests that the last verdict names for a criterion and the bot has found, and the check."""
    results = task.verdicts[-1].criteria if task.verdicts else ()
    proven = [one for one in results if one.criterion == acceptance.id and one.proven]
    places = [_cell(named) for one in proven for named in one.evidence]
    return "; ".join((*places, _last_check(task)))


def _last_check(task: Task) -> str:
    """Return the bot's own last check of the task, never a claim of the agent."""
    check = task.check
    if check is None:
        return NO_EVIDENCE
    return f"{_cell(check.command)} {_cell(check.result)} on {_cell(check.commit[:12])}"


def _accepted(task: Task) -> str:
    """Return the findings that a person has reviewed and accepted."""
    head = task.work.head if task.work else ""
    if not task.flags or head not in task.accepted:
        return ""
    lines = [f"- {_cell(flag.path)}: {_cell(flag.says)}" for flag in task.flags]
    return "\n".join(["## Accepted by a person", "", *_lines_that_fit(lines, LONGEST_LIST)])


def _suggestions(task: Task) -> str:
    """Return the suggestions of the last verdict, if it let the work pass."""
    verdict = task.verdicts[-1] if task.verdicts else None
    if verdict is None or verdict.outcome is not Judgement.DONE or not verdict.suggestions:
        return ""
    lines = [f"- {_cell(one)}" for one in verdict.suggestions]
    return "\n".join(
        ["## Suggestions, none of them required", "", *_lines_that_fit(lines, LONGEST_LIST)]
    )


def _cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    line = cut(" ".join(clean(text).split()), LONGEST_CELL)
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in line)


# Titles of pull requests as Conventional Commits: check one, and make one that is always valid.

LONGEST_TITLE = 72
COMMIT_TYPES = (
    *("feat", "fix", "docs", "style", "refactor", "perf"),
    *("test", "build", "ci", "chore", "revert"),
)
_OF_TASKS = {
    "implementation": "feat",
    "documentation": "docs",
    "investigation": "chore",
    "integration": "fix",
    "feature": "feat",
    "audit": "chore",
}
_TITLE = re.compile(r"([^\s(:!]+)(?:\(([^()]*)\))?!?: (\S.*)")
_SCOPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_PREFIX = re.compile(
    rf"\s*({'|'.join(COMMIT_TYPES)})\s*(?:\([^()]*\))?\s*!?\s*[:：]\s*", re.IGNORECASE
)  # also titles written by hand
_VERBS = frozenset(
    {
        *(
            "accept",
            "add",
            "adjust",
            "allow",
            "apply",
            "ask",
            "avoid",
            "build",
            "bump",
            "cache",
            "call",
            "change",
        ),
        *(
            "check",
            "clean",
            "close",
            "collect",
            "compute",
            "convert",
            "correct",
            "count",
            "cover",
            "create",
        ),
        *(
            "define",
            "delete",
            "describe",
            "detect",
            "disable",
            "display",
            "document",
            "drop",
            "enable",
            "ensure",
        ),
        *(
            "explain",
            "export",
            "expose",
            "extend",
            "extract",
            "find",
            "fix",
            "format",
            "generate",
            "give",
            "handle",
        ),
        *(
            "hide",
            "implement",
            "import",
            "improve",
            "include",
            "increase",
            "introduce",
            "investigate",
            "join",
        ),
        *(
            "keep",
            "let",
            "limit",
            "list",
            "load",
            "log",
            "make",
            "measure",
            "merge",
            "migrate",
            "move",
            "name",
        ),
        *(
            "normalize",
            "offer",
            "parse",
            "pass",
            "prepare",
            "prevent",
            "print",
            "provide",
            "read",
            "record",
        ),
        *(
            "reduce",
            "refactor",
            "refuse",
            "remove",
            "rename",
            "render",
            "repair",
            "replace",
            "report",
            "require",
        ),
        *(
            "restore",
            "return",
            "reuse",
            "rewrite",
            "round",
            "run",
            "save",
            "search",
            "send",
            "serve",
            "set",
            "show",
        ),
        *(
            "simplify",
            "skip",
            "sort",
            "split",
            "start",
            "stop",
            "store",
            "support",
            "switch",
            "take",
            "tell",
        ),
        *(
            "test",
            "update",
            "upgrade",
            "use",
            "validate",
            "verify",
            "warn",
            "wire",
            "work",
            "wrap",
            "write",
        ),
    }
)
_DOTS = " .。…．｡"
_DIRECTION_MARKS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_MARKS = frozenset("\u200e\u200f\u061c")


def title_problem(title: str) -> str:
    """Return what is wrong with a title, in a sentence; empty if nothing is."""
    if any(_is_break_or_bidi(char) for char in title):
        return "the title must be one line without control characters"
    if len(title) > LONGEST_TITLE:
        return f"the title has {len(title)} characters; at most {LONGEST_TITLE} are allowed"
    found = _TITLE.fullmatch(title)
    if found is None:
        return "the title must read `type(scope): subject` or `type: subject`"
    kind, scope, subject = found.groups()
    if kind not in COMMIT_TYPES:
        return f"{kind!r} is no known type; take one of {', '.join(COMMIT_TYPES)}"
    if scope is not None and not _SCOPE.fullmatch(scope):
        return "the scope must be one word of plain letters, digits, dots, dashes and slashes"
    if _PREFIX.match(subject):
        return "the subject begins with a type once more"
    if subject[-1] in _DOTS:
        return "the title must not end with a dot or a blank"
    return ""


def title_for(kind: str, name: str) -> str:
    """Return a valid title made of a task's type and name.

    Japanese names are kept; a name that already is a title keeps its own type.
    """
    plain = " ".join("".join(" " if _is_break_or_bidi(char) else char for char in name).split())
    if not title_problem(plain):
        return plain
    prefix = _OF_TASKS.get(kind, kind if kind in COMMIT_TYPES else "chore")
    if named := _PREFIX.match(plain):
        prefix = named[1].lower()
    while found := _PREFIX.match(plain):
        plain = plain[found.end() :]
    subject = _shortened(lower_first_verb(plain), LONGEST_TITLE - len(prefix) - 2)
    return f"{prefix}: {subject or 'the work of this task'}"


def _is_break_or_bidi(char: str) -> bool:
    """Whether a character ends a line or changes the direction of the text that follows."""
    turns = char in _MARKS or unicodedata.bidirectional(char) in _DIRECTION_MARKS
    return turns or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}


def lower_first_verb(text: str) -> str:
    """Return Add as add, as linters of commit messages want it.

    Other first words stay unchanged, as they may be names.
    """
    word = text.partition(" ")[0]
    plain = word.istitle() and word.lower() in _VERBS
    return word.lower() + text[len(word) :] if plain else text


def _shortened(text: str, room: int) -> str:
    """Shorten a text, between words if possible."""
    kept = text[:room]
    if len(text) > room and " " in kept[room // 2 :] and text[room] != " ":
        kept = kept[: kept.rindex(" ")]
    return kept.strip(" ").rstrip(_DOTS)


# What an agent is told about a merge conflict: the files, the intent of both sides, and how to settle it.

MOST_FILES_NAMED = 20
"""Further files are only counted."""


def task_conflict_instructions(task: Task, other: Task, files: tuple[str, ...]) -> str:
    """Return the instructions for a conflict with the work of a dependency."""
    branch = other.workspace.branch if other.workspace else other.key
    return _conflict_instructions(
        branch, files, f"Yours, {_intent(task)}", f"The other side, {_intent(other)}"
    )


def base_conflict_instructions(task: Task, base: str, files: tuple[str, ...]) -> str:
    """Return the instructions for a conflict with what was merged into the base meanwhile."""
    theirs = (
        "The other side is what was merged into the base branch meanwhile; `git log` tells why."
    )
    return _conflict_instructions(base, files, f"Yours, {_intent(task)}", theirs)


def _conflict_instructions(what: str, files: tuple[str, ...], ours: str, theirs: str) -> str:
    return (
        f"Before anything else run `git merge {what}`. It collides with your branch in {_file_list(files)}.\n"
        f"- {ours}\n- {theirs}\n"
        "Resolve the conflicts so that both intentions survive, run the tests, and commit the merge."
    )


def _intent(task: Task) -> str:
    first_line = task.description.strip().partition("\n")[0][:300]
    return f"{task.key} “{task.name}”{f': {first_line}' if first_line else ''}"


def _file_list(files: tuple[str, ...]) -> str:
    more = len(files) - MOST_FILES_NAMED
    return ", ".join(files[:MOST_FILES_NAMED]) + (f" and {more} more files" if more > 0 else "")
