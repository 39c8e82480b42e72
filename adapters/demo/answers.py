"""The simulated model's answers to each question, and its verdicts, summaries and proposals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import cast

from adapters.demo import conversation
from adapters.demo.brief import (
    PIECES,
    Brief,
    JsonObject,
    entries,
    line,
    mentions,
    piece_in,
    strings,
    text,
)
from adapters.demo.planning import breakdown, plan_document, spec_document
from adapters.demo.texts import english, languages
from bot.core.pull_text import lower_first_verb

# Verdicts on finished work, on a task that was too large, and on the whole session: by facts, and by cues in the
# request.

OVERSIZED = ("cut too large", "大きく切りすぎ")
"""With these words in the request its first task is judged too large, until it is split."""
NEVER_FINISHED = ("leave something out", "何かを抜かして")
"""With these words the first task is never judged finished."""
NEEDS_PERSON = ("only i can tell", "私にしか分からない")
"""With these words a person must decide about the first task."""
MISSING_EXPORT = ("more than is planned", "計画より多く")
"""With these words an export is judged missing at the end, until there is one."""
FIRST_TASK = "T001"
_SHOWN_FILE = re.compile(r"=== (.+?)(?: \+\d+ −\d+)? \([^()]*\)$")
_SHOWN_LINE = re.compile(r"(\d+) \+.*\S")
REPLANNED_PARTS = 3


def work_verdict(brief: Brief) -> dict[str, object]:
    """Judge a task as done, unless its tests, other evidence or the request say otherwise."""
    outcome, told, missing = _judged(brief)
    return {
        "criteria": met_by(brief, "criteria"),
        "verdict": outcome,
        "reasons": [f"{told} {brief.texts.replies.played}"],
        "missing": missing,
        "score": 90 if outcome == "done" else 40,
    }


def _judged(brief: Brief) -> tuple[str, str, list[str]]:
    phrases, task = brief.texts.replies, brief.entry("task")
    # "passed" is followed by the number of tests
    if any(not text(check, "result").startswith("passed") for check in brief.entries("checks")):
        return "continue", phrases.failed, []
    signs = brief.entries("signs") if brief.data.get("signs_accepted") is not True else ()
    if signs:
        back = [phrases.take_back.format(says=_sign(sign)) for sign in signs]
        return "continue", phrases.suspicious, back
    if text(task, "type") == "investigation" and not brief.text("report").strip():
        return "continue", phrases.reportless, [phrases.report_wanted]
    if text(task, "key") == FIRST_TASK:
        if mentions(brief.request, OVERSIZED):
            return "replan", phrases.oversized, []
        if mentions(brief.request, NEVER_FINISHED):
            return "continue", phrases.unmet, [phrases.unmet]
        if mentions(brief.request, NEEDS_PERSON):
            return "blocked", phrases.doubtful, []
    return "done", phrases.judged, []


def met_by(brief: Brief, name: str) -> list[dict[str, object]]:
    """Return for each criterion what it is met by: the first new line that was shown."""
    places = _shown_places(brief)
    ids = [text(one, "id") for one in brief.entries(name)]
    return [{"id": id, "met": bool(places), "evidence": places[:1]} for id in ids]


def _shown_places(brief: Brief) -> list[str]:
    found = [text(one, "where") for one in brief.entries("evidence")]
    path = ""
    for shown in brief.text("diff").split("\n"):
        if head := _SHOWN_FILE.match(shown):
            path = head[1]
        elif place := _SHOWN_LINE.match(shown):
            found.append(f"{path}:{place[1]}")
    if not found and text(brief.entry("task"), "type") == "investigation":
        return ["report"]
    return found or [path][: bool(path)]


def evidence(brief: Brief) -> dict[str, object]:
    """Return the first new line of a part as evidence for every criterion."""
    where = _shown_places(brief)[:1]
    return {
        "evidence": [
            {"criterion": text(one, "id"), "where": place, "shows": place}
            for one in brief.entries("criteria")
            for place in where
        ],
        "problems": [],
    }


def _sign(sign: JsonObject) -> str:
    return f"{text(sign, 'path')}: {text(sign, 'says')}"


def split_task(brief: Brief) -> dict[str, object]:
    """Split a task: the work itself first, then parts that the simulated agent can only note, each depending on the one
    before.
    """
    return {
        "tasks": [
            _part(brief, brief.entry("task"), number) for number in range(1, REPLANNED_PARTS + 1)
        ]
    }


def _part(brief: Brief, task: JsonObject, number: int) -> dict[str, object]:
    name = brief.texts.replies.part.format(
        number=number, name=_without_part_prefix(text(task, "name")) or FIRST_TASK
    )
    own = [text(one, "id") for one in entries(task, "acceptance")] if number == 1 else []
    return {
        "name": name,
        "description": text(task, "description"),
        "acceptance": own or [brief.texts.documents.held.format(wish=name)],
        "files": strings(task, "files"),
        "type": "implementation",
        "after": [number - 1] if number > 1 else [],
    }


def _without_part_prefix(name: str) -> str:
    # The prefixes of parts are removed, so that splitting a part again does not nest them.
    for texts in languages():
        head = re.escape(texts.replies.part).replace(re.escape("{number}"), "[0-9]+")
        name = re.sub(head.replace(re.escape("{name}"), ""), "", name)
    return name


def final_verdict(brief: Brief) -> dict[str, object]:
    """Judge the session as complete, unless a requirement has no completed task, or the request wants more than was
    planned.
    """
    phrases, title = brief.texts.replies, brief.texts.pieces["export"].title
    missing = [phrases.unserved.format(id=id) for id in strings(brief.data, "not_done")]
    wanted = mentions(brief.request, MISSING_EXPORT) and not _has_export(brief)
    if wanted:
        missing.append(phrases.unplanned.format(title=title))
    return {
        "met_by": met_by(brief, "requirements"),
        "complete": not missing,
        "reasons": [f"{missing[0] if missing else phrases.whole} {phrases.played}"],
        "missing": missing,
        "tasks": [_export(brief, title)] if wanted else [],
        "score": 40 if missing else 90,
    }


def _has_export(brief: Brief) -> bool:
    titles = [texts.pieces["export"].title for texts in languages()]
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


# Summaries of finished work and old conversation, only from the given facts.

_LONGEST_COMMIT_TITLE = 72
_QUOTED_WORDS = 12
_COMMIT_TYPES = {"documentation": "docs", "investigation": "chore", "integration": "fix"}


def summarize_talk(brief: Brief) -> dict[str, object]:
    """Return who spoke, with the beginning of each message."""
    phrases = brief.texts.replies
    told = [
        f"{text(message, 'role')}: {_beginning(text(message, 'content'))}"
        for message in brief.entries("messages")
    ]
    finished = _finished(brief)
    closing = [phrases.finished.format(tasks=", ".join(finished))] if finished else []
    return {"summary": "\n".join([phrases.told, *told, *closing, phrases.played])}


def pull_request_text(brief: Brief) -> dict[str, object]:
    phrases, task = brief.texts.replies, brief.entry("task")
    files = ", ".join(f"`{file}`" for file in strings(task, "files")) or "?"
    return {
        "title": _title(task),
        "body": phrases.pull.format(
            what=text(task, "description") or _name(task),
            files=files,
            tests=_checks(brief),
            played=phrases.played,
        ),
    }


def session_summary(brief: Brief) -> dict[str, object]:
    tasks = brief.entries("tasks")
    done = sum(text(task, "state") == "Completed" for task in tasks)
    told = brief.texts.replies.sums.format(
        done=done,
        all=len(tasks),
        decisions=len(brief.entries("decisions")),
        checks=len(brief.entries("checks")),
        played=brief.texts.replies.played,
    )
    return {"text": told}


def branch_summary(brief: Brief) -> dict[str, object]:
    subjects = strings(brief.data, "commits")
    told = brief.texts.replies.branch.format(
        commits=len(subjects),
        files=len(brief.entries("files")),
        subject=subjects[0] if subjects else "–",
        played=brief.texts.replies.played,
    )
    return {"text": told}


def _title(task: JsonObject) -> str:
    """Return a Conventional Commits title. Only type and scope must be plain letters."""
    kind = _COMMIT_TYPES.get(text(task, "type"), "feat")
    piece = piece_in(strings(task, "files"))
    head = f"{kind}({piece.name}): " if piece else f"{kind}: "
    name = line(_name(task)) or "the work of a task"
    return (head + lower_first_verb(name))[:_LONGEST_COMMIT_TITLE].rstrip(" .")


def _checks(brief: Brief) -> str:
    """Return the results of the tests as recorded by the bot."""
    lines = [
        f"- `{text(check, 'command') or 'tests'}`: {text(check, 'result') or '?'}"
        for check in brief.entries("checks")
    ]
    return "\n".join(lines) or "-"


def _finished(brief: Brief) -> list[str]:
    """Return the names of the tasks, which may be given as names or objects."""
    return strings(brief.data, "finished_tasks") or [
        f"{text(task, 'key')} {_name(task)}".strip() for task in brief.entries("finished_tasks")
    ]


def _beginning(content: str) -> str:
    words = line(content).split(" ")
    rest = " …" if len(words) > _QUOTED_WORDS else ""
    return " ".join(words[:_QUOTED_WORDS])[:120] + rest


def _name(task: JsonObject) -> str:
    return text(task, "name") or text(task, "title")


# Change requests and observations, classified by their own words.

_PROPOSAL_TYPES = (
    ("fix", ("fix", "wrong", "bug", "crash", "修正", "不具合")),
    ("refactor", ("twice", "refactor", "same", "重複", "整理")),
    ("test", ("test", "テスト")),
    ("docs", ("document", "readme", "文書")),
)
_LONGEST_PROPOSAL_TITLE = 80


def estimated_risk(brief: Brief) -> dict[str, object]:
    words = f"{brief.text('title')}\n{brief.text('body')}"
    return {"type": _proposal_type(words), "risk": "med", "reason": brief.texts.replies.played}


def proposals(brief: Brief) -> dict[str, object]:
    """Return one proposal for all observations about the same file."""
    groups: dict[str, list[JsonObject]] = {}
    for one in brief.entries("observations"):
        if text(one, "id") and line(text(one, "content")):
            groups.setdefault(_evidence_file(one) or text(one, "id"), []).append(one)
    return {"proposals": [_proposal(brief, group) for group in list(groups.values())[:10]]}


def _proposal(brief: Brief, group: list[JsonObject]) -> dict[str, object]:
    contents = [line(text(one, "content")) for one in group]
    return {
        "title": contents[0][:_LONGEST_PROPOSAL_TITLE].rstrip(" ."),
        "body": "\n".join([*contents, brief.texts.replies.played]),
        "type": _proposal_type("\n".join(contents)),
        "risk": "low",
        "observations": [text(one, "id") for one in group],
    }


def _proposal_type(words: str) -> str:
    return next((kind for kind, cues in _PROPOSAL_TYPES if mentions(words, cues)), "feature")


def _evidence_file(one: JsonObject) -> str:
    return next((text(ground, "ref") for ground in entries(one, "evidence")), "")


# The first line of the system message names the question.


def answer(system: str, user: str, today: str, *, schema: JsonObject | None = None) -> str:
    """Return the reply to one question.

    Nothing is remembered between questions. `schema`: that of the reply, for a question that is not in the script.
    """
    question, brief = question_name(system), Brief.read(user, today)
    if write := _DOCUMENTS.get(question):
        return write(brief)
    if reply := _REPLIES.get(question):
        return json.dumps(reply(brief), ensure_ascii=False, indent=1)
    if schema:
        plain = plainest(schema, schema, brief.texts.replies.played)
        return json.dumps(plain, ensure_ascii=False, indent=1)
    return _not_in_the_script(question)


def question_name(system: str) -> str:
    """Return the name of the question: `# Clarify` → `clarify`."""
    lines = system.strip().splitlines()
    return lines[0].lstrip("#").strip().lower() if lines else ""


_DOCUMENTS: Mapping[str, Callable[[Brief], str]] = {"specify": spec_document, "plan": plan_document}
_REPLIES: Mapping[str, Callable[[Brief], dict[str, object]]] = {
    "clarify": conversation.clarify,
    "answers": conversation.answers,
    "ask": conversation.place_asked_for,
    "tasks": breakdown,
    "breakdown": conversation.judge_plan,
    "analyze": conversation.analyse,
    "words": conversation.classify_message,
    "impact": conversation.affected_tasks,
    "next_step": conversation.next_step,
    "continue": conversation.continuation,
    "judge": work_verdict,
    "evidence": evidence,
    "replan": split_task,
    "final": final_verdict,
    "compress": summarize_talk,
    "pull_request": pull_request_text,
    "summary": session_summary,
    "branch": branch_summary,
    "estimate": estimated_risk,
    "reflect": proposals,
}


def plainest(part: JsonObject, schema: JsonObject, said: str) -> object:
    """Return the smallest value that a JSON schema allows: only what is required.

    `said`: the text used for every string.
    """
    if name := text(part, "$ref").removeprefix("#/$defs/"):
        return plainest(cast("JsonObject", cast("JsonObject", schema["$defs"])[name]), schema, said)
    if choices := entries(part, "anyOf"):
        return plainest(choices[0], schema, said)
    if "const" in part or "enum" in part:
        return part["const"] if "const" in part else cast("list[object]", part["enum"])[0]
    match part.get("type"):
        case "object":
            properties = cast("JsonObject", part.get("properties", {}))
            return {
                name: plainest(cast("JsonObject", properties[name]), schema, said)
                for name in strings(part, "required")
            }
        case "array":
            items = cast("JsonObject", part.get("items", {}))
            return [plainest(items, schema, said)] * cast(int, part.get("minItems", 0))
        case "integer" | "number":
            return part.get("minimum", 0)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return said[: cast(int, part.get("maxLength", len(said)))]


def _not_in_the_script(question: str) -> str:
    known = ", ".join((*_DOCUMENTS, *_REPLIES))
    return f"I am sorry: “{question}” is not in my script, which knows only {known}. {english().notice}"
