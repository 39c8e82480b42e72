"""A repository on GitHub: a bare repository of git, and beside it all that git does not know."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tests.beds.github.checks import CheckRun, Ci, Status
from tests.beds.github.comments import Comment, InlineComment, Review
from tests.beds.github.git import Git, outside
from tests.beds.github.names import now
from tests.beds.github.pulls import PullRequest

METHODS = ("merge", "squash", "rebase")


@dataclass(frozen=True)
class Protection:
    """What a branch asks for."""

    checks: tuple[str, ...] = ()
    """The names of checks or statuses that must have succeeded."""
    reviews: int = 0
    """So many must have approved."""
    up_to_date: bool = False
    """The head must have everything the base has."""
    closed: bool = True
    """Nobody pushes to it."""


@dataclass
class Habits:
    """What the settings page of a repository says, and how fast GitHub is with it."""

    delete_branch_on_merge: bool = False
    methods: tuple[str, ...] = METHODS
    """The ways of merging that are allowed."""
    drafts: bool = True
    """Whether there can be drafts: not in a private repository without a plan."""
    unknown_reads: int = 1
    """So often a pull request is read before GitHub knows whether it can be merged."""
    refusal: int = 405
    """The status with which a merge is refused that the rules of the base do not allow: 405, or 422."""
    race_after_merge: bool = False
    """Whether the merge right after another one into the same base is refused once."""


@dataclass
class Repository:
    owner: str
    name: str
    git: Git
    id: int
    ids: Iterator[int]
    """Where ids come from; the same for the whole GitHub."""
    private: bool = True
    default_branch: str = "main"
    created_at: datetime = field(default_factory=now)
    habits: Habits = field(default_factory=Habits)
    protected: dict[str, Protection] = field(default_factory=dict[str, Protection])
    pulls: dict[int, PullRequest] = field(default_factory=dict[int, PullRequest])
    comments: list[Comment] = field(default_factory=list[Comment])
    inline: list[InlineComment] = field(default_factory=list[InlineComment])
    reviews: list[Review] = field(default_factory=list[Review])
    statuses: list[Status] = field(default_factory=list[Status])
    checks: list[CheckRun] = field(default_factory=list[CheckRun])
    ci: list[Ci] = field(default_factory=list[Ci])
    rules: tuple[str, ...] = ()
    """Checks that a ruleset requires of every branch."""
    between_jobs: set[str] = field(default_factory=set[str])
    """Commits with a workflow whose next job has not appeared yet."""
    workflows_off: bool = False
    """GitHub Actions is switched off, as in a fork."""
    raced: set[str] = field(default_factory=set[str])
    """The bases into which the next merge comes too early."""
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def next_number(self) -> int:
        return next(self._numbers)

    def protect(self, branch: str, protection: Protection | None) -> None:
        """From now on, so; the hook reads from a file which branches nobody pushes to."""
        self.protected.pop(branch, None)
        if protection:
            self.protected[branch] = protection
        names = [name for name, one in self.protected.items() if one.closed]
        self._say("protected", names)

    def refuse_pushes(self, branch: str, message: str) -> None:
        """A rule of the repository against pushes to branches of that pattern; no message, no rule."""
        self._say("refused", [branch, message] if message else [])

    def _say(self, name: str, lines: list[str]) -> None:
        path = self.git.path / "bed" / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def bare(path: Path, seed: Path | None) -> Git:
    """A bare repository as a hoster keeps it, with what the seed has, or with one commit."""
    source = ["--bare", "-q", str(seed)] if seed else []
    verb = ["clone", *source] if seed else ["init", "--bare", "-q", "-b", "main"]
    subprocess.run(["git", *verb, str(path)], env=outside(), check=True, capture_output=True)
    git = Git(path)
    if seed is None:
        tree = git.with_files("", {"README.md": "# A shop\n"})
        git.run("update-ref", "refs/heads/main", git.commit(tree, [], "Begin", "GitHub"))
    elif git.holds("remote", "get-url", "origin"):
        git.run("remote", "remove", "origin")
    settings = {
        "http.receivepack": "true",
        "receive.hideRefs": "refs/pull",
        "uploadpack.allowFilter": "true",
        "gc.auto": "0",
        "core.quotePath": "false",
        "receive.autogc": "false",
        "core.hooksPath": str(path / "hooks"),
    }
    for name, value in settings.items():
        git.run("config", name, value)
    (path / "bed").mkdir()
    (path / "bed" / "protected").touch()
    (path / "bed" / "refused").touch()
    (path / "hooks").mkdir(exist_ok=True)
    shutil.copyfile(Path(__file__).parent / "update.sh", path / "hooks" / "update")
    (path / "hooks" / "update").chmod(0o755)
    return git
