"""The request the demo proposes, and the questions the played model asks about any request."""

from __future__ import annotations

from dataclasses import dataclass

REQUEST = "Add discount codes and a printable receipt to the basket"
TITLE = "Discount codes and a printable receipt"
NOTICE = (
    "This plan is played. No model has thought about it: the demo's played model answers every "
    "request with the same three tasks for its sample repository."
)


@dataclass(frozen=True)
class PlayedQuestion:
    text: str
    why: str
    options: tuple[str, ...]
    """The first one is the default, and the one the played agent builds."""

    def as_reply(self) -> dict[str, object]:
        return {
            "text": self.text,
            "why": self.why,
            "options": list(self.options),
            "default": self.options[0],
        }


QUESTIONS = (
    PlayedQuestion(
        "May several discount codes be combined in one basket?",
        "It decides how much a shop can lose on one order.",
        ("No, one code per basket", "Yes, one after the other"),
    ),
    PlayedQuestion(
        "What happens to a fraction of a cent that a percentage leaves?",
        "Prices are whole cents here, so it has to go somewhere.",
        ("It is dropped, in the shop's favour", "It is rounded half up"),
    ),
    PlayedQuestion(
        "What does the checkout do with a code nobody has issued?",
        "Customers mistype codes; silence would look like a wrong price.",
        ("It stops and names the code", "It goes on without a discount"),
    ),
)
