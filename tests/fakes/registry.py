"""The registry of a repository in memory. It keeps the Registry port."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from bot.core.errors import PortError, Refused
from bot.core.intent import Question
from bot.core.projections.records import History
from bot.core.projections.registry import (
    FiledIntent,
    IntentDraft,
    IntentEdit,
    Observation,
    ObservationList,
    RegistryContents,
)
from bot.core.states import IntentStatus


@dataclass
class MemoryRegistry:
    """What people write is in plain fields."""

    filed: dict[str, FiledIntent] = field(default_factory=dict[str, FiledIntent])
    drafts: dict[str, IntentDraft] = field(default_factory=dict[str, IntentDraft])
    taken: list[IntentDraft] = field(default_factory=list[IntentDraft])
    observations: dict[str, Observation] = field(default_factory=dict[str, Observation])
    kept: dict[str, History] = field(default_factory=dict[str, History])
    problems: tuple[str, ...] = ()
    """Of intents and drafts."""
    unreadable: str = ""
    """Why the observations cannot be read."""
    trouble: PortError | None = None
    """Raised by every call while it is set."""

    async def shelf(self, repository: str) -> RegistryContents:
        await self._asked()
        return RegistryContents(
            intents=tuple(self.filed[id] for id in sorted(self.filed)),
            drafts=tuple(self.drafts[name] for name in sorted(self.drafts)),
            problems=self.problems,
        )

    async def add(self, repository: str, filed: FiledIntent) -> str:
        await self._asked()
        wanted, number = filed.intent.id, 1
        id = wanted
        while there := self.filed.get(id):
            if _same(there, filed):
                return id
            number += 1
            id = f"{wanted}-{number}"
        intent = filed.intent.model_copy(update={"id": id})
        self.filed[id] = filed.model_copy(update={"intent": intent})
        return id

    async def change(
        self,
        repository: str,
        id: str,
        edit: IntentEdit,
        *,
        seen: IntentStatus | None = None,
        session: str | None = None,
    ) -> FiledIntent:
        await self._asked()
        there = self.filed.get(id)
        if there is None:
            raise Refused(f"{id} is not there any more")
        if seen is not None and there.intent.status is not seen:
            raise Refused(f"{id} is {there.intent.status} by now", "Look at it again.")
        if session is not None and there.session != session:
            raise Refused(f"{id} is carried out in another session by now")
        self.filed[id] = _edited(there, edit)
        return self.filed[id]

    async def put_aside(self, repository: str, draft: IntentDraft) -> None:
        await self._asked()
        if gone := self.drafts.pop(draft.name, None):
            self.taken.append(gone)

    async def noticed(self, repository: str) -> ObservationList:
        await self._asked()
        if self.unreadable:
            return ObservationList(problem=self.unreadable)
        return ObservationList(observations=tuple(self.observations.values()))

    async def observe(self, repository: str, new: Iterable[Observation]) -> None:
        await self._asked()
        if self.unreadable:
            raise Refused(self.unreadable)
        for one in new:
            self.observations.setdefault(one.id, one)

    async def mark(self, repository: str, ids: Collection[str]) -> None:
        await self._asked()
        for id in ids:
            if one := self.observations.get(id):
                self.observations[id] = one.model_copy(update={"processed": True})

    async def keep_history(self, repository: str, name: str, history: History) -> None:
        await self._asked()
        self.kept[name] = history

    async def histories(self, repository: str) -> tuple[str, ...]:
        await self._asked()
        return tuple(sorted(self.kept))

    async def _asked(self) -> None:
        await asyncio.sleep(0)
        if self.trouble:
            raise self.trouble


def _same(there: FiledIntent, filed: FiledIntent) -> bool:
    pairs = (
        (there.session, filed.session),
        (there.draft, filed.draft),
        (there.observations, filed.observations),
    )
    return any(one and one == other for one, other in pairs)


def _edited(there: FiledIntent, edit: IntentEdit) -> FiledIntent:
    intent = there.intent
    answered = tuple(
        question.model_copy(update={"answer": question.answer or edit.answers.get(question.text)})
        for question in intent.clarifications
    )
    known = {question.text for question in answered}
    new = [(text, answer) for text, answer in edit.answers.items() if text not in known]
    asked = tuple(
        Question(number=number, text=text, answer=answer)
        for number, (text, answer) in enumerate(new, len(answered) + 1)
    )
    changed = intent.model_copy(
        update={
            "status": edit.status or intent.status,
            "type": intent.type or edit.type,
            "risk": intent.risk or edit.risk,
            "clarifications": (*answered, *asked),
        }
    )
    session = there.session if edit.session is None else edit.session
    return there.model_copy(update={"intent": changed, "session": session})
