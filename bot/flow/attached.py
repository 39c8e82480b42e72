"""Files that came with a message: what is in them belongs to what was said, and what could not be read is told."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.events import Attached, Event, Said
from bot.domain.masking.clean import clean
from bot.flow import telling

MOST = 20_000
"""Characters of all files together: a request is read by a model, again and again."""
NAME = 80
"""Characters of a file's name."""


def taken_in(event: Event) -> Event:
    """The same event, its files written below its words."""
    if not isinstance(event, Said) or not event.files:
        return event
    return event.model_copy(update={"text": _with_files(event.text, event.files), "files": ()})


def problems(event: Event) -> Iterator[Deed]:
    """A word to whoever sent what could not be read."""
    if not isinstance(event, Said):
        return
    if told := (*unread(event.files), *_shortened(event.files)):
        yield telling.privately(event, "Of what you attached: " + "; ".join(told))


def unread(files: tuple[Attached, ...]) -> tuple[str, ...]:
    """What could not be read, and why."""
    return tuple(f"{_name(file)}: {file.problem}" for file in files if file.problem)


def _with_files(text: str, files: tuple[Attached, ...]) -> str:
    parts = [text]
    for file, read in _read(files):
        if read:
            fence = "`" * max(3, _longest_run(read) + 1)
            parts.append(f"Attached, {_name(file)}:\n{fence}\n{read}\n{fence}")
    return "\n\n".join(part for part in parts if part)


def _shortened(files: tuple[Attached, ...]) -> Iterator[str]:
    for file, read in _read(files):
        if len(read) < len(file.text):
            how = "I read only the beginning of it" if read else "there was no room left for it"
            yield f"{_name(file)}: {how}"


def _read(files: tuple[Attached, ...]) -> Iterator[tuple[Attached, str]]:
    """Each with as much of it as there is room for."""
    room = MOST
    for file in files:
        read = file.text[:room]
        room -= len(read)
        yield file, read


def _name(file: Attached) -> str:
    """Whoever named it must not be able to write anything else below the words of the request."""
    return " ".join(clean(file.name).split())[:NAME] or "a file"


def _longest_run(text: str) -> int:
    """Of backticks: what is quoted cannot end its quote."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
