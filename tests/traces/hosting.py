"""A fixed list of calls through the real GitHub adapter: each request, what git was asked, and what came of each call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, cast

from bot.core.errors import PortError
from bot.core.forge import ChecksWanted, CiState, PullWanted
from tests.beds.github import GithubBed
from tests.contract.forge_worlds import RealForgeWorld
from tests.traces.requests import Requests
from tests.traces.values import plain

_VARYING = {
    "commit": r"\b[0-9a-f]{40}\b",
    "mirror": r"/[^\s\"]*/mirrors/[0-9a-f]{32}\.git",
    "short": r"\b[0-9a-f]{12}\b",
    "base": r"http://127\.0\.0\.1:\d+",
    "folder": r"/[^\s\"]*/repository\b",
    "time": r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)",
}
_BRANCH, _OTHER = "agent/login", "agent/logout"
Step = Callable[[], Awaitable[object] | object]


def _steps(world: RealForgeWorld) -> Iterator[tuple[str, Step]]:
    """Work that is published, looked at and merged."""
    forge, slug, path = world.forge, world.slug, world.path
    commit = world.agent_commits(_BRANCH, {"login.py": "def login(): ...\n"})
    yield "find", lambda: forge.find(path)
    yield "publish", lambda: forge.publish(path, slug, _BRANCH, commit)
    yield "publish again", lambda: forge.publish(path, slug, _BRANCH, commit)
    yield "open", lambda: forge.open(slug, _wanted(_BRANCH, commit, "feat: log in"))
    yield "open again", lambda: forge.open(slug, _wanted(_BRANCH, commit, "feat: log in and out"))
    later = world.agent_commits(_BRANCH, {"login.py": "def login(): return 1\n"})
    yield "publish later work", lambda: forge.publish(path, slug, _BRANCH, later)
    yield "comment", lambda: world.person_comments(1, "Rename it.", trusted=True)
    yield "stranger", lambda: world.person_comments(1, "Merge this.", trusted=False)
    yield "review", lambda: world.person_reviews(1, "Almost.", "login.py", 1, "Why 1?")
    yield "pending", lambda: world.robot_says(1, "unit", CiState.PENDING, "")
    yield "look", lambda: forge.look(slug, 1)
    yield "merge too early", lambda: forge.merge(slug, 1, later, "feat: log in")
    yield "failed", lambda: world.robot_says(1, "unit", CiState.FAILED, "1 failed")
    yield "look at a failure", lambda: forge.look(slug, 1)
    yield "passed", lambda: world.robot_says(1, "unit", CiState.PASSED, "")
    yield "merge another head", lambda: forge.merge(slug, 1, commit, "feat: log in")
    checks = ChecksWanted(names=("unit",))
    yield "merge", lambda: forge.merge(slug, 1, later, "feat: log in", checks)
    yield "merge again", lambda: forge.merge(slug, 1, later, "feat: log in", checks)
    yield "look at what is merged", lambda: forge.look(slug, 1)
    yield "tip", lambda: forge.tip(slug, "main")
    yield "fetch", lambda: forge.fetch(slug, "main")
    yield "fetch nothing", lambda: forge.fetch(slug, "nowhere")
    yield "fetch head", lambda: forge.fetch_head(slug, 1)
    yield "unpublish", lambda: forge.delete_remote_branch(slug, _BRANCH, later)
    yield from _refused(world)


def _refused(world: RealForgeWorld) -> Iterator[tuple[str, Step]]:
    """A draft that is never merged, and what is nobody's business."""
    forge, slug, path = world.forge, world.slug, world.path
    other = world.agent_commits(_OTHER, {"logout.py": "def logout(): ...\n"})
    yield "publish another", lambda: forge.publish(path, slug, _OTHER, other)
    draft = _wanted(_OTHER, other, "feat: log out", draft=True)
    yield "lose an answer", lambda: world.loses_next_answer("open")
    yield "open a draft", lambda: forge.open(slug, draft)
    yield "open a draft again", lambda: forge.open(slug, draft)
    yield "merge a draft", lambda: forge.merge(slug, 2, other, "feat: log out")
    yield "make ready", lambda: forge.make_ready(slug, 2)
    yield "rule", lambda: world.blocks(2)
    yield "merge against the rules", lambda: forge.merge(slug, 2, other, "feat: log out")
    yield "close", lambda: world.person_closes(2)
    yield "look at what is closed", lambda: forge.look(slug, 2)
    yield "another repository", lambda: forge.look("acme/other", 1)
    yield "write to main", lambda: forge.publish(path, slug, "main", other)


def _wanted(branch: str, commit: str, title: str, *, draft: bool = False) -> PullWanted:
    body = f"What {branch} does"
    return PullWanted(
        branch=branch, commit=commit, base="main", title=title, body=body, draft=draft
    )


async def github(home: Path) -> list[str]:
    requests = Requests(_VARYING)
    async with GithubBed(home / "hub") as bed:
        world = await asyncio.to_thread(RealForgeWorld, home, bed)
        for name, step in _steps(world):
            calls, git_calls = len(bed.calls), len(bed.git_calls)
            try:
                outcome = step()
                if isinstance(outcome, Awaitable):
                    outcome = await cast("Awaitable[object]", outcome)
                told = plain(outcome)
            except PortError as error:
                told = str(error)
            for call in bed.calls[calls:]:
                requests.tell(call.method, call.path, call.query, call.body, call.status)
            for call in bed.git_calls[git_calls:]:
                requests.tell(f"git {call.what}", call.step, call.repository, call.status)
            requests.tell("came of", name, told)
        await world.close()
    return requests.lines


PLAYED: dict[str, Callable[[Path], Coroutine[Any, Any, list[str]]]] = {"github/forge": github}
