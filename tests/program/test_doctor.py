"""`gwt-bot doctor`, as the program it is: what it finds, how it says it is mended, and what it never says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"  # noqa: S105 - it opens nothing


def doctor(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "GWT_HOME": str(folder / "home"),
        "GWT_AGENT": "other",
        "GWT_AGENT_COMMAND": "true",
    }
    return subprocess.run(
        [sys.executable, "-m", "bot", "doctor", *options],
        cwd=folder,
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "shop"
    for command in (
        ("init", "-q", "-b", "main", str(path)),
        (
            "-C",
            str(path),
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b.c",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "begin",
        ),
    ):
        subprocess.run(["git", *command], check=True)
    return path


def line_of(said: str, what: str) -> str:
    return next(line for line in said.splitlines() if line[2:].startswith(what))


def test_where_everything_is_there_it_says_so_and_ends_well(
    repository: Path, tmp_path: Path
) -> None:
    done = doctor(
        tmp_path,
        GWT_REPOSITORY=str(repository),
        OPENAI_BASE_URL="http://127.0.0.1:9/v1",
        OPENAI_MODEL="some-model",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for what in ("tmux", "repository", "model", "agent other"):
        assert line_of(done.stdout, what).startswith("✓"), done.stdout
    assert "main at" in line_of(done.stdout, "repository")


def test_every_repository_is_looked_at(repository: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    others = f"shop={repository}, web={elsewhere}"
    done = doctor(tmp_path, GWT_REPOSITORY=str(repository), GWT_REPOSITORIES=others)
    assert done.returncode == 1
    assert line_of(done.stdout, "repository shop").startswith("✓")
    assert line_of(done.stdout, "repository web").startswith("✗")


def test_each_thing_that_lacks_is_told_with_its_remedy(tmp_path: Path) -> None:
    done = doctor(tmp_path, GWT_REPOSITORY=str(tmp_path), GWT_AGENT="claude", PATH="/usr/bin:/bin")
    assert done.returncode == 1
    assert line_of(done.stdout, "repository").startswith("✗")
    assert "AI settings are required" in line_of(done.stdout, "model")
    assert line_of(done.stdout, "agent claude").startswith("✗")
    assert done.stdout.count("→") >= 3
    assert "needed are not as they must be" in done.stderr


def test_a_token_is_never_said(repository: Path, tmp_path: Path) -> None:
    done = doctor(
        tmp_path, GWT_REPOSITORY=str(repository), GITHUB_TOKEN=TOKEN, OPENAI_API_KEY=f"sk-{TOKEN}"
    )
    assert "pull requests" in done.stdout
    assert TOKEN not in done.stdout + done.stderr


def test_it_changes_nothing(repository: Path, tmp_path: Path) -> None:
    before = sorted(str(path) for path in repository.rglob("*"))
    doctor(tmp_path, GWT_REPOSITORY=str(repository))
    assert sorted(str(path) for path in repository.rglob("*")) == before


def test_programs_read_the_same_as_people_and_no_token(repository: Path, tmp_path: Path) -> None:
    done = doctor(tmp_path, "--json", GWT_REPOSITORY=str(repository), GITHUB_TOKEN=TOKEN)
    told = json.loads(done.stdout)
    assert (done.returncode, told["ok"]) == (1, False)
    found = {one["what"]: one for one in told["checks"]}
    assert found["tmux"]["ok"]
    assert not found["model"]["ok"]
    assert found["model"]["remedy"]
    assert TOKEN not in done.stdout
