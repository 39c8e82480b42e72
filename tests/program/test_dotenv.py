"""Settings that came with a repository are somebody else's, whoever owns its files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.cli.read_settings import refuse_tracked_env_file
from bot.core.errors import SettingsError
from tests.adapters.git.worlds import git, new_repository
from tests.stories.cradle import completed

SOMEBODY = 65_534


def given_away(top: Path) -> None:
    for path in (top, *top.rglob("*")):
        os.chown(path, SOMEBODY, SOMEBODY, follow_symlinks=False)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to give files to somebody else")
def test_settings_in_a_repository_of_somebody_else_are_refused(tmp_path: Path) -> None:
    top = new_repository(tmp_path / "top", {".env": "OPENAI_BASE_URL=https://elsewhere.example\n"})
    given_away(top)
    with pytest.raises(SettingsError, match="part of the repository"):
        refuse_tracked_env_file(top / ".env")


@pytest.mark.parametrize("whose", [os.getuid(), SOMEBODY])
def test_settings_beside_a_repository_are_the_operators(tmp_path: Path, whose: int) -> None:
    if whose != os.getuid() and os.getuid() != 0:
        pytest.skip("needs root, to give files to somebody else")
    top = new_repository(tmp_path / "top", {"a.py": "1\n"})
    if whose == SOMEBODY:
        given_away(top)
    (top / ".env").write_text("")
    refuse_tracked_env_file(top / ".env")


def test_settings_that_git_tracks_are_refused(tmp_path: Path) -> None:
    top = new_repository(tmp_path / "top", {".env": ""})
    assert git(top, "ls-files") == ".env"
    with pytest.raises(SettingsError, match="part of the repository"):
        refuse_tracked_env_file(top / ".env")


def test_every_command_starts_in_spite_of_a_line_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "home" / ".env"
    file.parent.mkdir(mode=0o700)
    file.write_text('GWT_AGENT=codex\nOPENAI_API_KEY="sk-abcdefghijklmnopqrstuvwxyz\n')
    file.chmod(0o600)
    environ = {"PATH": os.environ["PATH"], "GWT_HOME": str(file.parent)}
    done = completed(["bot", "status"], environ, tmp_path)
    assert (done.returncode, "Nothing is under way." in done.stdout) == (0, True)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"gwt-bot: {file}, line 2 (OPENAI_API_KEY): ")
    assert "sk-" not in line
