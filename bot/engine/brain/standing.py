"""How a session stands, told in few words: what the small questions to the model need. Long texts are shortened,
what was asked for and decided never is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

from bot.domain.documents import DocumentKind
from bot.domain.evidence import Check
from bot.domain.language import language_of
from bot.domain.session import Message, Session
from bot.domain.tasks import Task
from bot.domain.tokens import BYTES_PER_TOKEN, budget
from bot.engine.brain.material import SHORTENED, decisions_told

MOST = 24_000
"""Tokens."""
TALK = 12
"""So many of the last messages tell what somebody's words refer to."""
REPLY = 3000
"""Characters. Nobody reads a longer answer in a chat, and some chats take none."""
SENTENCE = 600
LINE = 200


def basics(session: Session, said: str = "") -> dict[str, object]:
    """What every question begins with. `said` tells the language where the request does not."""
    return {
        "request": session.intent.body,
        "title": session.title,
        "language": language_of(session.intent.body) or language_of(said),
        "decisions": decisions_told(session),
    }


def states(tasks: Iterable[Task]) -> list[dict[str, object]]:
    """Each task in a line, and what is known of how far it is."""
    return [_state(task) for task in tasks]


def _state(task: Task) -> dict[str, object]:
    known: dict[str, object] = {
        "blocked_because": task.blocked,
        "branch": task.workspace.branch if task.workspace and task.workspace.ready else "",
        "commits": len(task.commits),
        "runs": len(task.runs),
        "last_check": check_told(task.check) if task.check else None,
    }
    told = {name: value for name, value in known.items() if value}
    return {"key": task.key, "name": task.name, "state": task.state.value, **told}


def plans(session: Session, tasks: Iterable[Task], tokens: int) -> list[dict[str, object]]:
    """Each task with what it is to do; they share so many tokens for their descriptions."""
    chosen = list(tasks)
    keys = {task.id: task.key for task in session.tasks}
    share = tokens // max(1, len(chosen))
    return [
        {
            "key": task.key,
            "name": task.name,
            "description": shortened(task.description, share),
            "state": task.state.value,
            "acceptance": [acceptance.text for acceptance in task.acceptance],
            "files": list(task.files),
            "depends_on": [keys[id] for id in task.dependencies if id in keys],
        }
        for task in chosen
    ]


def check_told(check: Check) -> dict[str, object]:
    """`result` is one word where they passed: whoever reads it compares it. What that proves stands beside it."""
    told = {"command": check.command, "commit": check.commit[:12]}
    if not check.passed:
        return {**told, "result": check.result}
    proof = {"proof": check.result} if check.result != "passed" else {}
    return {**told, "result": "passed", **proof}


def documents(session: Session, tokens: int) -> dict[str, str]:
    """Specification and plan, each within so many tokens."""
    written = {kind: session.document(kind) for kind in (DocumentKind.SPEC, DocumentKind.PLAN)}
    return {kind.value: shortened(one.text, tokens) for kind, one in written.items() if one}


def talk(messages: Iterable[Message], tokens: int) -> list[dict[str, object]]:
    """Messages that share so many tokens."""
    chosen = list(messages)
    share = tokens // max(1, len(chosen))
    return [
        {"role": message.role.value, "content": shortened(message.content, share)}
        for message in chosen
    ]


def part_of(session: Session, part: int) -> int:
    """Tokens: the so-many-th part of what such a question may take, however much the model could."""
    return int(min(MOST, budget(session.context_window)) / part / session.token_scale)


def brief(text: str, longest: int = REPLY) -> str:
    """A text for people, short enough to be read."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def shortened(text: str, tokens: int) -> str:
    """The beginning of a text, never a part of a character."""
    whole = text.encode("utf-8", "replace")
    most = max(0, tokens) * BYTES_PER_TOKEN
    if len(whole) <= most:
        return text
    return whole[:most].decode("utf-8", "ignore") + SHORTENED


def _reply(text: str) -> str:
    return brief(text)


def _sentence(text: str) -> str:
    return brief(text, SENTENCE)


def _line(text: str) -> str:
    return brief(" ".join(text.split()), LINE)


Reply = Annotated[str, AfterValidator(_reply)]
"""What people read as a text."""
Sentence = Annotated[str, AfterValidator(_sentence)]
"""What a model says in a sentence or two, whatever it takes that to be."""
Line = Annotated[str, AfterValidator(_line)]
"""A name or a choice: it stands on buttons, in lists and in titles."""
