"""A secret the bot knows goes nowhere, whoever says it: no card, no saved record, no prompt, no question to the model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from enum import Enum
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import AwareDatetime, BaseModel

from bot.core.actor import Actor
from bot.core.choices import Verb
from bot.core.errors import Refused
from bot.core.events import Attached, Event, FromPerson, Said
from bot.core.git import Checkout, Scan, Work
from bot.core.projections.records import Record
from bot.core.runs import AgentReady, Executed
from bot.core.states import Phase
from tests.fakes.agents import FakeAgents
from tests.fakes.chat import ANNA
from tests.fakes.commands import PASSED
from tests.fakes.llm import Call, ScriptedLlm
from tests.fakes.repository import FakeRepository
from tests.fakes.store import MemoryStore
from tests.fakes.worktrees import FakeWorktrees
from tests.steps.scenes import T0, executing
from tests.stories.stage import Stage, draft

SECRET = "correct-horse-battery-staple"  # noqa: S105 - nobody's, made up here
MASK = "[MASKED:"
SHAPES = (SECRET, "xoxb-123456789012-abcdefghijkl", "password = 'Vq8#tr0ub4dor&3xyz'")
"""A value that is known, a token by its shape, a value by its label."""
IDS = {"id", "answers", "task_id", "run_id", "words_id", "step_id", "change_id"}
KEPT = {
    "AgentReady": "agent",
    "Base": "branch commit repository",
    "BaseTakenIn": "base head",
    "BranchesListed": "names",
    "Check": "command commit output_path",
    "CheckRan": "evidence",
    "CleanedUp": "unlogged",
    "Collision": "one other",
    "DialogAnswered": "dialog_id",
    "DocumentsCommitted": "commit",
    "EvidenceInventory": "integrity_failures missing_evidence_operations raw_evidence_files",
    "Hosted": "slug url",
    "MergedLocally": "commit",
    "NameTaken": "branch",
    "OrderFailed": "what",
    "PassedOn": "session",
    "PullOpened": "commit evidence",
    "Relinked": "path",
    "Removal": "branch path",
    "RunEnded": "evidence log_path noticed report_evidence",
    "RunStarted": "pane_id",
    "SessionOpened": "session",
    "SettingsChanged": "mark",
    "Surveyed": "agent_flags other_agents",
    "Thread": "channel platform root workspace",
    "TroubleBegan": "order",
    "TroubleEnded": "order",
    "WorkJudged": "commit",
    "WorkSeen": "evidence",
    "Workspace": "branch merged path start task_ids",
    "WorkspaceReady": "conflicting",
}
"""Fields of results that hold no text: ids, names in git and on disk, and what somebody has approved letter by letter."""


class RememberingStore(MemoryStore):
    """It also keeps what was saved and soon overwritten."""

    def __init__(self) -> None:
        super().__init__()
        self.ever: list[str] = []
        self.last: Record

    def save(self, record: Record) -> None:
        super().save(record)
        self.last = record
        self.ever.append(record.model_dump_json(warnings=False))


@pytest.fixture
def store() -> RememberingStore:
    return RememberingStore()


@pytest.fixture
async def stage(store: RememberingStore) -> AsyncIterator[Stage]:
    stage = Stage(
        drafts=[draft("T001", f"Discounts {SECRET}"), draft("T002", "Receipt", "T001")],
        secrets={"SHOP_TOKEN": SECRET},
    )
    stage.store = store
    await stage.open()
    yield stage
    await stage.close()


def everything_that_went_out(stage: Stage) -> Iterator[tuple[str, str]]:
    """Where it went, and what it was."""
    for _, card in stage.chat.shown:
        yield f"card {card.key}", card.model_dump_json()
    for _, _, card in stage.chat.whispered:
        yield f"whispered {card.key}", card.model_dump_json()
    for call in stage.llm.calls:
        yield "the model", call.system + call.data
    for run, prompt in stage.panes.prompts.items():
        yield f"prompt of {run}", prompt + stage.panes.launches[run].model_dump_json()
    assert isinstance(stage.store, RememberingStore)
    for evidence in stage.archive.kept.values():
        # what is kept is masked where it is kept; the bot hands nothing raw over but output and patches
        yield f"evidence {evidence.evidence_id}", evidence.model_dump_json()
    for filed in (*stage.registry.filed.values(), *stage.registry.observations.values()):
        yield "registry", filed.model_dump_json()
    for history in stage.registry.kept.values():
        yield "history", history.model_dump_json()
    for text in stage.store.ever:
        yield f"disk: {around(SECRET, text)}", text
    for name, head in stage.repository.heads.items():
        files = stage.repository.commits[head].files
        yield f"branch {name}", "".join(files[n] for n in files if n.startswith("specs/"))


def around(secret: str, text: str) -> str:
    """The words before it: enough to find the leak."""
    return text.partition(secret)[0][-120:]


def leaks(stage: Stage) -> list[str]:
    return [where for where, what in everything_that_went_out(stage) if SECRET in what]


@pytest.mark.covers("G-SEC-3", "R-SECRET-RULE-5", "R-PROPERTY-24")
async def test_a_known_secret_goes_nowhere_whoever_says_it(stage: Stage) -> None:
    stage.repository.commit("main", {"CLAUDE.md": f"The token is {SECRET}."}, "docs: rules")
    stage.commands.answer(Executed(exit_code=1, seconds=0.1, output=f"refused: {SECRET}"), PASSED)
    files = (Attached(name=f"{SECRET}.txt", text=SECRET, problem=SECRET),)
    request = f"Add discounts, the token is {SECRET}"
    await stage.tell(Said(id="asked", at=T0, by=ANNA, text=request, files=files))
    await stage.says(f"D1: {SECRET}, D2: up")
    await stage.presses(Verb.CHANGE, stage.approval_card().offer, f"use {SECRET}")
    await stage.approves()
    for name in stage.panes.running():
        stage.panes.screens[name] = f"export TOKEN={SECRET}"
    await stage.ticks()
    for _ in range(4):
        for name in stage.panes.running():
            stage.worktrees.agent_commits(
                stage.panes.folders[name], {f"{name}.py": "x = 1\n"}, f"feat: use {SECRET}"
            )
            stage.panes.finish(name, message=f"Done with {SECRET}")
        await stage.settle()
    await stage.presses(Verb.MERGE)

    assert stage.session().phase is Phase.DONE
    assert leaks(stage) == []
    assert MASK in stage.session().intent.body
    assert any(MASK in prompt for prompt in stage.panes.prompts.values())
    assert any(MASK in call.data for call in stage.llm.calls)


@pytest.mark.covers("R-SECRET-RULE-5")
async def test_a_secret_that_the_model_says_is_masked_before_anybody_sees_it(stage: Stage) -> None:
    answer = stage.model

    def talkative(call: Call) -> str:
        return answer(call).replace("iscounts", f"iscounts {SECRET}")

    stage.llm = ScriptedLlm(talkative, mask=stage.masker.mask)
    await stage.revive()
    await stage.is_planned()
    assert stage.session().phase is Phase.APPROVING
    assert leaks(stage) == []


@pytest.mark.covers("R-SECRET-RULE-5")
async def test_a_secret_in_a_refusal_is_masked_too(stage: Stage) -> None:
    stage.repository.problem = Refused(f"the remote said {SECRET}", f"Change {SECRET}.")
    await stage.says("Add discounts")
    assert stage.chat.card("failure")
    assert leaks(stage) == []


async def test_a_name_that_git_needs_is_masked_where_people_see_it(stage: Stage) -> None:
    branch = f"feature-{SECRET}"
    stage.repository.commit(branch, dict(stage.repository.files), "first")
    stage.repository.branch = branch
    await stage.is_planned()
    assert stage.session().repository.base_branch == branch
    assert [where for where in leaks(stage) if where.startswith(("card", "whispered"))] == []
    assert "feature-[MASKED:" in str(stage.chat.card("received"))


class TellingRepository(FakeRepository):
    """Its files, its git settings and its uncommitted changes hold the secret."""

    async def scan(self, path: str, commit: str) -> Scan:
        found = await super().scan(path, commit)
        texts = ("conventions", "directory_tree", "project_meta", "specs_summary")
        return found.model_copy(update=dict.fromkeys((*texts, "source_overview"), SECRET))

    async def checkout(self, path: str) -> Checkout:
        found = await super().checkout(path)
        return found.model_copy(update={"changed": (f"{SECRET}.py:1",)})

    async def programs(self, path: str) -> tuple[str, ...]:
        return (f"The filter {SECRET} is run.",)


class TellingWorktrees(FakeWorktrees):
    async def work(self, path: str, since: str, exclude: Any = ()) -> Work:
        found = await super().work(path, since, exclude)
        return found.model_copy(
            update={"created_files": (*found.created_files, f"src/{SECRET}.py")}
        )

    async def diff(self, path: str, since: str, limit: int, until: str = "HEAD") -> str:
        told = await super().diff(path, since, limit, until)
        # a judge is shown much less of it: what is cut in two must be masked before
        return told + "".join(f"+{SECRET}\n" for _ in range(1_000))


class TellingAgents(FakeAgents):
    async def ready(self, agent: str, repository: str, *, answered: bool = True) -> AgentReady:
        found = await super().ready(agent, repository, answered=answered)
        return found.model_copy(update={"version": SECRET, "warnings": (f"It sees {SECRET}.",)})


@pytest.mark.covers("R-SECRET-RULE-5", "R-PROPERTY-24")
async def test_a_secret_that_programs_print_again_and_again_goes_nowhere(
    store: RememberingStore,
) -> None:
    stage = Stage(secrets={"SHOP_TOKEN": SECRET})
    stage.store, stage.agents, stage.repository = store, TellingAgents(), TellingRepository()
    stage.worktrees = TellingWorktrees(stage.repository)
    stage.commands.answer(*[PASSED.model_copy(update={"output": SECRET})] * 20)
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    for _ in range(4):
        for name in stage.panes.running():
            stage.panes.notebooks[name] = json.dumps({"content": f"The key is {SECRET}."})
            stage.panes.reports[name] = SECRET
        await stage.agents_work()
    await stage.presses(Verb.MERGE)
    assert stage.session().phase is Phase.DONE
    assert leaks(stage) == []
    # half of it would be no better
    assert [where for where, what in everything_that_went_out(stage) if SECRET[:17] in what] == []
    await stage.close()


def filled(annotation: Any, text: str) -> Any:
    """A value of that type with the text in each string."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return arguments[0]
    if origin is tuple:
        return tuple(filled(one, text) for one in arguments if one is not ...)
    if origin is dict:
        return {filled(arguments[0], text): filled(arguments[1], text)}
    if arguments:
        return filled(arguments[0], text)
    if annotation is AwareDatetime:
        return T0
    if not isinstance(annotation, type):
        return annotation
    if issubclass(annotation, Enum):
        return next(iter(annotation))
    if issubclass(annotation, BaseModel):
        values = {n: filled(f.annotation, text) for n, f in annotation.model_fields.items()}
        return annotation.model_construct(**values)
    return text if annotation is str else annotation(1) if annotation in (bool, int, float) else T0


def fields_with(text: str, model: BaseModel) -> Iterator[str]:
    for name, value in model:
        parts: list[object] = [*value] if isinstance(value, tuple) else [value]
        models = [one for one in parts if isinstance(one, BaseModel)]
        for one in models:
            yield from fields_with(text, one)
        if not models and any(text in str(part) for part in parts):
            yield f"{type(model).__name__}.{name}"


@pytest.mark.covers("R-SECRET-RULE-5")
@pytest.mark.parametrize("text", SHAPES)
async def test_of_what_comes_from_the_world_only_names_are_kept_as_they_are(text: str) -> None:
    stage = Stage(secrets={"SHOP_TOKEN": SECRET})
    stage.store = store = RememberingStore()
    await stage.open()
    results = [kind for kind in get_args(get_args(Event)[0]) if not issubclass(kind, FromPerson)]
    kept: set[str] = set()
    for kind in results:
        Actor(Record(session=executing()), stage.world).tell(filled(kind, text))
        [event] = store.last.inbox
        kept |= {one for one in fields_with(text, event) if one.partition(".")[2] not in IDS}
    await stage.close()
    assert len(results) > 40
    assert kept == {f"{kind}.{name}" for kind, names in KEPT.items() for name in names.split()}
