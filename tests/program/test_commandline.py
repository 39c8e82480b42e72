"""What can be written behind `gwt-bot`: its help, and what wrong arguments are told."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bot.cli.arguments import parsed, repl_options


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("statu",), "there is no command statu; status?"),
        (("run",), "instruction"),
        (("run", " "), "say what you would like"),
        (("info", "no-id"), "gwt-bot sessions lists them"),
        (("console", "--project-mode", "other"), "temp"),
    ],
)
def test_wrong_arguments_are_an_error_that_says_what_to_do(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(arguments)
    assert ended.value.code == 1, "2 says that work is not complete"
    shown = capsys.readouterr().err
    assert told in shown
    assert "--help" in shown


@pytest.mark.parametrize(
    "command",
    ["", "serve", "console", "run", "continue", "resume", "stop", "status", "info", "doctor"],
)
def test_every_help_tells_something_and_fits_a_terminal(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed([*filter(None, (command,)), "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 120
    assert len(shown.splitlines()) > 5


def test_a_request_in_another_encoding_can_be_sent_all_the_same() -> None:
    """Python keeps bytes that are no UTF-8 as halves of characters, which nothing takes that writes them."""
    said = parsed(["run", os.fsdecode("追加".encode("shift-jis") + b" dark mode")]).instruction
    assert said.endswith(" dark mode")
    assert said.encode()


def test_what_was_not_said_is_left_to_what_follows() -> None:
    said_nothing = repl_options(parsed(["console"]))
    assert (said_nothing.wait, said_nothing.exit_on_eof, said_nothing.project_mode) == (
        None,
        None,
        None,
    )
    assert repl_options(parsed(["console", "--no-wait"])).wait is False


@pytest.mark.parametrize(
    ("loaded", "spared"),
    [
        ("bot.__main__", {"bot.core.session", "asyncinotify", "rich"}),
        ("bot.cli.status", {"bot.core.desk", "libtmux", "openai", "apscheduler"}),
    ],
)
def test_help_and_a_look_load_no_bot(loaded: str, spared: set[str]) -> None:
    said = subprocess.run(
        [sys.executable, "-c", f"import sys, {loaded}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded in said.stdout.split()
    assert spared & set(said.stdout.split()) == set()
