"""Questions about what people say and what happens: the model judges, and nothing it says goes beyond what was offered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from bot.domain.session import Message, Session, Speaker
from bot.domain.states import Status, TaskState
from bot.domain.steps import Step
from bot.domain.tasks import Task
from bot.domain.words import WordKind, Words
from bot.domain.world import Usage
from bot.engine.brain.asking import Answer, ask, parsed
from bot.engine.brain.standing import (
    TALK,
    Sentence,
    basics,
    brief,
    check_told,
    documents,
    part_of,
    plans,
    shortened,
    states,
    talk,
)
from bot.ports import Llm

LONGEST_SUMMARY = 4000
HISTORY = 20


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


class StepReply(Answer):
    """`choice` is empty where the model gave no usable answer."""

    choice: str
    reason: Sentence = ""


class SummaryReply(Answer):
    summary: str = Field(min_length=1)


async def judge_words(llm: Llm, session: Session, words: Words) -> tuple[WordsReply, Usage]:
    """Talk, a question (answered at once), or a change. Nothing usable: talk, for then nothing happens."""
    data = basics(session, words.text) | {
        "said": words.text,
        "by": str(words.by),
        "phase": session.phase.value,
        "tasks": states(session.tasks),
        "documents": documents(session, part_of(session, 6)),
        "conversation": talk(session.conversation[-TALK:], part_of(session, 6)),
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
        "conversation": talk(session.conversation[-TALK:], part_of(session, 6)),
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
    spec = documents(session, part_of(session, 4)).get("spec", "")
    return {
        "title": session.title,
        "spec": spec,
        "tasks": states(session.tasks),
        "branches": [workspace.branch for workspace in session.workspaces],
        "ended": {
            "status": session.status.value,
            "work": session.ending.value if session.ending else "",
            "merged_commit": session.merged_commit[:12],
        },
    }


async def next_step(
    llm: Llm, session: Session, step: Step, task: Task | None
) -> tuple[StepReply, Usage]:
    """One of the step's options, or none. Where there is nothing to choose nobody is asked."""
    if len(step.options) == 1:
        return StepReply(choice=step.options[0].id, reason="There is no other."), Usage()
    data = basics(session) | {
        "happened": shortened(step.happened, part_of(session, 6)),
        "options": [option.model_dump() for option in step.options],
        "default": step.default,
        "history": list(task.past[-HISTORY:]) if task else [],
        "task": _told(session, task) if task else {},
        "tasks": states(session.tasks),
    }

    def parse(text: str) -> StepReply:
        found = parsed(StepReply)(text)
        if step.option(found.choice) is None:
            known = ", ".join(option.id for option in step.options)
            raise ValueError(f"choice: {found.choice!r} is none of {known}")
        return found.model_copy(update={"reason": brief(found.reason, 500)})

    def nothing() -> StepReply:
        return StepReply(choice="")

    return await ask(llm, "next_step", data, parse, nothing, StepReply, lambda one: one.reason)


def _told(session: Session, task: Task) -> dict[str, object]:
    """The task in trouble, with the end of what the tests and the agent said: what went wrong stands there."""
    tail = part_of(session, 12) * 3
    told = plans(session, [task], part_of(session, 6))[0]
    if task.check:
        told["last_check"] = check_told(task.check) | {"output": task.check.output[-tail:]}
    if task.run:
        outcome = task.run.outcome.value if task.run.outcome else ""
        told["last_run"] = {"outcome": outcome, "message": task.run.message[-tail:]}
    return told


async def summarise(llm: Llm, session: Session, messages: Sequence[Message]) -> tuple[str, Usage]:
    """What stands for old messages. Decisions and open tasks need no place in it: they are always told beside it."""
    finished = session.in_state(TaskState.COMPLETED)
    data = basics(session) | {
        "messages": talk(messages, part_of(session, 2)),
        "finished_tasks": states(finished),
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
