"""Stories of bots that die while an agent asks: nothing is typed twice, and no card stands there that means nothing."""

from __future__ import annotations

from bot.core.states import TaskState
from tests.stories.asking.chats import Asked
from tests.stories.asking.dialogs import TITLE, state, type_by_hand, works
from tests.stories.conversation.scene import is_so, sees_often, session, task_of, told, until


async def while_it_types_and_the_agent_still_asks(asked: Asked) -> None:
    """The key has arrived, the screen has not moved on: a new card, and only what is chosen there is typed."""
    plays, person = asked.plays, asked.person
    plays.task("T001", [["menu", "make test", "hears"], ["wait", "end"]])
    await works(asked)
    await person.presses("Yes", on=TITLE)
    await until(plays.keys, lambda: told(asked.scene))
    await person.bot_dies()
    await person.bot_comes_back()
    await sees_often(asked.scene, 2, TITLE, "make test")
    assert plays.keys() == ["1"], plays.keys()
    plays.release("hears")
    await person.presses("No", on=TITLE)
    await until(lambda: len(plays.keys()) > 1, lambda: told(asked.scene))
    await person.sees(TITLE, "Answered with “No”")
    await ends(asked)
    assert plays.keys() == ["1", "3"], plays.keys()


async def while_it_types_and_the_agent_goes_on(asked: Asked) -> None:
    """It asks no more, so nobody is asked again, and nothing is typed again."""
    plays, person = asked.plays, asked.person
    plays.task("T001", [["menu", "make test"], ["wait", "end"]])
    await works(asked)
    await person.presses("Yes", on=TITLE)
    await until(plays.keys, lambda: told(asked.scene))
    await person.bot_dies()
    await person.bot_comes_back()
    await ends(asked)
    assert plays.keys() == ["1"], plays.keys()
    assert await person.count(TITLE) == 1


async def while_it_waits_for_an_answer(asked: Asked) -> None:
    """The same card goes on; what was answered in the pane meanwhile is said on it."""
    plays, person = asked.plays, asked.person
    plays.task("T001", [["menu", "make test"], ["wait", "end"]])
    await works(asked)
    await person.sees(TITLE, "make test")
    await person.bot_dies()
    type_by_hand(asked.scene, "T001", "1")
    await until(plays.keys, lambda: told(asked.scene))
    await person.bot_comes_back()
    await person.sees(TITLE, "It is not asked any more")
    await is_so(asked.scene, lambda one: state(one, "T001") == "Running")
    assert await person.count(TITLE) == 1
    await ends(asked)
    assert plays.keys() == ["1"], plays.keys()


async def ends(asked: Asked) -> None:
    """T001 goes on and is done, in the one run it has had."""
    asked.plays.release("end")
    await is_so(asked.scene, lambda one: task_of(one, "T001").state is TaskState.COMPLETED)
    assert len(task_of(session(asked.scene), "T001").runs) == 1
    assert len(asked.plays.starts("T001")) == 1
