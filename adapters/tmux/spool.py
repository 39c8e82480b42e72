"""The folder of one run: what it was started with, and every fact about its end, each in a file of its own.

It outlives the bot, the pane and tmux. Files appear by rename, or end in a line break once they are whole.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from heapq import nlargest
from pathlib import Path
from typing import BinaryIO, Literal

from pydantic import TypeAdapter, ValidationError, field_validator

from adapters.tmux.wrapper import script
from bot.domain.facts import Fact
from bot.domain.world import AgentUsage, Launch
from bot.errors import Refused, Unavailable

LARGEST_HOOK = 1 << 20
MOST_HOOKS, MOST_TOLD = 500, 8 << 20
"""Files and bytes of hooks that are looked at, the last ones: whoever is at work there can leave any number."""
NOTEBOOK = "observations.jsonl"
LARGEST_NOTEBOOK = 64 * 1024
REPORT = "report.md"
LARGEST_REPORT = 64 * 1024
MOST_TOKENS = 10**13
_HOOK = TypeAdapter(dict[str, object])
_OWN = re.compile(
    r"prompt\.md|run\.sh|launch|started|exit|stopped|done|ready|past(e|ed|ing)|output|report|heeded"
)


class Kept(Fact):
    """What must still be known of a launch when the bot has been started anew."""

    marker: str = ""
    stdin: Literal["terminal", "prompt", "nothing"] = "terminal"


class Report(Fact):
    """What the program that reads a CLI's events has kept of them."""

    conversation: str = ""
    message: str = ""
    error: str = ""
    usage: AgentUsage | None = None

    @field_validator("usage")
    @classmethod
    def _credible(cls, usage: AgentUsage | None) -> AgentUsage | None:
        """What nobody can have used is no more than a number that could not be shown."""
        told = (usage.input_tokens, usage.output_tokens, usage.cost or 0) if usage else ()
        return usage if all(0 <= one <= MOST_TOKENS for one in told) else None


class Spool:
    """Paths and facts of one run."""

    def __init__(self, root: Path, run: str) -> None:
        self.path = root / run
        self.output = self.path / "output"

    def begin(self, cwd: str, launch: Launch, prompt: str, environment: Mapping[str, str]) -> None:
        """Write all that the wrapper needs. Nothing has happened yet, so it may be done again."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in launch.files.items():
            self._check(name)
            self.write(name, content, mode=0o700 if content.startswith("#!") else 0o600)
        self.write("prompt.md", prompt)
        self.write("launch", Kept(marker=launch.marker, stdin=launch.stdin).model_dump_json())
        self.write("run.sh", script(self.path, cwd, launch, prompt, environment), mode=0o700)
        if launch.marker or launch.stdin == "terminal":
            self.write("output", "")

    def write(self, name: str, content: str, mode: int = 0o600) -> None:
        """Put a file there, whole or not at all."""
        temporary = self.path / f".{name}.new"
        temporary.unlink(missing_ok=True)
        with open_private(temporary, mode) as file:
            file.write(content.encode(errors="replace"))
        temporary.replace(self.path / name)

    def has(self, name: str) -> bool:
        return (self.path / name).exists()

    @property
    def begun(self) -> bool:
        """The run has had its start; it never gets another one."""
        return any(self.has(name) for name in ("started", "exit", "stopped"))

    @property
    def exit_code(self) -> int | None:
        """What the wrapper wrote after the agent ended."""
        content = regular(self.path / "exit")
        return int(content) if content and re.fullmatch(rb"[0-9]{1,3}\n", content) else None

    @property
    def kept(self) -> Kept:
        try:
            return Kept.model_validate_json(regular(self.path / "launch") or b"")
        except ValidationError:
            return Kept()

    @property
    def report(self) -> Report:
        """Empty where nobody has kept one, or what is there is none."""
        content = regular(self.path / "report")
        try:
            return Report() if content is None else Report.model_validate_json(content)
        except ValidationError:
            return Report()

    def mark_stopped(self) -> None:
        """From now on its end is the bot's doing, and it is not started any more."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.has("stopped"):
            self.write("stopped", "")

    def mark_pasted(self) -> None:
        """A new turn begins: what was told before is about an earlier one. It counts once it is pasted."""
        self.write("pasting", str(self.output.stat().st_size if self.output.exists() else 0))

    def count_paste(self) -> None:
        (self.path / "pasting").replace(self.path / "pasted")

    def age(self, name: str) -> float:
        """Seconds since the file was written; 0 if it is not there yet."""
        try:
            return max(0.0, time.time() - (self.path / name).stat().st_mtime)
        except FileNotFoundError:
            return 0.0

    @property
    def output_begins(self) -> int:
        """Where the output of the present turn begins."""
        content = regular(self.path / "pasted")
        return int(content) if content and re.fullmatch(rb"[0-9]{1,18}", content) else 0

    def since_paste(self, name: str) -> bool:
        """Is the file there, and about the present turn?"""
        try:
            return (self.path / name).stat().st_mtime_ns >= self._pasted_at
        except FileNotFoundError:
            return False

    def hooks(self) -> Iterator[dict[str, object]]:
        """What the agent's hooks left in the present turn, oldest first; anything unreadable is passed over."""
        return (hook for _, hook in self.named_hooks())

    def named_hooks(self) -> Iterator[tuple[str, dict[str, object]]]:
        """The same, each with the name of its file."""
        for name, content in reversed(self._last_told()):
            try:
                yield name, _HOOK.validate_json(content)
            except ValidationError:
                continue

    def _last_told(self) -> list[tuple[str, bytes]]:
        """Newest first."""
        pasted, left, told = self._pasted_at, MOST_TOLD, list[tuple[str, bytes]]()
        try:
            names = nlargest(
                MOST_HOOKS, filter(_is_hook, (path.name for path in self.path.iterdir()))
            )
        except FileNotFoundError:
            return told
        for name in names:
            content = regular(self.path / name, pasted) if left > 0 else None
            if content is not None:
                left -= len(content)
                told.append((name, content))
        return told

    @property
    def heeded(self) -> str:
        """The last hook whose question was found on the screen, or answered."""
        return (regular(self.path / "heeded") or b"").decode(errors="replace")

    @property
    def _pasted_at(self) -> int:
        try:
            return (self.path / "pasted").stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def _check(self, name: str) -> None:
        if _OWN.fullmatch(name) or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", name):
            raise Refused(f"{name!r} cannot be written beside the prompt.")


@contextmanager
def on_disk(failed: str) -> Generator[None]:
    """A full or read-only disk may have room again later."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"{failed}: {error}", "Make room on the disk and see that the folder is writable."
        ) from error


def open_private(path: Path, mode: int = 0o600) -> BinaryIO:
    """A new file that nobody else can read, not even for a moment."""
    return os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode), "wb"
    )


def _is_hook(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".")


def regular(path: Path, since: int = 0) -> bytes | None:
    """The content of a plain file of bounded size: a link or a pipe of that name is not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        state = os.fstat(descriptor)
        fits = stat.S_ISREG(state.st_mode) and state.st_size <= LARGEST_HOOK
        return os.read(descriptor, LARGEST_HOOK) if fits and state.st_mtime_ns >= since else None
    finally:
        os.close(descriptor)
