"""Asks the model what somebody's words mean, whether a session goes on, and for a summary of a long talk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from bot.core.llm import Usage
from bot.core.session import Message, Session, Speaker, WordKind, Words
from bot.core.states import Status, TaskState
from bot.ports import Llm
from bot.steps.asking import Answer, ask, parsed
from bot.steps.prompt_data import (
    LAST_MESSAGES,
    Sentence,
    basics,
    brief,
    document_excerpts,
    talk_data,
    task_states,
    token_share,
)

LONGEST_SUMMARY = 4000


class WordsReply(Answer):
    """`reason` is empty only where the model gave no usable answer."""

    kind: WordKind
    reply: str = ""
    reason: Sentence = ""


class ContinuationReply(Answer):
    """`reason` is empty only where the model gave no usable answer."""

    verdict: Literal["continue", "new", "talk"]
    reason: Sentence = ""
    reply: str = ""


class SummaryReply(Answer):
    summary: str = Field(min_length=1)


async def judge_words(llm: Llm, session: Session, words: Words) -> tuple[WordsReply, Usage]:
    """Talk, a question (answered at once), or a change. Nothing usable: talk, for then nothing happens."""
    data = basics(session, words.text) | {
        "said": words.text,
        "by": str(words.by),
        "phase": session.phase.value,
        "tasks": task_states(session.tasks),
        "documents": document_excerpts(session, token_share(session, 6)),
        "conversation": talk_data(session.conversation[-LAST_MESSAGES:], token_share(session, 6)),
    }

    def parse(text: str) -> WordsReply:
        found = parsed(WordsReply)(text)
        if found.kind is WordKind.QUESTION and not found.reply:
            raise ValueError("reply: a question needs its answer, if only that it is not known")
        reason = found.reason or f"It reads as {found.kind}."
        return found.model_copy(update={"reply": brief(found.reply), "reason": reason})

    def nothing() -> WordsReply:
        return WordsReply(kind=WordKind.TALK)

    return await ask(llm, "words", data, parse, nothing, WordsReply, lambda one: one.reply)


async def continuation(llm: Llm, session: Session, words: Words) -> tuple[ContinuationReply, Usage]:
    """What was said after the end: more of the same, something new, or talk. Nothing usable: talk."""
    may_continue = session.status is not Status.DISCARDED
    data = basics(session, words.text) | {
        "said": words.text,
        "by": str(words.by),
        "may_continue": may_continue,
        "session": _ended(session),
        "conversation": talk_data(session.conversation[-LAST_MESSAGES:], token_share(session, 6)),
    }

    def parse(text: str) -> ContinuationReply:
        found = parsed(ContinuationReply)(text)
        reply, reason = brief(found.reply), found.reason or f"It reads as {found.verdict}."
        # what was discarded stays so: who wants more of it wants it anew
        given_up = found.verdict == "continue" and not may_continue
        verdict = "new" if given_up else found.verdict
        return ContinuationReply(verdict=verdict, reason=reason, reply=reply)

    def nothing() -> ContinuationReply:
        return ContinuationReply(verdict="talk")

    def prose(one: ContinuationReply) -> str:
        return f"{one.reason}\n{one.reply}"

    return await ask(llm, "continue", data, parse, nothing, ContinuationReply, prose)


def _ended(session: Session) -> dict[str, object]:
    spec = document_excerpts(session, token_share(session, 4)).get("spec", "")
    return {
        "title": session.title,
        "spec": spec,
        "tasks": task_states(session.tasks),
        "branches": [workspace.branch for workspace in session.workspaces],
        "ended": {
            "status": session.status.value,
            "work": session.ending.value if session.ending else "",
            "merged_commit": session.merged_commit[:12],
        },
    }


async def summarise(llm: Llm, session: Session, messages: Sequence[Message]) -> tuple[str, Usage]:
    """What stands for old messages. Decisions and open tasks need no place in it: they are always told beside it."""
    finished = session.in_state(TaskState.COMPLETED)
    data = basics(session) | {
        "messages": talk_data(messages, token_share(session, 2)),
        "finished_tasks": task_states(finished),
    }

    def parse(text: str) -> str:
        return brief(parsed(SummaryReply)(text).summary, LONGEST_SUMMARY)

    def nothing() -> str:
        return plain_summary(messages)

    return await ask(llm, "compress", data, parse, nothing, SummaryReply, lambda one: one)


def plain_summary(messages: Sequence[Message]) -> str:
    """An earlier summary, and how each of the last messages began."""
    former = [one.content for one in messages if one.role is Speaker.SYSTEM]
    others = [one for one in messages if one.role is not Speaker.SYSTEM]
    lines = [f"- {one.role}: {brief(' '.join(one.content.split()), 80)}" for one in others[-20:]]
    if missing := len(others) - len(lines):
        lines.insert(0, f"- {missing} earlier messages are left out.")
    return "\n".join([brief("\n".join(former), LONGEST_SUMMARY // 2), *lines]).strip()
