"""The chat platforms that are configured, and who may use the bot through each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module

from bot.core.choices import Verb
from bot.core.errors import SettingsError
from bot.core.events import Opened
from bot.core.gate import DIRECT, Door, may_ask, role_for
from bot.core.people import Person, Role
from bot.ports import Chat
from bot.settings import EncryptedApprovals, Settings

_OURS = frozenset({"adapters", "bot"})


@dataclass(frozen=True)
class ConfiguredChat:
    """A chat platform to serve."""

    name: str
    door: Door
    build: Callable[[], AbstractAsyncContextManager[Chat]]
    """Connects; raises on entry if the platform does not accept the bot."""
    tried: Callable[[], Awaitable[str]]
    """Asks the platform whether it accepts the bot, without changing anything.

    Returns a description of the access; raises PortError if it is denied.
    """


def configured_chats(settings: Settings) -> list[ConfiguredChat]:
    """Return every platform that has a key or an account.

    Raises SettingsError that lists everything missing, for all platforms.
    """
    builders: list[Callable[[Settings], ConfiguredChat]] = []
    missing: list[str] = []
    if _wants_slack(settings):
        missing += (*_missing_slack_settings(settings), *_missing_packages("Slack", "slack"))
        builders.append(_slack)
    if _wants_matrix(settings):
        missing += (*_missing_matrix_settings(settings), *_missing_packages("Matrix", "matrix"))
        builders.append(_matrix)
    if not builders:
        missing.append(
            "No chat is configured. README says how to set up Slack and Matrix; without either there is gwt-bot console"
        )
    if missing:
        raise SettingsError("\n  ".join(["The settings do not allow a start:", *missing]))
    return [build(settings) for build in builders]


def is_any_chat_configured(settings: Settings) -> bool:
    """Whether any chat is configured, even partly."""
    return _wants_slack(settings) or _wants_matrix(settings)


def _wants_slack(settings: Settings) -> bool:
    keys = (settings.slack_bot_token, settings.slack_app_token, settings.slack_signing_secret)
    return any(keys)


def _wants_matrix(settings: Settings) -> bool:
    return bool(settings.matrix_homeserver or settings.matrix_user or settings.matrix_access_token)


def accepts_invitation(door: Door, inviter: str, room: str, direct: bool) -> bool:
    """Whether the bot accepts this invitation: only into a listed room, and only from a user who may start work."""
    places = door.places or frozenset()
    return inviter in door.people[Role.START] and (room in places or (direct and DIRECT in places))


def approval_verbs() -> frozenset[Verb]:
    """Return the verbs that only approvers may use."""
    nobody, ever = Person(platform="", id=""), datetime(1970, 1, 1, tzinfo=UTC)
    presses = (Opened(id="", at=ever, by=nobody, verb=verb) for verb in Verb)
    return frozenset(one.verb for one in presses if role_for(one) is Role.APPROVE)


def _missing_slack_settings(settings: Settings) -> list[str]:
    wanted = (
        (settings.slack_bot_token, "SLACK_BOT_TOKEN is missing: the bot token, xoxb-…"),
        (
            settings.slack_app_token or settings.slack_signing_secret,
            "SLACK_APP_TOKEN is missing (xapp-…, Socket Mode), or SLACK_SIGNING_SECRET (HTTP mode)",
        ),
        (settings.slack_users, "SLACK_USERS is missing: who may ask for work; empty means nobody"),
        (settings.slack_channels, "SLACK_CHANNELS is missing: where; empty means nowhere"),
    )
    return [what for value, what in wanted if not value]


def _missing_matrix_settings(settings: Settings) -> list[str]:
    wanted = (
        (settings.matrix_homeserver, "MATRIX_HOMESERVER is missing: its address, https://…"),
        (settings.matrix_user, "MATRIX_USER is missing: the bot's own full id, @gwt:example.org"),
        (
            settings.matrix_access_token,
            "MATRIX_ACCESS_TOKEN is missing: an access token of that user",
        ),
        (
            settings.matrix_users,
            "MATRIX_USERS is missing: who may ask for work; empty means nobody",
        ),
        (settings.matrix_rooms, "MATRIX_ROOMS is missing: where; empty means nowhere"),
    )
    return [what for value, what in wanted if not value]


def _missing_packages(platform: str, adapter: str) -> Iterator[str]:
    # The extra that installs an adapter's packages has the adapter's name.
    try:
        import_module(f"adapters.{adapter}.chat")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in _OURS:
            raise
        yield f"{platform} is configured, and {package} is not installed: pip install 'gwt-bot[{adapter}]'"


def _slack(settings: Settings) -> ConfiguredChat:
    from adapters.slack.access import check_access
    from adapters.slack.chat import SlackChat
    from adapters.slack.client import SlackAccess

    door = _make_door(
        settings.slack_users,
        settings.slack_channels,
        approve=settings.slack_approvers,
        stop=settings.slack_stoppers,
        admin=settings.slack_admins,
    )
    access = SlackAccess(
        bot_token=settings.slack_bot_token.get_secret_value(),
        app_token=settings.slack_app_token.get_secret_value(),
        signing_secret=settings.slack_signing_secret.get_secret_value(),
        host=settings.slack_http_host,
        port=settings.slack_http_port,
        api_url=f"{settings.slack_api_url}/",
    )
    folder = settings.gwt_home / "slack"
    places, shared = settings.slack_channels, settings.slack_shared_channels
    asks = partial(may_ask, "slack", door)
    several = len(settings.repositories) > 1
    return ConfiguredChat(
        "slack",
        door,
        lambda: SlackChat(
            access, folder, places, shared=shared, may_ask=asks, several_repositories=several
        ),
        partial(check_access, access, places),
    )


def _matrix(settings: Settings) -> ConfiguredChat:
    from adapters.matrix.chat import MatrixChat
    from adapters.matrix.client import MatrixAccess, check_access

    door = _make_door(
        settings.matrix_users,
        settings.matrix_rooms,
        approve=settings.matrix_approvers,
        stop=settings.matrix_stoppers,
        admin=settings.matrix_admins,
    )
    access = MatrixAccess(
        homeserver=settings.matrix_homeserver,
        user_id=settings.matrix_user,
        access_token=settings.matrix_access_token.get_secret_value(),
        password=settings.matrix_password.get_secret_value(),
    )
    only_text = settings.matrix_encrypted_approvals is EncryptedApprovals.TEXT
    by_words = approval_verbs() if only_text else frozenset[Verb]()
    welcome = partial(accepts_invitation, door)
    folder = settings.gwt_home / "matrix"
    asks = partial(may_ask, "matrix", door)
    return ConfiguredChat(
        "matrix",
        door,
        lambda: MatrixChat(access, folder, welcome, typed_verbs=by_words, may_request=asks),
        partial(check_access, access),
    )


def _make_door(
    people: frozenset[str],
    places: frozenset[str],
    *,
    approve: frozenset[str],
    stop: frozenset[str],
    admin: frozenset[str],
) -> Door:
    """Return the door of a platform.

    A role without names falls to everybody who may start work; a role with names is theirs alone.
    """
    roles = {
        Role.START: people,
        Role.APPROVE: approve or people,
        Role.STOP: stop or people,
        Role.ADMIN: admin or people,
        Role.OPERATE: admin,
    }
    return Door(roles, places)
