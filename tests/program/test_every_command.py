"""What holds for every command alike: what it keeps is its owner's alone, and it ends quietly when nobody reads on."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.cli.arguments import parse_arguments
from tests.program.test_scripts import Bench
from tests.test_house import ROOT

COMMANDS = (
    ("run", "Add a health check"),
    ("status",),
    ("sessions", "--json"),
    ("inbox",),
    ("intent", "list"),
    ("usage",),
    ("context", "the total of the basket", "--tokens", "2000"),
    ("context", "the total of the basket", "--json"),
    ("context", "the total", "--at", "nowhere"),
    ("eval", "--parts", "find", "--cases", "2"),
    ("eval", "--parts", "guess"),
    ("eval", "--suite", "small", "--parts", "find"),
    ("info", "SESSION"),
    ("logs", "SESSION"),
    ("stop", "SESSION"),
    ("resume", "--list"),
    ("resume", "SESSION"),
    ("continue", "SESSION"),
    ("export", "SESSION"),
    ("replay", "missing.tar.gz"),
    ("console",),
    ("doctor",),
    ("demo",),
    ("serve",),
    ("web", "ffffffff"),
)
UNREAD = (
    ("run", "Add a health check"),
    ("status",),
    ("inbox", "--json"),
    ("info", "SESSION"),
    ("stop", "SESSION"),
    ("export", "SESSION", "--to", "again.tar.gz"),
    ("console",),
    ("doctor",),
    ("doctor", "--json"),
    ("demo",),
)
"""One for each way to say something."""


@dataclass(frozen=True)
class Tried:
    bench: Bench
    read: list[tuple[int, str]]
    unread: list[tuple[int, str]]


def tried(folder: Path) -> Tried:
    bench = Bench(folder)
    commands = [*COMMANDS, *(("|", *words) for words in UNREAD)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.program.every_command", json.dumps(commands)],
        cwd=bench.shop,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(bench.home.parent),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "GWT_HOME": str(bench.home),
            "GWT_REPOSITORY": str(bench.shop),
            "TMPDIR": str(bench.temporary),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    said = [(int(code), str(told)) for code, told in json.loads(done.stdout)]
    return Tried(bench, said[: len(COMMANDS)], said[len(COMMANDS) :])


def kept(home: Path) -> dict[str, int]:
    found = [home, *home.rglob("*")]
    return {str(one): stat.S_IMODE(one.lstat().st_mode) for one in found}


def test_these_are_all_commands_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["--help"])
    told = re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)
    assert set(told) == {words[0] for words in COMMANDS}


def test_what_any_command_keeps_is_its_owners_alone_and_it_ends_quietly(tmp_path: Path) -> None:
    """Whatever the umask. All commands are tried once, for what else is to be seen of them as well."""
    done = tried(tmp_path)
    files_are_their_owners(done)
    whoever_reads_no_further_hears_no_word_about_it(done)
    context_is_what_the_model_would_be_shown(done)


def files_are_their_owners(tried: Tried) -> None:
    home, shop = tried.bench.home, tried.bench.shop
    assert (home / "audit.jsonl").is_file(), tried.read
    found = {**kept(home), **kept(shop / ".demo" / "home")}
    assert {name: oct(mode) for name, mode in found.items() if mode & 0o077} == {}
    archives = [*shop.glob("gwt-session-*.tar.gz"), shop / "again.tar.gz"]
    assert [stat.S_IMODE(one.stat().st_mode) for one in archives] == [0o600, 0o600]


def whoever_reads_no_further_hears_no_word_about_it(tried: Tried) -> None:
    said = dict(zip(map(" ".join, UNREAD), tried.unread, strict=True))
    assert said == dict.fromkeys(said, (128 + signal.SIGPIPE, ""))


def context_is_what_the_model_would_be_shown(tried: Tried) -> None:
    said = dict(zip(map(" ".join, COMMANDS), tried.read, strict=True))
    code, text = said["context the total of the basket --tokens 2000"]
    assert code == 0, text
    assert "Files that match the request best" in text
    assert re.search(r"[\d,]+ tokens from \d+ source files at [0-9a-f]{12}, found in", text)
    code, told = said["context the total of the basket --json"]
    found = json.loads(told)
    assert code == 0
    assert {"files", "tokens", "seconds", "text", "commit"} <= found.keys()
    assert all({"path", "ranges", "score", "why"} <= file.keys() for file in found["files"])
    code, told = said["eval --parts guess"]
    assert (code, "guess is none of find, locate, judge" in told) == (1, True)
    code, told = said["eval --suite small --parts find"]
    assert (code, "find, first 3" in told) == (0, True)
    code, told = said["eval --parts find --cases 2"]
    assert (code, "has no commits to try the model on" in told) == (1, True)
    code, told = said["context the total --at nowhere"]
    assert code == 1
    assert "there is no commit nowhere" in told
