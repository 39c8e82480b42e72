"""Merging for real: by a merge commit, squashed into one, or rebased commit by commit."""

from __future__ import annotations

from tests.beds.github.following import catch_up
from tests.beds.github.git import Git
from tests.beds.github.mergeability import demand
from tests.beds.github.names import Refusal
from tests.beds.github.pulls import PullRequest
from tests.beds.github.repositories import Repository

_PLURAL = {"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}
_MODIFIED = "Base branch was modified. Review and try the merge again."


def merge(
    repository: Repository,
    pull: PullRequest,
    *,
    method: str,
    by: str,
    sha: str | None = None,
    title: str | None = None,
    message: str | None = None,
) -> str:
    """Move the base to a commit with everything of the head. That commit."""
    if method not in repository.habits.methods:
        raise Refusal(405, f"{_PLURAL[method]} are not allowed on this repository.")
    demand(repository, pull, sha)
    if method == "rebase":
        made = _rebased(repository.git, pull, by)
    else:
        made = _committed(repository, pull, method, by, (title, message))
    if not repository.git.move(pull.base, made, pull.base_sha):
        raise Refusal(405, _MODIFIED)
    pull.become_merged(made, by)
    if repository.habits.race_after_merge:
        repository.raced.add(pull.base)
    if repository.habits.delete_branch_on_merge:
        repository.git.run("update-ref", "-d", f"refs/heads/{pull.head}")
    catch_up(repository)
    return made


def _committed(
    repository: Repository,
    pull: PullRequest,
    method: str,
    by: str,
    said: tuple[str | None, str | None],
) -> str:
    git = repository.git
    tree = git.merged(pull.base_sha, pull.head_sha)
    if tree is None:
        raise Refusal(405, "Pull Request is not mergeable")
    if method == "squash":
        title, body = f"{pull.title} (#{pull.number})", _listed(git, pull)
        parents = [pull.base_sha]
    else:
        title = f"Merge pull request #{pull.number} from {repository.owner}/{pull.head}"
        body, parents = pull.title, [pull.base_sha, pull.head_sha]
    title = title if said[0] is None else said[0]
    body = body if said[1] is None else said[1]
    return git.commit(tree, parents, f"{title}\n\n{body}".rstrip() + "\n", by)


def _listed(git: Git, pull: PullRequest) -> str:
    """The messages of all commits; of a single one only what stands below its first line."""
    commits = git.between(pull.base_sha, pull.head_sha)
    messages = [git.run("log", "-1", "--format=%B", commit).strip() for commit in commits]
    if len(messages) == 1:
        return messages[0].partition("\n")[2].strip()
    return "\n\n".join(f"* {one}" for one in messages)


def _rebased(git: Git, pull: PullRequest, by: str) -> str:
    tip = pull.base_sha
    for commit in git.between(pull.base_sha, pull.head_sha):
        parents = git.parents(commit)
        if len(parents) > 1:
            raise Refusal(405, "This branch can't be rebased")
        # a commit with the tip's tree on the old parent makes git take that parent as what both have
        meeting = git.commit(git.tree(tip), parents, "meeting", by)
        tree = git.merged(meeting, commit)
        if tree is None:
            raise Refusal(405, "This branch can't be rebased")
        message = git.run("log", "-1", "--format=%B", commit)
        tip = git.commit(tree, [tip], message, by)
    return tip
