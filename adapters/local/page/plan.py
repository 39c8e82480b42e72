"""The plan of a session: its documents with what changed in them, and the approval that is bound to them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.local.chat import PLATFORM
from adapters.local.page.documents import ComparedDocument, compared
from adapters.local.page.frame import Context, PageParts
from bot.core.cards import ApprovalCard, Card, DocumentCard
from bot.core.choices import Verb
from bot.core.layout import lay_out
from bot.core.plan import Analysis, Document, DocumentKind
from bot.core.session import Session
from bot.core.sheets import Bullets, Element, Fields, Text, Tone
from bot.core.states import Phase, Status

MAX_REQUIREMENT_CHARS = 140
_JUDGED = (Phase.SPECIFYING, Phase.EXECUTING, Phase.FINISHING)
"""Phases without an approval card, in which words in the thread can still ask for a change."""

Revisions = dict[int, dict[DocumentKind, str]]
"""The text of each document by revision, oldest first."""


async def plan(parts: PageParts, session: Session, query: Mapping[str, str]) -> Context:
    cards = parts.chat.cards(session.thread)
    revisions = _revisions(session, cards)
    approval = _approval(parts, session, cards)
    facts: Context = {
        "approval": approval,
        "given": session.approval.given,
        "granted": session.approval.granted,
        "requirements": _requirements(session, revisions),
        "by_words": _takes_words(session),
        "being_written": _being_written(session, revisions),
    }
    if not revisions:
        return {**facts, "documents": None}
    view = _View.of(session.id, revisions, query)
    documents = await asyncio.to_thread(_compared_documents, parts, revisions, view)
    return {**facts, "documents": documents, **_addresses(view)}


def _takes_words(session: Session) -> bool:
    here = session.thread.platform == PLATFORM
    return here and session.status is Status.ACTIVE and session.phase in _JUDGED


# The documents that people were shown, by revision.


def _revisions(session: Session, cards: tuple[Card, ...]) -> Revisions:
    found: dict[int, dict[DocumentKind, str]] = {}
    for card in cards:
        if isinstance(card, DocumentCard) and card.document:
            found.setdefault(card.revision, {})[card.document] = card.text
    change = session.change
    kept: tuple[Document, ...] = (
        *session.plan.shown_documents,
        *session.plan.previous_documents,
        # a new revision is shown when it is whole
        *(session.plan.documents if session.phase is not Phase.SPECIFYING else ()),
        *(change.documents if change and change.shown_at else ()),
    )
    for document in kept:
        found.setdefault(document.revision, {})[document.kind] = document.text
    return dict(sorted(found.items()))


def _text(revisions: Revisions, revision: int, kind: DocumentKind) -> str | None:
    """Return a document at a revision: a change may rewrite only some of them."""
    return next(
        (
            documents[kind]
            for number, documents in reversed(revisions.items())
            if number <= revision and kind in documents
        ),
        None,
    )


def _being_written(session: Session, revisions: Revisions) -> int:
    """Return the number of the revision that is being written; 0 if none is."""
    if session.change and not session.change.shown_at:
        return session.change.revision
    spec = session.plan.spec
    writing = session.phase is Phase.SPECIFYING and session.status is Status.ACTIVE
    return spec.revision if spec and writing and spec.revision not in revisions else 0


# What of it is looked at.


@dataclass(frozen=True)
class _View:
    session: str
    file: DocumentKind
    shown: int
    """The latest revision."""
    base: int
    """The revision it is compared with; itself if it is shown alone."""
    earlier: tuple[int, ...]
    whole: bool

    @classmethod
    def of(cls, session: str, revisions: Revisions, query: Mapping[str, str]) -> _View:
        *earlier, shown = revisions
        wanted = query.get("with", "")
        base = next((one for one in revisions if str(one) == wanted), 0)
        base = base or (earlier[-1] if earlier else shown)
        names = [kind.value for kind in DocumentKind]
        file = query.get("file", "")
        kind = DocumentKind(file) if file in names else DocumentKind.SPEC
        return cls(session, kind, shown, base, tuple(earlier), whole="all" in query)

    def address(self, **changed: object) -> str:
        told = {
            "file": self.file.value,
            "with": self.base,
            **({"all": 1} if self.whole else {}),
            **changed,
        }
        asked = "&".join(f"{name}={value}" for name, value in told.items() if value)
        return f"#/s/{self.session}/plan?{asked}"


def _compared_documents(
    parts: PageParts, revisions: Revisions, view: _View
) -> list[dict[str, object]]:
    return [
        {
            "id": kind.value,
            "name": kind.file,
            "here": kind is view.file,
            "address": view.address(file=kind.value),
            "compared": _compared(parts, revisions, view, kind),
        }
        for kind in DocumentKind
        if _text(revisions, view.shown, kind) is not None
    ]


def _compared(
    parts: PageParts, revisions: Revisions, view: _View, kind: DocumentKind
) -> ComparedDocument:
    now = parts.data.mask(_text(revisions, view.shown, kind) or "")
    if view.base == view.shown:
        return compared(None, now)
    before = _text(revisions, view.base, kind)
    return compared(parts.data.mask(before or ""), now)


def _addresses(view: _View) -> Context:
    numbers = [*view.earlier, view.shown]
    at = numbers.index(view.base)
    return {
        "shown": view.shown,
        "base": view.base,
        "whole": view.whole,
        "choices": [
            (view.address(**{"with": number}), number, number == view.base)
            for number in reversed(numbers)
        ],
        "older": view.address(**{"with": numbers[at - 1]}) if at > 0 else "",
        "newer": view.address(**{"with": numbers[at + 1]}) if at + 1 < len(numbers) else "",
        "changes_address": view.address(all=0),
        "whole_address": view.address(all=1),
    }


# The approval beside it.


def _approval(parts: PageParts, session: Session, cards: tuple[Card, ...]) -> Context | None:
    """Return the card of the approval as it stands beside the documents; none before the first plan."""
    waiting = [one for one in parts.data.waiting(session) if isinstance(one, ApprovalCard)]
    shown = [one for one in cards if isinstance(one, ApprovalCard)]
    card = next(iter(waiting), None) or max(shown, key=lambda one: one.revision, default=None)
    if card is None or (card.decided and not session.approval.granted):
        return None
    sheet = lay_out(card)
    here = session.thread.platform == PLATFORM
    pairs = [pair for one in sheet.body if isinstance(one, Fields) for pair in one.pairs]
    named = dict(pairs)
    return {
        "card": card,
        "title": sheet.title,
        "waits": sheet.tone is Tone.NEEDS_YOU,
        "here": here,
        "buttons": {
            str(choice.verb): parts.button(session.thread, card.key, choice, session.id)
            for choice in sheet.choices
            if here
        },
        "first": (str(Verb.APPROVE), str(Verb.CHANGE)),
        "risk": named.pop("Risk", ""),
        "base": named.pop("Base", ""),
        "pairs": list(named.items()),
        "notes": [one.text for one in sheet.body if isinstance(one, Text) and not one.strong],
        "lists": _lists(sheet.body),
        "footer": sheet.footer,
        "findings": _counted(card.analysis),
    }


def _lists(body: tuple[Element, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the titled lists of the card: what changed, what the repository starts, what was found."""
    found: list[tuple[str, tuple[str, ...]]] = []
    title = ""
    for one in body:
        if isinstance(one, Text) and one.strong:
            title = one.text
        elif isinstance(one, Bullets):
            found.append((title, one.items))
    return found


def _counted(analysis: Analysis | None) -> Context:
    findings = analysis.findings if analysis else ()
    critical = len(analysis.critical) if analysis else 0
    return {"all": len(findings), "critical": critical, "known": analysis is not None}


def _requirements(session: Session, revisions: Revisions) -> list[Context]:
    """Return each requirement with its words and the tasks that fulfil it."""
    change = session.change
    analysis = (change.analysis if change and change.shown_at else None) or session.plan.analysis
    if analysis is None or not revisions:
        return []
    lines = (_text(revisions, max(revisions), DocumentKind.SPEC) or "").splitlines()
    return [
        {"id": one.requirement, "text": _words_of(one.requirement, lines), "tasks": one.tasks}
        for one in analysis.coverage
    ]


def _words_of(requirement: str, lines: list[str]) -> str:
    line = next((line for line in lines if requirement in line), "")
    text = line.partition(requirement)[2].strip(" *:.-–")
    return text if len(text) <= MAX_REQUIREMENT_CHARS else f"{text[:MAX_REQUIREMENT_CHARS]}…"
