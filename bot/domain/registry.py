"""Intents as they are kept in the repository: what a file says of one, and what may be changed in it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import AwareDatetime, Field

from bot.domain.facts import Fact
from bot.domain.intent import Intent, Risk
from bot.domain.observations import Observation
from bot.domain.states import IntentStatus


class Filed(Fact):
    """An intent, and what its file says besides. The intent's id is the file's name without its ending."""

    intent: Intent
    session: str = ""
    """The session that carries it out."""
    draft: str = ""
    """A digest of the draft it was made from."""
    observations: tuple[str, ...] = ()
    """Ids of those it was made from."""


class Edit(Fact):
    """What the bot has to say about an intent. Everything else in the file is the people's."""

    status: IntentStatus | None = None
    session: str | None = None
    type: str = ""
    """Written where nobody has said which it is; so is the risk."""
    risk: Risk | None = None
    answers: Mapping[str, str | None] = Field(default_factory=dict[str, str | None])
    """By the text of the question. An answer that stands there already is left alone."""


class Draft(Fact):
    """What somebody wrote down as a Markdown file, to become an intent."""

    name: str
    """Of its file."""
    digest: str
    title: str
    body: str
    type: str = ""
    risk: Risk | None = None
    created_at: AwareDatetime | None = None


class Shelf(Fact):
    """Everything that lies in a repository's registry, and what of it could not be read, a sentence each."""

    intents: tuple[Filed, ...] = ()
    drafts: tuple[Draft, ...] = ()
    problems: tuple[str, ...] = ()

    def find(self, id: str) -> Filed | None:
        """By its name, or a beginning that no other has."""
        exact = [filed for filed in self.intents if filed.intent.id == id]
        like = exact or [f for f in self.intents if id and f.intent.id.startswith(id)]
        return like[0] if len(like) == 1 else None


class Noticed(Fact):
    """All observations of a repository, the oldest first."""

    observations: tuple[Observation, ...] = ()
    problem: str = ""
    """Why they could not be read."""
