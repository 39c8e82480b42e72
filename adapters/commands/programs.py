"""Which programs a command line begins with, and whether they are there. Nothing is started to find out."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

_SEPARATORS = frozenset({"&&", "||", ";", "|", "&", "(", ")", "{", "}", "|&", ";;"})
_BEFORE = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "time", "exec"})
"""Behind these another command stands."""
_OF_THE_SHELL = frozenset(
    {
        *("cd", "echo", "printf", "test", "[", "[[", "true", "false", "set", "unset", "export"),
        *("eval", "exit", "trap", "ulimit", "umask", "wait", "read", ":", ".", "command", "type"),
        *("for", "case", "in", "esac", "fi", "done", "function", "return", "shift", "local", "env"),
    }
)


def problem(command: str, folder: str, path: str) -> str:
    """Why it cannot be run in that folder, in a sentence; empty: its programs are there, as far as can be seen."""
    try:
        wanted = list(_programs(command))
    except ValueError as error:
        return f"`{command}` is no command of a shell: {error}."
    for within, program in wanted:
        if "/" in program:
            file = Path(folder, within, program)
            if not file.exists():
                return f"There is no {Path(within, program)} in {folder}."
            if not os.access(file, os.X_OK):
                return f"{Path(within, program)} is not executable: `git update-index --chmod=+x {Path(within, program)}`."
        elif shutil.which(program, path=path) is None:
            return f"There is no program `{program}` on the PATH of the bot."
    return ""


def _programs(command: str) -> Iterator[tuple[str, str]]:
    """With the folder that a `cd` before it leads to. What only the shell can tell, as a variable, is left out."""
    folders, expected = [""], True
    for word in _words(command):
        if word in _SEPARATORS:
            expected = True
            if word == "(":
                folders.append(folders[-1])
            elif word == ")" and len(folders) > 1:
                folders.pop()
        elif expected is None:
            folders[-1] = str(Path(folders[-1], word))
            expected = False
        elif not expected or word in _BEFORE or _is_assignment(word):
            continue
        else:
            expected = None if word == "cd" else False
            if word not in _OF_THE_SHELL and not set(word) & set("$`*?~<>\"'"):
                yield folders[-1], word


def _words(command: str) -> Iterator[str]:
    reader = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    reader.commenters = "#"
    yield from reader


def _is_assignment(word: str) -> bool:
    name, separator, _ = word.partition("=")
    return bool(separator) and name.isidentifier()
