"""How the played model reads a request, and the answers people give in their own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.played.script.brief import LANGUAGES, Brief, Entry, has, plain, strings, text
from adapters.played.script.pieces import TOO_LARGE, asked_for, part_of
from adapters.played.script.request import PlayedQuestion

PLAN_ONLY = (
    "only the plan",
    "plan only",
    "only show",
    "just show",
    "just the plan",
    "計画だけ",
    "プランだけ",
)
DEFAULTS = (
    "default",
    "as you like",
    "as you see fit",
    "as you think",
    "up to you",
    "おまかせ",
    "お任せ",
    "任せます",
    "デフォルト",
    "既定",
)


def clarify(brief: Brief) -> dict[str, object]:
    texts, part, earlier = brief.texts, part_of(brief), _named(brief)
    large = has(brief.request, TOO_LARGE) and part is None
    return {
        "title": part.title if part else texts.title,
        "type": "feature",
        "risk": "low",
        "risk_reasons": [texts.replies.risk],
        "dry_run": has(brief.request, PLAN_ONLY),
        "vague": "",
        "questions": [question.as_reply() for question in _open(brief)],
        "parts": [{"title": p.title, "body": p.body} for p in texts.parts] if large else [],
        "continues": text(earlier, "id"),
        "continues_reason": texts.replies.continues.format(title=text(earlier, "title"))
        if earlier
        else "",
    }


def answers(brief: Brief) -> dict[str, object]:
    """What can be mapped to a question; the rest stays open."""
    said = plain(brief.text("said"))
    asked = [_Asked(number, q) for number, q in enumerate(brief.entries("questions"), 1)]
    found: dict[str, str] = {}
    unclear: list[str] = []
    if len(asked) == 1 and not asked[0].options:
        found[asked[0].id] = brief.text("said").strip()
    else:
        for clause in _clauses(said):
            _read(clause, asked, found, unclear)
    return {
        "answers": [{"id": id, "answer": answer} for id, answer in found.items()],
        "defaults": has(said, DEFAULTS),
        "unclear": [id for id in dict.fromkeys(unclear) if id not in found],
    }


def _named(brief: Brief) -> Entry:
    """The earlier session that the request names by its title, the longest one."""
    titles = [(plain(text(one, "title")), one) for one in brief.entries("earlier")]
    named = [(len(t), one) for t, one in titles if t and t in plain(brief.request)]
    return max(named, key=lambda pair: pair[0])[1] if named else {}


def _open(brief: Brief) -> list[PlayedQuestion]:
    """The questions about what is to be built, but for those that are decided already."""
    built = {piece.name for piece in asked_for(brief)}
    decided = {text(d, "question") for d in brief.entries("decisions") if text(d, "answer")}
    return [
        question
        for number, question in enumerate(brief.texts.questions)
        if question.piece in built
        and not decided & {texts.questions[number].text for texts in LANGUAGES}
    ]


@dataclass(frozen=True)
class _Asked:
    """An open question, and its place among them."""

    number: int
    told: Entry

    @property
    def id(self) -> str:
        return text(self.told, "id") or f"D{self.number}"

    @property
    def options(self) -> list[str]:
        return strings(self.told, "options")

    def chosen(self, clause: str) -> list[str]:
        """The options that a clause means: it holds the whole option, or words that mean it."""
        whole = [option for option in self.options if plain(option) in clause]
        return whole or [
            o for o, cues in zip(self.options, self._cues(), strict=False) if has(clause, cues)
        ]

    def _cues(self) -> Sequence[tuple[str, ...]]:
        known = (q for texts in LANGUAGES for q in texts.questions)
        return next((q.cues for q in known if q.text == text(self.told, "text")), ())


_CLAUSE = re.compile(r"[;\n。、,]|\.(?:\s|$)|\band\b|\bbut\b")
_ID = re.compile(r"\bd([0-9]{1,2})(?![0-9])\s*(?:[:=)\-]|は|is\b)?\s*(.*)")
_ORDINALS = {
    **{
        word: n
        for n, words in enumerate(
            ("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"), 1
        )
        for word in words.split()
    },
    **{kanji: n for n, kanji in enumerate("一二三四五", 1)},
    **{str(n): n for n in range(1, 6)},
}
_ORDINAL = re.compile(
    r"(?P<for>(?:for|to|on) the )?"
    r"(?:\b(?P<english>first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th)\b"
    r"|(?P<japanese>[1-5一二三四五])(?:つ目|番目|番|問目))"
    r"(?P<question>\s*question|の?(?:質問|問題)|\s*[:=]|\s+is\b|は)?"
)


def _clauses(said: str) -> Iterator[str]:
    """A new clause begins at a full stop, a comma, an "and", and where a question is named by its id."""
    for sentence in _CLAUSE.split(said):
        yield from re.split(r"(?=\bd[0-9]{1,2}(?![0-9]))", sentence)


def _read(clause: str, asked: Sequence[_Asked], found: dict[str, str], unclear: list[str]) -> None:
    """One clause: which question is it about, and what is the answer?"""
    number, option, words = _pointed(clause, asked)
    if number is None:
        meant = [(one, one.chosen(clause)) for one in asked if one.id not in found]
        found |= {one.id: options[0] for one, options in meant if len(options) == 1}
        unclear += [one.id for one, options in meant if len(options) > 1]
        return
    one = next((one for one in asked if one.number == number), None)
    if one is None:
        return
    options = one.options[option - 1 : option] if option else one.chosen(clause)
    if len(options) == 1 or words:
        found[one.id] = options[0] if len(options) == 1 else words
    else:
        unclear.append(one.id)


def _pointed(clause: str, asked: Sequence[_Asked]) -> tuple[int | None, int, str]:
    """The place of the question that is pointed at, the place of the option, and an answer in free words."""
    about, option, words = None, 0, ""
    by_id = _ID.search(clause)
    if by_id:
        about = next((one.number for one in asked if plain(one.id) == f"d{by_id[1]}"), 0)
        words = by_id[2].strip()
    for found in _ORDINAL.finditer(clause):
        n = _ORDINALS[found["english"] or found["japanese"]]
        if about is None and (found["for"] or found["question"]):
            about = n
        else:
            option = n
    return about, option, words
