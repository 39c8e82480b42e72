"""Asks the model about work that nobody has started: which type it is, and what should follow from observations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, field_validator

from bot.core.facts import Fact
from bot.core.intent import Intent, Risk, guess_type
from bot.core.languages import language_of
from bot.core.llm import ModelRole
from bot.core.projections.registry import Observation
from bot.steps.asking import ModelReply, Prompt, json_parser
from bot.steps.prompt_data import ReplyText, Sentence, ShortLine

MOST_PROPOSED = 10
MOST_READ = 60
"""Observations in one question."""
LONGEST_BODY = 6_000
IntentKind = Literal["feature", "fix", "refactor", "test", "docs", "audit"]


class Estimate(ModelReply):
    type: IntentKind
    risk: Risk
    reason: Sentence = ""

    @field_validator("type", "risk", mode="before")
    @classmethod
    def _short(cls, said: object) -> object:
        written = said.strip().lower() if isinstance(said, str) else said
        return "med" if written == "medium" else written


class ProposedIntent(ModelReply):
    title: ShortLine = Field(min_length=1)
    body: ReplyText = Field(min_length=1)
    type: IntentKind = "refactor"
    risk: Risk = Risk.MED
    observations: list[str] = Field(min_length=1, max_length=MOST_READ)


class Reflected(ModelReply):
    proposals: list[ProposedIntent] = Field(max_length=MOST_PROPOSED)


class Proposal(Fact):
    title: str
    body: str
    type: str
    risk: Risk
    observations: tuple[str, ...]


@dataclass(frozen=True)
class EstimatePrompt(Prompt[Estimate], name="estimate", reply=Estimate, role=ModelRole.SMALL):
    """Nothing usable: the kind by its words, and a risk that waits for a person."""

    intent: Intent

    def data(self) -> dict[str, object]:
        return {"title": self.intent.title, "body": self.intent.body[:LONGEST_BODY]}

    def fallback(self) -> Estimate:
        kind = guess_type(f"{self.intent.title}\n{self.intent.body}")
        return Estimate.model_validate({"type": kind, "risk": Risk.MED})


@dataclass(frozen=True)
class ReflectPrompt(Prompt[tuple[Proposal, ...]], name="reflect", reply=Reflected):
    """What should be done because of them. Nothing usable: what rests on the same thing is one proposal."""

    observations: Sequence[Observation]
    intents: Collection[Intent]

    def known(self) -> tuple[Proposal, ...] | None:
        return None if self.observations else ()

    def data(self) -> dict[str, object]:
        read = self.observations[:MOST_READ]
        return {
            "observations": [_observation_data(one) for one in read],
            "intents": [{"title": one.title, "status": one.status.value} for one in self.intents],
            "language": language_of("\n".join(one.content for one in read)),
        }

    def read(self, text: str) -> tuple[Proposal, ...]:
        found = json_parser(Reflected, text).proposals
        known = {one.id for one in self.observations[:MOST_READ]}
        if unknown := {id for one in found for id in one.observations} - known:
            raise ValueError(f"observations: there is none with the id {min(unknown)!r}")
        return tuple(_proposal(one) for one in found)

    def fallback(self) -> tuple[Proposal, ...]:
        return _plain_proposals(self.observations[:MOST_READ])

    def prose(self, found: tuple[Proposal, ...]) -> str:
        return "\n".join(text for one in found for text in (one.title, one.body))


def _plain_proposals(observations: Sequence[Observation]) -> tuple[Proposal, ...]:
    """One for all that rest on the same thing. How weighty it is nobody has judged."""
    groups: dict[str, list[Observation]] = {}
    for one in observations:
        groups.setdefault(one.evidence[0].ref if one.evidence else one.id, []).append(one)
    return tuple(_plain_proposal(group) for group in list(groups.values())[:MOST_PROPOSED])


def _plain_proposal(group: Sequence[Observation]) -> Proposal:
    first = group[0]
    rests = sorted({ground.ref for one in group for ground in one.evidence})
    body = "\n".join([*(f"- {one.content}" for one in group), *(f"- see {ref}" for ref in rests)])
    return Proposal(
        title=first.content[:80].rstrip(),
        body=body,
        type=guess_type(body),
        risk=Risk.MED,
        observations=tuple(one.id for one in group),
    )


def _proposal(one: ProposedIntent) -> Proposal:
    return Proposal(
        title=one.title[:120],
        body=one.body,
        type=one.type,
        risk=one.risk,
        observations=tuple(dict.fromkeys(one.observations)),
    )


def _observation_data(one: Observation) -> dict[str, object]:
    return one.model_dump(mode="json", include={"id", "content", "evidence", "source"})
