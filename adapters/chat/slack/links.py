"""Where links lead: Slack is asked for the address of the workspace, once, and only when a card points somewhere."""

from __future__ import annotations

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.calling import asked
from adapters.chat.slack.drawing.site import Site
from bot.domain.cards import Card
from bot.domain.layout import sheet
from bot.domain.sheets import Element, Entries, Pointer


class Links:
    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._site: Site | None = None

    async def site_for(self, card: Card) -> Site | None:
        """None: the card needs no links."""
        if not any(map(_leads_somewhere, sheet(card).body)):
            return None
        if self._site is None:
            told = await asked("where the workspace is", self._client.auth_test)
            self._site = Site(str(told.get("team_id", "")), str(told.get("url", "")))
        return self._site


def _leads_somewhere(element: Element) -> bool:
    match element:
        case Pointer():
            return True
        case Entries(items=items):
            return any(entry.thread for entry in items)
        case _:
            return False
