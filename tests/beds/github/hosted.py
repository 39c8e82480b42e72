"""A repository as a test sees it: what stands there, what its settings are, and those who work with it."""

from __future__ import annotations

from tests.beds.github.comments import Comment, InlineComment, Review
from tests.beds.github.following import catch_up
from tests.beds.github.people import People
from tests.beds.github.pulls import PullRequest
from tests.beds.github.repositories import Habits, Protection, Repository
from tests.beds.github.robots import Robots
from tests.beds.github.world import World


class Hosted:
    def __init__(self, world: World, repository: Repository) -> None:
        self._world = world
        self._repository = repository
        self.people = People(world, repository)
        self.robots = Robots(world, repository)

    @property
    def full_name(self) -> str:
        return self._repository.full_name

    @property
    def clone_url(self) -> str:
        """Without any token."""
        return f"{self._world.base}/{self.full_name}.git"

    @property
    def habits(self) -> Habits:
        """Its settings; they may be changed."""
        return self._repository.habits

    @property
    def branches(self) -> dict[str, str]:
        """Every branch, and where it stands."""
        return self._repository.git.heads()

    @property
    def pulls(self) -> list[PullRequest]:
        """All pull requests there have been, as they are now."""
        with self._world.lock:
            catch_up(self._repository)
            return list(self._repository.pulls.values())

    @property
    def comments(self) -> list[Comment]:
        return list(self._repository.comments)

    @property
    def inline(self) -> list[InlineComment]:
        return list(self._repository.inline)

    @property
    def reviews(self) -> list[Review]:
        return list(self._repository.reviews)

    def pull(self, number: int) -> PullRequest:
        return next(one for one in self.pulls if one.number == number)

    def tip(self, branch: str) -> str:
        return self.branches[branch]

    def read(self, branch: str, path: str) -> str:
        """A file of a branch."""
        return self._repository.git.run("show", f"refs/heads/{branch}:{path}")

    def log(self, branch: str) -> list[str]:
        """The first lines of the messages, the newest first."""
        return self._repository.git.run("log", "--format=%s", f"refs/heads/{branch}").splitlines()

    def protect(self, branch: str, protection: Protection | None) -> None:
        """From now on, so; None: not at all."""
        self._repository.protect(branch, protection)

    def require(self, *checks: str) -> None:
        """A ruleset of the repository requires these checks, whatever the protection of a branch says."""
        self._repository.rules = checks

    def switch_workflows_off(self) -> None:
        self._repository.workflows_off = True

    def refuse_pushes(self, branch: str, message: str) -> None:
        """Pushes to branches of this pattern are refused with that message; an empty one ends it."""
        self._repository.refuse_pushes(branch, message)
