"""Rich text: what people type, and what the newer blocks hold."""

from __future__ import annotations

from typing import cast

from tests.looks.page.html import Json, box, tag, text
from tests.looks.page.words import EMOJI, mrkdwn

_STYLES = (("bold", "strong"), ("italic", "em"), ("strike", "s"), ("code", "code"))


def rich_text(block: Json) -> str:
    return box("rich", "".join(_part(one) for one in _elements(block)))


def _elements(part: Json) -> list[Json]:
    return cast("list[Json]", part.get("elements") or [])


def _part(part: Json) -> str:
    inner = "".join(_piece(one) for one in _elements(part))
    match part.get("type"):
        case "rich_text_list":
            name = "ol" if part.get("style") == "ordered" else "ul"
            items = "".join(tag("li", _part(one)) for one in _elements(part))
            return tag(name, items, class_=f"indent-{part.get('indent', 0)}")
        case "rich_text_preformatted":
            return tag("pre", inner, class_="code")
        case "rich_text_quote":
            return box("quote", inner)
        case _:
            return tag("span", inner)


def _piece(piece: Json) -> str:
    match piece.get("type"):
        case "text" if piece.get("typed"):
            shown = mrkdwn(piece["text"])
        case "text":
            shown = text(piece["text"]).replace("\n", "<br>")
        case "link":
            label = text(piece.get("text") or piece["url"])
            shown = tag("a", label, href=piece["url"], target="_blank", rel="noreferrer")
        case "emoji":
            shown = text(EMOJI.get(piece["name"], f":{piece['name']}:"))
        case "user":
            shown = tag("span", text(f"@{piece['user_id']}"), class_="mention")
        case "broadcast":
            shown = tag("span", text(f"@{piece['range']}"), class_="mention loud")
        case other:
            shown = text(f"[{other}]")
    style = cast("Json", piece.get("style") or {})
    for name, wrap in _STYLES:
        if style.get(name):
            shown = tag(wrap, shown)
    return shown
