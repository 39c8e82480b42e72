"""Logs of tasks: what stands in them, how they keep their bounds, and how they are told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from bot.core.choices import Verb, Word
from bot.core.events import Event, EventBase, RunEnded, StepChosen, Woken
from bot.core.evidence import VerifiedFile
from bot.core.llm import Usage
from bot.core.projections import task_log_entries, task_log_views, task_logs
from bot.core.projections.task_logs import (
    TRUNCATED,
    BlockedReason,
    LogEntry,
    LogEventType,
    TaskLog,
    TaskLogStatus,
    TerminatedBy,
    Visibility,
)
from bot.core.runs import CompletionSource, Dialog, DialogKind, RunEnd, Why
from bot.core.session import Session
from bot.core.sheets import Sheet, Table, Text, markdown
from bot.core.states import Outcome, Phase, RunState, TaskState
from bot.core.task import Option, Step, Task, TaskResult
from bot.steps.decisions import decide
from tests.fields import put
from tests.steps.scenes import (
    T0,
    awaiting_approval,
    check,
    commanded,
    executing,
    later,
    pressed,
    question,
    run,
    running,
    said,
    task,
    verifying,
    work,
)

FINAL = ("TASK_COMPLETED", "TASK_INCOMPLETE", "TASK_ERROR")


def happened(id: str = "e") -> Event:
    return Woken(id=id, at=later())


def types(entries: list[LogEntry] | tuple[LogEntry, ...]) -> list[str]:
    return [entry.event_type.value for entry in entries]


def moved(before: Session, after_task: Task, event: Event | None = None) -> list[LogEntry]:
    """What is said of the first task, when it has become this."""
    after = before.copied()
    after.tasks[0] = after_task
    return task_log_entries.log_entries(before, event or happened(), after).get(after_task.id, [])


def changed(one: Task, **changes: object) -> Task:
    copy = one.copied()
    return put(copy, changes)


# What stands in a log


def test_a_plan_that_nobody_has_approved_has_no_logs() -> None:
    session = awaiting_approval(task("T001"), task("T002"))
    assert task_log_entries.log_entries(session, happened(), session.copied()) == {}


@pytest.mark.covers(
    "R-ENUM-LogEventType",
    "R-LOG-TASK-5",
    "R-EVENT-USER_INPUT",
    "R-EVENT-RUNNER_CLARIFICATION",
    "R-EVENT-USER_RESPONSE",
)
def test_every_task_of_an_approved_plan_begins_its_log_with_the_request() -> None:
    before = awaiting_approval(task("T001"), task("T002"))
    before.intent = before.intent.model_copy(
        update={"clarifications": (question(1, answer="first"), question(2))}
    )
    after = before.copied()
    after.phase = Phase.EXECUTING
    found = task_log_entries.log_entries(before, happened(), after)
    assert set(found) == {"id-T001", "id-T002"}
    for entries in found.values():
        assert types(entries) == [
            "USER_INPUT",
            "RUNNER_CLARIFICATION",
            "USER_RESPONSE",
            "RUNNER_CLARIFICATION",
        ]
        assert entries[0].content["text"] == "Add discounts"
        assert entries[2].content["selected_option"] == "first"


@pytest.mark.covers("R-LOG-TASK-1")
def test_a_task_that_was_discarded_before_it_began_has_a_log() -> None:
    before = awaiting_approval(task("T001"))
    after = before.copied()
    after.tasks[0].become(TaskState.CANCELLED)
    assert types(task_log_entries.log_entries(before, happened(), after)["id-T001"]) == [
        "USER_INPUT",
        "TASK_INCOMPLETE",
    ]


@pytest.mark.covers("R-EVENT-TASK_STARTED", "R-EVENT-EXECUTOR_DISPATCH")
def test_the_start_of_an_agent_is_told() -> None:
    before = executing(task("T001", TaskState.READY))
    entries = moved(before, running("T001"))
    assert types(entries) == ["TASK_STARTED", "EXECUTOR_DISPATCH"]
    assert entries[1].content["executor"] == "played"


def test_a_later_run_is_dispatched_but_the_task_does_not_start_again() -> None:
    before = executing(verifying("T001"))
    again = run("T001", 2).model_copy(update={"why": Why.CHECK_FAILED, "feedback": "mend it"})
    entries = moved(before, changed(before.tasks[0], runs=[*before.tasks[0].runs, again]))
    assert types(entries) == ["EXECUTOR_DISPATCH"]
    assert (entries[0].content["why"], entries[0].content["told"]) == ("check_failed", "mend it")


@pytest.mark.covers("R-EVENT-EXECUTOR_OUTPUT")
def test_the_end_of_an_agent_is_told_as_it_is_decided() -> None:
    before = executing(running("T001"))
    after = before.copied()
    end = RunEnd(outcome=Outcome.FINISHED, source=CompletionSource.HOOK, message="All done.")
    event = RunEnded(id="x", at=later(), answers="await:T001-r1", run_id="T001-r1", end=end)
    decide(after, event)
    [entry] = task_log_entries.log_entries(before, event, after)["id-T001"]
    assert entry.event_type is LogEventType.EXECUTOR_OUTPUT
    assert entry.content["output_summary"] == "All done."
    assert entry.content["noticed_by"] == "Hook"
    assert entry.timestamp == later()


@pytest.mark.covers("R-EVENT-EXECUTOR_BLOCKED")
def test_a_dialog_is_an_agent_that_is_blocked() -> None:
    before = executing(running("T001"))
    dialog = Dialog(id="d", kind=DialogKind.MENU, title="Trust this folder?")
    asking = before.tasks[0].runs[0].model_copy(update={"dialog": dialog, "dialogs": 1})
    [entry] = moved(before, changed(before.tasks[0], runs=[asking]))
    assert entry.event_type is LogEventType.EXECUTOR_BLOCKED
    assert entry.content["blocked_reason"] == "INTERACTIVE_PROMPT"
    assert entry.content["detected_pattern"] == "Trust this folder?"
    assert entry.content["terminated_by"] is None


@pytest.mark.covers("R-LOG-TASK-7", "R-EVENT-EXECUTOR_BLOCKED")
@pytest.mark.parametrize(
    ("outcome", "source", "reason", "by"),
    [
        (
            Outcome.BLOCKED,
            CompletionSource.SWEEP,
            BlockedReason.INTERACTIVE_PROMPT,
            TerminatedBy.REPL_FAIL_CLOSED,
        ),
        (
            Outcome.BLOCKED,
            CompletionSource.STOPPED,
            BlockedReason.INTERACTIVE_PROMPT,
            TerminatedBy.USER,
        ),
        (Outcome.TIMED_OUT, CompletionSource.SWEEP, BlockedReason.TIMEOUT, TerminatedBy.TIMEOUT),
    ],
)
def test_a_run_that_ended_blocked_says_why_and_who_ended_it(
    outcome: Outcome, source: CompletionSource, reason: BlockedReason, by: TerminatedBy
) -> None:
    before = executing(running("T001"))
    ended = before.tasks[0].runs[0].end(outcome, later(30), ended_by=source)
    after = changed(before.tasks[0], runs=[ended])
    [entry] = moved(before, after)
    assert entry.event_type is LogEventType.EXECUTOR_BLOCKED
    log = task_log_views.task_log(before, after)
    assert (log.executor_blocked, log.timeout_ms) == (True, 30_000)
    assert (log.blocked_reason, log.terminated_by) == (reason, by)
    told = ("terminated_by", "termination_signal", "exit_code")
    assert [entry.content[key] for key in told] == [by, "SIGTERM", ended.exit_code]


@pytest.mark.covers("R-EVENT-FILE_OPERATION")
def test_what_git_shows_is_told_once_with_the_files() -> None:
    before = executing(verifying("T001"))
    after = changed(before.tasks[0], work=work("feat: x"), work_run="T001-r1")
    [entry] = moved(before, after)
    assert entry.event_type is LogEventType.FILE_OPERATION
    assert entry.content["files_modified"] == ["a.py"]
    assert moved(executing(after), changed(after)) == []


@pytest.mark.covers("R-EVENT-TEST_EXECUTION")
def test_every_check_is_told_with_what_it_said() -> None:
    before = executing(verifying("T001", checks=[check(1, 1)]))
    after = changed(before.tasks[0], checks=[check(1, 1), check(2, 0, "3 passed")])
    [entry] = moved(before, after)
    assert entry.event_type is LogEventType.TEST_EXECUTION
    assert (entry.content["exit_code"], entry.content["duration_ms"]) == (0, 1000)
    assert entry.content["output_summary"] == "3 passed"


@pytest.mark.covers("R-EVENT-EVIDENCE_MISSING")
def test_missing_evidence_is_told() -> None:
    before = executing(verifying("T001"))
    after = changed(before.tasks[0], next_run__feedback="There are no commits.")
    after.count("evidence_asks")
    [entry] = moved(before, after)
    assert entry.event_type is LogEventType.EVIDENCE_MISSING
    assert entry.content["error_message"] == "There are no commits."


def done(key: str = "T001", **changes: object) -> Task:
    return verifying(
        key,
        **{
            "state": TaskState.COMPLETED,
            "completed_at": later(90),
            "checks": [check(1, 0)],
            "work": work("feat: x"),
            "result": TaskResult(success=True, summary="1 commit"),
            "evidence_refs": ("ev-1", "ev-2"),
            "verified_files": (VerifiedFile(path="a.py", exists=True, detected_at=T0),),
        }
        | changes,
    )


@pytest.mark.covers(
    "R-ENUM-TaskLogStatus",
    "R-LOG-TASK-1",
    "R-LOG-TASK-2",
    "R-EVENT-TASK_COMPLETED",
    "R-EVENT-TASK_INCOMPLETE",
    "R-EVENT-TASK_ERROR",
)
@pytest.mark.parametrize(
    ("ended", "type", "status"),
    [
        (done(), "TASK_COMPLETED", TaskLogStatus.COMPLETE),
        (done(checks=[]), "TASK_INCOMPLETE", TaskLogStatus.INCOMPLETE),
        (task("T001", TaskState.FAILED, blocked="no"), "TASK_ERROR", TaskLogStatus.ERROR),
        (
            task("T001", TaskState.BLOCKED, blocked="no"),
            "TASK_INCOMPLETE",
            TaskLogStatus.INCOMPLETE,
        ),
        (task("T001", TaskState.CANCELLED), "TASK_INCOMPLETE", TaskLogStatus.INCOMPLETE),
        (task("T001", TaskState.REPLACED), "TASK_INCOMPLETE", TaskLogStatus.INCOMPLETE),
    ],
    ids=["complete", "untested", "failed", "blocked", "cancelled", "replaced"],
)
def test_every_end_is_told_and_what_is_not_complete_has_a_reason(
    ended: Task, type: str, status: TaskLogStatus
) -> None:
    before = executing(task("T001", TaskState.READY))
    entries = moved(before, ended)
    log = task_log_views.task_log(before, ended, entries)
    assert entries[-1].event_type == type
    assert log.status is status
    assert bool(log.error_reason) == (status is not TaskLogStatus.COMPLETE)
    assert (log.ended_at is None) == (ended.state is TaskState.BLOCKED)


@pytest.mark.covers("R-EVENT-TASK_COMPLETED")
def test_the_end_names_the_evidence() -> None:
    entries = moved(executing(verifying("T001")), done())
    assert entries[-1].content["evidence_ref"] == "ev-2"
    assert entries[-1].content["files_modified"] == ["a.py"]
    assert entries[-1].timestamp == later(90)


@pytest.mark.covers("R-EVENT-USER_RESPONSE")
def test_a_press_on_the_card_of_a_task_stands_in_its_log_and_in_no_other() -> None:
    session = executing(task("T001", TaskState.FAILED), task("T002"))
    event = pressed(Verb.RETRY, about="id-T001:0", text="with care")
    found = task_log_entries.log_entries(session, event, session.copied())
    [entry] = found["id-T001"]
    assert entry.event_type is LogEventType.USER_RESPONSE
    assert entry.content["response"] == "with care"
    assert "id-T002" not in found


def test_words_that_change_nothing_of_a_task_stand_in_no_log() -> None:
    session = executing(running("T001"))
    assert task_log_entries.log_entries(session, said("how is it going?"), session.copied()) == {}


@pytest.mark.covers(
    "R-ENTITY-TaskLogSummary", "R-EVENT-LLM_MEDIATION_REQUEST", "R-EVENT-LLM_MEDIATION_RESPONSE"
)
def test_what_the_model_chose_for_a_task_is_told_with_its_tokens() -> None:
    options = (Option(id="again", says="Again"),)
    step = Step(id="s1", happened="failed", options=options, default="again")
    before = executing(verifying("T001", choice=step), task("T002"))
    usage = Usage(calls=1, prompt_tokens=700, reply_tokens=30, milliseconds=1200)
    usage += Usage(provider="openai", model="some-model")
    event = StepChosen(
        id="c", at=later(), answers="step:s1", step_id="s1", option="again", usage=usage
    )
    found = task_log_entries.log_entries(before, event, before.copied())
    assert set(found) == {"id-T001"}
    assert types(found["id-T001"]) == ["LLM_MEDIATION_REQUEST", "LLM_MEDIATION_RESPONSE"]
    summary = task_log_views.task_log(before, before.tasks[0], found["id-T001"]).summary
    assert (summary.total_tokens_input, summary.total_tokens_output) == (700, 30)
    assert summary.total_latency_ms == 1200
    assert (summary.total_events, summary.full_events) == (2, 2)
    for entry in found["id-T001"]:
        assert (entry.content["provider"], entry.content["model"]) == ("openai", "some-model")


def test_a_status_that_changes_without_a_word_brings_the_log_up_to_date() -> None:
    before = executing(task("T001", TaskState.BLOCKED, blocked="waits for T002"))
    after = before.copied()
    after.tasks[0].become(TaskState.PENDING)
    assert task_log_entries.log_entries(before, happened(), after) == {"id-T001": []}


@pytest.mark.covers("R-ENTITY-LogEvent", "R-ENUM-LogEventType", "R-LOG-TASK-5", "R-PROPERTY-26")
def test_the_whole_of_a_task_is_what_was_told_step_by_step() -> None:
    ready = executing(task("T001", TaskState.READY))
    now = ready.copied()
    now.tasks[0] = running("T001")
    steps = task_log_entries.log_entries(awaiting_approval(), happened("a"), ready)["id-T001"]
    steps += task_log_entries.log_entries(ready, happened("b"), now)["id-T001"]
    finished = now.copied()
    finished.tasks[0] = done()
    steps += task_log_entries.log_entries(now, happened("c"), finished)["id-T001"]
    whole = task_log_entries.known_entries(finished, finished.tasks[0])
    assert {entry.id for entry in whole} == {entry.id for entry in steps}
    assert types(whole)[-1] == "TASK_COMPLETED"


def test_a_log_misses_only_what_it_does_not_hold() -> None:
    session = executing(done())
    whole = task_log_entries.known_entries(session, session.tasks[0])
    log = task_log_views.task_log(session, session.tasks[0], whole[:2])
    assert task_log_entries.missing_entries(session, session.tasks[0], log, whole[2:3]) == whole[2:]
    full = task_log_views.task_log(session, session.tasks[0], whole)
    assert task_log_entries.missing_entries(session, session.tasks[0], full, whole) == []


def test_what_went_for_want_of_room_is_not_brought_back() -> None:
    session = executing(done())
    whole = task_log_entries.known_entries(session, session.tasks[0])
    log = task_log_views.task_log(session, session.tasks[0], whole[-1:], dropped=len(whole) - 1)
    assert task_log_entries.missing_entries(session, session.tasks[0], log, []) == []


@pytest.mark.covers("R-ENTITY-TaskLog")
def test_every_task_that_should_have_a_log_can_be_counted() -> None:
    session = executing(done("T001"), task("T002"), running("T003"))
    logs = [task_log_views.task_log(session, one) for one in session.tasks]
    assert task_log_views.tasks_without_log(session, logs) == ()
    assert task_log_views.tasks_without_log(session, logs[:1]) == ("T002", "T003")


@pytest.mark.covers(
    "R-ENTITY-EvidenceSummary",
    "R-ENTITY-VerifiedFile",
    "R-ENTITY-ArtifactList",
    "R-LOG-TASK-6",
    "R-PROPERTY-33",
)
def test_the_head_of_a_log_is_drawn_from_the_task() -> None:
    session = executing(done(files=("a.py", "b.py"), parent="id-old"))
    log = task_log_views.task_log(session, session.tasks[0])
    assert log.verification_root == "/srv/shop/.worktrees/agent-t001"
    assert log.artifacts.files_touched == ("a.py",)
    assert log.evidence_summary
    assert log.evidence_summary.files_verified == ("a.py",)
    assert log.evidence_summary.files_missing == ("b.py",)
    assert (log.run_id, log.parent_task_id) == ("T001-r1", "id-old")
    assert (log.runner_decision, log.masked) == ("accept", True)


# Bounds

LEAF = st.none() | st.booleans() | st.integers(0, 2**40) | st.text(max_size=4000)
JSON = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=30), inner, max_size=20)
    ),
    max_leaves=40,
)
CONTENT: st.SearchStrategy[dict[str, JsonValue]] = st.dictionaries(
    st.text(max_size=30), JSON, max_size=8
)


def entry(id: str, content: dict[str, JsonValue], *, full: bool = False, at: int = 0) -> LogEntry:
    return LogEntry(
        id=id,
        event_type=LogEventType.EXECUTOR_OUTPUT,
        timestamp=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=at),
        visibility_level=Visibility.FULL if full else Visibility.SUMMARY,
        content=content,
    )


@pytest.mark.covers("R-ENTITY-LogEvent")
@given(CONTENT, st.integers(400, 6000))
def test_an_entry_never_outgrows_its_limit_and_says_that_it_was_cut(
    content: dict[str, JsonValue], limit: int
) -> None:
    long = entry("e", content)
    cut = task_logs.truncated_entry(long, limit)
    assert task_logs.entry_size(cut) <= limit
    assert (cut == long) == (task_logs.entry_size(long) <= limit)
    assert cut == long or TRUNCATED in cut.model_dump_json()
    assert task_logs.truncated_entry(cut, limit) == cut


@pytest.mark.parametrize("text", ["x" * 3_000_000, "日本" * 900_000, '\u0001"\\' * 900_000])
def test_a_text_of_megabytes_keeps_its_beginning(text: str) -> None:
    cut = task_logs.truncated_entry(entry("e", {"a": 1, "text": text}), 1_000_000)
    assert task_logs.entry_size(cut) <= 1_000_000
    shown = cut.content["text"]
    assert isinstance(shown, str)
    assert shown.endswith(TRUNCATED)
    assert text.startswith(shown.removesuffix(TRUNCATED))
    assert task_logs.entry_size(cut) > 800_000


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 900)), max_size=30), st.integers(500, 20_000)
)
def test_what_has_no_room_goes_details_first_and_oldest_first(
    shapes: list[tuple[bool, int]], limit: int
) -> None:
    log = [entry("input", {})]
    log += [
        entry(f"e{at}", {"text": "x" * length}, full=full, at=at)
        for at, (full, length) in enumerate(shapes, 1)
    ]
    kept, gone = task_logs.entries_within(log, limit)
    assert gone == len(log) - len(kept)
    assert sum(task_logs.entry_size(one) for one in kept) <= limit
    assert kept[0] == log[0]
    dropped = [one for one in log if one not in kept]
    for level in Visibility:
        of_level = [one for one in log[1:] if one.visibility_level is level]
        assert [one in dropped for one in of_level] == sorted(
            (one in dropped for one in of_level), reverse=True
        )
    if any(one.visibility_level is Visibility.SUMMARY for one in dropped):
        assert not any(one.visibility_level is Visibility.FULL for one in kept)


def test_a_log_that_fits_is_left_as_it_is() -> None:
    log = tuple(entry(f"e{n}", {"n": n}) for n in range(5))
    assert task_logs.entries_within(log, 10_000_000) == (log, 0)


def test_a_log_made_slim_keeps_how_it_began_and_how_it_ended() -> None:
    session = executing(done(checks=[check(n, 1) for n in range(1, 9)] + [check(9, 0)]))
    whole = task_log_entries.known_entries(session, session.tasks[0])
    slim = task_log_views.minimal_log(task_log_views.task_log(session, session.tasks[0], whole))
    assert types(slim.events) == ["USER_INPUT", "TASK_COMPLETED"]
    assert slim.dropped == len(whole) - 2
    assert slim.summary.total_events == len(whole)


@pytest.mark.covers("R-LOG-TASK-3")
def test_heads_are_cut_only_once_they_are_masked() -> None:
    session = executing(task("T001", TaskState.BLOCKED, blocked="b" * 9000))
    session.intent = session.intent.model_copy(update={"body": "w" * 300})
    log = task_log_views.task_log(session, session.tasks[0])
    assert len(log.prompt_summary) == 300
    short = task_log_views.shortened_log(log)
    assert (len(short.prompt_summary), len(short.error_reason or "")) == (100, 4000)


# How they are told


def logs() -> tuple[TaskLog, ...]:
    session = executing(done("T001"), running("T002"))
    return tuple(
        task_log_views.task_log(session, one, task_log_entries.known_entries(session, one))
        for one in session.tasks
    )


def shown(task: str = "", level: str = "") -> str:
    return markdown(Sheet(title="Logs", body=task_log_views.log_blocks(logs(), task, level)))


def rows(task: str, level: str = "") -> list[str]:
    tables = [
        one for one in task_log_views.log_blocks(logs(), task, level) if isinstance(one, Table)
    ]
    return [row[1] for table in tables for row in table.rows]


@pytest.mark.covers("R-ENUM-TaskLogStatus")
def test_without_a_task_all_logs_are_listed() -> None:
    [table, _] = task_log_views.log_blocks(logs())
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["T001", "T002"]
    assert [row[2] for row in table.rows] == ["complete", "running"]


@pytest.mark.covers("R-ENUM-VisibilityLevel", "R-PROPERTY-25")
def test_the_summary_leaves_details_out_and_the_full_log_has_them() -> None:
    assert "EXECUTOR_DISPATCH" not in rows("T001")
    assert {"USER_INPUT", "TEST_EXECUTION", "TASK_COMPLETED"} <= set(rows("T001"))
    assert {"EXECUTOR_DISPATCH", "FILE_OPERATION", "USER_INPUT"} <= set(rows("T001", "full"))


@pytest.mark.covers("R-LOG-TASK-8")
@pytest.mark.parametrize("level", ["", "verbose", "summary", "Ful", "1"])
def test_an_unknown_level_is_the_summary(level: str) -> None:
    assert rows("T001", level) == rows("T001")


@pytest.mark.covers("R-LOG-INDEX-2", "R-PROPERTY-30")
@pytest.mark.parametrize("name", ["T001", "t001", "id-T001", "task-001"])
def test_either_id_finds_the_log(name: str) -> None:
    assert "TASK_COMPLETED" in rows(name)


def test_a_task_that_has_no_log_is_answered_with_those_that_have() -> None:
    assert "no log of T009" in shown("T009")
    assert "T001, T002" in shown("T009")
    assert task_log_views.log_blocks(()) == (Text(text="There is nothing to show yet."),)


def test_a_long_log_shows_its_end_and_says_what_it_leaves_out() -> None:
    session = executing(done(checks=[check(n, 1) for n in range(1, 200)]))
    log = task_log_views.task_log(
        session, session.tasks[0], task_log_entries.known_entries(session, session.tasks[0])
    )
    elements = task_log_views.log_blocks([log], "T001")
    assert isinstance(elements[1], Text)
    assert "earlier events not shown" in elements[1].text
    assert len(markdown(Sheet(title="Logs", body=elements))) < 12_000


def test_a_command_is_no_answer_to_a_task() -> None:
    session = executing(running("T001"))
    event = commanded(Word.LOGS, "T001")
    assert isinstance(event, EventBase)
    assert task_log_entries.log_entries(session, event, session.copied()) == {}


def test_a_stop_is_told_by_who_stopped_it() -> None:
    before = executing(running("T001"))
    after = before.copied()
    event = pressed(Verb.STOP)
    decide(after, event)
    found = task_log_entries.log_entries(before, event, after)["id-T001"]
    assert types(found) == ["USER_RESPONSE", "EXECUTOR_OUTPUT"]
    assert found[0].content["by"] == "Ann"
    assert found[1].content["outcome"] == "killed"
    assert after.tasks[0].run
    assert after.tasks[0].run.state is RunState.ENDED


@pytest.mark.covers("R-LOG-INDEX-1", "R-LOG-VERIFIED-4")
def test_the_index_counts_only_files_that_exist() -> None:
    session = executing(verifying("T001"))
    one = session.tasks[0]
    one.verified_files = tuple(
        VerifiedFile(path=path, exists=there, detected_at=later())
        for path, there in (("a.py", True), ("b.py", True), ("gone.py", False))
    )
    log = task_log_views.task_log(session, one, [])
    assert task_log_views.index_entry(session, one, log, "task-001", "f").files_modified_count == 2
