"""`gwt-bot serve` that cannot start: one clear message, exit code 1, no traceback, no token, and nothing begun."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program.environment import MATRIX, SLACK, TOKENS
from tests.test_house import ROOT

WITHOUT_NIO = 'raise ModuleNotFoundError("No module named \'nio\'", name="nio")\n'


def served(folder: Path, **environ: str) -> str:
    """What the program says before it ends."""
    home = folder / "home"
    done = subprocess.run(
        [sys.executable, "-m", "bot", "serve"],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join([str(folder / "packages"), str(ROOT)]),
            "PYTHONWARNINGS": "error",
            "GWT_HOME": str(home),
            **environ,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.count("gwt-bot: ") == 1
    assert not [token for token in TOKENS if token in done.stderr]
    assert not home.exists()
    return done.stderr


def test_settings_that_are_missing_are_named(tmp_path: Path) -> None:
    told = served(
        tmp_path,
        **{**SLACK, "SLACK_USERS": "", **MATRIX, "MATRIX_ACCESS_TOKEN": "", "MATRIX_ROOMS": ""},
    )
    assert all(one in told for one in ("SLACK_USERS", "MATRIX_ACCESS_TOKEN", "MATRIX_ROOMS"))


def test_settings_that_are_wrong_are_named_and_tokens_among_them_are_not_shown(
    tmp_path: Path,
) -> None:
    wrong = {"SLACK_USERS": "mika", "SLACK_APPROVERS": SLACK["SLACK_BOT_TOKEN"]}
    wrong |= {"MATRIX_ROOMS": "#dev:example.org", "SLACK_HTTP_PORT": TOKENS[0]}
    told = served(tmp_path, **{**SLACK, **MATRIX, **wrong})
    assert all(f"  {name}: " in told for name in wrong)
    assert "mika: people are team:member" in told


def test_a_package_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "nio.py").write_text(WITHOUT_NIO, encoding="utf-8")
    assert "nio is not installed: pip install 'gwt-bot[matrix]'" in served(tmp_path, **MATRIX)


@pytest.mark.parametrize("environ", [{}, {"SLACK_USERS": "T1:U1"}])
def test_without_any_chat_there_is_a_word_on_what_to_do(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    assert "gwt-bot console" in served(tmp_path, **environ)
