"""The repository itself is gone: nothing goes on until it is back, or until somebody says where it lies now."""

from __future__ import annotations

import pytest

from bot.core.actions import Relink, StopRun
from bot.core.cards import StoppedCard
from bot.core.choices import Verb, Word, parse_command
from bot.core.events import Commanded, OrderFailed, Relinked
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.states import Status, TaskState
from bot.steps.decisions import decide, due, is_held_back
from tests.steps.scenes import ANN, cards, commanded, executing, later, pressed, running, whispers

GONE = OrderFailed(
    id="gone",
    at=later(),
    answers="observe",
    what="observe",
    reason="repository not found at /shop",
    remedy="Bring it back",
    away=True,
)


def missed() -> Session:
    session = executing(running("T001"))
    session.repository.path = "/shop"
    for task in session.tasks:
        assert task.workspace
        path = {"path": "/shop/.worktrees/agent-t001"}
        task.workspace = task.workspace.model_copy(update=path)
    deeds = decide(session, GONE)
    assert any(isinstance(deed, StopRun) for deed in deeds)
    return session


def relink(path: str) -> Commanded:
    command = parse_command(f"relink {path}")
    assert command
    return commanded(Word.RELINK).model_copy(update={"command": command})


def found(path: str = "", problem: str = "") -> Relinked:
    return Relinked(id="found", at=later(), by=ANN, path=path, problem=problem)


@pytest.mark.covers("O-P5")
def test_the_session_is_paused_and_says_what_it_misses_and_how_it_goes_on() -> None:
    session = executing(running("T001"))
    [card] = [c for c in cards(decide(session, GONE)) if isinstance(c, StoppedCard)]
    assert "repository not found at /shop" in card.reason
    assert "Bring it back" in card.reason
    assert session.status is Status.PAUSED
    assert session.tasks[0].state is TaskState.NEEDS_CONTINUATION
    assert list(due(session)) == []


def test_that_others_miss_it_too_is_not_kept_for_later() -> None:
    session = missed()
    assert not is_held_back(session, GONE)
    assert decide(session, GONE) == []
    assert session.control.stops == 1


def test_brought_back_it_is_resumed_as_after_any_stop() -> None:
    session = missed()
    decide(session, pressed(Verb.RESUME))
    assert (session.status, session.control.repository_missing, session.repository.path) == (
        Status.QUEUED,
        "",
        "/shop",
    )


def test_where_it_is_said_to_be_is_looked_at_first() -> None:
    session = missed()
    [order] = [deed for deed in decide(session, relink("/new shop")) if isinstance(deed, Relink)]
    assert (order.path, order.by) == ("/new shop", ANN)
    assert session.status is Status.PAUSED
    assert whispers(decide(session, found(problem="another one stands there"))) == [
        "Another one stands there"
    ]
    assert (session.status, session.repository.path) == (Status.PAUSED, "/shop")


def test_found_there_everything_follows_and_agents_begin_a_conversation_anew() -> None:
    session = missed()
    decide(session, found("/new shop"))
    task = session.tasks[0]
    assert (session.status, session.control.repository_missing) == (Status.QUEUED, "")
    assert session.repository.path == "/new shop"
    assert task.workspace
    assert task.workspace.path == "/new shop/.worktrees/agent-t001"
    assert task.next_run.why is Why.RETRY
    assert "moved" in task.next_run.feedback


def test_found_a_second_time_nothing_happens() -> None:
    session = missed()
    decide(session, found("/new"))
    assert decide(session, found("/newer")) == []
    assert session.repository.path == "/new"


def test_who_misses_nothing_is_told_where_it_works() -> None:
    session = executing(running("T001"))
    [told] = whispers(decide(session, relink("/new")))
    assert session.repository.path in told
    assert session.status is not Status.PAUSED


def test_a_path_is_needed_and_an_id_may_stand_before_it() -> None:
    assert "Write relink" in whispers(decide(missed(), commanded(Word.RELINK)))[0]
    told = parse_command("relink 1a2b3c4d /srv/my shop")
    assert told
    assert (told.argument, told.text) == ("1a2b3c4d", "/srv/my shop")
