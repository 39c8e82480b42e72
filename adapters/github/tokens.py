"""Finds the token: in the settings, of a GitHub App, in the environment or from the `gh` program, in this order.

Every token is registered for masking before it is used.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from adapters.github.api import (
    Access,
    Address,
    ApiAnswer,
    ApiTiming,
    as_port_error,
    error_for,
    in_own_thread,
    invalid_answer_error,
    open_client,
    send_request,
)
from adapters.processes import ProgramTimeout, run
from bot.core.errors import Refused, Unavailable

FROM_THE_ENVIRONMENT = ("GITHUB_TOKEN", "GH_TOKEN")
GIT_USER = "x-access-token"
"""The user name passed to git with the token; GitHub only checks the token."""
_TOKEN = re.compile(r"[!-~]{1,2000}")
_MAX_NAMES = 50
"""An app gets a new token every hour; those of two days ago are worthless."""
_GH_SECONDS = 10.0
_GH_NEEDS = (
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_CONFIG_DIR",
)

OnToken = Callable[[str, str], None]


class Tokens:
    def __init__(self, access: Access, address: Address, pace: ApiTiming, learned: OnToken) -> None:
        self._access = access
        self._host = address.host
        self._app = AppTokens(access, address, pace)
        self._learned = learned
        self._announced: set[str] = set()
        self._gh_token: str | None = None
        """None if `gh` was not asked yet."""

    async def token(self, slug: str) -> str:
        """Return the token for a repository; empty if there is none."""
        found = self._configured_token()
        if not found:
            if self._gh_token is None:
                self._gh_token = await token_from_gh(self._host, self._access.environ)
            found = self._gh_token
        if not found and self._access.has_app:
            self._app.require()
            found = await self._app.token(slug)
        return self._checked(found) if found else ""

    def require(self) -> None:
        """Raise Refused if the configured app cannot be used, whether it is needed or not. Makes no request."""
        if self._access.has_app:
            self._app.require()

    def forget(self) -> None:
        """Drop cached tokens after one was refused, because a newer one may exist."""
        self._gh_token = None
        self._app.forget()

    def reports_permissions(self, token: str) -> bool:
        """Whether GitHub reports the token's permissions correctly, which it does not for an app's token."""
        return not token.startswith("ghs_") and not (
            self._access.app_id and not self._configured_token()
        )

    def _configured_token(self) -> str:
        given = (self._access.token, *map(self._from_environment, FROM_THE_ENVIRONMENT))
        return next((one.strip() for one in given if one.strip()), "")

    def _from_environment(self, name: str) -> str:
        return self._access.environ.get(name, "")

    def _checked(self, token: str) -> str:
        if token not in self._announced:
            self._register(token)
        if not _TOKEN.fullmatch(token):
            # it would be contained in the error of the request that sends it
            raise Refused(
                "the token for GitHub holds characters that no token has",
                "Set GITHUB_TOKEN anew, without spaces and line breaks in it.",
            )
        return token

    def _register(self, token: str) -> None:
        # Each token under a name of its own, because a value replaces another one of the same name.
        turn = len(self._announced) % _MAX_NAMES
        name = f"GITHUB_TOKEN_{turn}" if turn else "GITHUB_TOKEN"
        self._announced.add(token)
        self._learned(name, token)
        self._learned(f"{name}_FOR_GIT", git_authorization(token))


def git_authorization(token: str) -> str:
    """Return user and token encoded for an HTTP header."""
    return base64.b64encode(f"{GIT_USER}:{token}".encode()).decode()


async def token_from_gh(host: str, environ: Mapping[str, str]) -> str:
    """Return the token that `gh` has stored for the host; empty without `gh`. It makes no network request."""
    environment = {name: environ[name] for name in _GH_NEEDS if name in environ}
    try:
        ended = await run(
            ("gh", "auth", "token", "--hostname", host),
            cwd="/",
            env=environment | {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1"},
            seconds=_GH_SECONDS,
        )
    except (OSError, ProgramTimeout):
        return ""
    found = ended.out.content().decode("ascii", "ignore").strip()
    return found if ended.code == 0 and _TOKEN.fullmatch(found) else ""


# The token of a GitHub App for one installation: renewed early, requested with the app's own key.

RENEWAL_MARGIN_SECONDS = 300.0
"""Seconds before expiry at which it is renewed: a push must finish with the token it started with."""
_LONGEST_KEY = 64 * 1024


class _Installation(BaseModel):
    id: int


class _InstallationToken(BaseModel):
    token: str = Field(repr=False, pattern=r"^[!-~]+$")
    expires_at: AwareDatetime


@dataclass(frozen=True)
class _CachedToken:
    token: str = field(repr=False)
    until: float
    """In monotonic time."""


class AppTokens:
    def __init__(self, access: Access, address: Address, pace: ApiTiming) -> None:
        self._access = access
        self._address = address
        self._pace = pace
        self._cached: dict[str, _CachedToken] = {}

    async def token(self, slug: str) -> str:
        kept = self._cached.get(slug)
        if kept is None or kept.until < time.monotonic():
            kept = self._cached[slug] = await self._asked(slug)
        return kept.token

    def forget(self) -> None:
        self._cached.clear()

    def require(self) -> None:
        """Raise Refused if the app is configured incompletely, or its key cannot be used. Makes no request."""
        access = self._access
        wanted = {"GITHUB_APP_ID": access.app_id, "GITHUB_APP_KEY_FILE": access.app_key_file}
        if lacking := [name for name, value in wanted.items() if not value]:
            raise Refused(
                f"a GitHub App is configured in part: {' and '.join(lacking)} is missing",
                "Set what is missing, or take the other GITHUB_APP_ settings away.",
            )
        self._create_jwt(self._key())

    async def _asked(self, slug: str) -> _CachedToken:
        number = self._access.installation or await self._installation_of(slug)
        answer = await self._send("POST", f"/app/installations/{number}/access_tokens")
        try:
            ticket = _InstallationToken.model_validate_json(answer.body)
        except ValidationError:
            # not as the cause, which would show the answer
            raise invalid_answer_error("no token came of it") from None
        return _CachedToken(
            ticket.token, time.monotonic() + _lifetime(ticket.expires_at) - RENEWAL_MARGIN_SECONDS
        )

    async def _installation_of(self, slug: str) -> str:
        answer = await self._send("GET", f"/repos/{slug}/installation")
        try:
            return str(_Installation.model_validate_json(answer.body).id)
        except ValidationError as error:
            raise invalid_answer_error("the installation has no number") from error

    async def _send(self, verb: str, path: str) -> ApiAnswer:
        ticket = self._create_jwt(self._key())

        def call() -> ApiAnswer:
            from github import Auth

            github = open_client(Auth.AppAuthToken(ticket), self._address, self._pace)
            try:
                return send_request(github, verb, path, {}, {} if verb == "POST" else None)
            finally:
                github.close()

        try:
            answer = await in_own_thread(call, seconds=self._pace.whole)
        except Exception as error:
            raise as_port_error(error) from error
        if answer.status >= 300:
            raise self._refused(answer)
        return answer

    def _refused(self, answer: ApiAnswer) -> Exception:
        error = error_for(answer, "act as the GitHub App")
        if isinstance(error, Unavailable):
            return error
        return Refused(
            f"the GitHub App gets no token: {answer.message or f'HTTP {answer.status}'}",
            "Look at GITHUB_APP_ID and GITHUB_APP_INSTALLATION, and whether the app is installed for the repository.",
        )

    def _create_jwt(self, key: str) -> str:
        """Return a JWT that proves possession of the key for some minutes."""
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


def _lifetime(until: datetime) -> float:
    return max(0.0, until.timestamp() - time.time())
