"""What every screen has: the frame, the head of a session, and cards with buttons that can be pressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from adapters.local.chat import PLATFORM, LocalChat
from adapters.local.page.buttons import Button, Buttons
from adapters.local.page.data import PageData
from bot.core.cards import ApprovalCard, Card, DocumentCard, QuestionsCard
from bot.core.choices import Choice, Style, Verb
from bot.core.layout import lay_out
from bot.core.layout.phrases import state_in_words
from bot.core.people import Thread
from bot.core.session import Session
from bot.core.sheets import Element, Entries, Entry, Tone
from bot.core.states import Phase, Status, TaskState
from bot.core.task import Task

Context = dict[str, object]
"""What a template is given."""
_ORDERS = {Status.ACTIVE: "stop", Status.QUEUED: "stop", Status.PAUSED: "resume"}
"""What can be said here of a session of another chat."""
LISTS = ("inbox", "intents", "branches")
"""In place of a card's key: these lists are made anew each time, and their buttons say themselves what they are about."""
OVER = (Status.COMPLETED, Status.FAILED, Status.DISCARDED)
TABS = (
    ("thread", "Thread"),
    ("plan", "Plan"),
    ("tasks", "Tasks"),
    ("panes", "Panes"),
    ("changes", "Changes"),
    ("result", "Result"),
    ("log", "Log"),
)
_SEND_ANSWERS = Choice(label="Send answers", verb=Verb.ANSWER, style=Style.PRIMARY)
STATE_CLASSES = {
    TaskState.RUNNING: "work",
    TaskState.VERIFYING: "work",
    TaskState.INTEGRATING: "work",
    TaskState.NEEDS_CONTINUATION: "work",
    TaskState.COMPLETED: "done",
    TaskState.FAILED: "fail",
    TaskState.BLOCKED: "need",
    TaskState.PENDING: "wait",
    TaskState.READY: "wait",
}
"""How the state of a task is coloured; the others are grey."""
_STEPS = ("Request", "Questions", "Plan", "Build", "Judge", "Merge")
_STEP_OF_PHASE = {
    Phase.INTAKE: 0,
    Phase.CLARIFYING: 1,
    Phase.SPECIFYING: 2,
    Phase.APPROVING: 2,
    Phase.EXECUTING: 3,
    Phase.FINISHING: 4,
    Phase.DONE: 6,
}


class OpenSession:
    """A session with what waits for a person in it."""

    def __init__(self, session: Session, data: PageData) -> None:
        self.session = session
        self.waiting = data.waiting(session)

    @property
    def state(self) -> str:
        if self.waiting:
            return "need"
        match self.session.status:
            case Status.COMPLETED:
                return "done"
            case Status.FAILED:
                return "fail"
            case Status.ACTIVE:
                return "work"
            case _:
                return ""


@dataclass(frozen=True)
class PageParts:
    """What the screens are made of."""

    chat: LocalChat
    data: PageData
    buttons: Buttons

    def open_sessions(self) -> list[OpenSession]:
        """Return the unfinished sessions, those that changed last first."""
        return [
            OpenSession(session, self.data)
            for listed in self.data.sessions()
            if listed.status not in OVER and (session := self.data.session(listed.id))
        ]

    def frame(self, here: str, session_id: str = "") -> dict[str, object]:
        at_work = self.open_sessions()
        needing = [one for one in at_work if one.waiting]
        return {
            "here": here,
            "open_id": session_id,
            "repository": self.data.repository,
            "needing": len(needing),
            "open_sessions": [
                {"id": one.session.id, "title": one.session.title, "state": one.state}
                for one in (*needing, *(one for one in at_work if not one.waiting))
            ],
        }

    def head(self, session: Session, tab: str) -> dict[str, object]:
        one = OpenSession(session, self.data)
        return {
            "s": session,
            "tab": tab,
            "state": one.state,
            "state_words": doing(session) if not one.waiting else lay_out(one.waiting[0]).title,
            "cost": cost_in_words(session),
            "steps": _steps(session, waits=bool(one.waiting)),
            "tabs": self._tabs(session),
            "local": session.thread.platform == PLATFORM,
            "stop": self._stop(session) if session.status is Status.ACTIVE else None,
            "order": "" if session.thread.platform == PLATFORM else _ORDERS.get(session.status, ""),
        }

    def _tabs(self, session: Session) -> list[tuple[str, str, int]]:
        counts = {
            "thread": len(self.chat.cards(session.thread)),
            "tasks": len(counted_tasks(session)),
            "panes": sum(task.run is not None and task.run.alive for task in session.tasks),
        }
        return [(id, name, counts.get(id, 0)) for id, name in TABS]

    def _stop(self, session: Session) -> dict[str, object] | None:
        status = self.chat.card(session.thread, "status")
        if status is None:
            return None
        stop = next((one for one in lay_out(status).choices if one.verb is Verb.STOP), None)
        return self.button(session.thread, status.key, stop, session.id) if stop else None

    def card(self, thread: Thread, card: Card, session_id: str = "") -> dict[str, object]:
        """Return a card as its template wants it. Its buttons work only where it can be answered from here."""
        sheet = lay_out(card)
        here = thread.platform == PLATFORM
        open_questions = _open_questions(card)
        return {
            "key": card.key,
            "kind": card.kind,
            "sheet": sheet,
            "body": self.elements(thread, card.key, sheet.body, session_id),
            "tone": sheet.tone,
            "waits": sheet.tone is Tone.NEEDS_YOU and here,
            "long": isinstance(card, DocumentCard),
            "questions": open_questions,
            "answered": _answered(card),
            "send": self.button(thread, card.key, _SEND_ANSWERS, session_id)
            if open_questions and here
            else None,
            "buttons": [
                self.button(thread, card.key, choice, session_id)
                for choice in sheet.choices
                if here
            ],
            "link": leads_to(session_id, card) if session_id else [],
        }

    def elements(
        self, thread: Thread, card: str, body: Sequence[Element], session_id: str = ""
    ) -> list[Context]:
        """Return the elements of a card or list; the entries of a list have buttons of their own."""
        return [
            {
                "e": element,
                "entries": [self._entry(thread, card, one, session_id) for one in element.items]
                if isinstance(element, Entries)
                else [],
            }
            for element in body
        ]

    def _entry(self, thread: Thread, card: str, entry: Entry, session_id: str) -> Context:
        here = thread.platform == PLATFORM
        found = self.data.session_in(entry.thread) if entry.thread else ""
        return {
            "entry": entry,
            "href": f"#/s/{found}" if found else "",
            "buttons": [
                self.button(thread, card, choice, session_id) for choice in entry.choices if here
            ],
        }

    def button(self, thread: Thread, card: str, choice: Choice, session_id: str = "") -> Context:
        """Return a button of the card with this key, or of a list (`LISTS`)."""
        name = self.buttons.name(Button(thread, card, choice, session_id))
        return {
            "name": Markup(name),  # noqa: S704 - made here, of letters that HTML leaves alone
            "label": choice.label,
            "style": str(choice.style),
            "asks": choice.asks,
            "confirm": choice.confirm,
        }


def choices_on(card: Card) -> tuple[Choice, ...]:
    sheet = lay_out(card)
    lists = (element.items for element in sheet.body if isinstance(element, Entries))
    listed = (choice for items in lists for entry in items for choice in entry.choices)
    return (*sheet.choices, *listed, *((_SEND_ANSWERS,) if _open_questions(card) else ()))


def _open_questions(card: Card) -> list[dict[str, object]]:
    if not isinstance(card, QuestionsCard) or card.decided:
        return []
    return [
        {
            "number": one.number,
            "text": one.text,
            "why": one.why,
            "default": one.default,
            "options": list(dict.fromkeys(filter(None, (one.default, *one.options)))),
        }
        for one in card.questions
        if one.answer is None
    ]


def _answered(card: Card) -> list[tuple[str, str, str]]:
    """Return the questions of this card that have an answer already."""
    if not isinstance(card, QuestionsCard):
        return []
    return [
        (one.decision, one.text, one.answer) for one in card.questions if one.answer is not None
    ]


def leads_to(session_id: str, card: Card) -> list[tuple[str, str]]:
    """Return where this card is looked at best, with the words for it."""
    match card:
        case ApprovalCard(decided=None):
            return [(f"#/s/{session_id}/plan", "Review the plan")]
        case QuestionsCard(decided=None):
            return [(f"#/s/{session_id}", "Answer")]
        case _:
            return []


def counted_tasks(session: Session) -> list[Task]:
    gone = (TaskState.CANCELLED, TaskState.REPLACED)
    return [task for task in session.tasks if task.state not in gone]


def doing(session: Session) -> str:
    tasks = counted_tasks(session)
    if session.control.trouble and not session.over:
        return session.control.trouble
    if session.phase is Phase.EXECUTING and session.status is Status.ACTIVE and tasks:
        return f"Building: {len(session.in_state(TaskState.COMPLETED))} of {len(tasks)} tasks done"
    return state_in_words(session.status, session.phase)


def cost_in_words(session: Session) -> str:
    """Return what it has cost: money as far as agents report it, tokens of the model."""
    spent = sum(task.usage.cost or 0.0 for task in session.tasks)
    tokens = session.usage.tokens
    told = f"{tokens / 1000:.0f}k tokens" if tokens >= 1000 else f"{tokens} tokens"
    return f"${spent:.2f} + {told}" if spent else told


def _steps(session: Session, *, waits: bool) -> list[dict[str, object]]:
    now = _STEP_OF_PHASE[session.phase]
    if session.phase is Phase.FINISHING and session.ending.verdict:
        now = 5
    told: list[dict[str, object]] = []
    for number, name in enumerate(_STEPS):
        how = "past" if number < now else "now" if number == now else ""
        told.append({"name": name, "how": how, "work": how == "now" and not waits})
    return told
