"""A repository that is hosted somewhere, once on a GitHub over the loopback and once in memory, with the same words for both."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from adapters.github import Access, GitHub
from adapters.github.api import ApiTiming
from bot.core.errors import Unavailable
from bot.core.forge import CiState
from bot.ports import Forge
from tests.adapters.git.worlds import git, new_repository, write
from tests.beds.github import STRANGER, GithubBed, Inline, Protection
from tests.fakes.forge import SLUG, FakeForge
from tests.fakes.repository import FakeRepository

FILES = {"README.md": "hello\n", "code.py": "one = 1\n"}
FAST = ApiTiming(call=20, whole=60, between_writes=0, again=0.01, git=60)
_CONCLUSIONS = {CiState.PASSED: "success", CiState.FAILED: "failure", CiState.PENDING: None}


class ForgeWorld(Protocol):
    forge: Forge
    path: str
    slug: str

    def agent_commits(self, branch: str, files: Mapping[str, str]) -> str:
        """A commit in the repository on this machine."""
        ...

    def agent_amends(self, branch: str, files: Mapping[str, str]) -> str:
        """A commit in place of the last one of the branch."""
        ...

    def tip(self, branch: str) -> str | None:
        """Where a branch stands on the forge."""
        ...

    def texts(self, number: int) -> tuple[str, str]:
        """Title and body of a pull request."""
        ...

    def numbers(self) -> list[int]:
        """All pull requests there have been."""
        ...

    def person_pushes(self, branch: str, files: Mapping[str, str]) -> str: ...

    def person_merges(self, number: int) -> str: ...

    def base_takes(self, commit: str) -> None:
        """Somebody pushes the commit to the base itself."""
        ...

    def person_closes(self, number: int) -> None: ...

    def person_edits(self, number: int, *, title: str | None, body: str | None) -> None: ...

    def person_comments(self, number: int, text: str, *, trusted: bool) -> None: ...

    def person_reviews(self, number: int, text: str, path: str, line: int, remark: str) -> None:
        """Ask for changes, and say something in a line."""
        ...

    def robot_says(self, number: int, name: str, state: CiState, output: str) -> None: ...

    def blocks(self, number: int) -> None:
        """A rule of the base branch is not kept."""
        ...

    def has_ci(self, name: str) -> None:
        """From now on the repository has a check of that name, which has not appeared anywhere yet."""
        ...

    def loses_next_answer(self, call: str) -> None:
        """`open` or `merge`: it is done, but nobody is told."""
        ...


class RealForgeWorld:
    def __init__(self, directory: Path, bed: GithubBed) -> None:
        self._bed = bed
        self._top = new_repository(directory / "repository", FILES)
        self._shop = bed.repository(SLUG, self._top)
        git(self._top, "remote", "add", "origin", self._shop.clone_url)
        self.path, self.slug = str(self._top), SLUG
        access = Access(token=bed.token, api_url=bed.url, environ={"PATH": os.environ["PATH"]})
        self._github = GitHub(directory / "home", access, on_token=_nobody, pace=FAST)
        self.forge: Forge = self._github

    async def close(self) -> None:
        await self._github.close()

    def agent_commits(self, branch: str, files: Mapping[str, str]) -> str:
        known = git(self._top, "for-each-ref", f"refs/heads/{branch}")
        git(self._top, "checkout", "--quiet", *([] if known else ["-b"]), branch)
        write(self._top, files)
        git(self._top, "add", "--all")
        git(self._top, "commit", "--quiet", "-m", "work")
        commit = git(self._top, "rev-parse", "HEAD")
        git(self._top, "checkout", "--quiet", "main")
        return commit

    def agent_amends(self, branch: str, files: Mapping[str, str]) -> str:
        git(self._top, "branch", "--force", branch, f"{branch}~1")
        return self.agent_commits(branch, files)

    def tip(self, branch: str) -> str | None:
        return self._shop.branches.get(branch)

    def texts(self, number: int) -> tuple[str, str]:
        pull = self._shop.pull(number)
        return pull.title, pull.body or ""

    def numbers(self) -> list[int]:
        return [one.number for one in self._shop.pulls]

    def person_pushes(self, branch: str, files: Mapping[str, str]) -> str:
        return self._shop.people.push(branch, dict(files))

    def person_merges(self, number: int) -> str:
        return self._shop.people.merge(number, "squash")

    def base_takes(self, commit: str) -> None:
        hub = self._bed.world.folder / f"{SLUG}.git"
        git(hub, "update-ref", "refs/heads/main", commit)

    def person_closes(self, number: int) -> None:
        self._shop.people.close(number)

    def person_edits(self, number: int, *, title: str | None, body: str | None) -> None:
        self._shop.people.edit(number, title=title, body=body)

    def person_comments(self, number: int, text: str, *, trusted: bool) -> None:
        self._shop.people.comment(number, text, by="mika" if trusted else STRANGER)

    def person_reviews(self, number: int, text: str, path: str, line: int, remark: str) -> None:
        remarks = [Inline(path, line, remark)]
        self._shop.people.review(number, "REQUEST_CHANGES", text, remarks)

    def robot_says(self, number: int, name: str, state: CiState, output: str) -> None:
        sha = self._shop.pull(number).head_sha
        self._shop.robots.check(sha, name, _CONCLUSIONS[state], summary=output)

    def blocks(self, number: int) -> None:
        self._shop.protect(self._shop.pull(number).base, Protection(reviews=1))

    def has_ci(self, name: str) -> None:
        workflow = f"on: [push]\njobs:\n  {name}:\n    runs-on: ubuntu-latest\n"
        self._shop.people.push("main", {".github/workflows/ci.yml": workflow})

    def loses_next_answer(self, call: str) -> None:
        verb, path = {"open": ("POST", "*/pulls"), "merge": ("PUT", "*/merge")}[call]
        self._bed.faults.lose_answer(verb, path)


class FakeForgeWorld:
    def __init__(self) -> None:
        self._repository = FakeRepository(files=FILES)
        self._fake = FakeForge(self._repository)
        self.path, self.slug = self._repository.path, SLUG
        self.forge: Forge = self._fake

    def agent_commits(self, branch: str, files: Mapping[str, str]) -> str:
        heads = self._repository.heads
        heads.setdefault(branch, heads[self._repository.branch])
        return self._repository.commit(branch, files, "work")

    def agent_amends(self, branch: str, files: Mapping[str, str]) -> str:
        last = self._repository.commits[self._repository.heads[branch]]
        self._repository.heads[branch] = last.parents[0]
        return self.agent_commits(branch, files)

    def tip(self, branch: str) -> str | None:
        return self._fake.hub.heads.get(branch)

    def texts(self, number: int) -> tuple[str, str]:
        pull = self._fake.pulls[number]
        return pull.title, pull.body

    def numbers(self) -> list[int]:
        return list(self._fake.pulls)

    def person_pushes(self, branch: str, files: Mapping[str, str]) -> str:
        return self._fake.person_pushes(branch, files)

    def person_merges(self, number: int) -> str:
        return self._fake.person_merges(number)

    def base_takes(self, commit: str) -> None:
        self._fake.hub.heads["main"] = commit

    def person_closes(self, number: int) -> None:
        self._fake.person_closes(number)

    def person_edits(self, number: int, *, title: str | None, body: str | None) -> None:
        self._fake.person_edits(number, title=title, body=body)

    def person_comments(self, number: int, text: str, *, trusted: bool) -> None:
        self._fake.person_says(number, text, trusted=trusted)

    def person_reviews(self, number: int, text: str, path: str, line: int, remark: str) -> None:
        self._fake.person_says(number, text, asks=True)
        self._fake.person_says(number, remark, path=path, line=line)

    def robot_says(self, number: int, name: str, state: CiState, output: str) -> None:
        self._fake.robot_says(number, name, state, output)

    def blocks(self, number: int) -> None:
        self._fake.pulls[number].blocked = True

    def has_ci(self, name: str) -> None:
        self._fake.has_ci = True

    def loses_next_answer(self, call: str) -> None:
        self._fake.lost = Unavailable(f"the answer to {call} was lost")


def _nobody(name: str, value: str) -> None:
    """Nobody here hides anything."""
