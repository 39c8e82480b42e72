"""What the played model writes about finished work and old talk: from the facts it is given, nothing else."""

from __future__ import annotations

from adapters.played.script.brief import Brief, Entry, line, strings, text
from adapters.played.script.pieces import piece_in
from bot.domain.conventional import begun_small

_LONGEST_TITLE = 72
_WORDS = 12
_KINDS = {"documentation": "docs", "investigation": "chore", "integration": "fix"}


def compress(brief: Brief) -> dict[str, object]:
    """Who spoke, and how they began."""
    phrases = brief.texts.replies
    told = [
        f"{text(message, 'role')}: {_beginning(text(message, 'content'))}"
        for message in brief.entries("messages")
    ]
    finished = _finished(brief)
    closing = [phrases.finished.format(tasks=", ".join(finished))] if finished else []
    return {"summary": "\n".join([phrases.told, *told, *closing, phrases.played])}


def pull_request(brief: Brief) -> dict[str, object]:
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


def sum_up(brief: Brief) -> dict[str, object]:
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


def branch(brief: Brief) -> dict[str, object]:
    subjects = strings(brief.data, "commits")
    told = brief.texts.replies.branch.format(
        commits=len(subjects),
        files=len(brief.entries("files")),
        subject=subjects[0] if subjects else "–",
        played=brief.texts.replies.played,
    )
    return {"text": told}


def _title(task: Entry) -> str:
    """A Conventional Commits title. Only the type and the scope have to be plain letters."""
    kind = _KINDS.get(text(task, "type"), "feat")
    piece = piece_in(strings(task, "files"))
    head = f"{kind}({piece.name}): " if piece else f"{kind}: "
    name = line(_name(task)) or "the work of a task"
    return (head + begun_small(name))[:_LONGEST_TITLE].rstrip(" .")


def _checks(brief: Brief) -> str:
    """How the tests went, by what the bot recorded of them."""
    lines = [
        f"- `{text(check, 'command') or 'tests'}`: {text(check, 'result') or '?'}"
        for check in brief.entries("checks")
    ]
    return "\n".join(lines) or "-"


def _finished(brief: Brief) -> list[str]:
    """Tasks by name, whether they are told as names or as objects."""
    return strings(brief.data, "finished_tasks") or [
        f"{text(task, 'key')} {_name(task)}".strip() for task in brief.entries("finished_tasks")
    ]


def _beginning(content: str) -> str:
    words = line(content).split(" ")
    rest = " …" if len(words) > _WORDS else ""
    return " ".join(words[:_WORDS])[:120] + rest


def _name(task: Entry) -> str:
    return text(task, "name") or text(task, "title")
