"""Before anything is heard: do the tokens work, may the app do what it must, and who is it? Else a clear word."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.access import SlackAccess, asking, code_behind, new_client, session_for
from bot.errors import Refused

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
"""The manifest asks for exactly these."""


@dataclass(frozen=True)
class Identity:
    """Who the bot is in the one workspace it is installed in."""

    team: str
    user: str
    """What people mention."""
    bot: str
    """What stands beside its own messages."""
    name: str = ""


async def tried(access: SlackAccess, places: Collection[str]) -> str:
    """What Slack says to who would begin to listen now. Nothing changes there; the reason is raised where it says no."""
    async with session_for(access) as session:
        us = await let_in(new_client(access, session), access, places)
    way = "by socket" if access.by_socket else f"by requests to {access.host}:{access.port}"
    return f"Slack lets it in as {us.name or us.user} in the workspace {us.team}; it hears {way}"


async def let_in(client: AsyncWebClient, access: SlackAccess, places: Collection[str]) -> Identity:
    """All that has to be true before the bot listens. `places`: the channels of the allow-list, by full id."""
    us = await identity(client)
    if not any(place.partition(":")[0] == us.team for place in places):
        raise Refused(
            f"No channel in SLACK_CHANNELS is in the workspace of this token, {us.team}.",
            f"Write channels as {us.team}:C…, people as {us.team}:U….",
        )
    await require_way_in(client, access)
    return us


async def identity(client: AsyncWebClient) -> Identity:
    """Ask Slack who this token is, and whether it may do what is needed."""
    with asking("who am I"):
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


async def require_way_in(client: AsyncWebClient, access: SlackAccess) -> None:
    """Whether Slack can be heard at all: by socket, Slack is asked; by requests, they must be signed."""
    if access.by_socket:
        await _require_socket(client, access.app_token)
    elif not access.signing_secret:
        raise Refused(
            "Slack cannot be heard: there is neither an app token nor a signing secret.",
            "Set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (requests to this host).",
        )


async def _require_socket(client: AsyncWebClient, app_token: str) -> None:
    """The address that is given out here is not used, and lapses."""
    try:
        with asking("opening a socket"):
            await client.apps_connections_open(app_token=app_token)
    except Refused as refused:
        code = code_behind(refused)
        raise Refused(
            f"Slack does not let the bot listen: {code or refused.reason}.", _socket_remedy(code)
        ) from refused


def _socket_remedy(code: str) -> str:
    if code == "missing_scope":
        return "Give the app-level token the scope connections:write (Basic Information, App-Level Tokens)."
    if code == "not_allowed_token_type":
        return "SLACK_APP_TOKEN must be an app-level token: it begins with xapp-."
    return "Make a new app-level token with the scope connections:write, set it as SLACK_APP_TOKEN, and turn on Socket Mode."


def _require_scopes(told: str) -> None:
    """Slack names them in a header; where it does not, calls will tell."""
    have = frozenset(scope.strip() for scope in told.split(",") if scope.strip())
    missing = sorted(REQUIRED_SCOPES - have) if have else []
    if missing:
        raise Refused(
            f"The Slack app lacks these scopes: {', '.join(missing)}.",
            "Give it the scopes in manifest.yml, and install it into the workspace again.",
        )
