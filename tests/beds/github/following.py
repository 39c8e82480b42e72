"""What follows for pull requests from what was pushed, merged or deleted in git."""

from __future__ import annotations

from tests.beds.github.pulls import PullRequest
from tests.beds.github.repositories import Repository


def catch_up(repository: Repository) -> None:
    """Look where the branches are now; done before anybody is told anything."""
    opened = [one for one in repository.pulls.values() if one.is_open]
    if not opened:
        return
    heads = repository.git.heads()
    for pull in opened:
        _follow_head(repository, pull, heads)
        if pull.is_open:
            _follow_base(repository, pull, heads)


def keep(repository: Repository, pull: PullRequest) -> None:
    """The head under the name by which it can be fetched also when its branch is gone."""
    repository.git.run("update-ref", f"refs/pull/{pull.number}/head", pull.head_sha)


def _follow_head(repository: Repository, pull: PullRequest, heads: dict[str, str]) -> None:
    head = heads.get(pull.head)
    if head is None:
        pull.close()
    elif head != pull.head_sha:
        pull.head_sha = head
        pull.changed()
        keep(repository, pull)
        if repository.git.contains(heads.get(pull.base, head), head):
            pull.close()


def _follow_base(repository: Repository, pull: PullRequest, heads: dict[str, str]) -> None:
    base = heads.get(pull.base)
    if base is None:
        _move_on(repository, pull, heads)
    elif base != pull.base_sha:
        if repository.git.contains(base, pull.head_sha):
            pull.become_merged(pull.head_sha, repository.owner)
        else:
            pull.base_sha = base


def _move_on(repository: Repository, pull: PullRequest, heads: dict[str, str]) -> None:
    """The base is gone: what was stacked on a merged pull request goes where that went."""
    below = [one for one in repository.pulls.values() if one.head == pull.base and one.merged_at]
    if below and below[-1].base in heads:
        pull.base = below[-1].base
        pull.base_sha = heads[pull.base]
        pull.changed()
    else:
        pull.close()
