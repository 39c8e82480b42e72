"""The chat port on Slack."""

from adapters.chat.slack.access import SlackAccess
from adapters.chat.slack.chat import SlackChat
from adapters.chat.slack.preflight import tried

__all__ = ["SlackAccess", "SlackChat", "tried"]
