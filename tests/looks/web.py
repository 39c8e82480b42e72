"""Photographs the local page while the demo is played in it: `python -m tests.looks.web [folder]`.

Without a folder the pictures of the README are taken anew.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page

from tests.adapters.local.page_stage import running_browser

DOCS = Path("docs/pictures")
PROGRAM = str(Path(sys.executable).with_name("gwt-bot"))
WIDTH, HEIGHT = 1280, 820


async def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as home:
        process = await asyncio.create_subprocess_exec(
            *(PROGRAM, "web", "--demo", "--no-open"),
            cwd=home,
            env={"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"},
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout
        try:
            address = (await process.stdout.readline()).decode().strip()
            async with running_browser() as browser:
                await photograph(await opened(browser), address, folder)
        finally:
            process.terminate()
            await process.wait()


async def opened(browser: Browser) -> Page:
    context = await browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light", locale="en-GB"
    )
    return await context.new_page()


async def photograph(page: Page, address: str, folder: Path) -> None:
    """Ask, answer, approve; take the plan and, while two agents are at work, the tasks."""
    await page.goto(address)
    await page.click("a[href='#/new']")
    await page.click("text=Ask for it")
    await page.click("text=Send answers")
    await page.click("nav.tabs >> text=Plan")
    await page.locator(".doc .l").first.wait_for(timeout=60_000)
    await page.screenshot(path=folder / "page-plan.png")
    await page.locator(".ask .btn.primary:visible").first.click()
    await page.click("nav.tabs >> text=Tasks")
    # one task is done, one whose tests have failed is being mended, or the third is at work
    await page.locator(".chart .bar-fail").first.wait_for(timeout=60_000)
    await page.locator(".chart .node.work").first.wait_for(timeout=60_000)
    await page.wait_for_function(
        "document.querySelector('.pane pre')?.innerText.includes('PLAYED')"
    )
    await page.screenshot(path=folder / "page.png")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if sys.argv[1:] else DOCS))
