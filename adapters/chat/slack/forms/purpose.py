"""What a form was opened for. It travels with the form, so that no memory is needed to take its answer."""

from __future__ import annotations

from pydantic import ValidationError

from bot.domain.choices import Verb
from bot.domain.facts import Fact
from bot.domain.people import Thread

_METADATA = 3_000


class Purpose(Fact):
    thread: Thread
    verb: Verb
    about: str = ""
    key: str = ""
    """Of the card it was opened from."""

    @property
    def json_text(self) -> str:
        text = self.model_dump_json()
        if len(text) > _METADATA:
            raise ValueError("A form carries ids only; these are no ids.")
        return text

    @classmethod
    def read(cls, text: str) -> Purpose | None:
        """None: no form of ours carries this."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None
