"""Whether Slack would take these blocks, this view: the schemas, the library's own models and the limits, all three."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft7Validator
from jsonschema.exceptions import ValidationError
from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from tests.beds.slack.limits import BLOCKS_OF_MESSAGE, BLOCKS_OF_VIEW, breaches
from tests.beds.slack.messages import parts_of
from tests.beds.slack.names import Json

_SCHEMAS = Path(__file__).parent / "schemas"
_OF_MESSAGES_ONLY = ("markdown", "plan", "task_card", "context_actions", "table", "file")
_UNKNOWN_TO_LIBRARY = ("data_table",)
_OF_VIEW = {"title": 24, "submit": 24, "close": 24, "callback_id": 255, "private_metadata": 3_000}
LARGEST_VIEW = 250_000

_parse: Callable[[Json], Any] = attrgetter("parse")(Block)


def wrong_in_blocks(blocks: list[Json]) -> list[str]:
    """What is wrong with the blocks of a message, as Slack words it."""
    return [f"[ERROR] {problem}" for problem in _problems(blocks, BLOCKS_OF_MESSAGE)]


def wrong_in_view(view: Json) -> list[str]:
    """What is wrong with a modal or a home tab."""
    return [f"[ERROR] {problem}" for problem in _view_problems(view)]


def _view_problems(view: Json) -> Iterator[str]:
    name = {"modal": "Modal", "home": "Home"}.get(str(view.get("type")))
    if name is None:
        yield "must be one of: modal, home [json-pointer:/view/type]"
        return
    yield from _against(_schema(name), {**view, "blocks": []}, "/view")
    if not isinstance(view.get("blocks"), list):
        yield "missing required field: blocks [json-pointer:/view]"
        return
    blocks = cast("list[Json]", view["blocks"])
    yield from _problems(blocks, BLOCKS_OF_VIEW)
    for key, most in _OF_VIEW.items():
        given: Any = view.get(key) or ""
        text = cast("Json", given).get("text") if isinstance(given, dict) else given
        if len(str(text)) > most:
            yield f"must be less than {most + 1} characters [json-pointer:/view/{key}]"
    kinds = [part.get("type") for part in parts_of(blocks)]
    yield from (f"unsupported type: {kind}" for kind in kinds if kind in _OF_MESSAGES_ONLY)
    if name == "Modal" and "input" in kinds and not view.get("submit"):
        yield "missing required field: submit [json-pointer:/view]"


def _problems(blocks: list[Json], most: int) -> Iterator[str]:
    found = [
        problem
        for number, block in enumerate(blocks)
        for problem in _block_problems(block, f"/blocks/{number}")
    ]
    # Limits are looked at only where the structure stands: they rely on it.
    yield from found or breaches(blocks, most)


def _block_problems(block: Json, place: str) -> Iterator[str]:
    schema = _blocks_by_type().get(str(block.get("type")))
    if schema is None:
        yield f"unsupported type: {block.get('type')} [json-pointer:{place}/type]"
        return
    structure = list(_against(schema, block, place))
    for task in cast("list[Json]", block.get("tasks") or []):
        structure += _against(_blocks_by_type()["task_card"], task, f"{place}/tasks")
    yield from structure
    if not structure and block["type"] not in _UNKNOWN_TO_LIBRARY:
        try:
            _parse(block).to_dict()
        except SlackObjectFormationError as error:
            yield f"{error} [json-pointer:{place}]"


def _against(schema: Draft7Validator, value: object, place: str) -> Iterator[str]:
    errors: Callable[[object], Iterator[ValidationError]] = attrgetter("iter_errors")(schema)
    for error in errors(value):
        path = "".join(f"/{step}" for step in error.absolute_path)
        yield f"{error.message[:300]} [json-pointer:{place}{path}]"


@functools.cache
def _schema(name: str, definition: str = "") -> Draft7Validator:
    whole = json.loads((_SCHEMAS / f"slack-{name}.schema.json").read_text(encoding="utf-8"))
    return Draft7Validator({**whole, "$ref": definition} if definition else whole)


@functools.cache
def _blocks_by_type() -> dict[str, Draft7Validator]:
    """One schema per type of block, so that an error tells what is wrong and not that none of twenty fits."""
    definitions = json.loads((_SCHEMAS / "slack-StrictBlock.schema.json").read_text("utf-8"))[
        "definitions"
    ]
    found: dict[str, Draft7Validator] = {}
    for one in definitions["KnownBlock"]["anyOf"]:
        definition = definitions[one["$ref"].rpartition("/")[2]]
        types = _types(definition, definitions)
        found |= dict.fromkeys(types, _schema("StrictBlock", one["$ref"]))
    return found


def _types(definition: Json, definitions: Json) -> list[str]:
    """The values of `type` a definition takes; a union takes those of its members."""
    if "properties" in definition:
        return [definition["properties"]["type"]["const"]]
    members = [definitions[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
               for one in definition.get("anyOf", definition.get("allOf", []))]  # fmt: skip
    return [kind for member in members for kind in _types(member, definitions)]
