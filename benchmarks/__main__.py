"""All benchmarks, one after the other, each in a process of its own; at the end the one table.

python -m benchmarks [some of them]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.ground import ROOT, on_this_disk
from benchmarks.table import FILE, drawn, hand_in, handed_in, lacking

NOT_RUN = {"__main__", "table", "ground", "poller", "saver"}


def main(wanted: list[str]) -> int:
    names = sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_RUN
    )
    if unknown := set(wanted) - set(names):
        print(f"There is no benchmark {', '.join(unknown)}. There are: {', '.join(names)}.")
        return 2
    begun, failed = time.monotonic(), list[str]()
    with on_this_disk() as folder:
        os.environ[FILE] = str(folder / "rows")
        for name in wanted or names:
            failed += [] if finished(name) else [name]
        rows = handed_in(folder / "rows")
    print(f"\n== all, in {time.monotonic() - begun:.0f} s\n\n{drawn(rows)}", flush=True)
    return 1 if failed else 0


def finished(name: str) -> bool:
    """A benchmark that breaks is a row of the table like any other."""
    print(f"\n== {name}", flush=True)
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], cwd=ROOT, check=False)
    print(f"({time.monotonic() - begun:.0f} s)", flush=True)
    if done.returncode:
        hand_in(lacking("", name, f"it broke with exit code {done.returncode}; see above."))
    return not done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
