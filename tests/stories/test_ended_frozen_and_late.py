"""The program is told to end, stands still, or has its clock set while agents work: nothing is missed, nothing is done twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.core.states import Outcome, RunState, TaskState
from tests.beds.slack import MIKA, Message, SlackBed
from tests.stories.asking.chats import Asked, InAChannel, in_a_channel
from tests.stories.asking.dialogs import state, works
from tests.stories.asking.plays import Plays
from tests.stories.conversation.scene import Scene, is_so, session, task_of, told, until
from tests.stories.serving import PATIENCE, Hold, in_slack, serving
from tests.stories.slack_person import SlackPerson
from tests.stories.test_slack_faults import is_planned, only

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
Property = Callable[[str, object], None]
LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
LONGEST_END = 60.0
"""Seconds, on a machine that does other things as well; two are promised."""
EDITS = 3


async def at_work(asked: Asked) -> None:
    await works(asked)
    await is_so(asked.scene, lambda one: state(one, "T001") is RunState.RUNNING)
    await until(lambda: asked.plays.starts("T001"), lambda: told(asked.scene))


async def is_done_in_one_run(asked: Asked) -> None:
    done = await is_so(asked.scene, lambda one: task_of(one, "T001").state is TaskState.COMPLETED)
    runs = task_of(done, "T001").runs
    assert len(runs) == 1, runs
    run = runs[0]
    assert run.outcome is Outcome.FINISHED
    assert run.started_at
    assert run.ended_at
    assert run.started_at <= run.ended_at <= done.updated_at
    assert len(asked.plays.starts("T001")) == 1


async def test_told_to_end_it_is_gone_at_once_and_its_agents_stay_at_work(
    tmp_path: Path, record_property: Property
) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T001", [["wait", "end"]])
        await at_work(asked)
        before = asked.plays.alive("T001")
        begun = time.monotonic()
        assert await asked.scene.bot.end() == 0
        took = time.monotonic() - begun
        record_property("R2", f"told to end with agents at work: over after {took:.1f} s")
        assert took < LONGEST_END
        assert asked.plays.alive("T001") == before != []
        await asked.person.bot_comes_back()
        asked.plays.release("end")
        await is_done_in_one_run(asked)


async def test_standing_still_it_misses_nothing_and_does_late_what_was_asked_once(
    tmp_path: Path,
) -> None:
    """Slack gives up on what was pressed, and tells again and again what was said."""
    async with SlackBed(ack_seconds=1) as bed, serving(tmp_path, **in_slack(bed, MIKA)) as bot:
        bed.leeway.unacked = True
        mika = SlackPerson(bed)
        bot.start()
        await bed.connected(seconds=PATIENCE)
        await is_planned(mika)
        card = await mika.sees("revision 1?")
        os.kill(bot.pid, signal.SIGSTOP)
        clicks = [await bed.click(MIKA, card.ts, "Approve") for _ in range(3)]
        await bed.mention(MIKA, mika.channel, "decisions", mika.root)
        await bed.until(lambda: all(one.over.is_set() for one in bed.deliveries), PATIENCE)
        assert not any(one and one.acked for one in (*clicks, bed.deliveries[-1]))
        os.kill(bot.pid, signal.SIGCONT)
        await mika.sees("Decisions")
        await mika.sees("approved by")
        await bot.until(lambda: all(t.run for t in only(bot.sessions()).tasks[:2]))
        assert len([one for one in mika.cards if "Decisions" in one.reads]) == 1
        talk = only(bot.sessions()).conversation
        assert sum("Approved revision" in one.content for one in talk) == 1
        assert all(len(task.runs) <= 1 for task in only(bot.sessions()).tasks)
        assert len(bot.agents()) == len(set(bot.agents()))
        assert "Traceback" not in bot.out


@pytest.mark.faults
@pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed: apt install faketime")
async def test_set_by_an_hour_both_ways_its_clock_does_not_hold_up_the_status_or_an_agent(
    tmp_path: Path, record_property: Property
) -> None:
    shift = tmp_path / "shift"
    shift.write_text("+0\n")
    clock = {
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME_TIMESTAMP_FILE": str(shift),
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_NO_CACHE": "1",
        "NO_FAKE_STAT": "1",
    }
    # what is not acked while a socket is opened anew comes again after 9 seconds
    async with SlackBed(time_scale=0.15) as bed, in_that_channel(bed, tmp_path, clock) as asked:
        asked.plays.task("T001", [["chatter", "end"]])
        await at_work(asked)
        gaps: dict[str, float] = {}
        for by in ("+0", "+3600", "-3600"):
            shift.write_text(f"{by}\n")
            gaps[by] = await between_edits(asked)
        figures = ", ".join(f"{by} s: {gap:.1f} s" for by, gap in gaps.items())
        record_property("R8", f"the real clock set, a status asked for each second: {figures}")
        asked.plays.release("end")
        await is_done_in_one_run(asked)
        at = [one.timestamp for one in session(asked.scene).conversation]
        assert at == sorted(at)


@asynccontextmanager
async def in_that_channel(
    bed: SlackBed, folder: Path, environ: dict[str, str]
) -> AsyncGenerator[Asked, None]:
    plays = Plays(folder)
    async with serving(folder, **in_slack(bed, MIKA), **plays.environ, **environ) as bot:
        assert bot.played
        person = InAChannel(bed)
        person.scene = Scene(person, bot, bot.played, Hold(folder))
        await person.bot_comes_back()
        yield Asked(person.scene, person, plays)
        await bed.all_acked(PATIENCE)
        assert "Traceback" not in bot.out


async def between_edits(asked: Asked) -> float:
    """Seconds from one to the next, of the live status."""
    assert isinstance(asked.person, InAChannel)
    bed, begun = asked.person.bed, time.monotonic()

    def edits() -> int:
        return sum(len(one.versions) for one in statuses(bed))

    before = edits()
    await until(
        lambda: edits() >= before + EDITS, lambda: f"{edits() - before} edits: {told(asked.scene)}"
    )
    return (time.monotonic() - begun) / EDITS


def statuses(bed: SlackBed) -> list[Message]:
    return [one for one in bed.world.messages if one.by_our_bot and "T001" in one.reads]
