"""`python -m tests.traces`: record, and compare."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.traces import chats, hosting, journals, kept
from tests.traces.compared import Compared, compare
from tests.traces.schedules import traced

CHUNK = 10
BEDS = {**chats.PLAYED, **hosting.PLAYED}


def main() -> int:
    wanted = _wanted()
    if wanted.do == "record":
        return _record(wanted.folder, range(wanted.first, wanted.first + wanted.seeds), wanted)
    if wanted.do == "journals":
        journals.write_expected()
        return 0
    options = Compared(dict(one.split("=") for one in wanted.renamed), tuple(wanted.without))
    told, different = compare(wanted.before, wanted.after, options)
    _say(told)
    return min(different, 1)


def _wanted() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="python -m tests.traces")
    do = options.add_subparsers(dest="do", required=True)
    record = do.add_parser("record", help="play everything, and keep a trace of each")
    record.add_argument("folder", type=Path)
    record.add_argument("--seeds", type=int, default=1_000)
    record.add_argument("--first", type=int, default=0, help="the first seed")
    record.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    record.add_argument(
        "--only-seeds", action="store_true", help="no chats, no GitHub, no journals"
    )
    two = do.add_parser("compare", help="say where two recordings differ")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    two.add_argument("--renamed", action="append", default=[], metavar="OLD=NEW")
    two.add_argument("--without", action="append", default=[], metavar="WHAT")
    do.add_parser("journals", help="write anew what comes of the journals of 0.1.0")
    return options.parse_args()


def _record(folder: Path, seeds: range, wanted: argparse.Namespace) -> int:
    begin = time.monotonic()
    chunks = [seeds[n : n + CHUNK] for n in range(0, len(seeds), CHUNK)]
    folder.mkdir(parents=True, exist_ok=True)
    digests: dict[str, str] = {}
    with ProcessPoolExecutor(wanted.workers) as pool:
        beds = [] if wanted.only_seeds else [pool.submit(_bed, folder, name) for name in BEDS]
        beds += [] if wanted.only_seeds else [pool.submit(_journals, folder)]
        for found in pool.map(_chunk, [(folder, chunk) for chunk in chunks]):
            digests |= found
        for bed in beds:
            digests |= bed.result()
    kept.write_digests(folder, digests)
    _say(f"{len(digests)} traces in {folder}, {time.monotonic() - begin:.0f} s")
    return 0


def _chunk(work: tuple[Path, range]) -> dict[str, str]:
    folder, seeds = work
    return {
        name: kept.write(folder, name, traced(seed))
        for seed in seeds
        for name in [f"schedules/{seed:05}"]
    }


def _bed(folder: Path, name: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as home:
        return {name: kept.write(folder, name, asyncio.run(BEDS[name](Path(home))))}


def _journals(folder: Path) -> dict[str, str]:
    found = {f"journals/{name}": journals.told(journals.read(name)) for name in journals.names()}
    return {name: kept.write(folder, name, lines) for name, lines in found.items()}


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
