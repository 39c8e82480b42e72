"""What a repository has agents do before anybody has looked: told from git when a session begins, asked about when it changes."""

from __future__ import annotations

from bot.domain.approval import sha256
from bot.domain.events import SettingsChanged
from bot.domain.session import Session
from bot.domain.tasks import Run, Task, Workspace
from bot.engine.world import World


async def brought(
    world: World, repository: str, commit: str, agents: tuple[str, ...]
) -> tuple[str, ...]:
    """A sentence for each such file, of all agents that may be used; and for programs that git is to run there."""
    told: dict[str, None] = {}
    for agent in agents:
        names = world.agents.settings(agent)
        files = await world.repository.read(repository, commit, names) if names else {}
        told |= dict.fromkeys(world.agents.brought(agent, files) if files else ())
    # names of files may hold anything
    ran = await world.repository.programs(repository)
    return (*told, *(world.masker.mask(one) for one in ran))


async def changed(
    world: World, session: Session, order_key: str, task: Task, run: Run, workspace: Workspace
) -> SettingsChanged | None:
    """They look otherwise in the worktree than where it began, and nobody has let that pass as it is now."""
    names = world.agents.settings(run.agent)
    found = await world.worktrees.changed(workspace.path, session.base_commit, names)
    mark = sha256("\n".join(f"{path}:{found[path]}" for path in sorted(found)))
    if not found or mark in task.accepted:
        return None
    files = tuple(world.masker.mask(path) for path in sorted(found))
    return SettingsChanged(**world.mark(), answers=order_key, run_id=run.id, files=files, mark=mark)
