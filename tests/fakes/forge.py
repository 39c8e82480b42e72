"""A forge in memory, beside a FakeRepository. It keeps the Forge port: done twice is done once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count

from bot.core.errors import PortError, Refused
from bot.core.forge import (
    NOTHING_KNOWN,
    ChecksWanted,
    CiFailure,
    CiState,
    Fetched,
    Hosted,
    MergeTried,
    Obstacle,
    Pull,
    PullWanted,
    ReviewNote,
)
from bot.core.naming import is_agent_branch
from tests.fakes.histories import clashes
from tests.fakes.pull import FakePull
from tests.fakes.repository import FakeRepository
from tests.fakes.worktree import FakeWorktree

SLUG = "acme/shop"


class FakeForge:
    """`repository` is hosted here. What people do are ordinary methods, the port's are coroutines."""

    def __init__(self, repository: FakeRepository, *, slug: str = SLUG) -> None:
        self.hub = FakeRepository(path=f"/forge/{slug}", branch=repository.branch)
        self.hub.commits = dict(repository.commits)
        self.hub.heads = {repository.branch: repository.heads[repository.branch]}
        self.hosted: Hosted | None = Hosted(slug=slug, url=f"https://forge.example/{slug}")
        self.pulls: dict[int, FakePull] = {}
        self.problem: PortError | None = None
        """Raised by every call while it is set."""
        self.lost: PortError | None = None
        """Raised once, after the next thing was done: its answer is lost on the way."""
        self.has_ci = False
        """Whether there will be checks of every head, sooner or later."""
        self.calls: list[str] = []
        """The names of the port's calls, in order."""
        self._repositories = {repository.path: repository}
        self._pushed: set[str] = set()
        self._ids = count(1)

    # what people and robots do

    def person_pushes(self, branch: str, files: Mapping[str, str]) -> str:
        """A commit on a branch there, begun at the base if it is new."""
        self.hub.heads.setdefault(branch, self.hub.heads[self.hub.branch])
        commit = self.hub.commit(branch, files, "work of a person")
        self._follow()
        return commit

    def person_deletes(self, branch: str) -> None:
        del self.hub.heads[branch]

    def person_merges(self, number: int) -> str:
        return self._merge(self.pulls[number], "merged by a person")

    def person_closes(self, number: int) -> None:
        self.pulls[number].state = "closed"

    def person_edits(
        self, number: int, *, title: str | None = None, body: str | None = None
    ) -> None:
        pull = self.pulls[number]
        pull.title = pull.title if title is None else title
        pull.body = pull.body if body is None else body

    def person_says(
        self,
        number: int,
        text: str,
        *,
        trusted: bool = True,
        path: str = "",
        line: int | None = None,
        asks: bool = False,
    ) -> str:
        """The key of the note."""
        key, by = f"note:{next(self._ids)}", "mika" if trusted else "stranger"
        words = {"text": text, "path": path, "line": line, "asks_for_changes": asks}
        note = ReviewNote.model_validate({"key": key, "author": by, "trusted": trusted, **words})
        self.pulls[number].notes.append(note)
        return key

    def robot_says(self, number: int, name: str, state: CiState, output: str = "") -> None:
        """What a check of the head came to."""
        pull, failure = self.pulls[number], None
        if state is CiState.FAILED:
            key = f"check:{next(self._ids)}:{pull.head}"
            failure = CiFailure(key=key, name=name, output=output)
        pull.ci[name] = (state, failure)

    # the port

    async def find(self, repository: str) -> Hosted | None:
        await self._asked("find")
        return self.hosted if repository in self._repositories else None

    async def publish(self, repository: str, slug: str, branch: str, commit: str) -> None:
        await self._asked("publish", slug)
        _require_agents(branch)
        there = self._repositories[repository]
        if self.hub.heads.get(branch) != commit:
            if branch not in there.heads or commit not in there.ancestors(there.heads[branch]):
                raise Refused(f"{branch} no longer holds the commit {commit}")
            seen = self.hub.heads.get(branch)
            if seen and seen not in self._pushed and seen not in there.ancestors(commit):
                raise Refused(f"{branch} holds work on the forge that is not in {commit}")
            new = there.ancestors(commit) - self.hub.commits.keys()
            self.hub.commits |= {sha: it for sha, it in there.commits.items() if sha in new}
            self.hub.heads[branch] = commit
            self._pushed.add(commit)
            self._follow()
        self._lose()

    async def open(self, slug: str, wanted: PullWanted) -> Pull:
        await self._asked("open", slug)
        _require_agents(wanted.branch)
        found = self._found(wanted) or self._made(wanted)
        if found.state == "open":
            found.bring_up_to_date(wanted)
        self._lose()
        return found.seen(self.hub)

    async def look(self, slug: str, number: int) -> Pull:
        await self._asked("look", slug)
        return self._pull(number).looked_at(self.hub)

    async def make_ready(self, slug: str, number: int) -> Pull:
        await self._asked("make_ready", slug)
        pull = self._pull(number)
        pull.draft = pull.draft and pull.state != "open"
        self._lose()
        return pull.seen(self.hub)

    async def merge(
        self,
        slug: str,
        number: int,
        head: str,
        title: str,
        checks: ChecksWanted = NOTHING_KNOWN,
    ) -> MergeTried:
        await self._asked("merge", slug)
        pull = self._pull(number)
        if pull.state != "merged":
            if obstacle := self._obstacle(pull, head) or self._unproved(pull, checks):
                return MergeTried(merged=False, obstacle=obstacle, reason=f"it is {obstacle}")
            self._merge(pull, title)
        self._lose()
        return MergeTried(merged=True, commit=pull.merge_commit)

    async def tip(self, slug: str, branch: str) -> str:
        await self._asked("tip", slug)
        return self.hub.heads.get(branch, "")

    async def fetch(self, slug: str, branch: str, *, near: str = "") -> Fetched:
        await self._asked("fetch", slug)
        if branch not in self.hub.heads:
            raise Refused(f"the forge has no branch {branch}")
        return Fetched(path=self.hub.path, commit=self.hub.heads[branch])

    async def fetch_head(self, slug: str, number: int) -> Fetched:
        await self._asked("fetch_head", slug)
        return Fetched(path=self.hub.path, commit=self._pull(number).head)

    async def delete_remote_branch(self, slug: str, branch: str, commit: str) -> str:
        await self._asked("unpublish", slug)
        _require_agents(branch)
        seen = self.hub.heads.get(branch)
        if seen is not None and seen != commit:
            return f"it stands at {seen} on the forge"
        self.hub.heads.pop(branch, None)
        self._lose()
        return ""

    async def close(self) -> None:
        """There is nothing to let go."""

    async def _asked(self, name: str, slug: str = "") -> None:
        await asyncio.sleep(0)
        self.calls.append(name)
        if self.problem is not None:
            raise self.problem
        if slug and (self.hosted is None or slug != self.hosted.slug):
            raise Refused(f"there is no repository {slug}")

    def _lose(self) -> None:
        if self.lost is not None:
            lost, self.lost = self.lost, None
            raise lost

    def _pull(self, number: int) -> FakePull:
        if number not in self.pulls:
            raise Refused(f"there is no pull request #{number}")
        return self.pulls[number]

    def _found(self, wanted: PullWanted) -> FakePull | None:
        ours = [one for one in self.pulls.values() if one.branch == wanted.branch]
        open_ones = [one for one in ours if one.state == "open"]
        done = [one for one in ours if (one.state, one.head) == ("merged", wanted.commit)]
        return next(iter((*open_ones, *done)), None)

    def _made(self, wanted: PullWanted) -> FakePull:
        if wanted.branch not in self.hub.heads or wanted.base not in self.hub.heads:
            raise Refused(f"the forge has no branch {wanted.branch}, or no {wanted.base}")
        head = self.hub.heads[wanted.branch]
        if head in self.hub.ancestors(self.hub.heads[wanted.base]):
            raise Refused(f"there is nothing to merge in {wanted.branch}")
        texts = (wanted.title, wanted.body)
        number = len(self.pulls) + 1
        self.pulls[number] = FakePull(
            number,
            self._url(number),
            wanted.branch,
            wanted.base,
            *texts,
            wanted.draft,
            head,
            given=texts,
        )
        return self.pulls[number]

    def _url(self, number: int) -> str:
        return f"{self.hosted.url}/pull/{number}" if self.hosted else ""

    def _obstacle(self, pull: FakePull, head: str) -> Obstacle | None:
        if pull.state == "closed":
            return Obstacle.CLOSED
        if pull.head != head:
            return Obstacle.MOVED
        if pull.draft:
            return Obstacle.DRAFT
        if clashes(self.hub, self.hub.heads[pull.base], pull.head):
            return Obstacle.CONFLICT
        return Obstacle.RULES if pull.blocked else None

    def _unproved(self, pull: FakePull, checks: ChecksWanted) -> Obstacle | None:
        known = {CiState.FAILED: Obstacle.CHECKS_FAILED, CiState.PENDING: Obstacle.CHECKS}
        if pull.ci_state in known:
            return known[pull.ci_state]
        missing = {*checks.names} - {*pull.ci} or (not pull.ci and (checks.expected or self.has_ci))
        return Obstacle.CHECKS_MISSING if missing and not checks.anyway else None

    def _merge(self, pull: FakePull, title: str) -> str:
        """Squashed: the base has the files, and not the commits."""
        base = self.hub.heads[pull.base]
        merged = FakeWorktree(self.hub, "", base).merge(pull.head, title)
        if merged.conflicts:
            raise AssertionError(f"nobody can merge #{pull.number}: {merged.conflicts}")
        files = self.hub.commits[merged.commit].files
        pull.merge_commit = self.hub.make(files, title, (base,))
        self.hub.heads[pull.base] = pull.merge_commit
        pull.state = "merged"
        return pull.merge_commit

    def _follow(self) -> None:
        """An open pull request is at the head of its branch. What robots said was of another commit."""
        for pull in self.pulls.values():
            head = self.hub.heads.get(pull.branch, pull.head)
            if pull.state == "open" and head != pull.head:
                pull.head, pull.ci = head, {}


def _require_agents(branch: str) -> None:
    if not is_agent_branch(branch):
        raise Refused(f"{branch!r} is no branch of an agent")
