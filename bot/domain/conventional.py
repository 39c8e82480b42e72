"""Titles of pull requests as Conventional Commits want them: what is wrong with one, and one that is never wrong."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 72
TYPES = (
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
    rf"\s*({'|'.join(TYPES)})\s*(?:\([^()]*\))?\s*!?\s*[:：]\s*", re.IGNORECASE
)  # as people write it by hand, too
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
_TURNS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_MARKS = frozenset("\u200e\u200f\u061c")


def problem_of(title: str) -> str:
    """What is wrong with a title, in a sentence; empty: nothing is."""
    if any(_breaks(char) for char in title):
        return "the title must be one line without control characters"
    if len(title) > LONGEST:
        return f"the title has {len(title)} characters; at most {LONGEST} are allowed"
    found = _TITLE.fullmatch(title)
    if found is None:
        return "the title must read `type(scope): subject` or `type: subject`"
    kind, scope, subject = found.groups()
    if kind not in TYPES:
        return f"{kind!r} is no known type; take one of {', '.join(TYPES)}"
    if scope is not None and not _SCOPE.fullmatch(scope):
        return "the scope must be one word of plain letters, digits, dots, dashes and slashes"
    if _PREFIX.match(subject):
        return "the subject begins with a type once more"
    if subject[-1] in _DOTS:
        return "the title must not end with a dot or a blank"
    return ""


def title_for(kind: str, name: str) -> str:
    """A title made of a task's type and name; Japanese names keep their text. It never has a problem.

    A name that is a title already keeps the type it names.
    """
    plain = " ".join("".join(" " if _breaks(char) else char for char in name).split())
    if not problem_of(plain):
        return plain
    prefix = _OF_TASKS.get(kind, kind if kind in TYPES else "chore")
    if named := _PREFIX.match(plain):
        prefix = named[1].lower()
    while found := _PREFIX.match(plain):
        plain = plain[found.end() :]
    subject = _shortened(begun_small(plain), LONGEST - len(prefix) - 2)
    return f"{prefix}: {subject or 'the work of this task'}"


def _breaks(char: str) -> bool:
    """Ends a line, or turns the order around in which people read what follows."""
    turns = char in _MARKS or unicodedata.bidirectional(char) in _TURNS
    return turns or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}


def begun_small(text: str) -> str:
    """Add → add, as linters of commit messages want it; other first words may be names, and stay what they are."""
    word = text.partition(" ")[0]
    plain = word.istitle() and word.lower() in _VERBS
    return word.lower() + text[len(word) :] if plain else text


def _shortened(text: str, room: int) -> str:
    """Cut between words where there are any."""
    kept = text[:room]
    if len(text) > room and " " in kept[room // 2 :] and text[room] != " ":
        kept = kept[: kept.rindex(" ")]
    return kept.strip(" ").rstrip(_DOTS)
