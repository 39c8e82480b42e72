"""What every agent CLI does for the bot: it works, ends, fails, is stopped and goes on."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from bot.core.runs import CompletionSource
from bot.core.states import Outcome
from tests.adapters.agents.programs import is_gone
from tests.clis.bench import Bench, appears
from tests.clis.model import Fail, Model, Say, Shell, Wait
from tests.clis.place import CANARIES

AGENTS = ("claude", "claude-print", "codex", "gemini", "opencode")
WORK = "printf 'hello\\n' > hello.txt && git add hello.txt && git commit -q -m 'feat: say hello'"
pytestmark = [
    pytest.mark.clis,
    pytest.mark.tmux,
    pytest.mark.parametrize("agent", AGENTS),
]


async def test_it_can_run_here_and_tells_its_version(bench: Bench) -> None:
    ready = await bench.clis.ready(bench.agent, str(bench.place.repository))
    assert (ready.ok, ready.problem, ready.warnings) == (True, "", ())
    assert ready.version


@pytest.mark.covers(
    "G-US4.1", "G-RULE-END-6", "G-RULE-END-7", "G-RULE-END-8", "G-FR-006", "G-FR-007"
)
async def test_it_writes_a_file_commits_it_and_ends(
    bench: Bench, model: Model, latency: list[str]
) -> None:
    model.plays(Shell(WORK), Say("It says hello now."))
    run = await bench.start('Make it say hello. 挨拶を返すこと。\n`x` $(y) "z"')
    end = await bench.end(run)
    latency.append(f"{bench.agent}: {time.monotonic() - run.began:.2f} s from start to end")
    assert (end.outcome, end.message) == (Outcome.FINISHED, "It says hello now.")
    hook = bench.agent == "claude"
    assert end.source is (CompletionSource.HOOK if hook else CompletionSource.PROCESS_EXIT)
    assert end.usage is not None
    assert (end.usage.input_tokens, end.usage.output_tokens) == (200, 40)
    assert bench.commits() == ["feat: say hello"]
    assert '挨拶を返すこと。\\n`x` $(y) \\"z\\"' in model.asked[0].text
    assert await bench.panes.stop(run.name) == ()
    assert not bench.alive(run)


async def test_people_can_read_in_the_pane_what_it_does(bench: Bench, model: Model) -> None:
    model.plays(Shell("echo working > work.txt"), Say("The work is done."))
    run = await bench.start("Do the work.")
    await bench.end(run)
    screen = await bench.shows(run, "echo working > work.txt", "The work is done.")
    assert '{"' not in screen, "no JSON for people"


async def test_an_error_of_its_model_is_a_failure_in_the_models_words(
    bench: Bench, model: Model
) -> None:
    model.plays(Fail(400, "The cat sat on the server"))
    _, end = await bench.run("Do the work.")
    assert end.outcome is Outcome.FAILED
    assert "The cat sat on the server" in end.message
    assert bench.clis.with_limit(bench.agent, end, "", datetime.now(UTC)).limit is None


async def test_a_stop_leaves_nothing_alive_not_even_what_left_its_session(
    bench: Bench, model: Model
) -> None:
    here = bench.place.worktree
    model.plays(
        Shell(f"setsid sleep 317 & echo $! > {here}/away; echo $$ > {here}/tool; sleep 318")
    )
    run = await bench.start("Sleep.")
    for name in ("away", "tool"):
        await appears(here / name)
    assert bench.alive(run)
    assert await bench.panes.stop(run.name) == ()
    for name in ("away", "tool"):
        assert is_gone(int((here / name).read_text(encoding="utf-8")))
    assert not bench.alive(run)
    assert (await bench.end(run)).outcome is Outcome.KILLED


async def test_the_same_conversation_goes_on_after_an_end_and_after_a_kill(
    bench: Bench, model: Model
) -> None:
    model.plays(Say("One."), Shell("touch second; sleep 319"))
    run, end = await bench.run("This is the FIRST wish.")
    conversation = bench.goes_on_as(run, end)
    second = await bench.start("This is the SECOND wish.", conversation=conversation)
    await appears(bench.place.worktree / "second")
    assert await bench.panes.stop(second.name) == ()
    killed = await bench.end(second)
    assert bench.goes_on_as(second, killed) == conversation
    model.plays(Say("Three."))
    _, third = await bench.run("This is the THIRD wish.", conversation=conversation)
    assert (third.outcome, third.message) == (Outcome.FINISHED, "Three.")
    for wish in ("FIRST", "SECOND", "THIRD"):
        assert f"This is the {wish} wish." in model.asked[-1].text
    assert third.usage is not None
    assert third.usage.input_tokens == 100, "what this run has used, not the conversation"


async def test_a_conversation_that_never_began_is_begun_instead(bench: Bench, model: Model) -> None:
    model.plays(Say("Begun."))
    _, end = await bench.run("Go on.", conversation="5a3c6d1e-2f4b-4c8d-9e0f-1a2b3c4d5e6f")
    assert (end.outcome, end.message) == (Outcome.FINISHED, "Begun.")


async def test_no_secret_of_the_bot_is_in_any_process_of_the_run(
    bench: Bench, model: Model
) -> None:
    wait = Wait()
    seen = bench.place.worktree / "seen"
    model.plays(
        Shell(
            f"cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline > {seen}.part 2>/dev/null;"
            f" mv {seen}.part {seen}; env > {seen}.env"
        ),
        wait,
    )
    run = await bench.start("Look around.")
    await appears(seen)
    mine = seen.with_name("seen.env")
    await appears(mine)
    wait.go.set()
    await bench.end(run)
    environment = mine.read_text(encoding="utf-8")
    assert "GWT_SPOOL" in environment
    assert not [name for name, value in CANARIES.items() if value in environment]
    shown = await bench.server.tmux("show-environment", "-g")
    everything = seen.read_bytes().decode("utf-8", "replace") + shown
    assert not [name for name, value in CANARIES.items() if value in everything]


@pytest.mark.covers("O-X14")
async def test_a_limit_of_its_account_is_understood(bench: Bench, model: Model) -> None:
    if bench.agent == "opencode":
        pytest.skip("OpenCode waits for the end of a limit by itself, and says nothing meanwhile")
    at = datetime.now(UTC)
    reset = int((at + timedelta(hours=2)).timestamp())
    model.plays(LIMITS[bench.agent](reset))
    _, end = await bench.run("Do the work.")
    limit = bench.clis.with_limit(bench.agent, end, "", at).limit
    assert limit is not None, end
    if bench.agent == "codex":
        assert limit.resets_at is not None
        assert abs(limit.resets_at.timestamp() - reset) < 60, "it tells the minute"


def _of_claude(reset: int) -> Fail:
    headers = (
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("anthropic-ratelimit-unified-reset", str(reset)),
        ("anthropic-ratelimit-unified-representative-claim", "five_hour"),
    )
    return Fail(429, f"Claude AI usage limit reached|{reset}", "rate_limit_error", headers)


def _of_codex(reset: int) -> Fail:
    more = (("plan_type", "plus"), ("resets_at", reset))
    return Fail(429, "The usage limit has been reached", "usage_limit_reached", more=more)


def _of_gemini(reset: int) -> Fail:
    violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}
    failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7200s"}
    more = (("details", [failure, retry]),)
    return Fail(429, "You exceeded your current quota.", "RESOURCE_EXHAUSTED", more=more)


LIMITS = {
    "claude": _of_claude,
    "claude-print": _of_claude,
    "codex": _of_codex,
    "gemini": _of_gemini,
}
