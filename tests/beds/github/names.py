"""Who and what there is on this GitHub before a test begins, and the words in which it refuses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

BOT = "gwt-bot"
"""The account whose token the app is given."""
MIKA = "mika"
"""Somebody who may write to every repository."""
STRANGER = "stranger"
"""Somebody who has nothing to do with them."""
TOKEN = "github_pat_11BEDBEDBED0aZ9xQ7wV5uT3sR1p_oN8mL6kJ4hG2fE0dC9bA7zY5xW3vU1tS9rQ7pO5nM3lK1jH8g"  # noqa: S105
DOCS = "https://docs.github.com/rest"


class CannotDo(Exception):  # noqa: N818 - what happened
    """A test asks people or robots for what they could not do on GitHub either."""


class Refusal(Exception):  # noqa: N818 - an answer
    """An answer that is not what was asked for."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: list[Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}
        self.answer: Json = {"message": message, "documentation_url": DOCS, "status": str(status)}
        if errors is not None:
            self.answer["errors"] = errors


def not_found() -> Refusal:
    return Refusal(404, "Not Found")


def invalid(resource: str, field: str, code: str = "invalid") -> Refusal:
    """A field that will not do."""
    error = {"resource": resource, "code": code, "field": field}
    return Refusal(422, "Validation Failed", errors=[error])


def custom(resource: str, message: str, **more: str) -> Refusal:
    """What is wrong, in a sentence."""
    error = {"resource": resource, "code": "custom", "message": message, **more}
    return Refusal(422, "Validation Failed", errors=[error])


def now() -> datetime:
    return datetime.now(UTC)


def stamp(time: datetime | None) -> str | None:
    """A time as GitHub writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ") if time else None
