"""The workspace on the web: links to its messages are made of ids and of the address Slack tells, never of what somebody wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adapters.chat.slack.people import PLATFORM
from bot.domain.people import Thread

_URL = re.compile(r"https?://[A-Za-z0-9.:-]+/")
_CHANNEL = re.compile(r"[A-Z0-9]+")
_TS = re.compile(r"([0-9]+)\.([0-9]+)")


@dataclass(frozen=True)
class Site:
    team: str
    url: str
    """With a slash at its end."""

    def link(self, thread: Thread) -> str:
        """To the message a thread hangs from; empty: it is none of this workspace."""
        ts = _TS.fullmatch(thread.root)
        here = (thread.platform, thread.workspace) == (PLATFORM, self.team)
        if not (here and ts and _CHANNEL.fullmatch(thread.channel) and _URL.fullmatch(self.url)):
            return ""
        return f"{self.url}archives/{thread.channel}/p{ts[1]}{ts[2]}"
