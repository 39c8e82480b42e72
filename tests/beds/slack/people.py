"""Who is in the played workspace and where they talk: every sort of person a real one has."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.beds.slack.names import (
    AKI,
    APP,
    ARCHIVED,
    BOT,
    BOT_ID,
    EXTERNAL,
    FOREIGN,
    GUEST,
    MIKA,
    OTHER_BOT,
    OTHER_TEAM,
    PRIVATE,
    PUBLIC,
    SECOND,
    TEAM,
    Json,
)

SCOPE_OF_KIND = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}


@dataclass(frozen=True)
class User:
    id: str
    name: str
    team: str = TEAM
    bot_id: str = ""
    app: str = ""
    is_restricted: bool = False
    deleted: bool = False

    @property
    def is_stranger(self) -> bool:
        return self.team != TEAM

    def json(self) -> Json:
        return {
            "id": self.id,
            "team_id": self.team,
            "name": self.name.lower(),
            "deleted": self.deleted,
            "real_name": self.name,
            "tz": "Asia/Tokyo",
            "profile": {"real_name": self.name, "display_name": self.name, "team": self.team},
            "is_admin": False,
            "is_bot": bool(self.bot_id),
            "is_app_user": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": False,
            "is_stranger": self.is_stranger,
        }


@dataclass
class Channel:
    id: str
    name: str
    kind: str = "channel"
    members: set[str] = field(default_factory=set[str])
    archived: bool = False
    shared: bool = False

    @property
    def scope(self) -> str:
        """The first half of the scopes and message events about it."""
        return SCOPE_OF_KIND[self.kind]

    @property
    def called(self) -> str:
        """Its name as interactions tell it."""
        return {"im": "directmessage", "group": "privategroup"}.get(self.kind, self.name)

    def json(self) -> Json:
        about: Json = {
            "id": self.id,
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_im": self.kind == "im",
            "is_mpim": self.kind == "mpim",
            "is_private": self.kind != "channel",
            "is_archived": self.archived,
            "is_ext_shared": self.shared,
            "context_team_id": TEAM,
        }
        if self.kind == "im":
            return about | {"user": next(iter(self.members - {BOT}))}
        return about | {"name": self.name, "is_member": BOT in self.members}


def everybody() -> dict[str, User]:
    people = (
        User(BOT, "gwt", bot_id=BOT_ID, app=APP),
        User(MIKA, "Mika"),
        User(AKI, "Aki"),
        User(GUEST, "Guest", is_restricted=True),
        User(EXTERNAL, "Ext", team=OTHER_TEAM),
        User(OTHER_BOT, "Otherbot", bot_id="B0OTHER", app="A0OTHER"),
    )
    return {one.id: one for one in people}


def everywhere() -> dict[str, Channel]:
    insiders = {MIKA, AKI, GUEST, OTHER_BOT}
    places = (
        Channel(PUBLIC, "dev", members=insiders | {BOT, EXTERNAL}, shared=True),
        Channel(SECOND, "ops", members=insiders | {BOT}),
        Channel(PRIVATE, "secret", kind="group", members={MIKA, BOT}),
        Channel(FOREIGN, "random", members=set(insiders)),
        Channel(ARCHIVED, "old", members=insiders | {BOT}, archived=True),
    )
    return {one.id: one for one in places}
