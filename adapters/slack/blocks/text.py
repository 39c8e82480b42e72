"""Convert text between people and Slack: messages without markup, text escaped for mrkdwn, and long Markdown split into
parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.core.text import clean

# Messages as plain text, and plain text escaped for mrkdwn and Markdown blocks.

ZERO_WIDTH_SPACE = "\u200b"
"""A zero-width space, inserted to break up what would be read as markup; `clean` removes it from all incoming text."""

_TOKEN = re.compile(r"<([^<>\n]+)>|&(lt|gt|amp);")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&"}
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?://)?")
_BOT_MENTION = "\0"
"""Placeholder for a mention of the bot. `clean` has removed all other NUL characters."""
# tried only where such a run begins, so that a message full of spaces is scanned once
_AROUND_BOT_MENTION = re.compile(
    rf"(?<![ \t])([ \t]*){_BOT_MENTION}(?:[ \t]*{_BOT_MENTION})*([ \t]*)"
)
_LEADING_BOT_MENTION = re.compile(rf"\A(?:\s*{_BOT_MENTION}[ \t]*[:,、]?)+\s*")

_MARKERS = re.compile(r"[*_~`]+")
_QUOTES = re.compile(r"^([ \t]*)(?=&gt;)", re.MULTILINE)
_EMOJI = re.compile(r":(?=[a-z+-][a-z0-9_+'-]{0,80}:)")
_EVERYBODY = re.compile(r"@(?=(?:here|channel|everyone|group)\b)", re.IGNORECASE)
_LONG_BACKTICKS = re.compile(r"`{3,}")
# Markdown has other ways to write these characters, and a Markdown reader decodes them
_OPENING = r"<|&lt;?|&#0{0,8}60;?|&#x0{0,8}3c;?"
_AT, _MARK, _HASH = (
    r"(?:@|&commat;|&#0{0,8}64;?|&#x0{0,8}40;?)",
    r"(?:!|&excl;|&#0{0,8}33;?|&#x0{0,8}21;?)",
    r"(?:#|&num;|&#0{0,8}35;?|&#x0{0,8}23;?)",
)
_MENTION = re.compile(
    rf"(?:{_OPENING})(?=\\?(?:{_AT}|{_MARK}[a-z]|{_HASH}[a-z0-9]))", re.IGNORECASE
)
_SLACK_LINK = re.compile(r"<(?=[a-zA-Z][a-zA-Z0-9+.-]{0,30}:[^<>|\n]*\|)")
_HALF_ENTITY = re.compile(r"&[a-z]{0,3}\Z")


@dataclass(frozen=True)
class PlainMessage:
    """A user's message without Slack's markup."""

    text: str
    mentions_bot: bool = False
    mentions_first_other: bool = False
    """Whether the first person or group mentioned is not the bot, so that the message is addressed to somebody else."""


def plain_message(text: str, bot_id: str) -> PlainMessage:
    """Return the text of a message event as its author saw it, without mentions of the bot."""
    mentioned: list[str] = []

    def read(token: re.Match[str]) -> str:
        if token[2]:
            return _ENTITIES[token[2]]
        who = _mentioned(token[1])
        if who:
            mentioned.append(who)
        return _BOT_MENTION if who and who == bot_id else _unescaped(_visible_text(token[1]))

    words = _TOKEN.sub(read, clean(text))
    words = _LEADING_BOT_MENTION.sub("", words)
    words = _AROUND_BOT_MENTION.sub(_mention_gap, words).strip()
    others_first = bool(mentioned) and mentioned[0] != bot_id
    return PlainMessage(words, bot_id in mentioned, others_first)


def escaped(text: str, limit: int | None = None) -> str:
    """Escape plain text for mrkdwn: it mentions nobody, links nowhere and opens no markup.

    With a limit it is cut and ends with "…".
    """
    words = _without_tokens(clean(text))
    words = _MARKERS.sub(_break_markup, words)
    words = _QUOTES.sub(rf"\1{ZERO_WIDTH_SPACE}", words)
    words = _EMOJI.sub(f":{ZERO_WIDTH_SPACE}", words)
    words = _EVERYBODY.sub(f"@{ZERO_WIDTH_SPACE}", words)
    return words if limit is None else cut_escaped(words, limit)


def cut_escaped(words: str, limit: int) -> str:
    """Cut an escaped text without leaving half of an entity."""
    if len(words) <= limit:
        return words
    return _HALF_ENTITY.sub("", words[: limit - 1]) + "…"


def escaped_code(text: str) -> str:
    """Escape program output for a code block: it cannot end the fence, and can still be copied."""
    words = _without_tokens(clean(text))
    words = _EVERYBODY.sub(f"@{ZERO_WIDTH_SPACE}", words)
    return _LONG_BACKTICKS.sub(lambda run: ZERO_WIDTH_SPACE.join(run[0]), words)


def harmless_markdown(text: str) -> str:
    """Escape Slack's own mentions and links, which a `markdown` block would interpret."""
    words = _MENTION.sub(lambda opening: f"{opening[0]}{ZERO_WIDTH_SPACE}", clean(text))
    words = _SLACK_LINK.sub(f"<{ZERO_WIDTH_SPACE}", words)
    return _EVERYBODY.sub(f"@{ZERO_WIDTH_SPACE}", words)


def on_one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _mentioned(token: str) -> str:
    """Return the id of the person or group a token mentions; empty if it mentions none."""
    target = token.partition("|")[0]
    if target.startswith("@"):
        return target[1:]
    return target.removeprefix("!subteam^") if target.startswith("!subteam^") else ""


def _visible_text(token: str) -> str:
    """Return what a reader sees of `<…>`."""
    target, _, label = token.partition("|")
    match target[:1]:
        case "@" | "#":
            return target[0] + (label or target[1:]).lstrip(target[0])
        case "!" if target.startswith("!date^"):
            return label
        case "!":
            return "@" + (label or target[1:].removeprefix("subteam^")).lstrip("@")
        case _ if not _SCHEME.match(target):
            return f"<{token}>"
        case _:
            return _link(target, label)


def _link(target: str, label: str) -> str:
    # Slack makes links of what looks like an address; then the label is what the user wrote.
    if not label:
        return target
    bare = _SCHEME.sub("", target, count=1).rstrip("/")
    return label if label.rstrip("/") in (bare, target.rstrip("/")) else f"{label} ({target})"


def _unescaped(text: str) -> str:
    return re.sub("&(lt|gt|amp);", lambda entity: _ENTITIES[entity[1]], text)


def _mention_gap(gap: re.Match[str]) -> str:
    """Return what replaces a removed mention of the bot: one space, or nothing at the end of a line or before
    punctuation.
    """
    before, after = gap.string[: gap.start()][-1:], gap.string[gap.end() :][:1]
    if before in ("", "\n") or after in ("", "\n"):
        return ""
    return "" if not gap[2] and after in ".,:;!?)、。" else " "


def _without_tokens(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _break_markup(run: re.Match[str]) -> str:
    # Markup begins and ends at the edge of a word: inside a word, as in snake_case, nothing need be broken up.
    before, after = run.string[: run.start()][-1:], run.string[run.end() :][:1]
    if before.isalnum() and after.isalnum() and "`" not in run[0]:
        return run[0]
    return ZERO_WIDTH_SPACE + ZERO_WIDTH_SPACE.join(run[0]) + ZERO_WIDTH_SPACE


# Program output in a code block. If it is too long, its end is kept, because that is where the error is.

_FENCE_FRAME = len("```\n\n```")
_FENCE_NOTE = 40
"""Room for the line that says what is missing."""


def code_fence(text: str, limit: int) -> str:
    """Return a code block of at most `limit` characters of mrkdwn."""
    room = limit - _FENCE_FRAME
    lines = escaped_code(text).strip("\n").split("\n")
    if sum(map(len, lines)) + len(lines) > room:
        lines = _end_of(lines, room - _FENCE_NOTE)
    return "```\n" + "\n".join(lines) + "\n```"


def _end_of(lines: list[str], room: int) -> list[str]:
    """Keep as many of the last lines as fit; if even the last line does not fit, keep its end."""
    kept: list[str] = []
    for line in reversed(lines):
        if len(line) >= room:
            break
        kept.insert(0, line)
        room -= len(line) + 1
    if not kept:
        return ["… (the beginning is left out)", _tail(lines[-1], room)]
    left_out = len(lines) - len(kept)
    return [f"… ({left_out:,} line{'s' * (left_out > 1)} above left out)", *kept]


def _tail(line: str, room: int) -> str:
    """Return the end of a line, without the remainder of an entity that was cut."""
    kept = line[-room:]
    head, semicolon, rest = kept.partition(";")
    return rest if semicolon and head in ("amp", "mp", "p", "lt", "gt", "t", "") else kept


# Addresses of pull requests in plain lines become links. Nothing else becomes a link, and no link hides behind other
# words.

_PULL = r"https?://[A-Za-z0-9.-]{1,200}(?::\d{1,5})?/[\w.-]{1,100}/[\w.-]{1,100}/pull/\d{1,9}"
_PULL_IN_TEXT = re.compile(rf"(?<!\S)({_PULL})(?!\S)", re.ASCII)
_PULL_ALONE = re.compile(_PULL, re.ASCII)


def is_pull_address(text: str) -> bool:
    """Whether the text is the address of a pull request and nothing else."""
    return bool(_PULL_ALONE.fullmatch(text))


def has_pull_address(text: str) -> bool:
    return bool(_PULL_IN_TEXT.search(text))


def link_pull_requests(text: str) -> str:
    """Escape plain text for mrkdwn, with addresses of pull requests as links."""
    parts = _PULL_IN_TEXT.split(text)
    return "".join(f"<{part}>" if n % 2 else escaped(part) for n, part in enumerate(parts))


# Split a long Markdown document into parts that can be read alone: at headings first, never inside code or a table.

# possessive quantifiers: a line of any length is scanned once
_FENCE = re.compile(r"([ \t>]*+(?:[-*+] |\d{1,9}[.)] )?+[ \t]*+)(`{3,20}(?=[^`]*+\Z)|~{3,20})(.*+)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|\Z)")
_COLUMN = r"[ \t]*+:?-++:?[ \t]*+"
_RULE = re.compile(rf"[ \t>]*+\|?{_COLUMN}(?:\|{_COLUMN})*+\|?[ \t]*+")
_LONGEST_LANGUAGE = 30


@dataclass(frozen=True)
class _Piece:
    """Lines that belong together, such as a paragraph, a code block or a table."""

    lines: tuple[str, ...]
    heading: bool = False
    opens: str = ""
    """Repeated above each part if the piece is split: the opening fence, the head of the table."""
    closes: str = ""
    inner: tuple[str, ...] = ()
    """The lines between `opens` and `closes`."""
    beside: str = ""
    """Prefix for the rest of a line that was split: the quote or list it is in."""

    @property
    def size(self) -> int:
        return sum(map(len, self.lines))


def split_markdown(markdown: str, limit: int) -> list[str]:
    """Split the document into parts of at most `limit` characters: at least one, none of them blank unless all of it
    is.
    """
    done: list[str] = []
    held: list[_Piece] = []
    size = 0
    for piece in (bit for whole in _pieces(markdown) for bit in _split_piece(whole, limit)):
        if held and size + piece.size > limit:
            full, held = _split_at_heading(held, limit)
            size = sum(one.size for one in held)
            done.append(_text(full))
            if size + piece.size > limit:
                done.append(_text(held))
                held, size = [], 0
        held.append(piece)
        size += piece.size
    texts = [text.strip("\n") for text in (*done, _text(held))]
    return [text for text in texts if text.strip()] or [""]


def _text(pieces: Iterable[_Piece]) -> str:
    return "".join(line for piece in pieces for line in piece.lines)


def _split_at_heading(held: list[_Piece], limit: int) -> tuple[list[_Piece], list[_Piece]]:
    """Split at the last heading if it is in the second half; return the full part and the beginning of the next one."""
    size = sum(piece.size for piece in held)
    for n in range(len(held) - 1, 0, -1):
        size -= held[n].size
        if 2 * size < limit:
            break
        if held[n].heading:
            return held[:n], held[n:]
    return held, []


def _pieces(markdown: str) -> Iterator[_Piece]:
    lines = [f"{line}\n" for line in markdown.split("\n")]
    at = 0
    while at < len(lines):
        piece = _parse_code(lines, at) or _parse_table(lines, at) or _parse_paragraph(lines, at)
        yield piece
        at += len(piece.lines)


def _parse_code(lines: list[str], at: int) -> _Piece | None:
    """Parse a code block up to its closing fence or the end of the quote it is in."""
    opening = _FENCE.fullmatch(lines[at].rstrip("\n"))
    if not opening:
        return None
    before, marks, info = opening.groups()
    closing = re.compile(rf"[ \t>]*+{re.escape(marks[0])}{{{len(marks)},}}+[ \t]*+")
    end, inner = at + 1, len(lines)
    while end < len(lines) and inner == len(lines):
        if ">" in before and not lines[end].lstrip().startswith(">"):
            break
        if closing.fullmatch(lines[end].rstrip("\n")):
            inner = end
        end += 1
    beside = re.sub(r"[^ \t>]", " ", before)
    language = next((word for word in info.split()[:1] if len(word) <= _LONGEST_LANGUAGE), "")
    return _Piece(
        tuple(lines[at:end]),
        opens=f"{beside}{marks}{language}\n",
        closes=f"{beside}{marks}\n",
        inner=tuple(lines[at + 1 : min(inner, end)]),
        beside=beside,
    )


def _parse_table(lines: list[str], at: int) -> _Piece | None:
    """Parse a table: its head, the rule below it, and its rows."""
    if "|" not in lines[at] or at + 1 == len(lines) or not _is_rule(lines[at + 1]):
        return None
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    head, rows = lines[at : at + 2], lines[at + 2 : end]
    return _Piece((*head, *rows), opens="".join(head), inner=tuple(rows))


def _is_rule(line: str) -> bool:
    return "|" in line and bool(_RULE.fullmatch(line.rstrip("\n")))


def _parse_paragraph(lines: list[str], at: int) -> _Piece:
    """Parse a paragraph with the blank lines after it. A heading stays with the text below it."""
    end = at + 1
    while end < len(lines) and not _begins(lines, end):
        end += 1
    own = tuple(lines[at:end])
    return _Piece(own, heading=bool(_HEADING.match(lines[at])), inner=own)


def _begins(lines: list[str], at: int) -> bool:
    """Whether a new piece begins with this line."""
    line = lines[at]
    if _HEADING.match(line) or _FENCE.fullmatch(line.rstrip("\n")) or _parse_table(lines, at):
        return True
    return bool(line.strip()) and not lines[at - 1].strip() and not _follows_heading(lines, at)


def _follows_heading(lines: list[str], at: int) -> bool:
    """Whether only blank lines are between this line and a heading above it."""
    at -= 1
    while at > 0 and not lines[at].strip():
        at -= 1
    return bool(_HEADING.match(lines[at]))


def _split_piece(piece: _Piece, limit: int) -> Iterator[_Piece]:
    """Split a piece that is too long, between lines or, where a line is too long, within it."""
    if piece.size <= limit:
        yield piece
        return
    if 2 * (len(piece.opens) + len(piece.closes) + len(piece.beside)) > limit:
        # opening and closing lines of this length cannot be repeated around every part
        piece = _Piece(piece.lines, heading=piece.heading, inner=piece.lines)
    room = limit - len(piece.opens) - len(piece.closes)
    for n, text in enumerate(_packed(piece.inner, room, piece.beside)):
        yield _Piece((piece.opens, text, piece.closes), heading=piece.heading and n == 0)


def _packed(lines: Iterable[str], room: int, prefix: str) -> Iterator[str]:
    """Join lines into as few texts as possible."""
    text = ""
    for line in (bit for whole in lines for bit in _short_lines(whole, room, prefix)):
        if text and len(text) + len(line) > room:
            yield text
            text = ""
        text += line
    if text:
        yield text


def _short_lines(line: str, room: int, beside: str) -> Iterator[str]:
    while len(line) > room:
        yield line[: room - 1] + "\n"
        line = beside + line[room - 1 :]
    yield line
