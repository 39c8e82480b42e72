"""The questions, to be answered where they stand: a select each, the default picked already."""

from __future__ import annotations

from adapters.chat.slack.drawing.buttons import Press, pressed_by, row
from adapters.chat.slack.drawing.limits import (
    BLOCKS,
    MESSAGE,
    OPTION,
    SECTION,
    Block,
    aside,
    letters,
    mrkdwn,
)
from adapters.chat.slack.drawing.message import Message, marked, message
from adapters.chat.slack.drawing.picking import (
    ONLY_YOU,
    has_default,
    is_picked_from,
    listed,
    needs_list,
    options_of,
    select,
)
from adapters.chat.slack.drawing.titles import bold, title
from adapters.chat.slack.words import cut_escaped, escaped, on_one_line
from bot.domain.cards import QuestionsCard
from bot.domain.choices import Choice, Verb
from bot.domain.intent import Question
from bot.domain.layout import sheet

_LEAST = 160
_NOTE = 120
_SHORTEST_OPTION = 12


def drawn(card: QuestionsCard) -> Message:
    laid = sheet(card)
    head = title(laid)
    tail = row(_pairs(card, laid.choices))
    if laid.footer:
        tail.append(aside(on_one_line(laid.footer)))
    room = MESSAGE - _NOTE - letters([head, tail])
    body = _body(card.questions, room, BLOCKS - len(head) - len(tail) - 1)
    said = (marked(laid.title, laid.tone), *(question.text for question in card.questions))
    return message(said, [*head, *body, *tail])


def _pairs(card: QuestionsCard, choices: tuple[Choice, ...]) -> list[tuple[Choice, Press]]:
    """None where everything is answered."""
    if all(question.answer is not None for question in card.questions):
        return []
    send = Choice(label="Send these answers", verb=Verb.ANSWER)
    in_form = Choice(label="Answer in a form", verb=Verb.ANSWER)
    pairs = [(choice, pressed_by(choice, card.key)) for choice in choices]
    if any(map(is_picked_from, card.questions)):
        pairs.append((send, pressed_by(send, card.key)))
    return [*pairs, (in_form, Press(verb=Verb.ANSWER, key=card.key, form=True))]


def _body(questions: tuple[Question, ...], room: int, places: int) -> list[Block]:
    """Every question has its share of the room."""
    share = max(_LEAST, room // max(1, len(questions)))
    blocks: list[Block] = []
    for number, question in enumerate(questions):
        block = _question(question, share)
        if letters(blocks) + letters(block) > room or len(blocks) == places:
            left = len(questions) - number
            blocks.append(aside(f"… and {left} more: they can be answered in the form."))
            break
        blocks.append(block)
    return blocks


def _question(question: Question, room: int) -> Block:
    block: Block = {"type": "section", "expand": True}
    if is_picked_from(question):
        # the picked option is written twice
        options = len(options_of(question)) + 1
        block["accessory"] = select(
            question, max(_SHORTEST_OPTION, min(OPTION, room // 2 // options))
        )
    left = max(_LEAST // 2, min(SECTION, room - letters(block)))
    head = bold(f"{question.decision}  {question.text}", left - 2)
    lines = [escaped(line) for line in _below(question)]
    block["text"] = mrkdwn(cut_escaped("\n".join([head, *lines]), left))
    return block


def _below(question: Question) -> list[str]:
    """What stands below a question."""
    if question.answer is not None:
        return [f"→ {on_one_line(question.answer)}"]
    why = [on_one_line(question.why)] if question.why.strip() else []
    if not has_default(question):
        options = [f"{n}. {on_one_line(text)}" for n, text in enumerate(question.options, 1)]
        return [*why, *options, ONLY_YOU]
    if not is_picked_from(question):
        return [*why, f"Default: {on_one_line(question.default)}"]
    return [*why, listed(question)] if needs_list(question) else why
