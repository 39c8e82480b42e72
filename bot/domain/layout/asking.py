"""Cards that wait for a person. Once decided they say by whom, and have no choices left."""

from __future__ import annotations

from bot.domain.cards import ApprovalCard, NeedsYouCard, OfferCard, QuestionsCard, StoppedCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.intent import Question
from bot.domain.layout.phrases import counted, decided_by, spent
from bot.domain.sheets import Bullets, Code, Element, Fields, Sheet, Table, Text, Tone


def questions(card: QuestionsCard) -> Sheet:
    body = tuple(element for q in card.questions for element in _question(q))
    if card.decided:
        return Sheet(title="Questions, answered", body=body, footer=decided_by(card.decided))
    choices = (Choice(label="Use all defaults", verb=Verb.DEFAULTS, style=Style.PRIMARY),)
    return Sheet(
        title="A few questions before I plan",
        tone=Tone.NEEDS_YOU,
        body=body,
        choices=choices,
        footer="Or answer in your own words, for instance: D1: yes, D2: the second one.",
    )


def _question(q: Question) -> tuple[Element, ...]:
    head = Text(text=f"{q.decision}  {q.text}", strong=True)
    if q.answer is not None:
        return (head, Bullets(items=(q.answer,)))
    options = q.options if q.default in q.options else (q.default, *q.options)
    items = tuple(f"{o} (default)" if o == q.default else o for o in options)
    return (head, *((Text(text=q.why),) if q.why else ()), Bullets(items=items))


def approval(card: ApprovalCard) -> Sheet:
    rows = tuple((t.key, t.name, ", ".join(t.after) or "–", t.agent) for t in card.tasks)
    pairs = (
        ("Base", card.base),
        ("At once", f"up to {card.parallelism}"),
        ("Tests", card.test_command or "no test command found"),
        ("Agent flags", card.agent_flags or "–"),
        ("So far", spent(card.usage)),
    )
    body: tuple[Element, ...] = (
        Table(head=("Task", "What", "After", "Agent"), rows=rows),
        Fields(pairs=pairs),
    )
    title = f"Shall I build {card.spec_id}, revision {card.revision}?"
    if card.decided:
        return Sheet(title=title, body=body, footer=decided_by(card.decided))
    return Sheet(
        title=title,
        tone=Tone.NEEDS_YOU,
        body=body,
        choices=_approval_choices(card.offer or card.digest),
        footer=_promise(card),
    )


def _promise(card: ApprovalCard) -> str:
    until = f" Valid until {card.expires:%Y-%m-%d %H:%M} UTC." if card.expires else ""
    return f"Once approved, I work alone until it is done. Digest {card.digest[:12]}.{until}"


def _approval_choices(offer: str) -> tuple[Choice, ...]:
    return (
        Choice(label="Approve", verb=Verb.APPROVE, about=offer, style=Style.PRIMARY),
        Choice(
            label="Request changes",
            verb=Verb.CHANGE,
            about=offer,
            asks="What should be different?",
        ),
        Choice(
            label="Discard",
            verb=Verb.DISCARD,
            style=Style.DANGER,
            confirm="Discard this session? Its branches stay.",
        ),
    )


def needs_you(card: NeedsYouCard) -> Sheet:
    body: list[Element] = [Text(text=card.reason)]
    if card.output:
        body.append(Code(text=card.output))
    if card.affected:
        body += [Text(text="It holds up", strong=True), Bullets(items=card.affected)]
    if card.decided:
        return Sheet(title=card.title, body=tuple(body), footer=decided_by(card.decided))
    return Sheet(title=card.title, tone=Tone.NEEDS_YOU, body=tuple(body), choices=card.choices)


def offer(card: OfferCard) -> Sheet:
    body: list[Element] = [
        Text(text="No GitHub is configured, so the work stands on these branches:"),
        Bullets(items=card.branches),
    ]
    if card.problem:
        body.append(Text(text=f"The merge was not done: {card.problem}"))
    if card.decided:
        return Sheet(title="Everything is built", body=tuple(body), footer=decided_by(card.decided))
    choices = (
        Choice(
            label=f"Try again to merge into {card.base}"
            if card.problem
            else f"Merge into {card.base}",
            verb=Verb.MERGE,
            style=Style.PRIMARY,
            confirm=f"Merge {counted(len(card.branches), 'branch')} into your local {card.base}?",
        ),
        Choice(label="Keep the branches", verb=Verb.KEEP),
    )
    return Sheet(
        title="Everything is built", tone=Tone.NEEDS_YOU, body=tuple(body), choices=choices
    )


def stopped(card: StoppedCard) -> Sheet:
    agents = (
        "No agent was running"
        if not card.stopped_runs
        else f"{counted(card.stopped_runs, 'agent')} ended"
    )
    body: list[Element] = [Text(text=f"Stopped by {card.by}. {agents}; nothing is lost.")]
    if card.survivors:
        pids = ", ".join(str(pid) for pid in card.survivors)
        body.append(Text(text=f"These processes would not end: {pids}"))
    if card.decided:
        return Sheet(title="Paused", body=tuple(body), footer=decided_by(card.decided))
    choices = (
        Choice(label="Resume", verb=Verb.RESUME, style=Style.PRIMARY),
        Choice(
            label="Discard",
            verb=Verb.DISCARD,
            style=Style.DANGER,
            confirm="Discard this session? Its branches stay.",
        ),
    )
    return Sheet(title="Paused", tone=Tone.NEEDS_YOU, body=tuple(body), choices=choices)
