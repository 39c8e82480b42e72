"""Whether a pull request can be merged, in the words of its page and in the words of a refusal."""

from __future__ import annotations

from tests.beds.github.checks import outcomes
from tests.beds.github.comments import approvals
from tests.beds.github.names import Refusal
from tests.beds.github.pulls import PullRequest
from tests.beds.github.repositories import Protection, Repository

_FREE = Protection(closed=False)
_WORDS = {"pending": "in progress", "bad": "failing", "missing": "expected"}


def looked_at(repository: Repository, pull: PullRequest, *, asked: bool) -> tuple[bool | None, str]:
    """What somebody is told who reads the pull request; the first who ask only set GitHub thinking."""
    if not pull.is_open:
        return None, "unknown"
    place = (pull.base_sha, pull.head_sha)
    before = pull.reads.get(place, 0)
    pull.reads[place] = before + asked
    if before < repository.habits.unknown_reads:
        return None, "unknown"
    return state(repository, pull)


def state(repository: Repository, pull: PullRequest) -> tuple[bool, str]:
    """(`mergeable`, `mergeable_state`) once GitHub has thought."""
    if repository.git.merged(pull.base_sha, pull.head_sha) is None:
        return False, "dirty"
    if pull.draft:
        return True, "draft"
    if _waiting(repository, pull) or _unreviewed(repository, pull):
        return True, "blocked"
    if _behind(repository, pull):
        return True, "behind"
    said = outcomes(repository.checks, repository.statuses, pull.head_sha)
    return True, "clean" if all(outcome == "good" for _, outcome in said) else "unstable"


def demand(repository: Repository, pull: PullRequest, sha: str | None) -> None:
    """Refuses what cannot be merged now, as the merge button of the API does."""
    if not pull.is_open:
        raise Refusal(405, "Pull Request is not mergeable")
    if pull.draft:
        raise Refusal(405, "Pull Request is still a draft")
    if sha and sha != pull.head_sha:
        raise Refusal(409, "Head branch was modified. Review and try the merge again.")
    if repository.git.merged(pull.base_sha, pull.head_sha) is None:
        raise Refusal(405, "Pull Request is not mergeable")
    if problem := _protest(repository, pull):
        raise Refusal(repository.habits.refusal, problem)
    if pull.base in repository.raced:
        repository.raced.discard(pull.base)
        raise Refusal(405, "Base branch was modified. Review and try the merge again.")


def _protest(repository: Repository, pull: PullRequest) -> str:
    """What the protection of the base has against it."""
    rules = repository.protected.get(pull.base, _FREE)
    waiting = _waiting(repository, pull)
    count = len(_required(repository, pull))
    if _behind(repository, pull):
        return f"{count} of {count} required status checks are expected."
    if len(waiting) == 1 and count == 1:
        ((name, outcome),) = waiting.items()
        return f'Required status check "{name}" is {_WORDS[outcome]}.'
    if waiting and set(waiting.values()) == {"missing"}:
        return f"{len(waiting)} of {count} required status checks are expected."
    if waiting:
        words = [_WORDS[one] for one in waiting.values()]
        parts = " and ".join(f"{words.count(one)} {one}" for one in sorted(set(words)))
        return f"{len(waiting)} of {count} required status checks have not succeeded: {parts}."
    if _unreviewed(repository, pull):
        few = "review is" if rules.reviews == 1 else "reviews are"
        return f"At least {rules.reviews} approving {few} required by reviewers with write access."
    return ""


def _waiting(repository: Repository, pull: PullRequest) -> dict[str, str]:
    """The required checks that have not succeeded, and how they are."""
    said = dict(outcomes(repository.checks, repository.statuses, pull.head_sha))
    required = _required(repository, pull)
    return {name: how for name in required if (how := said.get(name, "missing")) != "good"}


def _required(repository: Repository, pull: PullRequest) -> tuple[str, ...]:
    return (*repository.protected.get(pull.base, _FREE).checks, *repository.rules)


def _unreviewed(repository: Repository, pull: PullRequest) -> bool:
    needed = repository.protected.get(pull.base, _FREE).reviews
    approving, against = approvals(repository.reviews, pull.number)
    return needed > 0 and (approving < needed or against > 0)


def _behind(repository: Repository, pull: PullRequest) -> bool:
    strict = repository.protected.get(pull.base, _FREE).up_to_date
    return strict and not repository.git.contains(pull.head_sha, pull.base_sha)
