"""Problems inside and outside the bot: users are told with a remedy, the agents are ended, and nothing else is
affected.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from pydantic import AwareDatetime

from bot.core.actions import Deed, Show, StopRun
from bot.core.cards import CardDecision, ProblemCard
from bot.core.choices import Choice, Style, Verb
from bot.core.events import (
    EventBase,
    FromPerson,
    OrderFailed,
    RunStopped,
    TroubleBegan,
    TroubleEnded,
)
from bot.core.llm import AI_SETTINGS_REQUIRED, Usage, seems_truncated
from bot.core.runs import CompletionSource
from bot.core.session import Session
from bot.core.session_parts import Trouble
from bot.core.sheets import Tone
from bot.core.states import Outcome, Status, TaskState
from bot.core.task import Task
from bot.steps import messages, plan
from bot.steps.dialogs import cards as dialog_cards

BUG = "Something went wrong in the bot itself"
SET_MODEL = Choice(label="Model and endpoint", verb=Verb.SETTINGS)


def fail_on_refusal(session: Session, event: OrderFailed) -> Iterator[Deed]:
    """Fail the session. Before any task runs, a refused order stops the session until a person has fixed the cause."""
    title = {
        "survey": "I cannot work here yet",
        "find_questions": "The model cannot be used",
        "write_document": "The model cannot be used",
    }.get(event.what, "I cannot go on")
    yield from fail(session, event, title, event.reason, event.remedy)


def fail(
    session: Session, event: EventBase, title: str, reason: str, remedy: str
) -> Iterator[Deed]:
    yield from end_runs(session, event)
    if session.over:
        return
    session.become(Status.FAILED)
    session.control.failure = reason
    yield from close_trouble(session, "I do not try any more.")
    plan.release_place(session)
    choices = (
        Choice(label="Try again", verb=Verb.TRY_AGAIN, style=Style.PRIMARY),
        Choice(label="Discard", verb=Verb.DISCARD, style=Style.DANGER),
    )
    yield messages.problem("failure", title, reason, remedy, *choices)


def try_again(session: Session, event: FromPerson) -> Iterator[Deed]:
    session.become(Status.ACTIVE)
    yield from close_failure(session, f"I am trying again, as {event.by} asked.")


def close_failure(session: Session, reason: str) -> Iterator[Deed]:
    # The card has buttons, which must go when the failure is over.
    if session.control.failure:
        session.control.failure = ""
        yield Show(card=ProblemCard(key="failure", title="a problem", reason=reason, over=True))


def end_runs(session: Session, event: EventBase) -> Iterator[Deed]:
    for task in session.tasks:
        stopped = list(end_run(task, event.at))
        yield from stopped
        if stopped and task.state is TaskState.RUNNING:
            task.become(TaskState.NEEDS_CONTINUATION)
            task.go_on("You were stopped. Look at what is there already and go on from it.")


def end_run(task: Task, at: AwareDatetime, outcome: Outcome = Outcome.KILLED) -> Iterator[Deed]:
    """End the task's run, if it is alive, and close its cards.

    Call it wherever a task leaves its run: no agent may go on unwatched.
    """
    run = task.run
    if run and run.alive:
        yield StopRun(run_id=run.id)
        if run.dialog:
            gone = CardDecision(what="Its agent was ended", by="the bot", at=at)
            yield from dialog_cards.close_dialog(task, run, gone)
        if run.quiet.shown:
            yield from dialog_cards.close_quiet_card(
                task, CardDecision(what="Its agent was ended", by="the bot", at=at)
            )
            run = task.run or run
        stopped = run.end(outcome, at, ended_by=CompletionSource.STOPPED)
        task.update_run(stopped.model_copy(update={"dialog": None, "reply": ""}))
        task.taken_by = ""


def trouble(session: Session, event: TroubleBegan | TroubleEnded) -> Iterator[Deed]:
    if session.over:
        return
    others = tuple(one for one in session.control.troubles if one.order != event.order)
    if isinstance(event, TroubleEnded):
        yield from _set_troubles(session, others, "It works again.")
        return
    if not session.control.troubles:
        session.control.outages += 1
    session.control.troubles = (
        *others,
        Trouble(order=event.order, reason=event.reason, since=event.at),
    )
    if not others:  # one notice for all orders that wait for the same thing
        yield _notice(session, event.reason, event.remedy, retrying=True)


def close_trouble(session: Session, reason: str) -> Iterator[Deed]:
    # The card says that the bot keeps retrying; it must not say so any longer than that is true.
    yield from _set_troubles(session, (), reason)


def drop_obsolete_troubles(session: Session, due: Container[str]) -> Iterator[Deed]:
    """Drop problems of orders that are no longer due."""
    wanted = tuple(one for one in session.control.troubles if one.order in due)
    yield from _set_troubles(session, wanted, "It is not needed any more.")


def _set_troubles(session: Session, troubles: tuple[Trouble, ...], reason: str) -> Iterator[Deed]:
    was, session.control.troubles = session.control.trouble, troubles
    if was and not troubles:
        yield _notice(session, was, reason, over=True)


def _notice(
    session: Session, title: str, reason: str, *, retrying: bool = False, over: bool = False
) -> Show:
    # Every outage gets a new card: an old one is far up in the thread, where nobody looks.
    key = f"trouble:{session.control.outages}"
    choices = (SET_MODEL,) if title == AI_SETTINGS_REQUIRED and not over else ()
    card = ProblemCard(
        key=key, title=title, reason=reason, retrying=retrying, over=over, choices=choices
    )
    return Show(card=card)


def warn_truncated_prompts(session: Session, usage: Usage) -> Iterator[Deed]:
    """Warn, once, that the model seems to read only a part of the prompts.

    The replies do not show it: they look normal.
    """
    if session.llm.prompts_cut or not seems_truncated(usage):
        return
    session.llm.prompts_cut = True
    yield messages.problem(
        "prompts-cut",
        "The model may not read all that I send",
        f"Its server counted {usage.prompt_tokens:,} tokens where I sent about {usage.estimated:,}: some servers drop the "
        "beginning of what does not fit, and say nothing.",
        "Give the model a larger context window there (in Ollama: num_ctx), or set LLM_CONTEXT_WINDOW to the size it has.",
    )


def tell_of_fallback(session: Session, usage: Usage) -> Iterator[Deed]:
    """Say, once, that another model answers than the one in the settings."""
    if session.llm.fallback_told or not usage.stood_in:
        return
    session.llm.fallback_told = True
    yield messages.news(
        "fallback",
        "Another model stands in",
        f"The model that I was to ask did not answer. {usage.model or 'The fallback'} (LLM_FALLBACK_MODEL) stands in for it until it does.",
    )


def survivors(session: Session, event: RunStopped) -> Iterator[Deed]:
    if event.survivors:
        pids = ", ".join(str(pid) for pid in event.survivors)
        yield messages.news(
            f"survivors:{event.run_id}",
            "Some processes would not end",
            f"Still alive after SIGKILL: {pids}. Look at them with ps.",
            tone=Tone.FAILURE,
        )
