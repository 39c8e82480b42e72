"""The plan on the local page: comments on lines, revisions by word, the approval beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, expect

from adapters.local.page.server import PageServer
from bot.core import approval
from bot.core.cards import NewsCard
from bot.core.choices import Verb
from bot.core.gate import Gate, single_list_doors
from bot.core.people import Thread
from bot.core.session import Session
from bot.core.states import Phase
from tests.adapters.local.page_stage import PageStage, needs_chromium, obstacles
from tests.fakes.chat import ANNA, THREAD, MemoryChat
from tests.fakes.llm import Call
from tests.stories.stage import SPEC

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]

HERE = Thread(platform="console", channel="terminal", root="1")
SECOND = SPEC.replace("MUST take a code", "MUST take one code").replace(
    "- One currency.", "- One currency.\n- Nobody stacks codes."
)
HOSTILE = SPEC + "".join(
    f"\n{line}\n"
    for line in (
        "<script>window.hit = 1</script> <img src=x onerror='window.hit = 1'>",
        '- <b hx-post="/press" hx-trigger="load">press</b> <i data-press="x" autofocus>y</i>',
        "![x](http://e.example/x.png) [home](//e.example/x) [run](javascript:window.hit=1)",
        "\u202eright to left\u202c and \u200bnothing",
        "word " * 1_000,
    )
)


class PlanStage(PageStage):
    """The model writes these specs, one revision after the other."""

    specs: tuple[str, str] = (SPEC, SECOND)

    def model(self, call: Call) -> str:
        if call.system.startswith("# specify"):
            told = json.loads(call.data)
            return self.specs[-1 if told.get("change_request") else 0]
        return super().model(call)

    def only(self) -> Session:
        (listed,) = self.store.sessions()
        record = self.store.find(listed.id)
        assert record
        return record.session

    async def something_happens(self) -> None:
        """The page is told of a change, and draws itself again."""
        card = NewsCard(key=f"news:{self.clock.new_id()}", title="Something happened")
        await self.local.show(self.only().thread, card)


@pytest.fixture
def stage(tmp_path: Path) -> PlanStage:
    return PlanStage(tmp_path)


async def asks(server: PageServer, tab: Page) -> None:
    await tab.goto(await server.address())
    await tab.click("text=New request")
    await tab.fill("#request-text", "Add discounts")
    await tab.click("text=Ask for it")


async def plans(server: PageServer, tab: Page) -> None:
    await asks(server, tab)
    await tab.click("text=Send answers")
    await tab.click("nav.tabs >> text=Plan")
    await expect(tab.locator("#ap")).to_have_text("Approve revision 1?")


async def comments(tab: Page, line: str, text: str) -> None:
    await tab.hover(line)
    await tab.click(f"{line} .say")
    await tab.keyboard.type(text)
    await tab.keyboard.press("Control+Enter")


async def test_comments_leave_together_and_come_back_as_a_revision_by_word(
    stage: PlanStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        await plans(server, tab)
        await comments(tab, ".l:has-text('MUST take a code')", "One of a list.")
        await comments(tab, ".l:has-text('One currency')", "Say that nobody stacks codes.")
        await expect(tab.locator(".side .count[data-drafts='']")).to_have_text("2")
        await tab.click("text=Request changes")
        await expect(tab.locator("#ap")).to_have_text("Approve revision 2?")
        assert stage.only().plan.change_request == (
            "spec.md line 20:\n> FR-001: The basket MUST take a code.\nOne of a list.\n\n"
            "spec.md line 30:\n> One currency.\nSay that nobody stacks codes."
        )
        await expect(tab.locator(".note")).to_have_count(0)
        await expect(tab.locator(".doc del")).to_have_text(["a"])
        await expect(tab.locator(".doc ins")).to_have_text(["one", "Nobody stacks codes."])
        await expect(tab.locator("#tab-spec")).to_contain_text("+2 −1")
        await expect(tab.locator(".fold").first).to_contain_text("lines that did not change")
        await tab.select_option("#compare-with", label="revision 2 alone")
        await expect(tab.locator(".doc ins")).to_have_count(0)
        await tab.keyboard.press("[")
        await expect(tab.locator(".doc ins")).to_have_count(2)
        await tab.click("text=All of it")
        await expect(tab.locator(".fold")).to_have_count(0)


async def test_a_draft_survives_updates_and_a_reload(stage: PlanStage, tab: Page) -> None:
    async with stage.page_server() as server:
        await plans(server, tab)
        await comments(tab, ".l:has-text('One currency')", "Which one?")
        await tab.click(".l:has-text('MUST take a code') .say", force=True)
        await tab.keyboard.type("One of")
        drawn = int(await tab.inner_text(".tabs .count"))
        await stage.something_happens()
        await expect(tab.locator(".tabs .count").first).to_have_text(str(drawn + 1))
        await tab.keyboard.type(" a list")
        await expect(tab.locator("textarea:focus")).to_have_value("One of a list")
        await tab.reload()
        await expect(tab.locator(".note textarea")).to_have_value("One of a list")
        await expect(tab.locator(".note .text")).to_have_text("Which one?")
        await tab.click(".note >> text=Delete")
        await expect(tab.locator(".note")).to_have_count(1)


async def test_a_plan_is_read_commented_and_approved_by_keyboard(
    stage: PlanStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        await plans(server, tab)
        keys = tab.keyboard
        for key in ("j", "j", "j", "c"):
            await keys.press(key)
        await keys.type("Why?")
        await keys.press("Control+Enter")
        await expect(tab.locator(".note")).to_contain_text("spec.md line 3")
        await keys.press("a")
        await keys.press("Enter")
        await expect(tab.locator("#ask-title")).to_have_text(
            "Approve, and leave your comments unsent?"
        )
        await keys.press("Escape")
        assert stage.only().phase is Phase.APPROVING
        await tab.focus(".side [data-sends]")
        await keys.press("Enter")
        await expect(tab.locator("#ap")).to_have_text("Approve revision 2?")
        await keys.press("n")
        await expect(tab.locator(".l.on")).to_contain_text("MUST take")
        await keys.press("n")
        await expect(tab.locator(".l.on")).to_contain_text("Nobody stacks codes")
        await keys.press("p")
        await expect(tab.locator(".l.on")).to_contain_text("MUST take")
        await keys.press("a")
        await keys.press("Enter")
        await expect(tab.locator("#who")).to_be_visible()
        granted = stage.only().approval.granted
        assert granted
        assert granted.revision == 2
        shown = tab.locator("section:has(#who)")
        await expect(shown).to_contain_text(f"revision 2, {granted.digest[:12]}")
        await expect(shown).to_contain_text("Mika")


async def test_a_comment_on_an_earlier_revision_stays_with_its_line(
    stage: PlanStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        await plans(server, tab)
        await comments(tab, ".l:has-text('One currency')", "Which one?")
        await tab.click("nav.tabs >> text=Thread")
        await tab.click(".ask >> text=Request changes")
        await tab.fill("#ask-text", "Something else")
        await tab.click("#ask-yes")
        await tab.click("nav.tabs >> text=Plan")
        await expect(tab.locator("#ap")).to_have_text("Approve revision 2?")
        note = tab.locator("#n-old .note")
        await expect(note).to_contain_text("spec.md line 30 · revision 1")
        await expect(note.locator("blockquote")).to_have_text("One currency.")


async def test_before_the_plan_its_screen_says_what_will_stand_there(
    stage: PlanStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        await asks(server, tab)
        await tab.click("nav.tabs >> text=Plan")
        await expect(tab.locator("#no-plan")).to_have_text("There is no plan yet")


async def test_a_hostile_document_stays_text(stage: PlanStage, tab: Page) -> None:
    stage.specs = (HOSTILE, HOSTILE)
    async with stage.page_server() as server:
        await plans(server, tab)
        doc = tab.locator("#doc")
        await expect(doc).to_contain_text("<script>window.hit = 1</script>")
        await expect(doc).to_contain_text('<b hx-post="/press" hx-trigger="load">press</b>')
        await expect(doc).to_contain_text("right to left and nothing")
        assert (
            await doc.locator("script, img, b, [hx-post], [data-press], [autofocus]").count() == 0
        )
        links = await doc.locator("a").evaluate_all("all => all.map((one) => one.href)")
        assert links == ["http://e.example/x.png"]
        assert await tab.evaluate("window.hit") is None
        await comments(tab, ".l:has-text('<script>')", "<img src=x onerror='window.hit = 1'>")
        await expect(tab.locator(".note .text")).to_contain_text("<img src=x")
        assert await tab.evaluate("window.hit") is None


async def test_the_plan_fits_a_phone_and_keeps_the_answer_in_reach(
    stage: PlanStage, tab: Page
) -> None:
    stage.specs = (HOSTILE, HOSTILE)
    await tab.set_viewport_size({"width": 360, "height": 740})
    async with stage.page_server() as server:
        await tab.goto(await server.address())
        await tab.click("header >> [aria-label='New request']")
        await tab.fill("#request-text", "Add discounts")
        await tab.click("text=Ask for it")
        await tab.click("text=Send answers")
        await tab.click("nav.tabs >> text=Plan")
        await expect(tab.locator(".sticky .btn")).to_have_text(["Request changes", "Approve"])
        assert await tab.evaluate("document.documentElement.scrollWidth") == 360
        await tab.click("#l-spec-1-20 .say")
        await tab.fill(".note textarea", "One of a list.")
        await expect(tab.locator(".sticky .count")).to_have_text("1")
        await tab.click(".sticky >> text=Approve")
        await expect(tab.locator("#ask-title")).to_be_visible()
        await tab.click("#ask-yes")
        await expect(tab.locator("#who")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
async def test_everybody_can_use_the_plan_and_the_changes(
    stage: PlanStage, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    context = await browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    tab = await context.new_page()
    async with stage.page_server() as server:
        await stage.is_asked_here("Add discounts", HERE)
        await stage.presses(Verb.DEFAULTS, thread=HERE)
        offer = approval.offer(stage.only())
        await stage.presses(Verb.CHANGE, offer, "Only one code.", thread=HERE)
        await tab.goto(await server.address(stage.only().id))
        await tab.click("nav.tabs >> text=Plan")
        await expect(tab.locator(".doc ins")).to_have_count(2)
        await tab.click(".l:has-text('MUST take one') .say", force=True)
        await tab.keyboard.type("Why?")
        assert await obstacles(tab) == []
        await stage.approves(HERE)
        (first, *_) = stage.panes.running()
        folder = stage.panes.folders[first]
        stage.worktrees.agent_commits(folder, {"a.py": "x = 1\n" + "y" * 500}, "feat: it")
        await tab.click("nav.tabs >> text=Changes")
        await tab.click(".x:has-text('x = 1') .say", force=True)
        await tab.keyboard.type("Why?")
        assert await obstacles(tab) == []
        stage.tabs.append(tab)
    await context.close()


async def test_the_plan_of_a_session_of_another_chat_is_only_looked_at(
    stage: PlanStage, tab: Page
) -> None:
    stage.more_chats = {"memory": MemoryChat()}
    doors = single_list_doors("memory", frozenset({ANNA.id}))
    stage.gate = Gate({**stage.gate.doors, **doors}, here="console")
    async with stage.page_server() as server:
        await stage.is_planned("Add discounts", THREAD)
        await tab.goto(await server.address(stage.only().id))
        await tab.click("nav.tabs >> text=Plan")
        await expect(tab.locator(".approval")).to_contain_text(
            "This session lives in memory: approve it or ask for changes there."
        )
        await expect(tab.locator(".doc")).to_contain_text("The basket MUST take a code.")
        await expect(tab.locator(".say, .approval .btn, .sticky")).to_have_count(0)
