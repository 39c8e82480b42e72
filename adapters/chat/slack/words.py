"""Words between people and Slack: what a message says in plain text, and text that stays mere text in Slack."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.domain.masking import clean

UNSEEN = "\u200b"
"""A zero-width space. It parts what would be read as markup; `clean` takes it out of everything from outside."""

_TOKEN = re.compile(r"<([^<>\n]+)>|&(lt|gt|amp);")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&"}
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?://)?")
_ME = "\0"
"""Where the bot was mentioned. `clean` has taken out all others of its kind."""
# tried only where such a run begins: a message full of spaces is gone through once
_AROUND_ME = re.compile(rf"(?<![ \t])([ \t]*){_ME}(?:[ \t]*{_ME})*([ \t]*)")
_BEFORE_MY_NAME = re.compile(rf"\A(?:\s*{_ME}[ \t]*[:,、]?)+\s*")

_MARKERS = re.compile(r"[*_~`]+")
_QUOTES = re.compile(r"^([ \t]*)(?=&gt;)", re.MULTILINE)
_EMOJI = re.compile(r":(?=[a-z+-][a-z0-9_+'-]{0,80}:)")
_EVERYBODY = re.compile(r"@(?=(?:here|channel|everyone|group)\b)", re.IGNORECASE)
_LONG_BACKTICKS = re.compile(r"`{3,}")
# Markdown has other ways to write these letters, and whoever reads it makes them what they are
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
class Heard:
    """What somebody wrote, without Slack's markup."""

    text: str
    mentions_bot: bool = False
    mentions_first_other: bool = False
    """The first person or group that is mentioned is not the bot: it is said to somebody else."""


def plain(text: str, bot_id: str) -> Heard:
    """The text of a message event as the one who wrote it saw it, without the mention of the bot."""
    mentioned: list[str] = []

    def read(token: re.Match[str]) -> str:
        if token[2]:
            return _ENTITIES[token[2]]
        who = _mentioned(token[1])
        if who:
            mentioned.append(who)
        return _ME if who and who == bot_id else _unescaped(_token(token[1]))

    words = _TOKEN.sub(read, clean(text))
    words = _BEFORE_MY_NAME.sub("", words)
    words = _AROUND_ME.sub(_closed_up, words).strip()
    others_first = bool(mentioned) and mentioned[0] != bot_id
    return Heard(words, bot_id in mentioned, others_first)


def escaped(text: str, limit: int | None = None) -> str:
    """Plain text for mrkdwn: it mentions nobody, links nowhere and opens no markup. With a limit: cut, with "…"."""
    words = _without_tokens(clean(text))
    words = _MARKERS.sub(_parted, words)
    words = _QUOTES.sub(rf"\1{UNSEEN}", words)
    words = _EMOJI.sub(f":{UNSEEN}", words)
    words = _EVERYBODY.sub(f"@{UNSEEN}", words)
    return words if limit is None else cut_escaped(words, limit)


def cut_escaped(words: str, limit: int) -> str:
    """Cut what is escaped already: no half of an entity is left."""
    if len(words) <= limit:
        return words
    return _HALF_ENTITY.sub("", words[: limit - 1]) + "…"


def escaped_code(text: str) -> str:
    """Output of a program, for between two fences: it cannot end the fence, and can be copied."""
    words = _without_tokens(clean(text))
    words = _EVERYBODY.sub(f"@{UNSEEN}", words)
    return _LONG_BACKTICKS.sub(lambda run: UNSEEN.join(run[0]), words)


def harmless_markdown(text: str) -> str:
    """Markdown for a `markdown` block, which reads Slack's own mentions and links too: those become mere text."""
    words = _MENTION.sub(lambda opening: f"{opening[0]}{UNSEEN}", clean(text))
    words = _SLACK_LINK.sub(f"<{UNSEEN}", words)
    return _EVERYBODY.sub(f"@{UNSEEN}", words)


def on_one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _mentioned(token: str) -> str:
    """The id of the person or group a token mentions."""
    target = token.partition("|")[0]
    if target.startswith("@"):
        return target[1:]
    return target.removeprefix("!subteam^") if target.startswith("!subteam^") else ""


def _token(token: str) -> str:
    """What a reader sees of `<…>`."""
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
    """Slack makes a link of what looks like one: then the label is what was written."""
    if not label:
        return target
    bare = _SCHEME.sub("", target, count=1).rstrip("/")
    return label if label.rstrip("/") in (bare, target.rstrip("/")) else f"{label} ({target})"


def _unescaped(text: str) -> str:
    return re.sub("&(lt|gt|amp);", lambda entity: _ENTITIES[entity[1]], text)


def _closed_up(gap: re.Match[str]) -> str:
    """What is left where the bot's name stood: one space, none beside a line's end or a full stop."""
    before, after = gap.string[: gap.start()][-1:], gap.string[gap.end() :][:1]
    if before in ("", "\n") or after in ("", "\n"):
        return ""
    return "" if not gap[2] and after in ".,:;!?)、。" else " "


def _without_tokens(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _parted(run: re.Match[str]) -> str:
    """Markup begins and ends at the edge of a word: inside a word, as in snake_case, nothing need be parted."""
    before, after = run.string[: run.start()][-1:], run.string[run.end() :][:1]
    if before.isalnum() and after.isalnum() and "`" not in run[0]:
        return run[0]
    return UNSEEN + UNSEEN.join(run[0]) + UNSEEN
