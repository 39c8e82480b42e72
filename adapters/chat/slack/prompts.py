"""What somebody may ask, suggested where they talk to the bot alone: once a start for each, where the workspace has it."""

from __future__ import annotations

import logging

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.calling import asked
from bot.errors import Refused

log = logging.getLogger("bot.slack")

PROMPTS = (
    ("Ask for a feature", "Add "),
    ("What waits for me?", "inbox"),
    ("What is running?", "sessions"),
    ("What do you understand?", "help"),
)
"""Title and message; the manifest says the same, for before the bot is asked."""
PEOPLE = 1_000


class Prompts:
    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._there = True
        self._suggested: dict[str, None] = {}

    async def suggest(self, channel: str) -> None:
        """In a conversation of one person with the bot."""
        if not self._there or channel in self._suggested:
            return
        self._suggested[channel] = None
        while len(self._suggested) > PEOPLE:
            del self._suggested[next(iter(self._suggested))]
        prompts = [{"title": title, "message": message} for title, message in PROMPTS]
        try:
            # no thread is named: for an agent, Slack would take the call and do nothing
            await asked(
                "suggesting prompts",
                lambda: self._client.assistant_threads_setSuggestedPrompts(
                    channel_id=channel, prompts=prompts
                ),
            )
        except Refused as refused:
            self._there = False
            log.info("no suggested prompts here", extra={"data": {"why": refused.reason}})
