"""How a session ended: computed purely from its tasks and their evidence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from bot.core.evidence import EvidenceInventory, ExecutionResult
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import OverallStatus, Status, TaskState
from bot.core.task import Task

# The result of a whole session: the worst of its tasks, its evidence in figures, and what can be done next.

_STUCK = (OverallStatus.ERROR, OverallStatus.INVALID)


def execution_result(
    session: Session, found_evidence: EvidenceInventory | None = None
) -> ExecutionResult:
    """Return the session's result.

    `found_evidence`: the evidence that was really found; `None` if nobody has checked.
    """
    inventory = _inventory(session, found_evidence)
    broken = inventory.integrity_failures
    whole = overall_status(session, broken)
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
        speculative_language_detected=any(guessing_words(text) for text in _claims(session)),
    )


def overall_status(session: Session, damaged_evidence: Collection[str] = ()) -> OverallStatus:
    """Return the worst status of its tasks and of the session itself."""
    statuses = [status_of(session, task, damaged_evidence) for task in session.tasks]
    if session.status is Status.FAILED:
        statuses.append(OverallStatus.ERROR)
    return OverallStatus.worst(statuses)


def _reasons(session: Session, broken: tuple[str, ...]) -> Iterator[str]:
    for task in session.tasks:
        if why := why_incomplete(session, task, broken):
            yield f"{task.key} {task.name}: {why}"


def _claims(session: Session) -> Iterator[str]:
    """Yield what agents and the model claim; what the bot has verified is no claim."""
    yield from (task.run.message for task in session.tasks if task.run)
    if session.ending.summary:
        yield session.ending.summary


def _inventory(session: Session, kept: EvidenceInventory | None) -> EvidenceInventory:
    refs = [ref for task in session.tasks for ref in task.evidence_refs]
    without = [
        task.key
        for task in session.tasks
        if not task.evidence_refs and _should_have_evidence(task.state)
    ]
    lost = kept.missing_evidence_operations if kept else ()
    found = kept or EvidenceInventory(total_evidence_items=len(refs))
    missing = (*without, *(one for one in lost if one not in without))
    return found.model_copy(update={"missing_evidence_operations": missing})


def _should_have_evidence(state: TaskState) -> bool:
    """Whether a task in this state should have evidence: not if it was never begun or was left out."""
    return state in (TaskState.COMPLETED, TaskState.FAILED)


def _summary(inventory: EvidenceInventory) -> str:
    total = inventory.total_evidence_items
    parts = [f"{total} piece{'' if total == 1 else 's'} of evidence"]
    if inventory.missing_evidence_operations:
        parts.append(f"{len(inventory.missing_evidence_operations)} missing")
    if inventory.integrity_failures:
        parts.append(f"{len(inventory.integrity_failures)} changed since")
    return ", ".join(parts)


# The status of one task: the worst of all that applies, in the order INVALID, ERROR, NO_EVIDENCE, INCOMPLETE, COMPLETE.


def status_of(
    session: Session, task: Task, damaged_evidence: Collection[str] = ()
) -> OverallStatus:
    """Return the task's status.

    `damaged_evidence`: ids of evidence that does not match its hash. A replaced task takes the status of its
    replacements; one that a person left out is INCOMPLETE.
    """
    return _status(session, task, damaged_evidence, frozenset())


def why_incomplete(session: Session, task: Task, damaged_evidence: Collection[str] = ()) -> str:
    """Return why the task is not complete, in a few words; empty if it is."""
    status = status_of(session, task, damaged_evidence)
    if status is OverallStatus.COMPLETE:
        return ""
    if damaged := [ref for ref in task.evidence_refs if ref in damaged_evidence]:
        return f"evidence was changed after it was written: {', '.join(damaged)}"
    if (wrong := contradiction(task)) or (wrong := _unproven(task)):
        return wrong
    if task.id in session.ending.missing_logs:
        return "its log cannot be written"
    if number := _closed_pull(session, task):
        return f"#{number} was closed without a merge"
    if task.state is TaskState.REPLACED:
        return "replaced by tasks that are not complete" if task.replaced_by else "replaced"
    told = task.result.error if task.result else None
    return task.blocked or told or task.state.value


def contradiction(task: Task) -> str:
    """Return what is contradictory in the task's state; empty if nothing is."""
    done = task.state is TaskState.COMPLETED
    if done and task.run and task.run.alive:
        return "said to be completed, while its agent is at work"
    if done and task.result and not task.result.success:
        return "said to be completed, with a result that says it failed"
    if task.state is TaskState.FAILED and task.result and task.result.success:
        return "said to have failed, with a result that says it succeeded"
    return ""


def _status(
    session: Session, task: Task, broken: Collection[str], seen: frozenset[str]
) -> OverallStatus:
    if contradiction(task) or any(ref in broken for ref in task.evidence_refs):
        return OverallStatus.INVALID
    if task.state is TaskState.FAILED:
        return OverallStatus.ERROR
    if task.state is TaskState.COMPLETED:
        if task.id in session.ending.missing_logs or _unproven(task):
            return OverallStatus.NO_EVIDENCE
        return OverallStatus.INCOMPLETE if _closed_pull(session, task) else OverallStatus.COMPLETE
    if task.state is TaskState.REPLACED and task.id not in seen:
        others = [other for ref in task.replaced_by if (other := session.task(ref))]
        seen |= {task.id}
        parts = [_status(session, other, broken, seen) for other in others]
        return OverallStatus.worst(parts or [OverallStatus.INCOMPLETE])
    return OverallStatus.INCOMPLETE


def _unproven(task: Task) -> str:
    """Return what a task lacks that is said to be completed."""
    if task.state is not TaskState.COMPLETED:
        return ""
    if task.type is TaskType.INVESTIGATION:
        return "" if task.report.strip() or task.commits else "said to be done, without a report"
    if task.work is not None and not task.work.commits:
        return "said to be done, without a commit"
    return "" if task.check and task.check.passed else "built, but never tested"


def _closed_pull(session: Session, task: Task) -> int:
    """Return the number of the pull request with this task's work that was closed without a merge; 0 if there is none."""
    branch = task.workspace.branch if task.workspace else ""
    for other in session.tasks:
        pull, there = other.pull_request, other.workspace
        shares = other.id == task.id or (there and there.branch == branch)
        if pull and shares and not (pull.merged or pull.open):
            return pull.number
    return 0


# Words that guess where a report should know: «should work», «たぶん». Found in English and Japanese, and only reported.

_LONGEST = 50_000
"""Characters that are read of one report."""
_MOST = 20
_CODE = re.compile(r"```.{0,20000}?(?:```|\Z)|`[^`\n]{1,400}`", re.DOTALL)
_ADVERBS = r"(?:(?:also|now|all|still|just|really|probably|hopefully|then)\ ){0,2}"
_ENGLISH = rf"""
    \b(?: probably | presumably | hopefully | supposedly | perhaps | possibly
      | i\ (?:think|believe|guess|assume|suppose|suspect|expect|hope)
      | i(?:'m|\ am)\ (?:not\ (?:entirely\ |quite\ |completely\ )?(?:sure|certain)|fairly\ (?:sure|certain|confident)|guessing)
      | should\ {_ADVERBS}(?: work | pass | do\ (?:it|the\ trick) | fix | compile | build | succeed
          | be\ {_ADVERBS}(?:fine|ok|okay|good|enough|fixed|working|correct|safe|resolved|done|complete) )
      | (?:seems?|appears?)\ (?:to\ (?:work|be|pass|have)|fine|ok|okay|correct)
      | looks?\ like\ (?:it|this|that|everything)
      | (?:might|may)\ (?:work|be|have|need|not) | could\ be\ that
      | most\ likely | very\ likely | in\ all\ likelihood )\b"""
_JAPANESE = r"""
      たぶん | 多分 | おそらく | 恐らく | きっと | もしかする | もしかし
    | はず(?!れ|す|し|み|か|さ|せ|そ|む|ん) | 筈
    | かもしれ(?:ない|ません) | かも知れ(?:ない|ません)
    | でしょう | だろう | (?:と|に|かと)思(?:い|う|われ) | と考えられ | と推測 | 推測(?:です|で|し) | 見込みです
    | ように見え | (?:よう|みたい)です | 可能性(?:が|も)(?:あり|ある|高)
"""
_GUESS = re.compile(f"{_ENGLISH}|{_JAPANESE}", re.VERBOSE | re.IGNORECASE)


def guessing_words(text: str) -> tuple[str, ...]:
    """Return the guessing words of a report, each once. Code is ignored."""
    plain = unicodedata.normalize("NFKC", text[:_LONGEST]).replace("’", "'")
    words = " ".join(_CODE.sub(" ", plain).split())
    found = dict.fromkeys(match[0].lower() for match in _GUESS.finditer(words))
    return tuple(found)[:_MOST]
