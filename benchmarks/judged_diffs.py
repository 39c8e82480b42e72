"""How much of real changes does the judge see? Over the commits of `context_cases.json`, in public repositories.

    GWT_BENCH_REPOSITORIES=~/clones python -m benchmarks.judged_diffs

No model is asked: each commit's diff is divided as it would be for a model with this window. Repositories that are not there are
skipped, and the table says so.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from benchmarks.context import CASES, FOLDER, at_least, fetched
from benchmarks.ground import git
from benchmarks.table import hand_in, lacking
from bot.core.diff_parts import divide_patch
from bot.core.llm import BUDGET_IF_UNKNOWN, BYTES_PER_TOKEN
from bot.steps.judging import LONGEST_PATCH, MOST_DIFF_TOKENS, MOST_PARTS, SHARE_OF_WINDOW

GOALS = {0: (85.0, 95.0), 128_000: (95.0, 98.0)}
"""By window: the share that one prompt should show whole, and all prompts together."""


def seen(top: Path, commits: list[str], window: int) -> list[tuple[float, float]]:
    """Of each diff whether one prompt shows it whole, and whether all together do, in percent."""
    tokens = int(window * SHARE_OF_WINDOW) if window else BUDGET_IF_UNKNOWN // 2
    room = min(MOST_DIFF_TOKENS, tokens) * BYTES_PER_TOKEN
    found: list[tuple[float, float]] = []
    for commit in commits:
        patch = git(top, "diff-tree", "-r", "-p", "--no-textconv", f"{commit}^", commit)
        cut = len(patch) > LONGEST_PATCH
        divided = divide_patch(patch[:LONGEST_PATCH], room, MOST_PARTS, is_cut=cut)
        whole = not divided.unseen
        found.append((100.0 * (whole and len(divided.parts) <= 1), 100.0 * whole))
    return found


def main(clones: Path) -> None:
    cases: dict[str, list[str]] = json.loads(CASES.read_text())
    tops = {name: clones / name.replace("/", "+") for name in cases if fetched(clones, name)}
    rows = [
        lacking("", f"judged diffs: {name}", f"no clone of it in {FOLDER}")
        for name in cases
        if name not in tops
    ]
    for window, (in_one, in_all) in GOALS.items():
        found = [one for name, top in tops.items() for one in seen(top, cases[name], window)]
        if not found:
            continue
        first, every = (sum(some) / len(found) for some in zip(*found, strict=True))
        of = f"a window of {window:,} tokens" if window else "an unknown window"
        rows += [
            at_least(f"diffs shown whole in one prompt, {of}", first, in_one, len(found)),
            at_least(f"diffs shown whole, in parts where needed, {of}", every, in_all, len(found)),
        ]
    hand_in(*rows)


if __name__ == "__main__":
    main(Path(os.environ.get(FOLDER, ".bench-repositories")).expanduser())
