"""The base moves between the plan and the first task: what is taken up, what is planned anew, and what people hear of it."""

from __future__ import annotations

import pytest

from bot.core import approval
from bot.core.choices import Verb
from bot.core.events import BaseSeen, DocumentsCommitted, OrderFailed
from bot.core.git import Base, Scan, Upstream
from bot.core.sheets import Tone
from bot.core.states import Phase, TaskState
from bot.steps.decisions import decide, due
from tests.steps.scenes import (
    ANN,
    HOSTED,
    Session,
    awaiting_approval,
    cards,
    executing,
    gets_place,
    kinds,
    later,
    pressed,
    running,
    said,
    task,
    titles,
    whispers,
    workspace,
)

pytestmark = pytest.mark.covers("O-M17")

OLD, NEW = "b" * 40, "e" * 40


def seen(commit: str = NEW, *files: str, at: int = 61, **changes: object) -> BaseSeen:
    upstream = Upstream(host="GitHub", commit=commit, local=OLD, used=True)
    base = Base(repository="/srv/shop", branch="main", commit=commit, upstream=upstream)
    scan = Scan(commit=commit, test_command="make test")
    event = BaseSeen(
        id=f"seen:{at}", at=later(at), answers="base", base=base, commits=2, files=files, scan=scan
    )
    return event.model_copy(update=changes)


def unseen(at: int = 61) -> BaseSeen:
    upstream = Upstream(host="GitHub", local=OLD, problem="GitHub is not reached.")
    base = Base(repository="/srv/shop", branch="main", commit=OLD, upstream=upstream)
    return BaseSeen(id="unseen", at=later(at), answers="base", base=base)


def planned() -> Session:
    """It waits for an approval, and touches two files and a folder."""
    tasks = (task("T001", files=("a.py", "src/shop/")), task("T002", files=("./b.py",)))
    session = awaiting_approval(*tasks)
    session.pulls.host = HOSTED
    return session


def approved() -> Session:
    session = planned()
    decide(session, pressed(Verb.APPROVE, approval.offer(session)))
    return session


def test_an_approval_counts_at_once_and_work_begins_when_the_host_has_been_asked() -> None:
    session = planned()
    offer = approval.offer(session)
    [card] = cards(decide(session, pressed(Verb.APPROVE, offer)))
    assert "approved" in card.model_dump_json()
    assert (session.phase, kinds(session)) == (Phase.APPROVING, ["look_at_base"])
    [word] = whispers(decide(session, pressed(Verb.APPROVE, offer)))
    assert word.startswith("Already approved by Ann")
    decide(session, seen(OLD))
    assert (session.phase, session.repository.base_commit) == (Phase.EXECUTING, OLD)
    assert session.approval.granted
    assert session.approval.granted.by == ANN
    assert "look_at_base" not in kinds(session)


@pytest.mark.parametrize("files", [(), ("c.py",), ("src/shop2/x.py", "a.pyc", "docs/a.py")])
def test_commits_that_change_nothing_of_the_plan_are_taken_up_without_asking_again(
    files: tuple[str, ...],
) -> None:
    session = approved()
    heard = titles(decide(session, seen(NEW, *files)))
    assert heard[0].startswith("Main on GitHub moved from bbbbbbbbbb to eeeeeeeeee. I build on")
    assert (session.phase, session.repository.base_commit) == (Phase.EXECUTING, NEW)
    assert session.repository.scan == Scan(commit=NEW, test_command="make test")
    assert "commit_documents" in kinds(session)
    gets_place(session)
    assert not session.in_state(TaskState.RUNNING)
    spec = workspace("agent/spec-7682b3a8")
    decide(
        session,
        DocumentsCommitted(id="d", at=later(), answers="commit:1", workspace=spec, commit="f" * 40),
    )
    assert len(session.in_state(TaskState.RUNNING)) == 2


@pytest.mark.parametrize(
    "moved",
    [seen(NEW, "a.py"), seen(NEW, "b.py"), seen(NEW, "src/shop/till.py"), seen(brought=("Hooks",))],
)
def test_a_plan_is_made_anew_where_the_base_moved_in_what_it_is_about(moved: BaseSeen) -> None:
    session = approved()
    heard = titles(decide(session, moved))
    assert "so I am checking the plan again" in heard[-1]
    assert (session.phase, session.repository.base_commit) == (Phase.SPECIFYING, NEW)
    assert (session.approval.granted, session.approval.given) == (None, ())
    assert kinds(session) == ["scan_repository"]


def test_a_host_that_cannot_be_reached_holds_nothing_up_and_people_are_told() -> None:
    session = approved()
    assert titles(decide(session, unseen()))[0].startswith("I cannot see where main")
    assert (session.phase, session.repository.base_commit) == (Phase.EXECUTING, OLD)


def test_who_wants_something_else_while_the_host_is_asked_gets_another_plan() -> None:
    session = approved()
    decide(session, pressed(Verb.CHANGE, approval.offer(session), "With a receipt."))
    assert (session.phase, kinds(session)) == (Phase.SPECIFYING, ["look_at_base"])
    decide(session, seen(NEW, "a.py"))
    assert session.repository.base_commit == NEW
    assert session.approval.granted is None


def test_every_new_revision_is_made_for_the_base_as_it_is_then() -> None:
    session = planned()
    decide(session, pressed(Verb.CHANGE, approval.offer(session), "With a receipt."))
    assert kinds(session) == ["look_at_base"]
    decide(session, seen(NEW, brought=("Hooks",)))
    assert (session.repository.base_commit, session.repository.agent_settings) == (NEW, ("Hooks",))
    assert kinds(session) == ["scan_repository"]


def waiting() -> Session:
    """Approved long ago; its turn has come now."""
    session = executing(*planned().tasks, pulls__host=HOSTED, queue__has_place=False)
    decide(session, said("hello", at=later(3600)))
    return session


def test_whoever_waited_in_the_queue_looks_again_before_the_first_task_starts() -> None:
    session = waiting()
    gets_place(session)
    assert session.approval.checking_base
    assert not session.in_state(TaskState.RUNNING)
    [news] = [t for t in titles(decide(session, seen(NEW, "a.py", "z.py"))) if "moved" in t]
    assert "I build on that" in news
    told = {one.key: one.next_run.instructions for one in session.tasks}
    assert "has changed a.py" in told["T001"]
    assert told["T002"] == ""
    assert "commit_documents" in kinds(session)


def test_a_plan_that_is_older_than_a_day_is_looked_at_once_more_instead_of_begun() -> None:
    session = planned()
    session.plan.shown_at = later(0)
    press = pressed(Verb.APPROVE, approval.offer(session))
    [told] = whispers(decide(session, press.model_copy(update={"at": later(25 * 3600)})))
    assert "older than 24 hours" in told
    found = (session.approval.checking_base, session.approval.given, session.approval.granted)
    assert found == (True, (), None)


def test_a_place_that_comes_at_once_asks_the_host_only_once() -> None:
    session = approved()
    decide(session, seen(OLD))
    gets_place(session)
    assert not session.approval.checking_base
    assert len(session.in_state(TaskState.RUNNING)) == 2


def test_once_a_task_has_begun_its_base_stays() -> None:
    session = executing(running("T001"), task("T002"), pulls__host=HOSTED, queue__has_place=False)
    gets_place(session)
    assert not session.approval.checking_base


def test_settings_nobody_approved_do_not_come_along_after_the_approval() -> None:
    session = waiting()
    gets_place(session)
    deeds = decide(session, seen(NEW, ".claude/settings.json", brought=("It has hooks.",)))
    [card] = [card for card in cards(deeds) if "Nobody has approved" in card.model_dump_json()]
    assert card.model_dump()["tone"] == Tone.NEEDS_YOU
    assert session.repository.base_commit == OLD
    assert len(session.in_state(TaskState.RUNNING)) == 2


def test_a_look_that_fails_holds_nothing_up() -> None:
    session = waiting()
    gets_place(session)
    failed = OrderFailed(
        id="f", at=later(), answers="base", what="look_at_base", reason="There is no branch main."
    )
    assert titles(decide(session, failed))[0].startswith("I cannot see where main stands")
    assert [order.key for order in due(session) if order.kind == "look_at_base"] == []
    assert len(session.in_state(TaskState.RUNNING)) == 2
