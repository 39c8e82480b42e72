"""Cards that wait for a person. Once decided they say by whom, and have no choices left."""

from __future__ import annotations

from bot.domain.cards import NeedsYouCard, OfferCard, PullsCard, QuestionsCard, StoppedCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.intent import Question
from bot.domain.layout.phrases import counted, decided_by
from bot.domain.sentences import capitalized
from bot.domain.sheets import Bullets, Code, Element, Sheet, Table, Text, Tone


def questions(card: QuestionsCard) -> Sheet:
    body = tuple(element for q in card.questions for element in _question(q))
    still_open = [q for q in card.questions if q.answer is None]
    if card.decided or not still_open:
        footer = decided_by(card.decided) if card.decided else ""
        return Sheet(title="Questions, answered", body=body, footer=footer)
    some_answered = len(still_open) < len(card.questions)
    choices = _defaults(card.key, still_open, some_answered=some_answered)
    words = "Or answer" if choices else "Please answer"
    return Sheet(
        title=_still_open(len(still_open)) if some_answered else "A few questions before I plan",
        tone=Tone.NEEDS_YOU,
        body=body,
        choices=choices,
        footer=f"{words} in your own words, for instance: D1: yes, D2: the second one.",
    )


def _still_open(number: int) -> str:
    return f"{counted(number, 'question')} {'is' if number == 1 else 'are'} still open"


def _defaults(key: str, still_open: list[Question], *, some_answered: bool) -> tuple[Choice, ...]:
    """Nothing to press where only the person can know an answer: it would be taken for all of them."""
    if not all(q.default for q in still_open):
        return ()
    label = "Use defaults for the rest" if some_answered else "Use all defaults"
    about = f"{key}#{','.join(q.decision for q in still_open)}"
    return (Choice(label=label, verb=Verb.DEFAULTS, about=about, style=Style.PRIMARY),)


def _question(q: Question) -> tuple[Element, ...]:
    head = Text(text=f"{q.decision}  {q.text}", strong=True)
    if q.answer is not None:
        return (head, Text(text=f"→ {q.answer}"))
    known = not q.default or q.default in q.options
    options = q.options if known else (q.default, *q.options)
    items = tuple(f"{o} (default)" if o == q.default else o for o in options)
    why = (Text(text=q.why),) if q.why else ()
    return (head, *why, Bullets(items=items)) if items else (head, *why)


def needs_you(card: NeedsYouCard) -> Sheet:
    body: list[Element] = [Text(text=capitalized(card.reason))] if card.reason else []
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
        body.append(Text(text=f"I did not merge it: {card.problem}"))
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


def pulls(card: PullsCard) -> Sheet:
    rows = tuple((pull.task, f"#{pull.number}", pull.title, pull.state) for pull in card.pulls)
    body: list[Element] = [Table(head=("Task", "Request", "Title", "State"), rows=rows)]
    links = tuple(f"#{pull.number}: {pull.url}" for pull in card.pulls if pull.url)
    if links:
        body.append(Bullets(items=links))
    problems = tuple(
        f"#{pull.number} is not merged yet: {pull.problem}" for pull in card.pulls if pull.problem
    )
    if problems:
        body.append(Bullets(items=problems))
    title = f"Pull requests into {card.base} of {card.repository}"
    if card.decided:
        return Sheet(title=title, body=tuple(body), footer=decided_by(card.decided))
    tone = Tone.NEEDS_YOU if card.choices else Tone.PLAIN
    return Sheet(title=title, tone=tone, body=tuple(body), choices=card.choices)


def stopped(card: StoppedCard) -> Sheet:
    agents = (
        "No agent was running"
        if not card.stopped_runs
        else f"{counted(card.stopped_runs, 'agent')} ended"
    )
    why = capitalized(card.reason) or f"Stopped by {card.by}."
    body: list[Element] = [Text(text=f"{why} {agents}; nothing is lost.")]
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
