"""The chat port on Slack: a Bolt application. Begin with chat.py; payloads.py has a function for each of Slack's payloads."""
