"""Older forms of a saved session, brought to today's form step by step.

A migration that was released is never changed. Whoever adds, renames or moves a saved field makes `SCHEMA` one more and writes the
migration that leads there: then an older version of the program leaves the file alone, instead of taking it for broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.session import SCHEMA

SavedRow = dict[str, Any]
Names = Mapping[str, str]
"""Maps the old name of a field to the new one."""
_TASK_PATH = re.compile(r"/session/tasks/[0-9]+")


def _unchanged(row: SavedRow) -> SavedRow:
    return row


def _without_steps(task: SavedRow) -> SavedRow:
    return {name: value for name, value in task.items() if name != "steps"}


# form 5: what a session remembers for a step moved to a part of its own


def _names(words: str) -> Names:
    """Parse `old=new` pairs; a single word is a name that stays."""
    pairs = (word.partition("=") for word in words.split())
    return {old: new or old for old, _, new in pairs}


_SESSION_PARTS: Mapping[str, Names] = {
    "request": _names(
        "request_id=event_id vague asked=questions_asked dry_run spec_only unattended "
        "parts earlier going=destination"
    ),
    "repository": _names(
        "repository=path base_branch base_commit base_uncommitted=uncommitted upstream "
        "scan warnings brought=agent_settings set_up set_up_said=set_up_by_person "
        "touched=touched_files"
    ),
    "agents": _names(
        "agent=default agent_flags=flags other_agents=others let_agents=allowed sandboxed "
        "runs_as standing_answers limits most_at_once"
    ),
    "tests": _names(
        "test_command=command tests_from=source test_problem=problem base_check "
        "tests_accepted=accepted tests_refused=refused tests_changed=times_set"
    ),
    "plan": _names(
        "spec documents previous=previous_documents seen=shown_documents "
        "seen_tasks=shown_tasks documents_shown_at=shown_at change_request changes "
        "analysis analysed score repairs forecast difference parallelism"
    ),
    "approval": _names(
        "alone=automatic approvers=required others_approve=others_only approvals=given "
        "approval=granted recheck=checking_base"
    ),
    "talk": _names(
        "words=waiting overheard spoken=last_spoken feedback verbosity summarised=summaries"
    ),
    "execution": _names("step=choice preferred collisions"),
    "queue": _names(
        "wants_place_since=since has_place queue_position=position queue_waiting=waiting"
    ),
    "pulls": _names("hosted=host pulls_problem=problem pulls_problems=problems"),
    "ending": _names(
        "ending=choice ending_by=chosen_by final_verdict=verdict proposed "
        "continues=rounds merged_commit ending_problem=problem leftovers cleaned "
        "inventory=evidence unlogged=missing_logs result summary"
    ),
    "control": _names(
        "stops stopped_by stopped_runs away=repository_missing troubles outages failure"
    ),
    "llm": _names("context_window token_scale prompts_cut"),
}
_TASK_PARTS: Mapping[str, Names] = {
    "next_run": _names("next_why=why next_feedback=feedback told=instructions to_merge not_before"),
}
_TASK_FIELDS = _names(
    "step=choice past=past_choices left=former_workspaces work_of=work_run "
    "checked_of=checked_run judged_of=judged_run tests_found=found_command "
    "tests_problem=found_problem holds=times_asked held=hold taking_in=base_to_merge "
    "tries=pull_tries problem=pull_problem waited=idle_seconds waits_since=idle_since "
)


def _in_parts(row: SavedRow, parts: Mapping[str, Names], renamed: Names | None = None) -> SavedRow:
    renamed = renamed or {}
    moved = {old for names in parts.values() for old in names}
    kept = {renamed.get(name, name): value for name, value in row.items() if name not in moved}
    for part, names in parts.items():
        kept[part] = {new: row[old] for old, new in names.items() if old in row}
    return kept


@dataclass(frozen=True)
class Migration:
    """How the fields of a session and of a task change from one form to the next."""

    session: Callable[[SavedRow], SavedRow] = _unchanged
    task: Callable[[SavedRow], SavedRow] = _unchanged
    session_parts: tuple[str, ...] = ()
    """Fields that have rows of their own in a journal from this form on."""
    task_parts: tuple[str, ...] = ()


Migrations = Mapping[int, Migration]
MIGRATIONS: Migrations = {
    2: Migration(),  # adds why a session's repository is missing; by default it is not missing
    3: Migration(),  # adds provider and duration to the usage, and whether a message has waited; the defaults are right
    4: Migration(
        task=_without_steps
    ),  # drops the steps of a task, which were never filled: its description says what to do
    5: Migration(
        session=lambda row: _in_parts(row, _SESSION_PARTS),
        task=lambda row: _in_parts(row, _TASK_PARTS, _TASK_FIELDS),
        session_parts=tuple(_SESSION_PARTS),
        task_parts=tuple(_TASK_PARTS),
    ),
}
"""By the schema version they produce."""


def migrate_rows(
    rows: Mapping[str, SavedRow], form: int, steps: Migrations = MIGRATIONS
) -> dict[str, SavedRow]:
    """Migrate the rows of a record's journal."""
    found = dict(rows)
    for number in range(form + 1, SCHEMA + 1):
        step = steps[number]
        for path, row in [*found.items()]:
            if path == "/session":
                migrated, parts = step.session(dict(row)), step.session_parts
                migrated["schema_version"] = number
            elif _TASK_PATH.fullmatch(path):
                migrated, parts = step.task(dict(row)), step.task_parts
            else:
                continue
            for name in parts:
                found[f"{path}/{name}"] = migrated.pop(name)
            found[path] = migrated
    return found


def migrate_session(saved: SavedRow, form: int, steps: Migrations = MIGRATIONS) -> SavedRow:
    """Migrate a whole session, including its tasks."""
    for number in range(form + 1, SCHEMA + 1):
        step = steps[number]
        tasks = [step.task(dict(task)) for task in saved.get("tasks", ())]
        saved = {**step.session(dict(saved)), "tasks": tasks, "schema_version": number}
    return saved
