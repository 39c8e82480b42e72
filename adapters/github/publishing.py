"""Pushes, fetches and removes branches on GitHub. Only `agent/…` is written, and nobody else's work is ever lost."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path

from adapters.github.api import GIVE_TOKEN, RETRY_REMEDY, Address
from adapters.github.git import GitResult, RemoteGit, checked_slug, failure_line
from adapters.github.mirror import Mirror, mirror_ref
from adapters.github.tokens import Tokens, git_authorization
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.forge import Fetched
from bot.core.naming import is_agent_branch

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# slightly stricter than what git allows as the name of a branch
_BRANCH = re.compile(
    r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)|/\.|\.$|/$))[A-Za-z0-9_][^\s~^:?*\[\\\x00-\x20\x7f]{0,240}"
)

QUERY_TIMEOUT = 30.0
"""Time-out for a query that transfers no objects."""
log = logging.getLogger("adapters.github")


class BranchPublisher:
    def __init__(
        self,
        home: Path,
        address: Address,
        tokens: Tokens,
        git: RemoteGit,
        asking: float = QUERY_TIMEOUT,
    ) -> None:
        self._asking = asking
        self._mirrors = home / "mirrors"
        self._address = address
        self._tokens = tokens
        self._git = git
        self._known: dict[str, Mirror] = {}

    async def publish(self, repository: str, slug: str, branch: str, commit: str) -> None:
        """Make the branch on GitHub point to the commit; raise Refused if it has other work there that the commit does
        not contain.
        """
        _check_branch(branch, commit)
        mirror = self._mirror(slug)
        async with mirror.hold():
            seen = await self._tip(mirror, slug, branch)
            if seen == commit:
                return
            await mirror.copy_from(repository, branch)
            if not await mirror.has(commit):
                raise Refused(
                    f"{branch} no longer holds the commit {commit[:12]}",
                    "The branch was changed meanwhile; it is looked at anew.",
                )
            await self._require_replaceable(mirror, branch, commit, seen)
            # first, because after a crash in between the bot has to recognise its own work
            mirror.pushed.record(branch, commit)
            await self._push(mirror, slug, branch, commit, seen)

    async def tip(self, slug: str, branch: str) -> str:
        """Return the branch's commit on GitHub; empty if there is no such branch.

        People wait for this, so its time-out is shorter than that of a transfer.
        """
        _check_name(branch)
        mirror = self._mirror(slug)
        try:
            async with asyncio.timeout(self._asking), mirror.hold():
                return await self._tip(mirror, slug, branch)
        except TimeoutError as error:
            raise Unavailable("GitHub does not say which branches it has", RETRY_REMEDY) from error

    async def fetch(self, slug: str, branch: str, near: str = "") -> Fetched:
        """Copy a branch from GitHub into the mirror."""
        _check_name(branch)
        mirror = self._mirror(slug)
        async with mirror.hold():
            if near:
                await self._copy_local_objects(mirror, near, branch)
            said, fetched = await self._fetched(mirror, slug, f"refs/heads/{branch}")
            if "couldn't find remote ref" in said.err:
                raise await self._missing_branch_error(mirror, slug, branch)
            if fetched is None:
                raise transfer_error(said.err, slug, f"copy the branch {branch}")
            return fetched

    async def fetch_head(self, slug: str, number: int) -> Fetched:
        """Copy the head of a pull request, which GitHub keeps even if its branch is gone."""
        mirror = self._mirror(slug)
        async with mirror.hold():
            said, fetched = await self._fetched(mirror, slug, f"refs/pull/{number}/head")
            if fetched is not None:
                return fetched
            if "couldn't find remote ref" in said.err:
                raise Refused(f"GitHub has no pull request #{number} in {slug}")
            raise transfer_error(said.err, slug, f"copy the head of #{number}")

    async def _fetched(
        self, mirror: Mirror, slug: str, name: str
    ) -> tuple[GitResult, Fetched | None]:
        ref = mirror_ref("theirs", name.removeprefix("refs/heads/"))
        said = await self._remote(
            mirror,
            slug,
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--quiet",
            "--update-shallow",
            mirror.url,
            f"+{name}:{ref}",
        )
        if said.code != 0:
            return said, None
        commit = (await mirror.git("rev-parse", "--verify", f"{ref}^{{commit}}")).text
        return said, Fetched(path=str(mirror.path), commit=commit)

    async def _copy_local_objects(self, mirror: Mirror, near: str, branch: str) -> None:
        # Objects of the local checkout are copied first, so that gigabytes are not transferred over the network for two
        # commits.
        try:
            await mirror.copy_from(near, branch)
        except Refused as refused:
            log.info("not taken from the checkout", extra={"data": {"why": refused.reason}})

    async def delete_remote_branch(self, slug: str, branch: str, commit: str) -> str:
        """Delete the branch if it is at that commit. Return why it was kept, or an empty string."""
        _check_branch(branch, commit)
        mirror = self._mirror(slug)
        async with mirror.hold():
            seen = await self._tip(mirror, slug, branch)
            if seen and seen != commit:
                return f"it stands at {seen[:12]} on GitHub, not at {commit[:12]}"
            if seen:
                try:
                    await self._push(mirror, slug, branch, "", commit)
                except Refused as refused:
                    return refused.reason
            mirror.pushed.strike(branch)
            return ""

    async def _push(
        self, mirror: Mirror, slug: str, branch: str, commit: str, expected: str
    ) -> None:
        """Push `commit` (empty deletes the branch) if the branch is still at `expected` (empty: does not exist)."""
        said = await self._git_with_token(
            mirror,
            slug,
            "push",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            f"--force-with-lease=refs/heads/{branch}:{expected}",
            mirror.url,
            f"{commit}:refs/heads/{branch}",
        )
        error = _failure(said, slug, f"{'push' if commit else 'remove'} the branch {branch}")
        if error is None:
            return
        # whatever the answer was: it may have been lost although the push succeeded
        try:
            now = await self._tip(mirror, slug, branch)
        except PortError:
            raise error from None
        if now != commit:
            raise error

    async def _tip(self, mirror: Mirror, slug: str, branch: str) -> str:
        """Return the branch's commit on GitHub; empty if there is no such branch."""
        ref = f"refs/heads/{branch}"
        said = await self._remote(mirror, slug, "ls-remote", "--quiet", mirror.url, "HEAD", ref)
        if said.code != 0:
            raise transfer_error(said.err, slug, "read the branches")
        told = {
            name: commit
            for commit, _, name in (line.partition("\t") for line in said.out.splitlines())
        }
        if "HEAD" not in told:
            # git takes a truncated answer for one without branches
            raise Unavailable("GitHub's list of branches did not arrive whole", RETRY_REMEDY)
        found = told.get(ref, "")
        return found if _COMMIT.fullmatch(found) else ""

    async def _missing_branch_error(self, mirror: Mirror, slug: str, branch: str) -> PortError:
        if await self._tip(mirror, slug, branch):
            return Unavailable(f"the branch {branch} did not arrive whole", RETRY_REMEDY)
        return Refused(f"GitHub has no branch {branch} in {slug}")

    async def _require_replaceable(
        self, mirror: Mirror, branch: str, commit: str, seen: str
    ) -> None:
        """Raise Refused unless the existing commit is contained in the new one, or was pushed by the bot itself (agents
        amend commits).
        """
        if not seen or mirror.pushed.has(branch, seen):
            return
        if await mirror.has(seen) and await mirror.is_ancestor(seen, commit):
            return
        raise Refused(
            f"{branch} holds work on GitHub that is not in {commit[:12]}",
            f"Somebody else has pushed {seen[:12]} there: take it into the task's branch, or remove it there.",
        )

    async def _git_with_token(self, mirror: Mirror, slug: str, *arguments: str) -> GitResult:
        try:
            return await self._remote(mirror, slug, *arguments)
        except Unavailable as error:
            # a time-out; its result is looked for as after any other failure
            return GitResult(1, "", f"fatal: Operation timed out: {error.reason}")

    async def _remote(self, mirror: Mirror, slug: str, *arguments: str) -> GitResult:
        token = await self._tokens.token(slug)
        if not token:
            raise Refused("there is no token for GitHub any more", "Set GITHUB_TOKEN.")
        return await mirror.remote(
            *arguments, header=f"Authorization: Basic {git_authorization(token)}"
        )

    def _mirror(self, slug: str) -> Mirror:
        key = checked_slug(slug).lower()
        if key not in self._known:
            self._known[key] = Mirror(self._mirrors, self._address, slug, self._git)
        return self._known[key]


def _check_name(branch: str) -> None:
    if not _BRANCH.fullmatch(branch):
        raise Refused(f"{branch[:200]!r} is no name of a branch")


def _check_branch(branch: str, commit: str) -> None:
    if not is_agent_branch(branch):
        raise Refused(f"{branch[:200]!r} is no branch of an agent, so the bot does not touch it")
    if not _COMMIT.fullmatch(commit):
        raise Refused(f"{commit[:100]!r} is no commit")


def _failure(said: GitResult, slug: str, doing: str) -> PortError | None:
    everything = said.err + "\n" + said.out
    if said.code == 0 or is_missing_branch(everything):
        return None
    if is_stale_push(everything):
        return Unavailable("the branch has moved on GitHub at the same moment", RETRY_REMEDY)
    return transfer_error(everything, slug, doing)


# The meaning of git's messages when GitHub refuses a transfer, and whether a retry helps. No I/O.

_STATUS = re.compile(r"(?:returned error:|HTTP) ([0-9]{3})")
_REMOTE = re.compile(r"^remote: ?(.*)$", re.MULTILINE)
_REJECTED = re.compile(r"^!\t[^\t]*\t\[[a-z ]+\] ?\(?(.*?)\)?$", re.MULTILINE)
_LONGEST_REASON = 500
_LOGIN_FAILED = (
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "Invalid username or token",
)
_NOT_REACHED = (
    "Could not resolve",
    "Failed to connect",
    "Couldn't connect",
    "Connection reset",
    "Connection refused",
    "Connection timed out",
    "Operation timed out",
    "Empty reply",
    "Recv failure",
    "Send failure",
    "hung up unexpectedly",
    "early EOF",
    "unexpected disconnect",
    "invalid index-pack output",
    "transfer closed",
    "RPC failed",
    "Cannot access URL",
    "SSL_",
    "TLS",
    "gnutls",
)


def transfer_error(said: str, slug: str, doing: str) -> PortError:
    """Return the error. `said`: the output of git; `doing` completes "GitHub does not let me …"."""
    status = _STATUS.search(said)
    code = int(status.group(1)) if status else 0
    if code == 401 or any(words in said for words in _LOGIN_FAILED):
        return Refused("GitHub refuses the token: it is wrong or has expired", GIVE_TOKEN)
    if "workflow" in said and ("scope" in said or "permission" in said or "refusing" in said):
        return Refused(
            "GitHub does not let the token change files in .github/workflows",
            "Push that branch yourself, or give the token the right workflows:write.",
        )
    if refused := _rule_violation(said):
        return Refused(
            f"GitHub does not let me {doing}: {refused}", "Look at the rules of the repository."
        )
    if code == 403 or "denied to" in said:
        return Refused(f"GitHub does not let me {doing}: the token may not", GIVE_TOKEN)
    if code == 404 or "not found" in said.lower():
        return Refused(
            f"GitHub has no repository {slug}, or the token does not see it",
            "Look whether it was renamed, and whether the token is for this repository.",
        )
    if code == 429 or code >= 500 or any(words in said for words in _NOT_REACHED):
        return Unavailable(f"GitHub is not reached by git: {failure_line(said)}", RETRY_REMEDY)
    return Refused(f"git cannot {doing}: {failure_line(said)}")


def is_stale_push(said: str) -> bool:
    """Whether the branch on GitHub has moved since it was read."""
    return "(stale info)" in said or "fetch first" in said or "cannot lock ref" in said


def is_missing_branch(said: str) -> bool:
    return "remote ref does not exist" in said or ("deletion of '" in said and "not exist" in said)


def _rule_violation(said: str) -> str:
    """Return GitHub's message if the repository's rules reject the push; empty otherwise."""
    rejected = _REJECTED.search(said)
    if rejected is None:
        return ""
    told = [line.strip() for line in _REMOTE.findall(said)]
    words = " ".join(line.removeprefix("error:").strip() for line in told if line)
    return (words or rejected.group(1))[:_LONGEST_REASON]
