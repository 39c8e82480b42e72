"""`gwt-bot demo`: a complete session on a sample repository. Only the model and the coding agent are scripted."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

from pydantic import SecretStr

from adapters.console.chat import ConsoleChat, ConsoleOptions
from adapters.console.input import DemoInput
from adapters.demo import STAGE_VARIABLE
from adapters.demo.model import PlayedModel
from adapters.demo.sample import is_merged, make_sample
from adapters.demo.texts import REQUEST
from adapters.local.handshake import ask_bot
from adapters.store import InstanceLock, JournalStore
from bot.cli.assemble import AssemblyOptions, create_panes
from bot.cli.console import run_local_console
from bot.cli.page import show_address
from bot.cli.process import local_person, say
from bot.cli.serve import console_gate, running_bot_with_console
from bot.core.commands import HELP
from bot.core.errors import BotError
from bot.settings import Settings

FOLDER = Path(".demo")
STAGE = {STAGE_VARIABLE: "demo"}
PROGRESS_SECONDS = 3.0
"""Seconds between progress updates: the demo's tasks take seconds, not minutes."""
AUTO_PAUSE = 1.5


async def run(*, auto: bool, fresh: bool, umask: int) -> None:
    folder = await _prepared_folder(fresh=fresh)
    if await asyncio.to_thread(is_over, folder):
        sys.stdout.write(
            f"The demo in {folder} has been played to its end. Play it anew with --fresh.\n"
        )
        return
    person = local_person()
    lines = DemoInput(REQUEST, AUTO_PAUSE) if auto else None
    chat = ConsoleChat(folder / "home", person, lines=lines, options=ConsoleOptions(words=HELP))
    await chat.print_sentences(
        "This is the demo: the model and the coding agent are played, everything else is real.",
        f"The sample repository is {folder / 'shop'}.",
        f"Type a request, for instance: {REQUEST}",
    )
    async with PlayedModel({**os.environ, **STAGE}) as model:
        settings = settings_for(folder, model.base_url)
        plan = AssemblyOptions(
            current=lambda: settings,
            chats={"console": chat},
            gate=console_gate(person),
            stage=STAGE,
            umask=umask,
        )
        await run_local_console(plan, chat)
    if lines and not lines.completed:
        raise BotError("The demo did not come to its end; the cards above say why.")


async def run_page(*, opens: bool, fresh: bool, umask: int) -> None:
    """Play the demo in the local page, until Ctrl-C."""
    folder = await _prepared_folder(fresh=fresh)
    home = folder / "home"
    if told := await ask_bot(home, "page"):
        await show_address(str(told[0]), home, opens=opens)
        return
    async with PlayedModel({**os.environ, **STAGE}) as model:
        settings = settings_for(folder, model.base_url)
        plan = AssemblyOptions(
            current=lambda: settings,
            chats={},
            gate=console_gate(local_person()),
            example=REQUEST,
            stage=STAGE,
            umask=umask,
        )
        async with running_bot_with_console(plan) as (_, _, page):
            if opens:
                say(
                    "This is the demo: the model and the coding agent are played, everything else is real.",
                    f"The sample repository is {folder / 'shop'}. Ctrl-C ends it; started again, it goes on.",
                )
            await show_address(await page.address(), home, opens=opens)
            await asyncio.Event().wait()


async def _prepared_folder(*, fresh: bool) -> Path:
    folder = await asyncio.to_thread(FOLDER.absolute)
    if fresh:
        await end_agents(folder)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    await asyncio.to_thread(make_sample, folder / "shop")
    return folder


def is_over(folder: Path) -> bool:
    """Whether the demo's work is merged and no session is left unfinished."""
    if not is_merged(folder / "shop"):
        return False
    with InstanceLock(folder / "home"):
        store = JournalStore(folder / "home")
        try:
            return not store.load()
        finally:
            store.close()


async def end_agents(folder: Path) -> None:
    """Kill the agents of the previous demo."""
    panes = create_panes(settings_for(folder, "http://127.0.0.1:9"), str, STAGE)
    await panes.kill_server()
    await panes.close()


def settings_for(folder: Path, base_url: str) -> Settings:
    """Return the demo's own settings. Nothing of the operator's configuration or keys is used."""
    return Settings.model_construct(
        openai_base_url=base_url,
        openai_model="played-model",
        openai_api_key=SecretStr("played"),
        gwt_home=folder / "home",
        gwt_repository=folder / "shop",
        gwt_agent="played",
        progress_seconds=PROGRESS_SECONDS,
    )
