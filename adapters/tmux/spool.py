"""The folder of one run: what it was started with, its start script, and every fact about its end in a file of its own.

It outlives the bot, the pane and tmux. Files appear by rename, or end with a line break once they are complete.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from heapq import nlargest
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError, field_validator

from adapters.files import UnsyncedDisk, open_regular_file
from bot.core.errors import Refused, Unavailable
from bot.core.facts import Fact
from bot.core.runs import AgentUsage, CompletionSource, Launch, RunEnd
from bot.core.states import Outcome

MAX_HOOK_BYTES = 1 << 20
MAX_HOOKS, MAX_HOOK_BYTES_TOTAL = 500, 8 << 20
"""Number and total bytes of the last hook files that are read: an agent can leave any number of them."""
NOTEBOOK = "observations.jsonl"
LARGEST_NOTEBOOK = 64 * 1024
REPORT = "report.md"
LARGEST_REPORT = 64 * 1024
MOST_TOKENS = 10**13
_HOOK = TypeAdapter(dict[str, object])
_OWN = re.compile(
    r"prompt\.md|run\.sh|launch|started|exit|stopped|done|ready|past(e|ed|ing)|output|report|heeded"
)


class LaunchRecord(Fact):
    """What must be known of a launch after a restart of the bot."""

    marker: str = ""
    stdin: Literal["terminal", "prompt", "nothing"] = "terminal"


class SpoolReport(Fact):
    """What the event reader of a CLI has recorded."""

    conversation: str = ""
    message: str = ""
    error: str = ""
    usage: AgentUsage | None = None

    @field_validator("usage")
    @classmethod
    def _plausible_usage(cls, usage: AgentUsage | None) -> AgentUsage | None:
        # Implausible numbers are dropped.
        told = (usage.input_tokens, usage.output_tokens, usage.cost or 0) if usage else ()
        return usage if all(0 <= one <= MOST_TOKENS for one in told) else None


class Spool:
    """Paths and facts of one run."""

    def __init__(self, root: Path, run: str) -> None:
        self.path = root / run
        self.output = self.path / "output"
        self.marks = {"GWT_RUN": run, "GWT_SPOOL": str(self.path)}
        """In the environment of all its processes.

        Both variables identify the run: another bot on the machine may have one of the same name.
        """

    def begin(self, cwd: str, launch: Launch, prompt: str, environment: Mapping[str, str]) -> None:
        """Write everything the wrapper script needs. It may be repeated, because nothing has been started yet."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in launch.files.items():
            self._check(name)
            self.write(name, content, mode=0o700 if content.startswith("#!") else 0o600)
        self.write("prompt.md", prompt)
        self.write(
            "launch", LaunchRecord(marker=launch.marker, stdin=launch.stdin).model_dump_json()
        )
        self.write("run.sh", pane_script(self.path, cwd, launch, prompt, environment), mode=0o700)
        if launch.marker or launch.stdin == "terminal":
            self.write("output", "")

    def write(self, name: str, content: str, mode: int = 0o600) -> None:
        # Atomic but not synced: no pane outlives a power cut.
        UnsyncedDisk().replace(self.path / name, content.encode(errors="replace"), mode=mode)

    def has(self, name: str) -> bool:
        return (self.path / name).exists()

    @property
    def was_started(self) -> bool:
        """Whether the run was started; it is never started again."""
        return any(self.has(name) for name in ("started", "exit", "stopped"))

    @property
    def exit_code(self) -> int | None:
        """The agent's exit code, written by the wrapper script after it ended."""
        content = read_regular_file(self.path / "exit")
        return int(content) if content and re.fullmatch(rb"[0-9]{1,3}\n", content) else None

    @property
    def kept(self) -> LaunchRecord:
        try:
            return LaunchRecord.model_validate_json(read_regular_file(self.path / "launch") or b"")
        except ValidationError:
            return LaunchRecord()

    @property
    def report(self) -> SpoolReport:
        """The report of the event reader; empty if there is none or it is invalid."""
        content = read_regular_file(self.path / "report")
        try:
            return SpoolReport() if content is None else SpoolReport.model_validate_json(content)
        except ValidationError:
            return SpoolReport()

    def mark_stopped(self) -> None:
        """Record that the bot ended the run, so that it is never started."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.has("stopped"):
            self.write("stopped", "")

    def mark_pasting(self) -> None:
        """Begin a new turn: earlier hooks belong to earlier turns. It takes effect once the text is pasted."""
        self.write("pasting", str(self.output.stat().st_size if self.output.exists() else 0))

    def count_paste(self) -> None:
        (self.path / "pasting").replace(self.path / "pasted")

    def age(self, name: str) -> float:
        """Return the seconds since the file was written; 0 if it does not exist."""
        try:
            return max(0.0, time.time() - (self.path / name).stat().st_mtime)
        except FileNotFoundError:
            return 0.0

    @property
    def output_begins(self) -> int:
        """Position in the output file where the current turn begins."""
        content = read_regular_file(self.path / "pasted")
        return int(content) if content and re.fullmatch(rb"[0-9]{1,18}", content) else 0

    def is_in_current_turn(self, name: str) -> bool:
        """Whether the file exists and belongs to the current turn."""
        try:
            return (self.path / name).stat().st_mtime_ns >= self._pasted_at
        except FileNotFoundError:
            return False

    def hooks(self) -> Iterator[dict[str, object]]:
        """Yield what the agent's hooks reported in the current turn, oldest first; invalid files are skipped."""
        return (hook for _, hook in self.named_hooks())

    def named_hooks(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield the hooks with their file names."""
        for name, content in reversed(self._last_hooks()):
            try:
                yield name, _HOOK.validate_json(content)
            except ValidationError:
                continue

    def _last_hooks(self) -> list[tuple[str, bytes]]:
        # Newest first.
        pasted, left, told = self._pasted_at, MAX_HOOK_BYTES_TOTAL, list[tuple[str, bytes]]()
        try:
            names = nlargest(
                MAX_HOOKS, filter(_is_hook, (path.name for path in self.path.iterdir()))
            )
        except FileNotFoundError:
            return told
        for name in names:
            content = read_regular_file(self.path / name, pasted) if left > 0 else None
            if content is not None:
                left -= len(content)
                told.append((name, content))
        return told

    @property
    def handled_hook(self) -> str:
        """Name of the last hook whose question was found on the screen, or answered."""
        return (read_regular_file(self.path / "heeded") or b"").decode(errors="replace")

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
def disk_errors(failed: str) -> Generator[None]:
    """Convert disk errors into Unavailable, because a full or read-only disk may be writable again later."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"{failed}: {error}", "Make room on the disk and see that the folder is writable."
        ) from error


def _is_hook(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".")


def read_regular_file(path: Path, since: int = 0) -> bytes | None:
    """Return the content of a regular file of limited size, or None. Links and pipes are not followed."""
    try:
        with open_regular_file(path) as descriptor:
            state = os.fstat(descriptor)
            fits = state.st_size <= MAX_HOOK_BYTES and state.st_mtime_ns >= since
            return os.read(descriptor, MAX_HOOK_BYTES) if fits else None
    except OSError:
        return None


# How a run ended, by what it left on disk. The first fact found decides, for ever.

MAX_MESSAGE_LENGTH = 4_000
_TASKS = TypeAdapter(list[dict[str, object]])


def end_by_hook(hook: Mapping[str, object]) -> RunEnd | None:
    """Return the end that a hook reports, or None. SessionEnd is ignored: the end of the process decides."""
    match hook.get("event") or hook.get("hook_event_name"):
        case "Stop" if not _will_continue(hook):
            return _by_hook(Outcome.FINISHED, hook, "last_assistant_message")
        case "StopFailure":
            return _by_hook(
                Outcome.FAILED, hook, "last_assistant_message", "error_details", "error"
            )
        case _:
            return None


def recorded_end(spool: Spool, *, process_gone: bool, source: CompletionSource) -> RunEnd | None:
    """Return the end of the run, if its folder records one, with the report of the CLI."""
    end = _recorded_end(spool, process_gone=process_gone, source=source)
    return end and with_report(spool, end)


def with_report(spool: Spool, end: RunEnd) -> RunEnd:
    """Add the data of the run's report, which exists however the run ended."""
    report = spool.report
    words = report.error if end.outcome is Outcome.FAILED else ""
    return end.model_copy(
        update={
            "message": (end.message or words or report.message)[:MAX_MESSAGE_LENGTH],
            "conversation": report.conversation,
            "usage": report.usage,
        }
    )


def _recorded_end(spool: Spool, *, process_gone: bool, source: CompletionSource) -> RunEnd | None:
    code = spool.exit_code
    if spool.has("stopped"):
        # the mark is set before the first signal; it counts only once the process has ended
        return (
            None
            if not process_gone
            else RunEnd(outcome=Outcome.KILLED, source=CompletionSource.STOPPED, exit_code=code)
        )
    for hook in spool.hooks():
        if end := end_by_hook(hook):
            return end.model_copy(update={"exit_code": code})
    if spool.is_in_current_turn("done"):
        return RunEnd(
            outcome=Outcome.FINISHED, source=CompletionSource.OUTPUT_PATTERN, exit_code=code
        )
    if code is None:
        return None
    return RunEnd(
        outcome=Outcome.FAILED if code else Outcome.FINISHED, source=source, exit_code=code
    )


def _will_continue(hook: Mapping[str, object]) -> bool:
    # Background tasks and scheduled prompts wake the agent again, and it stops a second time.
    if hook.get("session_crons"):
        return True
    try:
        tasks = _TASKS.validate_python(hook.get("background_tasks"))
    except ValidationError:
        return False
    return any(task.get("status") == "running" for task in tasks)


def _by_hook(outcome: Outcome, hook: Mapping[str, object], *fields: str) -> RunEnd:
    said = next((text for field in fields if isinstance(text := hook.get(field), str) and text), "")
    return RunEnd(outcome=outcome, source=CompletionSource.HOOK, message=said[:MAX_MESSAGE_LENGTH])


# The shell script a pane runs: it claims the run, starts the agent, and writes the exit code to disk before it ends.
# Everything in it is quoted; the agent inherits only what is set in it.

MAX_ARGUMENT_BYTES = 120_000
"""Bytes. Linux refuses a single argument of 128 KiB."""

_SCRIPT = """\
#!/bin/sh
# A handler, not an empty trap: the agent gets its signals, this shell outlives it to write the code down.
# Not for SIGHUP: when the terminal goes away this shell has to end, only then is the agent told.
trap : INT QUIT TERM
umask 077
cd -- {spool} || exit 125
# Only the first to come may run the agent, whoever asked for it and however often.
echo "$$" > ".started.$$" && command -p ln ".started.$$" started || exit 125
# What this shell has read it needs no file for, and the agent's key is in it.
command -p rm -f ".started.$$" run.sh
# The dot keeps the line breaks at the end, which a substitution would cut off.
prompt=$(command -p cat prompt.md; printf .)
prompt=${{prompt%.}}
(
{exports}
cd -- {cwd} || exit 125
# A stop that came while this was being prepared: signals may have met no process that would heed them.
[ ! -e {spool}/stopped ] || exit 143
umask 022
exec {command}
)
code=$?
trap '' HUP
# Without a rename, which would take a process more: the line is whole when its line break is there.
echo "$code" > exit
"""

_INPUTS = {"terminal": "", "prompt": " < {prompt}", "nothing": " < /dev/null"}


def pane_script(
    spool: Path, cwd: str, launch: Launch, prompt: str, environment: Mapping[str, str]
) -> str:
    """Return the script. `environment`: the agent's complete environment."""
    prompt_file = str(spool / "prompt.md")
    command = " ".join(_argument(part, prompt_file, prompt) for part in launch.argv)
    redirection = _INPUTS[launch.stdin].format(prompt=shlex.quote(prompt_file))
    text = _SCRIPT.format(
        spool=shlex.quote(str(spool)),
        cwd=shlex.quote(cwd),
        exports="\n".join(_export(key, value) for key, value in environment.items()),
        command=command + redirection,
    )
    if "\0" in text:
        raise Refused("Neither arguments nor variables of an agent can hold a NUL character.")
    return text


def _argument(part: str, prompt_file: str, prompt: str) -> str:
    if part == "{prompt_file}":
        return shlex.quote(prompt_file)
    if part != "{prompt}":
        return shlex.quote(part)
    if len(prompt.encode()) > MAX_ARGUMENT_BYTES:
        return shlex.quote(
            f"Read the file {prompt_file} to its end and carry out what it asks for."
        )
    return '"$prompt"'


def _export(key: str, value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
        raise Refused(f"{key!r} is no name for an environment variable.")
    return f"export {key}={shlex.quote(value)}"
