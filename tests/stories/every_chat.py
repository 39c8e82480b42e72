"""Stories that are told alike in every chat: each in one by `make test`, in all of them by `make faults`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import pytest

from tests.faults.figures import every_day

CHATS = ("console", "slack", "matrix")
Opened = TypeVar("Opened")


def told_in(*chats: str) -> pytest.MarkDecorator:
    """What only one chat does is tried in the contract suite and in `tests/adapters`."""
    rest = [chat for chat in CHATS if chat not in chats]
    return pytest.mark.parametrize("chat", every_day(chats, rest))


def opener(
    request: pytest.FixtureRequest, chat: str, *ways: Callable[..., Opened]
) -> Callable[..., Opened]:
    """Of the `ways` into the chats, in the order of CHATS, the one into this chat: its arguments are the bot's environment."""
    needed = ("tmp_path", "homeserver", "people") if chat == "matrix" else ("tmp_path",)
    way = ways[CHATS.index(chat)]
    return partial(way, *(request.getfixturevalue(name) for name in needed))
