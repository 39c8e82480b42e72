"""The whole story in an encrypted room on Matrix: real program, homeserver, tmux and git; the homeserver reads none of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from adapters.demo.texts import REQUEST
from bot.core.states import OverallStatus, Phase, Status
from tests.beds.synapse import Homeserver, People
from tests.stories.matrix_secret import Secret, in_a_secret_room
from tests.stories.serving import Hold

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


def check_merged(secret: Secret) -> None:
    (session,) = secret.bot.sessions()
    assert session.status is Status.COMPLETED
    assert session.ending.result
    assert session.ending.result.overall_status is OverallStatus.COMPLETE
    assert secret.bot.git("branch", "--format=%(refname:short)") == "main"
    assert list(secret.in_clear()) == []


@pytest.mark.covers("O-MATRIX-1")
async def test_from_a_mention_to_merged_work_with_a_restart_on_the_way(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    async with in_a_secret_room(tmp_path, homeserver, people) as secret:
        bot, mika = secret.bot, secret.mika
        await mika.ask(REQUEST)
        await mika.clicks("✅ Use all defaults")
        await mika.sees("revision 1?")
        await mika.until(lambda: len(secret.files) == 3)
        spec, *_ = [await secret.read(file) for file in secret.files]
        assert "Feature Specification" in spec
        bot.kill()
        await mika.reply("Name the cents in the receipt, please.")
        bot.start()
        await mika.clicks("✅ Approve", on="revision 2?")
        await mika.sees("revision 2", f"approved by {mika.person.id}")
        await mika.clicks("✅ Merge into main", on="Everything is built")
        await mika.clicks("✅ Merge into main", on="Merge 3 branches")
        await mika.sees("COMPLETE")
        check_merged(secret)


@pytest.mark.covers("O-MATRIX-3")
async def test_where_only_words_approve_the_story_is_told_in_words_and_stops_at_one(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    hold = Hold(tmp_path)
    only_words = {"MATRIX_ENCRYPTED_APPROVALS": "text", **hold.pace}
    async with in_a_secret_room(tmp_path, homeserver, people, **only_words) as secret:
        bot, mika = secret.bot, secret.mika
        await mika.ask(REQUEST)
        await mika.clicks("✅ Use all defaults")
        plan = await mika.sees("revision 1?")
        await mika.person.react(mika.room, plan.event_id, "✅ Approve")
        await mika.sees("reactions are not encrypted", "approve")
        await mika.reply("approve")
        await mika.sees("revision 1", f"approved by {mika.person.id}")
        await bot.until(bot.agents)
        await mika.reply("stop")
        await mika.sees(f"Stopped by {mika.person.id}")
        await bot.until(lambda: not bot.agents())
        hold.release()
        await mika.reply("resume")
        await mika.sees("Resumed by")
        await mika.sees("Everything is built")
        await mika.reply("merge into main")
        await mika.sees("Merge 3 branches")
        await mika.reply("merge into main")
        await mika.sees("COMPLETE")
        check_merged(secret)


@pytest.mark.covers("O-MATRIX-2")
async def test_with_its_keys_lost_it_comes_back_on_a_signed_device_and_goes_on(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    async with in_a_secret_room(tmp_path, homeserver, people) as secret:
        bot, mika = secret.bot, secret.mika
        await mika.ask(REQUEST)
        await mika.is_offered("✅ Use all defaults")
        (before,) = await secret.devices()
        bot.kill()
        shutil.rmtree(bot.home / "matrix" / "crypto")
        bot.start(MATRIX_PASSWORD=secret.account.password)
        await mika.sees("A few questions")
        await bot.until(lambda: (bot.home / "matrix" / "crypto" / "login.json").exists())
        await mika.clicks("✅ Use all defaults")
        await mika.sees("revision 1?")
        await mika.reply("Name the cents in the receipt, please.")
        await mika.sees("revision 2?")
        ((now, keys),) = (await secret.devices()).items()
        assert now != before
        assert len(keys["signatures"][secret.account.user_id]) == 2, "nobody vouches for it"
        (session,) = bot.sessions()
        assert session.phase is Phase.APPROVING
        assert list(secret.in_clear()) == []
