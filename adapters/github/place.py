"""Which repository of the forge a checkout belongs to. Its rule: read by `git config` alone, and never believed unchecked."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from adapters.github.access import Address
from adapters.github.git import Git
from bot.errors import Refused

# [A-Za-z0-9] and fullmatch, never \w and $: those take letters of every script and a last line break
_SLUG = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,63})/[A-Za-z0-9._-]{1,100}")
_SCP_LIKE = re.compile(r"(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):(?!//)(.+)")
_SSH_OF_GITHUB = frozenset({"github.com", "ssh.github.com"})
_LONGEST = 1000


def is_slug(text: str) -> bool:
    """Is it owner/name, as the forge allows it?"""
    return _SLUG.fullmatch(text) is not None and text.split("/")[1] not in {".", "..", ".git"}


def slug_of(remote: str, address: Address) -> str:
    """owner/name of a remote's address, if it lies on that host; else empty."""
    if len(remote) > _LONGEST:
        return ""
    path = _path_on(remote.strip(), address)
    slug = path.strip("/").removesuffix(".git").strip("/")
    return slug if is_slug(slug) else ""


async def read_remote(git: Git, repository: str) -> str:
    """The address of the remote `origin` as it is written in the repository's own configuration; empty: there is none."""
    config = _config_of(Path(repository))
    if config is None:
        return ""
    answer = await git.run(
        "config", "--file", str(config), "--no-includes", "--get", "remote.origin.url", ok=(0, 1)
    )
    return answer.text.splitlines()[0] if answer.text else ""


def checked(slug: str) -> str:
    if not is_slug(slug):
        raise Refused(
            f"{slug[:200]!r} is no repository of GitHub", "Name it as owner/name, as in acme/shop."
        )
    return slug


def _path_on(remote: str, address: Address) -> str:
    """The path of the remote; empty where it lies on another host."""
    if "://" not in remote:
        scp = _SCP_LIKE.fullmatch(remote)
        return scp.group(2) if scp and _is_its_ssh(scp.group(1), address) else ""
    try:
        parts = urlsplit(remote)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return ""
    if parts.scheme in {"ssh", "git+ssh", "ssh+git"}:
        # the port of ssh says nothing: it is another one than that of the API
        return unquote(parts.path) if _is_its_ssh(host, address) else ""
    if parts.scheme in {"http", "https"} and host == address.host:
        usual = {"http": 80, "https": 443}[parts.scheme]
        wanted = address.port or (80 if address.plain else 443)
        return unquote(parts.path) if (port or usual) in {wanted, usual} else ""
    return ""


def _is_its_ssh(host: str, address: Address) -> bool:
    host = host.lower()
    return host == address.host or (address.host == "github.com" and host in _SSH_OF_GITHUB)


def _config_of(top: Path) -> Path | None:
    """The configuration file of a checkout, also of a linked worktree. Regular files only: a FIFO would hang."""
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
