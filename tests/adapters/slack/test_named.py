"""The title of a session stands in Slack's own list of sessions, where the workspace has one."""

from __future__ import annotations

import asyncio

from bot.core.cards import StatusCard
from bot.core.people import Thread
from tests.adapters.slack.bot import DEADLINE, Bot
from tests.beds.slack import MIKA, PUBLIC, TEAM
from tests.fakes import cards

RENAME = "agents.sessions.rename"


async def a_thread(bot: Bot) -> Thread:
    root = await bot.bed.say(MIKA, PUBLIC, "What stands here is for nobody.")
    return Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=root.ts)


def status(title: str, minute: int = 0) -> StatusCard:
    return cards.STATUS.model_copy(update={"title": title, "at": cards.AT.replace(minute=minute)})


def title(bot: Bot, thread: Thread) -> str:
    return str(bot.bed.session(PUBLIC, thread.root).get("title", ""))


async def test_a_session_is_named_once_for_each_title(bot: Bot) -> None:
    thread = await a_thread(bot)
    for minute in range(3):
        await bot.chat.show(thread, status("Dark mode", minute))
        await bot.bed.until(lambda: title(bot, thread) == "Dark mode", DEADLINE)
    await bot.chat.show(thread, status("Dark and light mode", 9))
    await bot.bed.until(lambda: title(bot, thread) == "Dark and light mode", DEADLINE)
    assert len(bot.bed.called(RENAME)) == 2


async def test_a_long_title_is_cut_to_what_slack_takes(bot: Bot) -> None:
    thread = await a_thread(bot)
    await bot.chat.show(thread, status("x" * 500))
    await bot.bed.until(lambda: title(bot, thread), DEADLINE)
    assert len(title(bot, thread)) == 200


async def test_a_title_that_a_person_gave_is_left_alone_even_after_a_restart(bot: Bot) -> None:
    thread = await a_thread(bot)
    await bot.chat.show(thread, status("Dark mode"))
    await bot.bed.until(lambda: title(bot, thread) == "Dark mode", DEADLINE)
    bot.bed.world.sessions[PUBLIC, thread.root]["title"] = "Mika's own"
    changed = {"type": "agent_session_title_changed", "channel": PUBLIC, "user": MIKA}
    changed |= {"thread_ts": thread.root, "title": "Mika's own", "event_ts": "1.0"}
    await bot.bed.courier.event(changed).ack()
    await bot.chat.show(thread, status("Dark mode", 1))
    assert bot.desk.calls == []
    await bot.restart()
    await bot.chat.show(thread, status("Dark mode", 2))
    await bot.bed.all_acked(DEADLINE)
    assert title(bot, thread) == "Mika's own"
    assert len(bot.bed.called(RENAME)) == 1


async def test_where_the_workspace_has_no_sessions_it_is_tried_once(bot: Bot) -> None:
    bot.bed.faults.refuse("unknown_method", RENAME, times=None)
    for _ in range(3):
        await bot.chat.show(await a_thread(bot), status("Dark mode"))
        await bot.bed.until(lambda: bot.bed.called(RENAME), DEADLINE)
    assert len(bot.bed.called(RENAME)) == 1


async def test_a_slack_that_is_slow_to_name_holds_up_no_card(bot: Bot) -> None:
    bot.bed.faults.slow(20, RENAME)
    thread = await a_thread(bot)
    await bot.chat.show(thread, status("Dark mode"))
    assert [one for one in bot.bed.thread(PUBLIC, thread.root) if one.by_our_bot]


async def test_a_session_slack_does_not_know_yet_is_named_later(bot: Bot) -> None:
    bot.bed.faults.refuse("session_not_found", RENAME)
    thread = await a_thread(bot)
    await bot.chat.show(thread, status("Dark mode"))
    await bot.bed.until(lambda: bot.bed.called(RENAME), DEADLINE)

    async def named() -> None:
        minute = 1
        while not title(bot, thread):
            await bot.chat.show(thread, status("Dark mode", minute % 60))
            minute += 1

    await asyncio.wait_for(named(), DEADLINE)
