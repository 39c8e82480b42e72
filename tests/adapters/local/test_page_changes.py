"""The changes on the local page: the diff by task, viewed marks, comments for the agents."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from bot.core.cards import NewsCard
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.states import TaskState
from tests.adapters.local.page_stage import PageStage, needs_chromium

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]

CODE = "def total(items):\n    return sum(items)\n"
LONG = "".join(f"line {number}\n" for number in range(900))
HOSTILE = (
    "<script>window.hit = 1</script>\n"
    '<b hx-post="/press" data-press="x" autofocus>press</b>\n'
    "if admin: \u202e} // nobody\u202c\n"
    "[x](//e.example)\n" + "y" * 100_000 + "\n"
)
EVIL_NAME = "<img src=x onerror='window.hit = 1'>.py"


class ChangesStage(PageStage):
    def only(self) -> Session:
        (listed,) = self.store.sessions()
        record = self.store.find(listed.id)
        assert record
        return record.session

    async def builds(self, tab: Page, address: str) -> None:
        """From the request to two agents at work, with the changes open."""
        await tab.goto(address)
        await tab.click("text=New request")
        await tab.fill("#request-text", "Add discounts")
        await tab.click("text=Ask for it")
        await tab.click("text=Send answers")
        await tab.click("nav.tabs >> text=Plan")
        await tab.click(".acts >> text=Approve")
        await tab.click("nav.tabs >> text=Changes")
        await expect(tab.locator("nav.tabs a:has-text('Panes') .count")).to_have_text("2")
        await self.settle()

    def pane(self, key: str) -> str:
        (found,) = [one for one in self.panes.running() if self.task(key) in one]
        return found

    def task(self, key: str) -> str:
        run = next(one for one in self.only().tasks if one.key == key).run
        assert run
        return run.id

    def commits(self, key: str, files: dict[str, str]) -> None:
        folder = self.panes.folders[self.pane(key)]
        self.worktrees.agent_commits(folder, files, "feat: it")

    async def ends(self, key: str, exit_code: int = 0) -> None:
        self.panes.finish(self.pane(key), exit_code)
        await self.settle()


@pytest.fixture
def stage(tmp_path: Path) -> ChangesStage:
    return ChangesStage(tmp_path)


async def looks_again(stage: ChangesStage, tab: Page) -> None:
    """Git is asked at most once a second, and when the page is told of a change."""
    await tab.click("nav.tabs >> text=Changes")
    await expect(tab.locator("#ch")).to_be_visible()
    await stage.clock.advance(2)
    card = NewsCard(key=f"news:{stage.clock.new_id()}", title="Something happened")
    await stage.local.show(stage.only().thread, card)


async def test_changes_are_shown_by_task_from_the_first_commit_until_all_is_merged(
    stage: ChangesStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        await stage.builds(tab, await server.address())
        await expect(tab.locator("#ch")).to_be_visible()
        await expect(tab.locator("text=T001 has committed nothing yet.")).to_be_visible()
        stage.commits("T001", {"shop/total.py": CODE, "README.md": "hello\nworld\n"})
        stage.commits("T002", {"shop/receipt.py": "x = 1\n"})
        folder = stage.panes.folders[stage.pane("T002")]
        stage.worktrees.agent_leaves(folder, {"notes.txt": "n"})
        await looks_again(stage, tab)
        await expect(tab.locator(".tree button")).to_have_text(
            ["README.md +1", "receipt.py +1", "total.py +2"], use_inner_text=True
        )
        await expect(tab.locator(".diff .x.a code")).to_have_text(
            ["world", "x = 1", "def total(items):", "    return sum(items)"], use_inner_text=True
        )
        await tab.click("summary:has-text('T002 are not committed yet')")
        await expect(tab.locator("details code")).to_have_text("notes.txt")
        await tab.select_option("#of-task", label="T002")
        await expect(tab.locator(".tree button")).to_have_count(1)
        stage.worktrees.standing[folder].left.clear()
        await stage.agents_work(rounds=3)
        await tab.select_option("#of-task", label="All tasks")
        await tab.click("nav.tabs >> text=Thread")
        await tab.click("text=Merge into main")
        await tab.click("#ask-yes")
        await expect(tab.locator(".steps [aria-current=step]")).to_have_count(0)
        await looks_again(stage, tab)
        await expect(tab.locator(".tree button >> text=total.py")).to_be_visible()
        merged = stage.only().ending.merged_commit[:9]
        await expect(tab.locator("header:has(#ch)")).to_contain_text(merged)
        await expect(tab.locator(".say")).to_have_count(0)
        await tab.select_option("#of-task", label="T002")
        await expect(tab.locator(".tree button >> text=receipt.py")).to_be_visible()


async def test_files_are_gone_through_by_keyboard_and_a_viewed_one_that_changes_is_not_viewed(
    stage: ChangesStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        await stage.builds(tab, await server.address())
        stage.commits("T001", {"a.py": CODE, "b.py": CODE})
        await looks_again(stage, tab)
        await expect(tab.locator(".diff")).to_have_count(2)
        for key in ("j", "x", "j"):
            await tab.keyboard.press(key)
        await expect(tab.locator(".diff.viewed .h code")).to_have_text("a.py")
        await expect(tab.locator("#viewed-count")).to_have_text("1/2")
        await expect(tab.locator(".diff:has-text('b.py') [data-viewed]")).to_be_focused()
        await tab.keyboard.press("n")
        await tab.keyboard.press("c")
        await tab.keyboard.type("Why a sum?")
        await tab.keyboard.press("Control+Enter")
        note = tab.locator(".note")
        await expect(note).to_contain_text("b.py line 1")
        stage.commits("T001", {"a.py": CODE.replace("sum", "max")})
        await looks_again(stage, tab)
        await expect(tab.locator(".diff.viewed")).to_have_count(0)
        await expect(note).to_contain_text("Why a sum?")
        stage.commits("T001", {"b.py": "x = 1\n"})
        await looks_again(stage, tab)
        await expect(tab.locator("#n-old .note")).to_contain_text("b.py line 1 · an earlier state")
        await expect(tab.locator("#n-old blockquote")).to_have_text("def total(items):")


async def test_a_review_becomes_a_change_that_names_the_task_and_quotes_the_lines(
    stage: ChangesStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        await stage.builds(tab, await server.address())
        stage.commits("T001", {"shop/total.py": CODE})
        stage.commits("T002", {"shop/receipt.py": "x = 1\n"})
        await looks_again(stage, tab)
        for line, text in (("x = 1", "Name it."), ("return sum", "Round it.")):
            await tab.click(f".x:has-text('{line}') .say", force=True)
            await tab.keyboard.type(text)
            await expect(tab.locator(".note [data-f=to]").last).to_have_text(
                "becomes a change of plan, if it asks for one"
            )
            await tab.keyboard.press("Control+Enter")
        await tab.click("text=Send the review")
        await expect(tab.locator(".note")).to_have_count(0)
        await stage.settle()
        assert stage.only().conversation[-1].content == (
            "T001, shop/total.py line 2:\n> return sum(items)\nRound it.\n\n"
            "T002, shop/receipt.py line 1:\n> x = 1\nName it."
        )


async def test_an_agent_whose_task_waits_for_a_person_gets_the_comment_at_once(
    stage: ChangesStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        await stage.builds(tab, await server.address())
        stage.commits("T001", {"shop/total.py": CODE})
        for _ in range(3):
            await stage.ends("T001", exit_code=1)
        assert stage.only().tasks[0].state is TaskState.FAILED
        await looks_again(stage, tab)
        await tab.click(".x:has-text('return sum') .say", force=True)
        await tab.keyboard.type("Round it.")
        await expect(tab.locator(".note [data-f=to]")).to_have_text("T001 is tried again with it")
        await tab.click("text=Send it now")
        await expect(tab.locator(".note")).to_have_count(0)
        await stage.settle()
        task = stage.only().tasks[0]
        assert task.run
        assert task.run.why is not Why.FIRST
        assert (
            "shop/total.py line 2:\n> return sum(items)\nRound it."
            in stage.panes.prompts[f"run-{task.run.id}"]
        )


async def test_a_hostile_change_stays_text(stage: ChangesStage, tab: Page) -> None:
    async with stage.page_server() as server:
        await stage.builds(tab, await server.address())
        stage.commits("T001", {EVIL_NAME: HOSTILE, "long.py": LONG})
        await looks_again(stage, tab)
        diffs = tab.locator(".diffs")
        await expect(diffs).to_contain_text("<script>window.hit = 1</script>")
        await expect(diffs).to_contain_text("if admin: } // nobody ⟨hidden: U+202E, U+202C⟩")
        await expect(diffs).to_contain_text("(99,000 more characters)")
        await expect(tab.locator(".diff .h code").first).to_have_text(EVIL_NAME)
        assert (
            await diffs.locator("script, img, b, [hx-post], [data-press], [autofocus]").count() == 0
        )
        assert await tab.evaluate("window.hit") is None
        await tab.click("text=Show 901 lines")
        await expect(diffs).to_contain_text("line 899")


async def test_a_slow_git_does_not_hold_the_page_up(stage: ChangesStage, tab: Page) -> None:
    answers = asyncio.Event()
    patch = stage.repository.patch

    async def slow(path: str, since: str, until: str, limit: int) -> str:
        await answers.wait()
        return await patch(path, since, until, limit)

    stage.repository.patch = slow
    async with stage.page_server() as server:
        await stage.builds(tab, await server.address())
        await expect(tab.locator("text=Git is being asked …")).to_be_visible()
        await tab.click("nav.tabs >> text=Thread")
        await expect(tab.locator(".thread")).to_be_visible()
        await tab.click("nav.tabs >> text=Changes")
        await expect(tab.locator("text=Git is being asked …")).to_be_visible()
        answers.set()
        await expect(tab.locator("text=T001 has committed nothing yet.")).to_be_visible()


async def test_the_changes_fit_a_phone(stage: ChangesStage, tab: Page) -> None:
    async with stage.page_server() as server:
        await stage.builds(tab, await server.address())
        stage.commits("T001", {"shop/total.py": CODE + "x" * 3_000})
        await looks_again(stage, tab)
        await tab.set_viewport_size({"width": 360, "height": 740})
        await tab.click(".x:has-text('return sum') .say")
        await tab.fill(".note textarea", "Round it.")
        await expect(tab.locator("text=Send the review")).to_be_visible()
        assert await tab.evaluate("document.documentElement.scrollWidth") == 360
