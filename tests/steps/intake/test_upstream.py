"""Where a session starts from: the branch on its host, held against the one in the checkout; and what of that is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from bot.core.actions import CleanUp, LookAtBase, ScanRepository, Survey
from bot.core.cards import ReceivedCard
from bot.core.errors import Refused, Unavailable
from bot.core.events import BaseSeen, Surveyed
from bot.core.forge import Hosted
from bot.core.projections.records import Record
from bot.core.states import Status
from bot.core.world import World
from bot.steps import repository_state
from bot.steps.decisions import decide
from bot.steps.finish import work as finish
from bot.steps.intake import work as intake
from tests.fakes.forge import SLUG, FakeForge
from tests.fakes.repository import FakeRepository
from tests.fakes.worktrees import FakeWorktrees
from tests.steps.scenes import cards, fresh, surveyed
from tests.steps.specify.test_perform_planning import Bench

HOSTED = Hosted(slug=SLUG)


@dataclass
class Place:
    """A checkout, and the GitHub it was cloned from."""

    hosted: bool = True
    mine: FakeRepository = field(default_factory=FakeRepository)

    def __post_init__(self) -> None:
        self.forge = FakeForge(self.mine)
        self.bench = Bench(repository=self.mine)
        self.begun = self.mine.heads["main"]

    @property
    def world(self) -> World:
        worktrees = FakeWorktrees(self.mine, self.forge.hub)
        forge = self.forge if self.hosted else None
        return replace(self.bench.world, worktrees=worktrees, forge=forge)

    async def surveys(self) -> Surveyed:
        return await intake.survey(
            self.world, fresh(repository__path=self.mine.path, agents__default="played"), Survey()
        )

    async def tells(self) -> tuple[str, str]:
        """Where the first card says the work starts, and the note beneath it that is about that."""
        session = fresh(repository__path=self.mine.path)
        deeds = decide(session, await self.surveys())
        [card] = [card for card in cards(deeds) if isinstance(card, ReceivedCard)]
        notes = [note for note in card.notes if "main" in note]
        return f"{card.branch} at {card.commit}", " ".join(notes)

    async def looks(self, **changes: object) -> BaseSeen:
        known: dict[str, object] = {
            "repository__path": self.mine.path,
            "repository__base_commit": self.begun,
        }
        hosted = {"pulls__host": HOSTED} if self.hosted else {}
        return await repository_state.look_at_base(
            self.world, surveyed(**{**known, **hosted, **changes}), LookAtBase()
        )


def nothing(place: Place) -> str:
    return place.begun


def merged_there(place: Place) -> str:
    place.forge.person_pushes("main", {"a.py": "1"})
    return place.forge.person_pushes("main", {"a.py": "2"})


def committed_here(place: Place) -> str:
    place.mine.commit("main", {"mine.py": "1"}, "feat: mine")
    return place.begun


def both(place: Place) -> str:
    committed_here(place)
    return merged_there(place)


def never_pushed(place: Place) -> str:
    place.forge.person_deletes("main")
    return place.begun


def away(place: Place) -> str:
    async def fails(slug: str, branch: str) -> str:
        raise Unavailable("GitHub is not reached")

    place.forge.tip = fails
    committed_here(place)
    return place.mine.heads["main"]


@pytest.mark.covers("O-M17")
@pytest.mark.parametrize(
    ("happened", "where", "note"),
    [
        (nothing, "main on GitHub", ""),
        (
            merged_there,
            "main on GitHub",
            "main on GitHub is 2 commits ahead of yours: I build on GitHub's.",
        ),
        (
            committed_here,
            "main on GitHub",
            "Your main has 1 commit that GitHub lacks: not part of this unless you push.",
        ),
        (
            both,
            "main on GitHub",
            (
                "main on GitHub and yours have parted: 2 commits there, 1 commit here. "
                "I build on GitHub's. Push yours if they should be part of this."
            ),
        ),
        (
            never_pushed,
            "main",
            "main is not on GitHub. I build on yours; push it, as pull requests need it there.",
        ),
        (
            away,
            "main",
            (
                "I could not see where main stands on GitHub: GitHub is not reached. "
                "I plan from yours, and look again before work begins."
            ),
        ),
    ],
)
async def test_a_hosted_branch_is_the_base_and_the_card_says_how_it_differs_from_ones_own(
    happened: Callable[[Place], str], where: str, note: str
) -> None:
    place = Place()
    commit = happened(place)
    mine = dict(place.mine.heads)
    assert await place.tells() == (f"{where} at {commit}", note)
    assert place.mine.heads == mine
    scanned = await intake.scan(
        place.world,
        surveyed(repository__path=place.mine.path, repository__base_commit=commit),
        ScanRepository(),
    )
    assert scanned.scan.commit == commit


@pytest.mark.covers("O-M17")
@pytest.mark.parametrize("fetched", [True, False])
async def test_without_a_host_one_builds_on_ones_own_and_hears_of_an_origin_that_is_ahead(
    fetched: bool,
) -> None:
    place = Place(hosted=False)
    mine = place.begun
    there = merged_there(place)
    place.mine.origin["main"] = there
    if fetched:
        place.mine.commits |= place.forge.hub.commits
    ahead = "is 2 commits ahead" if fetched else "is ahead"
    note = f"main at origin {ahead} of yours. I build on yours: pull first if it matters."
    assert await place.tells() == (f"main at {mine}", note)
    place.mine.origin["main"] = mine
    committed_here(place)
    assert (await place.surveys()).base.upstream is None


async def test_a_later_look_tells_what_came_since_the_plan_was_made() -> None:
    place = Place()
    assert (await place.looks()).base.commit == place.begun
    there = merged_there(place)
    seen = await place.looks()
    assert (seen.base.commit, seen.commits, seen.files) == (there, 2, ("a.py",))
    assert seen.scan
    assert seen.scan.commit == there


@pytest.mark.parametrize("problem", [Unavailable("no network"), Refused("no such token")])
async def test_a_host_that_cannot_be_asked_moves_nothing(problem: Unavailable | Refused) -> None:
    place = Place()
    committed_here(place)
    place.forge.problem = problem
    seen = await place.looks()
    assert (seen.base.commit, seen.files, seen.scan) == (place.begun, (), None)
    assert seen.base.upstream
    assert seen.base.upstream.problem == f"{problem.reason}."


async def test_a_checkout_without_the_branch_is_no_obstacle_where_there_is_a_host() -> None:
    place = Place()
    there = merged_there(place)
    place.mine.heads["other"] = place.mine.heads.pop("main")
    place.mine.branch = "other"
    assert (await place.looks()).base.commit == there
    with pytest.raises(Refused, match="no branch main"):
        await place.looks(pulls__host=None)


async def test_commits_another_session_begins_from_are_kept_when_one_cleans_up() -> None:
    place = Place()
    kept: list[frozenset[str]] = []

    async def let_go(repository: str, keep: frozenset[str]) -> None:
        kept.append(keep)

    world = place.world
    world.worktrees.let_go = let_go
    for number, status in enumerate((Status.ACTIVE, Status.PAUSED, Status.COMPLETED)):
        other = surveyed(
            repository__path=place.mine.path,
            status=status,
            repository__base_commit=f"{number}" * 40,
        )
        other.id = f"other-{number}"
        place.bench.store.save(Record(session=other))
    ended = surveyed(repository__path=place.mine.path, status=Status.DISCARDED)
    await finish.clean_up(world, ended, CleanUp())
    assert kept == [frozenset({"0" * 40, "1" * 40})]
