"""One bot in a channel of Slack, one GitHub, and agents whose runs are written down: what the stories of one chat play in."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.core.session import Session
from bot.core.task import Task
from tests.beds.github import GithubBed, Hosted, PullRequest
from tests.beds.slack import MIKA, SlackBed, invariants
from tests.stories.conversation import PATIENCE, Scene
from tests.stories.conversation.scene import session, task_of, told, until
from tests.stories.github import agent
from tests.stories.github.hosting import Hosting, hosting
from tests.stories.serving import Hold, Serving, in_slack, serving
from tests.stories.slack_talker import SlackTalker


@dataclass(frozen=True)
class AgentRun:
    task: str
    told: str
    """What came of the run before it."""
    run: str
    process: str
    """Environments and command lines."""


@dataclass(frozen=True)
class Workshop:
    scene: Scene
    hosting: Hosting
    slack: SlackBed
    folder: Path

    @property
    def github(self) -> GithubBed:
        return self.hosting.bed

    @property
    def there(self) -> Hosted:
        return self.hosting.there

    @property
    def bot(self) -> Serving:
        return self.scene.bot

    @property
    def person(self) -> SlackTalker:
        assert isinstance(self.scene.person, SlackTalker)
        return self.scene.person

    @property
    def session(self) -> Session:
        return session(self.scene)

    def task(self, key: str) -> Task:
        return task_of(self.session, key)

    def pull(self, key: str) -> PullRequest:
        """As GitHub has it."""
        known = self.task(key).pull_request
        assert known, told(self.scene)
        return self.there.pull(known.number)

    def runs(self, key: str, *words: str) -> list[AgentRun]:
        """Of that task's agents, those that were told this."""
        path = self.folder / agent.RUNS
        lines = path.read_text().splitlines() if path.exists() else []
        found = [AgentRun(**json.loads(line)) for line in lines]
        return [one for one in found if one.task == key and all(w in one.told for w in words)]

    def lie(self, **tasks: str) -> None:
        """From now on the agents of these tasks do that, and no others."""
        fresh = self.folder / f"{agent.LIES}.new"
        fresh.write_text(json.dumps(tasks))
        fresh.replace(self.folder / agent.LIES)

    def posts(self) -> list[str]:
        """The heads for which a pull request was asked for, as often as it was."""
        return [one.body["head"] for one in self.github.called("POST", "/pulls") if one.body]

    def looks(self, number: int) -> int:
        """How often the bot has read what people say at that pull request."""
        return len(self.github.called("GET", f"/issues/{number}/comments"))

    async def is_looked_at_again(self, number: int) -> None:
        """By a look that began after now."""
        before = self.looks(number)
        await self.until(lambda: self.looks(number) >= before + 2)

    async def until(self, seen: Callable[[], object]) -> None:
        await until(seen, lambda: self.told)

    @property
    def told(self) -> str:
        pulls = [(p.number, p.head, p.state, p.draft, p.merge_commit) for p in self.there.pulls]
        calls = [f"{c} {c.status}" for c in self.github.calls if c.method != "GET"]
        said = (
            [line.content for line in self.session.conversation[-8:]] if self.bot.sessions() else []
        )
        said += [one.reads for one in self.slack.ephemerals(MIKA)]
        return f"{told(self.scene)}\n{pulls}\n{calls[-20:]}\n{said}\n{self.session.phase} {self.session.ending.choice}"

    def kill_and_start(self) -> None:
        self.bot.kill()
        self.bot.start()


@asynccontextmanager
async def workshop(folder: Path, **environ: str) -> AsyncGenerator[Workshop, None]:
    """The bot may be killed in it."""
    program = f"{sys.executable} {agent.__file__} {folder}"
    command = f"{program} --prompt-file {{prompt_file}} --conversation {{conversation}}"
    agents = {"GWT_AGENT": "other", "GWT_AGENT_COMMAND": command}
    async with hosting(folder) as github, SlackBed() as bed:
        github.there.habits.unknown_reads = 0  # how GitHub has to think first is seen elsewhere
        settings = {**in_slack(bed, MIKA), **github.environ, **agents, **environ}
        async with serving(folder, **settings) as bot:
            assert bot.played
            scene = Scene(SlackTalker(bed), bot, bot.played, Hold(folder))
            made = Workshop(scene, github, bed, folder)
            made.lie()
            bot.start()
            await bed.connected(seconds=PATIENCE)
            yield made
            invariants.check(bed, unacked=True)
