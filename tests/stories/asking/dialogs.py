"""Stories of agents that ask, the same in every chat."""

from __future__ import annotations

import subprocess

from bot.cli.assemble import socket_name
from bot.core.session import Session
from bot.core.states import RunState, TaskState
from tests.stories.asking.chats import Asked
from tests.stories.conversation.scene import Scene, is_planned, is_so, task_of, told, until

TITLE = "T001: other asks"


async def works(asked: Asked) -> None:
    """From the request to agents at work."""
    await is_planned(asked.scene)
    await asked.person.presses("Approve")


async def asks_and_is_answered(asked: Asked) -> None:
    """Its own options; the key arrives, the run goes on; the card says who chose what; others' presses do nothing."""
    plays, person = asked.plays, asked.person
    plays.task("T001", [["wait", "ask"], ["menu", "make test"], ["wait", "end"]])
    await works(asked)
    await until(lambda: plays.starts("T001"), lambda: told(asked.scene))
    plays.release("ask")
    await person.sees(TITLE, "Do you want to proceed?", "make test")
    await person.stranger_presses("No", TITLE)
    assert plays.keys() == []
    await person.presses("Yes", on=TITLE)
    await until(lambda: plays.keys(), lambda: told(asked.scene))
    await person.sees(TITLE, "Answered with “Yes”")
    await is_so(asked.scene, lambda one: state(one, "T001") is RunState.RUNNING)
    await person.presses_late("No", TITLE)
    plays.release("end")
    await is_so(asked.scene, lambda one: task_of(one, "T001").state is TaskState.COMPLETED)
    assert plays.keys() == ["1"], plays.keys()
    assert len(plays.starts("T001")) == 1


async def always_answers(asked: Asked) -> None:
    """Said once for the session, the next one is answered by itself, and nobody is asked."""
    plays, person = asked.plays, asked.person
    plays.task("T001", [["menu", "make test"], ["menu", "make lint"]])
    await works(asked)
    await person.presses("Always “Yes” in this session", on=TITLE)
    await person.sees(TITLE, "Always answered with “Yes”")
    await until(lambda: plays.keys() == ["1", "1"], lambda: f"{plays.keys()} {told(asked.scene)}")
    await is_so(asked.scene, lambda one: task_of(one, "T001").state is TaskState.COMPLETED)
    assert await person.count(TITLE, "make lint") == 0
    assert plays.keys() == ["1", "1"]


async def is_answered_in_the_pane(asked: Asked) -> None:
    """The card says that it is not asked any more; the bot has typed nothing."""
    plays, person = asked.plays, asked.person
    plays.task("T001", [["menu", "make test"], ["wait", "end"]])
    await works(asked)
    await person.sees(TITLE, "make test")
    type_by_hand(asked.scene, "T001", "2")
    await person.sees(TITLE, "It is not asked any more")
    plays.release("end")
    await is_so(asked.scene, lambda one: task_of(one, "T001").state is TaskState.COMPLETED)
    assert plays.keys() == ["2"]


def state(session: Session, key: str) -> RunState | None:
    run = task_of(session, key).run
    return run.state if run else None


def type_by_hand(scene: Scene, key: str, *keys: str) -> None:
    """As somebody who is attached to the pane does."""
    pane = pane_of(scene, key)
    tmux(scene, "send-keys", "-t", pane, *keys)


def pane_of(scene: Scene, key: str) -> str:
    runs = {run.name for one in scene.bot.sessions() for run in task_of(one, key).runs}
    return next(pane.id for pane in scene.bot.panes() if pane.run in runs)


def tmux(scene: Scene, *command: str) -> str:
    """On the server of the bot's home."""
    argv = ["tmux", "-L", socket_name(scene.bot.home), *command]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout
