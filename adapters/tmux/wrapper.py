"""The shell script a pane runs: it claims the run, starts the agent, and leaves the exit code on disk before it ends.

Everything in it is quoted; what the agent inherits is what stands in it, and nothing else.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from bot.domain.world import Launch
from bot.errors import Refused

LONGEST_ARGUMENT = 120_000
"""Bytes. Linux refuses an argument of 128 KiB, whatever the length of all of them."""

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


def script(
    spool: Path, cwd: str, launch: Launch, prompt: str, environment: Mapping[str, str]
) -> str:
    """`environment` is the agent's whole environment."""
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
    if len(prompt.encode()) > LONGEST_ARGUMENT:
        return shlex.quote(
            f"Read the file {prompt_file} to its end and carry out what it asks for."
        )
    return '"$prompt"'


def _export(key: str, value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
        raise Refused(f"{key!r} is no name for an environment variable.")
    return f"export {key}={shlex.quote(value)}"
