"""Questions with their options in a select, the default preselected, and reading what was selected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.blocks.kit import (
    BLOCKS,
    MESSAGE_TEXT,
    OPTION,
    OPTIONS,
    SECTION,
    Block,
    ButtonValue,
    SlackMessage,
    bold,
    build_message,
    button_row,
    button_value,
    context_block,
    mrkdwn,
    plain_text,
    text_length,
    title_blocks,
    with_tone,
)
from adapters.slack.blocks.text import cut_escaped, escaped, on_one_line
from bot.core.cards import QuestionsCard
from bot.core.choices import Choice, Verb
from bot.core.intent import Question
from bot.core.layout import lay_out
from bot.core.text import cut

# The card of questions, which can be answered in place.

_LEAST_ROOM = 160
_NOTE_ROOM = 120
_SHORTEST_OPTION = 12


def draw_questions(card: QuestionsCard) -> SlackMessage:
    laid = lay_out(card)
    head = title_blocks(laid)
    tail = button_row(_question_buttons(card, laid.choices))
    if laid.footer:
        tail.append(context_block(on_one_line(laid.footer)))
    room = MESSAGE_TEXT - _NOTE_ROOM - text_length([head, tail])
    body = _question_blocks(card.questions, room, BLOCKS - len(head) - len(tail) - 1)
    said = (with_tone(laid.title, laid.tone), *(question.text for question in card.questions))
    return build_message(said, [*head, *body, *tail])


def _question_buttons(
    card: QuestionsCard, choices: tuple[Choice, ...]
) -> list[tuple[Choice, ButtonValue]]:
    """Return the buttons of the card; empty if every question is answered."""
    if all(question.answer is not None for question in card.questions):
        return []
    send = Choice(label="Send these answers", verb=Verb.ANSWER)
    in_form = Choice(label="Answer in a form", verb=Verb.ANSWER)
    pairs = [(choice, button_value(choice, card.key)) for choice in choices]
    if any(map(is_selectable, card.questions)):
        pairs.append((send, button_value(send, card.key)))
    return [*pairs, (in_form, ButtonValue(verb=Verb.ANSWER, key=card.key, form=True))]


def _question_blocks(questions: tuple[Question, ...], room: int, places: int) -> list[Block]:
    """Draw the questions; each gets an equal share of the room."""
    share = max(_LEAST_ROOM, room // max(1, len(questions)))
    blocks: list[Block] = []
    for number, question in enumerate(questions):
        block = _question_block(question, share)
        if text_length(blocks) + text_length(block) > room or len(blocks) == places:
            left = len(questions) - number
            blocks.append(context_block(f"… and {left} more: they can be answered in the form."))
            break
        blocks.append(block)
    return blocks


def _question_block(question: Question, room: int) -> Block:
    block: Block = {"type": "section", "expand": True}
    if is_selectable(question):
        # the selected option is contained twice in the JSON
        options = len(pick_options(question)) + 1
        block["accessory"] = select_element(
            question, max(_SHORTEST_OPTION, min(OPTION, room // 2 // options))
        )
    left = max(_LEAST_ROOM // 2, min(SECTION, room - text_length(block)))
    head = bold(f"{question.decision}  {question.text}", left - 2)
    lines = [escaped(line) for line in _question_details(question)]
    block["text"] = mrkdwn(cut_escaped("\n".join([head, *lines]), left))
    return block


def _question_details(question: Question) -> list[str]:
    """Return the lines below a question: its answer, or its reason and options."""
    if question.answer is not None:
        return [f"→ {on_one_line(question.answer)}"]
    why = [on_one_line(question.why)] if question.why.strip() else []
    if not has_default(question):
        options = [f"{n}. {on_one_line(text)}" for n, text in enumerate(question.options, 1)]
        return [*why, *options, ONLY_YOU]
    if not is_selectable(question):
        return [*why, f"Default: {on_one_line(question.default)}"]
    return [*why, numbered_options(question)] if needs_list(question) else why


# Options in a select. An option travels as its number; its text is looked up when the number comes back.

Values = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""`state.values` of a press or a submission: by block, then by element."""

PICK = "pick"
ONLY_YOU = "Only you can know this."
"""Shown instead of a default."""
_DEFAULT = " (default)"
_CODE = re.compile(r"D(\d{1,6}):(\d{1,6})")


@dataclass(frozen=True)
class PickOption:
    """One option of a select.

    `number`: its position among the question's options, from 1; 0 for a default that is not among them.
    """

    number: int
    text: str
    is_default: bool = False


def pick_options(question: Question) -> list[PickOption]:
    """Return the default first, then the other options in order, without duplicates."""
    default = PickOption(0, question.default, is_default=True)
    others: list[PickOption] = []
    for number, text in enumerate(question.options, 1):
        if text == question.default:
            default = default if default.number else PickOption(number, text, is_default=True)
        elif on_one_line(text) and text not in [other.text for other in others]:
            others.append(PickOption(number, text))
    return [default, *others][:OPTIONS]


def is_selectable(question: Question) -> bool:
    """Whether the question gets a select.

    Questions that only a person can answer get none, because a select would preselect an answer.
    """
    return question.answer is None and has_default(question) and len(pick_options(question)) > 1


def has_default(question: Question) -> bool:
    return bool(on_one_line(question.default))


def needs_list(question: Question) -> bool:
    """Whether an option is too long for a select, so that all are listed above it with their numbers."""
    return any(len(_option_label(option)) > OPTION for option in pick_options(question))


def numbered_options(question: Question) -> str:
    """Return the full options with their numbers; a typed number counts as an answer, too."""
    return "\n".join(
        f"{option.number or '–'}. {on_one_line(_option_label(option))}"
        for option in pick_options(question)
    )


def select_element(question: Question, longest: int = OPTION) -> Block:
    numbered = needs_list(question)
    choices = [
        _option_element(question, option, longest, numbered) for option in pick_options(question)
    ]
    return {
        "type": "static_select",
        "action_id": f"{PICK}:{question.number}",
        "options": choices,
        "initial_option": choices[0],
    }


def selected_answers(values: Values, questions: Sequence[Question] = ()) -> dict[int, str]:
    """Return the selected answers by question number; empty if nothing was selected or the selections do not match the
    questions.
    """
    return matched_selections(values, questions) or {}


def matched_selections(values: Values, questions: Sequence[Question] = ()) -> dict[int, str] | None:
    """Return the selected answers by question number, or None if a selection belongs to a question that is not given: a
    bare number would be taken for the answer itself, and half of the answers silently for all of them.

    Questions answered meanwhile are skipped, so that a stale select does not answer them again.
    """
    known = {question.number: question for question in questions}
    found: dict[int, str] = {}
    for number, option in _picked_codes(values):
        question = known.get(number)
        text = _option_text(question, option) if question else ""
        if question and question.answer is not None:
            continue
        if text:
            found[number] = text
        elif option:
            return None
    return found


def _option_label(option: PickOption) -> str:
    return f"{on_one_line(option.text)}{_DEFAULT if option.is_default else ''}"


def _option_element(question: Question, option: PickOption, longest: int, numbered: bool) -> Block:
    number = f"{option.number or '–'}. " if numbered else ""
    label = cut(number + _option_label(option), longest).strip() or "–"
    return {"text": plain_text(label), "value": f"{question.decision}:{option.number}"}


def _picked_codes(values: Values) -> Iterator[tuple[int, int]]:
    for block in values.values():
        for action, element in block.items():
            chosen = element.get("selected_option")
            code = _CODE.fullmatch(str(chosen.get("value", ""))) if chosen else None
            if code and action.startswith(f"{PICK}:"):
                yield int(code[1]), int(code[2])


def _option_text(question: Question, option: int) -> str:
    if option == 0:
        return question.default
    return question.options[option - 1] if option <= len(question.options) else ""
