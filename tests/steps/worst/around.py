"""What happens around people and the model: agents come to an end, tests fail, time passes, the bot dies, the base moves."""

from __future__ import annotations

from bot.core.errors import Refused
from bot.core.runs import Executed
from tests.fakes.commands import PASSED
from tests.steps.worst.answers import INJECTION, TITLE
from tests.steps.worst.scene import Scene
from tests.stories.stage import FAILED

CHECKS = (
    *(PASSED, PASSED, PASSED, PASSED, PASSED, FAILED),
    Executed(exit_code=2, seconds=1.0, output=f"{INJECTION}\n{TITLE}"),
    Executed(exit_code=None, seconds=900.0, output="still running"),
    Refused("There is no such program.", "Install it."),
)
ENDS = (*["well"] * 9, "idle", "dirty", "clash", "failed", "vanished")


class Around:
    def __init__(self, scene: Scene) -> None:
        self._scene, self._chance = scene, scene.chance

    async def begins(self) -> None:
        """A turn: from now on the tests go as it happens, and it is a second later."""
        self._scene.commands.answer(self._chance.choice(CHECKS))
        await self._scene.clock.advance(1)

    async def agents(self) -> None:
        """Some of those at work come to an end, well or not."""
        scene = self._scene
        for name in scene.panes.running():
            stands = scene.panes.folders[name] in scene.worktrees.standing
            if stands and self._chance.random() < 0.6:
                self._ends(name)

    def _ends(self, name: str) -> None:
        scene, folder = self._scene, self._scene.panes.folders[name]
        how = self._chance.choice(ENDS)
        if how in ("well", "clash"):
            file = "shared.py" if how == "clash" else f"{name}.py"
            scene.worktrees.agent_commits(folder, {file: f"{name}\n"}, f"feat: {INJECTION[:30]}")
        if how == "dirty":
            scene.worktrees.agent_leaves(folder, {"left.py": name})
        if how == "vanished":
            scene.panes.vanish(name)
        else:
            scene.panes.finish(name, int(how == "failed"), message=f"Done. {INJECTION}")

    async def time_or_world(self) -> None:
        scene = self._scene
        match self._chance.randrange(6):
            case 0:
                await scene.clock.advance(self._chance.choice([5, 90, 90, 25 * 3600]))
            case 1:
                await scene.looks_around()
            case 2:
                await scene.revive()
            case 3:
                scene.repository.commit("main", {"README.md": f"{scene.heard}\n"}, "docs: more")
            case 4:  # the operator changes the settings, and mostly back again
                scene.agents.auto_flags = self._chance.choice(["--yes", "--yes", "--all"])
            case _:
                await scene.ticks()
