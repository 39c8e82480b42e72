"""Every screen of the page as a picture, in light, in dark and on a phone, compared with the one that somebody has looked at.

GWT_BOT_TAKE_PICTURES=1 takes them anew; then look at them before they are committed. Another version of the browser, or other fonts,
draw letters differently: with them nothing is compared, which the tests say.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from bot.cli.page import BotPage
from bot.core.people import Thread
from tests.adapters.local.page_stage import PageStage, needs_chromium
from tests.adapters.local.session_here import is_building

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]

PICTURES = Path(__file__).parent / "pictures"
MADE_WITH = PICTURES / "made_with.txt"
TAKING = os.environ.get("GWT_BOT_TAKE_PICTURES") == "1"
BEGIN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
OTHER = Thread(platform="console", channel="page", root="other")
MOST_PIXELS = 50
"""Pixels that may differ: edges of letters."""
LOOKS = {"light": ("light", 1200, 800), "dark": ("dark", 1200, 800), "phone": ("light", 360, 740)}
SCREENS = {
    "board": "",
    "new": "new",
    "inbox": "inbox",
    "intents": "intents",
    "branches": "branches",
    "history": "history",
    "doctor": "doctor",
    "thread": "s/{id}",
    "plan": "s/{id}/plan",
    "tasks": "s/{id}/tasks",
    "panes": "s/{id}/panes",
    "changes": "s/{id}/changes",
    "result": "s/{id}/result",
    "log": "s/{id}/log",
}
LETTERS = """() => {
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d')
  for (const [line, font] of ['14px Inter, system-ui, sans-serif', '600 14px system-ui', '13px ui-monospace, monospace'].entries()) {
    context.font = font
    context.fillText('Hamburgefonts 0123 (→ ✓)', 4, 20 + 24 * line)
  }
  return canvas.toDataURL()
}"""
"""How this machine draws letters."""
DIFFERENCE = """async ([one, other]) => {
  const drawn = async data => {
    const image = new Image()
    image.src = 'data:image/png;base64,' + data
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    const context = canvas.getContext('2d', {willReadFrequently: true})
    context.drawImage(image, 0, 0)
    return context.getImageData(0, 0, image.width, image.height)
  }
  const [a, b] = [await drawn(one), await drawn(other)]
  if (a.width !== b.width || a.height !== b.height) return 1e9
  let differing = 0
  for (let at = 0; at < a.data.length; at += 4)
    if (a.data[at] !== b.data[at] || a.data[at + 1] !== b.data[at + 1] || a.data[at + 2] !== b.data[at + 2]) differing++
  return differing
}"""


FOUND = (
    {"what": "tmux", "ok": True, "says": "is there, and new enough", "remedy": "", "needed": True},
    {
        "what": "model",
        "ok": False,
        "says": "AI settings are required",
        "remedy": "Set OPENAI_MODEL.",
        "needed": True,
    },
    {
        "what": "agent codex",
        "ok": False,
        "says": "is not on the PATH",
        "remedy": "Install it.",
        "needed": False,
    },
)


def found(_: BotPage, *, again: bool) -> tuple[Sequence[Mapping[str, object]], bool]:
    """What a doctor finds on some machine."""
    return FOUND, False


async def is_worth_a_look(stage: PageStage) -> str:
    """One session that builds and one that asks; return the id of the first."""
    session = await is_building(stage)
    await stage.clock.advance(timedelta(minutes=4).total_seconds())
    await stage.agents_work(rounds=1)
    await stage.clock.advance(timedelta(minutes=2).total_seconds())
    await stage.is_asked_here("Add a receipt", OTHER)
    return session.id


@pytest.mark.parametrize("look", LOOKS)
async def test_every_screen_looks_as_it_was_seen(
    tmp_path: Path, browser: Browser, look: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BotPage, "checks", found)
    judge = await browser.new_page()
    drawn = await drawn_with(judge, browser)
    scheme, width, height = LOOKS[look]
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    stage = PageStage(tmp_path, BEGIN)
    tab = await context.new_page()
    stage.tabs.append(tab)
    async with stage.page_server() as server:
        id = await is_worth_a_look(stage)
        await tab.clock.set_fixed_time(stage.clock.now() + timedelta(minutes=3))
        await tab.goto(await server.address())
        await expect(tab.locator("#state")).to_contain_text("Live")
        different: dict[str, int] = {}
        for name, path in SCREENS.items():
            picture = await taken(tab, path.format(id=id))
            file = PICTURES / f"{name}-{look}.png"
            if TAKING:
                file.write_bytes(picture)
                continue
            pair = [base64.b64encode(one).decode() for one in (picture, file.read_bytes())]
            if (pixels := await judge.evaluate(DIFFERENCE, pair)) > MOST_PIXELS:
                different[name] = pixels
                (tmp_path / file.name).write_bytes(picture)
        assert different == {}, f"see {tmp_path}"
    if TAKING:
        MADE_WITH.write_text(drawn + "\n")
    await judge.close()
    await context.close()


async def drawn_with(judge: Page, browser: Browser) -> str:
    """Say what draws the pictures here; skip where that is not what drew those that are kept."""
    letters = hashlib.sha256((await judge.evaluate(LETTERS)).encode()).hexdigest()[:12]
    drawn = f"Chromium {browser.version}, letters {letters}"
    known = MADE_WITH.read_text().strip() if MADE_WITH.exists() else ""
    if not TAKING and known != drawn:
        await judge.close()
        pytest.skip(f"the pictures were made with {known}; here it is {drawn}")
    return drawn


async def taken(tab: Page, path: str) -> bytes:
    await tab.evaluate("path => { location.hash = '#/' + path }", path)
    await expect(tab.locator("#view")).to_have_attribute("data-path", path)
    await tab.evaluate("document.fonts.ready.then(() => true)")
    return await tab.screenshot(animations="disabled", caret="hide")
