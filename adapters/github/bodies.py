"""The texts of a pull request. Pure. Its rule: what the bot wrote it may change, what people wrote stays as it is.

The bot's part stands between two marks that people do not see. The first holds a digest of what the bot wrote last, so that
a part that people have changed is known to be theirs from then on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

LONGEST_BODY = 63_000
LONGEST_TITLE = 250
MARK = "<!-- gwt-bot"
_PART = re.compile(
    r"<!-- gwt-bot title=([0-9a-f]{12}) text=([0-9a-f]{12}) draft=([01]) -->\n(.*?)\n<!-- /gwt-bot -->",
    re.DOTALL,
)
_MENTION = re.compile(r"@(?=[A-Za-z0-9])")
_CLOSING = re.compile(
    r"\b(clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)"
    r"(\s*:?\s+)(?=(?:[A-Za-z0-9._-]+/[A-Za-z0-9._-]+)?(?:\#|GH-)[0-9]|https?://)",
    re.IGNORECASE,
)
_OWN_MARK = re.compile(r"(?<!\n)\n*(<!-- gwt-bot [A-Za-z0-9=_-]{1,80} -->)\s*\Z")
"""With which a text of the bot's may end; anything else that looks like a mark is not ours."""
_UNSEEN = "\u2060"
"""Takes no room and joins what it stands between, so a line breaks nowhere new."""
_FRAME = 200
"""The two marks around it are shorter."""
_CUT = "\n\n… (shortened)"


@dataclass(frozen=True)
class Part:
    """The bot's own part of a body, as it was found."""

    start: int
    end: int
    draft: bool
    title_digest: str
    untouched: bool
    """Nobody has changed it since the bot wrote it."""


def neutral(text: str) -> str:
    """Text of a model's that mentions nobody and closes nothing, though it reads the same."""
    calmed = _CLOSING.sub(rf"\1{_UNSEEN}\2{_UNSEEN}", _MENTION.sub(f"@{_UNSEEN}", text))
    # what looks like our mark would let the text pass for the bot's part
    return calmed.replace("<!--", f"<{_UNSEEN}!--")


def title_of(text: str) -> str:
    """One line, not too long, that mentions nobody."""
    line = neutral(" ".join(text.split()))
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"


def body_of(text: str, title: str, *, draft: bool, title_digest: str = "") -> str:
    """The bot's part of a body. `title_digest`: that of the title the bot gave, where people have chosen another."""
    text = lines_of(text)
    mark = _OWN_MARK.search(text)
    end = f"\n\n{mark.group(1)}" if mark else ""
    calm = neutral(text[: mark.start()] if mark else text).strip("\n")
    room = LONGEST_BODY - len(end) - _FRAME
    if len(calm) > room:
        calm = calm[: room - len(_CUT)] + _CUT
    calm += end
    about = title_digest or digest(title)
    head = f"{MARK} title={about} text={digest(calm)} draft={int(draft)} -->"
    return f"{head}\n{calm}\n<!-- /gwt-bot -->"


def part_in(body: str) -> Part | None:
    """Where the bot's part stands; None: there is none, so the whole text is somebody else's."""
    found = _PART.search(body)
    if found is None:
        return None
    return Part(
        start=found.start(),
        end=found.end(),
        draft=found.group(3) == "1",
        title_digest=found.group(1),
        untouched=digest(found.group(4)) == found.group(2),
    )


def with_part(body: str, part: Part, new: str) -> str:
    """The body with the bot's part replaced, and everything around it kept."""
    return body[: part.start] + new + body[part.end :]


def lines_of(body: str) -> str:
    """A text that was edited on the web has other line ends."""
    return body.replace("\r\n", "\n")


def digest(text: str) -> str:
    return sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:12]
