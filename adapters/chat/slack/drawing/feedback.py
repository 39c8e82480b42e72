"""Under the result people may say whether it was of use: Slack's own pair of thumbs, or two buttons. They stay."""

from __future__ import annotations

from adapters.chat.slack.drawing.buttons import Press, pressed_by, row
from adapters.chat.slack.drawing.limits import VALUE, Block, plain_text
from adapters.chat.slack.drawing.ways import Kind, Ways
from bot.domain.cards import Card, SummaryCard
from bot.domain.choices import Choice, Verb

HELPFUL = Choice(label="Helpful", verb=Verb.HELPFUL)
UNHELPFUL = Choice(label="Not helpful", verb=Verb.UNHELPFUL)


def feedback(card: Card, ways: Ways) -> list[Block]:
    if not isinstance(card, SummaryCard):
        return []
    good, bad = pressed_by(HELPFUL, card.key), pressed_by(UNHELPFUL, card.key)
    if len(good.value) > VALUE or len(bad.value) > VALUE:
        return []
    if Kind.FEEDBACK not in ways.kinds:
        return row([(HELPFUL, good), (UNHELPFUL, bad)])
    thumbs: Block = {
        "type": "feedback_buttons",
        "action_id": "feedback",
        "positive_button": _button("👍", HELPFUL, good),
        "negative_button": _button("👎", UNHELPFUL, bad),
    }
    return [{"type": "context_actions", "elements": [thumbs]}]


def _button(thumb: str, choice: Choice, press: Press) -> Block:
    text = {**plain_text(thumb), "emoji": True}
    return {"text": text, "accessibility_label": choice.label, "value": press.value}
