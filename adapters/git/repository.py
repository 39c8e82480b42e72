"""Reads a repository for the bot. Nothing is changed; file contents come from one commit, not from the checkout."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from adapters.files import read_regular_file
from adapters.git.cases import history_cases, make_repository
from adapters.git.commits import STATUS_LIMIT, Branches, Commits, Patches, last_changed, readable
from adapters.git.context import INDEX_FILE, find_context
from adapters.git.errors import recognised_error, unreadable_repository
from adapters.git.layout import (
    HOW_TO_RELINK,
    WORKTREES,
    GitCheckout,
    is_directory,
    is_in_registry,
    main_checkout,
    require_worktree_folder,
    resolved,
    unfinished_operation,
)
from adapters.git.ledger import GitLedger
from adapters.git.looks import Looks
from adapters.git.run import INHERITED_UMASK, Git
from adapters.git.scan import SCAN_SECONDS, scan_commit
from adapters.git.trust import Trust
from adapters.git.worktree_files import checked_parts
from bot.core.context.excerpts import RequestContext
from bot.core.errors import Away, PortError, Refused, Unavailable
from bot.core.git import Base, BranchDetails, BranchList, Checkout, Divergence, Scan
from bot.core.looks import Look
from bot.core.trials import TrialCase

OLDEST_GIT = (2, 36)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class GitRepository:
    """The repository port.

    `home`: the bot's own directory, which records what it created in which repository. `mask`: replaces secrets in what
    the model is shown of files.
    """

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str] | None = None,
        *,
        umask: int = INHERITED_UMASK,
        scan_seconds: float = SCAN_SECONDS,
        mask: Callable[[str], str] = str,
    ) -> None:
        self._mask = mask
        self._scan_seconds = scan_seconds
        self._home = home
        self._git = Git(environment, umask=umask)
        self._ledger = GitLedger(home)
        self._trust = Trust(self._git, self._ledger)
        self._uncommitted_changes = UncommittedChanges(self._git)
        self._branches = Branches(self._git, self._trust)
        self._commits = Commits(self._git)

    async def base(self, path: str) -> Base:
        await self._require_git()
        main = await self._main_checkout_of(Path(path))
        await self._trust.check(main)
        branch = await self._branch(main)
        commit = await self._head(main)
        blocking = await self._git.read(
            *("show-ref", "--verify", "--quiet", "refs/heads/agent"), at=main, ok=(0, 1)
        )
        if blocking.code == 0:
            raise Refused(
                "the repository has a branch named agent, so no branch agent/… can be made",
                "Rename it: git branch -m agent <new name>",
            )
        require_worktree_folder(main.top / WORKTREES)
        return Base(
            repository=str(main.top),
            branch=branch,
            commit=commit,
            uncommitted=await self._uncommitted(main),
            under_way=unfinished_operation(main),
        )

    async def top(self, path: str) -> str:
        return str((await self._main_checkout_of(Path(path))).top)

    async def require(self, path: str, commit: str) -> None:
        # the configuration is not compared first: another repository's differs, and this call runs nothing of it
        if not await self._is_commit(main_checkout(path), commit):
            raise Away(f"repository not found at {path}: another one stands there", HOW_TO_RELINK)

    async def last_changed(self, path: str, files: Iterable[str]) -> Mapping[str, datetime | None]:
        main = main_checkout(path)
        await self._trust.check(main)
        return await last_changed(self._git, main, files)

    async def scan(self, path: str, commit: str) -> Scan:
        main = main_checkout(path)
        deadline = asyncio.get_running_loop().time() + self._scan_seconds
        try:
            async with asyncio.timeout_at(deadline):
                await self._trust.check(main)
                known = await self._is_commit(main, commit)
            if known:
                return await scan_commit(self._git, main, commit, deadline)
        except TimeoutError as error:
            raise Unavailable(
                f"the repository's files could not be listed in {self._scan_seconds:g} s",
                "Look whether the disk is slow, or try again when the machine has less to do.",
            ) from error
        raise Refused(f"the commit {commit} is not in the repository")

    async def find_context(
        self, path: str, commit: str, request: str, tokens: int
    ) -> RequestContext:
        main = main_checkout(path)
        await self._trust.check(main)
        if not await self._is_commit(main, commit):
            raise Refused(f"the commit {commit} is not in the repository")
        return await find_context(
            self._git,
            main,
            commit,
            request,
            tokens=tokens,
            index=self._home / INDEX_FILE,
            mask=self._mask,
        )

    async def history_cases(self, path: str, commit: str, most: int) -> list[TrialCase]:
        """Return commits of the history on which a model can be tried."""
        main = main_checkout(path)
        await self._trust.check(main)
        return await history_cases(self._git, main, commit, most)

    async def make(self, folder: Path, trees: Iterable[tuple[str, Mapping[str, str]]]) -> str:
        """Make a repository in an empty folder, of commits with their messages and files; return the last commit."""
        await make_repository(self._git, folder, trees)
        return await self.commit_of(str(folder), "HEAD")

    async def look(self, path: str, commit: str, look: Look) -> str:
        return await (await self._looks(path, commit)).answer(look)

    async def names_known(self, path: str, commit: str, names: Collection[str]) -> frozenset[str]:
        return await (await self._looks(path, commit)).names_known(names)

    async def _looks(self, path: str, commit: str) -> Looks:
        main = main_checkout(path)
        await self._trust.check(main)
        if not await self._is_commit(main, commit):
            raise Refused(f"the commit {commit} is not in the repository")
        return Looks(self._git, main, commit, self._home / INDEX_FILE, self._mask)

    async def commit_of(self, path: str, revision: str) -> str:
        """Return the id of the commit that a person names by a branch, a tag, or the beginning of an id."""
        main = main_checkout(path)
        await self._trust.check(main)
        answer = await self._git.read(
            *("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"),
            at=main,
            ok=(0, 1, 128),
        )
        if answer.code:
            raise Refused(
                f"there is no commit {revision} in the repository",
                "Name a branch, a tag or the id of a commit.",
            )
        return answer.text

    async def branches(self, path: str) -> tuple[str, ...]:
        main = main_checkout(path)
        await self._trust.check(main)
        answer = await self._git.read(
            *("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"), at=main
        )
        return tuple(line for line in answer.text.split("\n") if line)

    async def branch_list(self, path: str) -> BranchList:
        return await self._branches.listed(await self._main_checkout(path))

    async def branch_details(self, path: str, name: str) -> BranchDetails:
        return await self._branches.details(await self._main_checkout(path), name)

    async def branch_patch(self, path: str, name: str, limit: int) -> str:
        return await self._branches.patch(await self._main_checkout(path), name, limit)

    async def patch(self, path: str, since: str, until: str, limit: int) -> str:
        main = main_checkout(path)
        await self._trust.check(main)
        older, newer = [await self._commits.commit(main, one) for one in (since, until)]
        return await Patches(self._git).patch(main, older, newer, limit)

    async def tip(self, path: str, branch: str) -> str:
        main = main_checkout(path)
        await self._trust.check(main)
        answer = await self._git.read(
            *("rev-parse", "--verify", "--quiet", "--end-of-options"),
            f"refs/heads/{branch}^{{commit}}",
            at=main,
            ok=(0, 1, 128),
        )
        if answer.code:
            raise Refused(
                f"there is no branch {branch} any more",
                "Make it again, or discard this session and ask anew.",
            )
        return answer.text

    async def commit_exists(self, path: str, commit: str) -> bool:
        main = main_checkout(path)
        await self._trust.check(main)
        return await self._is_commit(main, commit)

    async def apart(self, path: str, one: str, other: str) -> Divergence:
        main = main_checkout(path)
        await self._trust.check(main)
        return await self._commits.apart(main, one, other)

    async def origin_tip(self, path: str, branch: str) -> str:
        main = main_checkout(path)
        await self._trust.check(main)
        return await origin_commit(self._git, main, branch)

    async def read(self, path: str, commit: str, names: tuple[str, ...]) -> dict[str, str]:
        main = main_checkout(path)
        await self._trust.check(main)
        if not await self._is_commit(main, commit):
            raise Refused(f"the commit {commit} is not in the repository")
        return await NamedFiles(self._git).contents_at(main, commit, names)

    async def programs(self, path: str) -> tuple[str, ...]:
        return await self._git.describe_programs(main_checkout(path))

    async def checkout(self, path: str) -> Checkout:
        main = main_checkout(path)
        await self._trust.check(main)
        return await self._uncommitted_changes.read_state(main)

    async def _require_git(self) -> None:
        major, minor = await self._git.version()
        if (major, minor) < OLDEST_GIT:
            raise Unavailable(
                f"git 2.36 or newer is required, this is git {major}.{minor}",
                "Install a newer git.",
            )

    async def _main_checkout(self, path: str) -> GitCheckout:
        # The path may be anywhere inside the repository, not only its top.
        main = await self._main_checkout_of(Path(path))
        await self._trust.check(main)
        await self._head(main)
        return main

    async def _main_checkout_of(self, path: Path) -> GitCheckout:
        """Return the main checkout for a path inside a repository or one of its linked worktrees."""
        if not is_directory(path):
            raise Refused(f"there is no directory {path}", "Name the directory of a repository.")
        path = self._outside_worktrees(resolved(path))
        if len(str(path).splitlines()) > 1:
            raise Refused(
                f"there is a line break in the path {str(path)!r}",
                "Rename that folder: neither git's answers nor tmux's commands can be read with it.",
            )
        asked = await self._git.read(
            *("rev-parse", "--path-format=absolute"),
            *("--is-bare-repository", "--is-inside-git-dir", "--git-dir", "--git-common-dir"),
            at=path,
            ok=(0, 128),
        )
        if asked.code:
            raise unreadable_repository(path, asked.err)
        bare, inside, git_dir, common = asked.text.splitlines()
        if git_dir != common:
            return main_checkout(await self._first_worktree(path))
        if bare == "true":
            raise _bare(path)
        if inside == "true":
            raise Refused(f"{path} lies inside a .git directory", "Name the checkout itself.")
        top = await self._git.read(
            "rev-parse", "--path-format=absolute", "--show-toplevel", at=path
        )
        return main_checkout(top.text)

    def _outside_worktrees(self, path: Path) -> Path:
        # The repository of a bot's worktree is known from the ledger; its `.git` file, which agents can write, is not
        # used.
        for parent in path.parents:
            if parent.name == WORKTREES and self._ledger.page(parent.parent) is not None:
                return parent.parent
        return path

    async def _first_worktree(self, path: Path) -> str:
        # git lists the main checkout first.
        answer = await self._git.read("worktree", "list", "--porcelain", "-z", at=path)
        first = answer.out.decode("utf-8", "surrogateescape").split("\0\0")[0].split("\0")
        if "bare" in first:
            raise _bare(path)
        return first[0].removeprefix("worktree ")

    async def _branch(self, main: GitCheckout) -> str:
        answer = await self._git.read("symbolic-ref", "--quiet", "HEAD", at=main, ok=(0, 1))
        if answer.code or not answer.text.startswith("refs/heads/"):
            if begun := unfinished_operation(main):
                raise Refused(
                    f"{begun} is under way in {main.top}, so it is on no branch",
                    "Finish it or give it up, and try again.",
                )
            raise Refused(
                "the repository is on no branch (detached HEAD)",
                "Check a branch out: git switch <branch>",
            )
        return answer.text.removeprefix("refs/heads/")

    async def _head(self, main: GitCheckout) -> str:
        answer = await self._git.read(
            *("rev-parse", "--verify", "--quiet", "HEAD^{commit}"), at=main, ok=(0, 1, 128)
        )
        if answer.code:
            if known := recognised_error(answer.err, main):
                raise known
            raise Refused("the repository has no commits yet", "Make a first commit.")
        return answer.text

    async def _uncommitted(self, main: GitCheckout) -> int:
        answer = await self._git.read(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"), at=main
        )
        # `.worktrees/` appears here only as long as no worktree has been prepared
        return sum(
            entry[3:] != ".worktrees/" and not is_in_registry(entry[3:]) for entry in answer.fields
        )

    async def _is_commit(self, main: GitCheckout, commit: str) -> bool:
        if not _COMMIT.fullmatch(commit):
            return False
        answer = await self._git.read(
            *("cat-file", "--batch-check"), at=main, stdin=f"{commit}\n".encode()
        )
        return answer.text.startswith(f"{commit} commit ")


def _bare(path: Path) -> Refused:
    return Refused(
        f"the repository of {path} is bare: it has no checkout to work from",
        "Clone it, and name the clone.",
    )


# The state of the main checkout: its branch, its commit, and a digest of each file that differs from the commit. The
# size is limited: if too many files differ, a directory stands for its files.

MAX_CHANGED_FILES = 1000
"""If more files differ, they are combined by their top directory."""
MAX_DIGESTED_BYTES = 1024 * 1024
_UNTRACKED = "??"


class UncommittedChanges:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def read_state(self, main: GitCheckout) -> Checkout:
        """Return the state, also with a detached head or without a commit: agents can cause both."""
        branch = await self._git.read("symbolic-ref", "--quiet", "HEAD", at=main, ok=(0, 1))
        head = await self._git.read(
            *("rev-parse", "--verify", "--quiet", "HEAD^{commit}"), at=main, ok=(0, 1, 128)
        )
        status = await self._git.read(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"),
            "--untracked-files=all",
            at=main,
            limit=STATUS_LIMIT,
        )
        # the last entry of a truncated list may be incomplete
        entries = status.fields[:-1] if status.truncated else status.fields
        changed = await asyncio.to_thread(_changed_files, main.top, entries)
        return Checkout(
            branch=branch.text.removeprefix("refs/heads/"),
            commit=head.text if head.code == 0 else "",
            changed=changed,
        )


def _changed_files(top: Path, entries: list[str]) -> tuple[str, ...]:
    marks = {
        entry[3:]: file_digest(top / entry[3:], entry[:2])
        for entry in entries
        if not entry[3:].startswith(f"{WORKTREES}/") and not is_in_registry(entry[3:])
    }
    folded = _limit_entries(marks)
    return tuple(f"{readable(path)}:{folded[path]}" for path in sorted(folded))


def file_digest(path: Path, state: str) -> str:
    """Return a digest of a file: of the content if tracked, otherwise of its metadata, because there may be very many
    untracked files.
    """
    try:
        about = path.lstat()
        told = f"{state} {about.st_mode:o} {about.st_size}"
        if stat.S_ISLNK(about.st_mode):
            return _digest(told, os.fsencode(path.readlink()))
        if (
            state == _UNTRACKED
            or about.st_size > MAX_DIGESTED_BYTES
            or not stat.S_ISREG(about.st_mode)
        ):
            return _digest(told, f"{about.st_mtime_ns} {about.st_ctime_ns}".encode())
        return _digest(told, read_regular_file(path, MAX_DIGESTED_BYTES))
    except OSError as error:  # missing or unreadable: that is its state, too
        return _digest(state, str(error.errno).encode())


def _digest(told: str, content: bytes) -> str:
    return hashlib.sha256(told.encode() + b"\0" + content).hexdigest()[:16]


def _limit_entries(marks: dict[str, str]) -> dict[str, str]:
    """Limit the number of entries: the fullest directories become one entry each."""
    below: dict[str, list[str]] = defaultdict(list)
    for path in sorted(marks):
        below[path.partition("/")[0] + "/" if "/" in path else "./"].append(path)
    folded = dict(marks)
    for directory in sorted(below, key=lambda name: (-len(below[name]), name)):
        if len(folded) <= MAX_CHANGED_FILES:
            break
        told = "\n".join(f"{path}:{folded.pop(path)}" for path in below[directory])
        folded[directory] = _digest(directory, told.encode("utf-8", "surrogateescape"))
    return folded


# A few files and folders by name: their contents at a commit, and whether a worktree has other versions. Links are
# never followed.

MAX_NAMED_FILE_BYTES = 1 << 20
MAX_NAMED_FILES = 200
"""The most entries below a folder; nobody writes more by hand."""


class NamedFiles:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def contents_at(
        self, place: GitCheckout, commit: str, names: Sequence[str]
    ) -> dict[str, str]:
        """Return their contents at a commit; folders and links have an empty one."""
        if not names:
            return {}
        listed = await self._git.read(
            "ls-tree", "-z", commit, "--", *_checked_names(names), at=place
        )
        found: dict[str, str] = {}
        for entry in listed.fields:
            about, _, name = entry.partition("\t")
            mode, _, object_id = about.split(" ")[:3]
            found[name] = ""
            if mode.startswith("100"):
                blob = await self._git.read(
                    *("cat-file", "blob", object_id), at=place, limit=MAX_NAMED_FILE_BYTES
                )
                found[name] = blob.out.decode("utf-8", "replace")
        return found

    async def changed_since(
        self, place: GitCheckout, commit: str, names: Sequence[str]
    ) -> dict[str, str]:
        """Return the files that differ from the commit, including ignored ones, each with a digest."""
        if not names:
            return {}
        words = _checked_names(names)
        tracked = await self._git.read(
            *("diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"),
            *("--ignore-submodules=dirty", commit, "--", *words),
            at=place,
        )
        others = await self._git.read("ls-files", "-z", "--others", "--", *words, at=place)
        paths = sorted({*tracked.fields, *others.fields})[:MAX_NAMED_FILES]
        return await asyncio.to_thread(
            lambda: {readable(path): file_digest(place.top / path, "") for path in paths}
        )


def _checked_names(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        checked_parts(name)
    return tuple(names)


# Where the remote `origin` has a branch. Nothing is fetched. The address is read by `git config` alone, and queried
# from outside of the repository, so that `url.*.insteadOf`, proxies and helpers of its configuration have no effect.
# Addresses that need a login (ssh, a name or password in the address) are not queried.

ORIGIN_TIMEOUT = 5.0
"""A session waits for this before it starts, although it is only a note on its first card."""
_LONGEST_ADDRESS = 1000


async def origin_commit(git: Git, main: GitCheckout, branch: str) -> str:
    """Return the commit of the branch on origin; empty if it is missing or unreachable."""
    try:
        async with asyncio.timeout(ORIGIN_TIMEOUT):
            protocol, address = _anonymous_address(await _address(git, main), main.top)
            if not address:
                return ""
            ref = f"refs/heads/{branch}"
            answer = await git.query_remote(
                *("ls-remote", "--quiet", "--", address, ref), protocol=protocol
            )
    except (PortError, TimeoutError):
        return ""
    lines = (line.split("\t") for line in answer.text.splitlines())
    told = next((line[0] for line in lines if line[1:] == [ref]), "")
    return told if _COMMIT.fullmatch(told) else ""


async def _address(git: Git, main: GitCheckout) -> str:
    config = main.common / "config"
    if not config.is_file():  # a FIFO would block
        return ""
    answer = await git.read(
        *("config", "--file", str(config), "--no-includes", "--get", "remote.origin.url"),
        at=Path("/"),
        ok=(0, 1),
    )
    return answer.text.splitlines()[0] if answer.text else ""


def _anonymous_address(address: str, top: Path) -> tuple[str, str]:
    """Return protocol and address; both empty if a login would be needed or the address is not understood."""
    if not 0 < len(address) <= _LONGEST_ADDRESS:
        return "", ""
    parts = urlsplit(address)
    if parts.scheme in {"http", "https"}:
        return (parts.scheme, address) if "@" not in parts.netloc else ("", "")
    if parts.scheme == "file":
        return "file", address
    path = top / address
    return ("file", str(path)) if "://" not in address and path.is_dir() else ("", "")
