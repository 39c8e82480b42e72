"""spec.md and plan.md as the played model writes them: fixed texts that take in what the person said."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

from adapters.played import files
from adapters.played.script.request import NOTICE, QUESTIONS, TITLE


@dataclass(frozen=True)
class Decision:
    question: str
    answer: str


@dataclass(frozen=True)
class Brief:
    """What the model is told when it is asked for a document."""

    request: str
    spec_id: str
    date: str
    decisions: tuple[Decision, ...] = ()
    change_request: str = ""


def spec(brief: Brief) -> str:
    several, fraction, unknown = (_answer(brief, n) for n in range(len(QUESTIONS)))
    return Template(files.text("spec.md")).substitute(
        _common(brief),
        request=quoted(brief.request),
        clarifications=_clarifications(brief),
        several=several,
        fraction=fraction,
        unknown=unknown,
        change_scenario=_if_changed(brief, f"3. {_scenario(brief)}\n"),
        change_assumption=_if_changed(
            brief, f"- A change was asked for: {_inline(brief.change_request)}\n"
        ),
    )


def plan(brief: Brief) -> str:
    change = f" Revised for this wish: {_inline(brief.change_request)}"
    return Template(files.text("plan.md")).substitute(
        _common(brief), change_summary=_if_changed(brief, change)
    )


def acceptance(brief: Brief) -> str:
    """What a revision's work has to be held against: the wish that led to it."""
    return f"The work is held against the wish {_inline(brief.change_request)}"


def quoted(text: str) -> str:
    """A person's words, letter for letter; as a quotation no line of them can pass for a heading."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines()) or "> (nothing)"


def _common(brief: Brief) -> dict[str, str]:
    return {
        "title": TITLE,
        "notice": NOTICE,
        "branch": f"agent/{brief.spec_id.lower()}",
        "spec_id": brief.spec_id,
        "date": brief.date,
    }


def _clarifications(brief: Brief) -> str:
    if not brief.decisions:
        return ""
    lines = [f"- Q: {_line(d.question)} → A: {_line(d.answer)}" for d in brief.decisions]
    return "\n".join(["## Clarifications", "", f"### Session {brief.date}", "", *lines, "", ""])


def _scenario(brief: Brief) -> str:
    wish = _inline(brief.change_request)
    return f"**Given** the wish {wish}, **When** the work is shown, **Then** it is held against it."


def _answer(brief: Brief, number: int) -> str:
    """What was decided on the n-th question; its default when it was not asked."""
    question = QUESTIONS[number]
    given = (d.answer for d in brief.decisions if d.question == question.text)
    return _line(next(given, question.options[0]))


def _if_changed(brief: Brief, text: str) -> str:
    return text if brief.change_request.strip() else ""


def _inline(text: str) -> str:
    return f"“{_line(text)}”"


def _line(text: str) -> str:
    return " ".join(text.split())
