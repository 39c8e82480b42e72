"""What the bot answers that belongs to no session: help, everything that is there, what waits, which keys are set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from bot.domain.choices import Word
from bot.domain.events import Commanded
from bot.domain.layout import stands
from bot.domain.people import Thread
from bot.domain.session import Session
from bot.domain.sheets import Element, Fields, Table, Text
from bot.domain.world import AI_SETTINGS
from bot.engine import overview
from bot.engine.intents import Intents
from bot.engine.repositories import Repositories
from bot.engine.world import World

FOR_ALL = frozenset({Word.HELP, Word.SESSIONS, Word.KEYS, Word.INBOX, Word.REPO, Word.MODEL})
HELP = (
    ("status", "how things stand here"),
    ("catch up", "what happened since you spoke last"),
    ("inbox", "everything that waits for somebody"),
    (
        "intent [list]",
        "what is wished for in this repository; show, approve, reject, run and its name",
    ),
    ("reflect", "make proposed intents of what agents have noticed"),
    ("audit", "what is known here that is out of date"),
    ("tasks", "every task, its state and its branch"),
    ("stop", "end all agents of this session at once; nothing is lost"),
    ("resume [id]", "go on, or try again what has failed"),
    ("discard [id]", "give a session up; its branches stay"),
    ("decisions", "what was asked and answered, numbered D1, D2 …"),
    ("reopen D1 [answer]", "decide anew; without an answer it is asked again"),
    ("sessions", "all sessions"),
    ("info [id]", "where a session works, and from what"),
    ("logs [task]", "what happened to a task, and where its output is kept"),
    ("takeover T001", "work in an agent's pane yourself; nothing is typed there meanwhile"),
    ("handback T001", "give it back"),
    ("use codex for T001", "another agent works on a task, on the same branch"),
    ("continue [id]", "do what the final judgement found missing"),
    ("usage", "what the model has cost"),
    ("repo [name]", "which repository requests here are about, or bind this channel to one"),
    (
        "relink [id] /path",
        "where a session's repository lies now, after it was moved; the session goes on there",
    ),
    ("branches", "every branch, with its session and task"),
    ("branch feature/x", "what it brings, in short and in full; merge or delete it"),
    ("spec what it is about", "write spec, plan and tasks of it, and nothing more"),
    ("tests", "which command runs the tests; tests: make check sets it for the repository"),
    ("verbosity [quiet, normal, full]", "how much is said in this thread"),
    (
        "model [https://… name]",
        "which model is asked, or from now on (its key stands in .env only)",
    ),
    ("keys", "which keys are set (never their values)"),
    ("help", "this"),
)
ENDED = 20
"""Sessions that are over and whose use is counted: each is read from disk."""

MOST_TOLD = 20
"""Sessions that are named at the start."""
CHOOSING = "model https://… name asks another one from now on, for whoever may. A key is never said in a chat: it stands in .env."

Answer = tuple[str, tuple[Element, ...]]
"""Title and body."""


@dataclass(frozen=True)
class Front:
    world: World
    repositories: Repositories
    awake: Callable[[], Iterable[Session]]
    intents: Intents

    async def answer(self, thread: Thread, event: Commanded) -> Answer:
        now = self.world.clock.now()
        match event.command.word:
            case Word.SESSIONS:
                return "Sessions", overview.sessions(self.world.store.sessions(), thread, now)
            case Word.INBOX:
                entries, problems = await self.intents.waiting(thread)
                return "Inbox", overview.inbox(
                    self.awake(), thread, event.by, now, entries, problems
                )
            case Word.REPO:
                return self.repositories.answer(thread, event.command)
            case Word.KEYS:
                return "Keys", (self._keys(),)
            case Word.MODEL:
                return self.model()
            case Word.USAGE:
                return "Usage", overview.usage(self._spent(thread), self.world.beside.usage)
            case _ if unknown := event.command.text:
                return f"I know no command “{unknown}”", (Text(text=_nearest(unknown)),)
            case _:
                return "Commands", _help()

    def model(self) -> Answer:
        """Which model is asked, and how another one is chosen."""
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
            (AI_SETTINGS, model.missing),
        )
        return Fields(pairs=tuple((name, value) for name, value in pairs if value))

    def _spent(self, thread: Thread) -> list[Session]:
        """Those at work, and the last of those that are over."""
        awake = [one for one in self.awake() if overview.seen_from(thread, one.thread)]
        there = {one.id for one in awake}
        over = [
            one
            for one in self.world.store.sessions()
            if one.id not in there and overview.seen_from(thread, one.thread)
        ]
        records = [self.world.store.find(one.id) for one in over[:ENDED]]
        return [*awake, *(record.session for record in records if record)]


def unfinished(sessions: list[Session]) -> tuple[Element, ...]:
    rows = tuple((s.short, s.title, f"{s.status} · {s.phase}") for s in sessions)
    return (
        Table(head=("Id", "What", "State"), rows=rows),
        Text(text="resume <id> goes on with one that is paused, discard <id> gives one up."),
    )


def told_of(sessions: list[Session]) -> tuple[str, ...]:
    """The same for whoever reads what the program itself says."""
    told = [
        f"Not finished: {one.short} {one.title} ({stands(one.status, one.phase)})."
        for one in sessions
    ]
    if not told:
        return ()
    more = (f"… and {len(told) - MOST_TOLD} more.",) if len(told) > MOST_TOLD else ()
    way = "resume <id> goes on with one that is paused, discard <id> gives one up: in any chat."
    return (*told[:MOST_TOLD], *more, way)


def _nearest(unknown: str) -> str:
    """The command that was probably meant, and where all of them are listed."""
    first = unknown.split()[0].lower().lstrip("/!")
    near = get_close_matches(first, list(Word), n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return f"{meant}Write help to see all commands, or mention me and say what you would like to have built."


def _help() -> tuple[Element, ...]:
    return (
        Text(text="Tell me in your own words what you would like to have built. And:"),
        Table(head=("Command", "What it does"), rows=HELP),
    )
