"""HTML in small: everything that comes from outside goes through here, and comes out as mere text."""

from __future__ import annotations

import html
from typing import Any

Json = dict[str, Any]


def text(words: object) -> str:
    return html.escape(str(words), quote=True)


def tag(kind: str, inner: str = "", /, **attributes: str | bool | None) -> str:
    """`class_` is class, `data_block` is data-block; what is None or False is left out. `inner` is HTML already."""
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    if kind in ("img", "input", "hr", "br"):
        return f"<{kind}{shown}>"
    return f"<{kind}{shown}>{inner}</{kind}>"


def box(class_: str, inner: str, /, **attributes: str | bool | None) -> str:
    return tag("div", inner, class_=class_, **attributes)


def _attribute(key: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(value)}"'
