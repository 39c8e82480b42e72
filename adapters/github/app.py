"""The token of a GitHub App for one installation. Its rule: a new one in time, asked for with the app's own key."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from adapters.github.access import Access, Address, Pace
from adapters.github.aside import aside
from adapters.github.connection import opened, sent, translated
from adapters.github.problem import Answered, judge, not_understood
from bot.errors import Refused, Unavailable

EARLY_SECONDS = 300.0
"""A push that begins with a token has to end with it, too."""
_LONGEST_KEY = 64 * 1024


class _Installation(BaseModel):
    id: int


class _Ticket(BaseModel):
    token: str = Field(repr=False, pattern=r"^[!-~]+$")
    expires_at: AwareDatetime


@dataclass(frozen=True)
class _Kept:
    token: str = field(repr=False)
    until: float
    """On the monotonic clock."""


class App:
    def __init__(self, access: Access, address: Address, pace: Pace) -> None:
        self._access = access
        self._address = address
        self._pace = pace
        self._kept: dict[str, _Kept] = {}

    async def token(self, slug: str) -> str:
        kept = self._kept.get(slug)
        if kept is None or kept.until < time.monotonic():
            kept = self._kept[slug] = await self._asked(slug)
        return kept.token

    def forget(self) -> None:
        self._kept.clear()

    def require(self) -> None:
        """Raise Refused where the app is configured in part, or its key cannot be used. Nobody is asked."""
        access = self._access
        wanted = {"GITHUB_APP_ID": access.app_id, "GITHUB_APP_KEY_FILE": access.app_key_file}
        if lacking := [name for name, value in wanted.items() if not value]:
            raise Refused(
                f"a GitHub App is configured in part: {' and '.join(lacking)} is missing",
                "Set what is missing, or take the other GITHUB_APP_ settings away.",
            )
        self._signed(self._key())

    async def _asked(self, slug: str) -> _Kept:
        number = self._access.installation or await self._installation_of(slug)
        answer = await self._send("POST", f"/app/installations/{number}/access_tokens")
        try:
            ticket = _Ticket.model_validate_json(answer.body)
        except ValidationError:
            # not as the cause: it would show what was answered
            raise not_understood("no token came of it") from None
        return _Kept(ticket.token, time.monotonic() + _lasts(ticket.expires_at) - EARLY_SECONDS)

    async def _installation_of(self, slug: str) -> str:
        answer = await self._send("GET", f"/repos/{slug}/installation")
        try:
            return str(_Installation.model_validate_json(answer.body).id)
        except ValidationError as error:
            raise not_understood("the installation has no number") from error

    async def _send(self, verb: str, path: str) -> Answered:
        ticket = self._signed(self._key())

        def call() -> Answered:
            from github import Auth

            github = opened(Auth.AppAuthToken(ticket), self._address, self._pace)
            try:
                return sent(github, verb, path, {}, {} if verb == "POST" else None)
            finally:
                github.close()

        try:
            answer = await aside(call, seconds=self._pace.whole)
        except Exception as error:
            raise translated(error) from error
        if answer.status >= 300:
            raise self._refused(answer)
        return answer

    def _refused(self, answer: Answered) -> Exception:
        error = judge(answer, "act as the GitHub App")
        if isinstance(error, Unavailable):
            return error
        return Refused(
            f"the GitHub App gets no token: {answer.message or f'HTTP {answer.status}'}",
            "Look at GITHUB_APP_ID and GITHUB_APP_INSTALLATION, and whether the app is installed for the repository.",
        )

    def _signed(self, key: str) -> str:
        """What shows for some minutes that one has the key."""
        from github import Auth

        try:
            return Auth.AppAuth(self._access.app_id, key).create_jwt()
        except Exception:  # noqa: BLE001 - each library below has its own error for a key; all mean this
            raise self._no_key("it is no private key in PEM form") from None

    def _key(self) -> str:
        try:
            with Path(self._access.app_key_file).open("rb") as file:
                key = file.read(_LONGEST_KEY).decode("ascii")
        except OSError as error:
            raise self._no_key(error.strerror or "it cannot be read") from None
        except ValueError:
            raise self._no_key("it is no text") from None
        if "PRIVATE KEY" not in key:
            raise self._no_key("it is no private key in PEM form")
        return key

    def _no_key(self, why: str) -> Refused:
        return Refused(
            f"the private key of the GitHub App cannot be used ({self._access.app_key_file}): {why}",
            "Set GITHUB_APP_KEY_FILE to the file that was downloaded from the app's settings page.",
        )


def _lasts(until: datetime) -> float:
    return max(0.0, until.timestamp() - time.time())
