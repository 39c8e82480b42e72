"""`gwt-bot console` as a script, and the commands that only look: the real program in a pipe, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.cradle import completed
from tests.test_house import ROOT


class Bench:
    """A project, a home, and the program."""

    def __init__(self, folder: Path) -> None:
        self.home, self.shop, self.temporary = folder / "home", folder / "shop", folder / "tmp"
        for made in (self.shop, self.temporary):
            made.mkdir()
        (self.shop / "basket.py").write_text("TOTAL = 0\n")
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "begin")

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home.parent),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "error",
            "GWT_HOME": str(self.home),
            "TMPDIR": str(self.temporary),
        }

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", str(self.shop), *arguments], check=True)

    def run(self, *arguments: str, script: str = "") -> subprocess.CompletedProcess[str]:
        if "console" not in arguments:
            return completed(["bot", *arguments], self.environ, self.shop)
        process = self.started(*arguments)
        out, err = process.communicate(script, timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def started(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "bot", *arguments],
            cwd=self.shop,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    yield Bench(tmp_path)
    shutil.rmtree(tmp_path / "tmp", ignore_errors=True)


@pytest.mark.covers(
    "R-REPL-MODE-4",
    "R-REPL-MODE-7",
    "R-REPL-MODE-9",
    "R-REPL-OPTION-print-project-path",
    "R-REPL-CONFIG-5",
    "R-REPL-CONFIG-6",
)
def test_a_script_works_in_a_fresh_copy_and_is_told_where_and_prompts_nobody(bench: Bench) -> None:
    done = bench.run("console", "--print-project-path", script="help\nsessions\n")
    assert done.returncode == 0, done.stdout + done.stderr
    path = Path(re.findall(r"^PROJECT_PATH=(.*)$", done.stdout, re.MULTILINE)[0])
    assert path.parent == bench.temporary
    assert (path / "basket.py").read_text() == "TOTAL = 0\n"
    assert "›" not in done.stdout
    # one after the other, as they were written
    assert done.stdout.index("Commands") < done.stdout.index("There are none yet")


@pytest.mark.covers("R-REPL-MODE-8")
def test_what_it_says_is_there_before_the_script_goes_on(bench: Bench) -> None:
    """A pipe is filled in blocks by programs that do not flush: then nothing would come before the end."""
    script = bench.started("console")
    assert script.stdin
    assert script.stdout
    script.stdin.write("help\n")
    script.stdin.flush()
    seen = ""
    while "Commands" not in seen:
        line = script.stdout.readline()
        assert line, seen
        seen += line
    out, _ = script.communicate("sessions\n", timeout=120)
    assert "There are none yet" in out
    assert script.returncode == 0


@pytest.mark.covers("R-REPL-CONFIG-3", "R-REPL-CONFIG-6", "R-PROPERTY-32")
def test_fixed_mode_works_in_the_folder_itself_and_makes_none(bench: Bench) -> None:
    options = ("--project-mode", "fixed", "--project-root", str(bench.shop))
    done = bench.run("console", *options, "--print-project-path", script="help\n")
    assert done.stdout.startswith(f"PROJECT_PATH={bench.shop}\n")
    assert list(bench.temporary.glob("gwt-bot-*")) == []
    missing = bench.shop / "missing"
    done = bench.run("console", "--project-mode", "fixed", "--project-root", str(missing))
    assert done.returncode == 1
    assert "none is made" in done.stderr
    assert not missing.exists()


@pytest.mark.covers("R-REPL-CONFIG-4")
def test_a_root_that_does_not_count_is_warned_about(bench: Bench) -> None:
    done = bench.run("console", "--project-root", str(bench.shop))
    assert done.returncode == 0
    assert "--project-root is ignored" in done.stderr


@pytest.mark.covers("R-REPL-MODE-6", "R-PROPERTY-36")
@pytest.mark.parametrize("line", ["\x1b[B\x1b[B", "/nothing"])
def test_a_line_that_does_nothing_is_an_error_and_the_next_is_still_carried_out(
    bench: Bench, line: str
) -> None:
    done = bench.run("console", script=f"{line}\nhelp\n")
    assert done.returncode == 1
    assert "Commands" in done.stdout
    if line.startswith("\x1b"):
        assert "Choosing with arrow keys needs a terminal" in done.stdout


def test_what_is_not_waited_for_is_not_complete_and_goes_on_with_the_next_bot(bench: Bench) -> None:
    done = bench.run("console", "--no-wait", script="add a health check\n")
    assert done.returncode == 2
    assert "it goes on when the bot is started again" in done.stdout
    assert "add a health check" in bench.run("console", script="sessions\n").stdout
    assert bench.run("console", "--no-wait", script="help\n").returncode == 0


@pytest.mark.covers("R-REPL-STATE-8", "R-FILE-repl")
def test_a_broken_memory_is_e105_and_stays_as_it_is(bench: Bench) -> None:
    bench.home.mkdir(mode=0o700)
    (bench.home / "repl.json").write_text("{ nothing")
    done = bench.run("console", script="help\n")
    assert done.returncode == 1
    assert "E105" in done.stderr
    assert (bench.home / "repl.json").read_text() == "{ nothing"


@pytest.mark.covers("B-CMD-resume-list", "B-CMD-status")
@pytest.mark.parametrize("command", ["status", "sessions"])
def test_who_only_looks_begins_nothing(bench: Bench, command: str) -> None:
    done = bench.run(command, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["sessions"] if command == "status" else told) == []
    assert "Traceback" not in done.stderr
    assert not (bench.home / "socket").exists()


def test_a_session_there_is_not_is_told(bench: Bench) -> None:
    done = bench.run("info", "1a2b")
    assert done.returncode == 1
    assert "There is no session 1a2b." in done.stderr
    assert "gwt-bot sessions" in done.stderr


@pytest.mark.covers("B-CMD-continue")
@pytest.mark.parametrize("command", ["resume", "continue", "stop"])
def test_a_word_about_a_session_there_is_not_is_an_error(bench: Bench, command: str) -> None:
    done = bench.run(command, "1a2b")
    assert done.returncode == 1, done.stdout
    assert "I know no session 1a2b" in done.stdout


def test_to_hand_work_over_takes_a_bot_at_work(bench: Bench) -> None:
    done = bench.run("run", "--detach", "Add a health check")
    assert done.returncode == 1
    assert "gwt-bot serve" in done.stderr


def test_intents_are_listed_decided_on_and_in_the_inbox_with_a_bot_at_work_or_none(
    bench: Bench,
) -> None:
    drafts = bench.shop / ".forge" / "intent-drafts"
    drafts.mkdir(parents=True)
    (drafts / "receipt.md").write_text("---\ntype: feature\nrisk: high\n---\n\nPrint a receipt\n")
    listed = bench.run("intent")
    assert (listed.returncode, "waits for approval" in listed.stdout) == (0, True), listed
    waits = bench.run("inbox")
    assert "intent receipt  Print a receipt: waits for approval" in waits.stdout
    early = bench.run("intent", "run", "receipt")
    assert (early.returncode, "Approve it first" in early.stdout) == (1, True), early
    unknown = bench.run("intent", "approve", "nothing")
    assert (unknown.returncode, "I know no intent nothing" in unknown.stdout) == (1, True), unknown

    options = ("--project-mode", "fixed", "--project-root", str(bench.shop))
    at_work = bench.started("console", *options)
    assert at_work.stdin
    assert at_work.stdout
    at_work.stdin.write("help\n")
    at_work.stdin.flush()
    while "Commands" not in at_work.stdout.readline():
        assert at_work.poll() is None
    [line] = json.loads(bench.run("inbox", "--json").stdout)
    assert (line["kind"], line["id"], line["status"]) == ("intent", "receipt", "proposed")
    approved = bench.run("intent", "approve", "receipt")
    assert "Intent receipt is approved" in approved.stdout, approved
    at_work.communicate(timeout=120)
    assert json.loads(bench.run("inbox", "--json").stdout) == []
    assert "Print a receipt" in bench.run("intent", "show", "receipt").stdout
