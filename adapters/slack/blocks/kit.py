"""The Block Kit elements that cards, forms and pages are made of, each within Slack's limits for any content."""

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

# Slack's limits, and how a text is shortened to fit: it ends with "…", or says how many characters are missing.

Block = dict[str, Any]

BLOCKS = 50
MESSAGE_TEXT = 8_000
"""All text of a message together: Slack refuses longer messages; the exact limit is not documented."""
FALLBACK = 300
SECTION = 2_900
HEADER = 150
FIELD = 2_000
FIELDS = 10
BUTTON = 75
MAX_BUTTONS = 10
"""Slack allows more, but nobody would choose among them."""
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
    """Shorten a text and append the number of characters that are missing."""
    return text if len(text) <= limit else shortened(text, max(0, limit - 36))


def text_length(content: object) -> int:
    """Return the number of characters of text in a block, including nested blocks."""
    if isinstance(content, dict):
        return sum(
            len(value)
            if isinstance(value, str) and key in ("text", "title")
            else text_length(value)
            for key, value in content.items()
        )
    return sum(map(text_length, content)) if isinstance(content, list) else 0


def plain_text(text: str) -> Block:
    """Return a text object in which Slack reads no markup."""
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> Block:
    """Return a text object with the bot's own mrkdwn. Slack adds no links and no mentions of its own."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def section(text: Block) -> Block:
    """Return a section that is always expanded: by default Slack folds long ones and hides what is asked about."""
    return {"type": "section", "text": text, "expand": True}


def context_block(text: str) -> Block:
    """Return a block of small grey text."""
    return {"type": "context", "elements": [plain_text(cut(text, FOOTER))]}


# One message: its blocks, its notification text, and block ids that change whenever the content changes.

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
    """Number and count of this message among those of the same card."""


def build_message(fallback: Iterable[str], blocks: list[Block], part: str = "1/1") -> SlackMessage:
    """Build a message and give each block an id. Empty content becomes "…", because Slack accepts no empty message."""
    said = " · ".join(line for line in map(on_one_line, fallback) if line)
    text = escaped(said, FALLBACK) or "…"
    shown = blocks or [section(plain_text("…"))]
    content = json.dumps([text, shown, part], sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    stamped = [{**block, "block_id": f"{digest}-{n}"} for n, block in enumerate(shown)]
    return SlackMessage(text, stamped, part)


def with_tone(title: str, tone: Tone) -> str:
    return f"{TONES[tone]} {title}".strip() if title else ""


# The title of a card: large where a person must act, bold elsewhere, with a mark for its tone.

_LONGEST_TITLE = 600


def title_blocks(sheet: Sheet, alert_level: str = "") -> list[Block]:
    """Draw the title. `alert_level`: the level of the alert block around it; empty for none."""
    text = on_one_line(sheet.title)
    large = with_tone(text, sheet.tone)
    if not text:
        return []
    if alert_level:
        # the alert block has a mark of its own
        return [{"type": "alert", "level": alert_level, "text": mrkdwn(bold(text, _LONGEST_TITLE))}]
    if sheet.tone is Tone.NEEDS_YOU and len(large) <= HEADER:
        return [{"type": "header", "text": plain_text(large)}]
    return [section(mrkdwn(f"{TONES[sheet.tone]} {bold(text, _LONGEST_TITLE)}".strip()))]


def bold(text: str, limit: int) -> str:
    """Return one line of bold mrkdwn of at most `limit` characters. A `*` in the text does not end it early."""
    line = escaped(on_one_line(text)).replace("*", f"{ZERO_WIDTH_SPACE}*{ZERO_WIDTH_SPACE}")
    return f"*{cut_escaped(line, limit - 2)}*" if line else ""


# A heading and the text below it are one block: between two blocks the gap would be as wide as the one above the
# heading.


def join_heading(heading: Block, drawn: list[Block]) -> list[Block]:
    # Only joined if every character stays the same: plain text may contain characters that mrkdwn would read as markup.
    first, *rest = drawn
    words = _mrkdwn_of(first)
    text = f"{heading['text']['text']}\n{words}"
    if not words or len(text) > SECTION:
        return [heading, *drawn]
    return [section(mrkdwn(text)), *rest]


def _mrkdwn_of(block: Block) -> str:
    """Return the block's text as mrkdwn; empty if the block is more than text or its text would change."""
    text = block.get("text")
    if block["type"] != "section" or not text or "accessory" in block:
        return ""
    words = str(text["text"])
    return words if text["type"] == "mrkdwn" or escaped(words) == words else ""


# Choices as buttons. What a press means travels in the button's value, so that it can be read after a restart.

_LONGEST_QUESTION = 300


class ButtonValue(Fact):
    """What a button means, as stored in its value."""

    verb: Verb = Field(validation_alias=AliasChoices("v", "verb"))
    about: str = ""
    key: str = ""
    """Key of the card the button is on."""
    asks: bool = False
    """The press needs a text: a form is opened."""
    question: str = Field(default="", validation_alias=AliasChoices("q", "question"))
    """The question of that form, shortened."""
    form: bool = False
    """The press opens the form with all questions."""

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
        """Return the value for a menu option, which has little room: the question is left out."""
        content = {"v": self.verb, "about": self.about, "key": self.key, "asks": self.asks}
        return _compact_json({name: value for name, value in content.items() if value})

    @classmethod
    def from_action(cls, action: Mapping[str, Any]) -> ButtonValue | None:
        """Read the value of a Slack action: a button, a feedback button or a menu option."""
        match action:
            case {"type": "button" | "feedback_buttons", "value": str(value)}:
                return cls.parse(value)
            case {"type": "overflow", "selected_option": {"value": str(value)}}:
                return cls.parse(value)
            case _:
                return None

    @classmethod
    def parse(cls, value: str) -> ButtonValue | None:
        """Parse the value of a button; None if it is not one of the bot's."""
        try:
            return cls.model_validate_json(value)
        except ValidationError:
            return None


def pressed_label(action: Mapping[str, Any]) -> str:
    """Return the label of the button or option that was pressed."""
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
    """Draw all buttons in one row; a line names those that do not fit."""
    standing = [pair for pair in pairs if len(pair[1].value) <= VALUE][:MAX_BUTTONS]
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


# Links into the workspace on the web. They are built only from ids and the address that Slack reports, never from what
# somebody wrote.

_URL = re.compile(r"https?://[A-Za-z0-9.:-]+/")
_CHANNEL = re.compile(r"[A-Z0-9]+")
_TS = re.compile(r"([0-9]+)\.([0-9]+)")


@dataclass(frozen=True)
class Site:
    team: str
    url: str
    """Ends with a slash."""

    def link(self, thread: Thread) -> str:
        """Return the address of a thread's first message; empty if the thread is not in this workspace."""
        ts = _TS.fullmatch(thread.root)
        here = (thread.platform, thread.workspace) == (PLATFORM, self.team)
        if not (here and ts and _CHANNEL.fullmatch(thread.channel) and _URL.fullmatch(self.url)):
            return ""
        return f"{self.url}archives/{thread.channel}/p{ts[1]}{ts[2]}"


# Which of the newer blocks may be used, and where links lead. Each of those blocks has a plainer alternative.


class BlockKind(StrEnum):
    """Blocks that not every workspace accepts, by Slack's own names."""

    PLAN = "plan"
    ALERT = "alert"
    TABLE = "table"
    MARKDOWN = "markdown"
    FEEDBACK = "context_actions"


EVERY_BLOCK_KIND = frozenset(BlockKind)


@dataclass(frozen=True)
class DrawingOptions:
    site: Site | None = None
    """The workspace that links lead to."""
    kinds: frozenset[BlockKind] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    """Link targets by the text of a cell or line."""

    def without(self, kind: BlockKind) -> DrawingOptions:
        return replace(self, kinds=self.kinds - {kind})


# Part of a Markdown document: in Slack's markdown block or, where a workspace has none, as plain text.


def markdown_blocks(markdown: str, ways: DrawingOptions) -> list[Block]:
    if not markdown.strip():
        return []
    if BlockKind.MARKDOWN in ways.kinds:
        return [{"type": "markdown", "text": markdown}]
    return [section(plain_text(piece)) for piece in _slices(markdown) if piece.strip()]


def _slices(text: str) -> Iterator[str]:
    """Split a text into sections, at line ends where possible."""
    while len(text) > SECTION:
        end = text.rfind("\n", 0, SECTION) + 1 or SECTION
        yield text[:end]
        text = text[end:]
    yield text
