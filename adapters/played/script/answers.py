"""What the played model answers: the first line of the system message says which question is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import cast

from adapters.played.script.documents import Brief, Decision, acceptance, plan, spec
from adapters.played.script.request import NOTICE, QUESTIONS, TITLE
from adapters.played.script.tasks import PARALLELISM, TASKS


def answer(system: str, user: str, today: str) -> str:
    """The reply to one question, whatever was asked before: nothing is remembered."""
    play = _PLAYS.get(asked(system))
    return play(_brief(user, today)) if play else _not_in_the_script(asked(system))


def asked(system: str) -> str:
    """`# Clarify` → `clarify`."""
    lines = system.strip().splitlines()
    return lines[0].lstrip("#").strip().lower() if lines else ""


def _clarify(brief: Brief) -> str:
    return _json(
        {
            "title": TITLE,
            "type": "feature",
            "risk": "low",
            "questions": [question.as_reply() for question in QUESTIONS],
        }
    )


def _tasks(brief: Brief) -> str:
    replies = [task.as_reply() for task in TASKS]
    if brief.change_request.strip():
        replies[-1]["acceptance"] = [*TASKS[-1].acceptance, acceptance(brief)]
    return _json({"parallelism": PARALLELISM, "tasks": replies})


_PLAYS: Mapping[str, Callable[[Brief], str]] = {
    "clarify": _clarify,
    "specify": spec,
    "plan": plan,
    "tasks": _tasks,
}


def _not_in_the_script(question: str) -> str:
    known = ", ".join(_PLAYS)
    return f"I am sorry: “{question}” is not in my script, which knows only {known}. {NOTICE}"


def _brief(user: str, today: str) -> Brief:
    told = _object(user)
    return Brief(
        request=_text(told, "request") or user,
        spec_id=_text(told, "spec_id") or "SPEC-00000000",
        date=today,
        decisions=_decisions(told.get("decisions")),
        change_request=_text(told, "change_request"),
    )


def _object(text: str) -> dict[str, object]:
    """The user message as a JSON object; anything else is taken for the bare request."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _decisions(value: object) -> tuple[Decision, ...]:
    if not isinstance(value, list):
        return ()
    entries = [
        cast("dict[str, object]", e) for e in cast("list[object]", value) if isinstance(e, dict)
    ]
    return tuple(Decision(_text(entry, "question"), _text(entry, "answer")) for entry in entries)


def _text(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
