"""The chat port on Slack."""

from adapters.chat.slack.access import SlackAccess
from adapters.chat.slack.chat import SlackChat

__all__ = ["SlackAccess", "SlackChat"]
