"""The bot's own page: what waits, what is at work, what has ended, and whether all is well."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.core import overview, sheets
from bot.core.cards import HomeCard
from bot.core.choices import Choice, Style, Verb
from bot.core.people import Thread
from tests.looks.catalogue.entry import Entry
from tests.looks.catalogue.sample import MIKA, NOW, THREAD, at, planned


@dataclass
class Listing:
    """A line of the index."""

    id: str
    title: str
    status: str
    phase: str
    updated_at: datetime
    thread: Thread = THREAD
    repository: str = ""


LISTED = [
    Listing("1a2b3c4d-", "Add a dark mode to the settings page", "Active", "executing", NOW),
    Listing("5e6f7a8b-", "ログイン画面を追加する", "Completed", "done", at(-3000)),
    Listing("9c8d7e6f-", "Take payments", "Paused", "approving", at(-240)),
    Listing("0f1e2d3c-", "Move the search to the server", "Failed", "executing", at(-9000)),
]
_BEGIN = Choice(label="Start a feature", verb=Verb.BEGIN, style=Style.PRIMARY)
_MODEL = Choice(label="Model and endpoint", verb=Verb.SETTINGS)
_HEALTH = (
    ("Model", "gpt-5.2 at https://llm.example/v1"),
    ("tmux", "2 panes"),
    ("GitHub", "pull requests"),
    ("Agents", "2 agents at work"),
)
_SETTINGS = (
    ("Repository", "/srv/repositories/acme/webshop"),
    ("Agent", "claude"),
    ("Tests", "npm test"),
    ("You may", "ask for work, approve, stop"),
)


def entries() -> tuple[Entry, ...]:
    empty = HomeCard(
        key="home:U0001", health=_HEALTH, settings=_SETTINGS, choices=(_BEGIN,), at=NOW
    )
    missing = ("Model", "AI settings are required: set OPENAI_BASE_URL and OPENAI_MODEL in .env")
    broken = empty.model_copy(
        update={"health": (missing, *_HEALTH[1:]), "choices": (_BEGIN, _MODEL)}
    )
    busy = empty.model_copy(
        update={
            "waiting": _items(overview.inbox([planned()], THREAD, MIKA, at(12))),
            "running": _items(overview.sessions(LISTED[:1], THREAD, at(8))),
            "recent": _items(overview.sessions(LISTED[1:2], THREAD, at(8))),
            "branches": ("agent/theme-module · T001 Completed · 1a2b3c4d",),
            "choices": (_BEGIN, _MODEL),
        }
    )
    return (
        Entry("home/nothing yet", empty, private=True),
        Entry("home/busy", busy, private=True),
        Entry("home/settings missing", broken, private=True),
    )


def _items(body: tuple[sheets.Element, ...]) -> tuple[sheets.Entry, ...]:
    return tuple(item for one in body if isinstance(one, sheets.Entries) for item in one.items)
