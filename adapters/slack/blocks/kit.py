"""The pieces of Block Kit that cards, forms and pages are made of, each within Slack's limits for any content."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from pydantic import AliasChoices, Field, ValidationError

from adapters.slack.access import PLATFORM
from adapters.slack.blocks.text import ZERO_WIDTH_SPACE, cut_escaped, escaped, on_one_line
from bot.core.choices import Choice, Style, Verb
from bot.core.facts import Fact
from bot.core.people import Thread
from bot.core.sheets import Sheet, Tone
from bot.core.text import cut, shortened

# What Slack takes at most, and how a text is made to fit: it ends with "…", or says how much is
# missing.

Block = dict[str, Any]

BLOCKS = 50
MESSAGE_TEXT = 8_000
"""All text of a message together: beyond it Slack refuses, at a length it does not tell."""
FALLBACK = 300
SECTION = 2_900
HEADER = 150
FIELD = 2_000
FIELDS = 10
BUTTON = 75
BUTTONS = 10
"""More could stand there, but no person would choose among them."""
VALUE = 2_000
OPTION = 75
OPTIONS = 26
CONFIRM_TITLE = 100
CONFIRM = 300
CONFIRM_BUTTON = 30
FOOTER = 600
TABLE_ROWS = 100
TABLE_COLUMNS = 20
PLAN_TASKS = 50
MENU = 5
MENU_VALUE = 150


def cut_with_count(text: str, limit: int) -> str:
    """Cut, with the number of characters that are missing."""
    return text if len(text) <= limit else shortened(text, max(0, limit - 36))


def text_length(content: object) -> int:
    """How much text stands in a block, in all its depth."""
    if isinstance(content, dict):
        return sum(
            len(value)
            if isinstance(value, str) and key in ("text", "title")
            else text_length(value)
            for key, value in content.items()
        )
    return sum(map(text_length, content)) if isinstance(content, list) else 0


def plain_text(text: str) -> Block:
    """Text in which Slack reads no markup of any kind."""
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> Block:
    """Text with markup of ours. Slack makes no links and no mentions of its own in it."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def section(text: Block) -> Block:
    """All of it: without being told so, Slack folds long ones, and what is asked about stands in the fold."""
    return {"type": "section", "text": text, "expand": True}


def context_block(text: str) -> Block:
    """Small and grey, below."""
    return {"type": "context", "elements": [plain_text(cut(text, FOOTER))]}


# One message: its blocks, the text of its notification, and block ids that are new whenever it
# says something else.

TONES = {
    Tone.PLAIN: "",
    Tone.PROGRESS: "⏳",
    Tone.NEEDS_YOU: "❓",
    Tone.SUCCESS: "✅",
    Tone.FAILURE: "❌",
}


@dataclass(frozen=True)
class SlackMessage:
    text: str
    """For notifications and screen readers: at most 300 characters."""
    blocks: list[Block]
    part: str = "1/1"
    """Which of how many messages of the same card."""


def build_message(fallback: Iterable[str], blocks: list[Block], part: str = "1/1") -> SlackMessage:
    """Blocks with their ids. A message without anything to say is a dot, as Slack takes no empty one."""
    said = " · ".join(line for line in map(on_one_line, fallback) if line)
    text = escaped(said, FALLBACK) or "…"
    shown = blocks or [section(plain_text("…"))]
    content = json.dumps([text, shown, part], sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    stamped = [{**block, "block_id": f"{digest}-{n}"} for n, block in enumerate(shown)]
    return SlackMessage(text, stamped, part)


def with_tone(title: str, tone: Tone) -> str:
    return f"{TONES[tone]} {title}".strip() if title else ""


# The title of a card: large where a person is asked, bold elsewhere, with a mark for its tone.

_LONGEST_TITLE = 600


def title_blocks(sheet: Sheet, box: str = "") -> list[Block]:
    """`box`: the colour of the box it stands in; empty: it stands in none."""
    text = on_one_line(sheet.title)
    large = with_tone(text, sheet.tone)
    if not text:
        return []
    if box:
        # the box has a mark of its own
        return [{"type": "alert", "level": box, "text": mrkdwn(bold(text, _LONGEST_TITLE))}]
    if sheet.tone is Tone.NEEDS_YOU and len(large) <= HEADER:
        return [{"type": "header", "text": plain_text(large)}]
    return [section(mrkdwn(f"{TONES[sheet.tone]} {bold(text, _LONGEST_TITLE)}".strip()))]


def bold(text: str, limit: int) -> str:
    """One line of bold mrkdwn, `limit` characters at most. No star in it ends it early."""
    line = escaped(on_one_line(text)).replace("*", f"{ZERO_WIDTH_SPACE}*{ZERO_WIDTH_SPACE}")
    return f"*{cut_escaped(line, limit - 2)}*" if line else ""


# A heading and what it heads are one block: between two blocks the gap is as wide as the one
# above.


def join_heading(heading: Block, drawn: list[Block]) -> list[Block]:
    """Where that changes no letter of it: text in which no markup is read may hold some."""
    first, *rest = drawn
    words = _mrkdwn_of(first)
    text = f"{heading['text']['text']}\n{words}"
    if not words or len(text) > SECTION:
        return [heading, *drawn]
    return [section(mrkdwn(text)), *rest]


def _mrkdwn_of(block: Block) -> str:
    """What it says as mrkdwn; empty: it is no mere text."""
    text = block.get("text")
    if block["type"] != "section" or not text or "accessory" in block:
        return ""
    words = str(text["text"])
    return words if text["type"] == "mrkdwn" or escaped(words) == words else ""


# Choices as buttons. What a press means travels in the button's value, so that no memory is
# needed to read it.

_LONGEST_QUESTION = 300


class ButtonValue(Fact):
    """What a button stands for."""

    verb: Verb = Field(validation_alias=AliasChoices("v", "verb"))
    about: str = ""
    key: str = ""
    """Of the card it stands on."""
    asks: bool = False
    """A text is wanted with it: a form is to be opened."""
    question: str = Field(default="", validation_alias=AliasChoices("q", "question"))
    """What that form asks, shortened."""
    form: bool = False
    """The form with all questions is to be opened."""

    @property
    def value(self) -> str:
        content: dict[str, object] = {
            "v": self.verb,
            "about": self.about,
            "key": self.key,
            "asks": self.asks,
        }
        if self.question:
            content["q"] = self.question
        if self.form:
            content["form"] = True
        return _compact_json(content)

    @property
    def short_value(self) -> str:
        """The same for an option of a menu, which has little room: the question is left out."""
        content = {"v": self.verb, "about": self.about, "key": self.key, "asks": self.asks}
        return _compact_json({name: value for name, value in content.items() if value})

    @classmethod
    def of(cls, action: Mapping[str, Any]) -> ButtonValue | None:
        """What somebody pressed, as Slack tells it: a button, a thumb, or an option of a menu."""
        match action:
            case {"type": "button" | "feedback_buttons", "value": str(value)}:
                return cls.read(value)
            case {"type": "overflow", "selected_option": {"value": str(value)}}:
                return cls.read(value)
            case _:
                return None

    @classmethod
    def read(cls, value: str) -> ButtonValue | None:
        """None: no button of ours has this value."""
        try:
            return cls.model_validate_json(value)
        except ValidationError:
            return None


def pressed_label(action: Mapping[str, Any]) -> str:
    """What stands on what was pressed."""
    match action:
        case {"selected_option": {"text": {"text": str(words)}}}:
            return words
        case {"text": {"text": str(words)}}:
            return words
        case _:
            return ""


def button_value(choice: Choice, key: str) -> ButtonValue:
    question = cut(on_one_line(choice.asks), _LONGEST_QUESTION)
    return ButtonValue(
        verb=choice.verb, about=choice.about, key=key, asks=bool(choice.asks), question=question
    )


def choice_buttons(choices: Iterable[Choice], key: str) -> list[Block]:
    return button_row([(choice, button_value(choice, key)) for choice in choices])


def button_row(pairs: Sequence[tuple[Choice, ButtonValue]]) -> list[Block]:
    """All buttons in a row; a line names those that cannot stand there."""
    standing = [pair for pair in pairs if len(pair[1].value) <= VALUE][:BUTTONS]
    elements = [button(n, choice, press) for n, (choice, press) in enumerate(standing)]
    blocks: list[Block] = [{"type": "actions", "elements": elements}] if elements else []
    missing = [choice for choice, press in pairs if (choice, press) not in standing]
    if missing:
        labels = ", ".join(button_label(choice) for choice in missing)
        blocks.append(context_block(f"No room for these buttons: {labels}"))
    return blocks


def button(number: int, choice: Choice, press: ButtonValue) -> Block:
    drawn: Block = {
        "type": "button",
        "action_id": f"{choice.verb}:{number}",
        "text": plain_text(button_label(choice)),
        "value": press.value,
    }
    if choice.style is not Style.NORMAL:
        drawn["style"] = choice.style.value
    if choice.confirm.strip():
        drawn["confirm"] = _confirmation(choice)
    return drawn


def button_label(choice: Choice) -> str:
    return cut(on_one_line(choice.label), BUTTON) or choice.verb.replace("_", " ")


def _compact_json(content: Mapping[str, object]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _confirmation(choice: Choice) -> Block:
    dialog: Block = {
        "title": plain_text("Are you sure?"),
        "text": plain_text(cut(on_one_line(choice.confirm), CONFIRM) or "Do it?"),
        "confirm": plain_text(cut(button_label(choice), CONFIRM_BUTTON)),
        "deny": plain_text("No, go back"),
    }
    if choice.style is not Style.NORMAL:
        dialog["style"] = choice.style.value
    return dialog


# The workspace on the web. Links are made of ids and of the address that Slack tells, never of
# what somebody wrote.

_URL = re.compile(r"https?://[A-Za-z0-9.:-]+/")
_CHANNEL = re.compile(r"[A-Z0-9]+")
_TS = re.compile(r"([0-9]+)\.([0-9]+)")


@dataclass(frozen=True)
class Site:
    team: str
    url: str
    """With a slash at its end."""

    def link(self, thread: Thread) -> str:
        """To the message a thread hangs from; empty: it is none of this workspace."""
        ts = _TS.fullmatch(thread.root)
        here = (thread.platform, thread.workspace) == (PLATFORM, self.team)
        if not (here and ts and _CHANNEL.fullmatch(thread.channel) and _URL.fullmatch(self.url)):
            return ""
        return f"{self.url}archives/{thread.channel}/p{ts[1]}{ts[2]}"


# Which of the newer blocks may be used, and where links lead. Each of those blocks has a plainer
# form.


class BlockKind(StrEnum):
    """Blocks that not every workspace takes, by Slack's own names."""

    PLAN = "plan"
    ALERT = "alert"
    TABLE = "table"
    MARKDOWN = "markdown"
    FEEDBACK = "context_actions"


EVERY_BLOCK_KIND = frozenset(BlockKind)


@dataclass(frozen=True)
class DrawingOptions:
    site: Site | None = None
    """Where links lead."""
    kinds: frozenset[BlockKind] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a cell or a line says → where it leads."""

    def without(self, kind: BlockKind) -> DrawingOptions:
        return replace(self, kinds=self.kinds - {kind})


# A piece of a Markdown document: as Slack draws Markdown or, where a workspace does not, letter
# for letter.


def markdown_blocks(markdown: str, ways: DrawingOptions) -> list[Block]:
    if not markdown.strip():
        return []
    if BlockKind.MARKDOWN in ways.kinds:
        return [{"type": "markdown", "text": markdown}]
    return [section(plain_text(piece)) for piece in _slices(markdown) if piece.strip()]


def _slices(text: str) -> Iterator[str]:
    """Between lines, where a line has an end."""
    while len(text) > SECTION:
        end = text.rfind("\n", 0, SECTION) + 1 or SECTION
        yield text[:end]
        text = text[end:]
    yield text
