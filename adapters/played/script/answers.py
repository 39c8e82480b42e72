"""What the played model answers: the first line of the system message says which question is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from adapters.played.script import judging, noticing, telling, understanding, verdicts
from adapters.played.script.brief import Brief
from adapters.played.script.documents import plan, spec
from adapters.played.script.request import NOTICE
from adapters.played.script.tasks import breakdown


def answer(system: str, user: str, today: str, *, foreign: bool = False) -> str:
    """The reply to one question, whatever was asked before: nothing is remembered.

    `foreign`: in the language that is not wanted.
    """
    question, brief = asked(system), Brief.read(user, today, foreign=foreign)
    if write := _DOCUMENTS.get(question):
        return write(brief)
    if reply := _REPLIES.get(question):
        return json.dumps(reply(brief), ensure_ascii=False, indent=1)
    return _not_in_the_script(question)


def asked(system: str) -> str:
    """`# Clarify` → `clarify`."""
    lines = system.strip().splitlines()
    return lines[0].lstrip("#").strip().lower() if lines else ""


_DOCUMENTS: Mapping[str, Callable[[Brief], str]] = {"specify": spec, "plan": plan}
_REPLIES: Mapping[str, Callable[[Brief], dict[str, object]]] = {
    "clarify": understanding.clarify,
    "answers": understanding.answers,
    "tasks": breakdown,
    "breakdown": judging.quality,
    "analyze": judging.analyse,
    "words": judging.words,
    "impact": judging.impact,
    "next_step": judging.next_step,
    "continue": judging.continuation,
    "judge": verdicts.work,
    "replan": verdicts.replan,
    "final": verdicts.final,
    "compress": telling.compress,
    "pull_request": telling.pull_request,
    "summary": telling.sum_up,
    "branch": telling.branch,
    "estimate": noticing.estimate,
    "reflect": noticing.reflect,
}


def _not_in_the_script(question: str) -> str:
    known = ", ".join((*_DOCUMENTS, *_REPLIES))
    return f"I am sorry: “{question}” is not in my script, which knows only {known}. {NOTICE}"
