"""The story of a second session: it builds on what was merged on GitHub, whatever the checkout has."""

from __future__ import annotations

from bot.core.states import Status
from tests.stories.conversation.said import EXPORT
from tests.stories.conversation.scene import Scene, is_so, session, told, until
from tests.stories.github.hosting import Hosting
from tests.stories.github.shipping import merges_all_in_order, pull_of


async def what_was_merged_there(scene: Scene, hosting: Hosting) -> None:
    """Nobody has pulled, and people go on pushing: the plan knows the new code, and the pull request collides with nothing."""
    before, there, person = hosting.untouched(), hosting.there, scene.person
    await merges_all_in_order(scene, hosting)
    merged = there.branches["main"]
    commits = len(there.log("main")) - len(scene.bot.git("log", "--format=%h").splitlines())
    await person.asks(EXPORT)
    await person.sees(f"main on GitHub is {commits} commits ahead of yours")
    # without the new code the plan would begin with the discounts, which the export needs
    await person.sees("revision 1?", f"main on GitHub at {merged[:10]}")
    assert [task.name for task in session(scene).tasks] == ["CSV export of the basket"]
    moved = there.people.push("main", {"NEWS.md": "Codes!\n"})
    await person.presses("Approve", on="revision 1?")
    await person.sees(f"moved from {merged[:10]} to {moved[:10]}. I build on that.")
    await until(lambda: len(there.pulls) == 4, lambda: told(scene))
    [task] = (await is_so(scene, lambda one: one.tasks[0].pull_request)).tasks
    assert task.work
    assert all("discount" not in path for path in task.work.created_files)
    pull = pull_of(scene, hosting, task.key)
    await person.presses(f"Merge #{pull.number}")
    await is_so(scene, lambda one: one.status is Status.COMPLETED)
    assert [len(one.runs) for one in session(scene).tasks] == [1]
    assert there.read("main", "basket/export.py")
    assert there.read("main", "NEWS.md")
    assert hosting.untouched() == before
