"""docs/data-model.md is what the models make of it, and every field of the sources stands there once."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from pydantic import AwareDatetime

from bot.core.events import Event
from bot.core.session import Session
from tests.data_model import (
    PAGE,
    meanings,
    page,
    saved_enumerations,
    saved_models,
    type_in_words,
)

CELL_EDGE = re.compile(r"(?<!\\)\|")

SOURCES = {
    "G Session": "id created_at updated_at status conversation tasks worktrees repository_path"
    " base_branch spec_id queue_position llm_call_count estimated_tokens",
    "G Task": "id name description status dependencies worktree_strategy assigned_worktree sub_agent"
    " created_at started_at completed_at result test_status retry_count pull_request",
    "G TestVerification": "status test_command attempt last_output",
    "G TaskResult": "success summary error",
    "G PullRequestRef": "number url",
    "G SubAgent": "id agent_type pane_id pid status started_at completed_at completion_source"
    " auto_mode_flag",
    "G Conversation": "messages",
    "G Message": "role content timestamp",
    "G SessionQueue": "active pending",
    "G WorktreeRef": "branch_name path created_at task_ids",
    "G OrchestratorEvent": "SessionStart UserInput SubAgentCompleted SubAgentFailed TestPassed"
    " TestFailed ProgressTick InterruptRequested",
    "G SpecKitArtifact": "spec_id spec_path plan_path tasks_path directory",
    "G RepositoryScanResult": "claude_md directory_tree build_system test_command project_meta"
    " specs_summary source_overview",
    "B PlannerSession": "sessionId instruction conversationHistory generatedTasks finalJudgement"
    " continueIterationCount createdAt updatedAt",
    "B finalJudgement": "isComplete missingAspects additionalTaskSuggestions completionScore",
    "B Task": "id state taskType plannerRunId branch dependencies acceptance judgementFeedback"
    " version",
    "B Run": "id taskId status agentType logPath plannerRunId startedAt finishedAt errorMessage",
    "R Session": "session_id started_at target_project runner_version configuration current_phase"
    " status continuation_approved limit_violations selected_provider selected_model",
    "R Thread": "thread_id session_id thread_type created_at description",
    "R Run": "run_id thread_id session_id started_at completed_at status trigger",
    "R Task": "task_id thread_id run_id parent_task_id description requirements status"
    " assigned_executor evidence_refs files_modified tests_run tests_required_before_implementation"
    " granularity_limits decomposition_approved_by_runner log_ref",
    "R TaskResult": "task_id status started_at completed_at error evidence clarification_needed"
    " clarification_question",
    "R Evidence": "evidence_id timestamp operation_type executor_id artifacts hash raw_logs"
    " atomic_operation raw_evidence_refs integrity_validated contains_sensitive_data",
    "R FileLock": "lock_id file_path holder_executor_id acquired_at expires_at lock_type",
    "R ExecutionResult": "overall_status tasks evidence_summary next_action next_action_reason"
    " violations session_id incomplete_task_reasons evidence_inventory"
    " speculative_language_detected selected_provider selected_model",
    "R TaskLimits": "max_files max_tests max_seconds",
    "R LimitViolation": "limit_type limit_value actual_value timestamp resolution_required",
    "R EvidenceInventory": "total_evidence_items missing_evidence_operations integrity_failures"
    " raw_evidence_files",
    "R ReplState": "selected_provider selected_model updated_at current_task_id last_task_id",
    "R ReplConfig": "project project_mode project_root print_project_path non_interactive"
    " exit_on_eof wait",
    "R TaskLogIndex": "session_id created_at updated_at entries",
    "R TaskLogEntry": "task_id external_task_id thread_id run_id parent_task_id status started_at"
    " completed_at duration_ms files_modified_count tests_run_count log_file",
    "R EvidenceSummary": "files_expected files_verified files_missing verification_passed"
    " verification_reason verified_files",
    "R VerifiedFile": "path exists detected_at detection_method",
    "R ArtifactList": "files_touched files_expected files_created files_modified files_deleted",
    "R TaskLog": "task_id session_id status started_at ended_at prompt_summary runner_decision"
    " error_reason artifacts visibility masked events thread_id run_id parent_task_id created_at"
    " executor_summary evidence_summary summary evidence_refs verification_root verified_files"
    " executor_blocked blocked_reason timeout_ms terminated_by",
    "R LogEvent": "event_type timestamp visibility_level content",
    "R TaskLogSummary": "total_events summary_events full_events total_tokens_input"
    " total_tokens_output total_latency_ms",
    "R session metadata": "session_id started_at threads runs",
    "R enumerations": "Phase Provider ThreadType RunStatus RunTrigger OverallStatus TaskStatus"
    " TaskLogStatus LogEventType BlockedReason TerminatedBy VisibilityLevel ProjectMode"
    " ReplExecutionMode",
    "F Intent": "title body type source risk status parent clarifications created_at",
    "F clarification": "question answer",
    "F Task": "intent_id title plan relevant_files implementation_steps context complexity"
    " depends_on status",
    "F Review": "task_id verdict issues suggestions",
    "F History": "intent_id intent_type intent_risk title flow step_results outcome failure_reason"
    " observations created_at",
    "F Observation": "content evidence source intent_id processed created_at",
    "F evidence of an observation": "type ref",
}
"""Every entity of the sources with all its fields, in the sources' own words."""


def tables(page: str) -> dict[str, list[list[str]]]:
    """The rows of the table under each heading, without its head."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in page.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
        elif line.startswith("|") and not line.startswith("|---"):
            cells = [cell.strip() for cell in CELL_EDGE.split(line)[1:-1]]
            found.setdefault(heading, []).append(cells)
    return {heading: rows[1:] for heading, rows in found.items()}


PAGE_TABLES = tables(PAGE.read_text("utf-8"))
MODELS = saved_models()


@pytest.mark.covers(
    "G-ENUM-CompletionSource",
    "G-ENUM-MessageRole",
    "B-STATE-REPLACED_BY_REPLAN",
    "B-RUNSTATUS",
    "R-ENUM-LogEventType",
    "R-ENUM-TaskLogStatus",
    "F-INTENT-STATUS",
    "F-OBSERVE-4",
)
def test_the_page_is_what_the_models_and_the_meanings_make_of_it() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.data_model`"


@pytest.mark.covers(
    "G-RULE-COST-3",
    "G-LIMIT-3",
    "G-OUT-2",
    "B-REL-1",
    "B-AGENT",
    "B-FLOW-RUN-18",
    "B-OP-Judge",
    "B-WHY-4",
    "R-STRICT",
    "F-ENTITY-History",
    "F-ENTITY-Observation",
    "F-REVIEW-1",
)
def test_what_has_a_meaning_is_saved_and_what_is_saved_has_one() -> None:
    told = meanings()
    explained = {name: sorted(model["fields"]) for name, model in told["models"].items()}
    assert explained == {model.__name__: sorted(model.model_fields) for model in MODELS}
    assert sorted(told["enumerations"]) == [kind.__name__ for kind in saved_enumerations()]


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int, "int"),
        (str | None, "str or none"),
        (tuple[Session, ...], "list of Session"),
        (dict[str, int], "keys and values"),
        (AwareDatetime | None, "time with zone or none"),
        (Literal["a", "b"] | None, "str or none"),
        (list[Event], "list of Event"),
    ],
)
def test_a_type_is_told_in_words(annotation: object, words: str) -> None:
    assert type_in_words(annotation) == words


@pytest.mark.covers(
    "G-ENTITY-1",
    "G-ENTITY-2",
    "G-ENTITY-3",
    "G-DATA-Session",
    "G-DATA-Task",
    "G-DATA-SessionQueue",
    "G-DATA-OrchestratorEvent",
    "G-DATA-SpecKitArtifact",
    "G-DATA-RepositoryScanResult",
    "B-ENTITY-PlannerSession",
    "B-ENTITY-Task",
    "B-ENTITY-Run",
    "B-WHY-4",
    "R-STRICT",
    "R-ENTITY-Session",
    "R-ENTITY-Thread",
    "R-ENTITY-Task",
    "R-ENTITY-TaskResult",
    "R-ENTITY-EvidenceSummary",
    "R-ENTITY-ArtifactList",
    "R-ENTITY-LogEvent",
    "F-ENTITY-Intent",
    "F-ENTITY-Task",
    "F-ENTITY-ReviewResult",
    "F-TASK-STATUS",
)
@pytest.mark.parametrize("entity", SOURCES)
def test_every_field_of_the_sources_stands_in_the_page_once(entity: str) -> None:
    told = [row[0] for row in PAGE_TABLES.get(entity, [])]
    assert sorted(told) == sorted(SOURCES[entity].split())


def test_every_row_says_what_it_means_and_where_it_comes_from() -> None:
    empty = [row for rows in PAGE_TABLES.values() for row in rows if not all(row)]
    assert empty == []


def test_every_field_the_page_points_at_exists() -> None:
    fields = {f"{model.__name__}.{field}" for model in MODELS for field in model.model_fields}
    models = "|".join(model.__name__ for model in MODELS)
    pointed: set[str] = set(re.findall(rf"`((?:{models})\.[a-z_]+)", PAGE.read_text("utf-8")))
    assert pointed
    assert pointed - fields == set()
