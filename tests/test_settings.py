"""Settings: from the environment and two files, every problem at once, no key ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import settings
from bot.errors import SettingsError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GWT_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def written(file: Path, text: str) -> Path:
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_settings_for_all_repositories_stand_in_the_home(home: Path, tmp_path: Path) -> None:
    written(home / ".env", "OPENAI_MODEL=of-the-home\n")
    assert settings.load(tmp_path / "none").openai_model == "of-the-home"


def test_what_stands_where_the_bot_is_started_counts_more(home: Path, tmp_path: Path) -> None:
    written(home / ".env", "OPENAI_MODEL=of-the-home\nGWT_AGENT=codex\n")
    here = written(tmp_path / ".env", "OPENAI_MODEL=of-the-folder\n")
    found = settings.load(here)
    assert (found.openai_model, found.gwt_agent) == ("of-the-folder", "codex")


def test_the_environment_counts_most(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = written(tmp_path / ".env", "OPENAI_MODEL=of-the-folder\n")
    monkeypatch.setenv("OPENAI_MODEL", "of-the-environment")
    assert settings.load(here).openai_model == "of-the-environment"


def test_a_file_in_the_home_that_others_can_read_is_refused(home: Path, tmp_path: Path) -> None:
    written(home / ".env", "OPENAI_API_KEY=very-secret\n").chmod(0o640)
    with pytest.raises(SettingsError, match="chmod 600"):
        settings.load(tmp_path / "none")


def test_a_key_is_never_shown(home: Path, tmp_path: Path) -> None:
    here = written(tmp_path / ".env", "OPENAI_API_KEY=very-secret\n")
    found = settings.load(here)
    assert "very-secret" not in repr(found)
    assert found.keys()["OPENAI_API_KEY"] is True
    assert found.secrets == {"OPENAI_API_KEY": "very-secret"}
