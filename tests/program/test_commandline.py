"""What can be written behind `gwt-bot`: its help, and what wrong arguments are told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.arguments import PROJECT_MODES, USAGE_ERROR_CODE, parse_arguments, repl_options
from bot.core.console import ExitCode, ProjectMode


@pytest.mark.covers("R-PROPERTY-29")
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
        parse_arguments(arguments)
    assert ended.value.code == 1, "2 says that work is not complete"
    shown = capsys.readouterr().err
    assert told in shown
    assert "--help" in shown


@pytest.mark.parametrize(
    "command",
    [
        "",
        "serve",
        "console",
        "run",
        "continue",
        "resume",
        "stop",
        "status",
        "info",
        "doctor",
        "context",
        "eval",
    ],
)
def test_every_help_tells_something_and_fits_a_terminal(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_arguments([*filter(None, (command,)), "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 120
    assert len(shown.splitlines()) > 5


def test_a_request_in_another_encoding_can_be_sent_all_the_same() -> None:
    """Python keeps bytes that are no UTF-8 as halves of characters, which nothing takes that writes them."""
    said = parse_arguments(
        ["run", os.fsdecode("追加".encode("shift-jis") + b" dark mode")]
    ).instruction
    assert said.endswith(" dark mode")
    assert said.encode()


def test_what_the_arguments_say_without_the_models_is_what_the_models_say() -> None:
    assert set(PROJECT_MODES) == {mode.value for mode in ProjectMode}
    assert USAGE_ERROR_CODE == ExitCode.ERROR


def test_what_was_not_said_is_left_to_what_follows() -> None:
    said_nothing = repl_options(parse_arguments(["console"]))
    assert (said_nothing.wait, said_nothing.exit_on_eof, said_nothing.project_mode) == (
        None,
        None,
        None,
    )
    assert repl_options(parse_arguments(["console", "--no-wait"])).wait is False


ROOT = Path(__file__).resolve().parents[2]
BOT = "bot.core.session bot.core.events bot.core.cards bot.core.masking bot.core.desk bot.steps"
ADAPTERS = (
    "adapters.git adapters.registry adapters.slack adapters.matrix adapters.tmux adapters.llm"
)


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        (["--help"], "pydantic asyncio bot.settings adapters"),
        (["status", "--help"], "pydantic asyncio bot.settings adapters"),
        (["--version"], "pydantic asyncio bot.settings adapters"),
        (["status"], f"{BOT} {ADAPTERS} adapters.store.store rich.markdown"),
        (["status", "--json"], f"{BOT} {ADAPTERS} adapters.store.store rich.markdown"),
        (["sessions"], f"{BOT} {ADAPTERS} adapters.store.store rich.markdown"),
    ],
    ids=" ".join,
)
def test_help_and_status_import_only_what_they_use(
    arguments: list[str], spared: str, tmp_path: Path
) -> None:
    program = """
import sys
from bot.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("imported:", *sys.modules)
"""
    said = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
    )
    imported = set(said.stdout.rpartition("imported:")[2].split())
    assert "bot.__main__" in imported
    assert set(spared.split()) & imported == set()
