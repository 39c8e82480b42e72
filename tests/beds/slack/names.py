"""The ids and words all of the played Slack uses; nothing here knows anything else of it."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

TEAM, OTHER_TEAM = "T0001", "T0999"
APP, BOT, BOT_ID = "A0BOT", "U0BOT", "B0BOT"
MIKA, AKI = "U0001", "U0002"
GUEST, EXTERNAL, OTHER_BOT = "U0GUEST", "U0EXT", "U0OTHERBOT"
PUBLIC, SECOND, PRIVATE = "C0001", "C0002", "C0PRIVATE"
FOREIGN, ARCHIVED = "C0FOREIGN", "C0ARCHIVED"
"""A public channel without the bot, and one that is closed."""
GROUP = "S0001"
"""A user group: Aki is in it."""

BOT_TOKEN = "xoxb-test"  # noqa: S105 - of the played workspace only
APP_TOKEN = "xapp-test"  # noqa: S105
SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"  # noqa: S105


class Refusal(Exception):  # noqa: N818 - read as a sentence: raise Refusal("no_text")
    """An answer of the Web API that is not ok."""

    def __init__(self, error: str, **more: object) -> None:
        super().__init__(error)
        self.answer: Json = {"ok": False, "error": error, **more}


class CannotDo(AssertionError):  # noqa: N818
    """Slack's own screen would not let a person do this."""
