"""The whole story in each chat, from a request to the last merge: in Slack with GitHub, on Matrix without."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.beds.github import Hosted
from tests.beds.slack import MIKA, SlackBed
from tests.beds.synapse import Homeserver, People
from tests.faults import end
from tests.faults.in_matrix import MatrixHands
from tests.faults.in_slack import SlackHands
from tests.faults.lives import Lives
from tests.faults.stubborn import Hands, eventually, has_it_built
from tests.stories.github import agent
from tests.stories.github.hosting import hosting
from tests.stories.github.shipping import MERGE_ALL
from tests.stories.matrix_person import MatrixPerson
from tests.stories.serving import Serving, in_matrix, in_slack, serving

MERGE = "Merge into main"
AT_WORK = "At work on "
"""Says the bot when it has come up. Whoever is told to end before that ends as any program does."""


@dataclass(frozen=True)
class Story:
    folder: Path
    bot: Serving
    hands: Hands
    there: Hosted | None = None

    async def lived_through(self, lives: Lives, *, lost_agents: bool = False) -> list[str]:
        """What is not as it must be at its end."""
        async with lives.going_on():
            merge = (MERGE_ALL, "#3") if self.there else (MERGE, "Everything is built")
            await has_it_built(self.hands, self.bot, *merge)
            lives.places.clear()
        await self._lets_it_end()
        found = end.faults(self.folder, self.bot, lost_agents=lost_agents, there=self.there)
        return [*lives.wrong, *found, *self.hands.faults()]

    async def _lets_it_end(self) -> None:
        """It may be about to die at its last place: then it has still to say what it has to say."""
        if self.bot.alive:
            await self.bot.end()
        starts = self.bot.out.count(AT_WORK)
        self.bot.start()
        await eventually(self.bot, lambda: self.bot.out.count(AT_WORK) > starts, "it is at work")
        await eventually(self.bot, lambda: not self.bot.open_orders(), "nothing is left to do")
        assert await self.bot.end() == 0, self.bot.out[-1500:]


@asynccontextmanager
async def in_a_channel(folder: Path, **environ: str) -> AsyncGenerator[Story, None]:
    """The bot has been there: what was said before its very first start is none of its business."""
    async with hosting(folder) as github, SlackBed(ack_seconds=1, time_scale=0.01) as bed:
        github.there.habits.unknown_reads = 0
        settings = {**in_slack(bed, MIKA), **github.environ, **_counted(folder), **environ}
        async with serving(folder, **settings) as bot:
            bot.start()
            await eventually(bot, (bot.home / "slack" / "heard.json").exists, "it has come")
            assert await bot.end() == 0
            yield Story(folder, bot, SlackHands(bed), github.there)


@asynccontextmanager
async def in_a_room(
    folder: Path, homeserver: Homeserver, people: People, **environ: str
) -> AsyncGenerator[Story, None]:
    """The bot is in the room, and has left the rest for later."""
    mika, account = people("mika"), people("gwt")
    room = await mika.create_room()
    settings = in_matrix(homeserver.url, account.login, room, mika.id)
    async with serving(folder, **settings, **_counted(folder), **environ) as bot:
        person = MatrixPerson(mika, account.id, room)
        bot.start()
        await person.invites_the_bot()
        assert await bot.end() == 0
        yield Story(folder, bot, MatrixHands(person))


def _counted(folder: Path) -> dict[str, str]:
    """Agents that write down that they were started."""
    (folder / agent.LIES).write_text("{}")
    program = f"{sys.executable} {agent.__file__} {folder}"
    command = f"{program} --prompt-file {{prompt_file}} --conversation {{conversation}}"
    return {"GWT_AGENT": "other", "GWT_AGENT_COMMAND": command}
