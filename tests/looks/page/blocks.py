"""Blocks as Slack's client draws them: one function for each type. What is of no known type says so, and a test hears it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from tests.looks.page.elements import element
from tests.looks.page.html import Json, box, tag, text
from tests.looks.page.markdown import markdown
from tests.looks.page.rich import rich_text
from tests.looks.page.words import plain, text_of

UNKNOWN = "a block nobody can draw"
LONG = 700
"""Characters of a section beyond which Slack hides the rest until somebody asks for it."""
TALL = 12
"""And lines."""
_SIGNS = {"pending": "○", "in_progress": "◐", "complete": "✓", "error": "!"}
_ALERTS = {"info": "ⓘ", "warning": "⚠", "error": "⊘", "success": "✓", "default": "ⓘ"}


def blocks(all: Iterable[Json]) -> str:
    return "".join(block(one) for one in all)


def block(one: Json) -> str:
    kind = str(one.get("type"))
    drawn = _DRAWN.get(kind)
    inner = drawn(one) if drawn else text(f"{UNKNOWN}: {kind}")
    return box(f"block {kind}", inner)


def _id(one: Json) -> str:
    return str(one.get("block_id", ""))


def _list(one: Json, name: str) -> list[Json]:
    return cast("list[Json]", one.get(name) or [])


def _section(one: Json) -> str:
    inner = _prose(one["text"], whole=bool(one.get("expand"))) if one.get("text") else ""
    if fields := _list(one, "fields"):
        inner += box("fields", "".join(box("field", text_of(field)) for field in fields))
    said = box("said", inner)
    if one.get("accessory"):
        return said + box("accessory", element(one["accessory"], _id(one)))
    return said


def _prose(piece: Json, *, whole: bool) -> str:
    words = piece["text"]
    long = len(words) > LONG or words.count("\n") >= TALL
    if whole or not long:
        return box("words", text_of(piece))
    more = tag("button", "See more", class_="more", type="button")
    return box("words cut", text_of(piece)) + more


def _header(one: Json) -> str:
    return tag("h3", plain(one["text"]["text"], emoji=one["text"].get("emoji", True)))


def _context(one: Json) -> str:
    return "".join(
        element(part) if part["type"] == "image" else tag("span", text_of(part))
        for part in _list(one, "elements")
    )


def _row(one: Json) -> str:
    return "".join(element(part, _id(one)) for part in _list(one, "elements"))


def _input(one: Json) -> str:
    label = plain(one["label"]["text"])
    if one.get("optional"):
        label += tag("span", " (optional)", class_="optional")
    hint = box("hint", plain(one["hint"]["text"])) if one.get("hint") else ""
    error = box("error", "", data_error=_id(one))
    return box("label", label) + element(one["element"], _id(one)) + error + hint


def _image(one: Json) -> str:
    title = box("hint", plain(one["title"]["text"])) if one.get("title") else ""
    address = one.get("image_url", "")
    if str(address).startswith(("data:image/", "http://127.0.0.1")):
        return title + tag("img", src=address, alt=one.get("alt_text"))
    return title + box("picture", text(one.get("alt_text", "")), title=address)


def _plan(one: Json) -> str:
    tasks = _list(one, "tasks")
    done = sum(task.get("status") == "complete" for task in tasks)
    bar = box("bar", box("filled", "", style=f"width:{100 * done // max(1, len(tasks))}%"))
    title = box("title", text(one["title"]))
    return title + bar + "".join(_task(task) for task in tasks)


def _task(one: Json) -> str:
    state = one.get("status", "pending")
    inner = box("title", text(one["title"]))
    for name in ("details", "output"):
        if one.get(name):
            inner += box(name, rich_text(one[name]))
    if sources := _list(one, "sources"):
        links = ", ".join(tag("a", text(s.get("text")), href=s.get("url", "#")) for s in sources)
        inner += box("sources", links)
    sign = tag("span", _SIGNS.get(state, "?"), class_=f"sign {state}")
    return box(f"task {state}", sign + box("about", inner))


def _alert(one: Json) -> str:
    level = one.get("level", "default")
    sign = tag("span", _ALERTS.get(level, "ⓘ"), class_="sign")
    return box(f"alert-box {level}", sign + box("words", text_of(one["text"])))


def _table(one: Json) -> str:
    rows = cast("list[list[Json]]", one["rows"])
    settings = cast("list[Json | None]", one.get("column_settings") or [])
    head = "".join(tag("th", _cell(cell)) for cell in rows[0])
    body = "".join(
        tag("tr", "".join(_column(cell, n, settings) for n, cell in enumerate(row)))
        for row in rows[1:]
    )
    return box("scroll", tag("table", tag("thead", tag("tr", head)) + tag("tbody", body)))


def _column(cell: Json, number: int, settings: list[Json | None]) -> str:
    about = (settings[number] if number < len(settings) else None) or {}
    wraps = "wraps" if about.get("is_wrapped") else ""
    return tag("td", _cell(cell), class_=f"{about.get('align', 'left')} {wraps}".strip())


def _cell(cell: Json) -> str:
    if cell["type"] == "rich_text":
        return rich_text(cell)
    return text(cell.get("text", ""))


def _container(one: Json) -> str:
    title = one["title"]["text"] if one.get("title") else ""
    subtitle = box("hint", text_of(one["subtitle"])) if one.get("subtitle") else ""
    folded = bool(one.get("default_collapsed"))
    inner = blocks(_list(one, "child_blocks"))
    head = tag("summary", tag("strong", text(title)) + subtitle)
    return tag("details", head + box("children", inner), open=not folded)


def _card(one: Json) -> str:
    parts = [one[name] for name in ("title", "subtitle", "body") if one.get(name)]
    inner = "".join(box(f"card-{n}", text_of(part)) for n, part in enumerate(parts))
    return inner + box("row", "".join(element(b, _id(one)) for b in _list(one, "actions")))


_DRAWN: dict[str, Callable[[Json], str]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _row,
    "context_actions": _row,
    "divider": lambda one: tag("hr"),
    "markdown": lambda one: markdown(one["text"]),
    "rich_text": rich_text,
    "image": _image,
    "input": _input,
    "plan": _plan,
    "task_card": _task,
    "alert": _alert,
    "table": _table,
    "container": _container,
    "card": _card,
}
