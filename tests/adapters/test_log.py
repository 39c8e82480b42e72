"""The log file: complete, private, bounded, masked, and never in the way."""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from adapters.log import MAX_LINE_BYTES, TRUNCATED, LogFile, log_directory, start_logging

CANARY = "sk-canary-0123456789abcdef"
PROGRAM = logging.getLogger("bot.test")


def mask(text: str) -> str:
    return text.replace(CANARY, "[MASKED:CANARY]")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogFile]:
    """A log that is started, and taken away again with all it changed."""
    root = logging.getLogger()
    levels = {name: logging.getLogger(name).level for name in ["openai", "libtmux", "apscheduler"]}
    level = root.level
    log = start_logging(tmp_path / "home", Path("/srv/repo"), mask)
    yield log
    for handler in [one for one in root.handlers if isinstance(one, LogFile)]:
        root.removeHandler(handler)
    root.setLevel(level)
    for name, old in levels.items():
        logging.getLogger(name).setLevel(old)


def lines(log: LogFile) -> list[dict[str, Any]]:
    files = sorted(log.directory.glob("gwt.jsonl.*"))
    return [json.loads(line) for file in files for line in file.read_bytes().split(b"\n")[:-1]]


def record(message: str, *args: object) -> logging.LogRecord:
    """For what the handlers of the test runner would not bear."""
    return PROGRAM.makeRecord(PROGRAM.name, logging.INFO, "", 0, message, args, None)


def text(log: LogFile) -> str:
    return "".join(file.read_text() for file in log.directory.iterdir())


@pytest.mark.covers("G-RULE-LOG-4")
def test_a_record_is_one_json_object_a_line(log: LogFile) -> None:
    PROGRAM.info("RunEnded\nwith %d lines", 2, extra={"data": {"run": "r1", "codes": (0, None)}})
    PROGRAM.warning("日本語")
    first, second = lines(log)
    assert first["level"] == "INFO"
    assert first["category"] == "bot.test"
    assert first["event"] == "RunEnded\nwith 2 lines"
    assert first["data"] == {"run": "r1", "codes": [0, None]}
    assert datetime.fromisoformat(first["time"]).utcoffset() == timedelta(0)
    assert second["event"] == "日本語"
    assert "日本語" in text(log)


def test_every_logger_reaches_the_file_and_the_chatty_ones_only_with_warnings(log: LogFile) -> None:
    logging.getLogger("agent.master.llm").info("call")
    logging.getLogger("openai").info("chatter")
    logging.getLogger("apscheduler.scheduler").info("chatter")
    logging.getLogger("openai").warning("trouble")
    assert [line["event"] for line in lines(log)] == ["call", "trouble"]


def fail_deeply() -> None:
    try:
        os.environ[CANARY]  # not there
    except KeyError as error:
        raise ValueError(f"because of {CANARY}") from error


class Leaky:
    def __str__(self) -> str:
        return f"Leaky({CANARY})"


def in_an_exception() -> None:
    try:
        fail_deeply()
    except ValueError:
        PROGRAM.exception("it failed")


LEAKS: dict[str, Callable[[], None]] = {
    "the message": lambda: PROGRAM.info(f"key {CANARY}"),
    "an argument": lambda: PROGRAM.info("key %s", CANARY),
    "an object as argument": lambda: PROGRAM.info("key %s", Leaky()),
    "data": lambda: PROGRAM.info("x", extra={"data": {"deep": [{"k": CANARY}]}}),
    "a key of data": lambda: PROGRAM.info("x", extra={"data": {CANARY: 1}}),
    "an object in data": lambda: PROGRAM.info("x", extra={"data": {"it": Leaky()}}),
    "a logger's name": lambda: logging.getLogger(CANARY).info("x"),
    "an exception and its cause": in_an_exception,
    "a library's warning": lambda: logging.getLogger("openai").warning(CANARY),
}


@pytest.mark.covers("R-SECRET-RULE-1")
@pytest.mark.parametrize("way", LEAKS)
def test_no_secret_reaches_the_file_by(way: str, log: LogFile) -> None:
    LEAKS[way]()
    assert "[MASKED:CANARY]" in text(log)
    assert CANARY not in text(log)
    [line] = lines(log)
    if "exception" in way:
        for words in ("Traceback", "fail_deeply", "direct cause"):
            assert words in line["error"]


def test_arguments_that_do_not_fit_are_told_and_masked(log: LogFile) -> None:
    log.handle(record("%d keys", CANARY))
    assert lines(log)[0]["event"] == "%d keys ('[MASKED:CANARY]',)"


def test_what_matrix_says_of_a_malformed_event_is_kept_without_what_was_said_in_it(
    log: LogFile,
) -> None:
    said = {"type": "m.room.message", "content": {"msgtype": 7, "body": "our secret plan"}}
    event = {"event_id": "$1", "sender": "@a:b", "origin_server_ts": 1, **said}
    nio: Any = import_module("nio")  # it has no types
    assert isinstance(nio.RoomMessage.parse_event(event), nio.BadEvent)
    nio.SyncResponse.from_dict({"next_batch": said})
    assert [line["category"] for line in lines(log)] == ["nio.events.misc", "nio.responses"]
    assert "our secret plan" not in text(log)


@pytest.mark.parametrize("old_umask", [0o000, 0o077, 0o022])
def test_files_are_0600_in_0700_whatever_the_umask(old_umask: int, tmp_path: Path) -> None:
    before = os.umask(old_umask)
    try:
        handler = LogFile(log_directory(tmp_path / "home", Path("/srv/repo")), mask)
        handler.handle(logging.makeLogRecord({"msg": "x"}))
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert {modes[path] for path in modes if path.is_dir()} == {0o700}
    assert {modes[path] for path in modes if path.is_file()} == {0o600}


def test_what_was_too_open_is_closed_to_others(tmp_path: Path) -> None:
    directory = log_directory(tmp_path / "home", Path("/srv/repo"))
    directory.mkdir(parents=True)
    for one in (tmp_path / "home", directory.parent, directory):
        one.chmod(0o755)
    handler = LogFile(directory, mask)
    handler.prepare()
    handler.handle(logging.makeLogRecord({"msg": "one"}))
    (file,) = directory.iterdir()
    file.chmod(0o644)
    handler.handle(logging.makeLogRecord({"msg": "two"}))
    found = (tmp_path / "home", directory.parent, directory, file)
    assert [one.stat().st_mode & 0o777 for one in found] == [0o700] * 3 + [0o600]


def test_a_link_in_the_place_of_the_file_is_not_followed(log: LogFile, tmp_path: Path) -> None:
    aim = tmp_path / "aim"
    today = datetime.now(UTC).date()
    for day in (today, today + timedelta(days=1)):
        (log.directory / f"gwt.jsonl.{day}").symlink_to(aim)
    PROGRAM.info("x")
    assert not aim.exists()


@pytest.mark.covers("G-RULE-LOG-4")
def test_the_day_changes_at_midnight_utc(log: LogFile) -> None:
    midnight = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
    for moment in (midnight - 0.5, midnight + 0.5):
        log.handle(logging.makeLogRecord({"msg": "x", "created": moment}))
    names = sorted(file.name for file in log.directory.iterdir())
    assert names == ["gwt.jsonl.2026-02-28", "gwt.jsonl.2026-03-01"]


def test_logs_older_than_thirty_days_go_and_nothing_else_does(tmp_path: Path, log: LogFile) -> None:
    today = datetime.now(UTC).date()
    logs = tmp_path / "home" / "logs"
    kept = [
        log.directory / f"gwt.jsonl.{today - timedelta(days=29)}",
        log.directory / "gwt.jsonl.notes",
        log.directory / "gwt.jsonl.2020-99-99",
        log.directory / "other.2020-01-01",
        logs / "sessions" / "s1" / "gwt.jsonl.2020-01-01",
    ]
    gone = [
        log.directory / f"gwt.jsonl.{today - timedelta(days=31)}",
        logs / "elsewhere" / "gwt.jsonl.2020-01-01",
    ]
    for file in kept + gone:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    start_logging(tmp_path / "home", Path("/srv/repo"), mask)
    assert [file for file in kept if not file.exists()] == []
    assert [file for file in gone if file.exists()] == []


@pytest.mark.parametrize("data", [
    "x" * 3_000_000, "\0" * 3_000_000, "日" * 3_000_000, [7] * 2_000_000,
    {str(n): n for n in range(300_000)},
], ids=["text", "escapes", "japanese", "a list", "a mapping"])  # fmt: skip
def test_a_record_is_bounded_and_says_that_it_was_cut(data: object, log: LogFile) -> None:
    PROGRAM.info("before", extra={"data": data})
    (file,) = log.directory.iterdir()
    assert 10_000 < file.stat().st_size <= MAX_LINE_BYTES
    assert TRUNCATED in text(log)
    assert lines(log)[0]["event"] == "before"


@pytest.mark.parametrize("place", range(len(CANARY) + 1))
def test_a_secret_across_the_cut_leaves_no_half_of_itself(place: int, tmp_path: Path) -> None:
    handler = LogFile(tmp_path / "home" / "logs" / "x", mask)
    data = "-" * place + f"{CANARY} " * (2 * MAX_LINE_BYTES // len(CANARY))
    handler.handle(logging.makeLogRecord({"msg": "x", "data": data}))
    assert TRUNCATED in text(handler)
    assert "sk-" not in text(handler)


def test_what_cannot_be_shown_is_counted_and_told_later(log: LogFile) -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no")

    PROGRAM.info("x", extra={"data": Broken()})
    log.handle(record("it holds %s", Broken()))
    PROGRAM.info("after")
    lost, after = lines(log)
    assert lost["data"] == {"count": 2}
    assert lost["level"] == "WARNING"
    assert after["event"] == "after"


def test_data_within_itself_comes_to_an_end(log: LogFile) -> None:
    loop: list[object] = []
    loop.append(loop)
    PROGRAM.info("x", extra={"data": loop})
    PROGRAM.info("x", extra={"data": {"number": float("nan"), "path": Path("/x")}})
    assert TRUNCATED in text(log)
    assert lines(log)[1]["data"] == {"number": "nan", "path": "/x"}


def test_a_line_that_a_crash_cut_off_spoils_no_other(log: LogFile) -> None:
    PROGRAM.info("one")
    (file,) = log.directory.iterdir()
    with file.open("ab") as end:
        end.write(b'{"event": "tw')
    start_logging(log.directory.parents[1], Path("/srv/repo"), mask)  # and it does not write twice
    PROGRAM.info("three")
    whole = [line for line in file.read_text().splitlines() if line.endswith("}")]
    assert [json.loads(line)["event"] for line in whole] == ["one", "three"]
    file.unlink()
    log.directory.rmdir()
    PROGRAM.info("four")
    assert [line["event"] for line in lines(log)] == ["four"], (
        "one that was taken away begins again"
    )


FULL_DISK = """
import logging, resource, signal, sys
from pathlib import Path
from adapters.log import start_logging
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = start_logging(Path(sys.argv[1]), Path("/srv/repo"), str)
logging.info("before")
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
for n in range(5):
    logging.info("x" * 1500)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
logging.info("after")
print("alive")
"""


def test_a_full_disk_never_stops_the_program_and_leaves_whole_lines(tmp_path: Path) -> None:
    assert signal.SIGXFSZ
    assert resource.RLIMIT_FSIZE
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert (done.stdout, done.stderr) == ("alive\n", "")
    (file,) = (tmp_path / "logs" / "srv-repo").iterdir()
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert events[0]["event"] == "before"
    assert events[-2]["event"] == "records were lost"
    assert events[-2]["data"]["count"] + len(events) - 3 == 5
    assert events[-1]["event"] == "after"


def test_a_home_that_cannot_be_written_does_not_stop_the_program(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file stands there")
    handler = LogFile(tmp_path / "home" / "logs" / "x", mask)
    handler.handle(logging.makeLogRecord({"msg": "x"}))
    assert handler.lost == 1


def test_threads_do_not_mix_their_lines(log: LogFile) -> None:
    def write(name: str) -> None:
        for _ in range(50):
            PROGRAM.info(name * 200)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = [cast("str", line["event"]) for line in lines(log)]
    assert len(events) == 200
    assert all(len(set(event)) == 1 for event in events)


@pytest.mark.covers("G-RULE-LOG-4")
def test_each_working_directory_has_a_log_of_its_own(tmp_path: Path) -> None:
    paths = ["/home/me/repo", "/home/me-repo", "/home-me/repo", "/sessions", "/", "/home/me/レポ"]
    paths += ["/home/me/repo.", "/x" * 300, "/x" * 301, "/..", "/home/me/re po", "/HOME/me/repo"]
    names = [log_directory(tmp_path, Path(path)).name for path in paths]
    assert names[0] == "home-me-repo"
    assert len(set(names)) == len(paths)
    assert "sessions" not in names
    for path, name in zip(paths, names, strict=True):
        assert log_directory(tmp_path, Path(path)).parent == tmp_path / "logs"
        assert name.isascii()
        assert name[0] not in "-."
        assert len(name) < 200


def test_a_days_file_has_a_bound_and_what_came_after_is_counted(tmp_path: Path) -> None:
    small = LogFile(tmp_path / "home" / "logs" / "x", mask, largest=600)
    for number in range(20):
        small.emit(record("event %d", number))
    [path] = small.directory.glob("gwt.jsonl.*")
    assert path.stat().st_size <= 600
    assert small.lost > 10
    large = LogFile(small.directory, mask)
    large.lost = small.lost
    large.emit(record("the next day"))
    told = [json.loads(line) for line in path.read_text().splitlines()]
    assert told[-2]["event"] == "records were lost"
    assert told[-2]["data"] == {"count": small.lost}
