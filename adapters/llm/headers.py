"""What goes out beside a question. Its rule: the key of this endpoint, and nothing that was set for another."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Protocol

_SENT = frozenset(
    {
        *("host", "connection", "accept", "accept-encoding", "user-agent"),
        *("authorization", "content-type", "content-length", "transfer-encoding"),
    }
)
_OF_THE_LIBRARY = "x-stainless-"


class Going(Protocol):
    """A request on its way out."""

    @property
    def headers(self) -> MutableMapping[str, str]: ...


def authorization(key: str) -> dict[str, str]:
    """Said outright, so that no header of the environment takes its place."""
    return {"Authorization": f"Bearer {key or 'none'}"}


async def only_ours(request: Going) -> None:
    """The library reads OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS by itself, and would send them,
    with whatever account or key they name, to every endpoint."""
    for name in [*request.headers]:
        if name.lower() not in _SENT and not name.lower().startswith(_OF_THE_LIBRARY):
            del request.headers[name]
