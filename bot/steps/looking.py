"""Lets the model look at the repository before it answers, within bounds, and keeps a list of what it looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from bot.core.errors import PortError
from bot.core.llm import BYTES_PER_TOKEN, context_tokens, estimate_tokens
from bot.core.looks import (
    ANSWER_BYTES,
    ROUNDS,
    TOOLS,
    Look,
    SeenLook,
    digest_of,
    in_bytes,
)
from bot.core.references import references_in, wrong_references
from bot.core.session import Session
from bot.core.world import World
from bot.ports import Repository

_LEAST_TOKENS = 300
"""With less room than this nothing more is read."""


@dataclass
class Looker:
    """The repository at one commit, as one question may look at it."""

    repository: Repository
    path: str
    commit: str
    tokens: int
    """What all answers together may still take."""
    mask: Callable[[str], str] = str
    rounds: int = ROUNDS
    seen: list[SeenLook] = field(default_factory=list[SeenLook])

    @classmethod
    def of(cls, world: World, session: Session) -> Looker | None:
        """Return one for the base that the session plans on. None: no base is known yet."""
        base = session.repository
        if not base.base_commit:
            return None
        tokens = context_tokens(session.llm.context_window)
        return cls(world.repository, base.path, base.base_commit, tokens, world.masker.mask)

    @property
    def is_open(self) -> bool:
        return self.rounds > 0 and self.tokens >= _LEAST_TOKENS

    async def answer(self, looks: Sequence[Look]) -> str:
        """Carry out one round and return what the model is told: JSON, so that no text can pretend to be more than that."""
        if not self.is_open:
            raise ValueError("nothing more can be looked at; answer with what you have seen")
        self.rounds -= 1
        found = [{"look": str(look), "found": await self._found(look)} for look in looks]
        left = self.rounds if self.is_open else 0
        told = {"found": found, "rounds_left": left}
        return json.dumps(told, ensure_ascii=False)

    async def _found(self, look: Look) -> str:
        if any(look == one.look for one in self.seen):
            return "You have seen this already."
        if self.tokens < _LEAST_TOKENS:
            return "There is no room for this any more."
        try:
            whole = await self.repository.look(self.path, self.commit, look)
        except PortError as error:
            return f"That cannot be read now: {error.reason}."
        room = min(ANSWER_BYTES, self.tokens * BYTES_PER_TOKEN)
        text = in_bytes(self.mask(whole), room)
        tokens = estimate_tokens(text)
        self.tokens -= tokens
        self.seen.append(
            SeenLook(look=look, commit=self.commit, tokens=tokens, digest=digest_of(text))
        )
        return text

    async def doubts(self, markdown: str, *, lines_only: bool = False) -> tuple[str, ...]:
        """Return what a document says of the repository and is not so there. Nothing, if that cannot be read now."""
        cited = references_in(markdown, lines_only=lines_only)
        try:
            texts = await self.repository.read(self.path, self.commit, cited.files)
            names = await self.repository.names_known(self.path, self.commit, cited.names)
        except PortError:
            return ()
        return wrong_references(cited, texts, names)


def with_looks(schema: dict[str, object]) -> dict[str, object]:
    """Return the schema of a reply that may ask for looks instead: nothing is required, as it is one or the other."""
    tools = [tool.name for tool in TOOLS]
    of_tools = [cast("dict[str, object]", tool.parameters["properties"]) for tool in TOOLS]
    fields = {name: kind for one in of_tools for name, kind in one.items()}
    look = {"type": "object", "properties": {"tool": {"enum": tools}, **fields}}
    properties = cast("dict[str, object]", schema.get("properties", {}))
    kept = {name: value for name, value in schema.items() if name != "required"}
    return {**kept, "properties": {**properties, "look": {"type": "array", "items": look}}}
