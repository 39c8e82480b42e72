"""Where the remote `origin` has a branch. Its rule: only asked what anybody could ask, and nothing is fetched.

The address is read by `git config` alone, and asked from outside of the repository: `url.*.insteadOf`, proxies and
helpers of its configuration have no say. Where a login would be needed (ssh, a name or password in the address) nobody
is asked.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import urlsplit

from adapters.git.place import Place
from adapters.git.run import Git
from bot.errors import PortError

SECONDS = 5.0
"""A session does not begin before this is known, and it is only worth a note on its first card."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LONGEST = 1000


async def origin_tip(git: Git, main: Place, branch: str) -> str:
    """Empty: there is no such remote or branch, or it cannot be reached."""
    try:
        async with asyncio.timeout(SECONDS):
            protocol, address = _reachable(await _address(git, main), main.top)
            if not address:
                return ""
            ref = f"refs/heads/{branch}"
            answer = await git.reach(
                *("ls-remote", "--quiet", "--", address, ref), protocol=protocol
            )
    except (PortError, TimeoutError):
        return ""
    lines = (line.split("\t") for line in answer.text.splitlines())
    told = next((line[0] for line in lines if line[1:] == [ref]), "")
    return told if _COMMIT.fullmatch(told) else ""


async def _address(git: Git, main: Place) -> str:
    config = main.common / "config"
    if not config.is_file():  # a FIFO would hang
        return ""
    answer = await git.read(
        *("config", "--file", str(config), "--no-includes", "--get", "remote.origin.url"),
        at=Path("/"),
        ok=(0, 1),
    )
    return answer.text.splitlines()[0] if answer.text else ""


def _reachable(address: str, top: Path) -> tuple[str, str]:
    """The protocol and the address; both empty where a login would be needed, or nobody knows what it is."""
    if not 0 < len(address) <= _LONGEST:
        return "", ""
    parts = urlsplit(address)
    if parts.scheme in {"http", "https"}:
        return (parts.scheme, address) if "@" not in parts.netloc else ("", "")
    if parts.scheme == "file":
        return "file", address
    path = top / address
    return ("file", str(path)) if "://" not in address and path.is_dir() else ("", "")
