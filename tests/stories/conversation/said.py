"""The words of the stories. The played model understands them, as a real one would."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.demo.texts import REQUEST, english, japanese


@dataclass(frozen=True)
class Tongue:
    """The same conversation about questions, in one language."""

    request: str
    question: str
    """Of the three that are asked, the first."""
    one: str
    """Answers the first question and says nothing of the others."""
    answer: str
    """What that means."""
    last: str
    """Answers the last question, and leaves the rest to the bot."""
    last_answer: str
    title: str
    """Of the first task."""


ENGLISH = Tongue(
    request=REQUEST,
    question=english().questions[0].text,
    one="the second one for the first question",
    answer=english().questions[0].options[1],
    last="an unknown code: please go on without a discount, and the rest as you like",
    last_answer=english().questions[2].options[1],
    title="Discount codes",
)
JAPANESE = Tongue(
    request="買い物かごに割引コードと印刷用レシートを追加してください",
    question=japanese().questions[0].text,
    one="1つ目の質問は2番目でお願いします",
    answer=japanese().questions[0].options[1],
    last="知らないコードは割引なしで続けてください、残りはお任せします",
    last_answer=japanese().questions[2].options[1],
    title="割引コード",
)
WIDER = "the receipt shall be 40 columns wide"
HISTORY = "also add an order history, 3 agents at once"
PLAN_ONLY = f"{REQUEST}. Only show the plan for now."
EXPORT = "also export the basket as CSV"
ANOTHER_SHOP = "a completely different shop, please"
THANKS = "thanks, well done!"
HOW_FAR = "how far are you?"
