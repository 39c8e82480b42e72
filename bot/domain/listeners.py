"""Those who read along in a thread: when they spoke last, what they thought of the result."""

from __future__ import annotations

from pydantic import AwareDatetime

from bot.domain.facts import Fact
from bot.domain.world import Usage


class Spoken(Fact):
    """When somebody spoke last, and what had been used up by then."""

    at: AwareDatetime
    usage: Usage = Usage()


class Feedback(Fact):
    """Whether somebody found the result helpful."""

    by: str
    """The full id."""
    helpful: bool
    at: AwareDatetime
