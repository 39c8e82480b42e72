"""A strict Slack on the loopback: it refuses what Slack refuses, and does to an app whatever Slack may do to it."""

from tests.beds.slack import invariants
from tests.beds.slack.api import Call
from tests.beds.slack.deliveries import Attempt, Delivery
from tests.beds.slack.faults import Faults
from tests.beds.slack.leeway import Leeway
from tests.beds.slack.messages import Message
from tests.beds.slack.names import (
    AKI,
    APP,
    APP_TOKEN,
    ARCHIVED,
    BOT,
    BOT_ID,
    BOT_TOKEN,
    EXTERNAL,
    FOREIGN,
    GROUP,
    GUEST,
    MIKA,
    OTHER_BOT,
    OTHER_TEAM,
    PRIVATE,
    PUBLIC,
    SECOND,
    SIGNING_SECRET,
    TEAM,
    CannotDo,
)
from tests.beds.slack.people import Channel, User
from tests.beds.slack.scopes import Grants
from tests.beds.slack.server import SlackBed
from tests.beds.slack.workspace import View

__all__ = [
    "AKI",
    "APP",
    "APP_TOKEN",
    "ARCHIVED",
    "BOT",
    "BOT_ID",
    "BOT_TOKEN",
    "EXTERNAL",
    "FOREIGN",
    "GROUP",
    "GUEST",
    "MIKA",
    "OTHER_BOT",
    "OTHER_TEAM",
    "PRIVATE",
    "PUBLIC",
    "SECOND",
    "SIGNING_SECRET",
    "TEAM",
    "Attempt",
    "Call",
    "CannotDo",
    "Channel",
    "Delivery",
    "Faults",
    "Grants",
    "Leeway",
    "Message",
    "SlackBed",
    "User",
    "View",
    "invariants",
]
