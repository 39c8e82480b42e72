"""Finds commits in a repository's history on which a model can be tried: small ones, with a message that says something."""

from __future__ import annotations

from adapters.git.commits import readable
from adapters.git.layout import GitCheckout
from adapters.git.run import Git
from adapters.git.sources import is_code, is_source
from bot.core.trials import HistoryCase

LOOKED_AT = 600
MOST_FILES = 8
LONGEST_PATCH = 60_000
SHORTEST_MESSAGE = 20
LONGEST_MESSAGE = 4_000


async def history_cases(git: Git, place: GitCheckout, commit: str, most: int) -> list[HistoryCase]:
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


def _case(entry: str) -> HistoryCase | None:
    commit, parents, message, files = (*entry.split("\x02", 3), "", "", "")[:4]
    fields = [field.strip("\n") for field in files.split("\0") if field.strip("\n")]
    changed = list(zip(fields[::2], fields[1::2], strict=False))
    touched = [path for what, path in changed if what == "M" and is_source(path) and is_code(path)]
    if len(parents.split()) != 1 or not 0 < len(touched) <= MOST_FILES or len(changed) > 20:
        return None
    if len(message.strip()) < SHORTEST_MESSAGE:
        return None
    return HistoryCase(
        commit=commit,
        parent=parents,
        request=message.strip()[:LONGEST_MESSAGE],
        touched=tuple(map(readable, touched)),
        patch="",
    )


async def _patch(git: Git, place: GitCheckout, case: HistoryCase) -> str:
    told = await git.read(
        *("diff", "--no-ext-diff", "--no-textconv", "--no-renames", case.parent, case.commit),
        at=place,
        limit=LONGEST_PATCH,
    )
    return told.out.decode("utf-8", "replace")
