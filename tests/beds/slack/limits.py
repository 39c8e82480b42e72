"""Slack's lengths, counts and cross references, which its schemas do not know; each breach is a sentence with its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, cast

from tests.beds.slack.messages import parts_of
from tests.beds.slack.names import Json

BLOCKS_OF_MESSAGE, BLOCKS_OF_VIEW = 50, 100
MARKDOWN_OF_MESSAGE = 12_000
CELLS_OF_TABLE = 10_000

LENGTHS = {
    ("section", "text"): 3_000,
    ("header", "text"): 150,
    ("markdown", "text"): 12_000,
    ("button", "text"): 75,
    ("button", "value"): 2_000,
    ("button", "url"): 3_000,
    ("input", "label"): 2_000,
    ("input", "hint"): 2_000,
    ("plain_text_input", "initial_value"): 3_000,
    ("container", "title"): 150,
    ("container", "subtitle"): 150,
    ("card", "title"): 150,
    ("card", "body"): 200,
    ("image", "image_url"): 3_000,
    ("image", "title"): 2_000,
    ("image", "alt_text"): 2_000,
    ("", "block_id"): 255,
    ("", "action_id"): 255,
    ("", "placeholder"): 150,
}
"""(type, field) → most characters; an empty type is every type."""

COUNTS = {
    ("section", "fields"): (1, 10),
    ("context", "elements"): (1, 10),
    ("actions", "elements"): (1, 25),
    ("context_actions", "elements"): (1, 5),
    ("static_select", "options"): (1, 100),
    ("multi_static_select", "options"): (1, 100),
    ("overflow", "options"): (1, 5),
    ("radio_buttons", "options"): (1, 10),
    ("checkboxes", "options"): (1, 10),
    ("container", "child_blocks"): (1, 10),
    ("table", "rows"): (1, 100),
    ("plan", "tasks"): (0, 50),
}
_OF_CONFIRM = {"title": 100, "text": 300, "confirm": 30, "deny": 30}
_OF_OPTION = {"text": 75, "description": 75, "value": 150}
_TASK_STATES = ("pending", "in_progress", "complete", "error")


def breaches(blocks: list[Json], most: int) -> Iterator[str]:
    """Everything about these blocks that is too long, too many, or does not fit together."""
    if len(blocks) > most:
        yield f"no more than {most} items allowed [json-pointer:/blocks]"
    yield from _doubles("block_id", blocks, "/blocks")
    if sum(len(one.get("text", "")) for one in blocks if one["type"] == "markdown") > (
        MARKDOWN_OF_MESSAGE
    ):
        yield f"no more than {MARKDOWN_OF_MESSAGE} characters of markdown [json-pointer:/blocks]"
    if sum(one["type"] == "table" for one in blocks) > 1:
        yield "only one table allowed [json-pointer:/blocks]"
    for number, block in enumerate(blocks):
        place = f"/blocks/{number}"
        elements = [part for part in parts_of(block) if "action_id" in part]
        yield from _doubles("action_id", elements, place)
        for part in parts_of(block):
            yield from _of_part(part, place)


def _of_part(part: Json, place: str) -> Iterator[str]:
    kind = str(part.get("type", ""))
    for (of, name), most in LENGTHS.items():
        if of in ("", kind):
            yield from _length(part, name, most, f"{place}/{name}")
    for (of, name), (least, most) in COUNTS.items():
        if of == kind and isinstance(part.get(name), list):
            yield from _count(cast("list[Any]", part[name]), least, most, f"{place}/{name}")
    if kind in ("plain_text", "mrkdwn") and not part.get("text"):
        yield f"must be more than 0 characters [json-pointer:{place}/text]"
    if isinstance(part.get("confirm"), dict) and "type" not in part["confirm"]:
        for name, most in _OF_CONFIRM.items():
            yield from _length(part["confirm"], name, most, f"{place}/confirm/{name}")
    yield from _options(part, place)
    yield from _special(part, kind, place)


def _options(part: Json, place: str) -> Iterator[str]:
    options = cast("list[Json]", part.get("options") or [])
    for option in options:
        for name, most in _OF_OPTION.items():
            yield from _length(option, name, most, f"{place}/options/{name}")
    yield from _doubles("value", options, f"{place}/options")
    first = [part["initial_option"]] if part.get("initial_option") else []
    for chosen in [*first, *cast("list[Json]", part.get("initial_options") or [])]:
        if chosen not in options:
            yield f"initial_option is none of the options [json-pointer:{place}/initial_option]"


def _special(part: Json, kind: str, place: str) -> Iterator[str]:
    """What only one kind of block or element asks for."""
    if kind == "section":
        for field in cast("list[Json]", part.get("fields") or []):
            yield from _length({"field": field}, "field", 2_000, f"{place}/fields")
    elif kind == "table":
        yield from _table(part, place)
    elif kind == "plan":
        yield from _doubles("task_id", cast("list[Json]", part.get("tasks") or []), place)
    elif kind == "task_card" and part.get("status", "pending") not in _TASK_STATES:
        yield f"no such status [json-pointer:{place}/status]"
    elif kind == "plain_text_input" and not 1 <= part.get("max_length", 3_000) <= 3_000:
        yield f"max_length is out of range [json-pointer:{place}/max_length]"


def _table(part: Json, place: str) -> Iterator[str]:
    if any(len(row) > 20 for row in part["rows"]):
        yield f"no more than 20 columns allowed [json-pointer:{place}/rows]"
    if len({len(row) for row in part["rows"]}) > 1:
        yield f"rows of different lengths [json-pointer:{place}/rows]"
    if sum(len(cell.get("text", "")) for row in part["rows"] for cell in row) > CELLS_OF_TABLE:
        yield f"no more than {CELLS_OF_TABLE} characters allowed [json-pointer:{place}/rows]"


def _length(part: Json, name: str, most: int, place: str) -> Iterator[str]:
    given: Any = part.get(name)
    text = cast("Json", given).get("text") if isinstance(given, dict) else given
    if isinstance(text, str) and len(text) > most:
        yield f"must be less than {most + 1} characters [json-pointer:{place}]"


def _count(items: list[Any], least: int, most: int, place: str) -> Iterator[str]:
    if len(items) > most:
        yield f"no more than {most} items allowed [json-pointer:{place}]"
    if len(items) < least:
        yield f"no fewer than {least} items allowed [json-pointer:{place}]"


def _doubles(name: str, parts: Iterable[Json], place: str) -> Iterator[str]:
    counted = Counter(str(part[name]) for part in parts if part.get(name))
    yield from (
        f"{name} `{value}` already exists [json-pointer:{place}]"
        for value, times in counted.items()
        if times > 1
    )
