"""What a line that begins with a stroke may become: the commands there are, and what can stand behind them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Words = Sequence[tuple[str, str]]
"""As `help` lists them: `resume [id]`, and what it does."""


@dataclass(frozen=True)
class Completed:
    text: str
    """Instead of the word being typed."""
    shown: str
    told: str = ""


def completed(
    line: str, words: Words, tasks: Sequence[str], sessions: Sequence[str]
) -> tuple[Completed, ...]:
    """`tasks` and `sessions` are the names that can stand behind a command."""
    if not line.startswith("/"):
        return ()
    head, behind, begun = line.partition(" ")
    if not behind:
        return tuple(_words(head, words))
    names = next((_names(told, tasks, sessions) for told, _ in words if _word(told) == head), ())
    return tuple(Completed(name, name) for name in names if name.startswith(begun.strip()))


def _words(begun: str, words: Words) -> Iterator[Completed]:
    for told, meaning in words:
        word = _word(told)
        if word.startswith(begun.lower()):
            takes = _behind(told)
            yield Completed(f"{word} " if takes else word, f"{word} {takes}".rstrip(), meaning)


def _word(told: str) -> str:
    """`catch up` is written in one."""
    return "/" + ("catchup" if told.startswith("catch up") else told.partition(" ")[0])


def _behind(told: str) -> str:
    return "" if told.startswith("catch up") else told.partition(" ")[2]


def _names(told: str, tasks: Sequence[str], sessions: Sequence[str]) -> Sequence[str]:
    behind = _behind(told)
    if "T001" in behind or "task" in behind:
        return tasks
    return sessions if "id" in behind else ()
