"""What git says when GitHub does not take or give a branch, and whether trying again helps. Pure."""

from __future__ import annotations

import re

from adapters.github.git import last_words
from adapters.github.problem import GIVE_TOKEN, TRIES_AGAIN
from bot.errors import PortError, Refused, Unavailable

_STATUS = re.compile(r"(?:returned error:|HTTP) ([0-9]{3})")
_REMOTE = re.compile(r"^remote: ?(.*)$", re.MULTILINE)
_REJECTED = re.compile(r"^!\t[^\t]*\t\[[a-z ]+\] ?\(?(.*?)\)?$", re.MULTILINE)
_LONGEST = 500
_NO_ENTRY = (
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "Invalid username or token",
)
_NOT_REACHED = (
    "Could not resolve",
    "Failed to connect",
    "Couldn't connect",
    "Connection reset",
    "Connection refused",
    "Connection timed out",
    "Operation timed out",
    "Empty reply",
    "Recv failure",
    "Send failure",
    "hung up unexpectedly",
    "early EOF",
    "unexpected disconnect",
    "invalid index-pack output",
    "transfer closed",
    "RPC failed",
    "Cannot access URL",
    "SSL_",
    "TLS",
    "gnutls",
)


def excuse(said: str, slug: str, doing: str) -> PortError:
    """`said`: everything that git said; `doing` completes "GitHub does not let me …"."""
    status = _STATUS.search(said)
    code = int(status.group(1)) if status else 0
    if code == 401 or any(words in said for words in _NO_ENTRY):
        return Refused("GitHub refuses the token: it is wrong or has expired", GIVE_TOKEN)
    if "workflow" in said and ("scope" in said or "permission" in said or "refusing" in said):
        return Refused(
            "GitHub does not let the token change files in .github/workflows",
            "Push that branch yourself, or give the token the right workflows:write.",
        )
    if refused := _by_rules(said):
        return Refused(
            f"GitHub does not let me {doing}: {refused}", "Look at the rules of the repository."
        )
    if code == 403 or "denied to" in said:
        return Refused(f"GitHub does not let me {doing}: the token may not", GIVE_TOKEN)
    if code == 404 or "not found" in said.lower():
        return Refused(
            f"GitHub has no repository {slug}, or the token does not see it",
            "Look whether it was renamed, and whether the token is for this repository.",
        )
    if code == 429 or code >= 500 or any(words in said for words in _NOT_REACHED):
        return Unavailable(f"GitHub is not reached by git: {last_words(said)}", TRIES_AGAIN)
    return Refused(f"git cannot {doing}: {last_words(said)}")


def is_stale(said: str) -> bool:
    """The branch on GitHub was not where it was just seen."""
    return "(stale info)" in said or "fetch first" in said or "cannot lock ref" in said


def is_gone(said: str) -> bool:
    return "remote ref does not exist" in said or ("deletion of '" in said and "not exist" in said)


def _by_rules(said: str) -> str:
    """Why the rules of the repository refuse it, in the words of GitHub; empty: they do not."""
    rejected = _REJECTED.search(said)
    if rejected is None:
        return ""
    told = [line.strip() for line in _REMOTE.findall(said)]
    words = " ".join(line.removeprefix("error:").strip() for line in told if line)
    return (words or rejected.group(1))[:_LONGEST]
