"""Does the bot find the files that a change really touched, and how fast? Over commits of public repositories.

    GWT_BENCH_REPOSITORIES=~/clones python -m benchmarks.context [--fetch]

Each case of `context_cases.json` is a commit: its message is the request, its parent is searched, and the source files it changed
are what should be found. The folder holds bare clones named `owner+name`; with `--fetch` those that lack are cloned from GitHub.
Repositories that are not there are skipped, and the table says so.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median

from adapters.git.context import INDEX_FILE, find_context
from adapters.git.run import Git
from adapters.git.sources import is_code, is_source
from benchmarks.ground import git, on_this_disk
from benchmarks.table import Row, Unit, at_most, hand_in, lacking

CASES = Path(__file__).with_name("context_cases.json")
FOLDER = "GWT_BENCH_REPOSITORIES"
TOKENS = 24_000


@dataclass
class Found:
    """Of each case the share of the touched files among the first ten, twenty and hundred, and the seconds it took."""

    shares: dict[int, list[float]] = field(default_factory=lambda: {10: [], 20: [], 100: []})
    seconds: list[float] = field(default_factory=list[float])
    files: int = 0


async def look(top: Path, commits: list[str], index: Path, *, subject_only: bool) -> Found:
    found = Found()
    for commit in commits:
        message = git(top, "log", "-1", f"--format=%{'s' if subject_only else 'B'}", commit)
        changed = git(
            top, "diff", "--name-only", "--diff-filter=MD", "--no-renames", f"{commit}^", commit
        )
        touched = [path for path in changed.splitlines() if is_source(path) and is_code(path)]
        parent = git(top, "rev-parse", f"{commit}^")
        context = await find_context(Git(), top, parent, message, tokens=TOKENS, index=index)
        code = [file.path for file in context.files if is_code(file.path)]
        for most, shares in found.shares.items():
            shares.append(sum(path in code[:most] for path in touched) / len(touched))
        found.seconds.append(context.seconds)
        found.files = max(found.files, context.searched)
    return found


def _most_megabytes() -> float:
    # not `ru_maxrss`: a new process begins with that of the one that started it
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def fetched(folder: Path, name: str) -> bool:
    top = folder / name.replace("/", "+")
    if not top.exists() and "--fetch" in sys.argv:
        address = f"https://github.com/{name}"
        subprocess.run(["git", "clone", "--quiet", "--bare", address, str(top)], check=False)
    return top.exists()


def cold_and_warm(top: Path, folder: Path) -> tuple[float, float, float, int]:
    """Seconds without and with an index, and megabytes, of one request at the newest commit; and how many files were compared."""
    return asyncio.run(_cold_and_warm(top, folder))


async def _cold_and_warm(top: Path, folder: Path) -> tuple[float, float, float, int]:
    head = git(top, "rev-parse", "HEAD")
    request = "Add a setting to retry failed requests"
    cold, warm = list[float](), list[float]()
    files, memory = 0, 0.0
    for turn in range(3):
        index = folder / f"cold-{turn}"
        for seconds in (cold, warm):
            context = await find_context(Git(), top, head, request, tokens=TOKENS, index=index)
            seconds.append(context.seconds)
            files = context.searched
        memory = memory or _most_megabytes()
    return median(cold), median(warm), memory, files


async def main(clones: Path) -> None:
    cases: dict[str, list[str]] = json.loads(CASES.read_text())
    tops = {name: clones / name.replace("/", "+") for name in cases if fetched(clones, name)}
    rows = [
        lacking("", f"context: {name}", f"no clone of it in {FOLDER}")
        for name in cases
        if name not in tops
    ]
    with on_this_disk() as folder:
        shares, sizes = dict[tuple[bool, int], list[float]](), dict[str, int]()
        for name, top in tops.items():
            for subject_only in (False, True):
                found = await look(top, cases[name], folder / INDEX_FILE, subject_only=subject_only)
                print_line(name, found, subject_only=subject_only)
                sizes[name] = found.files
                for most, some in found.shares.items():
                    shares.setdefault((subject_only, most), []).extend(some)
        rows += summary(shares)
        if sizes:
            largest = max(sizes, key=lambda name: sizes[name])
            rows += speed(tops[largest], folder)
    hand_in(*rows)


def print_line(name: str, found: Found, *, subject_only: bool) -> None:
    figures = " ".join(f"{100 * mean(shares):5.1f}" for shares in found.shares.values())
    asked = "subject" if subject_only else "message"
    print(f"{name:28} {asked} {figures} {median(found.seconds):.2f} s", flush=True)


def speed(top: Path, folder: Path) -> list[Row]:
    # a process of its own: this one keeps the memory of all cases before
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        cold, warm, memory, files = fresh.submit(cold_and_warm, top, folder).result()
    scale = max(1.0, files / 14_000)
    what = f"context of a request, cold, {files:,} source files"
    return [
        at_most("", what, cold, 2.0 * scale),
        at_most("", "the same once more", warm, 0.3 * scale),
        at_most("", "memory of the process that looks", memory, 100.0, unit=Unit.MEGABYTES),
    ]


def summary(every: dict[tuple[bool, int], list[float]]) -> list[Row]:
    goals = {10: 80.0, 20: 88.0, 100: 95.0}
    return [
        at_least(
            f"touched files among the first {most}, asked by {'the subject alone' if subject else 'the whole message'}",
            100 * mean(shares),
            goals[most],
            len(shares),
        )
        for (subject, most), shares in sorted(every.items())
    ]


def at_least(what: str, share: float, goal: float, cases: int) -> Row:
    met = "yes" if share >= goal else "**no**"
    return Row("", what, f"{share:.1f} %", f"{cases} cases", "–", f"≥ {goal:g} %", met)


if __name__ == "__main__":
    asyncio.run(main(Path(os.environ.get(FOLDER, ".bench-repositories")).expanduser()))
