"""The sample repository of the demo: a shop's basket in Python.

It is created once; existing content stays unchanged.
"""

from __future__ import annotations

import os
from pathlib import Path

from adapters.demo import SAMPLE_MARKER, files
from adapters.processes import run_blocking
from bot.core.errors import Refused, Unavailable


def make_sample(path: Path) -> None:
    """Create the repository at `path`, unless it exists. A folder with other content is left alone."""
    if _is_made(path):
        return
    _require_room(path)
    path.mkdir(parents=True, exist_ok=True)
    _git(path, "init", "--quiet", "--template=", "--initial-branch=main")
    for name, value in _CONFIG:
        _git(path, "config", name, value)
    content = files.tree("sample")
    for name, text in content.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    _commit(path, "docs: say what this repository is for", [n for n in content if "/" not in n])
    _commit(path, "feat(basket): items and totals", list(content))


_CONFIG = (
    ("user.name", "Sample Owner"),
    ("user.email", "owner@sample.invalid"),
    ("commit.gpgSign", "false"),
    ("core.autocrlf", "false"),
)
_GIT_SECONDS = 60.0


def is_merged(path: Path) -> bool:
    """Whether the demo's work is merged already, so that a second run would leave the agents nothing to do."""
    return _is_made(path) and _has(path, "HEAD:basket/checkout.py")


def _is_made(path: Path) -> bool:
    # The last commit proves completeness; an interrupted creation is finished now.
    return (
        (path / ".git").exists()
        and _has(path, f"HEAD:{SAMPLE_MARKER}")
        and _has(path, "HEAD:basket")
    )


def _require_room(path: Path) -> None:
    if not path.exists() or _is_interrupted(path):
        return
    if not path.is_dir() or any(path.iterdir()):
        raise Refused(
            f"{path} is there already, and it is not the demo's sample repository.",
            remedy="Run the demo in another folder, or move that one away.",
        )


def _is_interrupted(path: Path) -> bool:
    """Whether the folder has only files of the sample, unchanged: its creation was interrupted."""
    content = files.tree("sample")
    present = [
        p for p in path.rglob("*") if p.is_file() and ".git" not in p.relative_to(path).parts
    ]
    return (path / ".git").is_dir() and all(
        content.get(p.relative_to(path).as_posix(), "").startswith(p.read_text(encoding="utf-8"))
        for p in present
    )


def _commit(path: Path, message: str, names: list[str]) -> None:
    _git(path, "add", "--", *names)
    if _git(path, "status", "--porcelain", "--untracked-files=no"):
        _git(path, "commit", "--quiet", "-m", message)


def _has(path: Path, thing: str) -> bool:
    argv = ("git", "-C", str(path), "cat-file", "-e", thing)
    return run_blocking(argv, cwd="/", env=_environment(path), seconds=_GIT_SECONDS)[0] == 0


def _git(path: Path, *arguments: str) -> bytes:
    argv = ("git", "-c", "core.hooksPath=/dev/null", "-C", str(path), *arguments)
    try:
        code, said, complaints = run_blocking(
            argv, cwd="/", env=_environment(path), seconds=_GIT_SECONDS
        )
    except FileNotFoundError as error:
        raise Unavailable(
            "git is required to make the sample repository.", "Install git."
        ) from error
    if code:
        why = complaints.decode("utf-8", "replace").strip()
        reason = f"git could not make the sample repository: {why}"
        raise Refused(reason, remedy=f"Look at {path}, or run `gwt-bot demo --fresh`.")
    return said


def _environment(path: Path) -> dict[str, str]:
    # Without the user's git settings, so that the sample is the same everywhere; git must not find a repository around
    # the demo.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(path.parent),
        "LC_ALL": "C",
    }
