"""Slack's client, drawn by hand: from the JSON of blocks to HTML, as near to what people see as is known. Pure."""

from tests.looks.page.blocks import UNKNOWN, blocks
from tests.looks.page.frame import Post, document, home, message, modal
from tests.looks.page.words import mrkdwn

__all__ = ["UNKNOWN", "Post", "blocks", "document", "home", "message", "modal", "mrkdwn"]
