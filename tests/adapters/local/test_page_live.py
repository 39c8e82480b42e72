"""What the page does while things change: updates, drafts, keys, a bot that goes away."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from playwright.async_api import APIResponse, Browser, Page, Route, expect

from adapters.local.page.frame import TABS
from bot.core.choices import Verb
from bot.core.people import Thread
from bot.core.states import Status
from tests.adapters.local.page_stage import Complaints, PageStage, needs_chromium, obstacles
from tests.adapters.local.session_here import is_building
from tests.adapters.local.test_page_door import visitor

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]
HERE = Thread(platform="console", channel="terminal", root="1")


async def test_what_somebody_types_survives_every_update(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        await stage.is_asked_here("Add discounts", HERE)
        await tab.goto(await server.address())
        await tab.click("#need h3 a")
        await tab.check("input[value=yes]")
        await tab.fill("input[name=own-2]", "half even")
        box = tab.locator(".composer textarea")
        await box.press_sequentially("why do you a")
        async with tab.expect_response("**/screen/s/**"):
            await stage.asks_for_status(HERE)
        await expect(box).to_be_focused()
        await box.press_sequentially("sk?")
        await expect(box).to_have_value("why do you ask?")
        await expect(tab.locator("input[name=own-2]")).to_have_value("half even")
        await expect(tab.locator("input[value=yes]")).to_be_checked()


async def test_an_opened_document_stays_open(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        await stage.is_asked_here("Add discounts", HERE)
        await stage.presses(Verb.DEFAULTS, thread=HERE)
        await tab.goto(await server.address())
        await tab.click("#need h3 a")
        await tab.locator("summary").first.click()
        await expect(tab.locator(".prose").first).to_contain_text("A code lowers the price.")
        async with tab.expect_response("**/screen/s/**"):
            await stage.asks_for_status(HERE)
        await expect(tab.locator("details").first).to_have_attribute("open", "")


async def test_the_whole_story_by_keyboard_alone(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        await tab.goto(await server.address())
        await expect(tab.locator("#state")).to_contain_text("Live")
        await tab.keyboard.press("/")
        await tab.keyboard.press("Escape")
        await tab.keyboard.press("Tab")
        await tab.locator("a[href='#/new']").first.focus()
        await tab.keyboard.press("Enter")
        await tab.locator("#request-text").focus()
        await tab.keyboard.type("Add discounts")
        await tab.keyboard.press("Control+Enter")
        await expect(tab.locator(".questions")).to_be_visible()
        await tab.keyboard.press("g")
        await tab.keyboard.press("b")
        await expect(tab.locator("#need .card")).to_have_count(1)
        await tab.keyboard.press("n")
        await tab.keyboard.press("Enter")
        await expect(tab.locator(".questions")).to_be_visible()
        await tab.keyboard.press("a")
        await tab.keyboard.press("Enter")
        await expect(tab.locator(".steps [aria-current=step]")).to_have_text("Plan")
        await expect(tab.locator(".msg.ask .btn.primary")).to_have_text("Approve")
        await tab.keyboard.press("a")
        await tab.keyboard.press("Enter")
        await expect(tab.locator(".steps [aria-current=step]")).to_have_text("Build")
        await stage.agents_work(rounds=3)
        await expect(tab.locator(".msg.ask .btn.primary")).to_have_text("Merge into main")
        await tab.keyboard.press("a")
        await tab.keyboard.press("Enter")
        await expect(tab.locator("#ask")).to_contain_text("into your local main?")
        await tab.keyboard.press("Enter")
        await expect(tab.locator(".title .tag.done")).to_contain_text("Completed")
        (listed,) = stage.store.sessions()
        assert listed.status == Status.COMPLETED


async def test_a_late_answer_never_overwrites_a_newer_one(stage: PageStage, tab: Page) -> None:
    kept: list[APIResponse] = []

    async def answer(route: Route) -> None:
        """Give the first answer again and again."""
        if not kept:
            kept.append(await route.fetch())
        await route.fulfill(response=kept[0])

    async with stage.page_server() as server:
        await stage.is_asked_here("Add discounts", HERE)
        await tab.route("**/screen/**", answer, times=1)
        await tab.goto(await server.address())
        why = tab.locator("#need .why")
        await expect(why).to_have_text("A few questions before I plan")
        await stage.presses(Verb.DEFAULTS, thread=HERE)
        await expect(why).to_contain_text("Shall I build")
        (old,) = kept
        await tab.evaluate(
            "document.addEventListener('htmx:finally:request', () => window.asked = 1)"
        )
        await tab.route("**/screen/**", answer)
        async with tab.expect_response("**/screen/**") as given:
            await stage.asks_for_status(HERE)
        assert (await given.value).headers["x-state"] == old.headers["x-state"]
        await tab.wait_for_function("window.asked === 1")
        assert "Shall I build" in await why.inner_text()
        await expect(tab).to_have_title("(1) Board · gwt-bot")


async def test_a_bot_that_has_ended_is_seen(stage: PageStage, browser: Browser) -> None:
    context = await browser.new_context()
    tab = await context.new_page()
    async with stage.page_server() as server:
        await tab.goto(await server.address())
        await expect(tab.locator("#state")).to_contain_text("Live")
    await expect(tab.locator("#state")).to_contain_text("Reconnecting")
    await expect(tab.locator("#state")).to_contain_text("a new address", timeout=30_000)
    await context.close()


async def test_a_program_on_the_old_port_learns_nothing_of_use(
    stage: PageStage, browser: Browser
) -> None:
    """The tab still waits there when the bot has ended, and tries to connect again."""
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def rogue(request: web.Request) -> web.Response:
        heard.put_nowait(request.headers.get("Authorization", ""))
        return web.Response(status=500)

    context = await browser.new_context()
    tab = await context.new_page()
    async with stage.page_server() as server:
        parts = urlsplit(await server.address())
        await tab.goto(parts.geturl())
        await expect(tab.locator("#state")).to_contain_text("Live")
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", rogue)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, parts.hostname, parts.port).start()
    async with asyncio.timeout(60):
        stolen = await heard.get()
    await context.close()
    await runner.cleanup()
    assert stolen.startswith("Bearer ")
    async with visitor(stage) as one:
        assert (await one.get("/screen/board", Authorization=stolen))[0] == 401
        await one.comes_in()
        assert (await one.get("/screen/board"))[0] == 200


async def test_a_used_address_says_how_to_get_another(stage: PageStage, browser: Browser) -> None:
    context = await browser.new_context()
    tab = await context.new_page()
    async with stage.page_server() as server:
        address = await server.address()
        await tab.goto(address)
        await expect(tab.locator("#state")).to_contain_text("Live")
        other = await context.new_page()
        await other.goto(address)
        await expect(other.locator("#state")).to_contain_text("Open gwt-bot web again")
        assert "code" not in other.url
    await context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
async def test_everybody_can_use_it(
    stage: PageStage, browser: Browser, scheme: str, width: int
) -> None:
    context = await browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    tab = await context.new_page()
    complaints = Complaints(tab)
    async with stage.page_server() as server:
        await stage.is_asked_here("Add discounts", HERE)
        built = await is_building(stage)
        await stage.agents_work(rounds=1)
        await tab.goto(await server.address())
        await expect(tab.locator("#need .card")).to_have_count(1)
        asked = stage.session(HERE)
        tabs = [f"s/{built.id}/{tab}" for tab, _ in TABS if tab != "thread"]
        lists = ("new", "inbox", "intents", "branches", "history", "doctor")
        found: list[str] = []
        for path in ("", f"s/{asked.id}", f"s/{built.id}", *tabs, *lists):
            await tab.evaluate("path => { location.hash = '#/' + path }", path)
            await expect(tab.locator("#view")).to_have_attribute("data-path", path)
            found += [f"{path}: {one}" for one in await obstacles(tab)]
        assert found == []
        assert complaints.told == []
    await context.close()
