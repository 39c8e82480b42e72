"""What a person can press, choose and fill in, and what Slack makes of it: elements, their state, their action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from tests.beds.slack.messages import parts_of
from tests.beds.slack.names import CannotDo, Json

_ONE = ("static_select", "radio_buttons", "overflow")
_MANY = ("multi_static_select", "checkboxes")
_WHERE = ("conversations_select",)
_PRESSED = ("button", "workflow_button", "icon_button", "feedback_buttons")


def elements_in(blocks: list[Json]) -> Iterator[tuple[str, Json]]:
    """Every element somebody can act on, with the id of the block it stands in."""
    for block in blocks:
        for inner in cast("list[Json]", block.get("child_blocks") or [block]):
            block_id = inner.get("block_id") or block["block_id"]
            for part in parts_of(inner):
                if "action_id" in part:
                    yield from ((block_id, one) for one in _thumbs(part) or [part])


def labels(blocks: list[Json]) -> list[str]:
    """The buttons that can be pressed, by their labels."""
    return [one["text"]["text"] for _, one in elements_in(blocks) if one["type"] == "button"]


def find(blocks: list[Json], wanted: str, *, button: bool) -> tuple[str, Json]:
    """The one element with this action_id (or `block_id/action_id`), or the one button with this label."""
    able = [(id, one) for id, one in elements_in(blocks) if (one["type"] in _PRESSED) == button]
    hits = [
        (id, one)
        for id, one in able
        if wanted in (one["action_id"], f"{id}/{one['action_id']}", _label(one))
    ]
    if len(hits) != 1:
        there = [f"{one['action_id']} ({_label(one)})" for _, one in able]
        raise CannotDo(f"{len(hits)} of {wanted!r}; there are {there}")
    return hits[0]


def pressed(block_id: str, element: Json, now: str) -> Json:
    """The action of a press."""
    kept = ("action_id", "text", "value", "url", "style", "confirm")
    told = {name: element[name] for name in kept if name in element}
    return {"type": element["type"], "block_id": block_id, "action_ts": now, **told}


def chose(block_id: str, element: Json, picked: Any, now: str) -> Json:
    """The action of a choice."""
    told = {"action_id": element["action_id"], "block_id": block_id, "action_ts": now}
    return told | _value(element, picked)


def state_of(blocks: list[Json], chosen: Mapping[str, Any]) -> Json:
    """`state.values`: what is put in, or what stood there to begin with. `chosen` is by action or block id."""
    values: dict[str, Json] = {}
    for block_id, element in elements_in(blocks):
        if element["type"] in (*_PRESSED, "overflow"):
            continue
        action_id = element["action_id"]
        picked = chosen.get(action_id, chosen.get(block_id))
        values.setdefault(block_id, {})[action_id] = _value(element, picked)
    return values


def check_filled(blocks: list[Json], chosen: Mapping[str, Any]) -> None:
    """Slack itself refuses a form with holes, or with fields it does not have."""
    ids = {id for block_id, one in elements_in(blocks) for id in (block_id, one["action_id"])}
    if strange := set(chosen) - ids:
        raise CannotDo(f"the form has no {strange}; it has {sorted(ids)}")
    for block in blocks:
        if block["type"] != "input":
            continue
        given = _value(block["element"], _picked(block, chosen))
        kind = given.pop("type")
        filled = [value for value in given.values() if value not in (None, "", [])]
        if not filled and not block.get("optional"):
            raise CannotDo(f"{block['label']['text']!r} has to be filled in")
        most = block["element"].get("max_length", 3_000)
        if kind == "plain_text_input" and len(given["value"] or "") > most:
            raise CannotDo(f"{block['label']['text']!r} takes {most} characters")


def _picked(block: Json, chosen: Mapping[str, Any]) -> Any:
    return chosen.get(block["element"]["action_id"], chosen.get(block["block_id"]))


def _value(element: Json, picked: Any) -> Json:
    kind = element["type"]
    if kind in _ONE:
        first = element.get("initial_option")
        return {"type": kind, "selected_option": _option(element, picked) if picked else first}
    if kind in _MANY:
        first = cast("list[Json]", element.get("initial_options") or [])
        options = first if picked is None else [_option(element, one) for one in picked]
        return {"type": kind, "selected_options": options}
    if kind in _WHERE:
        first = element.get("initial_conversation")
        return {"type": kind, "selected_conversation": picked or first}
    return {"type": kind, "value": picked if picked is not None else element.get("initial_value")}


def _option(element: Json, wanted: str) -> Json:
    options = cast("list[Json]", element["options"])
    for option in options:
        if wanted in (option.get("value"), option["text"]["text"]):
            return option
    raise CannotDo(f"no option {wanted!r}; there are {[one['text']['text'] for one in options]}")


def _thumbs(element: Json) -> list[Json]:
    """A pair of feedback buttons is two that somebody can press."""
    if element["type"] != "feedback_buttons":
        return []
    pair = (element["positive_button"], element["negative_button"])
    about = {"type": element["type"], "action_id": element["action_id"]}
    return [{**about, "text": one["text"], "value": one["value"]} for one in pair]


def _label(element: Json) -> str:
    text: Any = element.get("text")
    return cast("Json", text).get("text", "") if isinstance(text, dict) else ""
