"""What agents, repositories and models write stays text on the page, whatever it looks like."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from bot.core.cards import AnswerCard, DocumentCard
from bot.core.people import Thread
from bot.core.plan import DocumentKind
from bot.core.sheets import Bullets, Code, Fields, Prose, Table, Text
from tests.adapters.local.page_stage import PageStage, needs_chromium

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]
HERE = Thread(platform="console", channel="terminal", root="1")

EVIL = (
    "<script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 1'>",
    '"><svg onload="window.hit = 1">',
    "<button data-press=guessed>Approve</button>",
    "<a href='javascript:window.hit=1'>here</a>",
    '<div hx-get="/screen/board" hx-trigger="load" hx-swap="outerHTML">x</div>',
    '<hx-partial hx-target="#main"><h1>Taken over</h1></hx-partial>',
    "</div></body><base href='//evil.example'>",
    "<style>* { display: none }</style>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe \u200bhidden\u2066",
    "\x1b]52;c;aGk=\x07\x1b[2J",
    "[mail](javascript:window.hit=1) [there](//evil.example/x) [web](https://example.org/a) ![pic](http://evil.example/p.png)",
    "<details open ontoggle='window.hit = 1'><summary>s</summary></details>",
    "x" * 100_000,
)


async def show_everywhere(stage: PageStage, evil: str) -> None:
    """Show a card that has it in every kind of element, and a document."""
    body = (
        Text(text=evil),
        Fields(pairs=((evil[:80], evil),)),
        Bullets(items=(evil,)),
        Table(head=(evil[:80],), rows=((evil,),)),
        Code(text=evil),
        Prose(name="x.md", markdown=evil),
    )
    await stage.local.show(HERE, AnswerCard(key=f"evil{evil[:9]}", title=evil, body=body))
    document = DocumentCard(
        key="evil-doc", document=DocumentKind.SPEC, spec_id="S", revision=1, text=evil
    )
    await stage.local.show(HERE, document)


@pytest.mark.parametrize("evil", EVIL, ids=[str(number) for number in range(len(EVIL))])
async def test_it_stays_text(stage: PageStage, tab: Page, evil: str) -> None:
    async with stage.page_server() as server:
        await stage.is_asked_here(f"Add discounts {evil[:200]}", HERE)
        await show_everywhere(stage, evil)
        requests: list[str] = []
        tab.on("request", lambda request: requests.append(request.url))
        address = await server.address()
        await tab.goto(address)
        await tab.click("#need h3 a")
        await expect(tab.locator(".thread .msg").nth(2)).to_be_visible()
        await tab.locator("summary").last.click()
        await tab.wait_for_function("document.querySelectorAll('.thread .msg').length >= 3")
        origin = address.split("/#")[0]
        assert [url for url in requests if not url.startswith(origin)] == []
        assert await tab.evaluate("window.hit") is None
        view = tab.locator(".thread .body")
        for tag in (
            "script",
            "img",
            "base",
            "style",
            "hx-partial",
            "iframe",
            "[data-press]",
            "[hx-get]",
        ):
            await expect(view.locator(tag)).to_have_count(0)
        for link in await view.locator("a").all():
            assert (await link.get_attribute("href") or "").startswith(
                ("https://", "http://", "#/")
            )
        await expect(tab.locator("h1")).to_have_text("Add discounts")
        shown = await view.last.inner_text()
        assert not set("\u202e\u200b\u2066\x1b\x07") & set(shown)
