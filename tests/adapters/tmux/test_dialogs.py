"""Dialogs of real programs in real tmux: told soon and once, answered by exactly their keys, never by chance."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.tmux import TmuxPanes
from bot.core.errors import Refused
from bot.core.runs import Dialog, DialogKind, Launch
from tests.adapters.tmux.own_server import QUICK, Tmux, leave, shows, until
from tests.adapters.tmux.programs import menus, shell

pytestmark = pytest.mark.tmux
Dialogs = AsyncGenerator[Dialog | None]


async def next_of(dialogs: Dialogs) -> Dialog | None:
    async with asyncio.timeout(120):
        return await anext(dialogs)


async def asked(dialogs: Dialogs) -> Dialog:
    dialog = await next_of(dialogs)
    assert dialog is not None
    return dialog


async def nothing_told(dialogs: Dialogs, seconds: float) -> None:
    waiting = asyncio.ensure_future(anext(dialogs))
    done, _ = await asyncio.wait({waiting}, timeout=seconds)
    waiting.cancel()
    await asyncio.wait({waiting})
    assert not done


async def begin(server: Tmux, panes: TmuxPanes, launch: Launch, asks: str = "?") -> Path:
    """Started, and its question is on the screen."""
    await panes.start("run-1", str(server.worktree), launch, "")
    if asks:
        await shows(panes, asks)
    return server.spool("run-1")


def text_of(file: Path) -> str:
    return file.read_text() if file.exists() else ""


async def lines_of(file: Path, number: int) -> list[str]:
    await until(lambda: text_of(file).count("\n") >= number)
    return text_of(file).splitlines()


@pytest.mark.covers("O-C12")
@pytest.mark.parametrize("way", ["screen", "plain"])
async def test_a_menu_is_answered_by_its_digit_and_the_next_one_is_another_dialog(
    server: Tmux, way: str
) -> None:
    panes = server.panes()
    launch = menus(way, "Do you want to proceed?|Yes|No", "Do you want to go on?|Yes|No")
    spool = await begin(server, panes, launch)
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        first = await asked(dialogs)
        assert (first.title, [option.label for option in first.options]) == (
            "Do you want to proceed?",
            ["Yes", "No"],
        )
        assert "touch x" in first.text
        assert await panes.answer("run-1", first, "2")
        second = await asked(dialogs)
        assert second.title == "Do you want to go on?"
        assert await panes.answer("run-1", second, "1")
        assert await next_of(dialogs) is None
    assert await lines_of(spool / "chosen", 2) == ["No", "Yes"]
    assert await lines_of(spool / "keys", 2) == ["2", "1"]


NAME = 'printf "Enter your name: "; read -r name; echo "$name" > "$GWT_SPOOL/chosen"; sleep 300'
ENTER = 'printf "Press Enter to continue"; read -r x; echo gone on > "$GWT_SPOOL/chosen"; sleep 300'
ANSWERS: dict[str, tuple[Launch, str, str, str, list[str]]] = {
    "arrows, one after the other": (menus("arrows", "Trust it?|No, exit|Later|Yes"), "Trust", "3", "Yes", ["\x1b[B", "\x1b[B", ""]),
    "words, as one line": (shell(NAME), "name:", "Ada `id`\n$(id) \x1b[A\u202e;", "Ada `id` $(id) [A;", []),
    "Enter": (shell(ENTER), "continue", "", "gone on", []),
}  # fmt: skip


@pytest.mark.parametrize("by", ANSWERS)
async def test_what_is_asked_is_answered_by(server: Tmux, by: str) -> None:
    launch, asks, answer, chosen, keys = ANSWERS[by]
    panes = server.panes()
    spool = await begin(server, panes, launch, asks)
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        dialog = await asked(dialogs)
        assert (dialog.kind is DialogKind.WORDS) is by.startswith("words")
        assert await panes.answer("run-1", dialog, answer or dialog.options[0].id)
        assert await lines_of(spool / "chosen", 1) == [chosen]
        if keys:
            assert await lines_of(spool / "keys", len(keys)) == keys
        assert await next_of(dialogs) is None
    with pytest.raises(Refused):
        await panes.answer("run-1", dialog, answer or "again")


async def test_the_pointer_may_have_been_moved_since(server: Tmux) -> None:
    panes = server.panes()
    spool = await begin(server, panes, menus("arrows", "Trust it?|No, exit|Later|Yes"))
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        dialog = await asked(dialogs)
        await server.tmux("send-keys", "-t", "=run-1:", "Down")
        await lines_of(spool / "keys", 1)
        await shows(panes, "❯ Later")
        assert await panes.answer("run-1", dialog, "1")
    assert await lines_of(spool / "chosen", 1) == ["No, exit"]


@pytest.mark.covers("O-C12")
async def test_a_question_that_was_replaced_gets_no_key(server: Tmux) -> None:
    panes = server.panes()
    launch = menus("screen", "Delete the cache?|Yes|No", "Delete everything?|Yes|No")
    spool = await begin(server, panes, launch)
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        first = await asked(dialogs)
        await server.tmux("send-keys", "-t", "=run-1:", "2")
        assert (await asked(dialogs)).title == "Delete everything?"
        with pytest.raises(Refused, match="Something else"):
            await panes.answer("run-1", first, "1")
    assert await lines_of(spool / "keys", 1) == ["2"]


async def test_of_two_answers_at_once_one_is_typed(server: Tmux) -> None:
    panes = server.panes()
    spool = await begin(server, panes, menus("screen", "Proceed?|Yes|No"))
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        dialog = await asked(dialogs)
        told = await asyncio.gather(
            *(panes.answer("run-1", dialog, "1") for _ in range(3)), return_exceptions=True
        )
    assert [one for one in told if one is True] == [True]
    assert [type(one) for one in told if one is not True] == [Refused, Refused]
    assert await lines_of(spool / "keys", 1) == ["1"]


async def test_a_program_that_does_not_heed_its_keys_has_not_moved_on(server: Tmux) -> None:
    panes = server.panes(pace=replace(QUICK, moves_on=0.5))
    spool = await begin(server, panes, menus("deaf", "Proceed?|Yes|No"))
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        dialog = await asked(dialogs)
        assert not await panes.answer("run-1", dialog, "1")
    assert await lines_of(spool / "keys", 1) == ["1"]


async def test_an_answer_without_bounds_is_refused(server: Tmux) -> None:
    panes = server.panes()
    script = 'printf "Enter your name: "; read -r name; exit 3'
    spool = await begin(server, panes, shell(script), asks="name:")
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        dialog = await asked(dialogs)
        with pytest.raises(Refused, match="at most"):
            await panes.answer("run-1", dialog, "x" * 3_000)
    assert not (spool / "exit").exists()


async def test_an_answer_reaches_a_pane_somebody_has_scrolled_back_in(server: Tmux) -> None:
    panes = server.panes()
    spool = await begin(server, panes, menus("screen", "Proceed?|Yes|No"))
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        dialog = await asked(dialogs)
        await server.tmux("copy-mode", "-t", "=run-1:")
        assert await panes.answer("run-1", dialog, "1")
    assert await lines_of(spool / "chosen", 1) == ["Yes"]


async def test_a_dialog_that_stood_before_the_bot_was_started_anew_is_told(server: Tmux) -> None:
    before = server.panes()
    await begin(server, before, menus("screen", "Proceed?|Yes|No"))
    async with aclosing(before.dialogs("run-1")) as dialogs:
        told = await asked(dialogs)
    await before.close()
    panes = server.panes()
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        assert await asked(dialogs) == told
        assert await panes.answer("run-1", told, "1")


async def test_questions_that_scroll_by_are_not_told(server: Tmux) -> None:
    panes = server.panes()
    script = """
i=0
while :; do
  printf 'Overwrite %s? [y/n] ' "$i"; i=$((i+1)); sleep 0.02; echo y; echo '1. one'; echo '2. two'
done
"""
    await begin(server, panes, shell(script))
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        await nothing_told(dialogs, 2.0)


async def test_a_program_that_does_not_read_its_terminal_asks_nothing(server: Tmux) -> None:
    panes = server.panes()
    launch = Launch(argv=("sh", "-c", 'printf "Proceed? [y/n] "; sleep 300'), stdin="nothing")
    await begin(server, panes, launch)
    await shows(panes, "Proceed?")
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        await nothing_told(dialogs, 1.5)


async def test_what_is_told_is_masked_and_cannot_deceive(server: Tmux) -> None:
    panes = server.panes(mask=lambda text: text.replace("hunter2", "[MASKED]"))
    await begin(
        server,
        panes,
        shell(
            "printf 'Send hun\\342\\200\\213ter2 to\\342\\200\\256 \\033[31mbob? [y/n] '; read x"
        ),
    )
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        assert (await asked(dialogs)).title == "Send [MASKED] to bob?"


UNHEARD = (
    "printf '\\033[?2004h'; while [ ! -e go ]; do sleep 0.02; done; printf 'Proceed? [y/n] ';"
    " read -r x; sleep 300"
)
"""It asks when it may; before, it has printed what ends the hearing of its output, so that tmux alone can tell."""


async def begin_unheard(server: Tmux, panes: TmuxPanes) -> Path:
    spool = await begin(server, panes, shell(UNHEARD), asks="")
    ending = asyncio.ensure_future(panes.ended("run-1"))
    await until(lambda: not (spool / "output").exists())
    ending.cancel()
    return spool


async def test_tmux_tells_of_what_was_printed_also_after_its_client_was_lost(server: Tmux) -> None:
    panes = server.panes()
    await begin_unheard(server, panes)
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        waiting = asyncio.ensure_future(anext(dialogs))
        done, _ = await asyncio.wait({waiting}, timeout=0.3)
        client = await server.tmux("list-clients", "-F", "#{client_pid}")
        os.kill(int(client), 9)
        await asyncio.wait({waiting}, timeout=3.0)  # it has looked again, and settled
        (server.worktree / "go").touch()
        dialog = await asyncio.wait_for(waiting, 30)
        assert not done
        assert dialog is not None
        assert dialog.title == "Proceed?"


async def test_a_hook_has_the_screen_looked_at_where_tmux_does_not_tell(server: Tmux) -> None:
    panes = server.panes()
    spool = await begin_unheard(server, panes)
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        waiting = asyncio.ensure_future(anext(dialogs))
        done, _ = await asyncio.wait({waiting}, timeout=0.3)
        assert not done
        client = await server.tmux("list-clients", "-F", "#{client_name}")
        await server.tmux("refresh-client", "-t", client.strip(), "-B", "printed")
        await asyncio.wait({waiting}, timeout=1.5)  # it has settled
        (server.worktree / "go").touch()
        await shows(panes, "Proceed?")
        done, _ = await asyncio.wait({waiting}, timeout=1.5)
        assert not done
        leave(spool, "1.json", hook_event_name="PermissionRequest", tool_name="Bash")
        dialog = await asyncio.wait_for(waiting, 30)
        assert dialog is not None
        assert dialog.title == "Proceed?"
        await until((spool / "heeded").exists)


async def test_what_only_a_hook_tells_is_answered_in_words(server: Tmux) -> None:
    panes = server.panes(
        mask=lambda text: text.replace("hunter2", "[MASKED]"), pace=replace(QUICK, no_options=0.5)
    )
    script = 'read -r x; echo "$x" > "$GWT_SPOOL/said"; sleep 300'
    spool = await begin(server, panes, shell(script), asks="")
    leave(
        spool,
        "1.json",
        hook_event_name="Notification",
        notification_type="agent_needs_input",
        message="It wants hunter2 \u202efrom you",
    )
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        dialog = await asked(dialogs)
        assert (dialog.kind, dialog.title) == (DialogKind.WORDS, "It wants [MASKED] from you")
        assert await panes.answer("run-1", dialog, "take it")
        assert await lines_of(spool / "said", 1) == ["take it"]
        assert await next_of(dialogs) is None
        with pytest.raises(Refused):
            await panes.answer("run-1", dialog, "again")


async def test_dialogs_outlive_a_lost_server_and_run(server: Tmux) -> None:
    panes = server.panes()
    await begin(server, panes, menus("screen", "Proceed?|Yes|No"))
    async with (
        aclosing(panes.dialogs("run-1")) as dialogs,
        aclosing(panes.dialogs("run-2")) as others,
    ):
        dialog = await asked(dialogs)
        waiting = asyncio.ensure_future(anext(others))
        await server.tmux("kill-server")
        assert await next_of(dialogs) is None
        with pytest.raises(Refused):
            await panes.answer("run-1", dialog, "1")
        await panes.start("run-2", str(server.worktree), menus("screen", "And now?|Yes|No"), "")
        async with asyncio.timeout(120):
            told = await waiting
        assert told is not None
        assert told.title == "And now?"
        assert await panes.answer("run-2", told, "1")


async def test_a_dialog_ends_when_its_program_is_killed(server: Tmux) -> None:
    panes = server.panes()
    await begin(server, panes, menus("screen", "Proceed?|Yes|No"))
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        await asked(dialogs)
        pane = await panes.find("run-1")
        assert pane is not None
        os.kill(pane.pid, 9)
        assert await next_of(dialogs) is None


@contextmanager
def person_at(server: Tmux, panes: TmuxPanes) -> Generator[int]:
    """Somebody with a terminal of their own, who types the command the bot gave them."""
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        ["sh", "-c", "exec " + panes.attach("run-1")],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=server.environment,
        start_new_session=True,
    )
    try:
        yield mine
    finally:
        process.terminate()
        os.close(theirs)
        os.close(mine)
        process.wait(timeout=120)


async def test_nobody_types_beside_a_person_at_the_keys(server: Tmux) -> None:
    panes = server.panes()
    spool = await begin(server, panes, menus("screen", "Proceed?|Yes|No"))
    async with aclosing(panes.dialogs("run-1")) as dialogs:
        dialog = await asked(dialogs)
        assert not await panes.watched("run-1")
        with person_at(server, panes) as keys:
            await _until_watched(panes, True)
            with pytest.raises(Refused, match="typing"):
                await panes.answer("run-1", dialog, "1")
            assert not (spool / "keys").read_text()
            os.write(keys, b"2")
            assert await next_of(dialogs) is None
        await _until_watched(panes, False)
    assert await lines_of(spool / "chosen", 1) == ["No"]


async def test_the_bot_itself_is_nobody_at_the_keys(server: Tmux) -> None:
    panes = server.panes()
    await begin(server, panes, menus("screen", "Proceed?|Yes|No"))
    assert not await panes.watched("run-1")
    assert not await panes.watched("run-nobody-knows")


async def _until_watched(panes: TmuxPanes, watched: bool) -> None:
    async with asyncio.timeout(120):
        while await panes.watched("run-1") is not watched:
            continue
