"""The result of a whole session: the worst of its tasks, its evidence counted, and what can be done next."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from bot.domain.evidence import EvidenceInventory, ExecutionResult
from bot.domain.results.speculative import speculative
from bot.domain.results.statuses import status_of, why_not
from bot.domain.session import Session
from bot.domain.states import OverallStatus, Status, TaskState

_STUCK = (OverallStatus.ERROR, OverallStatus.INVALID)


def execution_result(session: Session, kept: EvidenceInventory | None = None) -> ExecutionResult:
    """`kept` is what was really found of the evidence the tasks name; none: nobody has looked."""
    inventory = _inventory(session, kept)
    broken = inventory.integrity_failures
    whole = overall(session, broken)
    question = next((one.text for one in session.intent.open_questions), None)
    return ExecutionResult(
        overall_status=whole,
        session_id=session.id,
        tasks=tuple(task.id for task in session.tasks),
        evidence_summary=_summary(inventory),
        next_action=question is not None or whole not in _STUCK,
        next_action_reason=question,
        violations=tuple(one for task in session.tasks for one in task.violations),
        incomplete_task_reasons=tuple(_reasons(session, broken)),
        evidence_inventory=inventory,
        speculative_language_detected=any(speculative(text) for text in _claims(session)),
    )


def overall(session: Session, broken: Collection[str] = ()) -> OverallStatus:
    """The worst of its tasks, and of what ended it."""
    statuses = [status_of(session, task, broken) for task in session.tasks]
    if session.status is Status.FAILED:
        statuses.append(OverallStatus.ERROR)
    return OverallStatus.worst(statuses)


def _reasons(session: Session, broken: tuple[str, ...]) -> Iterator[str]:
    for task in session.tasks:
        if why := why_not(session, task, broken):
            yield f"{task.key} {task.name}: {why}"


def _claims(session: Session) -> Iterator[str]:
    """What agents and the model say themselves; what the bot has seen is no claim."""
    yield from (task.run.message for task in session.tasks if task.run)
    if session.summary:
        yield session.summary


def _inventory(session: Session, kept: EvidenceInventory | None) -> EvidenceInventory:
    refs = [ref for task in session.tasks for ref in task.evidence_refs]
    without = [task.key for task in session.tasks if not task.evidence_refs and _worked(task.state)]
    lost = kept.missing_evidence_operations if kept else ()
    found = kept or EvidenceInventory(total_evidence_items=len(refs))
    missing = (*without, *(one for one in lost if one not in without))
    return found.model_copy(update={"missing_evidence_operations": missing})


def _worked(state: TaskState) -> bool:
    """Whether it should have left evidence: not what was never begun, or was left out."""
    return state in (TaskState.COMPLETED, TaskState.FAILED)


def _summary(inventory: EvidenceInventory) -> str:
    total = inventory.total_evidence_items
    parts = [f"{total} piece{'' if total == 1 else 's'} of evidence"]
    if inventory.missing_evidence_operations:
        parts.append(f"{len(inventory.missing_evidence_operations)} missing")
    if inventory.integrity_failures:
        parts.append(f"{len(inventory.integrity_failures)} changed since")
    return ", ".join(parts)
