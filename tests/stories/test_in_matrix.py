"""The whole story in a room on Matrix: real program, homeserver, tmux and git; the model and the agents are played."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.played.script.request import REQUEST
from bot.domain.states import OverallStatus, Status
from tests.beds.synapse import Homeserver, People
from tests.stories.matrix_person import MatrixPerson
from tests.stories.serving import in_matrix, serving

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


async def test_from_a_mention_to_merged_work(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    mika, account = people("mika"), people("gwt")
    room = await mika.create_room()
    environ = in_matrix(homeserver.url, account.login, room, mika.id)
    async with serving(tmp_path, **environ) as bot:
        anna = MatrixPerson(mika, account.id, room)
        bot.start()
        await anna.invites_the_bot()
        await anna.ask(REQUEST)
        await anna.sees("Got it", "main at")
        assert mika.posts(room)[0].reacted("👀") == (account.id,)
        await anna.clicks("✅ Use all defaults")
        for document in ("spec.md", "plan.md", "tasks.md"):
            await anna.sees(document)
        await anna.clicks("✏ Request changes")
        await anna.sees("Write in this thread what should be different")
        await anna.reply("Name the cents in the receipt, please.")
        await anna.sees(f"Changes requested by {mika.id}")
        await anna.clicks("✅ Approve", on="revision 2?")
        await anna.sees("revision 2", f"approved by {mika.id}")
        await anna.sees("the tests fail")
        await anna.clicks("✅ Merge into main", on="Everything is built", seconds=60)
        await anna.clicks("✅ Merge into main", on="Merge 3 branches")
        await anna.sees("COMPLETE")
        (session,) = bot.sessions()
        assert session.status is Status.COMPLETED
        assert session.result
        assert session.result.overall_status is OverallStatus.COMPLETE
        assert bot.git("branch", "--format=%(refname:short)") == "main"
        assert await bot.end() == 0
