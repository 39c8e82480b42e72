"""Text files of the demo, each with the suffix `.txt`, so that no tool takes it for a file of this program."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

SUFFIX = ".txt"


def text(name: str) -> str:
    """Return the content of a file, by its name without the suffix."""
    return (files(__name__) / f"{name}{SUFFIX}").read_text(encoding="utf-8")


def tree(folder: str) -> dict[str, str]:
    """Return the content of every file below a folder, by its path there."""
    return dict(_below(files(__name__) / folder, ""))


def _below(place: Traversable, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _below(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIX):
            name = entry.name.removesuffix(SUFFIX)
            found.append((f"{prefix}{name}", entry.read_text(encoding="utf-8")))
    return found
