"""The request the demo proposes, and the questions the played model asks about it."""

from __future__ import annotations

from dataclasses import dataclass

REQUEST = "Add discount codes and a printable receipt to the basket"
TITLE = "Discount codes and a printable receipt"
NOTICE = (
    "This plan is played. No model has thought about it: the demo's played model answers every "
    "request with tasks for its sample repository."
)


@dataclass(frozen=True)
class PlayedQuestion:
    text: str
    why: str
    options: tuple[str, ...]
    """The first one is the default, and the one the played agent builds."""
    cues: tuple[tuple[str, ...], ...]
    """Of each option: the words that mean it, whoever writes them."""
    piece: str
    """It is asked only where this is built."""

    def as_reply(self) -> dict[str, object]:
        return {
            "text": self.text,
            "why": self.why,
            "options": list(self.options),
            "default": self.options[0],
        }


SEVERAL = (
    ("one code", "only one", "a single code", "not combined", "1つだけ", "一つだけ", "ひとつだけ"),
    ("one after the other", "several", "combine", "併用", "複数", "順に"),
)
FRACTION = (
    ("dropped", "drop it", "round down", "rounded down", "切り捨て", "切捨て"),
    ("rounded half", "half up", "rounded", "round it", "四捨五入"),
)
UNKNOWN = (
    ("stops", "stop it", "names the code", "止ま", "止め", "エラー"),
    ("no discount", "without a discount", "goes on", "go on", "割引なし", "続け"),
)
QUESTIONS = (
    PlayedQuestion(
        "May several discount codes be combined in one basket?",
        "It decides how much a shop can lose on one order.",
        ("No, one code per basket", "Yes, one after the other"),
        SEVERAL,
        "checkout",
    ),
    PlayedQuestion(
        "What happens to a fraction of a cent that a percentage leaves?",
        "Prices are whole cents here, so it has to go somewhere.",
        ("It is dropped, in the shop's favour", "It is rounded half up"),
        FRACTION,
        "discount",
    ),
    PlayedQuestion(
        "What does the checkout do with a code nobody has issued?",
        "Customers mistype codes; silence would look like a wrong price.",
        ("It stops and names the code", "It goes on without a discount"),
        UNKNOWN,
        "checkout",
    ),
)
