"""How the played model judges finished work, cuts a task anew, and judges the whole: by facts, and by what a request wants played."""

from __future__ import annotations

import re

from adapters.played.script.brief import LANGUAGES, Brief, Entry, entries, has, strings, text
from adapters.played.script.pieces import PIECES

OVERSIZED = ("cut too large", "大きく切りすぎ")
"""With these words in the request its first task is too large, until it is cut anew."""
UNMET = ("leave something out", "何かを抜かして")
"""The first task is never finished."""
DOUBTFUL = ("only i can tell", "私にしか分からない")
"""A person has to decide on the first task."""
UNPLANNED = ("more than is planned", "計画より多く")
"""At the end an export is missing, until there is one."""
FIRST = "T001"
PARTS = 3


def work(brief: Brief) -> dict[str, object]:
    """Done, unless the tests, the signs or the request say otherwise."""
    outcome, told, missing = _judged(brief)
    return {
        "verdict": outcome,
        "reasons": [f"{told} {brief.texts.replies.played}"],
        "missing": missing,
        "score": 90 if outcome == "done" else 40,
    }


def _judged(brief: Brief) -> tuple[str, str, list[str]]:
    phrases, task = brief.texts.replies, brief.entry("task")
    # behind "passed" stands how many tests ran
    if any(not text(check, "result").startswith("passed") for check in brief.entries("checks")):
        return "continue", phrases.failed, []
    signs = brief.entries("signs") if brief.data.get("signs_accepted") is not True else ()
    if signs:
        back = [phrases.take_back.format(says=_sign(sign)) for sign in signs]
        return "continue", phrases.suspicious, back
    if text(task, "type") == "investigation" and not brief.text("report").strip():
        return "continue", phrases.reportless, [phrases.report_wanted]
    if text(task, "key") == FIRST:
        if has(brief.request, OVERSIZED):
            return "replan", phrases.oversized, []
        if has(brief.request, UNMET):
            return "continue", phrases.unmet, [phrases.unmet]
        if has(brief.request, DOUBTFUL):
            return "blocked", phrases.doubtful, []
    return "done", phrases.judged, []


def _sign(sign: Entry) -> str:
    return f"{text(sign, 'path')}: {text(sign, 'says')}"


def replan(brief: Brief) -> dict[str, object]:
    """The work itself first; then parts that the played agent can only note, each after the one before."""
    return {"tasks": [_part(brief, brief.entry("task"), number) for number in range(1, PARTS + 1)]}


def _part(brief: Brief, task: Entry, number: int) -> dict[str, object]:
    name = brief.texts.replies.part.format(number=number, name=_plain(text(task, "name")) or FIRST)
    own = [text(one, "id") for one in entries(task, "acceptance")] if number == 1 else []
    return {
        "name": name,
        "description": text(task, "description"),
        "acceptance": own or [brief.texts.documents.held.format(wish=name)],
        "files": strings(task, "files"),
        "type": "implementation",
        "after": [number - 1] if number > 1 else [],
    }


def _plain(name: str) -> str:
    """A part of a part is no part of a part of a part."""
    for texts in LANGUAGES:
        head = re.escape(texts.replies.part).replace(re.escape("{number}"), "[0-9]+")
        name = re.sub(head.replace(re.escape("{name}"), ""), "", name)
    return name


def final(brief: Brief) -> dict[str, object]:
    """Complete, unless a requirement has no completed task, or the request wants more than was planned."""
    phrases, title = brief.texts.replies, brief.texts.pieces["export"].title
    missing = [phrases.unserved.format(id=id) for id in strings(brief.data, "not_done")]
    wanted = has(brief.request, UNPLANNED) and not _there(brief)
    if wanted:
        missing.append(phrases.unplanned.format(title=title))
    return {
        "complete": not missing,
        "reasons": [f"{missing[0] if missing else phrases.whole} {phrases.played}"],
        "missing": missing,
        "tasks": [_export(brief, title)] if wanted else [],
        "score": 40 if missing else 90,
    }


def _there(brief: Brief) -> bool:
    titles = [texts.pieces["export"].title for texts in LANGUAGES]
    return any(text(task, "name") in titles for task in brief.entries("tasks"))


def _export(brief: Brief, title: str) -> dict[str, object]:
    told = brief.texts.pieces["export"]
    return {
        "name": title,
        "description": told.description.replace("{discount}", brief.texts.pieces["discount"].title),
        "acceptance": list(told.acceptance),
        "files": list(PIECES["export"].files),
        "type": "implementation",
        "after": [],
    }
