"""How a run ended, read from what it left on disk. The first of these that is there decides, for ever."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import TypeAdapter, ValidationError

from adapters.tmux.spool import Spool
from bot.domain.states import Outcome
from bot.domain.world import CompletionSource, RunEnd

LONGEST_MESSAGE = 4_000
_TASKS = TypeAdapter(list[dict[str, object]])


def told(hook: Mapping[str, object]) -> RunEnd | None:
    """What a hook says about the end of the run. SessionEnd says nothing: the process's end decides."""
    match hook.get("event") or hook.get("hook_event_name"):
        case "Stop" if not _still_at_work(hook):
            return _by_hook(Outcome.FINISHED, hook, "last_assistant_message")
        case "StopFailure":
            return _by_hook(
                Outcome.FAILED, hook, "last_assistant_message", "error_details", "error"
            )
        case _:
            return None


def recorded(spool: Spool, *, process_gone: bool, source: CompletionSource) -> RunEnd | None:
    """The end of the run, if its folder knows of one, with what the CLI has told of it."""
    end = _recorded(spool, process_gone=process_gone, source=source)
    return end and reported(spool, end)


def reported(spool: Spool, end: RunEnd) -> RunEnd:
    """The end with what the run's report knows: it is there however the run ended."""
    report = spool.report
    words = report.error if end.outcome is Outcome.FAILED else ""
    return end.model_copy(
        update={
            "message": (end.message or words or report.message)[:LONGEST_MESSAGE],
            "conversation": report.conversation,
            "usage": report.usage,
        }
    )


def _recorded(spool: Spool, *, process_gone: bool, source: CompletionSource) -> RunEnd | None:
    code = spool.exit_code
    if spool.has("stopped"):
        # the mark is set before the first signal; only the process's end makes it true
        return (
            None
            if not process_gone
            else RunEnd(outcome=Outcome.KILLED, source=CompletionSource.STOPPED, exit_code=code)
        )
    for hook in spool.hooks():
        if end := told(hook):
            return end.model_copy(update={"exit_code": code})
    if spool.since_paste("done"):
        return RunEnd(
            outcome=Outcome.FINISHED, source=CompletionSource.OUTPUT_PATTERN, exit_code=code
        )
    if code is None:
        return None
    return RunEnd(
        outcome=Outcome.FAILED if code else Outcome.FINISHED, source=source, exit_code=code
    )


def _still_at_work(hook: Mapping[str, object]) -> bool:
    """Background tasks and what it has set itself a time for wake the agent again, and it stops a second time."""
    if hook.get("session_crons"):
        return True
    try:
        tasks = _TASKS.validate_python(hook.get("background_tasks"))
    except ValidationError:
        return False
    return any(task.get("status") == "running" for task in tasks)


def _by_hook(outcome: Outcome, hook: Mapping[str, object], *fields: str) -> RunEnd:
    said = next((text for field in fields if isinstance(text := hook.get(field), str) and text), "")
    return RunEnd(outcome=outcome, source=CompletionSource.HOOK, message=said[:LONGEST_MESSAGE])
