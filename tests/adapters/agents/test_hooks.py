"""Claude Code's hooks: what it tells lands in the run's folder, whole, in order, and whatever happens it is let go on."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.agents.clis import HOOK_EVENTS, claude_hooks

ANSWER = {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 7}


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """A folder with a name that a shell would stumble over."""
    path = tmp_path / "a spool's $(folder)"
    path.mkdir()
    for name, text in claude_hooks(str(path)).items():
        (path / name).write_text(text, encoding="utf-8")
        (path / name).chmod(0o700)
    (path / "started").touch()
    return path


def call(spool: Path, event: str, told: str) -> subprocess.CompletedProcess[bytes]:
    """As Claude Code does it: the command of the settings in a shell, the event on its standard input."""
    settings = json.loads((spool / "settings.json").read_text(encoding="utf-8"))
    (entry,) = settings["hooks"][event][0]["hooks"]
    return subprocess.run(
        ["sh", "-c", entry["command"]],
        input=told.encode(),
        env={"PATH": os.environ["PATH"], "HOME": str(spool.parent / "home")},
        cwd=spool.parent,
        capture_output=True,
        check=False,
    )


def transcript(spool: Path, *answers: dict[str, object]) -> Path:
    path = spool.parent / "home" / ".claude" / "projects" / "x" / "8a3c.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in answers), encoding="utf-8")
    return path


def answer(id: str, text: str, *, later: float = 1.0, **usage: int) -> dict[str, object]:
    moment = datetime.now(UTC) + timedelta(seconds=later)
    content = [{"type": "text", "text": text}]
    message = {"id": id, "content": content, "usage": {**ANSWER, **usage}}
    return {"type": "assistant", "timestamp": moment.isoformat(), "message": message}


def report(spool: Path) -> dict[str, object]:
    return json.loads((spool / "report").read_text(encoding="utf-8"))


def stop(transcript: Path | str, said: str = "Done.") -> str:
    return json.dumps({"transcript_path": str(transcript), "last_assistant_message": said})


@pytest.mark.covers("G-US4.1", "G-FR-006")
@pytest.mark.parametrize("event", HOOK_EVENTS)
def test_every_event_is_kept_whole_and_nothing_is_said_back(spool: Path, event: str) -> None:
    told = json.dumps({"hook_event_name": event, "text": "x" * 200_000})
    done = call(spool, event, told)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (kept,) = spool.glob(f"*-{event}.json")
    assert kept.read_text(encoding="utf-8") == told
    assert kept.stat().st_mode & 0o777 == 0o600
    assert not list(spool.glob(".*.json"))


def test_their_names_sort_by_time(spool: Path) -> None:
    for number in range(3):
        call(spool, "Notification", json.dumps({"number": number}))
    names = sorted(spool.glob("*-Notification.json"))
    assert [json.loads(one.read_text())["number"] for one in names] == [0, 1, 2]


@pytest.mark.covers("G-DEP-4")
@pytest.mark.parametrize("event", HOOK_EVENTS)
def test_a_hook_that_cannot_do_its_work_stops_nobody(spool: Path, event: str) -> None:
    for name in ("started", "settings.json"):
        kept = (spool / name).read_bytes()
        (spool / name).unlink()
        (spool / name).write_bytes(kept) if name == "settings.json" else None
    assert call(spool, event, "this is no JSON").returncode == 0


def test_the_usage_of_the_run_is_added_up_once_for_each_answer(spool: Path) -> None:
    path = transcript(
        spool,
        answer("earlier", "An earlier run.", later=-3600),
        answer("one", "I begin.", output_tokens=1),
        answer("one", "I begin.", output_tokens=9),
        {"type": "user", "message": {"content": "usage"}},
        answer("two", "Done."),
    )
    call(spool, "Stop", stop(path))
    usage = {"input_tokens": 240, "output_tokens": 16, "cost": None}
    assert report(spool)["usage"] == usage
    assert report(spool)["message"] == "Done."


def test_agents_it_has_sent_out_count_too(spool: Path) -> None:
    path = transcript(spool, answer("one", "Done."))
    sent = path.with_suffix("") / "subagents" / "agent-1.jsonl"
    sent.parent.mkdir(parents=True)
    sent.write_text(json.dumps(answer("two", "Looked.")), encoding="utf-8")
    call(spool, "SessionEnd", stop(path))
    assert report(spool)["usage"] == {"input_tokens": 240, "output_tokens": 14, "cost": None}


def test_only_its_own_folder_is_read(spool: Path, tmp_path: Path) -> None:
    inside = transcript(spool, answer("one", "Done."))
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_bytes(inside.read_bytes())
    link = inside.with_name("link.jsonl")
    link.symlink_to(elsewhere)
    for path in (elsewhere, link, inside.parent / ".." / ".." / ".." / ".." / "elsewhere.jsonl"):
        call(spool, "Stop", stop(path))
        assert report(spool)["usage"] is None


def test_the_end_of_a_transcript_that_comes_a_little_later_is_waited_for(spool: Path) -> None:
    path = transcript(spool, answer("one", "I begin."))
    line = json.dumps(answer("two", "Done."))
    late = f"sleep 0.2; cat >> {path}"
    with subprocess.Popen(["sh", "-c", late], stdin=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        writer.stdin.write(f"{line}\n".encode())
        writer.stdin.close()
        call(spool, "Stop", stop(path))
    assert report(spool)["usage"] == {"input_tokens": 240, "output_tokens": 14, "cost": None}
