"""The played Slack in a browser: somebody types, presses, fills in, and sees what the bot answers. Nothing leaves this machine."""

from tests.looks.live.server import Window

__all__ = ["Window"]
