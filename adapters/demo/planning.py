"""The specification, the plan and the tasks that the simulated model writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from string import Template

from adapters.demo import files
from adapters.demo.brief import (
    PIECES,
    Brief,
    DemoPiece,
    JsonObject,
    find_widths,
    line,
    normalize,
    piece_in,
    pieces_added,
    pieces_affected,
    planned_pieces,
    requested_pieces,
    requested_width,
    strings,
    text,
)
from adapters.demo.texts import PieceText, english, languages

# spec.md and plan.md: fixed texts that include what the person said.


def spec_document(brief: Brief) -> str:
    pieces = [filled_piece(brief, piece) for piece in planned_pieces(brief)]
    phrases = brief.texts.documents
    assumptions = [brief.texts.notice, phrases.defaults_built, phrases.conventions]
    if brief.entries("findings"):
        assumptions.append(phrases.settled)
    assumptions += [f"{phrases.wish} “{wish}”" for wish in brief.change_requests]
    scenarios = [phrases.scenario.format(wish=wish) for wish in brief.change_requests]
    return Template(files.text("spec.md")).substitute(
        _common(brief),
        request=quoted(brief.request),
        stories=_stories(pieces, scenarios),
        edges=_section("Edge Cases", [edge for piece in pieces for edge in piece.edges]),
        requirements=_numbered("FR", (must for piece in pieces for must in piece.requirements)),
        entities=_section("Key Entities", [entity for p in pieces for entity in p.entities]),
        criteria=_numbered("SC", (aim for piece in pieces for aim in piece.criteria)),
        assumptions=_bullets(assumptions),
    )


def plan_document(brief: Brief) -> str:
    pieces = planned_pieces(brief)
    texts = brief.texts
    suffix = "" if texts is english() else ".ja"
    revised = [texts.documents.revised.format(wish=wish) for wish in brief.change_requests]
    return Template(files.text(f"plan{suffix}.md")).substitute(
        _common(brief),
        modules=_bullets(f"`{p.module}` {texts.pieces[p.name].module}" for p in pieces),
        revised="".join(f"\n\n{sentence}" for sentence in revised),
        sources="\n".join(f"├── {piece.name}.py    new" for piece in pieces),
        tests="\n".join(f"├── test_{piece.name}.py    new" for piece in pieces),
    )


def filled_piece(brief: Brief, piece: DemoPiece, keys: dict[str, str] | None = None) -> PieceText:
    """Return the text of a module, with decisions, width and keys of other tasks filled in."""
    told = brief.texts.pieces[piece.name]
    values = {
        "width": str(requested_width(brief.change_requests)),
        **{name: _answer(brief, number) for number, name in enumerate(_DECIDED)},
        **{name: name for name in brief.texts.pieces},
        **(keys or {}),
    }

    def fill(sentences: Iterable[str]) -> tuple[str, ...]:
        return tuple(sentence.format_map(values) for sentence in sentences)

    description, story = fill((told.description, told.story))
    return PieceText(
        title=told.title,
        description=description,
        module=told.module,
        acceptance=fill(told.acceptance),
        story=story,
        why=told.why,
        trial=told.trial,
        scenarios=fill(told.scenarios),
        requirements=fill(told.requirements),
        edges=told.edges,
        entities=told.entities,
        criteria=told.criteria,
    )


def quoted(words: str) -> str:
    """Quote a person's text unchanged, so that none of its lines is taken for a heading."""
    return "\n".join(f"> {one}".rstrip() for one in words.strip().splitlines()) or "> (nothing)"


_DECIDED = ("several", "fraction", "unknown")
"""What the questions decide, in their order."""


def _common(brief: Brief) -> dict[str, str]:
    return {
        "title": brief.texts.title,
        "notice": brief.texts.notice,
        "branch": f"agent/{brief.spec_id.lower()}",
        "spec_id": brief.spec_id,
        "date": brief.today,
    }


def _stories(pieces: list[PieceText], wished: list[str]) -> str:
    """Return one story per module; later change requests become scenarios of the last one."""
    stories: list[str] = []
    for number, piece in enumerate(pieces, 1):
        scenarios = [*piece.scenarios, *(wished if piece is pieces[-1] else ())]
        stories.append(
            f"### User Story {number} - {piece.title} (Priority: P{number})\n\n{piece.story}\n\n"
            f"**Why this priority**: {piece.why}\n\n**Independent Test**: {piece.trial}\n\n"
            "**Acceptance Scenarios**:\n\n"
            + "\n".join(f"{n}. {scenario}" for n, scenario in enumerate(scenarios, 1))
        )
    return "\n\n---\n\n".join(stories)


def _numbered(prefix: str, sentences: Iterable[str]) -> str:
    return "\n".join(f"- **{prefix}-{n:03}**: {said}" for n, said in enumerate(sentences, 1))


def _section(title: str, sentences: list[str]) -> str:
    """Return a section; empty if there is nothing to say."""
    return f"### {title}\n\n{_bullets(sentences)}\n\n" if sentences else ""


def _bullets(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {said}" for said in sentences)


def _answer(brief: Brief, number: int) -> str:
    """Return the decision on the n-th question, or its default if it was not asked."""
    asked = {texts.questions[number].text for texts in languages()}
    given = (text(d, "answer") for d in brief.entries("decisions") if text(d, "question") in asked)
    return line(next(given, "") or brief.texts.questions[number].options[0])


# The tasks of the plan, and changes to tasks under way.

PARALLELISM = 2
ENDED_STATES = ("Cancelled", "Replaced")
"""States of tasks that nobody works on any more."""
_AT_ONCE = re.compile(r"\b([1-9])(?: agents| tasks)? at once\b|(?<![0-9])([1-9])(?:つ|人|件)?同時")
_PRINTED_WIDTH = re.compile(r"[0-9]+(?= columns| 桁)")


def breakdown(brief: Brief) -> dict[str, object]:
    """Return all tasks: those of a first plan, or the existing ones with the change applied."""
    now = brief.entries("tasks_now")
    tasks = _changed_plan(brief, now) if now else _first_plan(brief)
    return {"parallelism": _requested_parallelism(brief), "tasks": tasks}


def _requested_parallelism(brief: Brief) -> int:
    """Return the requested parallelism, as in “3 agents at once” or “3つ同時”; the last number counts."""
    said = (normalize(words) for words in (brief.request, *brief.change_requests))
    named = [int(one or other) for words in said for one, other in _AT_ONCE.findall(words)]
    return named[-1] if named else PARALLELISM


def task_of(piece: DemoPiece, tasks: Sequence[JsonObject]) -> JsonObject | None:
    """Return the last task that writes the module, or None."""
    own = [task for task in tasks if piece_in(strings(task, "files")) is piece]
    return own[-1] if own else None


def _first_plan(brief: Brief) -> list[dict[str, object]]:
    """Return one task per module; every change request becomes an acceptance criterion of the tasks it is about."""
    pieces = planned_pieces(brief)
    keys = {piece.name: f"T{number:03}" for number, piece in enumerate(pieces, 1)}
    tasks = {piece.name: _task(brief, piece, keys) for piece in pieces}
    for wish, names in _requests_by_module(brief):
        for name in names:
            tasks[name]["acceptance"] = [*strings(tasks[name], "acceptance"), _line(brief, wish)]
    return list(tasks.values())


def _requests_by_module(brief: Brief) -> Iterator[tuple[str, list[str]]]:
    """Yield each change request with the modules whose tasks must satisfy it."""
    pieces = requested_pieces(brief)
    for wish in brief.change_requests:
        new = pieces_added(wish, pieces)
        about = [piece.name for piece in (*pieces_affected(wish, pieces), *new)]
        pieces += new
        yield wish, about or [pieces[-1].name]


def _changed_plan(brief: Brief, now: Sequence[JsonObject]) -> list[dict[str, object]]:
    """Return the tasks of a changed plan; what the change does not affect stays unchanged."""
    left = [task for task in now if text(task, "state") not in ENDED_STATES]
    tasks = [_changed(brief, task) if task.get("affected") else _kept(task) for task in left]
    # dropped tasks exist with such a state and are not planned again; modules that never had a task are
    new = [piece for piece in planned_pieces(brief) if task_of(piece, now) is None]
    for piece in new:
        keys = _keys(tasks) | {piece.name: _next_key([*now, *tasks])}
        task = _task(brief, piece, keys)
        wished = [wish for wish, names in _requests_by_module(brief) if piece.name in names]
        task["acceptance"] = [
            *strings(task, "acceptance"),
            *(_line(brief, wish) for wish in wished),
        ]
        tasks.append(task)
    if brief.change_request and not any(
        _line(brief, brief.change_request) in strings(t, "acceptance") for t in tasks
    ):
        tasks.append(_follow_up(brief, tasks, _next_key([*now, *tasks])))
    return tasks


def _kept(task: JsonObject) -> dict[str, object]:
    """Return a task without the fields that only the bot may set."""
    return {name: value for name, value in task.items() if name not in ("state", "affected")}


def _changed(brief: Brief, task: JsonObject) -> dict[str, object]:
    """Return the task with the change as a further acceptance criterion."""
    acceptance = [_with_width(brief, sentence) for sentence in strings(task, "acceptance")]
    line = _line(brief, brief.change_request)
    if line not in acceptance:
        acceptance.append(line)
    description = _with_width(brief, text(task, "description"))
    edited = {"description": description, "acceptance": acceptance}
    return {**_missing_fields(brief, task), **_kept(task), **edited}


def _missing_fields(brief: Brief, task: JsonObject) -> dict[str, object]:
    """Return the fields that are not included in a task under way, and would be lost by editing it."""
    piece = piece_in(strings(task, "files"))
    if piece is None:
        return {}
    proposed = _task(brief, piece, {piece.name: text(task, "key")})
    return {name: proposed[name] for name in ("story", "type", "worktree", "complexity")} | {
        "parallel": not strings(task, "depends_on")
    }


def _with_width(brief: Brief, sentence: str) -> str:
    # A sentence about the receipt's width gets the new width. Quoted change requests stay as they were said.
    wanted = find_widths(brief.change_request)
    if not wanted or "“" in sentence:
        return sentence
    return _PRINTED_WIDTH.sub(str(wanted[-1]), sentence)


def _follow_up(brief: Brief, tasks: Sequence[JsonObject], key: str) -> dict[str, object]:
    """Return a separate task for a change that affects no existing one, after the task it continues."""
    there = [piece for piece in PIECES.values() if task_of(piece, tasks)]
    piece = (pieces_affected(brief.change_request, there) or there or list(PIECES.values()))[0]
    keys = _keys(tasks) | {piece.name: key}
    earlier = task_of(piece, tasks)
    task = _task(brief, piece, keys)
    return {
        **task,
        "title": brief.texts.documents.follow_up.format(title=task["title"]),
        "depends_on": [text(earlier, "key")] if earlier else [],
        "parallel": not earlier,
        "acceptance": [*strings(task, "acceptance"), _line(brief, brief.change_request)],
    }


def _task(brief: Brief, piece: DemoPiece, keys: dict[str, str]) -> dict[str, object]:
    told = filled_piece(brief, piece, keys)
    needs = [keys[piece.needs]] if piece.needs in keys else []
    number, requirements = _story_and_requirements(brief, piece)
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


def _story_and_requirements(brief: Brief, piece: DemoPiece) -> tuple[int, list[str]]:
    """Return the number of the module's story, and its requirement ids in the specification."""
    pieces = planned_pieces(brief)
    counts = [len(brief.texts.pieces[p.name].requirements) for p in pieces]
    at = pieces.index(piece) if piece in pieces else len(pieces) - 1
    first = sum(counts[:at]) + 1
    return at + 1, [f"FR-{n:03}" for n in range(first, first + counts[at])]


def _keys(tasks: Sequence[JsonObject]) -> dict[str, str]:
    """Return the task key of each module."""
    own = {name: task_of(piece, tasks) for name, piece in PIECES.items()}
    return {name: text(task, "key") for name, task in own.items() if task}


def _next_key(tasks: Sequence[JsonObject]) -> str:
    numbers = [int(n) for task in tasks for n in re.findall(r"[0-9]+", text(task, "key"))[:1]]
    return f"T{max(numbers, default=0) + 1:03}"


def _line(brief: Brief, wish: str) -> str:
    return brief.texts.documents.held.format(wish=wish)
