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
"""With the prefix."""

# [0-9] and fullmatch, never \d and $: those take full-width digits and a last line break.
_AGENT_BRANCH = re.compile(r"agent/[a-z0-9][a-z0-9_-]{0,57}")
_SPEC_ID = re.compile(r"SPEC-[0-9a-f]{8}")
_SHORT = re.compile(r"[0-9a-f]{8}")
_FOLDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")


def slug(text: str) -> str:
    """Lower case letters, digits, - and _ only; empty where the text has nothing of the kind."""
    # Accents and full-width letters have a plain letter inside.
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    dashed = re.sub(r"[\s/\\]+", "-", plain)
    return re.sub(r"-{2,}", "-", re.sub(r"[^a-z0-9_-]", "", dashed)).strip("-_")


def branch_for(title: str, taken: Collection[str], fallback: str) -> str:
    """A branch named after the title, or after `fallback` where the title has hardly a letter that may stand in one.

    Names that differ in case only are the same file on some disks, and two branches that differ in / and - only
    have the same worktree: both count as taken.
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
    """May the bot make, push and remove it?"""
    return _AGENT_BRANCH.fullmatch(name) is not None


def spec_branch(spec_id: str) -> str:
    """The branch of a session's spec, plan and tasks."""
    return PREFIX + spec_id.lower()


def worktree_path(repository: str, branch: str) -> str:
    """Where the worktree of a branch lies: always directly inside the repository's .worktrees."""
    top, folder = PurePosixPath(repository), _folder(branch)
    if not top.is_absolute() or not _FOLDER.fullmatch(folder):
        raise ValueError(f"no worktree for the branch {branch!r} of {repository!r}")
    return str(top / ".worktrees" / folder)


def spec_id_from(uuid: str) -> str:
    return f"SPEC-{short(uuid)}"


def is_spec_id(name: str) -> bool:
    return _SPEC_ID.fullmatch(name) is not None


def task_label(session_id: str, n: int) -> str:
    """What people call a task; later tasks of the same session keep its short id."""
    return f"task-{short(session_id)}-{n}"


def short(uuid: str) -> str:
    """The first 8 hex digits of a UUID; 8 of its own for an id that is none."""
    start = uuid[:8].lower()
    return start if _SHORT.fullmatch(start) else sha256(uuid.encode()).hexdigest()[:8]


def derived_id(*parts: str) -> str:
    """A UUID made from the parts: the same for the same parts, so that pure code can make ids."""
    return str(uuid.UUID(bytes=_digest("id", parts)[:16], version=4))


def derived_nonce(*parts: str) -> str:
    """8 hex digits made from the parts, and no part of the id made from them."""
    return _digest("nonce", parts).hex()[:8]


def _digest(purpose: str, parts: tuple[str, ...]) -> bytes:
    # The length in front keeps ("ab", "c") and ("a", "bc") apart.
    digest = sha256(purpose.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8) + data)
    return digest.digest()


def _folder(branch: str) -> str:
    return branch.replace("/", "-")


def _is_folder_of(branch: str, taken: Collection[str]) -> bool:
    """git cannot have both `agent/x` and `agent/x/y`."""
    return any(other.casefold().startswith(f"{branch}/") for other in taken)
