"""spec.md and plan.md as the played model writes them: fixed texts that take in what the person said."""

from __future__ import annotations

from collections.abc import Iterable
from string import Template

from adapters.played import files
from adapters.played.script.brief import LANGUAGES, Brief, line, text
from adapters.played.script.pieces import Piece, planned, width
from adapters.played.script.texts import PieceText


def spec(brief: Brief) -> str:
    pieces = [filled(brief, piece) for piece in planned(brief)]
    phrases = brief.texts.documents
    assumptions = [brief.texts.notice, phrases.defaults_built, phrases.conventions]
    if brief.entries("findings"):
        assumptions.append(phrases.settled)
    assumptions += [f"{phrases.wish} “{wish}”" for wish in brief.wishes]
    scenarios = [phrases.scenario.format(wish=wish) for wish in brief.wishes]
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


def plan(brief: Brief) -> str:
    pieces = planned(brief)
    texts = brief.texts
    suffix = "" if texts is LANGUAGES[0] else ".ja"
    revised = [texts.documents.revised.format(wish=wish) for wish in brief.wishes]
    return Template(files.text(f"plan{suffix}.md")).substitute(
        _common(brief),
        modules=_bullets(f"`{p.module}` {texts.pieces[p.name].module}" for p in pieces),
        revised="".join(f"\n\n{sentence}" for sentence in revised),
        sources="\n".join(f"├── {piece.name}.py    new" for piece in pieces),
        tests="\n".join(f"├── test_{piece.name}.py    new" for piece in pieces),
    )


def filled(brief: Brief, piece: Piece, keys: dict[str, str] | None = None) -> PieceText:
    """The text of a piece with the decisions, the wanted width and the keys of other tasks in it."""
    told = brief.texts.pieces[piece.name]
    values = {
        "width": str(width(brief.wishes)),
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
    """A person's words, letter for letter; as a quotation no line of them can pass for a heading."""
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
    """One story a piece; what was wished for later is held against the last one."""
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
    """Left out where there is nothing to say."""
    return f"### {title}\n\n{_bullets(sentences)}\n\n" if sentences else ""


def _bullets(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {said}" for said in sentences)


def _answer(brief: Brief, number: int) -> str:
    """What was decided on the n-th question; its default when it was not asked."""
    asked = {texts.questions[number].text for texts in LANGUAGES}
    given = (text(d, "answer") for d in brief.entries("decisions") if text(d, "question") in asked)
    return line(next(given, "") or brief.texts.questions[number].options[0])
