"""The tasks of the played plan, and what becomes of tasks that are under way when somebody wants something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from adapters.played.script.brief import Brief, Entry, plain, strings, text
from adapters.played.script.documents import filled
from adapters.played.script.pieces import (
    PIECES,
    Piece,
    added,
    asked_for,
    piece_in,
    planned,
    touched,
    widths,
)

PARALLELISM = 2
GONE = ("Cancelled", "Replaced")
"""States of tasks that nobody does any more."""
_AT_ONCE = re.compile(r"\b([1-9])(?: agents| tasks)? at once\b|(?<![0-9])([1-9])(?:つ|人|件)?同時")
_PRINTED_WIDTH = re.compile(r"[0-9]+(?= columns| 桁)")


def breakdown(brief: Brief) -> dict[str, object]:
    """All tasks: those of a first plan, or those there are with what the change does to them."""
    now = brief.entries("tasks_now")
    tasks = _under_way(brief, now) if now else _first(brief)
    return {"parallelism": _at_once(brief), "tasks": tasks}


def _at_once(brief: Brief) -> int:
    """As many as somebody asked for: “3 agents at once”, “3つ同時”. The last word counts."""
    said = (plain(words) for words in (brief.request, *brief.wishes))
    named = [int(one or other) for words in said for one, other in _AT_ONCE.findall(words)]
    return named[-1] if named else PARALLELISM


def task_of(piece: Piece, tasks: Sequence[Entry]) -> Entry | None:
    """The last task that writes the piece's module."""
    own = [task for task in tasks if piece_in(strings(task, "files")) is piece]
    return own[-1] if own else None


def _first(brief: Brief) -> list[dict[str, object]]:
    """A task a piece; every wish is held against the tasks it is about."""
    pieces = planned(brief)
    keys = {piece.name: f"T{number:03}" for number, piece in enumerate(pieces, 1)}
    tasks = {piece.name: _task(brief, piece, keys) for piece in pieces}
    for wish, names in _held(brief):
        for name in names:
            tasks[name]["acceptance"] = [*strings(tasks[name], "acceptance"), _line(brief, wish)]
    return list(tasks.values())


def _held(brief: Brief) -> Iterator[tuple[str, list[str]]]:
    """Each wish, and the pieces whose tasks are held against it."""
    pieces = asked_for(brief)
    for wish in brief.wishes:
        new = added(wish, pieces)
        about = [piece.name for piece in (*touched(wish, pieces), *new)]
        pieces += new
        yield wish, about or [pieces[-1].name]


def _under_way(brief: Brief, now: Sequence[Entry]) -> list[dict[str, object]]:
    """What the change does not touch stays as it is, letter for letter."""
    left = [task for task in now if text(task, "state") not in GONE]
    tasks = [_changed(brief, task) if task.get("affected") else _kept(task) for task in left]
    # What was dropped is there and gone; what never began is not there, and planned anew.
    new = [piece for piece in planned(brief) if task_of(piece, now) is None]
    for piece in new:
        keys = _keys(tasks) | {piece.name: _next_key([*now, *tasks])}
        task = _task(brief, piece, keys)
        wished = [wish for wish, names in _held(brief) if piece.name in names]
        task["acceptance"] = [
            *strings(task, "acceptance"),
            *(_line(brief, wish) for wish in wished),
        ]
        tasks.append(task)
    if brief.wish and not any(_line(brief, brief.wish) in strings(t, "acceptance") for t in tasks):
        tasks.append(_follow_up(brief, tasks, _next_key([*now, *tasks])))
    return tasks


def _kept(task: Entry) -> dict[str, object]:
    """A task as it is; what only the bot knows of it is not repeated."""
    return {name: value for name, value in task.items() if name not in ("state", "affected")}


def _changed(brief: Brief, task: Entry) -> dict[str, object]:
    """The same task, held against the change as well."""
    acceptance = [_wide(brief, sentence) for sentence in strings(task, "acceptance")]
    line = _line(brief, brief.wish)
    if line not in acceptance:
        acceptance.append(line)
    description = _wide(brief, text(task, "description"))
    edited = {"description": description, "acceptance": acceptance}
    return {**_untold(brief, task), **_kept(task), **edited}


def _untold(brief: Brief, task: Entry) -> dict[str, object]:
    """What is not told of a task under way, and must not be lost by editing it."""
    piece = piece_in(strings(task, "files"))
    if piece is None:
        return {}
    proposed = _task(brief, piece, {piece.name: text(task, "key")})
    return {name: proposed[name] for name in ("story", "type", "worktree", "complexity")} | {
        "parallel": not strings(task, "depends_on")
    }


def _wide(brief: Brief, sentence: str) -> str:
    """A sentence about the receipt's width says the width that is wanted now. Wishes stay as they were said."""
    wanted = widths(brief.wish)
    if not wanted or "“" in sentence:
        return sentence
    return _PRINTED_WIDTH.sub(str(wanted[-1]), sentence)


def _follow_up(brief: Brief, tasks: Sequence[Entry], key: str) -> dict[str, object]:
    """A task of its own for a change that touches none: it goes on where an earlier one was."""
    there = [piece for piece in PIECES.values() if task_of(piece, tasks)]
    piece = (touched(brief.wish, there) or there or list(PIECES.values()))[0]
    keys = _keys(tasks) | {piece.name: key}
    earlier = task_of(piece, tasks)
    task = _task(brief, piece, keys)
    return {
        **task,
        "title": brief.texts.documents.follow_up.format(title=task["title"]),
        "depends_on": [text(earlier, "key")] if earlier else [],
        "parallel": not earlier,
        "acceptance": [*strings(task, "acceptance"), _line(brief, brief.wish)],
    }


def _task(brief: Brief, piece: Piece, keys: dict[str, str]) -> dict[str, object]:
    told = filled(brief, piece, keys)
    needs = [keys[piece.needs]] if piece.needs in keys else []
    number, requirements = _served(brief, piece)
    return {
        "key": keys[piece.name],
        "title": told.title,
        "description": told.description,
        "story": f"US{number}",
        "parallel": not needs,
        "depends_on": needs,
        "files": list(piece.files),
        "acceptance": list(told.acceptance),
        "requirements": requirements,
        "type": "implementation",
        "worktree": "new",
        "complexity": "med" if needs else "low",
    }


def _served(brief: Brief, piece: Piece) -> tuple[int, list[str]]:
    """The number of the piece's story, and its requirements, as the specification counts them."""
    pieces = planned(brief)
    counts = [len(brief.texts.pieces[p.name].requirements) for p in pieces]
    at = pieces.index(piece) if piece in pieces else len(pieces) - 1
    first = sum(counts[:at]) + 1
    return at + 1, [f"FR-{n:03}" for n in range(first, first + counts[at])]


def _keys(tasks: Sequence[Entry]) -> dict[str, str]:
    """Where each piece is written."""
    own = {name: task_of(piece, tasks) for name, piece in PIECES.items()}
    return {name: text(task, "key") for name, task in own.items() if task}


def _next_key(tasks: Sequence[Entry]) -> str:
    numbers = [int(n) for task in tasks for n in re.findall(r"[0-9]+", text(task, "key"))[:1]]
    return f"T{max(numbers, default=0) + 1:03}"


def _line(brief: Brief, wish: str) -> str:
    return brief.texts.documents.held.format(wish=wish)
