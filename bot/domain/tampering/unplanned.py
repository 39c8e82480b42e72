"""What runs elsewhere with other rights than an agent has, changed by work whose plan does not name it: nobody has approved that.

CI has a sign of its own, planned or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from bot.domain.tampering.settings import is_ci, is_lock, reaches_further
from bot.domain.tampering.signs import Flag, Sign
from bot.domain.world import Work

MOST = 20


def unplanned(work: Work, named: Collection[str]) -> tuple[Flag, ...]:
    """`work`: what git names as touched; `named`: the files that people have seen in the plan."""
    known = {_plain(path) for path in named}
    found = [one for one in _sightings(work) if _plain(one.path) not in known]
    if len(found) > MOST:
        last, more = found[MOST - 1], len(found) - MOST
        says = f"{last.says} There are {more} more such files."
        found[MOST - 1 :] = [last.model_copy(update={"says": says})]
    return tuple(found)


def _sightings(work: Work) -> Iterator[Flag]:
    kinds = (("new", work.created_files), ("changed", work.changed_files))
    for how, paths in (*kinds, ("deleted", work.deleted_files)):
        for path in paths:
            if reaches_further(path) and not is_ci(path):
                what = "is installed" if is_lock(path) else "runs on machines of others"
                says = f"The plan does not name it; it decides what {what}, and is {how}."
                yield Flag(sign=Sign.REACHES_FURTHER, path=path, says=says)


def _plain(path: str) -> str:
    return str(PurePosixPath(path))
