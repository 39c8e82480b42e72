"""What tests of the program begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program.environment import Given, given_by


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Given:
    return given_by(monkeypatch, tmp_path / "home")
