"""Real agent CLIs in the sandbox: they find their login, work, commit, tell their end, go on in their conversation, and are stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap
from bot.core.states import Outcome
from tests.adapters.sandbox.jail import cannot
from tests.adapters.tmux.own_server import own_server
from tests.clis.bench import Bench, missing, prepare, until
from tests.clis.model import Asked, Model, Say, Shell

pytestmark = [
    pytest.mark.clis,
    pytest.mark.tmux,
    pytest.mark.parametrize("agent", ["claude", "claude-print", "codex", "gemini", "opencode"]),
]
OUTSIDE = "cat $HOME/secret; echo 2 > ../../README.md; git branch -f main HEAD"


@pytest.fixture
async def sandboxed(model: Model, tmp_path: Path, agent: str) -> AsyncIterator[Bench]:
    if lacks := missing(agent) or cannot():
        pytest.skip(lacks)
    place = prepare(tmp_path, model.url)
    (place.home / "secret").write_text("canary")
    async with own_server(tmp_path / "server") as server:
        sandbox = Bubblewrap(server.home, place.bot, hides=(place.repository,))
        yield Bench(agent, place, server, sandbox)


async def test_it_works_commits_and_goes_on_in_its_conversation(
    sandboxed: Bench, model: Model
) -> None:
    ready = await sandboxed.clis.ready(sandboxed.agent, str(sandboxed.place.repository))
    assert ready.ok, ready.problem
    work = f"{OUTSIDE}; echo 1 > a.txt; git add a.txt; git commit -qm 'feat: a'"
    model.plays(Shell(work), Say("It is there."), Say("It still is."))
    run, end = await sandboxed.run("Do it.")
    assert end.outcome is Outcome.FINISHED, end
    assert sandboxed.commits() == ["feat: a"]
    assert (sandboxed.place.repository / "README.md").read_text() == "# A repository\n"
    assert not heard(model, "canary")
    again, end = await sandboxed.run("And now?", conversation=sandboxed.goes_on_as(run, end))
    assert end.outcome is Outcome.FINISHED, end
    assert heard(model, "Do it.")[-1] is model.asked[-1], again.launch.argv


async def test_a_stop_leaves_nothing_of_it(sandboxed: Bench, model: Model) -> None:
    model.plays(Shell("touch begun; sleep 600"), Say("Never."))
    run = await sandboxed.start("Wait.")
    await until((sandboxed.place.worktree / "begun").exists, "it has not begun")
    assert await sandboxed.panes.stop(run.name) == ()
    assert sandboxed.alive(run) == []


def heard(model: Model, word: str) -> list[Asked]:
    return [asked for asked in model.asked if word in asked.text]
