"""Runs git for work with GitHub, and finds out which repository on GitHub a checkout belongs to."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from adapters.github.api import Address
from adapters.processes import ProgramOutput, run
from bot.core.errors import Refused, Unavailable
from bot.os_errors import files_in, is_pipe_or_device, refuse_if_blocked

# git with an argument list, an environment built from scratch, and a time-out. Hooks, helpers, editors and all
# protocols are disabled; a call that needs the network enables one protocol for itself. Secrets are passed to git only
# in its environment, never in an argument, an address or a file.

_INHERITED_VARIABLES = frozenset(
    {
        "PATH",
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "no_proxy",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "GIT_SSL_CAINFO",
        "TMPDIR",
    }
)
"""Without HOME: a .netrc or .gitconfig there may be written by agents of the same user."""

_FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_SSH_COMMAND": "false",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
}

_SAFE_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=true",
    "core.sshCommand=false",
    "credential.helper=",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "http.followRedirects=false",
    "push.followTags=false",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "fetch.recurseSubmodules=no",
    "submodule.recurse=false",
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "pack.useBitmaps=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "transfer.fsckObjects=true",
    # defects in old histories that GitHub accepts, too; without these settings no branch of such a repository could be
    # pushed
    "fetch.fsck.zeroPaddedFilemode=warn",
    "fetch.fsck.missingSpaceBeforeDate=warn",
    "fetch.fsck.missingSpaceBeforeEmail=warn",
    "fetch.fsck.badTimezone=warn",
    "fetch.fsck.missingEmail=warn",
    "fetch.fsck.zeroPaddedDate=warn",
)

_KEPT = 256 * 1024
_GRACE_SECONDS = 2.0
"""Seconds after SIGTERM, in which git removes its lock files."""


@dataclass(frozen=True)
class GitResult:
    """The output of git."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out.strip()


class RemoteGit:
    """Runs git outside of any repository; the repository is named by an argument."""

    def __init__(self, environ: Mapping[str, str], *, seconds: float, program: str = "git") -> None:
        self._environment = {
            name: environ[name] for name in _INHERITED_VARIABLES if name in environ
        }
        self._environment.setdefault("PATH", os.defpath)
        self._seconds = seconds
        self._program = program

    async def run(
        self,
        *arguments: str,
        at: Path | None = None,
        protocol: str = "",
        secret: Mapping[str, str] | None = None,
        lock: int | None = None,
        ok: Sequence[int] | None = (0,),
        source: Path | None = None,
    ) -> GitResult:
        """Run git.

        `source`: an untrusted repository it reads from; `protocol`: the only protocol it may use; `ok`: exit codes that are
        no error, None to accept all; `secret`: settings passed only in the environment; `lock`: descriptor that git
        keeps open.
        """
        switches = [*_SAFE_SETTINGS, *([f"protocol.{protocol}.allow=always"] if protocol else ())]
        command = [word for switch in switches for word in ("-c", switch)]
        where = [f"--git-dir={at}"] if at else []
        environment = self._environment | _FIXED | _settings_environment(secret or {})
        said = await refuse_if_blocked(
            self._ended([*command, *where, *arguments], environment, lock, f"git {arguments[0]}"),
            lambda: _blocking_file(source),
        )
        if ok is not None and said.code not in ok:
            raise Unavailable(f"git {arguments[0]} failed: {failure_line(said.err)}")
        return said

    async def _ended(
        self, arguments: Sequence[str], environment: Mapping[str, str], lock: int | None, name: str
    ) -> GitResult:
        out, err = ProgramOutput(0, _KEPT), ProgramOutput(0, _KEPT)
        try:
            ended = await run(
                (self._program, "--no-pager", *arguments),
                cwd="/",
                env=environment,
                out=out,
                err=err,
                umask=0o077,
                pass_fds=() if lock is None else (lock,),
                seconds=self._seconds,
                grace=_GRACE_SECONDS,
                name=name,
                timeout_remedy="Look whether the network or GitHub is slow. The bot tries again by itself.",
            )
        except FileNotFoundError as error:
            raise Unavailable("git is required", "Install git 2.36 or newer.") from error
        except OSError as error:
            raise Unavailable(f"git could not be started: {error.strerror}") from error
        said, complained = (one.content().decode("utf-8", "replace") for one in (out, err))
        return GitResult(ended.code, said, complained)


def _blocking_file(repository: Path | None) -> Path | None:
    """Return a file that would make git block, in a repository that agents can write, or None."""
    if repository is None:
        return None
    own = repository / ".git"
    return next(filter(is_pipe_or_device, (own, *files_in(own))), None)


def failure_line(err: str) -> str:
    """Return the line that best explains the failure."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))]
    chosen = (told or lines or ["it said nothing"])[0]
    return chosen.removeprefix("fatal:").removeprefix("error:").strip()[:300]


def _settings_environment(secret: Mapping[str, str]) -> dict[str, str]:
    told = {"GIT_CONFIG_COUNT": str(len(secret))} if secret else {}
    for number, (key, value) in enumerate(secret.items()):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return told


# Which repository on GitHub a checkout belongs to: read by `git config` alone, and always verified.

# [A-Za-z0-9] and fullmatch, never \w and $: those accept letters of every script and a trailing line break
_SLUG = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,63})/[A-Za-z0-9._-]{1,100}")
_SCP_LIKE = re.compile(r"(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):(?!//)(.+)")
_SSH_OF_GITHUB = frozenset({"github.com", "ssh.github.com"})
_LONGEST_REMOTE = 1000


def is_slug(text: str) -> bool:
    """Whether the text is an owner/name that the forge allows."""
    return _SLUG.fullmatch(text) is not None and text.split("/")[1] not in {".", "..", ".git"}


def slug_from_remote(remote: str, address: Address) -> str:
    """Return owner/name from a remote's address; empty if it is on another host."""
    if len(remote) > _LONGEST_REMOTE:
        return ""
    path = _path_on_host(remote.strip(), address)
    slug = path.strip("/").removesuffix(".git").strip("/")
    return slug if is_slug(slug) else ""


async def read_remote(git: RemoteGit, repository: str) -> str:
    """Return the address of the remote `origin` from the repository's own configuration; empty if there is none."""
    config = _config_file(Path(repository))
    if config is None:
        return ""
    answer = await git.run(
        "config", "--file", str(config), "--no-includes", "--get", "remote.origin.url", ok=(0, 1)
    )
    return answer.text.splitlines()[0] if answer.text else ""


def checked_slug(slug: str) -> str:
    if not is_slug(slug):
        raise Refused(
            f"{slug[:200]!r} is no repository of GitHub", "Name it as owner/name, as in acme/shop."
        )
    return slug


def _path_on_host(remote: str, address: Address) -> str:
    """Return the path of the remote; empty if it is on another host."""
    if "://" not in remote:
        scp = _SCP_LIKE.fullmatch(remote)
        return scp.group(2) if scp and _is_ssh_host(scp.group(1), address) else ""
    try:
        parts = urlsplit(remote)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return ""
    if parts.scheme in {"ssh", "git+ssh", "ssh+git"}:
        # the port is ignored, because that of ssh differs from that of the API
        return unquote(parts.path) if _is_ssh_host(host, address) else ""
    if parts.scheme in {"http", "https"} and host == address.host:
        usual = {"http": 80, "https": 443}[parts.scheme]
        wanted = address.port or (80 if address.is_unencrypted else 443)
        return unquote(parts.path) if (port or usual) in {wanted, usual} else ""
    return ""


def _is_ssh_host(host: str, address: Address) -> bool:
    host = host.lower()
    return host == address.host or (address.host == "github.com" and host in _SSH_OF_GITHUB)


def _config_file(top: Path) -> Path | None:
    """Return the configuration file of a checkout or linked worktree. Only regular files: a FIFO would block."""
    git_dir = top / ".git"
    if git_dir.is_file():
        told = _first_line(git_dir)
        if not told.startswith("gitdir: "):
            return None
        git_dir = top / told.removeprefix("gitdir: ")
    common = git_dir / "commondir"
    if common.is_file():
        git_dir = git_dir / _first_line(common)
    config = git_dir / "config"
    return config.resolve() if config.is_file() else None


def _first_line(path: Path) -> str:
    with path.open("rb") as file:
        lines = file.read(4096).decode("utf-8", "surrogateescape").splitlines()
    return lines[0] if lines else ""
