"""Check the bot's identity and permissions in its workspace, and who belongs to that workspace.

Anybody not known for certain is treated as an outsider.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import cast

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import (
    SlackAccess,
    error_code_behind,
    new_client,
    session_for,
    slack_errors,
)
from adapters.slack.deliveries import Payload, get_object, get_text
from bot.core.errors import Refused
from bot.core.people import Person, Thread

# Checks made before the bot listens: do the tokens work, does the app have the scopes it needs, and who is the bot?

REQUIRED_SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "im:history",
        "reactions:write",
        "users:read",
    }
)
"""The same scopes that the manifest asks for."""


@dataclass(frozen=True)
class Identity:
    """The bot's identity in the one workspace it is installed in."""

    team: str
    user: str
    """The user id of the bot, which people mention."""
    bot: str
    """The bot id that Slack attaches to the bot's own messages."""
    name: str = ""


async def check_access(access: SlackAccess, places: Collection[str]) -> str:
    """Check that Slack accepts the tokens and describe the connection.

    Changes nothing in Slack; raises Refused or Unavailable with the reason.
    """
    async with session_for(access) as session:
        us = await check_installation(new_client(access, session), access, places)
    way = "by socket" if access.by_socket else f"by requests to {access.host}:{access.port}"
    return f"Slack lets it in as {us.name or us.user} in the workspace {us.team}; it hears {way}"


async def check_installation(
    client: AsyncWebClient, access: SlackAccess, places: Collection[str]
) -> Identity:
    """Check everything that must be true before the bot listens.

    `places`: the channels of the allow-list, by full id.
    """
    us = await fetch_identity(client)
    if not any(place.partition(":")[0] == us.team for place in places):
        raise Refused(
            f"No channel in SLACK_CHANNELS is in the workspace of this token, {us.team}.",
            f"Write channels as {us.team}:C…, people as {us.team}:U….",
        )
    await require_event_delivery(client, access)
    return us


async def fetch_identity(client: AsyncWebClient) -> Identity:
    """Ask Slack whose token this is, and raise Refused unless it is a bot token with the required scopes."""
    with slack_errors("who am I"):
        told = await client.auth_test()
    _require_scopes(str(told.headers.get("x-oauth-scopes", "")))
    if not told.get("bot_id"):
        raise Refused(
            "SLACK_BOT_TOKEN is not the token of a bot.",
            "Copy the «Bot User OAuth Token» of the app; it begins with xoxb-.",
        )
    return Identity(
        team=str(told["team_id"]),
        user=str(told["user_id"]),
        bot=str(told["bot_id"]),
        name=str(told.get("user", "")),
    )


async def require_event_delivery(client: AsyncWebClient, access: SlackAccess) -> None:
    """Raise Refused unless events can reach the bot: Socket Mode is tried out, HTTP requests need a signing secret."""
    if access.by_socket:
        await _require_socket(client, access.app_token)
    elif not access.signing_secret:
        raise Refused(
            "Slack cannot be heard: there is neither an app token nor a signing secret.",
            "Set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (requests to this host).",
        )


async def _require_socket(client: AsyncWebClient, app_token: str) -> None:
    # The address Slack returns here is not used and expires by itself.
    try:
        with slack_errors("opening a socket"):
            await client.apps_connections_open(app_token=app_token)
    except Refused as refused:
        code = error_code_behind(refused)
        raise Refused(
            f"Slack does not let the bot listen: {code or refused.reason}.", _socket_remedy(code)
        ) from refused


def _socket_remedy(code: str) -> str:
    if code == "missing_scope":
        return "Give the app-level token the scope connections:write (Basic Information, App-Level Tokens)."
    if code == "not_allowed_token_type":
        return "SLACK_APP_TOKEN must be an app-level token: it begins with xapp-."
    return "Make a new app-level token with the scope connections:write, set it as SLACK_APP_TOKEN, and turn on Socket Mode."


def _require_scopes(header: str) -> None:
    # Slack lists the scopes in a response header. If the header is missing, a later call reports the missing scope.
    have = frozenset(scope.strip() for scope in header.split(",") if scope.strip())
    missing = sorted(REQUIRED_SCOPES - have) if have else []
    if missing:
        raise Refused(
            f"The Slack app lacks these scopes: {', '.join(missing)}.",
            "Give it the scopes in manifest.yml, and install it into the workspace again.",
        )


# Who a Slack user is, and whether they belong to this workspace.

PLATFORM = "slack"
_OUTSIDER_FLAGS = (
    "is_bot",
    "is_app_user",
    "is_restricted",
    "is_ultra_restricted",
    "is_stranger",
    "deleted",
)
_UNKNOWN_USER_ERRORS = frozenset({"user_not_found", "user_not_visible", "users_not_found"})


@dataclass(frozen=True)
class _PendingPerson:
    answer: asyncio.Task[Person]
    until: float


class WorkspaceMembers:
    """Look up people and cache each answer for a few minutes.

    Concurrent lookups of the same person share one request.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        team: str,
        *,
        monotonic: Callable[[], float],
        cache_seconds: float = 300.0,
        timeout: float = 2.5,
    ) -> None:
        self._client = client
        self._team = team
        self._monotonic = monotonic
        self._cache_seconds = cache_seconds
        self._timeout = timeout
        self._asked: dict[str, _PendingPerson] = {}

    async def person(self, user: str, home: str = "") -> Person:
        """Return the person; raise Unavailable if Slack cannot be asked.

        `home`: the workspace the event says the user comes from.
        """
        person = await self._known(user)
        if home and home != self._team:
            return person.model_copy(update={"id": f"{home}:{user}", "outsider": True})
        return person

    async def close(self) -> None:
        """Cancel all lookups that are under way."""
        tasks = [asked.answer for asked in self._asked.values()]
        self._asked.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _known(self, user: str) -> Person:
        asked = self._asked.get(user)
        if asked is None or asked.until < self._monotonic() or _has_failed(asked.answer):
            self._evict_expired()
            answer = asyncio.create_task(self._ask(user), name=f"who is {user}")
            asked = _PendingPerson(answer, self._monotonic() + self._cache_seconds)
            self._asked[user] = asked
        # one of the waiting callers may be cancelled; the others still need the answer
        return await asyncio.shield(asked.answer)

    async def _ask(self, user: str) -> Person:
        try:
            with slack_errors(f"who {user} is"):
                async with asyncio.timeout(self._timeout):
                    told = await self._client.users_info(user=user)
        except Refused as refused:
            if error_code_behind(refused) not in _UNKNOWN_USER_ERRORS:
                raise
            return Person(platform=PLATFORM, id=f"{self._team}:{user}", outsider=True)
        return person_from_profile(
            cast("Mapping[str, object]", told.get("user", {})), user, self._team
        )

    def _evict_expired(self) -> None:
        now = self._monotonic()
        old = [user for user, asked in self._asked.items() if asked.until < now]
        for user in old:
            if self._asked[user].answer.done():
                del self._asked[user]


def person_from_profile(user_info: Mapping[str, object], user: str, team: str) -> Person:
    """Build a Person from a user profile. Anybody who is not a full member of the workspace is an outsider."""
    profile = user_info.get("profile")
    names = cast("Mapping[str, object]", profile) if isinstance(profile, Mapping) else {}
    name = names.get("display_name") or user_info.get("real_name") or user_info.get("name") or ""
    alien = user_info.get("id") != user or user_info.get("team_id") != team
    outsider = alien or any(user_info.get(sign) for sign in _OUTSIDER_FLAGS)
    return Person(platform=PLATFORM, id=f"{team}:{user}", name=str(name), outsider=outsider)


def _has_failed(answer: asyncio.Task[Person]) -> bool:
    return answer.done() and (answer.cancelled() or answer.exception() is not None)


# Channels shared with another organisation (Slack Connect): whatever the bot posts there is read by outsiders, so it
# does not work in them unless the operator allows it. Slack says for every message whether its channel is shared, but
# not for a button press: the last thing said about the channel counts.

log = logging.getLogger("bot.slack")


class SharedChannels:
    """Remember which channels are shared with another organisation.

    `allowed`: full ids of shared channels in which the operator wants the bot anyway.
    """

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = frozenset(allowed)
        self._channels: set[str] = set()

    def note(self, body: Payload, team: str) -> None:
        channel = get_text(get_object(body, "event"), "channel")
        if not channel or "is_ext_shared_channel" not in body:
            return
        place = f"{team}:{channel}"
        if not body["is_ext_shared_channel"]:
            self._channels.discard(place)
        elif place not in self._channels:
            self._channels.add(place)
            if place not in self._allowed:
                log.warning(
                    "a channel is shared, so I do not work there",
                    extra={"data": {"channel": place}},
                )

    def mark_outsider(self, thread: Thread, by: Person) -> Person:
        """Return the person, as an outsider if the channel is shared and not allowed."""
        barred = thread.place in self._channels and thread.place not in self._allowed
        return by.model_copy(update={"outsider": True}) if barred else by
