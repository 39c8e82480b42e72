"""Who sits at this machine: whoever runs the program."""

from __future__ import annotations

import getpass
import os

from bot.domain.people import Person


def me() -> Person:
    """Whoever runs this, and nobody else."""
    return Person(platform="console", id=f"local:{os.getuid()}", name=getpass.getuser())
