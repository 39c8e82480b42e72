"""The whole story in a thread of Slack: real program, real tmux, real git; Slack, the model and the agents are played."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.demo.texts import REQUEST
from bot.core.states import OverallStatus, Status
from tests.beds.slack import AKI, GUEST, MIKA, Message, SlackBed, invariants
from tests.beds.slack.forms import elements_in
from tests.beds.slack.names import Json
from tests.stories.serving import PATIENCE, Hold, Serving, in_slack, serving
from tests.stories.slack_person import SlackPerson

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


@pytest.mark.covers("O-C1", "O-C2")
async def test_from_a_mention_to_merged_work(tmp_path: Path) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA, AKI)) as bot:
        mika = SlackPerson(bed)
        bot.start()
        await bed.connected()
        await mika.ask(REQUEST)
        await mika.sees("Got it", "main at")
        assert bed.reactions(mika.root) == {"eyes": ["U0BOT"]}
        await mika.presses("Use all defaults")
        for document in ("spec.md", "plan.md", "tasks.md"):
            await mika.sees(document)
        await mika.presses("Request changes")
        form = await mika.is_asked()
        await bed.submit(form, {"said": "Name the cents in the receipt, please."})
        await mika.sees("Changes requested by Mika")
        await mika.presses("Approve", on="revision 2?")
        await mika.sees("revision 2", "approved by Mika")
        await mika.sees("the tests fail")
        await mika.presses("Merge into main")
        await mika.sees("COMPLETE")
        await mika.sees("In short")
        (session,) = bot.sessions()
        assert session.status is Status.COMPLETED
        assert session.ending.result
        assert session.ending.result.overall_status is OverallStatus.COMPLETE
        assert bot.git("branch", "--format=%(refname:short)") == "main"
        await bed.all_acked()
        assert await bot.end() == 0
        assert sorted(file.name for file in bed.files) == sorted(
            2 * ["plan.md", "spec.md", "tasks.md"]
        )
        invariants.check(bed)


async def at_work(mika: SlackPerson) -> None:
    """From the request to agents that take their time."""
    await mika.ask(REQUEST)
    await mika.presses("Use all defaults")
    await mika.presses("Approve")
    await mika.sees("Running")


async def by_button(bed: SlackBed, mika: SlackPerson, bot: Serving) -> None:
    await mika.presses("Stop")


async def in_a_word(bed: SlackBed, mika: SlackPerson, bot: Serving) -> None:
    await mika.reply("stop")


async def natively(bed: SlackBed, mika: SlackPerson, bot: Serving) -> None:
    await bed.until(lambda: bed.session_status(mika.channel, mika.root) == "processing")
    await bed.native_stop(MIKA, mika.channel, mika.root)


async def by_slash(bed: SlackBed, mika: SlackPerson, bot: Serving) -> None:
    await bed.slash(MIKA, mika.channel, "/interrupt")
    await mika.is_told("Passed on to session")


async def by_slash_with_an_id(bed: SlackBed, mika: SlackPerson, bot: Serving) -> None:
    (session,) = bot.sessions()
    await bed.slash(MIKA, mika.channel, "/interrupt", session.short)


async def by_shortcut(bed: SlackBed, mika: SlackPerson, bot: Serving) -> None:
    await bed.message_shortcut(MIKA, mika.cards[-1].ts, "session_interrupt")


WAYS = (by_button, in_a_word, natively, by_slash, by_slash_with_an_id, by_shortcut)


@pytest.mark.covers("O-C9")
async def test_stopped_from_anywhere_it_goes_on_after_resume(tmp_path: Path) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA)) as bot:
        mika = SlackPerson(bed)
        bot.start(GWT_BOT_PACE="30")
        await bed.connected()
        await at_work(mika)
        for number, stopped in enumerate(WAYS, start=1):
            await bot.until(bot.agents)
            await stopped(bed, mika, bot)
            await mika.until(lambda n=number: count(mika, "nothing is lost") == n, "a stop")
            await bot.until(lambda: not bot.agents())
            (session,) = bot.sessions()
            assert session.status is Status.PAUSED, stopped.__name__
            before = bot.runs()
            await mika.presses("Resume")
            await mika.until(lambda n=number: count(mika, "Resumed by Mika") == n, "a resume")
            await bot.until(lambda before=before: bot.runs() > before)
        await bed.all_acked()
        invariants.check(bed)


def count(mika: SlackPerson, words: str) -> int:
    return sum(words in card.reads for card in mika.cards)


async def killed(bot: Serving, bed: SlackBed) -> None:
    """And Slack has noticed."""
    bot.kill()
    await bed.until(lambda: not bed.sockets.open)


async def test_a_bot_that_is_killed_and_started_again_goes_on_where_it_was(tmp_path: Path) -> None:
    hold = Hold(tmp_path)
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA), **hold.pace) as bot:
        mika = SlackPerson(bed)
        bot.start()
        await bed.connected()
        await mika.ask(REQUEST)
        await mika.sees("A few questions")
        await killed(bot, bed)
        await mika.reply("defaults")  # nobody hears it; Slack tells it again
        bot.start()
        await mika.sees("revision 1?")
        await killed(bot, bed)
        bot.start()
        await bed.connected()
        await mika.presses("Approve")
        await mika.sees("Running")
        await killed(bot, bed)
        hold.release()
        bot.start()
        await bed.connected()
        await mika.presses("Merge into main")
        await mika.sees("Merge chosen by Mika")
        await killed(bot, bed)
        bot.start()
        await mika.sees("COMPLETE")
        (session,) = bot.sessions()
        assert session.status is Status.COMPLETED
        assert [task.state for task in session.tasks] == ["Completed"] * 3
        invariants.check(bed, unacked=True)


async def test_who_may_not_is_told_so_alone_and_changes_nothing(tmp_path: Path) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA, GUEST)) as bot:
        mika, aki, guest = SlackPerson(bed), SlackPerson(bed, AKI), SlackPerson(bed, GUEST)
        bot.start()
        await bed.connected()
        await mika.ask(REQUEST)
        await mika.presses("Use all defaults")
        await mika.sees("revision 1?")
        for other in (aki, guest):
            other.root = mika.root
            await other.presses("Approve")
            await other.presses("Discard")
            await other.reply("approve")  # talk of somebody who does not count
            await other.presses("Request changes")
            await bed.until(
                lambda other=other: len(bed.ephemerals(other.user)) == 3, seconds=PATIENCE
            )
            assert all("may not do that" in told.reads for told in bed.ephemerals(other.user))
        assert bed.views == []
        (session,) = bot.sessions()
        assert session.phase == "approving"
        assert bed.ephemerals(MIKA) == []
        await bed.all_acked()
        invariants.check(bed)


async def test_what_is_missing_is_told_in_the_thread_and_it_goes_on_when_it_is_there(
    tmp_path: Path,
) -> None:
    nothing = {"OPENAI_BASE_URL": "", "OPENAI_MODEL": "", "OPENAI_API_KEY": ""}
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA), **nothing) as bot:
        mika = SlackPerson(bed)
        bot.start()
        await bed.connected()
        await mika.ask(REQUEST)
        card = await mika.sees("AI settings are required", "OPENAI_BASE_URL")
        (bot.home / ".env").touch(mode=0o600)
        (bot.home / ".env").write_text(
            f"OPENAI_BASE_URL={bot.model}\nOPENAI_MODEL=played-model\nOPENAI_API_KEY=played\n"
        )
        await mika.sees("A few questions")
        assert mika.card("AI settings are required") is None or card.edits
        await bed.all_acked()
        invariants.check(bed)


async def test_questions_are_answered_by_menus_by_a_form_or_in_words(tmp_path: Path) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA)) as bot:
        bot.start()
        await bed.connected()
        for answers in (by_menus, by_form, in_words):
            mika = SlackPerson(bed)
            await mika.ask(REQUEST)
            card = await mika.sees("A few questions")
            await answers(bed, mika, card)
            await mika.sees("Questions, answered", "Yes, one after the other", "by Mika")
            session = next(s for s in bot.sessions() if s.thread.root == mika.root)
            first, second, third = session.intent.clarifications
            assert first.answer == "Yes, one after the other"
            assert second.answer == second.default
            assert third.answer == third.default
        await bed.all_acked()
        invariants.check(bed)


async def by_menus(bed: SlackBed, mika: SlackPerson, card: Message) -> None:
    await bed.choose(MIKA, card.ts, select_of(card.blocks), "Yes, one after the other")
    await mika.presses("Send these answers")


async def by_form(bed: SlackBed, mika: SlackPerson, card: Message) -> None:
    await mika.presses("Answer in a form")
    form = await mika.is_asked()
    await bed.submit(form, {select_of(form.told["blocks"]): "Yes, one after the other"})


async def in_words(bed: SlackBed, mika: SlackPerson, card: Message) -> None:
    await mika.reply("D1: 2")
    await mika.sees("2 questions are still open")
    await mika.presses("Use defaults for the rest")


def select_of(blocks: list[Json]) -> str:
    """The first menu."""
    elements = (one for _, one in elements_in(blocks) if one["type"] == "static_select")
    return str(next(elements)["action_id"])
