"""What people press, choose and fill in. Each carries the ids by which an app is told of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import cast

from tests.looks.page.html import Json, box, tag, text
from tests.looks.page.words import plain, text_of


def element(part: Json, block_id: str = "") -> str:
    """What it looks like before anybody touches it."""
    return _DRAWN.get(str(part.get("type")), _other)(part, block_id)


def _ids(part: Json, block_id: str) -> dict[str, str]:
    return {"data_block": block_id, "data_action": str(part.get("action_id", ""))}


def _button(part: Json, block_id: str) -> str:
    style = part.get("style", "")
    return tag(
        "button",
        plain(part["text"]["text"], emoji=part["text"].get("emoji", True)),
        class_=f"button {style}".strip(),
        type="button",
        title=part.get("accessibility_label"),
        data_confirm=json.dumps(_confirm(part["confirm"])) if part.get("confirm") else None,
        **_ids(part, block_id),
    )


def _confirm(dialog: Json) -> Json:
    told = {name: dialog[name]["text"] for name in ("title", "text", "confirm", "deny")}
    return {**told, "style": dialog.get("style", "")}


def _select(part: Json, block_id: str) -> str:
    chosen = part.get("initial_option")
    hint = _hint(part) or "Select an option"
    options = "" if chosen else tag("option", text(hint), value="", selected=True)
    options += "".join(_option(one, one == chosen) for one in _options(part))
    return tag("select", options, class_="select", **_ids(part, block_id))


def _option(option: Json, chosen: bool) -> str:
    return tag("option", text(option["text"]["text"]), value=option.get("value"), selected=chosen)


def _hint(part: Json) -> str:
    return str(part["placeholder"]["text"]) if part.get("placeholder") else ""


def _options(part: Json) -> list[Json]:
    groups = cast("list[Json]", part.get("option_groups") or [])
    grouped = [one for group in groups for one in cast("list[Json]", group["options"])]
    return cast("list[Json]", part.get("options") or []) or grouped


def _overflow(part: Json, block_id: str) -> str:
    options = tag("option", "⋯", value="", selected=True)
    options += "".join(_option(one, chosen=False) for one in _options(part))
    return tag("select", options, class_="select overflow", **_ids(part, block_id))


def _boxes(part: Json, block_id: str) -> str:
    kind = "radio" if part["type"] == "radio_buttons" else "checkbox"
    first = [part["initial_option"]] if part.get("initial_option") else []
    chosen = [*first, *cast("list[Json]", part.get("initial_options") or [])]
    return "".join(
        tag(
            "label",
            tag(
                "input",
                type=kind,
                name=f"{block_id}:{part.get('action_id', '')}",
                value=one.get("value"),
                checked=one in chosen,
                **_ids(part, block_id),
            )
            + tag("span", text_of(one["text"]))
            + (box("hint", text_of(one["description"])) if one.get("description") else ""),
            class_="choice",
        )
        for one in _options(part)
    )


def _input(part: Json, block_id: str) -> str:
    hint = _hint(part) or None
    given = str(part.get("initial_value") or "")
    longest = str(part["max_length"]) if part.get("max_length") else None
    ids = _ids(part, block_id)
    if part.get("multiline"):
        return tag("textarea", text(given), rows="4", placeholder=hint, maxlength=longest, **ids)
    return tag("input", type="text", value=given, placeholder=hint, maxlength=longest, **ids)


def _image(part: Json, block_id: str) -> str:
    return tag("span", text(part.get("alt_text", "")), class_="thumb", title=part.get("image_url"))


def _feedback(part: Json, block_id: str) -> str:
    ids = _ids(part, block_id)
    pair = (("👍", part["positive_button"]), ("👎", part["negative_button"]))
    return "".join(
        tag("button", sign, class_="icon", type="button", title=one["text"]["text"],
            data_value=one.get("value"), **ids)
        for sign, one in pair
    )  # fmt: skip


def _icon(part: Json, block_id: str) -> str:
    sign = "🗑" if part.get("icon") == "trash" else "◇"
    name = part["text"]["text"]
    return tag("button", sign, class_="icon", type="button", title=name, **_ids(part, block_id))


def _other(part: Json, block_id: str) -> str:
    """A picker of something: people, channels, a date."""
    hint = _hint(part) or str(part.get("type", "")).replace("_", " ")
    return box("select", text(hint), **_ids(part, block_id))


_DRAWN: dict[str, Callable[[Json, str], str]] = {
    "button": _button,
    "workflow_button": _button,
    "static_select": _select,
    "overflow": _overflow,
    "radio_buttons": _boxes,
    "checkboxes": _boxes,
    "plain_text_input": _input,
    "email_text_input": _input,
    "url_text_input": _input,
    "number_input": _input,
    "image": _image,
    "feedback_buttons": _feedback,
    "icon_button": _icon,
}
