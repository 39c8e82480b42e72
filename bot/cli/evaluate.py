"""`gwt-bot eval`: tries the configured model on a repository's commits, or on a suite, and says how often it was right."""

from __future__ import annotations

import asyncio
import os
import random
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import ValidationError

from adapters.git import GitRepository
from bot.cli.context import folder
from bot.cli.models import ChosenLlm, model_for, what_is_missing
from bot.cli.process import secrets_in
from bot.cli.read_settings import read_settings
from bot.cli.recordings import RecordedLlm, RecordedRun
from bot.core.console import ExitCode
from bot.core.errors import Refused, SettingsError, Unavailable
from bot.core.llm import AI_SETTINGS_REQUIRED, ModelRole, context_tokens, estimate_tokens
from bot.core.masking import LearningMasker
from bot.core.text import sentences
from bot.core.trials import Difference, SavedRun, TrialResult, differences, summary
from bot.settings import Settings
from bot.steps.suite_trials import PLAN, QUESTIONS, SUITES, SuiteTrials, load_suite
from bot.steps.trials import FIND, JUDGE, LOCATE, Trials

HISTORY_PARTS = (FIND, LOCATE, JUDGE)
SUITE_PARTS = (FIND, LOCATE, QUESTIONS, PLAN, JUDGE)
COSTS = {
    FIND: (0, 0),
    LOCATE: (2, 1_500),
    QUESTIONS: (2, 2_500),
    PLAN: (6, 5_500),
    JUDGE: (1, 3_000),
}
"""About how often the model is asked for one case, and with how many tokens beside the code that it is shown."""
SEES_CODE = (LOCATE, QUESTIONS, PLAN)
MOST_CASES = 200
HISTORY_CASES = 10
AT_ONCE = 4
"""Cases that are tried at the same time."""
NOT_ANSWERED = "not answered"
GOOD_CHANGES = ("whole", "right")
GIVEN_UP = 4
"""So many cases that the model did not answer, one after the other, end the run."""
WORSE = 3
"""The exit code when a part is worse than in an earlier run."""


@dataclass(frozen=True)
class Trial:
    """One part of one case."""

    part: str
    case: str
    calls: int
    tokens: int
    """About what it will cost."""
    run: Callable[[], Awaitable[list[TrialResult]]]


@dataclass(frozen=True)
class EvalOptions:
    suite: str
    repository: str
    parts: str
    cases: int
    most: int
    yes: bool
    as_json: bool
    answers: str
    replay: str
    compare: list[str]


async def run(options: EvalOptions) -> int:
    """Print the table, or JSON with every result. Nothing is changed but the index and the answers in the bot's home."""
    parts = _chosen_parts(options)
    saved = [(Path(name).stem, _saved(Path(name), options.suite)) for name in options.compare]
    current = await read_settings()
    masker = LearningMasker({**secrets_in(os.environ), **current.secrets})
    llm = await _model(options, current, masker)
    with TemporaryDirectory(prefix="gwt-eval-", ignore_cleanup_errors=True) as place:
        if options.suite:
            trials = await _suite_trials(options, parts, llm, Path(place), masker)
        else:
            trials = await _history_trials(options, parts, llm, current, masker)
        if any(one.calls for one in trials) and not options.replay:
            if missing := what_is_missing(current):
                raise Refused(AI_SETTINGS_REQUIRED, missing)
            if not _agreed(trials, llm, yes=options.yes):
                return ExitCode.ERROR
        results = await _tried(trials, llm)
    now = SavedRun(
        suite=options.suite, models=llm.run.names, parts=summary(results), results=tuple(results)
    )
    chance = random.Random(0)  # noqa: S311 - the same intervals each time
    changed = differences(
        saved[0][1].results if saved else (),
        results,
        lambda some: chance.choices(some, k=len(some)),
    )
    shown = now.model_dump_json(indent=2) if options.as_json else _table(now)
    sys.stdout.write(masker.mask(shown) + "\n")
    if saved:
        beside = _comparison([*saved, ("now", now)], changed)
        (sys.stderr if options.as_json else sys.stdout).write(masker.mask(beside) + "\n")
    if any(one.is_worse for one in changed):
        return WORSE
    return ExitCode.INCOMPLETE if len(_answered(results)) < len(results) else ExitCode.COMPLETE


def _chosen_parts(options: EvalOptions) -> tuple[str, ...]:
    known = SUITE_PARTS if options.suite else HISTORY_PARTS
    chosen = tuple(part.strip() for part in options.parts.split(",") if part.strip()) or known
    if unknown := [part for part in chosen if part not in known]:
        raise SettingsError(f"--parts: {unknown[0]} is none of {', '.join(known)}.")
    if options.suite and options.suite not in SUITES:
        raise SettingsError(f"--suite: {options.suite} is none of {', '.join(SUITES)}.")
    if not 0 <= options.cases <= MOST_CASES:
        raise SettingsError(f"--cases: a number from 1 to {MOST_CASES}.")
    if options.most < 0:
        raise SettingsError("--most: a number of tokens.")
    if options.replay and options.answers:
        raise SettingsError("--replay asks nothing, so --answers has no meaning beside it.")
    return chosen


def _saved(path: Path, suite: str) -> SavedRun:
    try:
        found = SavedRun.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise SettingsError(
            f"--compare: {path} does not hold what `gwt-bot eval --json` writes."
        ) from error
    if found.suite != suite:
        raise SettingsError(
            f"--compare: {path} is of {found.suite or 'a history'}, not of {suite}."
        )
    return found


async def _model(options: EvalOptions, current: Settings, masker: LearningMasker) -> RecordedLlm:
    if options.replay:
        return RecordedLlm(Path(folder(options.replay)))
    chosen = ChosenLlm(lambda: current, masker, os.environ)
    roles = (ModelRole.MAIN, ModelRole.JUDGE)
    models = {role: _model_name(current, role) for role in roles}
    windows = {role: await chosen.window(role) for role in roles}
    file = re.sub(r"[^\w.-]+", "-", "+".join(dict.fromkeys(models.values()))) + ".jsonl"
    own = current.gwt_home / "eval" / file
    return RecordedLlm(
        Path(folder(options.answers)) if options.answers else own,
        chosen,
        RecordedRun(models=models, windows=windows),
        most=options.most,
        mask=masker.mask,
    )


def _model_name(current: Settings, role: ModelRole) -> str:
    model = model_for(current, role)
    return model.model or str(model.provider)


async def _history_trials(
    options: EvalOptions,
    parts: Sequence[str],
    llm: RecordedLlm,
    current: Settings,
    masker: LearningMasker,
) -> list[Trial]:
    git = GitRepository(current.gwt_home, mask=masker.mask)
    top = await git.top(folder(options.repository or current.gwt_repository))
    most = options.cases or HISTORY_CASES
    found = await git.history_cases(top, await git.commit_of(top, "HEAD"), most)
    if not found:
        raise Refused(
            "the history has no commits to try the model on",
            "Wanted are commits that change one to eight source files and say in their message what for.",
        )
    trials = _trials(llm, git, top)
    tried = {FIND: trials.find, LOCATE: trials.locate, JUDGE: trials.judge}
    return [
        _trial(part, case.id, partial(tried[part], case), context_tokens(trials.window), judged=2)
        for case in found
        for part in parts
    ]


async def _suite_trials(
    options: EvalOptions,
    parts: Sequence[str],
    llm: RecordedLlm,
    place: Path,
    masker: LearningMasker,
) -> list[Trial]:
    git = GitRepository(place / "home", mask=masker.mask)
    found: list[Trial] = []
    for suite in load_suite(options.suite):
        top = place / suite.name
        top.mkdir()
        commit = await git.make(top, suite.trees)
        one = SuiteTrials(_trials(llm, git, str(top)), suite, commit)
        tried = {
            FIND: one.find,
            LOCATE: one.locate,
            QUESTIONS: one.questions,
            PLAN: one.plan,
            JUDGE: one.judge,
        }
        size = estimate_tokens("".join(suite.trees[-1][1].values()))
        code = min(context_tokens(one.trials.window), size)
        for request in suite.requests[: options.cases or None]:
            case, judged = one.case(request).id, 1 + len(request.wrong)
            found += [
                _trial(part, case, partial(tried[part], request), code, judged) for part in parts
            ]
    return found


def _trials(llm: RecordedLlm, git: GitRepository, top: str) -> Trials:
    windows = llm.run.windows
    return Trials(llm, git, top, windows.get(ModelRole.MAIN, 0), windows.get(ModelRole.JUDGE, 0))


def _trial(
    part: str,
    case: str,
    run: Callable[[], Awaitable[list[TrialResult]]],
    code: int,
    judged: int,
) -> Trial:
    calls, tokens = COSTS[part]
    calls *= judged if part == JUDGE else 1
    return Trial(part, case, calls, calls * (tokens + (code if part in SEES_CODE else 0)), run)


def _agreed(trials: Sequence[Trial], llm: RecordedLlm, *, yes: bool) -> bool:
    """Say what it will cost, and ask."""
    calls, tokens = sum(one.calls for one in trials), sum(one.tokens for one in trials)
    cases, models = len({one.case for one in trials}), " and ".join(llm.run.names)
    cost = f"About {calls} questions to {models}, {tokens:,} tokens in {cases} cases."
    kept = f" {llm.kept} answers are in {llm.path}; those cost nothing." if llm.kept else ""
    sys.stderr.write(cost + kept + "\n")
    if yes:
        return True
    if not sys.stdin.isatty():
        raise Refused("nobody can be asked here whether that may be spent", "Add --yes.")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


async def _tried(trials: Sequence[Trial], llm: RecordedLlm) -> list[TrialResult]:
    """Return what came of every case. One that the model did not answer is counted by itself."""
    free, done, missed = asyncio.Semaphore(AT_ONCE), 0, 0

    async def try_(trial: Trial) -> list[TrialResult]:
        nonlocal done, missed
        async with free:
            trouble, found = "", list[TrialResult]()
            try:
                if missed < GIVEN_UP or not trial.calls:
                    found = await trial.run()
                    missed = 0 if trial.calls else missed
            except Unavailable as error:
                missed, trouble = missed + 1, sentences(error.reason, error.remedy)
            if not found:
                part, trouble = f"{trial.part}, {NOT_ANSWERED}", trouble or "the model is away"
                found = [TrialResult(part=part, case=trial.case, score=0.0, detail=trouble)]
            done += 1
            part = f"{trial.part}, {trial.case}" + (f": not answered: {trouble}" if trouble else "")
            sys.stderr.write(f"{done} of {len(trials)}: {part}\n")
            return found

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(try_(trial)) for trial in trials]
    finally:
        if llm.new:
            sys.stderr.write(
                f"{llm.new} answers for {llm.spent:,} tokens, {llm.reused} from before. They are kept in {llm.path}: the same "
                "command goes on from there, and --replay with that file gives the same results again.\n"
            )
    return [one for task in tasks for one in task.result()]


def _answered(results: Sequence[TrialResult]) -> list[TrialResult]:
    return [one for one in results if not one.part.endswith(NOT_ANSWERED)]


def _table(run: SavedRun) -> str:
    rows = [("Part", "Right", "Cases", "Asked a case", "Tokens", "Seconds a case")]
    rows += [
        (
            part,
            f"{100 * figures['score']:.0f} %",
            f"{figures['cases']:.0f}",
            f"{figures['asked']:.1f}" if figures["asked"] else "",
            f"{figures['tokens']:,.0f}",
            f"{figures['seconds']:.1f}",
        )
        for part, figures in run.parts.items()
    ]
    return "\n".join([*_lines(rows), *_judged(run), _whole(run)])


def _judged(run: SavedRun) -> list[str]:
    """Return how often a right change was refused, and others were let pass."""
    counts: list[str] = []
    judged = [one for one in _answered(run.results) if one.part.startswith(f"{JUDGE}, ")]
    for what, is_alarm in (("False alarms", True), ("Missed", False)):
        some = [one for one in judged if (one.part.partition(", ")[2] in GOOD_CHANGES) == is_alarm]
        wrong = sum(one.score < 1 for one in some)
        counts += [f"{what}: {wrong} of {len(some)}."] if some else []
    return [" ".join(counts)] if counts else []


def _whole(run: SavedRun) -> str:
    tokens = sum(one.tokens for one in run.results)
    minutes = sum(one.seconds for one in run.results) / 60
    return f"{' and '.join(run.models)}: {tokens:,} tokens, {minutes:.1f} minutes of answering."


def _comparison(runs: Sequence[tuple[str, SavedRun]], changed: Sequence[Difference]) -> str:
    """Return a table with a column for each run, and how the last differs from the first."""
    by_part = {one.part: one for one in changed}
    first = runs[0][0]
    rows: list[tuple[str, ...]] = [("", *(name for name, _ in runs), f"now - {first}", "95 %", "")]
    rows.append(("Part", *(" and ".join(run.models) for _, run in runs), "", "", ""))
    for part in dict.fromkeys(part for _, run in runs for part in run.parts):
        scores = [run.parts.get(part, {}).get("score") for _, run in runs]
        shown = ["" if score is None else f"{100 * score:.0f} %" for score in scores]
        one = by_part.get(part)
        how = (
            (f"{100 * one.mean:+.0f}", f"{100 * one.low:+.0f} to {100 * one.high:+.0f}")
            if one
            else ("", "")
        )
        rows.append((part, *shown, *how, "worse" if one and one.is_worse else ""))
    return "\n".join(["", *_lines(rows)])


def _lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
