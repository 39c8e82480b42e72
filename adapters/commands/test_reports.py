"""The folder in which test runners write their reports: created under a random name for one run, read, and removed.

Its content was written by programs of the repository, so only a limited number of regular files of limited size is
read.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from adapters.files import read_regular_file
from bot.core.checks import Report, ReportReader, make_reporting

MOST_FILES = 2_000
MAX_REPORTS_BYTES = 32 << 20
MAX_LINE_LENGTH = 1 << 20
_CODE = Path(__file__).parent / "reporting"
_MAVEN_REPORT_FOLDERS = ("surefire-reports", "failsafe-reports")
"""Folders in which Maven always writes, below `target`."""
_WRITES_LATE, _LAST_WRITE_SECONDS = "bats", 2.0
_NOT_LOOKED_INTO = frozenset({".git", "node_modules", ".venv", "venv", "src", ".worktrees"})


class TestReports:
    """The reports of a run named by `log`; those left by a killed bot for the same run are removed."""

    def __init__(self, log: str, cwd: str) -> None:
        self._log, self._cwd = Path(log), Path(cwd)
        self._since = time.time()
        self._where, self._line = "", b""
        self.environment: Mapping[str, str] = {}
        self._runners: tuple[str, ...] = ()
        self._reader = ReportReader(dict.fromkeys((cwd, os.path.realpath(cwd))))

    @property
    def place(self) -> str:
        return self._where

    def prepare(self, command: str) -> str:
        """Create the folder, and return the command changed so that it reports there."""
        self._log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self._log.parent.glob(f"{self._log.name}.report-*"):
            shutil.rmtree(left, ignore_errors=True)
        self._where = tempfile.mkdtemp(prefix=f"{self._log.name}.report-", dir=self._log.parent)
        place = Path(self._where)
        (place / "out").mkdir()
        shutil.copytree(_CODE, place / "code", ignore=shutil.ignore_patterns("__pycache__"))
        plugin = f"report_{os.urandom(8).hex()}"
        (place / "code" / "pytest_plugin.py").rename(place / "code" / f"{plugin}.py")
        told = make_reporting(command, self._where, self._scripts())
        self.environment = {**told.environment, "GWT_TEST_PLUGIN": plugin}
        self._runners = told.runners
        return told.command

    def listen(self, chunk: bytes) -> None:
        """Receive output of the command, because some runners report nowhere else."""
        *lines, self._line = (self._line + chunk).split(b"\n")
        self._line = self._line[-MAX_LINE_LENGTH:]
        for line in lines:
            self._reader.read_output_line(line.decode("utf-8", "replace"), self._runners)

    async def wait_for_report(self) -> None:
        """Wait a moment for bats, which ends before the program that writes its report."""
        if _WRITES_LATE not in self._runners:
            return
        file = Path(self._where) / "out" / "report.xml"
        end = time.monotonic() + _LAST_WRITE_SECONDS
        while time.monotonic() < end:
            if _text(file).rstrip().endswith("</testsuites>"):
                return
            await asyncio.sleep(0.02)

    def read(self) -> Report | None:
        for path, text in _contents(Path(self._where) / "out"):
            self._reader.file(path.name, text)
        for path in self._of_maven():
            self._reader.file(path.name, _text(path, self._since))
        return self._reader.report()

    def remove(self) -> None:
        shutil.rmtree(self._where, ignore_errors=True)

    def _scripts(self) -> str:
        # The scripts come from the repository; they only decide how the runner can be made to report.
        text = _text(self._cwd / "package.json")
        try:
            scripts = json.loads(text or "{}").get("scripts", {})
        except (ValueError, AttributeError, RecursionError):
            return ""
        named: Mapping[str, object] = scripts if isinstance(scripts, dict) else {}
        return "\n".join(str(one) for one in named.values())

    def _of_maven(self) -> list[Path]:
        found: list[Path] = []
        for folder, names, files in os.walk(self._cwd):
            names[:] = [name for name in names if name not in _NOT_LOOKED_INTO]
            if os.path.basename(folder) in _MAVEN_REPORT_FOLDERS:  # noqa: PTH119 - a string of os.walk
                found += [Path(folder, name) for name in files if name.startswith("TEST-")]
        return found[:MOST_FILES]


def _contents(folder: Path) -> Iterator[tuple[Path, str]]:
    found = sorted(path for path in folder.rglob("*") if not path.is_symlink())
    for path in found[:MOST_FILES]:
        if text := _text(path):
            yield path, text


def _text(path: Path, since: float = 0.0) -> str:
    # Regular files only: a pipe would block, a link could lead anywhere.
    try:
        # a second of tolerance, because file systems round times
        if path.lstat().st_mtime < since - 1:
            return ""
        return read_regular_file(path, MAX_REPORTS_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
