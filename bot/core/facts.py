"""The two kinds of model: a `Fact` is frozen and is replaced, never changed; a `Living` noun (Session, Task)
changes by its methods only.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Fact(BaseModel):
    """Something that is so, or was. It is replaced, never changed, so it may be shared freely."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Living(BaseModel):
    """Something with a life of its own. It is copied before each decision, so a failed one leaves no trace."""

    model_config = ConfigDict(extra="forbid")
