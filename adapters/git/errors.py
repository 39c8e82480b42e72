"""Turns git's error messages into errors that name the file and tell people what to do. git runs in English, so that
its messages can be recognised; others are passed on unchanged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from adapters.git.layout import GitCheckout, damaged_repository
from bot.core.errors import PortError, Refused, Unavailable
from bot.os_errors import RIGHTS, files_in, is_pipe_or_device

FREE_SPACE = "Free some space there; the bot goes on by itself."
MAX_FILES_CHECKED = 500_000
NAMES_SHOWN = 8
_FULL = ("No space left on device", "Disk quota exceeded", "Input/output error", "Out of diskspace")
_LOCK = re.compile(r"(?:Unable to create '|could not lock config file )(.+?)'?: File exists")
_OVERWRITTEN = re.compile(
    r"The following untracked working tree files would be (overwritten|removed)|"
    r"(Your local changes to the following files would be overwritten)"
)
_NO_FILTER = re.compile(r"external filter '(.*?)' failed 12[67]\b", re.DOTALL)
_READ_BY_GIT = frozenset({".gitattributes", ".gitignore", ".gitmodules", ".mailmap"})


def git_error(command: str, err: str, code: int, at: GitCheckout | Path) -> PortError:
    """Return the error of a git that ended with exit code `code` in the checkout `at`."""
    if any(word in err for word in _FULL):
        top = at.top if isinstance(at, GitCheckout) else at
        return Unavailable(f"the disk is full ({top}; git {command} failed)", FREE_SPACE)
    said = error_line(err) or f"exit code {code}"
    return recognised_error(err, at) or Refused(f"git {command} failed: {said}")


def recognised_error(err: str, at: GitCheckout | Path) -> PortError | None:
    """Return the error for a known message of git, or None."""
    if locked := _LOCK.search(err):
        return _locked(Path(locked[1]), at)
    if _OVERWRITTEN.search(err):
        return _overwritten(err)
    for words, answer in _KNOWN.items():
        if re.search(words, err):
            return answer(err, at)
    return None


def missing_filter(err: str, at: GitCheckout | Path) -> Refused | None:
    """Return the error for a filter that the shell did not find (126, 127). git would go on without it and store files
    unfiltered.
    """
    found = _NO_FILTER.search(err)
    if found is None or not isinstance(at, GitCheckout):
        return None
    command = found[1].splitlines()[-1][:200]
    return Refused(
        f"the git filter `{command}` is not there in {at.main}, where it is run",
        "Check out there what has it, or take it out of the configuration: git config --get-regexp '^filter'",
    )


def error_line(err: str) -> str:
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))]
    chosen = (told or lines or [""])[0]
    return chosen.removeprefix("fatal:").removeprefix("error:").strip()[:300]


def unreadable_repository(path: Path, err: str) -> Refused:
    """Return why git does not accept `path` as a repository.

    A damaged repository is reported as such, so that nobody creates another.
    """
    own = next(
        (one / ".git" for one in (path, *path.parents) if os.path.lexists(one / ".git")), None
    )
    known = None if "not a git repository" in err else recognised_error(err, path)
    if known is not None:
        return Refused(known.reason, known.remedy)
    if own is None:
        return Refused(
            f"{path} is not inside a git repository",
            "Name the directory of a repository, or make one: git init",
        )
    return damaged_repository(own)


def blocking_file(at: GitCheckout | Path) -> Path | None:
    """Return a pipe or device in place of a file that git reads, where it would block for ever, or None."""
    if isinstance(at, GitCheckout):
        tops, folders = [at.top], {at.common, at.git_dir}
    else:
        tops = [one for one in (at, *at.parents) if (one / ".git").exists()][:1]
        folders = {one / ".git" for one in tops}
    inside = (one for folder in folders for one in files_in(folder))
    trees = (one for top in tops for one in files_in(top) if one.name in _READ_BY_GIT)
    outside = (top / ".git" for top in tops)
    for found in (*outside, *islice(inside, MAX_FILES_CHECKED), *islice(trees, MAX_FILES_CHECKED)):
        if is_pipe_or_device(found):
            return found
    return None


def _locked(lock: Path, at: GitCheckout | Path) -> Unavailable:
    top = at.top if isinstance(at, GitCheckout) else at
    whole = lock if lock.is_absolute() else top / lock
    return Unavailable(
        f"another git works in the repository, or one that was killed has left {whole}",
        f"If none works there any more, remove the file: rm {whole}",
    )


def _overwritten(err: str) -> Refused:
    lines = err.splitlines()
    names = [line.strip() for line in lines if line.startswith("\t")]
    told = ", ".join(names[:NAMES_SHOWN]) + (
        f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    )
    if "Your local changes" in err:
        return Refused(
            f"uncommitted changes would be overwritten: {told}",
            "Commit or stash them, and try again.",
        )
    return Refused(
        f"files that git does not know would be overwritten: {told}",
        "Move them away or remove them, and try again.",
    )


def _of_configuration(err: str, at: GitCheckout | Path) -> Refused:
    said = error_line(err)
    return Refused(
        f"the repository's git configuration is damaged: {said}",
        "Mend that line by hand, or bring the file back from a copy. `git config --local --list` says when it can be read again.",
    )


def _of_head(err: str, at: GitCheckout | Path) -> Refused:
    return (
        damaged_repository(at.common)
        if isinstance(at, GitCheckout)
        else unreadable_repository(at, "")
    )


def _of_index(err: str, at: GitCheckout | Path) -> Refused:
    top = at.top if isinstance(at, GitCheckout) else at
    index = at.git_dir / "index" if isinstance(at, GitCheckout) else top / ".git" / "index"
    return Refused(
        f"the index of {top} is damaged: {error_line(err)}",
        f"Have it made anew; no file is changed by that: rm {index} && git -C {top} reset",
    )


def _of_objects(err: str, at: GitCheckout | Path) -> Refused:
    return Refused(
        f"objects of the repository are missing or damaged: {error_line(err)}",
        "`git fsck` says which. Bring them back by a fetch, or from another clone.",
    )


def _of_another_user(err: str, at: GitCheckout | Path) -> Refused:
    return Refused(
        "the repository belongs to another user of this machine",
        "Run the bot as the repository's owner, or give the directory to the bot's user.",
    )


_KNOWN: dict[str, Callable[[str, GitCheckout | Path], PortError]] = {
    "dubious ownership": _of_another_user,
    ": Permission denied": lambda err, at: Refused(f"git says: {error_line(err)}", RIGHTS),
    "transport .* not allowed": lambda err, at: Refused(
        "the repository is a partial clone and lacks objects",
        "Fetch everything once: git fetch --refetch --no-filter",
    ),
    r"bad (?:numeric |boolean )?config|reading the configuration files": _of_configuration,
    "Expected git repo version|unknown repository extension": lambda err, at: Refused(
        f"the repository has a form that this git does not know: {error_line(err)}",
        "Install a newer git.",
    ),
    "index file (?:smaller|corrupt)|bad signature 0x|bad index file|index file open failed": _of_index,
    "unexpected line in .*packed-refs|bad shallow line|invalid shallow line": lambda err, at: (
        Refused(
            f"a file of the repository is damaged: {error_line(err)}",
            f"Bring it back from a copy or a clone; it lies in {_git_folder(at)}.",
        )
    ),
    "unable to read (?:tree|sha1)|loose object .* is corrupt|missing (?:blob|tree)": _of_objects,
    "not a git repository": _of_head,
    "outside of your sparse-checkout": lambda err, at: Refused(
        "the paths lie outside of the sparse checkout",
        "Take them in: git sparse-checkout add <folder>",
    ),
}


def _git_folder(at: GitCheckout | Path) -> Path:
    return at.common if isinstance(at, GitCheckout) else at / ".git"
