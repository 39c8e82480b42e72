"""The chat port for Slack, built on Bolt.

Start reading at chat.py; payloads.py has one function for each Slack payload.
"""
