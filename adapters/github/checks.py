"""The checks of a commit: check runs, suites and statuses, and the end of the logs of failed ones."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.client import HTTPException
from typing import IO
from urllib.parse import urlsplit

from adapters.github.api import Address, ApiRefused, ApiTiming, in_own_thread, invalid_answer_error
from adapters.github.client import (
    Annotation,
    CheckRun,
    CheckSuite,
    Client,
    CommitStatus,
    CommitStatuses,
)
from bot.core.errors import Unavailable
from bot.core.forge import CiFailure, CiState

# What the token may not read is left out, and the logs of each failure are read once.

MAX_FAILURES = 20
_LONGEST_WORDS, _LONGEST_FOUND, _MAX_LOG_EXCERPT = 1_400, 1_100, 3_400
_MOST_ANNOTATIONS = 20
_REMEMBERED = 200
_GOOD = frozenset({"success", "neutral", "skipped"})
_WAITS_FOR_PEOPLE = "action_required"
_ACTIONS_APP = "github-actions"
_OVER = frozenset({CiState.NONE, CiState.PASSED})


@dataclass(frozen=True)
class CheckResults:
    """The combined results of all checks of a commit."""

    state: CiState
    failures: tuple[CiFailure, ...] = ()
    names: tuple[str, ...] = ()
    """Names of all checks that exist."""
    running: tuple[str, ...] = ()
    """Names of those that have not ended."""
    readable: bool = True
    """Whether the token may read check runs, which most CI systems use exclusively."""


class Checks:
    def __init__(self, client: Client, address: Address, pace: ApiTiming) -> None:
        self._client = client
        self._address = address
        self._pace = pace
        self._outputs: OrderedDict[str, str] = OrderedDict()

    async def results(self, slug: str, commit: str) -> CheckResults:
        found = await self._runs(slug, commit)
        runs = found or []
        statuses = await self._statuses(slug, commit)
        told = [(run.name, _state_of_run(run)) for run in runs]
        told += [(one.context, _state_of_status(one)) for one in statuses]
        failed = [run for run in runs if _state_of_run(run) is CiState.FAILED]
        failures = [await self._failure(slug, run, commit) for run in failed[:MAX_FAILURES]]
        bad = [one for one in statuses if _state_of_status(one) is CiState.FAILED]
        failures += [_failed_status(one, commit) for one in bad]
        if found is not None and _worst(state for _, state in told) in _OVER:
            suites = await self._suites(slug, commit)
            told += [(_name_of(suite), _state_of_suite(suite)) for suite in suites]
            failures += [
                _failed_suite(suite, commit) for suite in suites if _failed_to_start(suite)
            ]
        return CheckResults(
            state=_worst(state for _, state in told),
            failures=tuple(failures[:MAX_FAILURES]),
            names=tuple(dict.fromkeys(name for name, _ in told)),
            running=tuple(name for name, state in told if state is CiState.PENDING),
            readable=found is not None,
        )

    async def has_checks(self, slug: str, commit: str) -> bool:
        """Whether the commit has any check at all."""
        return bool(await self._runs(slug, commit) or await self._statuses(slug, commit))

    async def _runs(self, slug: str, commit: str) -> list[CheckRun] | None:
        """Return the check runs, or None if the token may not read them."""
        path = f"/repos/{slug}/commits/{commit}/check-runs"
        try:
            return await self._client.get_pages(
                slug, path, CheckRun, "show its checks", under="check_runs"
            )
        except ApiRefused as refused:
            if refused.answer.status not in {403, 404}:
                raise
            return None

    async def _suites(self, slug: str, commit: str) -> list[CheckSuite]:
        """Return the suites that add information to their check runs: the run of a job that depends on another one is
        created only when that has ended, so for a moment all runs have passed while the workflow goes on.
        """
        path = f"/repos/{slug}/commits/{commit}/check-suites"
        try:
            found = await self._client.get_pages(
                slug, path, CheckSuite, "show its checks", under="check_suites"
            )
        except ApiRefused as refused:
            if refused.answer.status not in {403, 404}:
                raise
            return []
        return [
            one for one in found if _failed_to_start(one) or _state_of_suite(one) is CiState.PENDING
        ]

    async def _statuses(self, slug: str, commit: str) -> tuple[CommitStatus, ...]:
        path = f"/repos/{slug}/commits/{commit}/status?per_page=100"
        try:
            return (
                await self._client.get(slug, path, CommitStatuses, "show its statuses")
            ).statuses
        except ApiRefused as refused:
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
        """Return the output of a failed run, and whether it is complete; missing parts may be available next time."""
        parts, whole = [_headline(run)], True
        try:
            parts.append(await self._annotations(slug, run))
            parts.append(await self._log(slug, run))
        except ApiRefused as refused:
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
        told = await self._client.get_pages(slug, path, Annotation, "show what a check found")
        lines = [
            f"{one.path}:{one.start_line or ''}: {one.annotation_level or ''}: {one.message or ''}"
            for one in told[:_MOST_ANNOTATIONS]
        ]
        return "\n".join(lines)[:_LONGEST_FOUND]

    async def _log(self, slug: str, run: CheckRun) -> str:
        # A check run of GitHub Actions is a job with the same id.
        if run.app is None or run.app.slug != _ACTIONS_APP:
            return ""
        path = f"/repos/{slug}/actions/jobs/{run.id}/logs"
        answer = await self._client.get_raw(slug, path, "show the log of a check")
        place = answer.headers.get("location", "")
        if not place:
            return failure_excerpt(answer.body, _MAX_LOG_EXCERPT)
        try:
            log = await in_own_thread(
                lambda: read_log(place, self._address, self._pace.call), seconds=self._pace.whole
            )
        except TimeoutError as error:
            raise Unavailable("the log of a check takes too long") from error
        return failure_excerpt(log, _MAX_LOG_EXCERPT)


def _headline(run: CheckRun) -> str:
    parts = (run.output.title, run.output.summary, run.output.text)
    said = "\n".join(part.strip() for part in parts if part and part.strip())
    return said[:_LONGEST_WORDS] or f"It ended as {run.conclusion or 'unknown'}."


def _state_of_run(run: CheckRun) -> CiState:
    if run.status != "completed" or run.conclusion == _WAITS_FOR_PEOPLE:
        return CiState.PENDING
    return CiState.PASSED if run.conclusion in _GOOD else CiState.FAILED


def _state_of_suite(suite: CheckSuite) -> CiState:
    # GitHub creates an empty suite for each app that might check something; most of them stay empty.
    if suite.status == "completed":
        return CiState.FAILED if _failed_to_start(suite) else CiState.PASSED
    counts = suite.latest_check_runs_count > 0 or _is_actions(suite)
    return CiState.PENDING if counts else CiState.PASSED


def _failed_to_start(suite: CheckSuite) -> bool:
    # An invalid workflow creates no check run that could fail.
    return suite.conclusion == "startup_failure"


def _is_actions(suite: CheckSuite) -> bool:
    return suite.app is not None and suite.app.slug == _ACTIONS_APP


def _name_of(suite: CheckSuite) -> str:
    return "GitHub Actions" if _is_actions(suite) else suite.app.slug if suite.app else "checks"


def _state_of_status(status: CommitStatus) -> CiState:
    known = {"success": CiState.PASSED, "pending": CiState.PENDING}
    return known.get(status.state, CiState.FAILED)


def _worst(states: Iterable[CiState]) -> CiState:
    said = set(states)
    order = (CiState.FAILED, CiState.PENDING, CiState.PASSED)
    return next((state for state in order if state in said), CiState.NONE)


def _failed_suite(suite: CheckSuite, commit: str) -> CiFailure:
    return CiFailure(
        key=f"suite:{suite.id}:{commit}",
        name=_name_of(suite),
        output="A workflow could not be started: look whether its file below .github/workflows is valid.",
    )


def _failed_run(run: CheckRun, key: str, output: str) -> CiFailure:
    return CiFailure(key=key, name=run.name, output=output, url=run.html_url or "")


def _failed_status(status: CommitStatus, commit: str) -> CiFailure:
    return CiFailure(
        key=f"status:{status.id}:{commit}",
        name=status.context,
        output=(status.description or "")[:_LONGEST_WORDS],
        url=status.target_url or "",
    )


# The end of a job's log, where it failed. Only a limited part is kept, and no token is sent to the log's address.

_MAX_LOG_BYTES = 32 * 1024 * 1024
_MOST_KEPT = 256 * 1024
_CHUNK = 64 * 1024
_STAMP = re.compile(r"^\ufeff?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,20}Z ?", re.MULTILINE)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_FAILED = "##[error]"


def read_log(place: str, address: Address, seconds: float) -> str:
    """Return the end of the log at an address that GitHub has named and signed. Blocks."""
    scheme = urlsplit(place).scheme
    if scheme != "https" and not (scheme == "http" and address.is_unencrypted):
        raise invalid_answer_error("the log lies at an address that is not encrypted")
    # the address comes from GitHub, and none of our headers goes with the request
    request = urllib.request.Request(place, headers={"User-Agent": "gwt-bot"})  # noqa: S310
    try:
        with _opener().open(request, timeout=seconds) as answer:
            return _read_end(answer.read)
    except (OSError, HTTPException, ValueError) as error:
        # not shown, because the address itself gives access to the log for a while
        raise Unavailable(f"the log cannot be read ({type(error).__name__})") from None


def failure_excerpt(log: str, max_length: int) -> str:
    """Return the lines up to the last failure, without times and colours; the clean-up after it is not informative."""
    text = _STAMP.sub("", _ESCAPES.sub("", log.replace("\r\n", "\n")))
    lines = text.splitlines()
    failed = [number for number, line in enumerate(lines) if _FAILED in line]
    if failed:
        lines = lines[: failed[-1] + 1]
    shown = "\n".join(lines).strip()
    return shown if len(shown) <= max_length else "…" + shown[-(max_length - 1) :]


def _read_end(read: Callable[[int], bytes]) -> str:
    kept, taken = bytearray(), 0
    while taken < _MAX_LOG_BYTES and (piece := read(_CHUNK)):
        taken += len(piece)
        kept += piece
        del kept[:-_MOST_KEPT]
    return kept.decode("utf-8", "replace")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: object, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    # Opens http and https only, and follows no redirect.
    return urllib.request.build_opener(_NoRedirects())
