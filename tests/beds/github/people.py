"""The people of a repository on GitHub: what they do there without the app."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace

from tests.beds.github.accounts import User
from tests.beds.github.comments import Comment, Inline, InlineComment, Review
from tests.beds.github.following import catch_up, keep
from tests.beds.github.git import NOTHING
from tests.beds.github.merging import merge
from tests.beds.github.names import MIKA, CannotDo, Refusal
from tests.beds.github.pulls import PullRequest
from tests.beds.github.repositories import Repository
from tests.beds.github.talking import answer_inline, say, submit
from tests.beds.github.world import World


class People:
    """`by` is any name; `association` is what they are to the repository, if not what they usually are."""

    def __init__(self, world: World, repository: Repository) -> None:
        self._world = world
        self._repository = repository

    def merge(self, number: int, method: str = "merge", *, by: str = MIKA) -> str:
        """Press the button. The commit the base is at then."""
        with self._acting() as repository:
            return merge(repository, self._pull(number), method=method, by=by)

    def close(self, number: int) -> None:
        with self._acting():
            self._pull(number).close()

    def reopen(self, number: int) -> None:
        with self._acting():
            pull = self._pull(number)
            if pull.merged_at:
                raise CannotDo("it is merged")
            pull.reopen()

    def ready(self, number: int) -> None:
        """It is a draft no more."""
        with self._acting():
            pull = self._pull(number)
            pull.draft = False
            pull.changed()

    def edit(self, number: int, *, title: str | None = None, body: str | None = None) -> None:
        with self._acting():
            pull = self._pull(number)
            pull.title = pull.title if title is None else title
            pull.body = pull.body if body is None else body
            pull.changed()

    def comment(
        self, number: int, body: str, *, by: str = MIKA, association: str | None = None
    ) -> Comment:
        with self._acting() as repository:
            return say(repository, self._pull(number), self._who(by, association), body)

    def review(
        self,
        number: int,
        event: str = "COMMENT",
        body: str = "",
        comments: Iterable[Inline] = (),
        *,
        by: str = MIKA,
        association: str | None = None,
    ) -> Review:
        """APPROVE, REQUEST_CHANGES or COMMENT, with words and with words in lines."""
        with self._acting() as repository:
            pull, who = self._pull(number), self._who(by, association)
            return submit(repository, pull, who, event, body, comments)

    def dismiss(self, review: Review) -> None:
        with self._acting():
            review.state = "DISMISSED"

    def reply(
        self, comment: InlineComment, body: str, *, by: str = MIKA, association: str | None = None
    ) -> InlineComment:
        """Answer in a line."""
        with self._acting() as repository:
            pull, who = self._pull(comment.number), self._who(by, association)
            return answer_inline(repository, pull, who, comment.id, body)

    def push(
        self,
        branch: str,
        files: dict[str, str | None],
        message: str = "Change it",
        *,
        by: str = MIKA,
        start: str = "",
        force: bool = False,
    ) -> str:
        """A commit with these files (None: one less), on a new branch from `start` or the default one.

        By force it takes the place of the last one. The commit.
        """
        with self._acting() as repository:
            git = repository.git
            old = git.heads().get(branch, "")
            tip = old or git.commit_of(start or repository.default_branch)
            parents = git.parents(tip) if force and old else [tip]
            made = git.commit(git.with_files(tip, files), parents, message + "\n", by)
            if not git.move(branch, made, old or NOTHING):
                raise CannotDo(f"{branch} has moved")
            return made

    def delete_branch(self, branch: str) -> None:
        with self._acting() as repository:
            repository.git.run("update-ref", "-d", f"refs/heads/{branch}")

    def open_pull(self, head: str, base: str = "main", title: str = "A change") -> PullRequest:
        """A pull request of theirs."""
        with self._acting() as repository:
            heads = repository.git.heads()
            number, id_ = repository.next_number(), next(repository.ids)
            ends = (heads[head], heads[base])
            made = PullRequest(id_, number, title, None, head, base, *ends, MIKA)
            repository.pulls[number] = made
            keep(repository, made)
            return made

    def _pull(self, number: int) -> PullRequest:
        found = self._repository.pulls.get(number)
        if found is None:
            raise CannotDo(f"there is no pull request #{number}")
        return found

    def _who(self, by: str, association: str | None) -> User:
        user = self._world.accounts.user(by)
        return replace(user, association=association) if association else user

    @contextmanager
    def _acting(self) -> Generator[Repository]:
        """Nobody else acts meanwhile; what was refused to a person is a mistake of the test."""
        with self._world.lock:
            catch_up(self._repository)
            try:
                yield self._repository
            except Refusal as refusal:
                raise CannotDo(refusal.message) from refusal
            catch_up(self._repository)
