"""Every card people meet, in every state and with every sort of text on it, made by the functions that make it at work."""

from __future__ import annotations

from tests.looks.catalogue import (
    answering,
    approving,
    beginning,
    branching,
    deciding,
    ending,
    lookout,
    shipping,
    wishing,
    working,
)
from tests.looks.catalogue.entry import Entry
from tests.looks.catalogue.variants import VARIANTS, Variant

__all__ = ["VARIANTS", "Entry", "Variant", "entries"]


def entries() -> tuple[Entry, ...]:
    """In the order in which people meet them."""
    return (
        *beginning.entries(),
        *approving.entries(),
        *working.entries(),
        *deciding.entries(),
        *shipping.entries(),
        *ending.entries(),
        *answering.entries(),
        *lookout.entries(),
        *branching.entries(),
        *wishing.entries(),
    )
