"""Planted faults, each a line of the program made wrong in a copy of the project: the tests named beside it must fail.

`tests/mutants.toml` has them; `make mutants` plants them all, `make mutants ARGS="slack"` those whose file or reason has the
word. What is planted in memory, in a simulated world, is in `tests/simulation/mutants.py`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "mutants.toml"
COPIED = ("adapters", "bot", "tests", "docs", "manifest.yml", "pyproject.toml", ".env.example")
FAILED, PASSED = 1, 0
"""How pytest ends when a test has failed, and when none has; anything else says that the tests could not be run."""
LONGEST = 300.0
"""Seconds after which a mutant counts as noticed: the tests wait for something that never comes."""


class UnusableError(Exception):
    """A row of the table, or a project, with which nothing can be proven."""


@dataclass(frozen=True)
class Mutant:
    file: str
    replace: str
    by: str
    dies_in: tuple[str, ...]
    why: str

    @property
    def name(self) -> str:
        return f"{self.file}: {self.why}"

    def planted(self, root: Path = ROOT) -> str:
        """The text of its file with the fault in it."""
        text = (root / self.file).read_text(encoding="utf-8")
        if (found := text.count(self.replace)) != 1:
            raise UnusableError(f"{self.name}: what it replaces is found {found} times, not once")
        return text.replace(self.replace, self.by)


def mutants() -> list[Mutant]:
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"]
    return [
        Mutant(row["file"], row["replace"], row["by"], tuple(row["dies_in"]), row["why"])
        for row in rows
    ]


def survivors(chosen: Sequence[Mutant], workers: int) -> list[str]:
    """The mutants that no test noticed, with the reason; prints a line for each as soon as it is known."""
    for mutant in chosen:
        mutant.planted()
    with tempfile.TemporaryDirectory(prefix="gwt-mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(workers):
            copies.put(_copy(Path(folder) / str(number)))
        _check_unchanged(copies, chosen)

        def tried(mutant: Mutant) -> str:
            copy = copies.get()
            try:
                survived = _try(mutant, copy)
            finally:
                copies.put(copy)
            print(f"{'SURVIVED' if survived else 'died    '} {mutant.name}", flush=True)  # noqa: T201
            return survived

        with ThreadPoolExecutor(workers) as pool:
            return [one for one in pool.map(tried, chosen) if one]


def _copy(to: Path) -> Path:
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("node_modules"))
        else:
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


def _check_unchanged(copies: SimpleQueue[Path], chosen: Iterable[Mutant]) -> None:
    """Tests that fail anyway prove nothing about a mutant."""
    copy = copies.get()
    paths = sorted({path for mutant in chosen for path in mutant.dies_in})
    ended, said = _run(copy, paths, None)
    copies.put(copy)
    if ended != PASSED:
        raise UnusableError(f"Without a fault the tests do not pass either.\n{said}")


def _try(mutant: Mutant, copy: Path) -> str:
    """Empty if a test has noticed it."""
    path = copy / mutant.file
    path.write_text(mutant.planted(), encoding="utf-8")
    try:
        ended, said = _run(copy, mutant.dies_in, LONGEST)
    finally:
        shutil.copy2(ROOT / mutant.file, path)
    if ended == FAILED:
        return ""
    if ended == PASSED:
        return mutant.name
    return f"{mutant.name}\n{said}"


def _run(copy: Path, paths: Iterable[str], seconds: float | None) -> tuple[int, str]:
    # no .pyc is written while a fault is there: two versions of one second and one size would be taken for the same
    env = {**os.environ, "PYTHONPATH": str(copy)} | (
        {"PYTHONDONTWRITEBYTECODE": "1"} if seconds else {}
    )
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *paths]
    try:
        ran = subprocess.run(
            command, cwd=copy, env=env, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return FAILED, ""
    return ran.returncode, ran.stdout[-3000:] + ran.stderr[-1000:]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only those whose file or reason has one of them")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    chosen = [
        one for one in mutants() if not asked.words or any(word in one.name for word in asked.words)
    ]
    try:
        alive = survivors(chosen, asked.workers)
    except UnusableError as error:
        sys.exit(str(error))
    print(f"{len(chosen)} mutants, {len(alive)} of them survived.")  # noqa: T201
    for one in alive:
        print(f"\n{one}")  # noqa: T201
    return 1 if alive or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
