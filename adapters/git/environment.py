"""The environment of every git process: fixed settings, and filters and merge drivers that are not looked for in an
agent's tree.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

# Settings that keep git from starting programs or asking questions.

SAFE_SETTINGS: tuple[str, ...] = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=true",
    "core.askPass=true",
    "core.sshCommand=false",
    "core.alternateRefsCommand=true",
    "core.quotePath=false",
    "sequence.editor=true",
    "credential.helper=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "merge.verifySignatures=false",
    "log.showSignature=false",
    "rerere.enabled=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    # caches beside the objects: an agent can write one in which commits have other parents, and so change what is
    # merged
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "pack.useBitmaps=false",
    "worktree.useRelativePaths=false",
    "diff.ignoreSubmodules=dirty",
    "i18n.logOutputEncoding=UTF-8",
    # these are switched on, whatever the repository says
    "protocol.version=2",
    "fetch.fsckObjects=true",
    "transfer.fsckObjects=true",
)
COMMITTER_NAME, COMMITTER_MAIL = "gwt-bot", "gwt-bot@localhost"
FIXED_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    # an agent of the same user can write ~/.gitconfig, too
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "true",
    "GIT_SSH_COMMAND": "false",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_ALLOW_PROTOCOL": "none",
    # both could give a commit other parents and so change what is merged; a missing file means no grafts
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null/none",
    "GIT_AUTHOR_NAME": COMMITTER_NAME,
    "GIT_AUTHOR_EMAIL": COMMITTER_MAIL,
    "GIT_COMMITTER_NAME": COMMITTER_NAME,
    "GIT_COMMITTER_EMAIL": COMMITTER_MAIL,
}


# Filters and merge drivers named by a person's git configuration. git runs both by a shell in the checkout it works on,
# so `tools/clean.sh` or `python3 -m nbstripout` would be whatever an agent has put there. Filters read one pipe and
# write another: the bot's git runs them in the main checkout, where they are the person's own. A merge driver may
# change files around it, so it runs in an empty folder, and only if it is clear which program it is; otherwise the file
# counts as a conflict, which its agent merges inside its own sandbox. See docs/decisions/0030.

_OWN_COPY = "I run the copy in your own checkout, outside of the sandbox, never an agent's."
FILTER = re.compile(r"filter\.(.+)\.(?:clean|smudge|process)", re.DOTALL)
DRIVER = re.compile(r"merge\.(.+)\.driver", re.DOTALL)
PROGRAM_KEYS = r"^(filter\..*\.(clean|smudge|process)|merge\..*\.driver)$"
"""The pattern passed to git, which reports section and key names in lower case."""
_PROGRAM_SECTION = re.compile(rb"\[\s*(?:filter|merge|include)", re.IGNORECASE)
_SHELL_CHARACTERS = frozenset("|&;<>()$`\\\n*?[]#~{}!")
"""Characters with a meaning in a shell. A command with one of them is more than a program and its arguments."""
_FOLDER_DEPENDENT = frozenset({"npx", "npm", "pnpm", "yarn", "bun", "bunx", "uv", "poetry", "make"})
"""Programs that read or change the folder they are started in; in an empty one their result would be wrong."""
_SIDES = re.compile(r"%[OAB]")
_PLACEHOLDER = re.compile(r"%[OABLPSXY%]")
_FAILING_DRIVER = "false"
"""A driver that fails, which makes git report a conflict."""
_TREE_VARIABLES = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
MAX_CONFIGURATION_BYTES = 1 << 20


def may_name_programs(configurations: Iterable[Path]) -> bool:
    """Whether the configuration may name programs. For most repositories this saves a call to git."""
    return any(_PROGRAM_SECTION.search(_content(one)) for one in configurations)


def safe_commands(programs: Mapping[str, str], main: Path, path: str) -> dict[str, str]:
    """Return the same keys with the commands git is to run instead. `path`: the search path for programs."""
    told: dict[str, str] = {}
    for key, command in programs.items():
        if not command.strip():
            continue
        if FILTER.fullmatch(key):
            told[key] = _in_main_checkout(command, main)
        elif DRIVER.fullmatch(key):
            told[key] = _in_empty_folder(command, main, path) or _FAILING_DRIVER
    return told


def settings_environment(overrides: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables for the settings, because `-c` does not accept names with an equals sign."""
    told = {"GIT_CONFIG_COUNT": str(len(overrides))} if overrides else {}
    for number, (key, value) in enumerate(overrides.items()):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return told


def describe_programs(programs: Mapping[str, str], main: Path, path: str) -> tuple[str, ...]:
    """Return sentences for people: which programs of the repository run and where, and which do not run."""
    told: dict[str, None] = {}
    for key, command in programs.items():
        files = ", ".join(f"`{one}`" for one in _repository_files(command, main))
        if (found := FILTER.fullmatch(key)) and files:
            told[f"The git filter {found[1]} runs {files} of the repository: {_OWN_COPY}"] = None
        elif found := DRIVER.fullmatch(key):
            told |= dict.fromkeys(_driver_described(found[1], command, main, path, files))
    return tuple(told)


def may_run_repository_code(key: str, command: str, main: Path, path: str) -> bool:
    """Whether a filter may run something from the repository.

    False if it is a system program without a file or module to run.
    """
    words = _plain_words(command)
    if not FILTER.fullmatch(key) or not command.strip():
        return False
    program = _trusted_program(words[0], main, path) if words and "-m" not in words else None
    inside = program is None or Path(program).is_relative_to(main)
    return inside or any(_is_repository_file(word, main) for word in words)


def _driver_described(name: str, command: str, main: Path, path: str, files: str) -> Iterator[str]:
    if not command.strip():
        return
    if _in_empty_folder(command, main, path) is None:
        yield (
            f"The git merge driver {name} depends on the folder it runs in, so I do not run it: "
            "where it would be needed, the files count as a collision."
        )
    elif files:
        yield f"The git merge driver {name} runs {files} of the repository: {_OWN_COPY}"


def _in_main_checkout(command: str, main: Path) -> str:
    # In a filter command git replaces %f by a quoted path and %% by a single %.
    where = shlex.quote(str(main)).replace("%", "%%")
    return f"unset {' '.join(_TREE_VARIABLES)}; cd {where} || exit 1\n{command}"


def _in_empty_folder(command: str, main: Path, path: str) -> str | None:
    """Return a plain command that runs in a temporary empty folder, or None if it cannot be run like that."""
    words = _plain_words(command)
    if not words:
        return None
    program = _trusted_program(words[0], main, path)
    if program is None:
        return None
    told = [_quoted(program), *(_argument(word, main) for word in words[1:])]
    return (
        f"unset {' '.join(_TREE_VARIABLES)}; tree=$PWD; aside=$(mktemp -d) || exit 1; "
        f'cd "$aside" || exit 1; {" ".join(told)}; code=$?; cd / && rm -rf "$aside"; exit $code'
    )


def _plain_words(command: str) -> list[str]:
    if _SHELL_CHARACTERS.intersection(command):
        return []
    try:
        return shlex.split(command)
    except ValueError:  # unclosed quotation
        return []


def _trusted_program(word: str, main: Path, path: str) -> str | None:
    """Return the full path of a program that no agent controls, or None."""
    if "%" in word or "=" in word or word in _FOLDER_DEPENDENT:
        return None
    if "/" in word:
        found = main / word
        return str(found) if found.is_file() and ".worktrees" not in found.parts else None
    return shutil.which(word, path=path)


def _argument(word: str, main: Path) -> str:
    """Return the quoted argument, with full paths for the three sides of a merge and for files of the repository, which
    are those of the main checkout.
    """
    if _is_repository_file(word, main):
        return _quoted(str(main / word))
    parts: list[str] = []
    at = 0
    for found in _PLACEHOLDER.finditer(word):
        before = _quoted(word[at : found.start()]) if found.start() > at else ""
        side = '"$tree"/' if _SIDES.fullmatch(found[0]) else ""
        parts.append(f"{before}{side}{found[0]}")
        at = found.end()
    rest = word[at:]
    return "".join(parts) + (_quoted(rest) if rest or not parts else "")


def _quoted(word: str) -> str:
    return shlex.quote(word).replace("%", "%%")


def _repository_files(command: str, main: Path) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    return [word for word in dict.fromkeys(words) if _is_repository_file(word, main)]


def _is_repository_file(word: str, main: Path) -> bool:
    """Whether the word is a path of a file in the main checkout.

    A plain word that happens to be a file name does not count.
    """
    if (
        word.startswith(("/", "-"))
        or "%" in word
        or "\0" in word
        or not ("/" in word or "." in word)
    ):
        return False
    return (main / word).is_file()


def _content(configuration: Path) -> bytes:
    # A pipe or device counts as empty, because reading it could block; git itself then waits for it, which is noticed
    # elsewhere.
    if not configuration.is_file():
        return b""
    try:
        with configuration.open("rb") as file:
            return file.read(MAX_CONFIGURATION_BYTES)
    except OSError:
        return b"[include]"
