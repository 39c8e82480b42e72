"""Repositories on which a model can be tried: usable commits of a history, and new repositories made of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from adapters.git.commits import readable
from adapters.git.layout import GitCheckout
from adapters.git.run import Git
from adapters.git.sources import is_code, is_source
from bot.core.suites import is_executable
from bot.core.trials import TrialCase

LOOKED_AT = 600
MOST_FILES = 8
LONGEST_PATCH = 60_000
SHORTEST_MESSAGE = 20
LONGEST_MESSAGE = 4_000


async def history_cases(git: Git, place: GitCheckout, commit: str, most: int) -> list[TrialCase]:
    """Return so many commits, evenly spread over the last ones before `commit`."""
    told = await git.read(
        *("log", "--no-merges", f"--max-count={LOOKED_AT}", "--no-renames", "--name-status", "-z"),
        *("--no-ext-diff", "--no-textconv", "--format=%x01%H%x02%P%x02%B%x02", commit),
        at=place,
    )
    usable = [
        case
        for entry in told.out.decode("utf-8", "replace").split("\x01")[1:]
        if (case := _case(entry))
    ]
    step = max(1, len(usable) // max(1, most))
    chosen = usable[::step][:most]
    return [one.model_copy(update={"patch": await _patch(git, place, one)}) for one in chosen]


def _case(entry: str) -> TrialCase | None:
    commit, parents, message, files = (*entry.split("\x02", 3), "", "", "")[:4]
    fields = [field.strip("\n") for field in files.split("\0") if field.strip("\n")]
    changed = list(zip(fields[::2], fields[1::2], strict=False))
    touched = [path for what, path in changed if what == "M" and is_source(path) and is_code(path)]
    if len(parents.split()) != 1 or not 0 < len(touched) <= MOST_FILES or len(changed) > 20:
        return None
    if len(message.strip()) < SHORTEST_MESSAGE:
        return None
    return TrialCase(
        id=commit,
        parent=parents,
        request=message.strip()[:LONGEST_MESSAGE],
        touched=tuple(map(readable, touched)),
    )


async def _patch(git: Git, place: GitCheckout, case: TrialCase) -> str:
    told = await git.read(
        *("diff", "--no-ext-diff", "--no-textconv", "--no-renames", case.parent, case.id),
        at=place,
        limit=LONGEST_PATCH,
    )
    return told.out.decode("utf-8", "replace")


_AUTHOR = b"A Developer <developer@example.invalid>"
_FIRST = 1_767_225_600
"""When the first commit was made: a fixed time, so that commits have the same ids everywhere."""


async def make_repository(
    git: Git, folder: Path, trees: Iterable[tuple[str, Mapping[str, str]]]
) -> None:
    """Make a repository of commits, each with its message and all files. Nothing of it is checked out."""
    await git.run_in_new_folder(
        "init", "--quiet", "--template=", "--initial-branch=main", at=folder
    )
    stream = b"".join(
        _commit(number, message.encode(), tree) for number, (message, tree) in enumerate(trees)
    )
    await git.run_in_new_folder("fast-import", "--quiet", at=folder, stdin=stream)


def _commit(number: int, message: bytes, tree: Mapping[str, str]) -> bytes:
    when = b"%s %d +0000" % (_AUTHOR, _FIRST + 86_400 * number)
    lines = [b"commit refs/heads/main", b"author " + when, b"committer " + when]
    lines += [b"data %d" % len(message), message, b"deleteall"]
    for path, text in tree.items():
        mode, content = "100755" if is_executable(text) else "100644", text.encode()
        lines += [f"M {mode} inline {path}".encode(), b"data %d" % len(content), content]
    return b"\n".join(lines) + b"\n"
