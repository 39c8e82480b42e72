"""What the bot answers that belongs to no session: help, the list of sessions, which keys are set."""

from __future__ import annotations

from bot.domain.choices import Word
from bot.domain.session import Session
from bot.domain.sheets import Element, Fields, Table, Text
from bot.engine.world import World
from bot.ports import Listed

TITLES = {Word.HELP: "What I understand", Word.SESSIONS: "Sessions", Word.KEYS: "Keys"}
HELP = (
    ("status", "how things stand here"),
    ("tasks", "every task, its state and its branch"),
    ("stop", "end all agents of this session at once; nothing is lost"),
    ("resume [id]", "go on"),
    ("discard [id]", "give a session up; its branches stay"),
    ("decisions", "what was asked and answered, numbered D1, D2 …"),
    ("reopen D1 [answer]", "decide anew; without an answer it is asked again"),
    ("sessions", "all sessions"),
    ("info [id]", "where a session works, and from what"),
    ("logs [task]", "what happened to a task, and where its output is kept"),
    ("takeover T001", "work in an agent's pane yourself; nothing is typed there meanwhile"),
    ("handback T001", "give it back"),
    ("continue [id]", "do what the final judgement found missing"),
    ("usage", "what the model has cost"),
    ("keys", "which keys are set (never their values)"),
    ("help", "this"),
)


def answer(world: World, word: Word, sessions: list[Listed]) -> tuple[Element, ...] | None:
    """None: that word is about a session."""
    match word:
        case Word.HELP:
            return (
                Text(text="Tell me in your own words what you would like to have built. And:"),
                Table(head=("Command", "What it does"), rows=HELP),
            )
        case Word.SESSIONS:
            return _sessions(sessions)
        case Word.KEYS:
            pairs = tuple((k, "SET" if v else "NOT SET") for k, v in world.rules.keys().items())
            return (Fields(pairs=pairs),)
        case _:
            return None


def unfinished(sessions: list[Session]) -> tuple[Element, ...]:
    rows = tuple((s.short, s.title, f"{s.status} · {s.phase}") for s in sessions)
    return (
        Table(head=("Id", "What", "State"), rows=rows),
        Text(text="resume <id> goes on with one that is paused, discard <id> gives one up."),
    )


def _sessions(sessions: list[Listed]) -> tuple[Element, ...]:
    if not sessions:
        return (Text(text="There are none yet."),)
    rows = tuple(
        (s.id[:8], s.title, f"{s.status} · {s.phase}", f"{s.updated_at:%Y-%m-%d %H:%M}")
        for s in sessions[:30]
    )
    return (Table(head=("Id", "What", "State", "Last change"), rows=rows),)
