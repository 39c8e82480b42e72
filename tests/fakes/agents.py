"""Agents in memory: always able to run, unless the test says otherwise. Starting one is the panes' business."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.core.errors import Refused
from bot.core.runs import AgentReady, Launch, Limit, RunEnd
from bot.core.states import Outcome


class FakeAgents:
    """`problems` names the agents that cannot run, and why. `asked` and `launched` tell what was wanted.

    A failure whose message begins with `LIMIT` is a limit of an hour.
    """

    def __init__(
        self,
        *names: str,
        problems: Mapping[str, str] | None = None,
    ) -> None:
        self.names = names or ("played",)
        self.problems = dict(problems or {})
        self.auto_flags = "--yes"
        self.obeys: tuple[str, ...] = ()
        """Files of a repository."""
        self.asked: list[tuple[str, str]] = []
        self.answered: list[bool] = []
        """Whether somebody was said to be there for what it asks."""
        self.launched: list[tuple[str, str, bool]] = []
        """Agent, conversation, and whether it was to be gone on with."""

    async def ready(self, agent: str, repository: str, *, answered: bool = True) -> AgentReady:
        self.asked.append((agent, repository))
        self.answered.append(answered)
        problem = self.problems.get(agent)
        if agent not in self.names:
            problem = f"There is no agent called “{agent}”."
        if problem:
            return AgentReady(agent=agent, ok=False, problem=problem, remedy="Choose another one.")
        return AgentReady(agent=agent, ok=True, version="1.0")

    def settings(self, agent: str) -> tuple[str, ...]:
        return self.obeys

    def brought(self, agent: str, files: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(f"{agent} obeys {path}." for path in self.obeys if path in files)

    def flags(self, agent: str) -> str:
        return self.auto_flags

    def uses_marker(self, agent: str) -> bool:
        return False

    async def launch(
        self,
        agent: str,
        *,
        cwd: str,
        prompt: str,
        conversation: str,
        resume: bool,
        nonce: str,
        spool: str,
    ) -> Launch:
        if agent not in self.names:
            raise Refused(f"There is no agent called “{agent}”.", remedy="Choose another one.")
        self.launched.append((agent, conversation, resume))
        how = "--resume" if resume else "--conversation"
        return Launch(argv=(agent, how, conversation, "{prompt_file}"))

    def with_limit(self, agent: str, end: RunEnd, screen: str, at: datetime) -> RunEnd:
        if end.outcome is not Outcome.FAILED or not end.message.startswith("LIMIT"):
            return end
        limit = Limit(says=end.message, resets_at=at + timedelta(hours=1))
        return end.model_copy(update={"limit": limit})
