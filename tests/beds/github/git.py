"""One bare repository, by git itself: what is read is read from objects, what is written is checked against the old value."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

NOTHING = "0" * 40
_OUTSIDE = ("PATH", "LANG", "LC_ALL", "TMPDIR")
"""All that git learns of the machine."""


class GitFailed(Exception):  # noqa: N818 - what happened
    """Git said no, and the bed did not expect it."""


class Git:
    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, *arguments: str, given: str = "", by: str = "GitHub") -> str:
        """What git says; raises when it does not succeed."""
        done = self._start(arguments, given, by)
        if done.returncode:
            raise GitFailed(f"git {arguments[0]}: {done.stderr.strip()}")
        return done.stdout.rstrip("\n")

    def holds(self, *arguments: str) -> bool:
        """Whether it succeeds."""
        return self._start(arguments, "", "GitHub").returncode == 0

    def heads(self) -> dict[str, str]:
        """Every branch, and where it stands."""
        lines = self.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
        pairs = [line.split(" ", 1) for line in lines.splitlines()]
        return {name.removeprefix("refs/heads/"): commit for commit, name in pairs}

    def commit_of(self, name: str) -> str:
        """The commit a branch, tag or hash means; empty when there is none."""
        for one in (f"refs/heads/{name}", name):
            done = self._start(("rev-parse", "--verify", "-q", one + "^{commit}"), "", "GitHub")
            if done.returncode == 0:
                return done.stdout.strip()
        return ""

    def contains(self, whole: str, part: str) -> bool:
        """Whether `part` is `whole` or one of its ancestors."""
        return self.holds("merge-base", "--is-ancestor", part, whole)

    def fork(self, ours: str, theirs: str) -> str:
        """The last commit both have; empty when they have none in common."""
        done = self._start(("merge-base", ours, theirs), "", "GitHub")
        return done.stdout.strip()

    def between(self, since: str, until: str) -> list[str]:
        """The commits of `until` that `since` has not, the oldest first."""
        return self.run("rev-list", "--reverse", "--topo-order", until, f"^{since}").splitlines()

    def tree(self, commit: str) -> str:
        return self.run("rev-parse", commit + "^{tree}")

    def parents(self, commit: str) -> list[str]:
        return self.run("rev-parse", commit + "^@").splitlines()

    def merged(self, ours: str, theirs: str) -> str | None:
        """The tree of both; None where they conflict."""
        done = self._start(("merge-tree", "--write-tree", ours, theirs), "", "GitHub")
        if done.returncode > 1:
            raise GitFailed(done.stderr.strip())
        return done.stdout.split("\n", 1)[0] if done.returncode == 0 else None

    def commit(self, tree: str, parents: list[str], message: str, by: str) -> str:
        on = [part for parent in parents for part in ("-p", parent)]
        return self.run("commit-tree", tree, *on, given=message, by=by)

    def move(self, branch: str, new: str, old: str) -> bool:
        """Whether the branch was where it was thought to be; only then it is moved."""
        return self.holds("update-ref", f"refs/heads/{branch}", new, old)

    def with_files(self, commit: str, files: dict[str, str | None]) -> str:
        """The tree of a commit with these files written over it; None removes one."""
        lines = [] if not commit else self.run("ls-tree", "-r", commit).splitlines()
        entries = {line.split("\t", 1)[1]: line.split("\t", 1)[0].split() for line in lines}
        for name, content in files.items():
            entries.pop(name, None)
            if content is not None:
                blob = self.run("hash-object", "-w", "--stdin", given=content)
                entries[name] = ["100644", "blob", blob]
        index = self.path / "bed-index"
        text = "".join(f"{mode} {blob}\t{name}\n" for name, (mode, _, blob) in entries.items())
        try:
            self._start(("update-index", "--index-info"), text, "GitHub", index)
            return self._start(("write-tree",), "", "GitHub", index).stdout.strip()
        finally:
            index.unlink(missing_ok=True)

    def _start(
        self, arguments: tuple[str, ...], given: str, by: str, index: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {**outside(), **author(by)}
        if index:
            environment["GIT_INDEX_FILE"] = str(index)
        command = ["git", "--git-dir", str(self.path), *arguments]
        return subprocess.run(
            command,
            input=given,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )


def outside() -> dict[str, str]:
    """An environment in which git reads nobody's settings and asks nobody."""
    kept = {name: os.environ[name] for name in _OUTSIDE if name in os.environ}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": os.devnull}
    return {**kept, **alone, "GIT_TERMINAL_PROMPT": "0"}


def author(by: str) -> dict[str, str]:
    mail = f"{by}@users.noreply.github.com"
    committer = {"GIT_COMMITTER_NAME": "GitHub", "GIT_COMMITTER_EMAIL": "noreply@github.com"}
    return {"GIT_AUTHOR_NAME": by, "GIT_AUTHOR_EMAIL": mail, **committer}
