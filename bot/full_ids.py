"""Lists of full ids in settings, separated by commas: names decide nothing, so a name is a mistake that is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_settings import NoDecode

from bot.domain.masking import Masker


def _listed(pattern: str, what: str, where: str) -> Callable[[object], object]:
    shape = re.compile(pattern, re.ASCII)

    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        ids = frozenset(part.strip() for part in value.split(",") if part.strip())
        if wrong := sorted(id for id in ids if not shape.fullmatch(id)):
            # somebody may have put a token into the wrong line
            named = Masker({}).mask(", ".join(wrong))
            raise ValueError(f"{named}: {what}. {where}".strip())
        return ids

    return read


SlackPeople = Annotated[
    frozenset[str],
    NoDecode,
    BeforeValidator(
        _listed(
            r"T[A-Z0-9]+:[UW][A-Z0-9]+",
            "people are team:member, like T0123ABC:U0456DEF",
            "In Slack: the person's profile, ⋮, Copy member ID; the team is in the address of Slack in a browser",
        )
    ),
]
SlackPlaces = Annotated[
    frozenset[str],
    NoDecode,
    BeforeValidator(
        _listed(
            r"T[A-Z0-9]+:([CG][A-Z0-9]+|dm)",
            "channels are team:channel, like T0123ABC:C0456DEF, or team:dm for direct messages",
            "In Slack: the channel's name, About, at its end",
        )
    ),
]
MatrixPeople = Annotated[
    frozenset[str],
    NoDecode,
    BeforeValidator(
        _listed(r"@[^:\s,]+:[^\s,]+", "people are full ids, like @mika:example.org", "")
    ),
]
MatrixPlaces = Annotated[
    frozenset[str],
    NoDecode,
    BeforeValidator(
        _listed(
            r"![^\s,]+|dm",
            "rooms are internal room ids, like !abc:example.org, or dm for direct messages",
            "In Element: Room settings, Advanced",
        )
    ),
]
