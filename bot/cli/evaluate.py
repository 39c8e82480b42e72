"""`gwt-bot eval`: tries the configured model on commits of a repository, and says how often it was right."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence

from adapters.git import GitRepository
from bot.cli.context import folder
from bot.cli.models import ChosenLlm
from bot.cli.process import secrets_in
from bot.cli.read_settings import read_settings
from bot.core.errors import Refused, SettingsError, Unavailable
from bot.core.llm import ModelRole, context_tokens
from bot.core.masking import LearningMasker
from bot.core.trials import HistoryCase, TrialResult, summary
from bot.steps.trials import CALLS, FIND, JUDGE, LOCATE, Trials

PARTS = (FIND, LOCATE, JUDGE)
MOST_CASES = 200
_PATCH_TOKENS = 3_000
"""About how long the patch of a case is."""


async def run(*, repository: str, parts: str, cases: int, yes: bool, as_json: bool) -> int:
    """Print the table, or JSON with every result. Nothing is changed but the index in the bot's home."""
    chosen = tuple(part.strip() for part in parts.split(",") if part.strip())
    if unknown := [part for part in chosen if part not in PARTS]:
        raise SettingsError(f"--parts: {unknown[0]} is none of {', '.join(PARTS)}.")
    if not 0 < cases <= MOST_CASES:
        raise SettingsError(f"--cases: a number from 1 to {MOST_CASES}.")
    current = await read_settings()
    masker = LearningMasker({**secrets_in(os.environ), **current.secrets})
    git = GitRepository(current.gwt_home, mask=masker.mask)
    llm = ChosenLlm(lambda: current, masker, os.environ)
    window = await llm.window(ModelRole.MAIN)
    top = await git.top(folder(repository or current.gwt_repository))
    found = await git.history_cases(top, await git.commit_of(top, "HEAD"), cases)
    if not found:
        raise Refused(
            "the history has no commits to try the model on",
            "Wanted are commits that change one to eight source files and say in their message what for.",
        )
    if not _agreed(chosen, len(found), window, yes=yes):
        return 1
    trials = Trials(llm, git, top, window, await llm.window(ModelRole.JUDGE))
    results = await _tried(trials, chosen, found)
    sys.stdout.write(masker.mask(_as_json(results) if as_json else _table(results)) + "\n")
    return 0


def _agreed(parts: Sequence[str], cases: int, window: int, *, yes: bool) -> bool:
    """Say what it will cost, and ask."""
    calls = cases * sum(CALLS[part] for part in parts)
    if not calls:
        return True
    located = cases * CALLS[LOCATE] * (context_tokens(window) + 2_000) if LOCATE in parts else 0
    judged = cases * CALLS[JUDGE] * _PATCH_TOKENS if JUDGE in parts else 0
    what = f"About {calls} questions to the model, {located + judged:,} tokens in {cases} cases."
    sys.stderr.write(what + "\n")
    if yes:
        return True
    if not sys.stdin.isatty():
        raise Refused("nobody can be asked here whether that may be spent", "Add --yes.")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


async def _tried(
    trials: Trials, parts: Sequence[str], cases: Sequence[HistoryCase]
) -> list[TrialResult]:
    """Return what came of every case. One that the model did not answer is counted by itself.

    Raises Refused if no case can be tried, as without a model.
    """
    asked: dict[str, Callable[[HistoryCase], Awaitable[list[TrialResult]]]] = {
        FIND: trials.find,
        LOCATE: trials.locate,
        JUDGE: trials.judge,
    }
    results: list[TrialResult] = []
    for number, case in enumerate(cases, 1):
        for part in parts:
            try:
                results += await asked[part](case)
            except Unavailable as error:
                part_of_it = f"{part}, not answered"
                results.append(
                    TrialResult(part=part_of_it, commit=case.commit, score=0.0, told=str(error))
                )
        sys.stderr.write(f"{number} of {len(cases)}: {case.request.partition(chr(10))[0][:80]}\n")
    return results


def _as_json(results: Sequence[TrialResult]) -> str:
    told = {"parts": summary(results), "results": [one.model_dump(mode="json") for one in results]}
    return json.dumps(told, ensure_ascii=False, indent=2)


def _table(results: Sequence[TrialResult]) -> str:
    rows = [("Part", "Right", "Cases", "Tokens", "Seconds a case")]
    rows += [
        (
            part,
            f"{100 * told['score']:.0f} %",
            f"{told['cases']:.0f}",
            f"{told['tokens']:,.0f}",
            f"{told['seconds']:.1f}",
        )
        for part, told in summary(results).items()
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
