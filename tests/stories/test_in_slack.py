"""The whole story in a thread of Slack: real program, real tmux, real git; Slack, the model and the agents are played."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.played.script.request import REQUEST
from bot.domain.states import OverallStatus, Status
from tests.beds.slack import AKI, MIKA, SlackBed, invariants
from tests.stories.serving import in_slack, serving
from tests.stories.slack_person import SlackPerson

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


async def test_from_a_mention_to_merged_work(tmp_path: Path) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA, AKI)) as bot:
        mika = SlackPerson(bed)
        bot.start()
        await bed.connected(seconds=20)
        await mika.ask(REQUEST)
        await mika.sees("Got it", "main at")
        assert bed.reactions(mika.root) == {"eyes": ["U0BOT"]}
        await mika.presses("Use all defaults")
        for document in ("spec.md", "plan.md", "tasks.md"):
            await mika.sees(document)
        await mika.presses("Request changes")
        form = await mika.is_asked()
        field = form.told["blocks"][-1]["block_id"]
        await bed.submit(form, {field: "Name the cents in the receipt, please."})
        await mika.sees("Changes requested by Mika")
        await mika.presses("Approve", on="revision 2?")
        await mika.sees("revision 2", "approved by Mika")
        await mika.sees("the tests fail")
        await mika.presses("Merge into main", seconds=60)
        await mika.sees("COMPLETE")
        (session,) = bot.sessions()
        assert session.status is Status.COMPLETED
        assert session.result
        assert session.result.overall_status is OverallStatus.COMPLETE
        assert bot.git("branch", "--format=%(refname:short)") == "main"
        assert await bot.end() == 0
        assert sorted(file.name for file in bed.files) == sorted(
            2 * ["plan.md", "spec.md", "tasks.md"]
        )
        invariants.check(bed)
