"""The page speaks the language of its reader."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest
from jinja2 import Environment, nodes
from playwright.async_api import Browser, expect

from adapters.local.page import server
from adapters.local.page.frame import TABS
from adapters.local.page.texts import JAPANESE, in_language
from bot.core.people import Thread
from tests.adapters.local.page_stage import PageStage, needs_chromium

TEMPLATES = Path(server.__file__).parent / "templates"
HERE = Thread(platform="console", channel="terminal", root="1")


def said() -> set[str]:
    """Every text that a template has translated, as far as it stands there."""
    parsed = [
        Environment(autoescape=True).parse(path.read_text()) for path in TEMPLATES.glob("*.html")
    ]
    calls = [call for tree in parsed for call in tree.find_all(nodes.Call)]
    mine = [call for call in calls if isinstance(call.node, nodes.Name) and call.node.name == "t"]
    first = [call.args[0] for call in mine]
    return {
        one.value for one in first if isinstance(one, nodes.Const) and isinstance(one.value, str)
    }


def test_every_text_of_the_page_has_its_japanese() -> None:
    wanted = said() | {name for _, name in TABS}
    assert len(wanted) > 100
    assert sorted(wanted - set(JAPANESE)) == []


def test_what_the_server_refuses_is_said_in_the_language_of_the_reader() -> None:
    source = (
        Path(server.__file__).read_text() + (Path(server.__file__).parent / "door.py").read_text()
    )
    refusals = set(re.findall(r'raise web\.HTTP\w+\(\s*text="([^"]+)"', source))
    for_programs = {one for one in refusals if one not in JAPANESE}
    assert for_programs <= {
        "This is not the address of the page.",
        "Another page asked for this.",
        "Only the page itself may send this.",
        "The connection has ended.",
        "Only the owner of the bot may look at the page.",
    }
    assert len(refusals - for_programs) >= 5
    assert (
        in_language("There is nothing at this address.", "ja")
        != "There is nothing at this address."
    )
    assert (
        in_language("There is nothing at this address.", "en")
        == "There is nothing at this address."
    )


def test_a_sentence_with_figures_is_translated_with_them() -> None:
    assert in_language("Building: 2 of 13 tasks done", "ja") == "実装中: 2 / 13 タスク完了"
    assert in_language("Building: 2 of 13 tasks done", "en") == "Building: 2 of 13 tasks done"
    assert in_language("A title of 3 words", "ja") == "A title of 3 words"
    assert [text for text, told in JAPANESE.items() if text.count("#") != told.count("#")] == []


def test_a_translation_has_the_same_places_to_fill_in() -> None:
    def places(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    assert [text for text, told in JAPANESE.items() if places(text) != places(told)] == []


@needs_chromium
@pytest.mark.asyncio(loop_scope="session")
async def test_a_reader_of_japanese_reads_japanese(stage: PageStage, browser: Browser) -> None:
    context = await browser.new_context(locale="ja-JP")
    tab = await context.new_page()
    stage.tabs.append(tab)
    async with stage.page_server() as server:
        await stage.is_asked_here("Add discounts", HERE)
        await tab.goto(await server.address())
        await expect(tab.locator("h1")).to_have_text("ボード")
        await expect(tab.locator("html")).to_have_attribute("lang", "ja")
        await tab.click("#need h3 a")
        await expect(tab.locator("nav.tabs")).to_contain_text("計画")
        await expect(tab.locator(".msg.ask h2")).to_have_text("A few questions before I plan")
        words = await tab.locator("nav.rail, nav.tabs, .steps, .composer").all_inner_texts()
        assert not re.search(r"Board|Inbox|Thread|Request|Send", " ".join(words))
    await context.close()
