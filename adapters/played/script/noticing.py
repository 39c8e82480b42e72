"""What the played model makes of wishes and of what was noticed: from their own words."""

from __future__ import annotations

from adapters.played.script.brief import Brief, Entry, entries, has, line, text

_KINDS = (
    ("fix", ("fix", "wrong", "bug", "crash", "修正", "不具合")),
    ("refactor", ("twice", "refactor", "same", "重複", "整理")),
    ("test", ("test", "テスト")),
    ("docs", ("document", "readme", "文書")),
)
_LONGEST_TITLE = 80


def estimate(brief: Brief) -> dict[str, object]:
    words = f"{brief.text('title')}\n{brief.text('body')}"
    return {"type": _kind(words), "risk": "med", "reason": brief.texts.replies.played}


def reflect(brief: Brief) -> dict[str, object]:
    """One proposal for all that rest on the same file."""
    groups: dict[str, list[Entry]] = {}
    for one in brief.entries("observations"):
        if text(one, "id") and line(text(one, "content")):
            groups.setdefault(_ground(one) or text(one, "id"), []).append(one)
    return {"proposals": [_proposal(brief, group) for group in list(groups.values())[:10]]}


def _proposal(brief: Brief, group: list[Entry]) -> dict[str, object]:
    contents = [line(text(one, "content")) for one in group]
    return {
        "title": contents[0][:_LONGEST_TITLE].rstrip(" ."),
        "body": "\n".join([*contents, brief.texts.replies.played]),
        "type": _kind("\n".join(contents)),
        "risk": "low",
        "observations": [text(one, "id") for one in group],
    }


def _kind(words: str) -> str:
    return next((kind for kind, cues in _KINDS if has(words, cues)), "feature")


def _ground(one: Entry) -> str:
    return next((text(ground, "ref") for ground in entries(one, "evidence")), "")
