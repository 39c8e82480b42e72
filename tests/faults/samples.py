"""Good input of every kind, from which the broken is made."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adapters.demo.texts import REQUEST
from adapters.registry import documents
from adapters.slack.blocks.forms import FormPurpose
from adapters.slack.blocks.kit import ButtonValue
from adapters.store import JournalStore
from bot.core.choices import Verb
from bot.core.people import Thread
from bot.core.projections.records import History, HistoryOutcome, StepResult
from tests.adapters.store.samples import busy, record


def _json(*told: dict[str, Any]) -> tuple[bytes, ...]:
    return tuple(json.dumps(one).encode() for one in told)


def _lines(*told: dict[str, Any]) -> bytes:
    return b"\n".join(_json(*told))


def journals() -> tuple[bytes, ...]:
    """One that was written at once, and one that has grown."""
    with TemporaryDirectory() as folder:
        store = JournalStore(Path(folder), export_delay=3600)
        store.save(record("one"))
        store.save(record("two"))
        store.save(busy("two"))
        found = sorted((Path(folder) / "sessions" / "unfinished").glob("*.journal"))
        made = tuple(path.read_bytes() for path in found)
        store.close()
    return made


def journal_lines() -> list[bytes]:
    """Without their checksums."""
    return [line.partition(b" ")[2] for line in journals()[0].splitlines()]


def document(name: str) -> tuple[bytes, ...]:
    files = resources.files("adapters.demo.files")
    return ((files / f"{name}.md.txt").read_bytes(),)


TASKS = (
    b"""# Tasks

## Phase 1

- [ ] T001 [P] [US1] Discount codes in basket/discount.py (FR-001)
  - Acceptance: a code lowers the total
- [ ] T002 [US2] Receipts (after T001)

## Dependencies

- T002 depends on T001
""",
)
INTENTS = (
    b"""# Wanted by the shop team.
title: 'A'  # ask Anna
body: |
  x
  y
type: fix
risk: low
status: approved
created_at: 2025-02-22T10:00:00Z
clarifications:
  - question: Q
    answer: null
""",
)
DRAFTS = (b"---\ntype: fix\nrisk: low\n---\n# A\n\ntext\n",)
OBSERVATIONS = (b"- content: A\n  evidence:\n    - type: file\n      ref: a.py\n  source: audit\n",)
HISTORY = History(
    intent_id="a",
    intent_type="fix",
    intent_risk="low",
    title="A",
    flow=("intake",),
    step_results=(StepResult(step="T001", result="Completed"),),
    outcome=HistoryOutcome.SUCCESS,
    created_at=datetime(2026, 2, 7, 12, tzinfo=UTC),
)
HISTORIES = (documents.new_history(HISTORY),)
LLM_ANSWERS = _json(
    {
        "model": "m",
        "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    },
    {"error": {"message": "no", "code": "context_length_exceeded", "type": "x"}},
    {
        "choices": [
            {
                "message": {
                    "content": None,
                    "tool_calls": [{"function": {"name": "read", "arguments": '{"path": "a"}'}}],
                    "function_call": {"name": "read", "arguments": {}},
                },
                "finish_reason": "tool_calls",
            }
        ]
    },
)
LLM_STREAMS = (
    (
        b'data: {"model": "m", "choices": [{"index": 0, "delta": {"content": "{}"}, "finish_reason": "stop"}]}\n\n'
        b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}\n\ndata: [DONE]\n\n'
    ),
    (
        b': queued\r\n\r\ndata: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "read", '
        b'"arguments": "{"}}]}}]}\r\n\r\nevent: error\ndata: {"error": {"message": "no"}}\n\n'
    ),
)
REPLIES = (
    *_json(
        {"kind": "change", "reply": "yes", "affected": [{"task": "T001", "how": "anew"}]},
        {"outcome": "continue", "reasons": ["a"], "missing": ["b"], "score": 0.5, "feedback": "c"},
        {"title": "feat: x", "body": "y", "summary": "z", "text": "t", "step": "retry"},
        {
            "tasks": [
                {"key": "T001", "name": "a", "description": "b", "depends_on": [], "files": []}
            ]
        },
    ),
    b'```json\n{"kind": "talk"}\n```',
)
CLAUDE = (
    _lines({"type": "result", "result": "{}", "is_error": False, "usage": {"input_tokens": 1}}),
)
CODEX = (
    _lines(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "{}"}},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}},
    ),
)
HOOKS = _json(
    {
        "hook_event_name": "Stop",
        "last_assistant_message": "done",
        "session_crons": [],
        "background_tasks": [{"id": "1", "status": "done"}],
    },
    {"hook_event_name": "StopFailure", "error": "overloaded", "error_details": "x"},
)
REPORTS = _json(
    {
        "conversation": "c",
        "message": "m",
        "error": "",
        "usage": {"input_tokens": 1, "output_tokens": 2, "cost": 0.5},
    }
)
EVENTS = (
    _lines(
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m"},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "hi"}]}},
        {
            "type": "assistant",
            "message": {
                "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]
            },
        },
        {"type": "user", "message": {"content": [{"is_error": True, "content": "no"}]}},
        {"type": "result", "result": "ok", "is_error": False, "usage": {"input_tokens": 1}},
    ),
    _lines(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": {"type": "command_execution", "command": "ls"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "hi"}},
        {"type": "turn.failed", "error": {"message": '{"error": {"message": "no"}}'}},
    ),
    _lines(
        {"type": "message", "role": "assistant", "content": "hi", "delta": True},
        {"type": "tool_use", "tool_name": "shell", "parameters": {"command": "ls"}},
        {"type": "result", "status": "success", "stats": {"input_tokens": 1, "output_tokens": 2}},
    ),
    _lines(
        {"type": "text", "sessionID": "s", "part": {"text": "hi"}},
        {"type": "step_finish", "part": {"tokens": {"input": 1, "output": 2}, "cost": 0.1}},
        {"type": "error", "error": {"name": "x", "data": {"message": "no"}}},
    ),
)
LIMITS = (
    b"Claude AI usage limit reached|1763500000",
    "You’ve hit your usage limit · resets at Nov 20, 3:30 pm (Europe/Berlin)".encode(),
    b"You've hit your usage limit. Please try again in 2 days 3 hours 5 minutes.",
    b"quota exceeded, resets in 3h20m; Access resets at 3:30 PM GMT+2",
)
_MESSAGE: dict[str, Any] = {
    "type": "app_mention",
    "user": "U1",
    "channel": "C1",
    "ts": "1763467200.000200",
    "thread_ts": "1763467100.000100",
    "text": f"<@UBOT> {REQUEST} &amp; <https://x.y|z>",
    "files": [{"id": "F1", "name": "a.txt", "size": 3, "url_private": "https://x"}],
}
PRESS = ButtonValue(verb=Verb.APPROVE, about="1", key="approval:1", asks=False)
BUTTONS = (PRESS.value.encode(),)
PURPOSES = (
    FormPurpose(
        thread=Thread(platform="slack", workspace="T1", channel="C1", root="1.2"),
        verb=Verb.CHANGE,
        about="1",
    ).json_text.encode(),
)
_ACTOR: dict[str, Any] = {
    "user": {"id": "U1", "team_id": "T1"},
    "team": {"id": "T1"},
    "channel": {"id": "C1"},
    "trigger_id": "t",
}
SLACK = _json(
    {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": _MESSAGE},
    {
        "type": "event_callback",
        "team_id": "T1",
        "authorizations": [{"team_id": "T1", "user_id": "UBOT"}],
        "event": {**_MESSAGE, "type": "message", "subtype": "file_share"},
    },
    {
        **_ACTOR,
        "type": "block_actions",
        "message": {"ts": "1.2", "thread_ts": "1.1", "metadata": {"event_payload": {"card": "x"}}},
        "container": {"message_ts": "1.2", "channel_id": "C1", "thread_ts": "1.1"},
        "actions": [{"type": "button", "action_id": "a", "value": PRESS.value, "action_ts": "1.3"}],
    },
    {
        **_ACTOR,
        "type": "view_submission",
        "view": {
            "id": "V1",
            "private_metadata": PURPOSES[0].decode(),
            "callback_id": "form",
            "state": {"values": {"b": {"a": {"type": "plain_text_input", "value": "x"}}}},
        },
    },
    {**_ACTOR, "type": "message_action", "callback_id": "stop", "message": {"ts": "1.2"}},
    {"command": "/gwt", "text": "stop", "user_id": "U1", "team_id": "T1", "channel_id": "C1"},
    {
        "type": "event_callback",
        "team_id": "T1",
        "event": {"type": "app_home_opened", "user": "U1", "tab": "home", "event_ts": "1.2"},
    },
)
_RELATION: dict[str, Any] = {"rel_type": "m.thread", "event_id": "$r", "m.in_reply_to": {}}
_EVENTS: list[dict[str, Any]] = [
    {
        "type": "m.room.message",
        "event_id": "$1",
        "sender": "@a:b",
        "origin_server_ts": 1763467200000,
        "content": {
            "msgtype": "m.text",
            "body": "@gwt:here: build",
            "formatted_body": '<mx-reply>q</mx-reply><a href="https://matrix.to/#/@gwt:here">gwt</a>: b',
            "m.mentions": {"user_ids": ["@gwt:here"]},
            "m.relates_to": _RELATION,
        },
    },
    {
        "type": "m.room.message",
        "event_id": "$2",
        "sender": "@a:b",
        "origin_server_ts": 1,
        "content": {
            "msgtype": "m.file",
            "body": "a.txt",
            "url": "mxc://b/c",
            "info": {"size": 3, "mimetype": "text/plain"},
            "file": {"url": "mxc://b/c", "key": {"k": "x"}, "iv": "y", "hashes": {"sha256": "z"}},
        },
    },
    {
        "type": "m.reaction",
        "event_id": "$3",
        "sender": "@a:b",
        "origin_server_ts": 2,
        "content": {"m.relates_to": {"rel_type": "m.annotation", "event_id": "$1", "key": "x"}},
    },
    {
        "type": "m.room.redaction",
        "event_id": "$4",
        "sender": "@a:b",
        "redacts": "$1",
        "content": {"redacts": "$1"},
    },
]
MATRIX = _json(
    {
        "next_batch": "s1",
        "rooms": {
            "join": {"!r:b": {"timeline": {"events": _EVENTS, "limited": True, "prev_batch": "p"}}},
            "leave": {"!l:b": {"timeline": {"events": _EVENTS[:1]}}},
            "invite": {"!i:b": {"invite_state": {"events": _EVENTS[:1]}}},
        },
    }
)
_END: dict[str, Any] = {"ref": "agent/x", "sha": "a" * 40, "label": "acme:agent/x"}
GITHUB = _json(
    {
        "number": 1,
        "node_id": "n",
        "html_url": "https://x",
        "state": "open",
        "title": "t",
        "body": None,
        "head": _END,
        "base": _END,
        "draft": False,
        "merged_at": "2026-02-07T12:00:00Z",
    },
    {"merged": True, "sha": "a" * 40},
    {"id": 1, "node_id": "n", "user": {"login": "a", "id": 1, "type": "User"}, "body": "b"},
    {"name": "ci", "status": "completed", "conclusion": "failure", "output": {"title": "x"}},
    {"full_name": "acme/shop", "default_branch": "main", "permissions": {"push": True}},
)
DIFFS = (
    b"""diff --git a/tests/test_a.py b/tests/test_a.py
index 111..222 100644
--- a/tests/test_a.py
+++ b/tests/test_a.py
@@ -1,4 +1,3 @@
 def test_a():
-    assert total() == 3
+    assert True
diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
""",
)
SCREENS = (
    """╭──────────────────────────╮
│ Do you want to proceed?  │
│ ❯ 1. Yes                 │
│   2. No, and tell why    │
╰──────────────────────────╯
""".encode(),
    b"Overwrite the file? [y/N] ",
)
SETTINGS = (
    b"OPENAI_BASE_URL=http://127.0.0.1:9/v1\nOPENAI_MODEL=m\nPROGRESS_SECONDS=120\nON_RESTART=ask\n",
    b'SLACK_USERS="T1:U1,T1:U2"\nGWT_REPOSITORIES=web=/srv/web, api=/srv/api\n',
)
