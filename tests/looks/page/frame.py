"""What stands around blocks: a message with who wrote it, a modal, a home tab, and the page they are photographed on."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.looks.page.blocks import blocks
from tests.looks.page.html import Json, box, tag, text
from tests.looks.page.words import mrkdwn, plain

STYLE = Path(__file__).with_name("page.css")
_COLOURS = ("#7c5cbf", "#2f7d6d", "#b3563f", "#3a6ea5", "#9a6b1f")


@dataclass(frozen=True)
class Post:
    """A message as somebody sees it."""

    name: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list[Json])
    at: str = "12:03"
    app: bool = False
    private: bool = False
    """Only the one who looks sees it."""
    edited: bool = False
    reactions: Mapping[str, int] = field(default_factory=dict[str, int])
    files: tuple[str, ...] = ()
    replies: str = ""
    """Below a root in the channel: how many there are."""
    ts: str = ""


def message(post: Post) -> str:
    """A message without blocks is its text."""
    private = box("private", "👁 Only visible to you") if post.private else ""
    inner = (
        blocks(post.blocks)
        if post.blocks
        else box("block", box("said", mrkdwn(post.text, links=True)))
    )
    if post.edited and not post.app:
        inner += tag("span", "(edited)", class_="edited")
    inner += "".join(box("file", text(f"📄 {name}")) for name in post.files)
    if post.reactions:
        inner += box("reactions", "".join(_reaction(*one) for one in post.reactions.items()))
    if post.replies:
        inner += tag(
            "button", text(post.replies), class_="replies", type="button", data_thread=post.ts
        )
    body = box("body", private + _head(post) + inner)
    return box(
        "message whispered" if post.private else "message", _avatar(post) + body, data_key=post.ts
    )


def modal(view: Mapping[str, Any]) -> str:
    """The name, the fields, and below them how to leave."""
    title = box("modal-head", tag("h2", plain(view["title"]["text"])))
    close = view["close"]["text"] if view.get("close") else "Cancel"
    leave = tag("button", text(close), class_="button", type="button", data_close="yes")
    send = ""
    if view.get("submit"):
        label = text(view["submit"]["text"])
        send = tag("button", label, class_="button primary", type="button", data_submit="yes")
    inner = title + box("modal-body", blocks(view["blocks"])) + box("modal-foot", leave + send)
    return box("modal", inner)


def home(view: Mapping[str, Any]) -> str:
    return box("home", blocks(view["blocks"]))


def document(inner: str, *, dark: bool = False, title: str = "gwt", width: int = 720) -> str:
    """A page to be photographed."""
    theme = "dark" if dark else "light"
    style = tag("style", STYLE.read_text(encoding="utf-8"))
    head = f'<meta charset="utf-8"><title>{text(title)}</title>{style}'
    body = tag("body", box("sheet", inner), class_=theme, style=f"width:{width}px")
    return f'<!doctype html><html lang="en"><head>{head}</head>{body}</html>'


def column(parts: Iterable[tuple[str, str]]) -> str:
    """Several things below each other, each under its name."""
    return "".join(box("name", text(name)) + inner for name, inner in parts)


def _head(post: Post) -> str:
    badge = tag("span", "APP", class_="badge") if post.app else ""
    name = tag("span", text(post.name), class_="author")
    return box("head", name + badge + tag("span", text(post.at), class_="time"))


def _avatar(post: Post) -> str:
    if post.app:
        return box("avatar bot", "g")
    colour = _COLOURS[zlib.crc32(post.name.encode()) % len(_COLOURS)]
    return box("avatar", text(post.name[:1].upper()), style=f"background:{colour}")


def _reaction(name: str, count: int) -> str:
    return tag("span", f"{mrkdwn(f':{name}:')} {count}", class_="reaction")
