"""One session's life: in order, one save at a time, and never at the cost of another session."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator

import pytest

from bot.core.actions import Show
from bot.core.actor import outbox_at_start
from bot.core.cards import Card, NewsCard, ProblemCard
from bot.core.choices import Verb
from bot.core.console import ExitCode
from bot.core.errors import Refused, Unavailable
from bot.core.gate import Door, Gate
from bot.core.llm import AI_SETTINGS_REQUIRED
from bot.core.people import Role, Thread
from bot.core.projections.audit import AuditEntry
from bot.core.projections.records import Record
from bot.core.runs import Executed
from bot.core.states import Phase, Status, TaskState
from tests.fakes.chat import ANNA, THREAD, MemoryChat
from tests.fakes.commands import FakeCommands
from tests.fakes.keeping import MemoryAudit
from tests.fakes.llm import Call
from tests.fakes.panes import FakePanes
from tests.fakes.store import MemoryStore
from tests.fakes.worktrees import FakeWorktrees
from tests.stories.stage import Stage

OTHER = Thread(platform="memory", workspace="W1", channel="C1", root="2")


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    yield stage
    await stage.close()


async def disk_fills_while_the_model_thinks(stage: Stage) -> None:
    """And has room again five seconds later."""
    stage.llm.hold()
    await stage.says("Add discounts")
    stage.store.full = True
    stage.llm.release()
    await stage.settle()
    stage.store.full = False
    await stage.clock.advance(5)
    await stage.settle()


class HastyChat(MemoryChat):
    """Each card travels faster than the one before it."""

    async def show(self, thread: Thread, card: Card) -> None:
        for _ in range(max(0, 20 - self.calls)):
            await asyncio.sleep(0)
        await super().show(thread, card)


async def test_cards_arrive_in_the_order_they_were_decided(stage: Stage) -> None:
    stage.chat = HastyChat()
    await stage.open()
    await stage.is_planned()
    kinds = [card.kind for card in stage.chat.cards()]
    assert kinds == ["received", "questions", "document", "document", "document", "approval"]


def test_of_a_card_that_was_under_way_when_the_bot_died_the_newer_self_is_shown() -> None:
    def showing(key: str, reason: str) -> Show:
        return Show(card=ProblemCard(key=key, title="a problem", reason=reason))

    old, other, new = showing("failure", "old"), showing("status", "x"), showing("failure", "new")
    assert outbox_at_start([old, other, new]) == [new, other]


async def test_no_card_is_shown_before_it_is_written_down_that_the_last_one_was(
    stage: Stage,
) -> None:
    """Else a death with a full disk leaves the older one to be shown once more, over the newer."""

    class FillingChat(MemoryChat):
        async def show(self, thread: Thread, card: Card) -> None:
            await super().show(thread, card)
            if card.key == "document:spec:1" and not stage.store.full:
                stage.store.full = True

    stage.chat = chat = FillingChat()
    await stage.open()
    await stage.says("Add discounts")
    await stage.presses(Verb.DEFAULTS)
    for _ in range(10):
        await stage.clock.advance(1)
    assert [c.key for c in chat.cards(THREAD) if c.key.startswith("document:")] == [
        "document:spec:1"
    ]
    stage.store.full = False
    await stage.clock.advance(5)
    await stage.settle()
    assert stage.session().phase is Phase.APPROVING


@pytest.mark.covers("G-MOVE-SESSION-3")
async def test_a_bug_ends_its_own_session_and_no_other(stage: Stage) -> None:
    def model(call: Call) -> str:
        if "break" in call.data:
            raise ZeroDivisionError
        return '{"title": "x", "questions": []}'

    stage.llm = type(stage.llm)(model)
    await stage.open()
    await stage.says("break it")
    await stage.says("build the export", OTHER)
    failure = stage.chat.card("failure")
    assert isinstance(failure, ProblemCard)
    assert "ZeroDivisionError" not in str(failure), (
        "people get a sentence, the log gets the traceback"
    )
    assert stage.session().status is Status.FAILED
    assert stage.session(OTHER).status is Status.ACTIVE
    assert stage.session(OTHER).phase is Phase.APPROVING


async def test_a_session_that_goes_in_circles_is_ended(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    stage.worktrees.problem = Refused("taken")
    await stage.approves()
    await stage.settle()
    assert stage.session().status is Status.FAILED
    assert len(stage.panes.started) == 0


class FillingAudit(MemoryAudit):
    """The disk is full right after the first approval was written down."""

    def note(self, entry: AuditEntry) -> None:
        super().note(entry)
        if entry.about == "revision 1" and self.approvals() == 1:
            self.store.full = True

    def approvals(self) -> int:
        return [entry.about for entry in self.entries].count("revision 1")

    store: MemoryStore


async def test_what_was_decided_stands_in_the_audit_log_once_however_often_it_is_saved(
    stage: Stage,
) -> None:
    stage.audit = audit = FillingAudit()
    audit.store = stage.store
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    for _ in range(5):
        await stage.clock.advance(3)
        await stage.settle()
    stage.store.full = False
    await stage.clock.advance(3)
    await stage.settle()
    assert audit.approvals() == 1
    assert stage.session().phase is Phase.EXECUTING


async def test_a_disk_that_fills_up_while_deciding_is_told_once_and_loses_nothing(
    stage: Stage,
) -> None:
    await stage.open()
    stage.llm.hold()
    await stage.says("Add discounts")
    stage.store.full = True
    stage.llm.release()
    await stage.settle()
    for _ in range(5):
        await stage.clock.advance(3)
        await stage.settle()
    assert [card.key for card in stage.chat.cards()].count("disk") == 1
    assert stage.session().request.questions_asked is False

    stage.store.full = False
    await stage.clock.advance(3)
    await stage.settle()
    assert stage.session().request.questions_asked is True
    assert stage.llm.count == 1, "the answer that could not be saved was kept, not asked for again"


@pytest.mark.covers("G-RULE-SCOPE-4", "G-FR-014", "G-DATA-SessionQueue")
async def test_three_sessions_of_a_repository_run_one_after_the_other_in_the_order_they_came(
    stage: Stage,
) -> None:
    await stage.open()
    threads = [Thread(platform="memory", workspace="W1", channel="C1", root=root) for root in "abc"]
    for thread in threads:
        await stage.is_planned(f"Request {thread.root}", thread)
        await stage.approves(thread)
        await stage.clock.advance(1)
    positions = [stage.session(thread).queue.position for thread in threads]
    assert positions == [None, 1, 2]
    served: list[str] = []
    for _ in range(12):
        active = [t for t in threads if stage.session(t).queue.has_place]
        assert len(active) <= 1
        if active and active[0].root not in served:
            served.append(active[0].root)
        await stage.agents_work()
    assert served == ["a", "b", "c"]


async def test_a_stopped_session_lets_the_next_one_go_first(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.is_planned("Another", OTHER)
    await stage.approves(OTHER)
    await stage.presses(Verb.STOP)
    assert stage.session(OTHER).queue.has_place
    await stage.presses(Verb.RESUME)
    assert stage.session().status is Status.QUEUED


@pytest.mark.covers("O-P3")
async def test_after_a_restart_the_holder_keeps_its_place(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.is_planned("Another", OTHER)
    await stage.approves(OTHER)
    await stage.revive()
    await stage.settle()
    assert stage.session().queue.has_place
    assert stage.session(OTHER).status is Status.QUEUED
    assert len(stage.panes.running()) == 2


async def test_a_session_of_a_chat_that_is_gone_waits_instead_of_working_unseen(
    stage: Stage,
) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    stage.platform = "elsewhere"
    await stage.revive()
    await stage.settle()
    assert stage.session().status is Status.PAUSED
    assert stage.panes.running() == ()


async def test_news_are_not_told_again_after_a_restart(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work()
    before = [card for card in stage.chat.cards(THREAD) if isinstance(card, NewsCard)]
    await stage.revive()
    await stage.settle()
    assert [card for card in stage.chat.cards(THREAD) if isinstance(card, NewsCard)] == before
    states = [task.state for task in stage.session().tasks]
    assert states[:2] == [TaskState.COMPLETED, TaskState.COMPLETED]


async def test_what_an_order_does_to_end_in_order_is_not_interrupted(stage: Stage) -> None:
    ended: list[str] = []

    class CarefulCommands(FakeCommands):
        async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
            try:
                await asyncio.Event().wait()
            finally:
                for _ in range(30):
                    await asyncio.sleep(0)
                ended.append(cwd)
            raise AssertionError

    stage.commands = CarefulCommands()
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work()
    await stage.presses(Verb.STOP)
    await stage.settle()
    assert len(ended) == 2


async def test_a_full_disk_while_something_else_does_not_answer_ends_nothing(stage: Stage) -> None:
    stage.llm = type(stage.llm)(lambda _: Unavailable("the model does not answer"))
    await stage.open()
    await disk_fills_while_the_model_thinks(stage)
    assert stage.session().status is Status.ACTIVE


async def test_a_chat_that_refuses_the_word_of_a_full_disk_ends_nothing(stage: Stage) -> None:
    class DeafChat(MemoryChat):
        async def show(self, thread: Thread, card: Card) -> None:
            if card.key == "disk":
                raise Refused("not in this channel")
            await super().show(thread, card)

    stage.chat = DeafChat()
    await stage.open()
    await disk_fills_while_the_model_thinks(stage)
    assert stage.session().request.questions_asked


async def test_an_agent_that_could_not_be_stopped_is_not_passed_over(stage: Stage) -> None:
    class StuckPanes(FakePanes):
        async def stop(self, name: str) -> tuple[int, ...]:
            raise Refused("tmux does not let go of it")

    stage.panes = StuckPanes()
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.presses(Verb.STOP)
    assert stage.session().status is Status.FAILED


async def test_a_discard_takes_along_the_worktrees_that_were_only_begun(stage: Stage) -> None:
    class SlowWorktrees(FakeWorktrees):
        async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
            head = await super().prepare(repository, branch, path, start)
            await asyncio.Event().wait()
            return head

    stage.worktrees = SlowWorktrees(stage.repository)
    await stage.open()
    await stage.is_planned()
    assert len(stage.worktrees.standing) == 1
    await stage.presses(Verb.DISCARD)
    assert stage.worktrees.standing == {}


async def test_words_that_waited_in_a_paused_session_are_given_up_with_it(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.presses(Verb.STOP)
    await stage.says("Add receipts, too")
    await stage.presses(Verb.DISCARD)
    assert "Say it again" in str(stage.chat.whispered[-1])
    assert len(stage.store.sessions()) == 1
    await stage.says("Add receipts, too")
    assert len(stage.store.sessions()) == 2


async def test_words_that_waited_in_a_paused_session_count_when_it_goes_on(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.presses(Verb.STOP)
    await stage.says("approve")
    await stage.presses(Verb.RESUME)
    assert stage.session().phase is Phase.EXECUTING


async def test_who_may_not_approve_may_not_do_so_in_words(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    starters = {Role.START: frozenset({ANNA.id})}
    stage.gate = Gate({"memory": Door(starters)})
    await stage.revive()
    await stage.says("approve")
    assert stage.session().phase is Phase.APPROVING
    assert "may not" in str(stage.chat.whispered[-1])


async def test_a_thread_whose_file_is_broken_takes_a_new_request(stage: Stage) -> None:
    await stage.open()
    await stage.says("Add discounts")
    await stage.presses(Verb.DISCARD)
    await stage.revive()
    stage.store.records.clear()
    await stage.says("Add receipts")
    assert stage.session().intent.body == "Add receipts"


async def test_half_a_character_is_taken_and_saved(stage: Stage) -> None:
    await stage.open()
    await stage.says("Add \ud83d discounts")
    assert stage.session().intent.body == "Add  discounts"


async def test_nothing_secret_is_kept_of_what_an_agent_calls_its_work(stage: Stage) -> None:
    secret = "sk-proj-" + "abcdefghij" * 4
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    name = stage.panes.running()[0]
    stage.worktrees.agent_commits(stage.panes.folders[name], {"a.py": "x"}, f"feat: use {secret}")
    stage.panes.finish(name)
    await stage.settle()
    assert secret not in "".join(stage.store.records.values())


async def test_nothing_secret_is_kept_of_why_something_was_refused(stage: Stage) -> None:
    secret = "sk-proj-" + "abcdefghij" * 4
    stage.repository.problem = Refused(f"the remote says {secret}")
    await stage.open()
    await stage.says("Add discounts")
    assert stage.session().status is Status.FAILED
    assert secret not in "".join(stage.store.records.values())


async def test_tests_at_work_are_reported_as_agents_are(stage: Stage) -> None:
    class LongCommands(FakeCommands):
        async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
            await asyncio.Event().wait()
            raise AssertionError

    stage.commands = LongCommands()
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work()
    assert stage.panes.running() == ()
    before = stage.chat.card("status")
    await stage.clock.advance(120)
    await stage.ticks()
    assert stage.chat.card("status") != before


async def test_a_session_that_fell_over_holds_no_place_when_it_is_taken_up_again(
    stage: Stage,
) -> None:
    class FragileStore(MemoryStore):
        fragile = False

        def save(self, record: Record) -> None:
            if self.fragile and record.session.thread == THREAD:
                raise ZeroDivisionError
            super().save(record)

    stage.store = store = FragileStore()
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.is_planned("Another", OTHER)
    await stage.approves(OTHER)
    store.fragile = True
    await stage.agents_work()
    store.fragile = False
    assert stage.session(OTHER).queue.has_place

    await stage.says("Where are you?")
    held = [stage.session(thread).queue.has_place for thread in (THREAD, OTHER)]
    assert held == [False, True]


async def test_two_sessions_never_choose_the_same_branch(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.presses(Verb.STOP)
    assert "agent/checkout" not in stage.repository.heads
    await stage.is_planned("The same again", OTHER)
    await stage.approves(OTHER)
    first, second = (
        {w.branch for w in stage.session(thread).workspaces} for thread in (THREAD, OTHER)
    )
    assert len(first) == len(second) == 3
    assert not first & second


async def test_after_a_restart_the_holder_keeps_its_place_whoever_is_read_first(
    stage: Stage,
) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.is_planned("Another", OTHER)
    await stage.approves(OTHER)
    await stage.clock.advance(1)
    await stage.approves()
    assert stage.session(OTHER).queue.has_place
    await stage.revive()
    await stage.settle()
    held = [stage.session(thread).queue.has_place for thread in (THREAD, OTHER)]
    assert held == [False, True]
    assert len(stage.panes.running()) == 2


@pytest.mark.covers("G-RULE-LLMDOWN-3")
async def test_a_model_that_is_away_is_asked_again_after_ever_longer_pauses(stage: Stage) -> None:
    stage.llm = type(stage.llm)(lambda call: Unavailable("the model does not answer"))
    await stage.open()
    await stage.says("Add discounts")
    for _ in range(200):
        await stage.clock.advance(1)
    assert stage.clock.slept[-8:] == [1, 2, 4, 8, 16, 60, 60, 60]


@pytest.mark.parametrize(("named", "most"), [(0.0, 70), (1.0, 70), (600.0, 7), (3600.0, 2)])
async def test_a_model_that_names_a_time_is_not_asked_before_it_nor_ever_more_often_for_it(
    named: float, most: int, stage: Stage
) -> None:
    asked = list[Call]()

    def model(call: Call) -> Unavailable:
        asked.append(call)
        return Unavailable("HTTP 503", retry_after=named)

    stage.llm = type(stage.llm)(model)
    await stage.open()
    await stage.says("Add discounts")
    for _ in range(360):
        await stage.clock.advance(10)
    assert 1 <= len(asked) <= most, "asked within an hour"


async def test_a_script_waits_for_a_model_that_is_away_for_a_while(stage: Stage) -> None:
    answers = [Unavailable("HTTP 500")] * 6

    def model(call: Call) -> str | Unavailable:
        return answers.pop() if answers else stage.model(call)

    stage.llm = type(stage.llm)(model)
    await stage.open()
    await stage.says("Add discounts")
    assert stage.desk
    resting = asyncio.create_task(stage.desk.rest(THREAD))
    await stage.clock.advance(60)
    assert not resting.done(), "the card says that the bot tries again by itself"
    await stage.clock.advance(60)
    assert (await resting).waits_for


@pytest.mark.parametrize(("reason", "seconds"), [("HTTP 500", 600), (AI_SETTINGS_REQUIRED, 0)])
async def test_a_script_is_ended_by_what_does_not_pass(
    reason: str, seconds: int, stage: Stage
) -> None:
    stage.llm = type(stage.llm)(lambda call: Unavailable(reason))
    await stage.open()
    await stage.says("Add discounts")
    assert stage.desk
    resting = asyncio.create_task(stage.desk.rest(THREAD))
    await stage.clock.advance(max(1, seconds - 60))
    assert resting.done() == (not seconds)
    await stage.clock.advance(61)
    standing = await resting
    assert (standing.trouble, standing.waits_for) == (reason, ())
    assert standing.exit_code == ExitCode.INCOMPLETE


@pytest.mark.covers("G-RULE-LLMDOWN-4")
async def test_a_model_that_is_back_is_told_how_things_stand_now(stage: Stage) -> None:
    asked, away = list[Call](), [False]

    def model(call: Call) -> str | Unavailable:
        asked.append(call)
        return Unavailable("the model does not answer") if away[0] else stage.model(call)

    stage.llm = type(stage.llm)(model)
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    away[0] = True
    await stage.says("how far are you?")
    assert '"state": "Running"' in asked[-1].data
    await stage.agents_work()
    first, second, _ = stage.session().tasks
    # tested, and waiting for the judge: nobody else says that it is done
    assert first.check
    assert {first.state, second.state} == {TaskState.VERIFYING}

    away[0], asked[:] = False, []
    await stage.clock.advance(60)
    await stage.settle()

    [judged] = [call for call in asked if call.system.startswith("# words")]
    assert '"state": "Verifying"' in judged.data
    assert '"state": "Running"' not in judged.data


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.ENOSPC, "disk is full"), (errno.EACCES, "right to read and write there")],
)
async def test_a_full_disk_that_nobody_has_named_is_waited_for(
    stage: Stage, number: int, says: str
) -> None:
    """Wherever it was met: it is no bug of the bot's."""
    full = [True]

    def model(call: Call) -> str:
        if full[0]:
            raise OSError(number, os.strerror(number), "/work/specs")
        return stage.model(call)

    stage.llm = type(stage.llm)(model)
    await stage.open()
    await stage.says("Add discounts")
    assert stage.session().status is Status.ACTIVE
    [told] = [card for card in stage.chat.cards() if says in str(card)]
    assert "/work/specs" in str(told)
    full[0] = False
    await stage.clock.advance(60)
    await stage.settle()
    assert stage.session().phase is not Phase.INTAKE
