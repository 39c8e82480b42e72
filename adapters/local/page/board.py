"""The board: what needs a person, what is worked on, what is done."""

from __future__ import annotations

from datetime import timedelta

from adapters.local.chat import PLATFORM
from adapters.local.page.frame import (
    OVER,
    STATE_CLASSES,
    Context,
    OpenSession,
    PageParts,
    cost_in_words,
    counted_tasks,
    doing,
    leads_to,
)
from bot.core.cards import ApprovalCard, Card, StatusCard
from bot.core.choices import Choice, Style
from bot.core.layout import lay_out
from bot.core.session import Session
from bot.core.states import Status, TaskState
from bot.ports import IndexedSession

MAX_DONE = 8
"""Finished sessions on the board; the others are in the history."""
DONE_DAYS = timedelta(days=7)


def board(parts: PageParts, query: dict[str, str]) -> Context:
    now = parts.data.now()
    everything = parts.open_sessions()
    at_work = [one for one in everything if _is_chosen(one.session, query)]
    over = [one for one in parts.data.sessions() if one.status in OVER and _is_listed(one, query)]
    lately = [one for one in over if now - one.updated_at < DONE_DAYS]
    return {
        "query": query,
        "chats": sorted({one.thread.platform for one in parts.data.sessions()}),
        "repositories": sorted({one.repository for one in parts.data.sessions()}),
        "need": needs_you(parts, at_work),
        "work": [_work_card(parts, one) for one in at_work if not one.waiting],
        "done": [_done_card(one) for one in over[:MAX_DONE]],
        "done_lately": len(lately),
        "done_more": max(0, len(over) - MAX_DONE),
        "panes": sum(
            len(one.session.in_state(TaskState.RUNNING)) for one in at_work if not one.waiting
        ),
    }


def _is_chosen(session: Session, query: dict[str, str]) -> bool:
    mine = query.get("who") != "mine" or session.owner.platform == PLATFORM
    return mine and _fits(session.thread.platform, session.repository.path, query)


def _is_listed(one: IndexedSession, query: dict[str, str]) -> bool:
    mine = query.get("who") != "mine" or one.thread.platform == PLATFORM
    return mine and _fits(one.thread.platform, one.repository, query)


def _fits(platform: str, repository: str, query: dict[str, str]) -> bool:
    chat, path = query.get("chat", ""), query.get("repository", "")
    return chat in ("", platform) and path in ("", repository)


def needs_you(parts: PageParts, at_work: list[OpenSession] | None = None) -> list[Context]:
    """Return the sessions that wait for a person, the longest wait first."""
    need = [one for one in (parts.open_sessions() if at_work is None else at_work) if one.waiting]
    need.sort(key=lambda one: one.session.updated_at)
    return [_need_card(parts, one) for one in need]


def _need_card(parts: PageParts, one: OpenSession) -> dict[str, object]:
    card = one.waiting[0]
    sheet = lay_out(card)
    here = one.session.thread.platform == PLATFORM
    links, choices = leads_to(one.session.id, card), _pressable_on_board(card) if here else ()
    return {
        **_card_facts(one),
        "why": sheet.title,
        "more": len(one.waiting) - 1,
        "failed": one.session.status is Status.FAILED
        or bool(one.session.in_state(TaskState.FAILED)),
        "links": links,
        "buttons": [
            parts.button(one.session.thread, card.key, each, one.session.id) for each in choices
        ],
    }


def _work_card(parts: PageParts, one: OpenSession) -> dict[str, object]:
    return {**_card_facts(one), "doing": doing(one.session), "live": _live(parts, one.session)}


def _card_facts(one: OpenSession) -> dict[str, object]:
    session = one.session
    return {
        "id": session.id,
        "title": session.title,
        "where": session.thread.platform,
        "since": session.updated_at,
        "cost": cost_in_words(session),
        "bar": [STATE_CLASSES.get(task.state, "") for task in counted_tasks(session)],
        "done": len(session.in_state(TaskState.COMPLETED)),
        "agents": len(session.in_state(TaskState.RUNNING)),
    }


def _live(parts: PageParts, session: Session) -> str:
    """Return the last line of a pane at work, as the status card has it."""
    status = parts.chat.card(session.thread, "status")
    if isinstance(status, StatusCard):
        for task in status.tasks:
            if task.tail:
                return f"{task.key} › {task.tail.strip().splitlines()[-1]}"
    return ""


def _pressable_on_board(card: Card) -> tuple[Choice, ...]:
    """Return what may be pressed without having read more than the board shows."""
    if isinstance(card, ApprovalCard):
        return ()
    return tuple(one for one in lay_out(card).choices if one.style is not Style.DANGER)[:3]


def _done_card(one: IndexedSession) -> dict[str, object]:
    tone = {"Completed": "done", "Failed": "fail"}.get(one.status, "")
    return {
        "id": one.id,
        "title": one.title,
        "status": one.status,
        "tone": tone,
        "at": one.updated_at,
        "where": one.thread.platform,
    }
