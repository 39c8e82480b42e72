"""What of the machine everybody in the sandbox sees. Its rule: what is not named here is not there.

No /run, no /var, no /home: the sockets of docker, D-Bus, ssh agents and tmux lie there, and files of other people.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

SYSTEM = tuple(map(Path, ("/usr", "/etc", "/opt", "/nix/store", "/gnu/store")))
_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr on most machines, folders on others."""
_HERE = Path(__file__).resolve().parents[2]


def isolation() -> list[str]:
    """No namespace but the network is shared. No capability is kept, not even by root, who could undo the mounts.

    Not `--new-session`: an agent needs its terminal, and nobody else reads from that one.
    """
    names = ("user", "pid", "ipc", "uts", "cgroup-try")
    return [*(f"--unshare-{name}" for name in names), "--die-with-parent", "--cap-drop", "ALL"]


def system() -> list[str]:
    """The programs and settings of the machine, read-only, without what is not for everybody."""
    words = [word for folder in SYSTEM if folder.is_dir() for word in read_only(folder)]
    for path in map(Path, _MERGED):
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            words += read_only(path)
    for path in not_for_everybody(Path("/etc")):
        words += hidden(path)
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]  # noqa: S108 - not the bot's
    names = Path("/etc/resolv.conf").resolve()
    if names.is_file() and not covered(names, SYSTEM):
        words += read_only(names)
    return words


def programs(environ: Mapping[str, str]) -> list[Path]:
    """Where programs are looked for, the bot's own Python and what of the bot is run beside an agent."""
    on_path = (Path(one) for one in environ.get("PATH", "").split(os.pathsep) if one)
    code = (_HERE / "adapters", _HERE / "bot")
    found = [*on_path, Path(sys.prefix), Path(sys.base_prefix), *code]
    return [one for one in found if one.is_absolute() and one.is_dir()]


def packages(argv: Sequence[str]) -> list[Path]:
    """A program is often a link: what it leads to, with the packages around it where it is a script among them."""
    found: list[Path] = []
    for word in argv:
        path = Path(word)
        if not path.is_absolute() or not path.is_file() or not os.access(path, os.X_OK):
            continue
        real = path.resolve()
        around = [parent for parent in real.parents if parent.name == "node_modules"]
        found.append(around[-1] if around else real)
    return found


def not_for_everybody(folder: Path) -> Iterator[Path]:
    """What we may read there, and others may not: keys of the machine, where the bot is root or of a group of theirs."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        path, mode = Path(entry.path), entry.stat(follow_symlinks=False).st_mode
        if not mode & 0o004:
            if os.access(path, os.R_OK):
                yield path
        elif entry.is_dir():
            yield from not_for_everybody(path)


def covered(path: Path, folders: tuple[Path, ...] | list[Path]) -> bool:
    return any(path == folder or folder in path.parents for folder in folders)


def read_only(path: Path, at: Path | None = None) -> list[str]:
    return ["--ro-bind", str(path), str(at or path)]


def writable(path: Path, at: Path | None = None) -> list[str]:
    return ["--bind", str(path), str(at or path)]


def hidden(path: Path) -> list[str]:
    if path.is_dir():
        return ["--tmpfs", str(path)]
    return ["--ro-bind", "/dev/null", str(path)]
