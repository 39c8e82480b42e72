"""The story of what is said after the end."""

from __future__ import annotations

from bot.core.session import Session
from bot.core.states import Phase, Status
from tests.stories.conversation.said import ANOTHER_SHOP, EXPORT, THANKS
from tests.stories.conversation.scene import (
    Scene,
    ends_complete,
    is_planned,
    is_so,
    sees_often,
    session,
    told,
    until,
)


async def goes_on_after_the_end(scene: Scene) -> None:
    """More of the same extends the session; something else is a session of its own; thanks are no work."""
    await is_planned(scene)
    await scene.person.presses("Approve")
    await ends_complete(scene)
    await _asks_for_more(scene)
    old, new = await _asks_for_something_else(scene)
    await scene.person.goes_to(old)
    await _says_thanks(scene)
    await scene.person.goes_to(new)
    await scene.person.sees_link_to(old)
    await scene.person.sees("A few questions")


async def _asks_for_more(scene: Scene) -> None:
    """What was built is in the repository by then, and the new task is built upon it."""
    person, bot = scene.person, scene.bot
    await person.says(EXPORT)
    await person.sees("More of the same")
    await person.sees("revision 2?", "Changed since revision 1", "T004 CSV export")
    await person.presses("Approve", on="revision 2?")
    ended = await ends_complete(scene)
    assert [task.key for task in ended.tasks] == ["T001", "T002", "T003", "T004"]
    assert ended.ending.rounds == 1
    assert bot.git("show", "main:basket/export.py")
    assert ended.plan.spec
    assert EXPORT in bot.git("show", f"main:{ended.plan.spec.directory}/spec.md")
    await sees_often(scene, 2, "COMPLETE", "merged into main")


async def _asks_for_something_else(scene: Scene) -> tuple[Session, Session]:
    """The old session and the new one, which know of each other."""
    person = scene.person
    await person.says(ANOTHER_SHOP)
    await person.sees("A new session")
    await person.sees("That is a session of its own now")
    await until(lambda: len(scene.bot.sessions()) == 2, lambda: told(scene))
    old, new = session(scene, 0), session(scene, 1)
    assert new.thread != old.thread
    assert new.intent.body == ANOTHER_SHOP
    await person.sees_link_to(new)
    await is_so(scene, lambda one: one.phase is Phase.CLARIFYING)
    return old, new


async def _says_thanks(scene: Scene) -> None:
    """In the old thread: it was read, and nothing came of it."""
    await scene.person.says(THANKS)
    await is_so(scene, lambda one: any(said.content == THANKS for said in one.conversation), 0)
    await is_so(scene, lambda one: not one.talk.waiting, 0)
    first = session(scene, 0)
    assert (first.status, first.ending.rounds) == (Status.COMPLETED, 1)
    assert len(scene.bot.sessions()) == 2
