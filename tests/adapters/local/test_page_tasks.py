"""The screens of a session's tasks and panes, in a real browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from bot.core.masking import Masker
from bot.core.runs import Dialog, DialogKind, DialogOption
from bot.core.states import TaskState
from tests.adapters.local.page_stage import PageStage, needs_chromium
from tests.adapters.local.session_here import HERE, is_building
from tests.stories.stage import FAILED, draft

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]
EVIL = "<img src=x onerror=alert(1)>\x1b]52;c;cm0=\x07\x1b]0;owned\x07\u202e"
HIDDEN = "hunter2-hunter2"


async def at(tab: Page, server_address: str, where: str) -> None:
    await tab.goto(server_address)
    await expect(tab.locator("#state")).to_contain_text("Live")
    await tab.evaluate("where => { location.hash = where }", where)


async def test_tasks_are_drawn_with_what_they_need_and_when_they_ran(
    stage: PageStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        await stage.agents_work()
        await at(tab, await server.address(), f"#/s/{session.id}/tasks")
        await expect(tab.locator(".node.done")).to_have_count(2)
        await expect(tab.locator(".node.work")).to_contain_text("T003")
        await expect(tab.locator(".edge.done")).to_have_count(1)
        bars = tab.locator("[aria-label^='T001: ']")
        await expect(bars.locator(".bar-done")).to_have_count(1)
        await expect(bars.locator(".bar-check")).to_have_count(1)
        await expect(tab.locator(".chart .now")).to_have_count(1)
        await expect(tab.locator(".news")).to_contain_text("judged: it does what was asked")
        await stage.agents_work()
        await expect(tab.locator(".node.done")).to_have_count(3)


async def test_a_chosen_task_is_told_in_full(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        await stage.agents_work()
        await at(tab, await server.address(), f"#/s/{session.id}/tasks")
        await tab.click("#node-T001")
        chosen = tab.locator("#task")
        await expect(chosen).to_contain_text("Do Discount codes")
        await expect(chosen).to_contain_text("Discount codes works")
        await expect(chosen).to_contain_text("Tests passed")
        branch = stage.session(HERE).tasks[0].workspace
        assert branch
        await expect(chosen).to_contain_text(branch.branch)
        await tab.keyboard.press("j")
        await tab.keyboard.press("j")
        await tab.keyboard.press("Enter")
        await expect(chosen).to_contain_text("Do Receipt")
        await tab.click("[aria-label='T001: agent 0 s']", force=True)
        await expect(chosen).to_contain_text("Do Discount codes")


async def test_failed_tests_are_red_and_their_output_is_there(stage: PageStage, tab: Page) -> None:
    stage.commands.answer(FAILED)
    async with stage.page_server() as server:
        session = await is_building(stage)
        await stage.agents_work()
        await at(tab, await server.address(), f"#/s/{session.id}/tasks?task=T001")
        await expect(tab.locator("[aria-label^='T001: tests failed'] .bar-fail")).to_have_count(1)
        await tab.click("text=What the tests printed")
        await expect(tab.locator("#task pre")).to_have_text("AssertionError: 3 != 4")


async def test_an_agents_question_is_answered_beside_its_task(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        options = tuple(DialogOption(id=n, label=f"Yes {n}", keys=(n,)) for n in ("1", "2"))
        run = session.tasks[0].run
        assert run
        dialog = Dialog(id="d", kind=DialogKind.MENU, title="Run make bench?", options=options)
        stage.panes.asks(run.name, dialog)
        await at(tab, await server.address(), f"#/s/{session.id}/tasks")
        await expect(tab.locator(".node.need")).to_contain_text("asks you")
        await expect(tab.locator(".ask")).to_contain_text("Run make bench?")
        await tab.keyboard.press("1")
        await tab.keyboard.press("Enter")
        await expect(tab.locator(".ask")).to_have_count(0)
        assert [said[:2] for said in stage.panes.answered] == [(run.name, "Run make bench?")]


async def test_what_is_typed_at_a_pane_presses_nothing(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        options = (DialogOption(id="1", label="Yes", keys=("1",)),)
        run = session.tasks[0].run
        assert run
        dialog = Dialog(id="d", kind=DialogKind.MENU, title="Run make bench?", options=options)
        stage.panes.asks(run.name, dialog)
        await at(tab, await server.address(), f"#/s/{session.id}/tasks")
        await expect(tab.locator(".ask .btn").first).to_be_visible()
        await tab.click("#pane pre")
        await tab.keyboard.type("1\na\n")
        await expect(tab.locator("#pane pre")).to_be_focused()
        assert stage.panes.answered == []
        await tab.keyboard.press("f")
        await expect(tab.locator("#pane")).to_have_css("position", "fixed")


async def test_more_tasks_than_can_be_drawn_are_listed(stage: PageStage, tab: Page) -> None:
    stage.drafts = [draft(f"T{number:03d}", f"Step {number}") for number in range(1, 62)]
    async with stage.page_server() as server:
        session = await is_building(stage)
        await at(tab, await server.address(), f"#/s/{session.id}/tasks")
        await expect(tab.locator("[data-item]")).to_have_count(61)
        await expect(tab.locator("#view svg.chart")).to_have_count(0)


async def test_a_phone_has_a_list_in_place_of_charts(stage: PageStage, tab: Page) -> None:
    await tab.set_viewport_size({"width": 360, "height": 740})
    async with stage.page_server() as server:
        session = await is_building(stage)
        await at(tab, await server.address(), f"#/s/{session.id}/tasks")
        await expect(tab.locator("#row-T001")).to_be_visible()
        await expect(tab.locator(".node").first).to_be_hidden()
        wide = await tab.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360


@pytest.mark.parametrize("width", [1280, 500])
async def test_a_pane_shows_its_text_and_nothing_else_happens(
    stage: PageStage, tab: Page, width: int
) -> None:
    stage.panes.mask = Masker({"SHOP_PASSWORD": HIDDEN}).mask
    await tab.set_viewport_size({"width": width, "height": 900})
    async with stage.page_server() as server:
        session = await is_building(stage)
        run = session.tasks[0].run
        assert run
        stage.panes.screens[run.name] = "first\n"
        await at(tab, await server.address(), f"#/s/{session.id}/panes?run={run.id}")
        shown = tab.locator("#pane pre")
        await expect(shown).to_have_text("first\n")
        colours = f"\x1b[1;38;5;203mred{EVIL}\x1b[0m\n{HIDDEN[:5]}\x1b[32m{HIDDEN[5:]}"
        stage.panes.screens[run.name] = f"{colours}\nlast"
        await expect(shown).to_contain_text("last")
        await expect(shown.locator("i").first).to_have_text("red<img src=x onerror=alert(1)>")
        await expect(shown.locator("i").first).to_have_css("color", "rgb(255, 95, 95)")
        await expect(shown).to_contain_text("[MASKED:SHOP_PASSWORD]")
        assert HIDDEN not in await tab.content()
        assert "owned" not in await tab.title()
        await expect(tab.locator("#pane footer")).to_contain_text("takeover T001")
        if width > 1000:
            await expect(tab.locator(".term .xterm-rows")).to_contain_text("last")


async def test_panes_are_chosen_by_number_and_fill_the_window(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        for task in session.tasks[:2]:
            assert task.run
            stage.panes.screens[task.run.name] = f"I am {task.key}"
        await at(tab, await server.address(), f"#/s/{session.id}/panes")
        await expect(tab.locator("#pane pre")).to_have_text("I am T001\n")
        await tab.keyboard.press("2")
        await expect(tab.locator("#pane pre")).to_have_text("I am T002\n")
        await tab.keyboard.press("f")
        await expect(tab.locator("#pane")).to_have_css("position", "fixed")
        await stage.agents_work()
        await expect(tab.locator("#pane")).to_have_css("position", "fixed")
        await tab.keyboard.press("Escape")
        await expect(tab.locator("#pane")).not_to_have_css("position", "fixed")


async def test_a_pane_that_is_gone_shows_the_end_of_its_transcript(
    stage: PageStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        run = session.tasks[0].run
        assert run
        stage.panes.screens[run.name] = "the last words"
        await stage.agents_work()
        assert stage.session(HERE).tasks[0].state is TaskState.COMPLETED
        await at(tab, await server.address(), f"#/s/{session.id}/panes?run={run.id}")
        await expect(tab.locator("#pane pre")).to_have_text("the last words\n")
        await expect(tab.locator("#pane footer")).to_contain_text("This pane is gone")


async def test_only_runs_of_a_session_are_followed(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        stage.panes.screens["run-other"] = "not for you"
        await at(tab, await server.address(), f"#/s/{session.id}/panes?run=other")
        await expect(tab.locator("#pane")).to_be_visible()
        heard = await tab.evaluate(
            """async pane => {
              const stop = new AbortController()
              const told = await fetch('/stream?pane=' + encodeURIComponent(pane), {
                headers: { Authorization: 'Bearer ' + sessionStorage.token }, signal: stop.signal })
              const { value } = await told.body.getReader().read()
              stop.abort()
              return new TextDecoder().decode(value)
            }""",
            f"{session.id}/other",
        )
        assert heard.startswith("event: changed")
        assert "not for you" not in await tab.content()
