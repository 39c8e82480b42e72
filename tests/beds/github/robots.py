"""The robots of a repository on GitHub: CI that says what it found of a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.beds.github.checks import CheckRun, Ci, Status
from tests.beds.github.names import CannotDo, Json, now
from tests.beds.github.repositories import Repository
from tests.beds.github.world import World


class Robots:
    def __init__(self, world: World, repository: Repository) -> None:
        self._world = world
        self._repository = repository

    def check(
        self,
        of: str,
        name: str,
        conclusion: str | None = None,
        *,
        status: str = "",
        title: str | None = None,
        summary: str | None = None,
        text: str | None = None,
        annotations: Iterable[Json] = (),
        log: str = "",
        app: str = "GitHub Actions",
    ) -> CheckRun:
        """A check run on a branch or commit; without a conclusion it is still in progress."""
        with self._world.lock:
            run = CheckRun(
                next(self._repository.ids),
                self._commit(of),
                name,
                app,
                status or ("completed" if conclusion else "in_progress"),
                conclusion,
                title,
                summary,
                text,
                list(annotations),
                log,
                completed_at=now() if conclusion else None,
            )
            self._repository.checks.append(run)
            self._repository.between_jobs.discard(run.sha)
            return run

    def finish(self, run: CheckRun, conclusion: str) -> None:
        """It has come to an end."""
        with self._world.lock:
            run.status, run.conclusion, run.completed_at = "completed", conclusion, now()

    def next_job_comes(self, of: str) -> None:
        """A job of GitHub Actions needs one that is over; its own run appears a moment later."""
        self._repository.between_jobs.add(self._commit(of))

    def check_late(
        self,
        name: str,
        finds: Callable[[str], str] = lambda _: "success",
        *,
        begins: int = 3,
        ends: int = 5,
    ) -> Ci:
        """From now on each head of a pull request is checked, but the run appears only after some looks."""
        ci = Ci(name, finds, begins, ends)
        self._repository.ci.append(ci)
        return ci

    def came_to(self, sha: str) -> dict[str, str | None]:
        """What each check of a commit ended as; None: it has not ended."""
        return {one.name: one.conclusion for one in self._repository.checks if one.sha == sha}

    def read(self, sha: str, path: str) -> str:
        """A file of a commit; empty: there is none."""
        git = self._repository.git
        there = git.holds("cat-file", "-e", f"{sha}:{path}")
        return git.run("show", f"{sha}:{path}") if there else ""

    def status(
        self,
        of: str,
        context: str,
        state: str,
        *,
        description: str | None = None,
        target_url: str | None = None,
        by: str = "ci-robot",
    ) -> Status:
        """A status (`success`, `failure`, `error`, `pending`) of a branch's commit or a commit."""
        with self._world.lock:
            number = next(self._repository.ids)
            made = Status(number, self._commit(of), context, state, by, description, target_url)
            self._repository.statuses.append(made)
            return made

    def _commit(self, of: str) -> str:
        found = self._repository.git.commit_of(of)
        if not found:
            raise CannotDo(f"there is no commit {of}")
        return found


def annotation(path: str, line: int, message: str, level: str = "failure") -> Json:
    """A word of a check run about a line."""
    return {
        "path": path,
        "start_line": line,
        "end_line": line,
        "start_column": None,
        "end_column": None,
        "annotation_level": level,
        "title": None,
        "message": message,
        "raw_details": None,
    }
