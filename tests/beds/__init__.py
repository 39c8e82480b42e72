"""Servers on the loopback that play the platforms the bot talks to: strict where those are strict."""
