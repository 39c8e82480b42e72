"""Names and ids of branches, worktrees, specs and labels. Whatever people write, the result is a valid name."""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Collection
from hashlib import sha256
from itertools import count
from pathlib import PurePosixPath

PREFIX = "agent/"
LONGEST_BRANCH = 64
"""Including the prefix."""

# [0-9] and fullmatch, never \d and $: those also match full-width digits and a trailing line break
_AGENT_BRANCH = re.compile(r"agent/[a-z0-9][a-z0-9_-]{0,57}")
_SPEC_ID = re.compile(r"SPEC-[0-9a-f]{8}")
_SHORT = re.compile(r"[0-9a-f]{8}")
_FOLDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")


def slug(text: str) -> str:
    """Return the text as lower-case letters, digits, - and _ only. Empty if nothing of it remains."""
    # NFKD splits accented and full-width letters into a plain letter and the rest
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    dashed = re.sub(r"[\s/\\]+", "-", plain)
    return re.sub(r"-{2,}", "-", re.sub(r"[^a-z0-9_-]", "", dashed)).strip("-_")


def branch_for(title: str, taken: Collection[str], fallback: str) -> str:
    """Return a free branch name made from the title, or from `fallback` if hardly a letter of the title is allowed in
    one.

    Names that differ only in case count as taken (they are the same file on some disks), as do names that differ only
    in / and - (they share a worktree).
    """
    name = slug(title)
    if len(name) < 3:
        name = slug(f"{slug(fallback) or 'task'}-{name}")
    used = {_folder(branch).casefold() for branch in taken}
    room = LONGEST_BRANCH - len(PREFIX)
    for number in count(1):
        suffix = f"-{number}" if number > 1 else ""
        branch = PREFIX + name[: room - len(suffix)].rstrip("-_") + suffix
        if _folder(branch) not in used and not _is_folder_of(branch, taken):
            return branch
    raise AssertionError("unreachable: numbers do not end")


def is_agent_branch(name: str) -> bool:
    """Whether the bot may create, push and remove this branch."""
    return _AGENT_BRANCH.fullmatch(name) is not None


def spec_branch(spec_id: str) -> str:
    """Return the name of the branch for a session's spec, plan and tasks."""
    return PREFIX + spec_id.lower()


def worktree_path(repository: str, branch: str) -> str:
    """Return the path of a branch's worktree, always directly inside the repository's .worktrees.

    Raises ValueError for an invalid name.
    """
    top, folder = PurePosixPath(repository), _folder(branch)
    if not top.is_absolute() or not _FOLDER.fullmatch(folder):
        raise ValueError(f"no worktree for the branch {branch!r} of {repository!r}")
    return str(top / ".worktrees" / folder)


def spec_id_from(uuid: str) -> str:
    return f"SPEC-{short(uuid)}"


def is_spec_id(name: str) -> bool:
    return _SPEC_ID.fullmatch(name) is not None


def task_label(session_id: str, n: int) -> str:
    """Return the label under which users see a task."""
    return f"task-{short(session_id)}-{n}"


def short(uuid: str) -> str:
    """Return the first 8 hex digits of a UUID. For any other id, 8 hex digits of its hash."""
    start = uuid[:8].lower()
    return start if _SHORT.fullmatch(start) else sha256(uuid.encode()).hexdigest()[:8]


def derived_id(*parts: str) -> str:
    """Return a UUID derived from the parts. The same parts give the same UUID, so that pure code can make ids."""
    return str(uuid.UUID(bytes=_digest("id", parts)[:16], version=4))


def derived_nonce(*parts: str) -> str:
    """Return 8 hex digits derived from the parts, independent of `derived_id` of the same parts."""
    return _digest("nonce", parts).hex()[:8]


def _digest(purpose: str, parts: tuple[str, ...]) -> bytes:
    # the length in front distinguishes ("ab", "c") from ("a", "bc")
    digest = sha256(purpose.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8) + data)
    return digest.digest()


def _folder(branch: str) -> str:
    return branch.replace("/", "-")


def _is_folder_of(branch: str, taken: Collection[str]) -> bool:
    # git cannot have both `agent/x` and `agent/x/y`.
    return any(other.casefold().startswith(f"{branch}/") for other in taken)
