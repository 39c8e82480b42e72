"""The robots of a repository on GitHub: CI that says what it found of a commit."""

from __future__ import annotations

from collections.abc import Iterable

from tests.beds.github.checks import CheckRun, Status
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
            return run

    def finish(self, run: CheckRun, conclusion: str) -> None:
        """It has come to an end."""
        with self._world.lock:
            run.status, run.conclusion, run.completed_at = "completed", conclusion, now()

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
