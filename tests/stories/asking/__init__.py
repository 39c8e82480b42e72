"""Agents that ask, wait and misbehave as they are told to, and the people who have to do with them, in every chat."""
