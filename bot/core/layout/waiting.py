"""Lays out the cards that wait for a person: plan approval, questions, offers.

Once decided, they say by whom and have no buttons.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.cards import (
    ApprovalCard,
    EarlierCard,
    NeedsYouCard,
    OfferCard,
    PartsCard,
    PullsCard,
    QuestionsCard,
    RootCard,
    StoppedCard,
)
from bot.core.choices import Choice, Style, Verb
from bot.core.intent import Question
from bot.core.layout.phrases import (
    decided_by,
    model_usage_in_words,
    shortened_in_words,
    spread_in_words,
)
from bot.core.plan import Alteration, Analysis, Difference, Finding, Forecast, Severity
from bot.core.sheets import Bullets, Code, Element, Fields, Pointer, Sheet, Table, Text, Tone
from bot.core.text import capitalized, counted, date_time, first_few

# The approval card: what a person should know of the plan, most important first. There is no approve button while the
# plan has a critical finding.

MAX_DIFFERENCE_LINES = 30
"""Lines of a difference. The documents themselves have the details."""
MAX_FINDINGS = 8
_PLANNING = ("specify", "plan", "tasks", "breakdown", "analyze")
"""The questions that a plan comes from."""
"""Findings shown in addition to the critical ones, which are all shown."""
_WORST_FIRST = tuple(Severity)


def approval(card: ApprovalCard) -> Sheet:
    plan = f"{card.spec_id}, revision {card.revision}"
    title = f"Change of plan: shall I build {plan}?" if card.change else f"Shall I build {plan}?"
    body = tuple(_plan(card))
    if card.decided:
        return Sheet(title=title, body=body, footer=decided_by(card.decided))
    if card.kept:
        return _spec_only_sheet(card, body)
    return Sheet(
        title=title,
        tone=Tone.NEEDS_YOU,
        body=(*body, *(Text(text=note) for note in _notes(card))),
        choices=tuple(_choices(card, card.offer or card.digest)),
        footer=_footer(card),
    )


def _spec_only_sheet(card: ApprovalCard, body: tuple[Element, ...]) -> Sheet:
    # The spec was all that was asked for, so the approve button is not the primary choice: Enter must not start the
    # work.
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
    return Choice(label=_approve_label(card), verb=Verb.APPROVE, about=about, style=style)


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
        yield from _listed(
            since, first_few(_changed(card.difference), MAX_DIFFERENCE_LINES, "line")
        )
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
    return tuple(line for one, name in (*sections, *tasks) for line in _alteration_lines(one, name))


def _alteration_lines(one: Alteration, name: str) -> Iterator[str]:
    """Yield what happened to a section or task, and its details on marked lines below."""
    yield f"{one.what}: {name}"
    yield from (f"↳ {detail}" for detail in one.details)


def _facts(card: ApprovalCard) -> Iterator[tuple[str, str]]:
    yield "Base", card.base
    yield "At once", f"up to {card.parallelism}"
    source = f" ({card.test_source})" if card.test_source else ""
    yield "Tests", f"{card.test_command}{source}" if card.test_command else "no test command found"
    if card.set_up:
        yield "Set-up", f"{card.set_up} (in each new worktree; setup: none leaves it out)"
    yield "Agent flags", card.agent_flags or "–"
    if card.risk:
        yield "Risk", ": ".join(filter(None, (card.risk, "; ".join(card.risk_reasons))))
    if card.analysis and card.analysis.coverage:
        yield "Coverage", _coverage(card.analysis)
    if card.analysis and card.analysis.score is not None:
        yield "Breakdown", f"{card.analysis.score} of 100"
    if card.forecast:
        yield "Forecast", _forecast(card.forecast)
    if card.read:
        yield "Read", f"{counted(card.read, 'file')} of the repository (context lists them)"
    if parts := shortened_in_words(card.usage, _PLANNING).values():
        told = ", ".join(dict.fromkeys(part for some in parts for part in some))
        yield "Shortened for the model", f"{told} (context says where)"
    yield "So far", model_usage_in_words(card.usage)


def _coverage(analysis: Analysis) -> str:
    unserved = [covered.requirement for covered in analysis.coverage if not covered.tasks]
    of = len(analysis.coverage)
    text = f"{of - len(unserved)} of {counted(of, 'requirement')} ({analysis.percent} %)"
    return f"{text}; no task serves {', '.join(unserved)}" if unserved else text


def _forecast(forecast: Forecast) -> str:
    """Return what finished sessions took; what this one will take is unknown."""
    if not forecast.sessions:
        return "no history yet"
    spreads = (
        (forecast.minutes, "min", "min"),
        (forecast.tokens, "token", "tokens"),
        (forecast.tasks, "task", "tasks"),
        (forecast.parallelism, "at once", "at once"),
    )
    known = ", ".join(spread_in_words(spread, one, many) for spread, one, many in spreads if spread)
    return f"{counted(forecast.sessions, 'session')} so far" + (f": {known}" if known else "")


def _findings(analysis: Analysis) -> tuple[str, ...]:
    found = sorted(analysis.findings, key=lambda f: _WORST_FIRST.index(f.severity))
    lines = tuple(_finding(one) for one in found)
    return first_few(lines, len(analysis.critical) + MAX_FINDINGS, "finding")


def _finding(one: Finding) -> str:
    about = ", ".join(filter(None, (one.category, one.where)))
    advice = f" → {one.recommendation}" if one.recommendation else ""
    return f"{one.severity} {one.id} ({about}): {one.summary}{advice}"


def _notes(card: ApprovalCard) -> Iterator[str]:
    """Yield the notes that a person must read before deciding; they stand next to the buttons."""
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


def _approve_label(card: ApprovalCard) -> str:
    label = "Run it" if card.dry_run else "Confirm" if card.edits_only else "Approve"
    if card.approvers > 1:
        return f"{label} ({len(card.approved_by) + 1} of {card.approvers})"
    return label


def _footer(card: ApprovalCard) -> str:
    digest = f"Digest {card.digest[:12]}."
    until = f" Valid until {date_time(card.expires)}." if card.expires else ""
    if _blocking(card):
        return digest
    if card.change:
        held = "only what stops is held up" if card.held else "everything goes on"
        return f"Until you decide, {held}. {digest}{until}"
    return f"Once approved, I work alone until it is done. {digest}{until}"


# Questions, decisions, offers and pull requests.


def questions(card: QuestionsCard) -> Sheet:
    body = tuple(element for q in card.questions for element in _question(q))
    still_open = [q for q in card.questions if q.answer is None]
    if card.decided or not still_open:
        footer = decided_by(card.decided) if card.decided else ""
        return Sheet(title="Questions, answered", body=body, footer=footer)
    some_answered = len(still_open) < len(card.questions)
    title = _still_open(len(still_open)) if some_answered else "A few questions before I plan"
    if card.while_planning:
        title = f"While planning I found what only you can decide: {_still_open(len(still_open))}"
    choices = _defaults(card.key, still_open, some_answered=some_answered)
    words = "Or answer" if choices else "Please answer"
    return Sheet(
        title=title,
        tone=Tone.NEEDS_YOU,
        body=body,
        choices=choices,
        footer=f"{words} in your own words, for instance: D1: yes, D2: the second one.",
    )


def _still_open(number: int) -> str:
    return f"{counted(number, 'question')} {'is' if number == 1 else 'are'} still open"


def _defaults(key: str, still_open: list[Question], *, some_answered: bool) -> tuple[Choice, ...]:
    # Without a default for every open question there is no button: its press would seem to answer them all.
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


# Work in another thread: the parts of a large request, an earlier session, a session's own root.


def parts(card: PartsCard) -> Sheet:
    title = "This is too large for one plan"
    body = tuple(_parts_table(card))
    if card.decided:
        return Sheet(title=title, body=body, footer=decided_by(card.decided))
    sessions = counted(len(card.parts), "session")
    choices = (
        Choice(
            label=f"Open {sessions}",
            verb=Verb.SPLIT,
            style=Style.PRIMARY,
            confirm=f"Open {sessions}, each in a thread of its own?",
        ),
        Choice(label="Plan it as one", verb=Verb.WHOLE),
    )
    return Sheet(
        title=title,
        tone=Tone.NEEDS_YOU,
        body=body,
        choices=choices,
        footer="Each part gets a plan of its own, and is approved by itself.",
    )


def _parts_table(card: PartsCard) -> Iterator[Element]:
    if not card.decided:
        yield Text(
            text="I would rather make these parts of it, one after the other or side by side:"
        )
    rows = tuple((str(n), part.title, part.body) for n, part in enumerate(card.parts, 1))
    yield Table(head=("Part", "What", "It asks for"), rows=rows)
    for part in card.parts:
        if part.thread:
            yield Pointer(text=part.title, thread=part.thread)


def earlier(card: EarlierCard) -> Sheet:
    title = "This seems to go on with something I have built"
    session = Fields(pairs=(("Session", f"{card.session} · {card.title}"),))
    body: tuple[Element, ...] = (session, Text(text=card.reason)) if card.reason else (session,)
    if card.decided:
        return Sheet(title=title, body=body, footer=decided_by(card.decided))
    choices = (
        Choice(label="Continue there", verb=Verb.THERE, about=card.session, style=Style.PRIMARY),
        Choice(label="Plan it here", verb=Verb.HERE, about=card.session),
    )
    return Sheet(
        title=title,
        tone=Tone.NEEDS_YOU,
        body=body,
        choices=choices,
        footer="There its spec is extended and tasks are added; here it begins from nothing.",
    )


def root(card: RootCard) -> Sheet:
    body: list[Element] = [Text(text=card.request)]
    if card.by:
        body.append(Fields(pairs=(("Asked for by", card.by),)))
    if card.origin:
        body.append(Pointer(text=card.origin_title or "where it was asked for", thread=card.origin))
    return Sheet(
        title=card.title, tone=Tone.PROGRESS, body=tuple(body), footer=f"session {card.session}"
    )
