"""Text as Slack reads it: mrkdwn with its links and marks, or plain with nothing but names of emoji."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from tests.looks.page.html import Json, box, tag, text

EMOJI = {
    "white_check_mark": "✅",
    "x": "❌",
    "warning": "⚠️",
    "tada": "🎉",
    "eyes": "👀",
    "hourglass_flowing_sand": "⏳",
    "question": "❓",
    "robot_face": "🤖",
    "thumbsup": "👍",
    "+1": "👍",
    "thumbsdown": "👎",
    "-1": "👎",
    "rocket": "🚀",
    "octagonal_sign": "🛑",
    "no_entry": "⛔",
    "arrows_counterclockwise": "🔄",
}
_EMOJI = re.compile(r":([a-z0-9_+-]{1,60}):")
_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_QUOTE = re.compile(r"&gt;\s?")
_TOKEN = re.compile(r"<([^<>\n|]+)(?:\|([^<>\n]*))?>")
_CODE = re.compile(r"`([^`\n]+)`")
_BARE = re.compile(r"https?://[^\s<>]+[^\s<>.,;:!?)]")
_MARKS = (("*", "strong"), ("_", "em"), ("~", "s"))


def text_of(piece: Json) -> str:
    """A text object, whichever it is."""
    if piece.get("type") == "mrkdwn":
        return mrkdwn(piece["text"], links=not piece.get("verbatim"))
    return plain(piece["text"], emoji=piece.get("emoji", True))


def plain(words: str, *, emoji: bool = True) -> str:
    shown = text(words)
    return (_with_emoji(shown) if emoji else shown).replace("\n", "<br>")


def mrkdwn(words: str, *, links: bool = False) -> str:
    """`links`: Slack makes links of bare addresses by itself."""
    parts: list[str] = []
    at = 0
    for fence in _FENCE.finditer(words):
        parts.append(_lines(words[at : fence.start()].rstrip("\n"), links=links))
        parts.append(tag("pre", text(html.unescape(fence[1])), class_="code"))
        at = fence.end()
        at += words[at : at + 1] == "\n"
    parts.append(_lines(words[at:], links=links))
    return "".join(parts)


def _lines(words: str, *, links: bool) -> str:
    """Quotes are blocks of their own; other lines are parted by breaks."""
    shown: list[str] = []
    held: list[str] = []
    for line in words.split("\n") if words else []:
        if quoted := _QUOTE.match(line):
            shown += _broken(held)
            held = []
            shown.append(box("quote", _line(line[quoted.end() :], links=links)))
        else:
            held.append(_line(line, links=links))
    return "".join([*shown, *_broken(held)])


def _broken(lines: list[str]) -> Iterator[str]:
    if lines:
        yield "<br>".join(lines)


def _line(line: str, *, links: bool) -> str:
    """Code first: nothing in it is read."""
    parts: list[str] = []
    at = 0
    for found in _CODE.finditer(line):
        parts.append(_marked(line[at : found.start()], links=links))
        parts.append(tag("code", text(html.unescape(found[1]))))
        at = found.end()
    parts.append(_marked(line[at:], links=links))
    return "".join(parts)


def _marked(line: str, *, links: bool) -> str:
    """What stands in angles is put aside while marks are read: they are none in an address."""
    kept: list[str] = []

    def aside(shown: str) -> str:
        kept.append(shown)
        return f"\0{len(kept) - 1}\0"

    shown = _TOKEN.sub(lambda token: aside(_token(token)), line)
    if links:
        shown = _BARE.sub(lambda found: aside(_link(found[0], found[0])), shown)
    shown = text(html.unescape(shown))
    for mark, name in _MARKS:
        sign = re.escape(mark)
        around = rf"(?<![\w{sign}]){sign}(?=[^\s{sign}])([^\n]*?[^\s{sign}]){sign}(?![\w{sign}])"
        shown = re.sub(around, rf"<{name}>\1</{name}>", shown)
    return re.sub("\0(\\d+)\0", lambda m: kept[int(m[1])], _with_emoji(shown))


def _token(token: re.Match[str]) -> str:
    target, label = token[1], token[2]
    match target[:1]:
        case "@":
            return tag("span", text(f"@{label or target[1:]}"), class_="mention")
        case "#":
            return tag("span", text(f"#{label or target[1:]}"), class_="mention")
        case "!":
            return tag("span", text(f"@{label or target[1:]}"), class_="mention loud")
        case _:
            return _link(html.unescape(target), html.unescape(label or target))


def _link(address: str, label: str) -> str:
    safe = address if address.startswith(("http://", "https://", "mailto:")) else "#"
    return tag("a", _with_emoji(text(label)), href=safe, target="_blank", rel="noreferrer")


def _with_emoji(shown: str) -> str:
    return _EMOJI.sub(lambda m: EMOJI.get(m[1], m[0]), shown)
