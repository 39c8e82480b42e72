"""Lays out the cards that report the state and need no action.

On the home page, what waits for somebody comes first.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.cards import (
    DocumentCard,
    HomeCard,
    NewsCard,
    ProblemCard,
    ReceivedCard,
    StatusCard,
    SummaryCard,
    TaskLine,
)
from bot.core.layout.phrases import (
    decided_by,
    model_usage_in_words,
    state_as_words,
    state_in_words,
    usage_in_words,
)
from bot.core.sheets import (
    Bullets,
    Code,
    Element,
    Entries,
    Entry,
    Fields,
    Prose,
    Sheet,
    Table,
    Text,
    Tone,
)
from bot.core.states import OverallStatus, Status
from bot.core.text import capitalized, counted, date_time, duration, first_few, time_of_day

MOST_CRITERIA_SHOWN = 20
_ENDED = (Status.COMPLETED, Status.FAILED, Status.DISCARDED)
STATE_MARKS = {
    "Pending": "·",
    "Ready": "○",
    "Running": "▶",
    "Verifying": "◔",
    "NeedsContinuation": "↻",
    "Integrating": "◑",
    "Completed": "✓",
    "Failed": "✗",
    "Blocked": "‖",
    "Cancelled": "–",
    "Replaced": "⇢",
}


def received(card: ReceivedCard) -> Sheet:
    if not card.repository:
        return Sheet(title="Got it, looking at the repository …")
    pairs = [
        ("Repository", card.repository),
        ("From", f"{card.branch} at {card.commit[:10]}"),
    ]
    if card.agent:
        pairs.append(("Agents", f"{card.agent}, {_kept_in(card)}"))
    notes = list(card.notes)
    if card.uncommitted:
        files = counted(card.uncommitted, "uncommitted file")
        notes.append(f"{files} of yours: not part of this, and never touched.")
    body: list[Element] = [Text(text=card.request), Fields(pairs=tuple(pairs))]
    if notes:
        body.append(Bullets(items=tuple(notes)))
    return Sheet(title="Got it", body=tuple(body), footer=f"session {card.session}")


def _kept_in(card: ReceivedCard) -> str:
    if card.sandboxed:
        return "in a sandbox (bubblewrap)"
    whom = f"user {card.user}" if card.user else "you"
    return f"without a sandbox, as {whom}: they may do what {card.user or 'you'} may do"


def document(card: DocumentCard) -> Sheet:
    name = f"specs/{card.spec_id}/{card.file}" if card.document else card.file
    return Sheet(
        title=card.heading,
        body=(Prose(name=name, markdown=card.text),),
    )


def news(card: NewsCard) -> Sheet:
    body: list[Element] = [Text(text=capitalized(line)) for line in card.lines if line]
    if card.output:
        body.append(Code(text=card.output))
    return Sheet(title=card.title, tone=card.tone, body=tuple(body))


def status(card: StatusCard) -> Sheet:
    head = [("Session", f"{card.session} · {state_in_words(card.status, card.phase)}")]
    if card.queue_position:
        head.append(("Queue", f"place {card.queue_position} of {card.waiting}"))
    elif card.waiting:
        head.append(("Queue", f"{counted(card.waiting, 'session')} behind this one"))
    if card.trouble:
        head.append(("Waiting", card.trouble))
    body: list[Element] = [Fields(pairs=tuple(head))]
    if card.tasks:
        body.append(_task_table(card.tasks))
    for task in card.tasks:
        if task.tail:
            body += [Text(text=f"{task.key} on its screen", strong=True), Code(text=task.tail)]
    agents = "".join(f" · agents {said}" for said in usage_in_words(card.agent_usage))
    footer = f"{model_usage_in_words(card.usage)}{agents} · {time_of_day(card.at, seconds=True)}"
    tone = Tone.PLAIN if card.status in _ENDED else Tone.PROGRESS
    return Sheet(title=card.title, tone=tone, body=tuple(body), choices=card.choices, footer=footer)


def _task_table(tasks: tuple[TaskLine, ...]) -> Table:
    rows = tuple(
        (
            f"{STATE_MARKS.get(t.state, ' ')} {t.key}",
            t.name,
            state_as_words(t.state),
            duration(t.seconds),
            t.note,
        )
        for t in tasks
    )
    return _without_empty_columns(("Task", "What", "State", "Time", "Note"), rows)


def _without_empty_columns(head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Table:
    used = [n for n in range(len(head)) if any(row[n] for row in rows)]
    return Table(
        head=tuple(head[n] for n in used), rows=tuple(tuple(row[n] for n in used) for row in rows)
    )


def summary(card: SummaryCard) -> Sheet:
    complete = card.result.overall_status is OverallStatus.COMPLETE
    body: list[Element] = [Fields(pairs=_summary_facts(card))]
    if card.tasks:
        body.append(_task_table(card.tasks))
    if card.checks:
        body += [Text(text="Tests I ran", strong=True), _checks(card)]
    for title, lines in (
        ("Pull requests", card.pulls),
        ("Evidence", _evidence(card)),
        ("Beyond their limits", card.violations),
        ("Guessed in agents' reports", card.guesses),
        ("Not complete", card.result.incomplete_task_reasons),
        ("Judged on the whole", _verdict(card)),
        ("Proposed next", card.proposed),
        ("Left as it is", card.kept),
    ):
        if lines:
            body += [Text(text=title, strong=True), Bullets(items=lines)]
    tone = Tone.SUCCESS if complete else Tone.FAILURE
    title = f"{card.result.overall_status.replace('_', ' ')}: {card.title}"
    footer = decided_by(card.decided) if card.decided else ""
    return Sheet(title=title, tone=tone, body=tuple(body), choices=card.choices, footer=footer)


def _evidence(card: SummaryCard) -> tuple[str, ...]:
    """Return the number of evidence records, and the ids of those that are missing or were changed."""
    kept, said = card.result.evidence_inventory, card.result.evidence_summary
    named = (
        ("Missing", kept.missing_evidence_operations),
        ("Changed since it was written", kept.integrity_failures),
    )
    lost = tuple(f"{what}: {', '.join(ids[:8])}" for what, ids in named if ids)
    in_all = (said,) if said and (kept.total_evidence_items or lost) else ()
    return (*card.evidence, *in_all, *lost)


def _verdict(card: SummaryCard) -> tuple[str, ...]:
    verdict = card.verdict
    if verdict is None:
        return ()
    results = first_few([one.described for one in verdict.criteria], MOST_CRITERIA_SHOWN)
    return (verdict.outcome.value, *verdict.missing, *verdict.reasons, *results)


def _checks(card: SummaryCard) -> Table:
    rows = tuple((c.task, c.command, c.commit[:10], c.result, str(c.tries)) for c in card.checks)
    return _without_empty_columns(("Task", "Check", "Commit", "Result", "Tries"), rows)


def _summary_facts(card: SummaryCard) -> tuple[tuple[str, str], ...]:
    return (
        ("Result", card.merged or "kept on its branches"),
        ("Took", duration(card.seconds)),
        ("Agents", ", ".join([counted(card.agent_runs, "run"), *usage_in_words(card.agent_usage)])),
        ("Model", model_usage_in_words(card.usage)),
    )


def problem(card: ProblemCard) -> Sheet:
    if card.over:
        solved = f"Solved: {card.title.removesuffix('.')}"
        return Sheet(title=solved, tone=Tone.PLAIN, body=(Text(text=capitalized(card.reason)),))
    body = [Text(text=capitalized(text)) for text in (card.reason, card.remedy) if text]
    footer = "I keep trying, and go on by myself as soon as it works." if card.retrying else ""
    return Sheet(
        title=card.title, tone=Tone.FAILURE, body=tuple(body), choices=card.choices, footer=footer
    )


# The home page. What waits for somebody comes first.


def home(card: HomeCard) -> Sheet:
    tone = Tone.NEEDS_YOU if card.waiting else Tone.PLAIN
    return Sheet(
        title="How everything stands",
        tone=tone,
        body=tuple(_home_blocks(card)),
        choices=card.choices,
        footer=f"As of {date_time(card.at, seconds=True)}",
    )


def _home_blocks(card: HomeCard) -> Iterator[Element]:
    yield from _entries("Waiting for you", card.waiting, "Nothing waits for you.")
    yield from _entries("At work", card.running, "Nothing is under way.")
    if card.recent:
        yield from _entries("Ended lately", card.recent, "")
    if card.branches:
        yield from (Text(text="Branches", strong=True), Bullets(items=card.branches))
    if card.health:
        yield from (Text(text="Health", strong=True), Fields(pairs=card.health))
    if card.settings:
        yield from (Text(text="Settings", strong=True), Fields(pairs=card.settings))


def _entries(title: str, entries: tuple[Entry, ...], none: str) -> Iterator[Element]:
    yield Text(text=title, strong=True)
    yield Entries(items=entries) if entries else Text(text=none)
