"""What a person sees of a pane from elsewhere."""

from __future__ import annotations

import asyncio
import sys

import pytest

from bot.core.masking import Masker
from bot.core.runs import Launch
from bot.core.screens import PaneScreen, Style, row_text
from tests.adapters.tmux.own_server import Tmux, shows

pytestmark = pytest.mark.tmux
HIDDEN = "hunter2-hunter2"
PRINTS = f"""
import time
print("\\033[1;32mgreen\\033[0m plain")
print("\\033]52;c;cm0gLXJmIC8=\\007\\033]0;a title\\007\\033]8;;https://evil.example\\033\\\\there\\033]8;;\\033\\\\")
print("it is \\033[31m{HIDDEN[:7]}\\033[33m{HIDDEN[7:]}\\033[0m!")
print("that is all", flush=True)
time.sleep(300)
"""


async def test_a_pane_is_shown_in_colours_without_its_secrets(server: Tmux) -> None:
    panes = server.panes(mask=Masker({"SHOP_PASSWORD": HIDDEN}).mask)
    await server.begun(Launch(argv=(sys.executable, "-c", PRINTS)), panes)
    await shows(panes, "that is all")
    screen = await panes.screen("run-1")
    assert screen.live
    assert screen.columns == 200
    assert screen.rows[0][0] == ("green", Style(foreground=2, bold=True))
    assert [row_text(row) for row in screen.rows] == [
        "green plain",
        "there",
        "it is [MASKED:SHOP_PASSWORD]!",
        "that is all",
    ]
    await panes.stop("run-1")
    await panes.keep_transcript("run-1")
    after = await panes.screen("run-1")
    assert not after.live
    assert "it is [MASKED:SHOP_PASSWORD]!" in [row_text(row) for row in after.rows]


async def test_a_pane_that_prints_is_shown_as_it_is_now(server: Tmux) -> None:
    counts = "n=0; while read line; do n=$((n+1)); echo seen $n; done"
    panes = await server.begun(Launch(argv=("sh", "-c", counts)))
    seen: list[PaneScreen] = []
    for number in range(1, 4):
        await server.tmux("send-keys", "-t", "=run-1:", "x", "Enter")
        async with asyncio.timeout(60):
            while f"seen {number}" not in map(row_text, (await panes.screen("run-1")).rows):
                continue
        seen.append(await panes.screen("run-1"))
    assert len(set(seen)) == 3


async def test_a_pane_that_was_just_closed_is_not_live(server: Tmux) -> None:
    panes = await server.begun(Launch(argv=("sleep", "300"), stdin="nothing"))
    assert (await panes.screen("run-1")).live
    await server.tmux("kill-session", "-t", "=run-1")
    assert await panes.screen("run-1") == PaneScreen()
