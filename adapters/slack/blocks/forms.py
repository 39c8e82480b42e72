"""Modal forms: their fields, what they were opened for, and reading what was submitted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from adapters.slack.blocks.kit import Block, context_block, cut_with_count, plain_text, section
from adapters.slack.blocks.questions import (
    ONLY_YOU,
    PICK,
    Values,
    has_default,
    is_selectable,
    matched_selections,
    needs_list,
    numbered_options,
    select_element,
)
from adapters.slack.blocks.text import on_one_line
from bot.core.choices import Verb
from bot.core.facts import Fact
from bot.core.intent import Question
from bot.core.people import Thread
from bot.core.text import clean, cut

# What a form was opened for. It travels in the form's metadata, so that a submission can be read after a restart.

_LONGEST_METADATA = 3_000


class FormPurpose(Fact):
    thread: Thread
    verb: Verb
    about: str = ""
    key: str = ""
    """Key of the card the form was opened from."""

    @property
    def json_text(self) -> str:
        text = self.model_dump_json()
        if len(text) > _LONGEST_METADATA:
            raise ValueError("A form carries ids only; these are no ids.")
        return text

    @classmethod
    def parse(cls, text: str) -> FormPurpose | None:
        """Parse the metadata of a form; None if it is not from one of the bot's forms."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None


# The form for requesting a feature or a spec: where, what, in which repository, and how far to go.

FEATURE_FORM, SPEC_FORM = "beginning", "spec"
CHANNEL, WHAT = "channel", "what"

_REPOSITORY = "repository"
_PLAN = "plan"
_ONLY_PLAN = "only"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class RequestedFeature:
    channel: str
    text: str
    """The request, worded like a chat message."""


def feature_form(
    purpose: FormPurpose, channel: str = "", *, choose_repository: bool = True
) -> ModalView:
    """Return the form for a new feature.

    `channel`: the preselected channel; empty selects the one the user looks at. `choose_repository`: there are repositories to
    choose from.
    """
    what = text_input(WHAT, "What should be possible, and for whom", long=True)
    blocks = [
        *_request_inputs(channel, what, "What shall be built?"),
        *([_repository_input()] if choose_repository else []),
        input_block(_PLAN, "How far?", checkboxes(_PLAN, {_ONLY_PLAN: "Only show me the plan"})),
    ]
    return modal(FEATURE_FORM, "Start a feature", blocks, purpose, send="Start")


def spec_form(
    purpose: FormPurpose, channel: str = "", *, choose_repository: bool = True
) -> ModalView:
    """Return the form for a spec only, without building anything."""
    what = text_input(WHAT, "What should be possible, and for whom", long=True)
    blocks = _request_inputs(channel, what, "What is it about?") + (
        [_repository_input()] if choose_repository else []
    )
    return modal(SPEC_FORM, "Write a spec", blocks, purpose, send="Write")


def requested_feature(values: Values) -> RequestedFeature:
    """Return what was submitted; check `request_errors` first."""
    lines = [input_text(values, WHAT)]
    if repository := input_text(values, _REPOSITORY):
        lines.append(f"repo:{repository}")
    if _ONLY_PLAN in ticked_values(values, _PLAN):
        lines.append("Only show the plan.")
    return RequestedFeature(selected_conversation(values, CHANNEL), "\n".join(lines))


def request_errors(values: Values) -> Mapping[str, str]:
    """Return the problems of a submission, by block."""
    found: dict[str, str] = {}
    if not selected_conversation(values, CHANNEL):
        found[CHANNEL] = "Please choose a channel."
    if not input_text(values, WHAT):
        found[WHAT] = "Please say what it is about."
    repository = input_text(values, _REPOSITORY)
    if repository and not _NAME.fullmatch(repository):
        found[_REPOSITORY] = "Only its name, please: letters, digits, dots and dashes."
    return found


def _request_inputs(channel: str, what: Block, question: str) -> list[Block]:
    where = input_block(
        CHANNEL,
        "In which channel?",
        _channel_select(channel),
        hint="A thread begins there: everybody in the channel sees it.",
        optional=False,
    )
    return [where, input_block(WHAT, question, what, optional=False)]


def _repository_input() -> Block:
    hint = "Its name; empty: the one of the channel."
    return input_block(_REPOSITORY, "In which repository?", text_input(_REPOSITORY), hint=hint)


def _channel_select(channel: str) -> Block:
    element: Block = {
        "type": "conversations_select",
        "action_id": CHANNEL,
        "default_to_current_conversation": True,
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }
    return {**element, "initial_conversation": channel} if channel else element


# The form that asks for one text, the form that asks for changes to a plan, and the notice.

ASK_FORM = "asking"
NOTICE_FORM = "saying"
DOCUMENTS: tuple[str, ...] = ("spec.md", "plan.md", "tasks.md")
"""The documents a change to a plan may be about."""

_TEXT = "said"
_ABOUT = "about"
_LONGEST_NOTICE = 2_900


def ask_form(title: str, question: str, purpose: FormPurpose) -> ModalView:
    """Return a form that asks for one text. For a change to a plan it also asks which documents the change is about."""
    label = cut(on_one_line(question), LONGEST_LABEL) or "What shall I know?"
    blocks = [input_block(_TEXT, label, text_input(_TEXT, long=True), optional=False)]
    if purpose.verb is Verb.CHANGE:
        named = dict(zip(DOCUMENTS, DOCUMENTS, strict=True))
        hint = "Nothing ticked: I find out myself what it touches."
        blocks.append(input_block(_ABOUT, "It is about", checkboxes(_ABOUT, named), hint=hint))
    return modal(ASK_FORM, title, blocks, purpose)


def notice_form(text: str, title: str = "One moment") -> ModalView:
    """Return a modal that shows a text and asks for nothing."""
    told = cut_with_count(clean(text).strip(), _LONGEST_NOTICE) or "…"
    return {
        "type": "modal",
        "callback_id": NOTICE_FORM,
        "title": modal_title(title),
        "close": plain_text("Close"),
        "blocks": [section(plain_text(told))],
    }


def submitted_text(values: Values) -> str:
    """Return the submitted text, with the chosen documents named before it. Empty if nothing was written."""
    text = input_text(values, _TEXT)
    about = [name for name in DOCUMENTS if name in ticked_values(values, _ABOUT)]
    return f"About {', '.join(about)}: {text}" if text and about else text


def text_errors(values: Values) -> dict[str, str]:
    """Return the problems of a submission, by block. Empty if it is complete."""
    return {} if submitted_text(values) else {_TEXT: "Please write something, or cancel."}


# The form with all open questions: each has its default preselected, and a line for another answer.

QUESTIONS_FORM = "questions"

_OTHER_ANSWER = "else"
_LONGEST_LIST = 2_900
_MOST_QUESTIONS = 32
"""The most questions in one form: each takes up to three of a form's hundred blocks."""


def questions_form(
    questions: Sequence[Question], purpose: FormPurpose, title: str = "Your answers"
) -> ModalView:
    """Return the form with all open questions.

    A question whose line is left empty stays open; the line is required where only a person can know the answer.
    """
    asked = [question for question in questions if question.answer is None]
    blocks = [block for question in asked[:_MOST_QUESTIONS] for block in _question_inputs(question)]
    if len(asked) > _MOST_QUESTIONS:
        blocks.append(context_block(f"… and {len(asked) - _MOST_QUESTIONS} more: they stay open."))
    return modal(
        QUESTIONS_FORM, title, blocks or [section(plain_text("Nothing is open."))], purpose
    )


def submitted_answers(values: Values, questions: Sequence[Question] = ()) -> dict[int, str]:
    """Return the answers by question number; written text wins over a selected option.

    Empty if the selections do not match the questions.
    """
    given = {
        int(number): text
        for name, _, number in (block.partition(":") for block in values)
        if name == _OTHER_ANSWER
        and number.isdecimal()
        and (text := input_text(values, f"{_OTHER_ANSWER}:{number}"))
    }
    left = {block: held for block, held in values.items() if not _has_written_answer(block, given)}
    chosen = matched_selections(left, questions)
    return {} if chosen is None else {**chosen, **given}


def _has_written_answer(block: str, given: dict[int, str]) -> bool:
    """Whether another answer was written for the question of this select."""
    return block in [f"{PICK}:{number}" for number in given]


def _question_inputs(question: Question) -> list[Block]:
    text = cut(on_one_line(f"{question.decision}  {question.text}"), LONGEST_LABEL)
    why = on_one_line(question.why)
    name = f"{_OTHER_ANSWER}:{question.number}"
    if not has_default(question):
        known = " · ".join(f"{n}. {on_one_line(o)}" for n, o in enumerate(question.options, 1))
        hint = " ".join(part for part in (why, known, ONLY_YOU) if part)
        return [input_block(name, text, text_input(name), hint=hint, optional=False)]
    if not is_selectable(question):
        default = on_one_line(question.default)
        hint = " ".join(
            part for part in (why, f"Default: {default}. Empty: it stays open.") if part
        )
        return [input_block(name, text, text_input(name, default), hint=hint)]
    blocks = [section(plain_text(cut_with_count(numbered_options(question), _LONGEST_LIST)))]
    pick = f"{PICK}:{question.number}"
    return [
        *(blocks if needs_list(question) else []),
        input_block(pick, text, select_element(question), hint=why, optional=False),
        input_block(
            name,
            f"{question.decision}, something else",
            text_input(name, "Leave this empty to take the choice above"),
        ),
    ]


# The form that sets the LLM endpoint and model. It never asks for a key and never shows one.

SETTINGS_FORM = "settings"
SettingsFacts = Sequence[tuple[str, str]]
"""Name and value of each setting, as shown on a user's home tab."""

_URL, _MODEL = "base_url", "model"
_NAMES = {_URL: ("base url", "endpoint", "address"), _MODEL: ("model",)}
_KEY = "The key stays where it is: set OPENAI_API_KEY in .env, on the machine the bot runs on. It goes where the address points."
_LONGEST_SHOWN = 2_900
_LONGEST_VALUE = 500


def settings_form(purpose: FormPurpose, facts: SettingsFacts = ()) -> ModalView:
    known = {name.lower(): value for name, value in facts}
    now = [f"{on_one_line(name)}: {on_one_line(value)}" for name, value in facts]
    blocks: list[Block] = []
    if now:
        blocks.append(section(plain_text(cut_with_count("\n".join(now), _LONGEST_SHOWN) or "…")))
    blocks += [
        input_block(
            _URL,
            "Base URL of the endpoint",
            text_input(_URL, "https://api.openai.com/v1", initial=_known_value(known, _URL)),
            hint="It speaks OpenAI's chat completions. Empty: it stays as it is.",
        ),
        input_block(
            _MODEL,
            "Model",
            text_input(_MODEL, initial=_known_value(known, _MODEL)),
            hint="As the endpoint calls it. Empty: it stays as it is.",
        ),
        context_block(_KEY),
    ]
    return modal(SETTINGS_FORM, "Model and endpoint", blocks, purpose, send="Set")


def submitted_settings(values: Values) -> tuple[str, str]:
    """Return base URL and model; check `settings_errors` first."""
    return input_text(values, _URL), input_text(values, _MODEL)


def settings_errors(values: Values) -> Mapping[str, str]:
    """Return the problems of a submission, by block."""
    url, model = submitted_settings(values)
    found: dict[str, str] = {}
    if not url and not model:
        found[_MODEL] = "Please write a base URL or a model, or cancel."
    if url and (problem := _address_problem(url)):
        found[_URL] = problem
    if len(model) > _LONGEST_VALUE or len(model.split()) > 1:
        found[_MODEL] = "The name of a model is one word."
    return found


def _address_problem(url: str) -> str:
    """Return why this is not a usable endpoint address; empty if it is one."""
    if len(url) > _LONGEST_VALUE or len(url.split()) > 1 or not _is_http_url(url):
        return "This is no address: it begins with https:// or http://."
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        return "Only the address, please: nothing secret, and nothing behind its path."
    return ""


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _known_value(known: Mapping[str, str], field: str) -> str:
    value = next((known[name] for name in _NAMES[field] if known.get(name)), "")
    fits = len(value.split()) == 1 and not (field == _URL and _address_problem(value))
    return cut(clean(value).strip(), _LONGEST_VALUE) if fits else ""


# Elements of forms: input fields and checkboxes, each within Slack's limits, and reading what was submitted.

ModalView = dict[str, Any]

LONGEST_LABEL = 1_900
LONGEST_INPUT = 3_000
"""Slack's limit for one input field."""
_HINT = 1_900
_PLACEHOLDER = 150
_TITLE = 24


def modal(
    name: str, title: str, blocks: list[Block], purpose: FormPurpose, *, send: str = "Send"
) -> ModalView:
    return {
        "type": "modal",
        "callback_id": name,
        "title": modal_title(title),
        "submit": plain_text(send),
        "close": plain_text("Cancel"),
        "private_metadata": purpose.json_text,
        "blocks": blocks,
    }


def modal_title(title: str) -> Block:
    return plain_text(cut(on_one_line(title), _TITLE) or "…")


def input_block(
    block_id: str, label: str, element: Block, *, hint: str = "", optional: bool = True
) -> Block:
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(cut(label, LONGEST_LABEL)),
        "element": element,
        "optional": optional,
    }
    if hint:
        block["hint"] = plain_text(cut(hint, _HINT))
    return block


def text_input(name: str, placeholder: str = "", *, long: bool = False, initial: str = "") -> Block:
    """Return a text input element."""
    element: Block = {
        "type": "plain_text_input",
        "action_id": name,
        "multiline": long,
        "max_length": LONGEST_INPUT,
    }
    if placeholder:
        element["placeholder"] = plain_text(cut(placeholder, _PLACEHOLDER))
    if initial:
        element["initial_value"] = cut(initial, LONGEST_INPUT)
    return element


def checkboxes(name: str, options: Mapping[str, str]) -> Block:
    """Return a checkbox element. `options`: label by value."""
    return {
        "type": "checkboxes",
        "action_id": name,
        "options": [{"text": plain_text(label), "value": one} for one, label in options.items()],
    }


def input_text(values: Values, block: str) -> str:
    for element in values.get(block, {}).values():
        if text := clean(str(element.get("value") or "")).strip():
            return text
    return ""


def ticked_values(values: Values, block: str) -> list[str]:
    """Return the values of the ticked boxes."""
    found: list[str] = []
    for element in values.get(block, {}).values():
        options = element.get("selected_options")
        listed = options if isinstance(options, list) else []
        found += [str(one.get("value", "")) for one in listed if isinstance(one, Mapping)]
    return found


def selected_conversation(values: Values, block: str) -> str:
    """Return the id of the selected channel; empty if none was selected."""
    for element in values.get(block, {}).values():
        chosen = element.get("selected_conversation")
        if isinstance(chosen, str):
            return chosen
    return ""
