"""`gwt-bot eval --suite small` against a played endpoint: every score is known beforehand, and no answer is paid for twice."""

from __future__ import annotations

import asyncio
import io
import json
import re
import tomllib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from bot.cli.evaluate import AT_ONCE, WORSE, EvalOptions, run
from bot.cli.recordings import TRIES, RecordedLlm
from bot.core.console import ExitCode
from bot.core.errors import Refused, SettingsError, Unavailable
from bot.core.suites import patch_of
from bot.steps.suite_trials import load_suite
from tests.fakes.llm import ScriptedLlm
from tests.fakes.llm_server import LlmServer, Talk, says
from tests.program.environment import Given, given_by

ANSWERS = tomllib.loads(Path(__file__).with_name("played_answers.toml").read_text("utf-8"))
REPOSITORIES = load_suite("small")
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
SCORES = {
    "locate": 0.556,
    "questions, none needless": 0.833,
    "questions, what is open": 0.5,
    "language, questions": 0.667,
    "plan, valid": 0.889,
    "plan, complete": 0.667,
    "plan, covering": 0.611,
    "plan, files": 0.778,
    "plan, cited": 0.556,
    "language, plan": 1.0,
    "judge, right": 0.667,
    "judge, wrong": 0.667,
    "judge, incomplete": 1.0,
    "judge, cheating": 1.0,
}


def options(**changed: Any) -> EvalOptions:
    chosen: dict[str, Any] = {
        "suite": "small",
        "repository": "",
        "parts": "locate,questions,plan,judge",
        "cases": 1,
        "most": 0,
        "yes": True,
        "as_json": True,
        "answers": "",
        "replay": "",
        "compare": [],
    }
    return EvalOptions(**{**chosen, **changed})


@dataclass
class Played:
    """The endpoint. `breaks_after`: so many answers, then it is away."""

    recording: Path
    url: str = ""
    asked: list[str] = field(default_factory=list[str])
    breaks_after: int = 10_000
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it has answered so often."""

    async def behave(self, talk: Talk) -> None:
        if len(self.asked) >= self.breaks_after:
            self.enough.set()
            await talk.useless()
            return
        system, data, *_ = talk.asked.texts
        name = system.split()[1]
        self.asked.append(name)
        await says(answer(name, json.loads(data)), usage=USAGE)(talk)


def answer(name: str, data: dict[str, Any]) -> str:
    """What the model says to a question."""
    request = next(r for one in REPOSITORIES for r in one.requests if r.text == data["request"])
    known = ANSWERS[request.id]
    match name:
        case "locate":
            return json.dumps({"files": known["locate"]})
        case "clarify":
            asked = [
                {"text": one, "options": list[str](), "default": "x"} for one in known["questions"]
            ]
            return json.dumps({"title": known["title"], "questions": asked})
        case "specify":
            return _spec(known["requirements"])
        case "plan":
            return _plan(known["plan"])
        case "tasks":
            return json.dumps({"tasks": [_task(known)]})
        case "breakdown":
            return json.dumps({"score": 90})
        case _:
            return _verdict(data, known["verdicts"][_number_of_change(request.id, data["diff"])])


def _spec(requirements: list[str]) -> str:
    stated = "\n".join(f"- **FR-00{n}**: {text}" for n, text in enumerate(requirements, 1))
    return (
        "# Feature Specification: X\n\n## User Scenarios & Testing\n\n### User Story 1 - X (Priority: P1)\n\n"
        f"## Requirements\n\n{stated}\n\n## Success Criteria\n\n- **SC-001**: It is so for all of them.\n"
    )


def _plan(summary: str) -> str:
    if not summary:
        return "I would begin with a look at the code."
    return (
        f"# Implementation Plan: X\n\n## Summary\n\n{summary}\n\n## Technical Context\n\n**Testing**: as it is\n\n"
        "## Project Structure\n\n**Structure Decision**: as it is\n"
    )


def _task(known: dict[str, Any]) -> dict[str, object]:
    return {
        "key": "T001",
        "title": "Do it",
        "description": "All of it is done as the plan says.",
        "acceptance": ["It is done."],
        "requirements": known["serves"],
        "files": known["files"],
        "read_first": known["read_first"],
    }


def _number_of_change(id: str, diff: str) -> int:
    """Which of the changes of a request is shown, by the lines that it adds."""
    shown = re.findall(r"^\d+ +\+(.*)$", diff, re.MULTILINE)
    for suite in REPOSITORIES:
        for request in suite.requests:
            if request.id == id:
                added = [
                    re.findall(
                        r"^\+(?!\+\+ )(.*)$", patch_of(suite.trees[-1][1], after), re.MULTILINE
                    )
                    for _, _, after in suite.changes(request)
                ]
                return added.index(shown)
    raise AssertionError(id)


def _verdict(data: dict[str, Any], verdict: str) -> str:
    path = re.findall(r"^=== (\S+)", data["diff"], re.MULTILINE)[0]
    line = re.findall(r"^(\d+) +\+", data["diff"], re.MULTILINE)[0]
    done = verdict == "done"
    criteria = [
        {"id": one["id"], "met": done, "evidence": [f"{path}:{line}"] if done else []}
        for one in data["criteria"]
    ]
    reasons = [] if done else ["Something is missing."]
    return json.dumps({"verdict": verdict, "reasons": reasons, "criteria": criteria})


@pytest.fixture
async def played(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Played]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    given: Given = given_by(monkeypatch, tmp_path / "home")
    one = Played(tmp_path / "home" / "eval" / "m-1.jsonl")
    async with LlmServer(one.behave) as server:
        given(OPENAI_BASE_URL=server.url, OPENAI_MODEL="m-1", LLM_CONTEXT_WINDOW="32000")
        yield one


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(capsys.readouterr().out))


def put(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")


def scores(found: dict[str, Any]) -> dict[str, float]:
    return {part: one["score"] for part, one in found["parts"].items()}


async def test_each_score_is_what_the_answers_deserve(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run(options()) == ExitCode.COMPLETE
    found = printed(capsys)
    assert scores(found) == SCORES
    assert found["parts"]["questions, none needless"]["asked"] == pytest.approx(4 / 3, abs=0.01)
    assert sum(one["tokens"] for one in found["parts"].values()) == 110 * len(played.asked)
    assert found["models"] == ["m-1"]


async def test_a_replay_is_free_and_the_same(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    await run(options())
    first, asked = printed(capsys), len(played.asked)
    assert await run(options(replay=str(played.recording), yes=False)) == ExitCode.COMPLETE
    assert (printed(capsys), len(played.asked)) == (first, asked)
    await run(options(as_json=False))
    table = capsys.readouterr().out
    assert "False alarms: 1 of 3. Missed: 1 of 9." in table
    assert len(played.asked) == asked, "the same command asks nothing twice"


async def test_what_was_answered_before_an_interruption_is_not_asked_again(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    await run(options())
    whole, everything = scores(printed(capsys)), len(played.asked)
    played.recording.unlink()
    played.asked.clear()
    played.breaks_after = 15
    under_way = asyncio.create_task(run(options()))
    await played.enough.wait()
    under_way.cancel()
    with pytest.raises(asyncio.CancelledError):
        await under_way
    assert "the same command goes on from there" in capsys.readouterr().err
    with pytest.raises(BaseExceptionGroup) as lacking:
        await run(options(replay=str(played.recording)))
    assert "does not hold the answer" in str(lacking.value.exceptions[0])
    capsys.readouterr()
    with played.recording.open("a") as torn:
        torn.write('{"answer": {"question": "12')
    played.breaks_after = 10_000
    await run(options())
    assert scores(printed(capsys)) == whole
    # answers that were on their way when it was interrupted
    assert everything <= len(played.asked) < everything + AT_ONCE
    await run(options(replay=str(played.recording)))
    assert scores(printed(capsys)) == whole


async def test_a_damaged_recording_is_refused_with_what_to_do(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    await run(options(parts="locate"))
    lines = [line for line in played.recording.read_text("utf-8").splitlines() if line]
    played.recording.write_text("\n".join([lines[0], lines[1][:40], *lines[2:], ""]), "utf-8")
    for how in ({"replay": str(played.recording)}, {}):
        with pytest.raises(Refused, match=r"line 2 of .* is damaged") as damaged:
            await run(options(parts="locate", **how))
        assert "Remove that line" in damaged.value.remedy
    with pytest.raises(Refused, match="there is no recording"):
        await run(options(replay="nowhere.jsonl"))
    put("other.jsonl", "\n")
    with pytest.raises(Refused, match="names the model is missing"):
        await run(options(replay="other.jsonl"))


async def test_a_run_that_got_worse_ends_with_its_own_exit_code(
    played: Played, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two cases of three may be chance, three are not."""
    await run(options(parts="judge"))
    saved = printed(capsys)
    results = [{**one, "score": 1.0} for one in saved["results"]]
    put("then.json", json.dumps({**saved, "models": ["m-0"], "results": results}))
    compared = options(parts="judge", as_json=False, compare=["then.json"])
    assert await run(compared) == ExitCode.COMPLETE
    shown = capsys.readouterr().out
    assert re.search(r"Part +m-0 +m-1\n", shown)
    assert re.search(r"judge, right .* -33 +-100 to \+0\n", shown)
    for known in ANSWERS.values():
        monkeypatch.setitem(known, "verdicts", ["continue"] * 4)
    played.recording.unlink()
    assert await run(compared) == WORSE
    assert re.search(r"judge, right .* -100 +-100 to -100 +worse\n", capsys.readouterr().out)


async def test_no_more_is_spent_than_was_allowed(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run(options(parts="judge", most=3 * 110)) == ExitCode.INCOMPLETE
    assert len(played.asked) < 3 + AT_ONCE
    assert "not answered" in capsys.readouterr().out
    assert await run(options(parts="judge")) == ExitCode.COMPLETE
    assert len(played.asked) == 12


async def test_an_endpoint_that_is_away_is_waited_for_once(tmp_path: Path) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    busy = Unavailable("busy", retry_after=7)
    model = ScriptedLlm(
        [busy, busy, "yes", *[busy] * TRIES, busy, Unavailable("no", "", 900), "no"]
    )
    llm = RecordedLlm(tmp_path / "answers.jsonl", model, sleep=sleep)

    async def ask(data: str) -> str:
        return (await llm.complete("system", data, schema=None)).text

    assert (await ask("a"), slept) == ("yes", [7, 7])
    for question in "bcd":
        with pytest.raises(Unavailable):
            await ask(question)
    assert slept == [7] * (2 + TRIES - 1)
    assert (await ask("e"), await ask("a")) == ("no", "yes")
    assert (llm.new, llm.reused) == (2, 1)


async def test_without_a_model_it_is_said_what_is_missing(
    played: Played, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_MODEL")
    with pytest.raises(Refused, match="AI settings are required") as missing:
        await run(options())
    assert "OPENAI_MODEL" in missing.value.remedy
    assert await run(options(parts="find")) == ExitCode.COMPLETE
    assert printed(capsys)["parts"].keys() == {"find, first 3", "find, first 5"}


async def test_nothing_is_asked_before_somebody_agrees(
    played: Played, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(Refused, match="nobody can be asked here"):
        await run(options(yes=False))
    assert re.match(
        r"About \d+ questions to m-1, [\d,]+ tokens in 3 cases", capsys.readouterr().err
    )
    assert (played.asked, played.recording.exists()) == ([], False)


async def test_other_files_are_refused_before_anything_is_asked(played: Played) -> None:
    put("no.json", "{}")
    put("history.json", '{"suite": "", "models": [], "parts": {}, "results": []}')
    for name in ("nowhere.json", "no.json", "history.json"):
        with pytest.raises(SettingsError, match=f"--compare: {name}"):
            await run(options(compare=[name]))
    assert played.asked == []
