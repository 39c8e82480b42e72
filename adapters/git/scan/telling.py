"""How a repository is told in words: its rules, its tree, its specs, its sources. Its rule: short enough for every prompt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

CONVENTIONS = ("CLAUDE.md", "AGENTS.md", "CONTRIBUTING.md", ".specify/memory/constitution.md")
READMES = ("README.md", "README.rst", "README.txt", "README")
SPEC = re.compile(r"specs/([^/]+)/spec\.md")

RULES_EACH = 8_000
RULES = 16_000
"""Characters of all conventions together: they go into the prompt of every agent."""
TREE_LINES = 400
TREE_DEPTH = 3
LONGEST_LINE = 240
"""Characters of a line: git takes names of any length."""
README = 2_000
ENTRY_POINTS = 30
SPEC_LINES = 200
COUNTED = 20

_KIND = re.compile(r"\.[^/]+")
_ENTRY_NAMES = frozenset(
    {"main", "index", "app", "server", "cli", "lib", "mod", "__main__", "manage"}
)
_ENTRY_KINDS = frozenset(
    {*("py", "rs", "go", "js", "mjs", "ts", "tsx"), *("rb", "java", "kt", "c", "cc", "cpp", "cs")}
)


def conventions(paths: Collection[str], texts: Mapping[str, str]) -> tuple[str, bool]:
    """The rules of the house, and whether they are all there. What is missing is said, for those who can read it."""
    parts: list[str] = []
    room, whole = RULES, True
    for name in CONVENTIONS:
        if name not in paths:
            continue
        text = texts.get(name, "").strip()
        kept = text[: min(RULES_EACH, room)]
        room -= len(kept)
        if name not in texts or len(kept) < len(text):
            whole = False
            kept = f"{kept}\n[… shortened: read the file {name} itself before you begin]".strip()
        parts.append(f"## {name}\n{kept}")
    return "\n\n".join(parts), whole


def sections(names: Iterable[str], texts: Mapping[str, str]) -> str:
    return "\n\n".join(f"## {name}\n{texts[name].strip()}" for name in names if name in texts)


def tree(paths: Iterable[str], folders: Mapping[str, int]) -> str:
    """Directories down to TREE_DEPTH with their files; what lies deeper is counted."""
    shown = Counter({path: 0 for path in paths if path.count("/") < TREE_DEPTH})
    for folder, count in folders.items():
        if folder.count("/") >= TREE_DEPTH:
            shown["/".join(folder.split("/", TREE_DEPTH)[:TREE_DEPTH]) + "/"] += count
    lines = [
        _printable(f"{path} ({count} files)" if count else path)
        for path, count in sorted(shown.items())[:TREE_LINES]
    ]
    if len(shown) > TREE_LINES:
        lines.append(f"… and {len(shown) - TREE_LINES} more")
    return "\n".join(lines)


def folders_of(paths: Iterable[str]) -> Mapping[str, int]:
    """How many files lie in each directory; a name ends with /, that of the top is empty."""
    return Counter(path[: path.rfind("/") + 1] for path in paths)


def specs(paths: Iterable[str], texts: Mapping[str, str]) -> str:
    """The id and the title of each; one that was not read has no title."""
    found = sorted(path for path in paths if path.startswith("specs/") and SPEC.fullmatch(path))
    lines = [_spec(path, texts.get(path, "")) for path in found[:SPEC_LINES]]
    if len(found) > SPEC_LINES:
        lines.append(f"… and {len(found) - SPEC_LINES} more")
    return "\n".join(lines)


def overview(paths: Collection[str], folders: Mapping[str, int], texts: Mapping[str, str]) -> str:
    """Entry points, modules by size, kinds of files, and how the README begins."""
    modules: Counter[str] = Counter()
    for folder, count in folders.items():
        modules[folder[: folder.find("/") + 1]] += count
    kinds = Counter(path[path.rfind(".") :] for path in paths)
    readme = next((texts[name] for name in READMES if name in texts), "")
    parts = {
        "Entry points": "\n".join(map(_printable, _entry_points(paths))),
        "Directories": _counted(modules),
        "Kinds of files": _counted({kind: kinds[kind] for kind in kinds if _KIND.fullmatch(kind)}),
        "README": readme.strip()[:README],
    }
    return "\n\n".join(f"## {title}\n{text}" for title, text in parts.items() if text)


def _spec(path: str, text: str) -> str:
    name = path.split("/")[1]
    heading = next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), "")
    title = heading.removeprefix("Feature Specification:").strip()[:200]
    return _printable(f"- {name}: {title}" if title else f"- {name}")


def _entry_points(paths: Iterable[str]) -> list[str]:
    """Those nearest to the top."""
    named = [
        path for path in paths if path[path.rfind("/") + 1 :].partition(".")[0] in _ENTRY_NAMES
    ]
    found = [path for path in named if path.rpartition("/")[2].partition(".")[2] in _ENTRY_KINDS]
    return sorted(found, key=lambda path: path.count("/"))[:ENTRY_POINTS]


def _counted(counts: Mapping[str, int]) -> str:
    most = Counter(counts).most_common(COUNTED)
    return "\n".join(f"{_printable(name)} {count}" for name, count in most if name)


def _printable(line: str) -> str:
    """A name may hold anything but / and NUL, and be of any length: no line of ours is made of it."""
    if len(line) > LONGEST_LINE:
        line = f"{line[: LONGEST_LINE // 2]}…{line[-LONGEST_LINE // 2 :]}"
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in line)
