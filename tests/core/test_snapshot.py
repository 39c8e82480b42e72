"""A session as a file: gwt's own example comes back whole, and so does every session of ours."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter, ValidationError

from bot.core.session import SCHEMA, Session
from bot.core.snapshot import GWT_SESSION_FIELDS, GWT_TASK_FIELDS, NewerSchemaError, export, restore
from bot.core.states import Outcome, Phase, RunState, Status, TaskState
from bot.core.task import Task
from tests.adapters.store.anything import THOROUGH, any_of, left_out
from tests.adapters.store.samples import busy, check, everything
from tests.steps.scenes import executing, running

EXAMPLE = """
{
  "id": "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
  "created_at": "2026-02-07T10:30:00Z",
  "updated_at": "2026-02-07T11:45:00Z",
  "status": "Active",
  "repository_path": "/path/to/repo",
  "base_branch": "feature/my-feature",
  "spec_id": "SPEC-ba3f610c",
  "queue_position": null,
  "llm_call_count": 15,
  "estimated_tokens": 24500,
  "conversation": {
    "messages": [
      {
        "role": "User",
        "content": "Add authentication feature",
        "timestamp": "2026-02-07T10:30:00Z"
      },
      {
        "role": "Assistant",
        "content": "I'll break this into the following tasks...",
        "timestamp": "2026-02-07T10:30:05Z"
      }
    ]
  },
  "tasks": [
    {
      "id": "task-001",
      "name": "Implement JWT authentication",
      "description": "...",
      "status": "Completed",
      "dependencies": [],
      "worktree_strategy": "New",
      "assigned_worktree": {
        "branch_name": "agent/jwt-auth",
        "path": "/path/to/.worktrees/agent-jwt-auth",
        "created_at": "2026-02-07T10:31:00Z",
        "task_ids": ["task-001"]
      },
      "sub_agent": {
        "id": "agent-001",
        "agent_type": "ClaudeCode",
        "pane_id": "%5",
        "pid": 12345,
        "status": "Completed",
        "started_at": "2026-02-07T10:31:30Z",
        "completed_at": "2026-02-07T11:00:00Z",
        "completion_source": "Hook",
        "auto_mode_flag": "--dangerously-skip-permissions"
      },
      "created_at": "2026-02-07T10:30:05Z",
      "started_at": "2026-02-07T10:31:30Z",
      "completed_at": "2026-02-07T11:00:00Z",
      "test_status": {
        "status": "Passed",
        "test_command": "cargo test",
        "attempt": 1,
        "last_output": null
      },
      "retry_count": 0,
      "pull_request": {
        "number": 123,
        "url": "https://github.com/owner/repo/pull/123"
      },
      "result": {
        "success": true,
        "summary": "JWT authentication implemented",
        "error": null
      }
    }
  ],
  "worktrees": [
    {
      "branch_name": "agent/jwt-auth",
      "path": "/path/to/.worktrees/agent-jwt-auth",
      "created_at": "2026-02-07T10:31:00Z",
      "task_ids": ["task-001"]
    }
  ]
}
"""

_JSON = TypeAdapter(dict[str, Any])


def written(session: Session) -> bytes:
    return _JSON.dump_json(export(session))


def example(**changes: object) -> bytes:
    return json.dumps(json.loads(EXAMPLE) | changes).encode()


def example_task(**changes: object) -> bytes:
    values = json.loads(EXAMPLE)
    values["tasks"][0] |= changes
    return json.dumps(values).encode()


def named(session: Session) -> Session:
    """Of this version, and with ids that are no empty strings."""
    session.schema_version = SCHEMA
    session.id = session.id or "s"
    for task in session.tasks:
        task.id = task.id or "t"
    return session


def differences(wanted: object, got: object, place: str = "") -> list[str]:
    """Where something of `wanted` is missing or different; what stands beside it does not matter."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        inner = cast(dict[str, object], wanted)
        beside = cast(dict[str, object], got)
        parts = [
            differences(value, beside.get(key, "nothing"), f"{place}.{key}")
            for key, value in inner.items()
        ]
        return [found for part in parts for found in part]
    if isinstance(wanted, list) and isinstance(got, list):
        return differences(
            numbered(cast(list[object], wanted)), numbered(cast(list[object], got)), place
        )
    return [] if wanted == got else [f"{place}: {got!r} instead of {wanted!r}"]


def numbered(items: list[object]) -> dict[str, object]:
    return {"length": len(items), **{str(number): item for number, item in enumerate(items)}}


@pytest.mark.covers(
    "G-DATA-Session",
    "G-DATA-Task",
    "G-DATA-TestVerification",
    "G-DATA-Conversation",
    "G-DATA-Message",
    "G-DATA-WorktreeRef",
    "G-ENUM-MessageRole",
    "G-FILE-2",
)
def test_gwts_example_comes_back_with_no_field_lost() -> None:
    session = restore(EXAMPLE.encode())
    assert differences(json.loads(EXAMPLE), json.loads(written(session))) == []


def test_gwts_keys_stand_first_and_in_its_order() -> None:
    wanted = json.loads(EXAMPLE)
    got = json.loads(written(restore(EXAMPLE.encode())))
    assert list(got)[: len(wanted)] == list(wanted)
    assert list(got["tasks"][0])[: len(wanted["tasks"][0])] == list(wanted["tasks"][0])


@pytest.mark.covers("G-VALID-4")
def test_the_example_is_understood() -> None:
    session = restore(EXAMPLE.encode())
    (task,) = session.tasks
    assert (session.phase, session.repository.path, session.tests.command) == (
        Phase.EXECUTING,
        "/path/to/repo",
        "cargo test",
    )
    assert session.intent.body == session.title == "Add authentication feature"
    assert session.plan.spec
    assert session.plan.spec.id == "SPEC-ba3f610c"
    assert (task.id, task.key, task.state) == ("task-001", "T001", TaskState.COMPLETED)
    assert task.run
    assert (task.run.agent, task.run.state, task.run.outcome) == (
        "claude",
        RunState.ENDED,
        Outcome.FINISHED,
    )
    assert task.check
    assert task.check.passed


@pytest.mark.covers(
    "G-US7.4",
    "G-ENTITY-1",
    "G-ENTITY-2",
    "G-ENTITY-4",
    "G-DATA-Session",
    "G-DATA-Task",
    "G-ENUM-CompletionSource",
    "G-FILE-2",
    "B-REL-1",
    "B-FLOW-RUN-11",
    "B-STORE-2",
    "B-WHY-2",
)
@settings(THOROUGH, max_examples=40)
@given(any_of(Session).map(named))
def test_every_session_comes_back_as_it_was(session: Session) -> None:
    assert restore(written(session)) == session


def test_a_session_with_something_in_every_field_comes_back_as_it_was() -> None:
    session = everything().session
    assert list(left_out(session)) == [".schema_version"]
    assert restore(written(session)) == session


def test_what_gwt_has_no_key_for_stands_under_our_own_name() -> None:
    session = everything().session
    wanted, saved = session.model_dump(mode="json"), json.loads(written(session))
    for name, value in session.model_dump(mode="json", exclude=GWT_SESSION_FIELDS).items():
        assert saved[name] == value
    for name in Task.model_fields.keys() - GWT_TASK_FIELDS:
        assert saved["tasks"][0][name] == wanted["tasks"][0][name]


@pytest.mark.covers(
    "G-ENUM-SessionStatus",
    "G-ENUM-TaskStatus",
    "G-ENUM-WorktreeStrategy",
    "G-ENUM-TestStatus",
    "G-ENUM-SubAgentType",
    "G-ENUM-SubAgentStatus",
    "B-AGENT",
)
@settings(THOROUGH, max_examples=20)
@given(any_of(Session).map(named))
def test_only_gwts_spellings_stand_under_gwts_keys(session: Session) -> None:
    saved = export(session)
    assert saved["status"] in {"Active", "Paused", "Completed", "Failed"}
    for task in json.loads(_JSON.dump_json(saved))["tasks"]:
        assert task["status"] in {"Pending", "Ready", "Running", "Completed", "Failed", "Cancelled"}
        assert task["worktree_strategy"] in {"New", "Shared"}
        if agent := task["sub_agent"]:
            assert agent["agent_type"] in {"ClaudeCode", "Codex", "Gemini", "OpenCode", "Other"}
            assert agent["status"] in {"Starting", "Running", "WaitingInput", "Completed", "Error"}
        if test := task["test_status"]:
            assert test["status"] in {"Pending", "Running", "Passed", "Failed"}


@pytest.mark.covers("G-ENUM-SubAgentType")
@pytest.mark.parametrize(
    ("agent", "kind"),
    [
        ("claude", "ClaudeCode"),
        ("claude-print", "ClaudeCode"),
        ("codex", "Codex"),
        ("mine", "Other"),
    ],
)
def test_an_agent_is_of_the_kind_gwt_knows_and_keeps_its_own_name(agent: str, kind: str) -> None:
    at_work = running("T001")
    assert at_work.run
    at_work.update_run(at_work.run.model_copy(update={"agent": agent}))
    saved = _JSON.dump_json(export(executing(at_work)))
    assert json.loads(saved)["tasks"][0]["sub_agent"]["agent_type"] == kind
    [back] = restore(saved).tasks
    assert back.run
    assert back.run.agent == agent


@pytest.mark.covers("G-ENUM-TaskStatus", "B-STATE-RUNNING")
@pytest.mark.parametrize(
    ("state", "projected"),
    [
        (TaskState.VERIFYING, "Running"),
        (TaskState.INTEGRATING, "Running"),
        (TaskState.NEEDS_CONTINUATION, "Running"),
        (TaskState.BLOCKED, "Failed"),
        (TaskState.REPLACED, "Cancelled"),
        (TaskState.READY, "Ready"),
    ],
)
def test_a_state_gwt_does_not_know_stands_beside_its_projection(
    state: TaskState, projected: str
) -> None:
    session = busy().session
    session.tasks[0].state = state
    saved = json.loads(written(session))["tasks"][0]
    assert (saved["status"], saved["state"]) == (projected, state.value)


@pytest.mark.covers("G-ENUM-SessionStatus")
@pytest.mark.parametrize(
    ("status", "projected"),
    [(Status.QUEUED, "Active"), (Status.DISCARDED, "Failed"), (Status.PAUSED, "Paused")],
)
def test_a_status_gwt_does_not_know_stands_beside_its_projection(
    status: Status, projected: str
) -> None:
    session = busy().session
    session.status = status
    saved = json.loads(written(session))
    assert (saved["status"], saved["state"]) == (projected, status.value)


@pytest.mark.covers("G-ENTITY-3", "G-DATA-SubAgent", "B-REL-2", "B-REL-3", "B-STORE-3")
def test_the_last_run_is_the_sub_agent() -> None:
    session = busy().session
    saved = json.loads(written(session))["tasks"][0]
    assert saved["sub_agent"]["id"] == "r-2"
    assert [run["id"] for run in saved["runs"]] == ["r-1", "r-2"]


@pytest.mark.covers("G-DATA-TestVerification", "G-ENUM-TestStatus")
def test_a_task_that_is_being_checked_says_so() -> None:
    session = busy().session
    session.tests.command = "pytest -q"
    session.tasks[0].checks = [check(1)]
    session.tasks[0].state = TaskState.VERIFYING
    test = json.loads(written(session))["tasks"][0]["test_status"]
    assert test == {
        "status": "Running",
        "test_command": "pytest -q",
        "attempt": 2,
        "last_output": None,
    }


@pytest.mark.covers("G-ENUM-TaskStatus")
@pytest.mark.parametrize(
    "status", ["Pending", "Ready", "Running", "Completed", "Failed", "Cancelled"]
)
def test_every_task_status_of_gwt_is_read(status: str) -> None:
    assert restore(example_task(status=status)).tasks[0].state == status


@pytest.mark.covers("G-ENUM-SessionStatus")
@pytest.mark.parametrize("status", ["Active", "Paused", "Completed", "Failed"])
def test_every_session_status_of_gwt_is_read(status: str) -> None:
    assert restore(example(status=status)).status == status


def test_a_young_session_of_gwt_is_read() -> None:
    session = restore(example(tasks=[], worktrees=[], spec_id=None, conversation={"messages": []}))
    assert (session.phase, session.tasks, session.plan.spec) == (Phase.INTAKE, [], None)


def test_a_task_without_an_agent_or_a_worktree_is_read() -> None:
    nothing = dict.fromkeys(
        ["assigned_worktree", "sub_agent", "test_status", "pull_request", "result"]
    )
    task = restore(example_task(**nothing, status="Pending")).tasks[0]
    assert (task.workspace, task.run, task.check, task.pull_request, task.result) == (None,) * 5


@pytest.mark.parametrize("form", [0, -3])
def test_a_form_that_never_was_is_broken(form: int) -> None:
    with pytest.raises(ValidationError):
        restore(example(schema_version=form))


def test_a_newer_form_is_not_touched() -> None:
    with pytest.raises(NewerSchemaError, match="newer version"):
        restore(example(schema_version=SCHEMA + 1, status={"new": "shape"}))


@pytest.mark.covers("G-VALID-2")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"[" * 200_000,
        b'{"id": 5',
        b"\xff\xfe",
        b'{"id": "\\ud800"}',
        example(id=""),
        example(tasks=5),
        example(status="Sleeping"),
        example(created_at="yesterday"),
        example_task(status="Sleeping"),
        example_task(id=""),
    ],
)
def test_what_is_no_session_is_refused(data: bytes) -> None:
    with pytest.raises(ValidationError):
        restore(data)
