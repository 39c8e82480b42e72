"""What only Claude Code does: it stays in its pane when it is done, works in the background, and asks for permission."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest

from adapters.agents.launch import AgentClis
from bot.core.runs import Launch
from bot.core.states import Outcome
from tests.clis.bench import Bench, until
from tests.clis.model import Fail, Model, Say, Shell, Wait
from tests.clis.place import QUIET

pytestmark = [
    pytest.mark.clis,
    pytest.mark.tmux,
    pytest.mark.parametrize("agent", ["claude"]),
]


@pytest.mark.covers("G-RULE-END-1")
async def test_a_turn_that_ends_while_work_goes_on_in_the_background_is_no_end(
    bench: Bench, model: Model
) -> None:
    gate = bench.place.worktree / "gate"
    waiting = f"while [ ! -e {gate} ]; do sleep 0.1; done; echo late > late.txt"
    model.plays(Shell(waiting, background=True), Say("The turn is over."), Say("All is done."))
    run = await bench.start("Work in the background.")
    await until(lambda: _told(bench, run.name, "Stop") == 1, "its turn has not ended")
    ended = asyncio.ensure_future(bench.panes.ended(run.name))
    done, _ = await asyncio.wait({ended}, timeout=2)
    assert not done
    gate.touch()
    end = await asyncio.wait_for(ended, 60)
    assert (end.outcome, end.message) == (Outcome.FINISHED, "All is done.")
    assert (bench.place.worktree / "late.txt").exists()
    assert await bench.panes.stop(run.name) == ()


async def test_a_question_for_permission_is_told_at_once_and_is_no_end(
    bench: Bench, model: Model
) -> None:
    model.plays(Shell("touch /etc/not-allowed"), Say("Never."))
    run = await bench.start("Ask me.", changed=_asking)
    await until(lambda: _told(bench, run.name, "PermissionRequest") == 1, "it asks nobody")
    await bench.shows(run, "touch /etc/not-allowed")
    assert _told(bench, run.name, "Stop") == 0
    assert await bench.panes.stop(run.name) == ()
    assert (await bench.end(run)).outcome is Outcome.KILLED


@pytest.mark.covers("G-DEP-4")
async def test_a_repository_cannot_silence_the_hooks(bench: Bench, model: Model) -> None:
    folder = bench.place.worktree / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"disableAllHooks": True}), encoding="utf-8")
    model.plays(Say("Heard."))
    _, end = await bench.run("Can you be heard?")
    assert (end.outcome, end.message) == (Outcome.FINISHED, "Heard.")


async def test_a_prompt_too_long_for_an_argument_is_read_from_its_file(
    bench: Bench, model: Model
) -> None:
    model.plays(Say("Read."))
    run, end = await bench.run("A long wish. " * 20_000)
    assert end.outcome is Outcome.FINISHED
    assert str(bench.spool(run.name) / "prompt.md") in model.asked[0].text


@pytest.mark.covers("G-RULE-END-1")
async def test_a_killed_process_is_no_finished_work(bench: Bench, model: Model) -> None:
    model.plays(Wait())
    run = await bench.start("Think.")
    await until(lambda: bool(model.asked), "it never asked its model")
    pane = await bench.panes.find(run.name)
    assert pane is not None
    await bench.server.tmux("kill-session", "-t", f"={run.name}")
    end = await bench.end(run)
    assert end.outcome in (Outcome.KILLED, Outcome.VANISHED, Outcome.FAILED)
    assert await bench.panes.stop(run.name) == ()


async def test_the_limit_of_a_subscription_is_told_with_its_end(bench: Bench, model: Model) -> None:
    subscribed = bench.place.bot | {"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-fake"}
    del subscribed["ANTHROPIC_API_KEY"]
    bench.clis = AgentClis(subscribed, extra_variables=tuple(QUIET))
    at = datetime.now(UTC)
    reset = int((at + timedelta(hours=2)).timestamp())
    headers = (
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("anthropic-ratelimit-unified-reset", str(reset)),
        ("anthropic-ratelimit-unified-representative-claim", "five_hour"),
    )
    model.plays(Fail(429, "This would exceed your limit.", "rate_limit_error", headers))
    _, end = await bench.run("Do the work.")
    limit = bench.clis.with_limit("claude", end, "", at).limit
    assert limit is not None
    assert limit.resets_at is not None
    assert 0 <= reset - limit.resets_at.timestamp() < 60, "it tells the minute"


async def test_what_was_used_is_counted_to_the_last_answer(bench: Bench, model: Model) -> None:
    model.plays(*(Shell(f"echo {number} > n.txt") for number in range(5)), Say("Counted."))
    _, end = await bench.run("Count.")
    assert end.usage is not None
    assert (end.usage.input_tokens, end.usage.output_tokens) == (600, 120)


def _asking(launch: Launch) -> Launch:
    """Without the flag that lets it work alone."""
    words = {"--dangerously-skip-permissions": "--permission-mode=default"}
    return launch.model_copy(update={"argv": tuple(words.get(one, one) for one in launch.argv)})


def _told(bench: Bench, run: str, event: str) -> int:
    return len(list(bench.spool(run).glob(f"*-{event}.json")))
