"""A session in a thread of the local page, moved on without the page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.core import approval
from bot.core.choices import Verb
from bot.core.events import Pressed, Said
from bot.core.people import Thread
from bot.core.session import Session
from tests.adapters.local.page_stage import ME, PageStage

HERE = Thread(platform="console", channel="page", root="here")


async def presses(stage: PageStage, verb: Verb, about: str = "", text: str = "") -> None:
    await stage.tell(Pressed(**_mark(stage), verb=verb, about=about, text=text), HERE)


async def is_building(stage: PageStage, request: str = "Add discounts") -> Session:
    """From the request to agents at work."""
    await stage.tell(Said(**_mark(stage), text=request), HERE)
    await presses(stage, Verb.DEFAULTS)
    await presses(stage, Verb.APPROVE, approval.offer(stage.session(HERE)))
    return stage.session(HERE)


def _mark(stage: PageStage) -> Any:
    stage.heard += 1
    return {"id": f"here-{stage.heard}", "at": datetime.now(UTC), "by": ME}
