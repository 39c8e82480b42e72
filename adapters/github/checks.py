"""What robots say of a commit. Its rule: whatever may not be read is left out, and each failure is asked about once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from adapters.github.access import Address, Pace
from adapters.github.answers import Annotation, CheckRun, Status, Statuses
from adapters.github.aside import aside
from adapters.github.client import Client
from adapters.github.logs import read_log, telling
from adapters.github.problem import NotDone
from bot.domain.hosting import CiFailure, CiState
from bot.errors import Unavailable

MOST_FAILURES = 20
_LONGEST_WORDS, _LONGEST_FOUND, _LONGEST_LOG = 1_400, 1_100, 3_400
_MOST_ANNOTATIONS = 20
_REMEMBERED = 200
_GOOD = frozenset({"success", "neutral", "skipped"})
_WAITS_FOR_PEOPLE = "action_required"
_OF_JOBS = "github-actions"


class Checks:
    def __init__(self, client: Client, address: Address, pace: Pace) -> None:
        self._client = client
        self._address = address
        self._pace = pace
        self._outputs: OrderedDict[str, str] = OrderedDict()

    async def of(self, slug: str, commit: str) -> tuple[CiState, tuple[CiFailure, ...]]:
        runs = await self._runs(slug, commit)
        statuses = await self._statuses(slug, commit)
        states = [*map(_state_of_run, runs), *map(_state_of_status, statuses)]
        failed = [run for run in runs if _state_of_run(run) is CiState.FAILED]
        failures = [await self._failure(slug, run, commit) for run in failed[:MOST_FAILURES]]
        bad = [one for one in statuses if _state_of_status(one) is CiState.FAILED]
        failures += [_failed_status(one, commit) for one in bad]
        return _worst(states), tuple(failures[:MOST_FAILURES])

    async def _runs(self, slug: str, commit: str) -> list[CheckRun]:
        path = f"/repos/{slug}/commits/{commit}/check-runs"
        try:
            return await self._client.pages(
                slug, path, CheckRun, "show its checks", under="check_runs"
            )
        except NotDone as refused:
            if refused.answer.status not in {403, 404}:
                raise
            return []

    async def _statuses(self, slug: str, commit: str) -> tuple[Status, ...]:
        path = f"/repos/{slug}/commits/{commit}/status?per_page=100"
        try:
            return (await self._client.get(slug, path, Statuses, "show its statuses")).statuses
        except NotDone as refused:
            if refused.answer.status not in {403, 404}:
                raise
            return ()

    async def _failure(self, slug: str, run: CheckRun, commit: str) -> CiFailure:
        key = f"check:{run.id}:{commit}"
        if key not in self._outputs:
            output, whole = await self._output(slug, run)
            if not whole:
                return _failed_run(run, key, output)
            self._outputs[key] = output
            while len(self._outputs) > _REMEMBERED:
                self._outputs.popitem(last=False)
        return _failed_run(run, key, self._outputs[key])

    async def _output(self, slug: str, run: CheckRun) -> tuple[str, bool]:
        """What is known of it, and whether that is all: what was not reached may be next time."""
        parts, whole = [_headline(run)], True
        try:
            parts.append(await self._annotations(slug, run))
            parts.append(await self._log(slug, run))
        except NotDone as refused:
            if refused.answer.status not in {403, 404, 410}:
                raise
        except Unavailable:
            whole = False
        text = "\n\n".join(part for part in parts if part)
        return text, whole

    async def _annotations(self, slug: str, run: CheckRun) -> str:
        if not run.output.annotations_count:
            return ""
        path = f"/repos/{slug}/check-runs/{run.id}/annotations"
        told = await self._client.pages(slug, path, Annotation, "show what a check found")
        lines = [
            f"{one.path}:{one.start_line or ''}: {one.annotation_level or ''}: {one.message or ''}"
            for one in told[:_MOST_ANNOTATIONS]
        ]
        return "\n".join(lines)[:_LONGEST_FOUND]

    async def _log(self, slug: str, run: CheckRun) -> str:
        """A check run of GitHub Actions is a job of the same number."""
        if run.app is None or run.app.slug != _OF_JOBS:
            return ""
        path = f"/repos/{slug}/actions/jobs/{run.id}/logs"
        answer = await self._client.raw(slug, path, "show the log of a check")
        place = answer.headers.get("location", "")
        if not place:
            return telling(answer.body, _LONGEST_LOG)
        try:
            log = await aside(
                lambda: read_log(place, self._address, self._pace.call), seconds=self._pace.whole
            )
        except TimeoutError as error:
            raise Unavailable("the log of a check takes too long") from error
        return telling(log, _LONGEST_LOG)


def _headline(run: CheckRun) -> str:
    parts = (run.output.title, run.output.summary, run.output.text)
    said = "\n".join(part.strip() for part in parts if part and part.strip())
    return said[:_LONGEST_WORDS] or f"It ended as {run.conclusion or 'unknown'}."


def _state_of_run(run: CheckRun) -> CiState:
    if run.status != "completed" or run.conclusion == _WAITS_FOR_PEOPLE:
        return CiState.PENDING
    return CiState.PASSED if run.conclusion in _GOOD else CiState.FAILED


def _state_of_status(status: Status) -> CiState:
    known = {"success": CiState.PASSED, "pending": CiState.PENDING}
    return known.get(status.state, CiState.FAILED)


def _worst(states: Iterable[CiState]) -> CiState:
    said = set(states)
    order = (CiState.FAILED, CiState.PENDING, CiState.PASSED)
    return next((state for state in order if state in said), CiState.NONE)


def _failed_run(run: CheckRun, key: str, output: str) -> CiFailure:
    return CiFailure(key=key, name=run.name, output=output, url=run.html_url or "")


def _failed_status(status: Status, commit: str) -> CiFailure:
    return CiFailure(
        key=f"status:{status.id}:{commit}",
        name=status.context,
        output=(status.description or "")[:_LONGEST_WORDS],
        url=status.target_url or "",
    )
