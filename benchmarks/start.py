"""What does a start of the program cost the processor, beside a Python that does nothing?

python -m benchmarks.start [rounds]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from benchmarks.ground import ROOT
from benchmarks.table import at_most, hand_in

NOTHING = (sys.executable, "-c", "pass")
PROGRAM = (sys.executable, "-m", "bot")
COMMANDS = {"--help": 0.12, "status": 0.35}
"""Seconds that nobody minds."""
IMPORTS = (
    "nearly all of it is loading; without a bot at work and without sessions, so no session is read"
)


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
        home = Path(folder)
        ran((*PROGRAM, "status"), home)  # all is compiled
        nothing, took = list[float](), {word: list[float]() for word in COMMANDS}
        for _ in range(rounds):
            nothing.append(ran(NOTHING, home))
            for word, seconds in took.items():
                seconds.append(ran((*PROGRAM, word), home))
    hand_in(
        *(
            at_most(
                "",
                f"gwt-bot {word}: processor",
                median(seconds),
                COMMANDS[word],
                floor=median(nothing),
                of="python -c pass",
                because=IMPORTS,
            )
            for word, seconds in took.items()
        )
    )


def ran(command: tuple[str, ...], home: Path) -> float:
    """Seconds of the processor: others' work on the machine does not count."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GWT_HOME": str(home / "gwt")}
    before = spent()
    subprocess.run(command, env=environment, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return spent() - before


def spent() -> float:
    """By all children that have ended."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
