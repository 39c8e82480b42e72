"""The card that asks whether a plan may be carried out: what a person should know of it, what matters most first.

While something critical is wrong with the plan there is nothing to approve it with.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.cards import ApprovalCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.layout.phrases import counted, decided_by, figures, spent
from bot.domain.planned import Alteration, Analysis, Difference, Finding, Forecast, Severity
from bot.domain.sheets import Bullets, Element, Fields, Sheet, Table, Text, Tone

MOST_CHANGES = 30
"""Lines of a difference. What exactly stands in the documents can be read in the documents."""
MOST_FINDINGS = 8
"""Beside the critical ones, of which every one is shown."""
_WORST_FIRST = tuple(Severity)


def approval(card: ApprovalCard) -> Sheet:
    plan = f"{card.spec_id}, revision {card.revision}"
    title = f"Change of plan: shall I build {plan}?" if card.change else f"Shall I build {plan}?"
    body = tuple(_plan(card))
    if card.decided:
        return Sheet(title=title, body=body, footer=decided_by(card.decided))
    if card.kept:
        return _written(card, body)
    return Sheet(
        title=title,
        tone=Tone.NEEDS_YOU,
        body=(*body, *(Text(text=note) for note in _notes(card))),
        choices=tuple(_choices(card, card.offer or card.digest)),
        footer=_promise(card),
    )


def _written(card: ApprovalCard, body: tuple[Element, ...]) -> Sheet:
    """Nothing is asked: what could be done with it stands there, and never what Enter would start."""
    note = f"It is kept in {card.kept}. Nothing runs, and nothing waits for you."
    more = () if _blocking(card) else (_approve(card, Style.NORMAL),)
    return Sheet(
        title=f"{card.spec_id} is written, revision {card.revision}",
        tone=Tone.SUCCESS,
        body=(Text(text=note), *body),
        choices=(_request_changes(card, card.offer or card.digest), *more),
        footer=f"Digest {card.digest[:12]}.",
    )


def _approve(card: ApprovalCard, style: Style) -> Choice:
    about = card.offer or card.digest
    return Choice(label=_approving(card), verb=Verb.APPROVE, about=about, style=style)


def _request_changes(card: ApprovalCard, offer: str) -> Choice:
    return Choice(
        label="Say it differently" if card.change else "Request changes",
        verb=Verb.CHANGE,
        about=offer,
        asks="What should be different?",
    )


def _plan(card: ApprovalCard) -> Iterator[Element]:
    if card.change:
        yield from (Text(text="What was asked for", strong=True), Text(text=card.change))
    yield from _listed("What stops", card.stops)
    yield from _listed("What goes on", card.goes_on)
    if card.difference:
        since = f"Changed since revision {card.difference.since}"
        yield from _listed(since, _shortened(_changed(card.difference), MOST_CHANGES, "line"))
    rows = tuple(
        (f"✓ {t.key}" if t.done else t.key, t.name, ", ".join(t.after) or "–", t.agent)
        for t in card.tasks
    )
    yield Table(head=("Task", "What", "After", "Agent"), rows=rows)
    yield Fields(pairs=tuple(_facts(card)))
    yield from _listed("Risk: what the repository starts", card.brought)
    if card.analysis:
        yield from _listed("Found in the plan", tuple(_findings(card.analysis)))


def _listed(title: str, lines: tuple[str, ...]) -> tuple[Element, ...]:
    return (Text(text=title, strong=True), Bullets(items=lines)) if lines else ()


def _changed(difference: Difference) -> tuple[str, ...]:
    sections = [(one, f"{one.where} · {one.name}") for one in difference.sections]
    tasks = [(one, f"{one.where} {one.name}") for one in difference.tasks]
    return tuple(line for one, name in (*sections, *tasks) for line in _altered(one, name))


def _altered(one: Alteration, name: str) -> Iterator[str]:
    """What became of it, and below that its details, marked so that they are seen to belong to it."""
    yield f"{one.what}: {name}"
    yield from (f"↳ {detail}" for detail in one.details)


def _shortened(lines: tuple[str, ...], most: int, noun: str) -> tuple[str, ...]:
    # a last line that only says «1 more» would need as much room as the line itself
    if len(lines) <= most + 1:
        return lines
    return (*lines[:most], f"… and {counted(len(lines) - most, f'more {noun}')}")


def _facts(card: ApprovalCard) -> Iterator[tuple[str, str]]:
    yield "Base", card.base
    yield "At once", f"up to {card.parallelism}"
    source = f" ({card.test_source})" if card.test_source else ""
    yield "Tests", f"{card.test_command}{source}" if card.test_command else "no test command found"
    yield "Agent flags", card.agent_flags or "–"
    if card.risk:
        yield "Risk", ": ".join(filter(None, (card.risk, "; ".join(card.risk_reasons))))
    if card.analysis and card.analysis.coverage:
        yield "Coverage", _coverage(card.analysis)
    if card.analysis and card.analysis.score is not None:
        yield "Breakdown", f"{card.analysis.score} of 100"
    if card.forecast:
        yield "Forecast", _forecast(card.forecast)
    yield "So far", spent(card.usage)


def _coverage(analysis: Analysis) -> str:
    unserved = [covered.requirement for covered in analysis.coverage if not covered.tasks]
    of = len(analysis.coverage)
    text = f"{of - len(unserved)} of {counted(of, 'requirement')} ({analysis.percent} %)"
    return f"{text}; no task serves {', '.join(unserved)}" if unserved else text


def _forecast(forecast: Forecast) -> str:
    """What it took in other sessions: nobody knows what it will take in this one."""
    if not forecast.sessions:
        return "no history yet"
    spreads = (
        (forecast.minutes, "min", "min"),
        (forecast.tokens, "token", "tokens"),
        (forecast.tasks, "task", "tasks"),
        (forecast.parallelism, "at once", "at once"),
    )
    known = ", ".join(figures(spread, one, many) for spread, one, many in spreads if spread)
    return f"{counted(forecast.sessions, 'session')} so far" + (f": {known}" if known else "")


def _findings(analysis: Analysis) -> tuple[str, ...]:
    found = sorted(analysis.findings, key=lambda f: _WORST_FIRST.index(f.severity))
    lines = tuple(_finding(one) for one in found)
    return _shortened(lines, len(analysis.critical) + MOST_FINDINGS, "finding")


def _finding(one: Finding) -> str:
    about = ", ".join(filter(None, (one.category, one.where)))
    advice = f" → {one.recommendation}" if one.recommendation else ""
    return f"{one.severity} {one.id} ({about}): {one.summary}{advice}"


def _notes(card: ApprovalCard) -> Iterator[str]:
    """What must be known before anything is pressed: it stands next to the buttons."""
    if card.test_problem:
        yield card.test_problem
    elif card.test_unseen:
        yield card.test_unseen
    if card.dry_run:
        yield "You asked for the plan only: nothing runs until somebody says «run it»."
    if blocking := _blocking(card):
        found = ", ".join(finding.id for finding in blocking)
        yield (
            f"I cannot ask for approval: {found} {'is' if len(blocking) == 1 else 'are'} critical, and planning "
            "anew did not mend it. Say what should be different, and I plan once more."
        )
    elif card.approvers > 1 or card.asker:
        yield _approvers(card)


def _approvers(card: ApprovalCard) -> str:
    if not card.approved_by:
        but = f", and {card.asker} is none of them" if card.asker else ""
        if card.approvers == 1:
            return f"Somebody else than {card.asker} must approve this."
        return f"{card.approvers} different people must approve this{but}."
    missing = card.approvers - len(card.approved_by)
    people = "one more person" if missing == 1 else f"{missing} more people"
    return f"Approved by {', '.join(card.approved_by)}; {people} must approve."


def _blocking(card: ApprovalCard) -> tuple[Finding, ...]:
    return card.analysis.critical if card.analysis else ()


def _choices(card: ApprovalCard, offer: str) -> Iterator[Choice]:
    if not _blocking(card):
        yield _approve(card, Style.PRIMARY)
    yield _request_changes(card, offer)
    if card.change:
        yield Choice(label="Forget the change", verb=Verb.DROP, about=offer)
        return
    yield Choice(
        label="Discard",
        verb=Verb.DISCARD,
        style=Style.DANGER,
        confirm="Discard this session? Its branches stay.",
    )


def _approving(card: ApprovalCard) -> str:
    label = "Run it" if card.dry_run else "Confirm" if card.edits_only else "Approve"
    if card.approvers > 1:
        return f"{label} ({len(card.approved_by) + 1} of {card.approvers})"
    return label


def _promise(card: ApprovalCard) -> str:
    digest = f"Digest {card.digest[:12]}."
    until = f" Valid until {card.expires:%Y-%m-%d %H:%M} UTC." if card.expires else ""
    if _blocking(card):
        return digest
    if card.change:
        held = "only what stops is held up" if card.held else "everything goes on"
        return f"Until you decide, {held}. {digest}{until}"
    return f"Once approved, I work alone until it is done. {digest}{until}"
