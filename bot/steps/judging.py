"""Shows the model a whole patch, in parts if it is large, and checks every place and test that it names as evidence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from bot.core.citations import CitedFiles
from bot.core.diff_parts import (
    ChangedText,
    DividedPatch,
    changed_texts,
    divide_patch,
    fitting_lines,
    listed_within,
)
from bot.core.errors import Refused
from bot.core.evidence import CriterionResult, Judgement, Verdict
from bot.core.llm import (
    BUDGET_IF_UNKNOWN,
    BYTES_PER_TOKEN,
    ModelRole,
    Usage,
    context_tokens,
    estimate_tokens,
)
from bot.core.session import Session
from bot.core.text import first_few
from bot.core.world import World
from bot.ports import Llm
from bot.steps.asking import ModelReply, Prompt, ask, session_tokens, system_message
from bot.steps.looking import Looker
from bot.steps.prompt_data import ShortLine, data_token_budget

MOST_DIFF_TOKENS = 32_000
"""Tokens of a patch in one prompt. Larger ones are judged worse, whatever the window."""
SHARE_OF_WINDOW = 0.25
FEWEST_DIFF_TOKENS = 1_500
MOST_PARTS = 8
"""Parts of a patch that are read, each with a question of its own."""
LONGEST_PATCH = 2_000_000
"""Characters of a patch that are read from git."""
LARGE_PATCH = 50_000
MOST_UNSEEN = 40
MOST_COMPLAINTS = 8
"""Claims that do not hold, in one complaint."""
LOOK_TOKENS = 8_000
LOOK_ROUNDS = 1
"""The judge may look around once, for callers and the like: more of what a change does not touch makes verdicts worse."""
MOST_OF_A_CRITERION = 6
"""Places that one part may name for one criterion."""

ReadFiles = Callable[[tuple[str, ...]], Awaitable[Mapping[str, str]]]
"""Returns the contents of those of the files that exist."""


class CriterionReply(ModelReply):
    id: str
    met: bool
    evidence: list[ShortLine] = Field(default_factory=list[str], max_length=20)


class FoundReply(ModelReply):
    criterion: str
    where: ShortLine
    shows: ShortLine = ""


class EvidenceReply(ModelReply):
    evidence: list[FoundReply] = Field(max_length=200)
    problems: list[ShortLine] = Field(default_factory=list[str], max_length=40)


async def no_files(_paths: tuple[str, ...]) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class PatchReading:
    """A patch, what is shown of it, and how what a model names is checked."""

    session: Session
    patch: str = ""
    is_cut: bool = False
    """Whether there was more than could be read."""
    changed: tuple[str, ...] = ()
    """All files that were changed, as git lists them."""
    read: ReadFiles = no_files
    passed: tuple[str, ...] = ()
    """Tests of the task that are known to have passed."""
    failed: tuple[str, ...] = ()
    has_report: bool = False
    """Whether `report` counts as evidence, as for an investigation."""
    let_pass: frozenset[str] = frozenset()
    """What nobody was shown and a person has accepted."""
    divided: DividedPatch | None = None
    texts: Mapping[str, ChangedText] | None = None
    """The lines that the patch shows of each file; known once it is divided."""
    findings: tuple[FoundReply, ...] | None = None
    """What was found part by part, checked. None: the patch is shown itself."""
    problems: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Files of parts that the model gave no usable answer about, and what could not be read at all."""

    @property
    def unseen(self) -> tuple[str, ...]:
        """Return what nobody was shown, with the reason."""
        found = (*(self.divided.unseen if self.divided else ()), *self.unread)
        return tuple(first_few([one for one in found if one not in self.let_pass], MOST_UNSEEN))

    def divide(self, name: str, rest: Mapping[str, object]) -> PatchReading:
        """Return the reading with the patch divided into what fits beside the rest of the prompt with that name."""
        if self.divided is not None:
            return self
        room = diff_room(self.session, name, rest)
        parts = divide_patch(self.patch, room, MOST_PARTS, is_cut=self.is_cut, changed=self.changed)
        return replace(self, divided=parts, texts=changed_texts(self.patch))

    def data(self, name: str, rest: Mapping[str, object]) -> dict[str, object]:
        """Return the patch for the model, or what was found in it, behind all that is the same for every part."""
        reading = self.divide(name, rest)
        told = reading.about_files(diff_room(self.session, name, rest) // 4)
        if self.findings is None:
            parts = reading.divided.parts if reading.divided else ()
            return {**rest, **told, "diff": parts[0].text if parts else ""}
        room = diff_room(self.session, name, {**rest, **told})
        evidence = [one.model_dump() for one in self.findings]
        fitting = fitting_lines(map(json.dumps, evidence), room * 3 // 4)
        left_out = {"evidence_left_out": more} if (more := len(evidence) - fitting) else {}
        problems = listed_within(self.problems, room // 4, "problem")
        return {**rest, **told, "evidence": evidence[:fitting], **left_out, "problems": problems}

    def about_files(self, room: int) -> dict[str, object]:
        """Return the list of all changed files, and those that nobody is shown."""
        divided = self.divided or DividedPatch()
        told: dict[str, object] = {"files": listed_within(divided.files, room)}
        if self.unseen:
            told["unseen"] = list(self.unseen)
        if divided.unread_locks:
            told["lock_files_not_shown"] = listed_within(divided.unread_locks, room // 4)
        return told

    async def read_in_parts(
        self, llm: Llm, name: str, rest: Mapping[str, object], about: Mapping[str, object]
    ) -> tuple[PatchReading, Usage]:
        """Have the model read a patch that is too large for one prompt, part by part. Safe to repeat.

        `rest`: the other data of the prompt with that name; `about`: those that are told with each part.
        """
        large = len(self.patch) > LARGE_PATCH
        reading = (
            await asyncio.to_thread(self.divide, name, rest) if large else self.divide(name, rest)
        )
        parts = reading.divided.parts if reading.divided else ()
        usage = Usage()
        if len(parts) <= 1:
            return reading, usage
        found: list[FoundReply] = []
        problems: list[str] = []
        unread = [*self.unread]
        same = {**about, **reading.about_files(diff_room(self.session, name, rest) // 4)}
        for number, part in enumerate(parts, 1):
            place = {"number": number, "of": len(parts)}
            question = EvidencePrompt(
                self.session, reading, {**same, "part": place, "diff": part.text}
            )
            reply, cost = await ask(llm, question, session_tokens(self.session))
            usage += cost
            if reply is None:
                unread += [f"{path} (the model gave no answer about it)" for path in part.paths]
                continue
            found += await reading.holding(reply.evidence)
            problems += reply.problems
        return replace(
            reading, findings=tuple(found), problems=tuple(problems), unread=tuple(unread)
        ), usage

    async def holding(self, found: Sequence[FoundReply]) -> list[FoundReply]:
        """Return the evidence that holds, a bounded number for each criterion."""
        wrong = await self.wrong_citations(one.where for one in found)
        kept: dict[str, list[FoundReply]] = {}
        for one in found:
            if not wrong[one.where]:
                kept.setdefault(one.criterion, []).append(one)
        return [one for some in kept.values() for one in some[:MOST_OF_A_CRITERION]]

    async def wrong_citations(self, said: Iterable[str]) -> dict[str, str]:
        """Return each citation with why it does not hold; with an empty text if it does."""
        every = tuple(dict.fromkeys(said))
        shown = changed_texts(self.patch) if self.texts is None else self.texts
        known = CitedFiles(shown, {}, self.passed, self.failed)
        wanted = known.wanted(every)
        known = replace(known, texts=await self.read(wanted) if wanted else {})
        report = {"report"} if self.has_report else set[str]()
        return {one: "" if one.lower() in report else known.problem(one) for one in every}

    async def complaint(self, verdict: Verdict) -> str:
        """Return which claims of a verdict do not hold; empty if all do."""
        wrong = await self.wrong_citations(e for one in verdict.criteria for e in one.evidence)
        found = [
            f"{one.criterion}: {wrong[named]}"
            for one in verdict.criteria
            for named in one.evidence
            if wrong[named]
        ]
        if verdict.outcome is Judgement.DONE:
            found += [
                f"{one.criterion}: name a place or a test that it is met by, or say that it is not met"
                for one in verdict.criteria
                if not (one.met and one.evidence)
            ]
        return "; ".join(found[:MOST_COMPLAINTS])

    async def settled(self, verdict: Verdict, criteria: Mapping[str, str]) -> Verdict:
        """Return the verdict with what was proven. It is not `done` while a criterion is unproven or something is unseen.

        `criteria`: the text of each by its id.
        """
        wrong = await self.wrong_citations(e for one in verdict.criteria for e in one.evidence)
        results = tuple(_proven(one, wrong) for one in verdict.criteria)
        settled = verdict.model_copy(update={"criteria": results, "unseen": self.unseen})
        if verdict.outcome is not Judgement.DONE:
            return settled
        reasons = [
            f"Nothing proves “{criteria.get(one.criterion, one.criterion).removesuffix('.')}”{_named(one)}."
            for one in results
            if not one.met
        ]
        if self.unseen:
            reasons.append(f"Nobody was shown {', '.join(self.unseen)}.")
        if not reasons:
            return settled
        blocked = {"outcome": Judgement.BLOCKED, "reasons": (*reasons, *verdict.reasons)}
        return settled.model_copy(update=blocked)


def _proven(claim: CriterionResult, wrong: Mapping[str, str]) -> CriterionResult:
    holding = tuple(one for one in claim.evidence if not wrong[one])
    if not holding:
        return claim.model_copy(update={"met": False})
    return claim.model_copy(update={"evidence": holding, "proven": True})


def _named(result: CriterionResult) -> str:
    return f" (named: {', '.join(result.evidence)})" if result.evidence else ""


def claims(
    criteria: Iterable[str], replies: Sequence[CriterionReply]
) -> tuple[CriterionResult, ...]:
    """Return what is claimed about each criterion, by its id. Nothing of it is proven yet."""
    return tuple(_claim(one, replies) for one in criteria)


def _claim(criterion: str, replies: Sequence[CriterionReply]) -> CriterionResult:
    starts = (f"{criterion}:", f"{criterion} ")
    reply = next((r for r in replies if r.id == criterion or r.id.startswith(starts)), None)
    if reply is None or not reply.met:
        return CriterionResult(criterion=criterion)
    named = tuple(dict.fromkeys(one for one in reply.evidence if one))
    return CriterionResult(criterion=criterion, met=True, evidence=named)


def diff_room(session: Session, name: str, rest: Mapping[str, object]) -> int:
    """Return the bytes of a patch that fit into the prompt of that name beside the rest of its data.

    A quarter of the window, of an unknown one half of what may be sent; never more than 32,000 tokens.
    """
    window, scale = session.llm.context_window, session.llm.token_scale
    share = int(window * SHARE_OF_WINDOW) if window else BUDGET_IF_UNKNOWN // 2
    used = estimate_tokens(json.dumps(rest, ensure_ascii=False), scale)
    left = data_token_budget(session, system_message(name, looks=True)) - used
    tokens = max(FEWEST_DIFF_TOKENS, min(MOST_DIFF_TOKENS, share, left))
    return int(tokens * BYTES_PER_TOKEN / scale)


async def read_patch(world: World, path: str, since: str, until: str) -> tuple[str, bool]:
    """Return the masked patch between two commits, and whether there was more than could be read.

    Secrets are masked before it is divided, because half a key would not be recognised.
    """
    patch = await world.worktrees.diff(path, since, LONGEST_PATCH, until)
    large = len(patch) > LARGE_PATCH
    masked = (
        await asyncio.to_thread(world.masker.mask, patch) if large else world.masker.mask(patch)
    )
    return masked, len(patch) >= LONGEST_PATCH


def looker_at(world: World, session: Session, commit: str) -> Looker | None:
    """Return what the judge may look at: the repository at the commit that is judged, within what the patch leaves free."""
    if not commit:
        return None
    tokens = min(LOOK_TOKENS, context_tokens(session.llm.context_window) // 3)
    place = session.repository.path
    return Looker(world.repository, place, commit, tokens, world.masker.mask, LOOK_ROUNDS)


def reader_at(world: World, repository: str, commits: Sequence[str]) -> ReadFiles:
    """Return a function that reads files at the first of these commits that has them."""

    async def read(paths: tuple[str, ...]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for path in paths:
            for commit in commits:
                try:
                    contents = await world.repository.read(repository, commit, (path,))
                except Refused:  # no path inside of a repository, or no such commit any more
                    continue
                if path in contents:
                    found[path] = contents[path]
                    break
        return found

    return read


@dataclass(frozen=True)
class EvidencePrompt(
    Prompt[EvidenceReply | None], name="evidence", reply=EvidenceReply, role=ModelRole.JUDGE
):
    """What does one part of a large patch show for each criterion? It gives no verdict."""

    session: Session
    reading: PatchReading
    told: Mapping[str, object]

    def data(self) -> dict[str, object]:
        return dict(self.told)

    async def complaint(self, found: EvidenceReply | None) -> str:
        evidence = found.evidence if found else []
        wrong = await self.reading.wrong_citations(one.where for one in evidence)
        return "; ".join(
            dict.fromkeys(
                f"{one.criterion}: {wrong[one.where]}" for one in evidence if wrong[one.where]
            )
        )[:1000]

    def fallback(self) -> EvidenceReply | None:
        return None
