"""How much of what a commit touched does the context name, beside the repository map of aider with the same number of tokens?

    GWT_BENCH_REPOSITORIES=~/clones GWT_BENCH_AIDER=~/aider/bin/python python -m benchmarks.repo_map

The cases are every second one of `context_cases.json`; the message of the commit is the request. GWT_BENCH_AIDER is a Python that
has aider-chat; without it the table says that nothing was compared. aider gets the source files only, as the context does, and a
token counts three bytes for both. A definition is named if its name stands below its file.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from adapters.git.context import INDEX_FILE, find_context
from adapters.git.run import Git
from adapters.git.sources import CODE, is_code, is_source
from benchmarks.context import CASES, FOLDER, fetched
from benchmarks.ground import git, on_this_disk
from benchmarks.table import Row, hand_in, lacking
from bot.core.context.outline import outline

AIDER = "GWT_BENCH_AIDER"
TOKENS = 8_000
SECONDS = 300
GIVE_UP = 2
"""After so many cases without any map the rest of a repository is not tried."""
MEMORY = 6 * 1024**3
"""The bytes that the other may take: the graph of a large repository outgrows any machine."""
DRIVER = """
import json, sys
from types import SimpleNamespace
from aider.coders.base_coder import Coder
from aider.repomap import RepoMap

asked = json.load(sys.stdin)
paths = asked["paths"]

class Reader:
    def read_text(self, name, silent=False):
        return open(name, encoding="utf-8", errors="replace").read()
    def tool_output(self, *_, **__): pass
    tool_warning = tool_error = tool_output

class Mentions(Coder):
    def __init__(self): self.abs_read_only_fnames = []
    def get_all_relative_files(self): return paths
    abs_root_path = get_rel_fname = lambda self, name: name
    def get_inchat_relative_files(self): return []
    def get_addable_relative_files(self): return set(paths)

model = SimpleNamespace(token_count=lambda text: len(text.encode("utf-8", "replace")) / 3)
mentions = Mentions()
names = mentions.get_ident_mentions(asked["request"])
files = mentions.get_file_mentions(asked["request"]) | mentions.get_ident_filename_matches(names)
repo_map = RepoMap(asked["tokens"], asked["root"], model, Reader(), map_mul_no_files=1)
every = [asked["root"] + "/" + path for path in paths]
text = repo_map.get_repo_map([], every, files, names, True)
json.dump(text or "", open(asked["into"], "w"))
"""


@dataclass(frozen=True)
class Touched:
    """What a commit changed: source files of its parent, and the definitions in them, as (path, name)."""

    files: frozenset[str]
    definitions: frozenset[tuple[str, str]]


@dataclass
class Named:
    """Of each case the share of touched files and of touched definitions that stand in the text."""

    files: list[float] = field(default_factory=list[float])
    definitions: list[float] = field(default_factory=list[float])
    failed: int = 0

    def add(self, text: str, touched: Touched) -> None:
        below = _below(text, touched.files)
        self.files.append(mean(path in below for path in touched.files))
        if touched.definitions:
            self.definitions.append(
                mean(
                    bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", below.get(path, "")))
                    for path, name in touched.definitions
                )
            )

    def __str__(self) -> str:
        return f"{_percent(self.files):>7} {_percent(self.definitions):>7}"


def _percent(shares: list[float]) -> str:
    return f"{100 * mean(shares):.1f} %" if shares else "–"


def _below(text: str, paths: Collection[str]) -> dict[str, str]:
    """By file: the lines that stand below its name."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    current = ""
    for line in text.splitlines():
        head = line.removeprefix("### ").split(" (")[0].rstrip(":")
        if line[:1] not in {" ", "│", "⋮", ""} and not re.match(r"\d+(?:-\d+)?[: ]|…", line):
            current = head
            if head in paths:
                found[head].append("")
        elif current in paths:
            found[current].append(line)
    return {path: "\n".join(lines) for path, lines in found.items()}


def touched_by(top: Path, commit: str) -> Touched:
    changed = git(
        top, "diff", "--name-only", "--diff-filter=MD", "--no-renames", f"{commit}^", commit
    )
    files = [path for path in changed.splitlines() if is_source(path) and is_code(path)]
    definitions: set[tuple[str, str]] = set()
    for path in files:
        patch = git(top, "diff", "-U0", "--no-renames", f"{commit}^", commit, "--", path)
        found = outline(git(top, "show", f"{commit}^:{path}") + "\n", path)
        for at, count in re.findall(r"^@@ -(\d+)(?:,(\d+))? ", patch, re.MULTILINE):
            for line in range(int(at), int(at) + max(1, int(count or 1))):
                if around := [one for one in found if one.first <= line <= one.last]:
                    definitions.add((path, around[-1].name.rpartition(".")[2]))
    return Touched(frozenset(files), frozenset(definitions))


def compare(top: Path, commits: list[str], folder: Path, aider: str) -> tuple[Named, Named]:
    ours, theirs = Named(), Named()
    with tempfile.TemporaryDirectory(dir=folder) as clone:
        git(folder, "clone", "-q", "--shared", "--no-checkout", str(top.resolve()), clone)
        # clones for reading may lack large files
        git(Path(clone), "sparse-checkout", "set", "--no-cone", *(f"*.{one}" for one in CODE))
        for commit in commits:
            touched = touched_by(top, commit)
            parent = git(top, "rev-parse", f"{commit}^")
            request = git(top, "log", "-1", "--format=%B", commit)
            index = folder / INDEX_FILE
            context = asyncio.run(
                find_context(Git(), top, parent, request, tokens=TOKENS, index=index)
            )
            git(Path(clone), "reset", "-q", "--hard", parent)
            text = repo_map(Path(clone), request, aider)
            if text is None:
                theirs.failed += 1
                if theirs.failed == GIVE_UP and not theirs.files:
                    break
                continue
            ours.add(context.text, touched)
            theirs.add(text, touched)
    return ours, theirs


def repo_map(clone: Path, request: str, aider: str) -> str | None:
    """The map for a request; None if none was made within the bounds of time and memory."""
    paths = [path for path in git(clone, "ls-files").splitlines() if is_source(path)]
    paths = [path for path in paths if is_code(path) and (clone / path).is_file()]
    into = clone / ".git" / "map.json"
    into.unlink(missing_ok=True)
    asked = {"root": str(clone), "paths": paths, "request": request, "tokens": TOKENS}
    try:
        subprocess.run(
            ("prlimit", f"--as={MEMORY}", aider, "-I", "-c", DRIVER),
            input=json.dumps({**asked, "into": str(into)}).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=CASES.parent,  # nothing of the repository is imported
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(into.read_text()) if into.exists() else None


def main(clones: Path, aider: str) -> None:
    cases: dict[str, list[str]] = json.loads(CASES.read_text())
    wanted = sys.argv[1:] or [*cases]
    rows: list[Row] = []
    for name in wanted:
        if not fetched(clones, name):
            rows.append(lacking("", f"repository map: {name}", f"no clone of it in {FOLDER}"))
            continue
        with on_this_disk() as folder:
            top = clones / name.replace("/", "+")
            ours, theirs = compare(top, cases[name][1::2], folder, aider)
        print(
            f"{name:24} {ours}   aider {theirs}   {len(ours.files)} cases, {theirs.failed} without a map",
            flush=True,
        )
        rows += rows_of(name, ours, theirs)
    hand_in(*rows)


def rows_of(name: str, ours: Named, theirs: Named) -> list[Row]:
    if not ours.files:
        why = f"aider made no map within {SECONDS} s and {MEMORY // 1024**3} GB"
        return [lacking("", f"repository map: {name}", why)]
    return [
        Row(
            "",
            f"touched {what} named, {TOKENS:,} tokens, {name}",
            _percent(mine),
            f"{_percent(other)} aider",
            "–",
            "not less",
            "yes" if mean(mine) >= mean(other) else "**no**",
        )
        for what, mine, other in (
            ("files", ours.files, theirs.files),
            ("definitions", ours.definitions, theirs.definitions),
        )
        if mine and other
    ]


if __name__ == "__main__":
    python = os.environ.get(AIDER, "")
    if not python:
        hand_in(lacking("", "context beside aider's map", f"{AIDER} names no Python with aider"))
    else:
        main(Path(os.environ.get(FOLDER, ".bench-repositories")).expanduser(), python)
