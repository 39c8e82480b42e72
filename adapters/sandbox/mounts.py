"""The mounts of the sandbox, from the machine and the repository. Nothing else is visible inside."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bot.core.errors import Refused

# What every sandboxed program sees of the machine. No /run, no /var, no /home, which contain the sockets of docker,
# D-Bus, ssh agents and tmux, and files of other people.

SYSTEM_FOLDERS = tuple(map(Path, ("/usr", "/etc", "/opt", "/nix/store", "/gnu/store")))
_MERGED_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr on most machines, folders on others."""
_HERE = Path(__file__).resolve().parents[2]


def isolation_options() -> list[str]:
    # All namespaces except the network are separate. No capability is kept, even for root, who could undo the mounts.
    # No `--new-session`: an agent needs its terminal, and nobody else reads from that one.
    names = ("user", "pid", "ipc", "uts", "cgroup-try")
    return [*(f"--unshare-{name}" for name in names), "--die-with-parent", "--cap-drop", "ALL"]


def system_mounts() -> list[str]:
    """Return mounts of the machine's programs and settings, read-only, without files that are not world-readable."""
    words = [word for folder in SYSTEM_FOLDERS if folder.is_dir() for word in read_only(folder)]
    for path in map(Path, _MERGED_FOLDERS):
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            words += read_only(path)
    for path in not_world_readable(Path("/etc")):
        words += hidden(path)
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]  # noqa: S108 - not the bot's
    names = Path("/etc/resolv.conf").resolve()
    if names.is_file() and not is_covered(names, SYSTEM_FOLDERS):
        words += read_only(names)
    return words


def program_folders(environ: Mapping[str, str]) -> list[Path]:
    """Return the folders of the PATH, the bot's own Python, and the bot's code that runs beside an agent."""
    on_path = (Path(one) for one in environ.get("PATH", "").split(os.pathsep) if one)
    code = (_HERE / "adapters", _HERE / "bot")
    found = [*on_path, Path(sys.prefix), Path(sys.base_prefix), *code]
    return [one for one in found if one.is_absolute() and one.is_dir()]


def program_targets(argv: Sequence[str]) -> list[Path]:
    """Return the targets of programs that are links; for a script in node_modules, all packages around it."""
    found: list[Path] = []
    for word in argv:
        path = Path(word)
        if not path.is_absolute() or not path.is_file() or not os.access(path, os.X_OK):
            continue
        real = path.resolve()
        around = [parent for parent in real.parents if parent.name == "node_modules"]
        found.append(around[-1] if around else real)
    return found


def not_world_readable(folder: Path) -> Iterator[Path]:
    """Yield paths in the folder that the bot may read but others may not, such as keys of the machine."""
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
            yield from not_world_readable(path)


def is_covered(path: Path, folders: tuple[Path, ...] | list[Path]) -> bool:
    return any(path == folder or folder in path.parents for folder in folders)


def read_only(path: Path, at: Path | None = None) -> list[str]:
    return ["--ro-bind", str(path), str(at or path)]


def writable(path: Path, at: Path | None = None) -> list[str]:
    return ["--bind", str(path), str(at or path)]


def hidden(path: Path) -> list[str]:
    if path.is_dir():
        return ["--tmpfs", str(path)]
    return ["--ro-bind", "/dev/null", str(path)]


# What a program in a worktree sees of the repository. It can commit on `agent/…` branches and change nothing else.
# Hooks, configuration, other branches, the index of the main checkout and the files that define a worktree are
# read-only; the main checkout and other worktrees are invisible. Packs that exist already cannot be destroyed.

MAX_SMALL_FILE_BYTES = 64 * 1024


def checkout_mounts(cwd: Path) -> list[str]:
    """Return the mounts of a worktree, with what git needs of the repository."""
    pointer = cwd / ".git"
    if not pointer.exists() and not pointer.is_symlink():
        return writable(cwd)
    common = _common_folder(cwd.parent.parent)
    admin = _admin_folder(common, cwd) if common else None
    if common is None or admin is None:
        raise Refused(
            f"{cwd} is no worktree of the bot's, or its .git file was changed",
            "Let the task be done anew in a worktree of its own.",
        )
    return [
        *_repository_mounts(common),
        *_worktree_mounts(admin),
        *writable(cwd),
        *read_only(pointer),
    ]


def _repository_mounts(common: Path) -> list[str]:
    if (common / "reftable").exists():
        raise Refused(
            "the sandbox does not know repositories that keep their branches in a reftable",
            "Set SANDBOX=none, or convert it: git refs migrate --ref-format=files",
        )
    objects = common / "objects"
    words = read_only(common)
    for folder in (objects, common / "refs/heads/agent", common / "logs/refs/heads/agent"):
        folder.mkdir(parents=True, exist_ok=True)
        words += writable(_require_no_link(folder))
    for folder in (objects / "pack", objects / "info"):
        # created here, because whoever creates it could list further folders to mount
        folder.mkdir(exist_ok=True)
        words += read_only(_require_no_link(folder))
    for other in _alternates(objects):
        words += ["--ro-bind-try", str(other), str(other)]
    return words


def _worktree_mounts(admin: Path) -> list[str]:
    words = writable(_require_no_link(admin))
    for name in ("commondir", "gitdir", "config.worktree"):
        words += read_only(admin / name) if (admin / name).is_file() else []
    return words


def _require_no_link(folder: Path) -> Path:
    # An agent without a sandbox may have redirected the folder, whose target would then be writable.
    if folder.resolve() != folder:
        raise Refused(f"{folder} leads elsewhere", "Look who has made it a link, and undo that.")
    return folder


def _common_folder(top: Path) -> Path | None:
    """Return the git directory of the main checkout: a folder, or the target of a file in submodules."""
    own = top / ".git"
    if own.is_dir():
        return own.resolve()
    line = _first_line(own)
    return (top / line.removeprefix("gitdir: ")).resolve() if line.startswith("gitdir: ") else None


def _admin_folder(common: Path, cwd: Path) -> Path | None:
    # Found through the repository, not the worktree, which the agent can write; both must agree.
    pointer = cwd / ".git"
    for one in sorted((common / "worktrees").glob("*")):
        if _first_line(one / "gitdir") == str(pointer) and _first_line(pointer) == f"gitdir: {one}":
            return one
    return None


def _alternates(objects: Path) -> list[Path]:
    """Return the object stores that this one borrows from."""
    file = objects / "info" / "alternates"
    if not file.is_file() or file.is_symlink() or file.stat().st_size > MAX_SMALL_FILE_BYTES:
        return []
    lines = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [objects / line for line in lines if line and not line.startswith("#")]


def _first_line(file: Path) -> str:
    """Return the first line of a small regular file; empty if there is none."""
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_SMALL_FILE_BYTES:
        return ""
    lines = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return lines[0] if lines else ""
