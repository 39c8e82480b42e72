"""What users see of all sessions at once: the inbox, lists, usage, the home page, and help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from bot.core.cards import HomeCard
from bot.core.choices import Choice, Style, Verb, Word
from bot.core.commands import HELP
from bot.core.errors import PortError
from bot.core.events import Commanded
from bot.core.gate import Gate
from bot.core.layout.phrases import state_in_words
from bot.core.llm import AI_SETTINGS_REQUIRED, Usage
from bot.core.people import Person, Role, Thread
from bot.core.projections.console_state_writer import CONSOLE
from bot.core.repositories import Repositories
from bot.core.session import Session
from bot.core.sheets import Bullets, Element, Entries, Entry, Fields, Table, Text
from bot.core.states import Status, TaskState
from bot.core.text import ago, counted, date_time, first_few, sentences
from bot.core.world import World
from bot.ports import IndexedSession
from bot.steps.control import commands
from bot.steps.intents.work import Intents

# The overall state for one person: what waits, what is at work, what has ended, and whether the bot is healthy.

MAX_SESSIONS_LISTED = 20
"""Sessions under one heading."""
MAX_USAGE_ROWS = 50
"""Sessions whose usage is listed separately; the total includes all."""
LATELY = 5
BRANCHES = 15
RESUME_HINT = "resume <id> turns to one of them."
"""For a terminal, where no button can lead to another conversation."""
_ENDED = frozenset({Status.COMPLETED, Status.FAILED, Status.DISCARDED})
_YOURS = {
    Role.START: "ask for work",
    Role.APPROVE: "approve",
    Role.STOP: "stop",
    Role.ADMIN: "see which keys are set",
}


def is_visible_from(thread: Thread, other: Thread) -> bool:
    """Whether the other thread may be listed in this one: never across organisations, and a direct conversation only in
    itself.
    """
    if (thread.platform, thread.workspace) != (other.platform, other.workspace):
        return False
    return not other.direct or other.place == thread.place


def is_listed_in(thread: Thread, listed: IndexedSession) -> bool:
    return is_visible_from(thread, listed.thread)


def is_visible_to(session: Session, thread: Thread, person: Person) -> bool:
    """Whether the session may be listed for this person.

    A home page, which only its owner sees, also lists their own direct conversations.
    """
    if thread.home and session.thread.direct:
        same = (session.thread.platform, session.thread.workspace)
        return session.owner.id == person.id and same == (thread.platform, thread.workspace)
    return is_visible_from(thread, session.thread)


async def home(
    world: World,
    gate: Gate,
    live_sessions: Iterable[Session],
    thread: Thread,
    person: Person,
    intent_entries: tuple[Entry, ...] = (),
) -> HomeCard:
    """Return the home page. `intent_entries`: intents that wait."""
    mine = [one for one in live_sessions if not one.over and is_visible_to(one, thread, person)]
    now = world.clock.now()
    asked = {one.id: tuple(commands.waiting_titles(one)) for one in mine}
    waiting = [one for one in mine if asked[one.id]]
    running = [one for one in mine if not asked[one.id]]
    roles = frozenset(role for role in Role if gate.grants(thread, person, role))
    return HomeCard(
        key=f"home:{person.id}",
        health=await _health(world, mine),
        waiting=(*(_entry(one, asked[one.id], now) for one in waiting), *intent_entries)[
            :MAX_SESSIONS_LISTED
        ],
        running=tuple(_entry(one, (), now) for one in running[:MAX_SESSIONS_LISTED]),
        recent=tuple(_ended(world.store.sessions(), thread)),
        branches=tuple(_branches(mine))[:BRANCHES],
        settings=tuple(_settings(world, roles)),
        choices=tuple(_choices(roles)),
        at=now,
    )


def inbox(
    live_sessions: Iterable[Session],
    thread: Thread,
    person: Person,
    now: datetime,
    intent_entries: tuple[Entry, ...] = (),
    problems: tuple[str, ...] = (),
) -> tuple[Element, ...]:
    """Return what waits for somebody: the person's own sessions first, then those that wait longest, then intents."""
    mine = [one for one in live_sessions if is_visible_to(one, thread, person)]
    asked = [(one, titles) for one in mine if (titles := tuple(commands.waiting_titles(one)))]
    asked.sort(key=lambda each: (each[0].owner.id != person.id, each[0].updated_at))
    found = (*(_entry(one, titles, now) for one, titles in asked), *intent_entries)
    told: list[Element] = [Entries(items=found[:MAX_SESSIONS_LISTED])] if found else []
    if not found:
        told.append(Text(text="Nothing waits for you."))
    if len(found) > MAX_SESSIONS_LISTED:
        told.append(Text(text=f"… and {len(found) - MAX_SESSIONS_LISTED} more."))
    if asked and thread.platform == CONSOLE:
        told.append(Text(text=RESUME_HINT))
    if problems:
        told.append(Bullets(items=problems[:LATELY]))
    return tuple(told)


def sessions(
    listed: Iterable[IndexedSession], thread: Thread, now: datetime
) -> tuple[Element, ...]:
    """Return every session, newest first, with what can be done about it."""
    seen = [one for one in listed if is_visible_from(thread, one.thread)]
    if not seen:
        return (Text(text="There are none yet. Tell me what you would like to have built."),)
    entries = Entries(items=tuple(_listed(one, now) for one in seen[:MAX_SESSIONS_LISTED]))
    if len(seen) <= MAX_SESSIONS_LISTED:
        return (entries,)
    return (
        entries,
        Text(text=f"… and {len(seen) - MAX_SESSIONS_LISTED} older ones: info <id> tells of each."),
    )


def usage(known: Iterable[Session], sessionless_usage: Usage) -> tuple[Element, ...]:
    """Return the usage of every session, of all together, and of what belongs to no session (`sessionless_usage`)."""
    spent = [one for one in known if one.usage.calls]
    if not spent and not sessionless_usage.calls:
        return (Text(text="No model has been asked yet."),)
    rows = tuple(
        (
            one.short,
            one.title,
            f"{one.usage.calls}",
            f"{one.usage.tokens:,}",
            f"{sum(len(task.runs) for task in one.tasks)}",
            f"{agents_tokens(one):,}" if agents_tokens(one) else "",
        )
        for one in spent[:MAX_USAGE_ROWS]
    )
    total = [
        ("Model calls", f"{sum(one.usage.calls for one in spent):,}"),
        ("Model tokens", f"about {sum(one.usage.tokens for one in spent):,}"),
    ]
    if sessionless_usage.calls:
        told = f"{counted(sessionless_usage.calls, 'call')}, about {sessionless_usage.tokens:,} tokens since my start"
        total.append(("Branches and intents", told))
    head = ("Id", "What", "Calls", "Tokens", "Agent runs", "Agents' tokens")
    return (Fields(pairs=tuple(total)), *((Table(head=head, rows=rows),) if rows else ()))


def agents_tokens(session: Session) -> int:
    return sum(task.usage.input_tokens + task.usage.output_tokens for task in session.tasks)


def _entry(session: Session, waiting_titles: tuple[str, ...], now: datetime) -> Entry:
    """`waiting_titles`: what the session waits for."""
    facts = [session.short, _progress(session), *waiting_titles]
    facts.append(ago(session.updated_at, now))
    return Entry(
        title=session.title,
        facts=tuple(fact for fact in facts if fact),
        thread=session.thread,
        choices=tuple(_session_choices(session.id, session.status)),
    )


def _progress(session: Session) -> str:
    if session.queue.position:
        return f"place {session.queue.position} in the queue"
    if not session.tasks:
        return session.phase
    done = len(session.in_state(TaskState.COMPLETED))
    at_work = sum(bool(task.run and task.run.alive) for task in session.tasks)
    agents = f", {counted(at_work, 'agent')} at work" if at_work else ""
    if session.status is Status.PAUSED:
        agents = ", paused"
    return f"{session.phase}: {done} of {len(session.tasks)} done{agents}"


def _listed(one: IndexedSession, now: datetime) -> Entry:
    return Entry(
        title=one.title,
        facts=(one.id[:8], state_in_words(one.status, one.phase), ago(one.updated_at, now)),
        thread=one.thread,
        choices=tuple(_session_choices(one.id, one.status)),
    )


def _session_choices(session_id: str, status: str) -> Iterator[Choice]:
    if status == Status.PAUSED:
        yield Choice(label="Resume", verb=Verb.RESUME, about=session_id, style=Style.PRIMARY)
    if status in (Status.ACTIVE, Status.QUEUED):
        yield Choice(
            label="Stop",
            verb=Verb.STOP,
            about=session_id,
            style=Style.DANGER,
            confirm="End all agents of this session? What they did stays.",
        )
    if status in (Status.PAUSED, Status.FAILED):
        yield Choice(
            label="Discard",
            verb=Verb.DISCARD,
            about=session_id,
            style=Style.DANGER,
            confirm="Discard this session? Its branches stay.",
        )


def _ended(listed: Iterable[IndexedSession], thread: Thread) -> Iterator[Entry]:
    seen = [one for one in listed if one.status in _ENDED and is_visible_from(thread, one.thread)]
    for one in seen[:LATELY]:
        facts = (one.id[:8], one.status, date_time(one.updated_at))
        yield Entry(title=one.title, facts=facts, thread=one.thread)


def _branches(mine: Iterable[Session]) -> Iterator[str]:
    for session in mine:
        for task in session.tasks:
            if task.workspace and task.workspace.ready:
                yield f"{task.workspace.branch} · {task.key} {task.state} · {session.short}"


async def _health(world: World, mine: Iterable[Session]) -> tuple[tuple[str, str], ...]:
    model = world.preferences.model()
    asked = f"{model.model or 'its own choice'} at {model.base_url or model.provider}"
    agents = sum(bool(t.run and t.run.alive) for one in mine for t in one.tasks)
    troubles = tuple(dict.fromkeys(one.control.trouble for one in mine if one.control.trouble))
    return (
        ("Model", f"AI settings are required: {model.missing}" if model.missing else asked),
        ("tmux", await _panes(world)),
        ("GitHub", "pull requests" if world.forge else "not configured: work stays on branches"),
        ("Agents", counted(agents, "agent") + " at work"),
        *(("Trouble", trouble) for trouble in troubles[:3]),
    )


async def _panes(world: World) -> str:
    try:
        return counted(len(await world.panes.names()), "pane")
    except PortError as problem:
        return sentences(problem.reason, problem.remedy)


def _settings(world: World, roles: frozenset[Role]) -> Iterator[tuple[str, str]]:
    rules = world.rules
    yield "Repository", ", ".join(rules.known_repositories)
    yield "Agent", rules.agent
    yield "Tests", "; ".join(rules.test_commands) or "found in the repository"
    yield "At once", f"up to {counted(rules.most_at_once, 'agent')} a session"
    yield "You may", ", ".join(text for role, text in _YOURS.items() if role in roles)


def _choices(roles: frozenset[Role]) -> Iterator[Choice]:
    yield Choice(label="Start a feature", verb=Verb.BEGIN, style=Style.PRIMARY)
    yield Choice(label="Write a spec", verb=Verb.SPEC)
    if Role.OPERATE in roles:
        yield Choice(label="Model and endpoint", verb=Verb.SETTINGS)


# The answers that belong to no session: help, all sessions, what waits, which keys are set.

MAX_FINISHED_COUNTED = 20
"""Finished sessions whose usage is counted: each is read from disk."""

MAX_UNFINISHED_LISTED = 20
"""Unfinished sessions that are named at the start."""
CHOOSING = "model https://… name asks another one from now on, for whoever may. A key is never said in a chat: it stands in .env."

FrontAnswer = tuple[str, tuple[Element, ...]]
"""Title and body."""


@dataclass(frozen=True)
class GeneralAnswers:
    world: World
    repositories: Repositories
    awake: Callable[[], Iterable[Session]]
    intents: Intents

    async def answer(self, thread: Thread, event: Commanded) -> FrontAnswer:
        now = self.world.clock.now()
        match event.command.word:
            case Word.SESSIONS:
                return "Sessions", sessions(self.world.store.sessions(), thread, now)
            case Word.INBOX:
                entries, problems = await self.intents.waiting(thread)
                return "Inbox", inbox(self.awake(), thread, event.by, now, entries, problems)
            case Word.REPO:
                return self.repositories.answer(thread, event.command)
            case Word.KEYS:
                return "Keys", (self._keys(),)
            case Word.MODEL:
                return self.model()
            case Word.USAGE:
                return "Usage", usage(self._sessions_with_usage(thread), self.world.beside.usage)
            case _ if unknown := event.command.text:
                return f"I know no command “{unknown}”", (Text(text=_suggestion(unknown)),)
            case _:
                return "Commands", _help()

    def model(self) -> FrontAnswer:
        """Return the current model and how to choose another one."""
        return "Model", (self._model(), Text(text=CHOOSING))

    def _keys(self) -> Fields:
        keys = self.world.rules.keys().items()
        return Fields(pairs=tuple((k, "SET" if v else "NOT SET") for k, v in keys))

    def _model(self) -> Fields:
        model = self.world.preferences.model()
        pairs = (
            ("Provider", model.provider),
            ("Endpoint", model.base_url),
            ("Model", model.model),
            ("Key", "SET" if model.key_set else "NOT SET"),
            (AI_SETTINGS_REQUIRED, model.missing),
        )
        return Fields(pairs=tuple((name, value) for name, value in pairs if value))

    def _sessions_with_usage(self, thread: Thread) -> list[Session]:
        """Return the sessions in memory and the latest finished ones."""
        awake = [one for one in self.awake() if is_visible_from(thread, one.thread)]
        there = {one.id for one in awake}
        over = [
            one
            for one in self.world.store.sessions()
            if one.id not in there and is_visible_from(thread, one.thread)
        ]
        records = [self.world.store.find(one.id) for one in over[:MAX_FINISHED_COUNTED]]
        return [*awake, *(record.session for record in records if record)]


def unfinished(sessions: list[Session]) -> tuple[Element, ...]:
    rows = tuple((s.short, s.title, f"{s.status} · {s.phase}") for s in sessions)
    return (
        Table(head=("Id", "What", "State"), rows=rows),
        Text(text="resume <id> goes on with one that is paused, discard <id> gives one up."),
    )


def unfinished_lines(sessions: list[Session]) -> tuple[str, ...]:
    """Return the unfinished sessions as lines for the program's own output."""
    told = [
        f"Not finished: {one.short} {one.title} ({state_in_words(one.status, one.phase)})."
        for one in sessions
    ]
    if not told:
        return ()
    way = "resume <id> goes on with one that is paused, discard <id> gives one up: in any chat."
    return (*first_few(told, MAX_UNFINISHED_LISTED), way)


def _suggestion(unknown: str) -> str:
    """Return the command that was probably meant, and where all are listed."""
    first = unknown.split()[0].lower().lstrip("/!")
    near = get_close_matches(first, list(Word), n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return f"{meant}Write help to see all commands, or mention me and say what you would like to have built."


def _help() -> tuple[Element, ...]:
    return (
        Text(text="Tell me in your own words what you would like to have built. And:"),
        Table(head=("Command", "What it does"), rows=HELP),
    )
