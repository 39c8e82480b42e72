"""The screens of a session's result and log, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from adapters.store import TaskLogFiles
from bot.core.choices import Verb
from bot.core.states import Status
from tests.adapters.local.page_stage import PageStage, needs_chromium
from tests.adapters.local.session_here import HERE, is_building, presses
from tests.stories.stage import FAILED

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]


async def at(tab: Page, server_address: str, where: str) -> None:
    await tab.goto(server_address)
    await expect(tab.locator("#state")).to_contain_text("Live")
    await tab.evaluate("where => { location.hash = where }", where)


async def test_a_built_request_is_merged_beside_its_evidence(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        await stage.agents_work(rounds=2)
        await at(tab, await server.address(), f"#/s/{session.id}/result")
        row = tab.locator("tr", has_text="FR-001")
        await expect(row).to_contain_text("The basket MUST take a code.")
        await expect(row).to_contain_text("T001, T002, T003")
        await expect(row).to_contain_text("Its tasks are done")
        await expect(tab.locator(".sum")).to_contain_text("Not judged yet")
        await expect(tab.locator(".sum")).to_contain_text("+3 −0 3 files, 3 commits")
        await tab.click("button:has-text('Merge into')")
        await tab.click("#ask-yes")
        await expect(tab.locator(".sum")).to_contain_text("1 of 1 requirement met")
        await expect(row).to_contain_text("Met")
        built = stage.session(HERE)
        assert built.status is Status.COMPLETED
        await expect(tab.locator("#view")).to_contain_text(built.ending.merged_commit[:10])
        await expect(tab.locator(".looked .failed")).to_have_count(0)
        await expect(tab.locator("h2", has_text="Looked for and not found")).to_be_visible()


async def test_each_criterion_of_a_task_has_its_verdict(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        await stage.agents_work()
        await at(tab, await server.address(), f"#/s/{session.id}/result")
        await tab.click("summary:has-text('T001')")
        criterion = tab.locator("tr", has_text="Discount codes works")
        await expect(criterion).to_contain_text("Met")
        head = stage.session(HERE).tasks[0].work
        assert head
        await expect(criterion).to_contain_text(head.head[:7])
        # a section that was opened stays open when something changes
        await stage.agents_work()
        await expect(tab.locator(".sum")).to_contain_text("3 commits")
        await expect(criterion).to_be_visible()


async def test_signs_of_tampering_are_told_in_red(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        run = session.tasks[0].run
        assert run
        workflow = {".github/workflows/ci.yml": "on: push\n", "shop.py": "x = 1\n"}
        stage.worktrees.agent_commits(stage.panes.folders[run.name], workflow, "ci: quieter")
        stage.panes.finish(run.name)
        await stage.settle()
        await at(tab, await server.address(), f"#/s/{session.id}/result")
        sign = tab.locator(".looked .failed")
        await expect(sign).to_contain_text("CI, test settings or the test runner changed")
        await expect(sign).to_contain_text("T001 .github/workflows/ci.yml")
        await expect(tab.locator("h2", has_text="Looked for and not found")).to_have_count(0)
        await expect(tab.locator(".ask")).to_contain_text(".github/workflows/ci.yml")


async def test_what_is_left_of_a_stopped_session_says_why(stage: PageStage, tab: Page) -> None:
    stage.commands.answer(FAILED)
    async with stage.page_server() as server:
        session = await is_building(stage)
        await stage.agents_work()
        await at(tab, await server.address(), f"#/s/{session.id}/result")
        await expect(tab.locator(".sum .fail")).to_contain_text("failed with 1")
        await presses(stage, Verb.STOP)
        await presses(stage, Verb.DISCARD)
        assert stage.session(HERE).status is Status.DISCARDED
        left = tab.locator("section", has=tab.locator("#h-left"))
        await expect(left).to_contain_text("T003 Checkout: Cancelled")


async def test_a_result_prints_as_a_report(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        await stage.agents_work(rounds=2)
        await at(tab, await server.address(), f"#/s/{session.id}/result")
        await expect(tab.locator("#by-T001")).to_be_visible()
        await tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        await tab.emulate_media(media="print")
        await expect(tab.locator("tr", has_text="Discount codes works")).to_be_visible()
        for gone in (".top", ".rail", ".tabs", ".ask .acts", "[data-print]"):
            await expect(tab.locator(gone).first).to_be_hidden()
        await tab.emulate_media(media="screen")


async def test_what_waits_comes_first_on_a_phone(stage: PageStage, tab: Page) -> None:
    await tab.set_viewport_size({"width": 360, "height": 740})
    async with stage.page_server() as server:
        session = await is_building(stage)
        await stage.agents_work(rounds=2)
        await at(tab, await server.address(), f"#/s/{session.id}/result")
        merge = tab.locator("button:has-text('Merge into')")
        await expect(merge).to_be_visible()
        above = await merge.evaluate(
            "one => one.getBoundingClientRect().top < document.querySelector('table').getBoundingClientRect().top"
        )
        assert above
        assert await tab.evaluate("document.documentElement.scrollWidth") <= 360


async def test_the_log_is_told_by_task_and_in_full(
    stage: PageStage, tab: Page, tmp_path: Path
) -> None:
    stage.logs = TaskLogFiles(tmp_path / "home", stage.masker)  # pyright: ignore[reportAttributeAccessIssue]
    async with stage.page_server() as server:
        session = await is_building(stage, "Add <b>discounts</b>\nwith care")
        await stage.agents_work()
        await stage.world.logbook.written()
        await at(tab, await server.address(), f"#/s/{session.id}/log")
        lines = tab.locator(".log li")
        await expect(lines.filter(has_text="task completed")).to_have_count(2)
        await expect(lines.filter(has_text="Add <b>discounts</b> with care").first).to_be_visible()
        short = await lines.count()
        await tab.select_option("#log-task", "T001")
        await expect(lines.filter(has_text="T002")).to_have_count(0)
        await expect(lines.filter(has_text="task completed")).to_have_count(1)
        await tab.select_option("#log-level", "full")
        await expect(lines.filter(has_text="executor dispatch")).not_to_have_count(0)
        await tab.select_option("#log-task", "")
        await expect(lines.filter(has_text="T002")).not_to_have_count(0)
        assert await lines.count() > short


async def test_older_lines_come_on_demand(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        assert stage.desk
        for number in range(210):
            live = stage.desk.session(session.id)
            assert live
            live.say(live.conversation[0].role, f"line {number}.", stage.clock.now())
        await at(tab, await server.address(), f"#/s/{session.id}/log")
        await expect(tab.locator(".log li")).to_have_count(200)
        await tab.click("#older")
        await expect(tab.locator(".log li", has_text="line 0.")).to_have_count(1)
        await expect(tab.locator("#older")).to_have_count(0)
