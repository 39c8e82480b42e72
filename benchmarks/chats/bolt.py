"""The least that a bot in Slack can be: the library alone, a listener that posts one message. It remembers nothing.

python -m benchmarks.chats.bolt <address of the Web API>
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.blocks.cards import draw_card
from adapters.slack.client import SlackAccess, new_client, session_for
from benchmarks.chats.work import Syncs, until_asked_to_end
from bot.core.cards import ReceivedCard
from tests.beds.slack import APP_TOKEN, BOT_TOKEN


async def main(api_url: str) -> None:
    syncs = Syncs()
    access = SlackAccess(BOT_TOKEN, api_url=api_url)
    async with session_for(access) as session:
        client = new_client(access, session)
        handler = AsyncSocketModeHandler(_app(client), APP_TOKEN, web_client=client)
        await handler.connect_async()
        try:
            await until_asked_to_end(syncs, asyncio.Event().wait())
        finally:
            await handler.close_async()


def _app(client: AsyncWebClient) -> AsyncApp:
    app = AsyncApp(client=client)

    async def mentioned(event: dict[str, Any]) -> None:
        """Answers with the same card as the bot."""
        request = str(event["text"]).partition(" ")[2]
        message = draw_card(ReceivedCard(key="received", session="12345678", request=request))[0]
        await client.chat_postMessage(
            channel=event["channel"],
            thread_ts=event["ts"],
            text=message.text,
            blocks=message.blocks,
        )

    async def said() -> None:
        """Half of a mention, and what the bot hears of itself."""

    app.event("app_mention")(mentioned)
    app.event("message")(said)
    return app


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
