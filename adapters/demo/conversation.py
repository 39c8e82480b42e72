"""How the simulated model interprets people: a request, answers in their own words, changes, questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.demo.brief import (
    PIECES,
    TOO_LARGE_CUES,
    Brief,
    DemoPiece,
    JsonObject,
    entries,
    mentions,
    normalize,
    piece_in,
    request_part,
    requested_pieces,
    strings,
    text,
)
from adapters.demo.planning import ENDED_STATES
from adapters.demo.texts import PlayedQuestion, languages

# Requests, and the answers people give in their own words.

PLAN_ONLY = (
    "only the plan",
    "plan only",
    "only show",
    "just show",
    "just the plan",
    "計画だけ",
    "プランだけ",
)
_SHOWN_CODE = re.compile(r"^### (\S+)\n(\d+):", re.MULTILINE)
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
    texts, part, earlier = brief.texts, request_part(brief), _named_session(brief)
    large = mentions(brief.request, TOO_LARGE_CUES) and part is None
    return {
        "title": part.title if part else texts.title,
        "type": "feature",
        "risk": "low",
        "risk_reasons": [texts.replies.risk],
        "dry_run": mentions(brief.request, PLAN_ONLY),
        "vague": "",
        "questions": [question.as_reply() for question in _open_questions(brief)],
        "parts": [{"title": p.title, "body": p.body} for p in texts.parts] if large else [],
        "continues": text(earlier, "id"),
        "continues_reason": texts.replies.continues.format(title=text(earlier, "title"))
        if earlier
        else "",
    }


def answers(brief: Brief) -> dict[str, object]:
    """Return the answers that can be assigned to a question; other questions stay open."""
    said = normalize(brief.text("said"))
    asked = [_OpenQuestion(number, q) for number, q in enumerate(brief.entries("questions"), 1)]
    found: dict[str, str] = {}
    unclear: list[str] = []
    if len(asked) == 1 and not asked[0].options:
        found[asked[0].id] = brief.text("said").strip()
    else:
        for clause in _clauses(said):
            _assign_clause(clause, asked, found, unclear)
    return {
        "answers": [{"id": id, "answer": answer} for id, answer in found.items()],
        "defaults": mentions(said, DEFAULTS),
        "unclear": [id for id in dict.fromkeys(unclear) if id not in found],
    }


def place_asked_for(brief: Brief) -> dict[str, object]:
    """Name the first piece of code that matches the question."""
    place = _SHOWN_CODE.search(brief.text("code"))
    where = f"{place[1]}:{place[2]}. " if place else ""
    return {"reply": where + brief.texts.replies.played}


def _named_session(brief: Brief) -> JsonObject:
    """Return the earlier session whose title the request names; the longest title wins."""
    titles = [(normalize(text(one, "title")), one) for one in brief.entries("earlier")]
    named = [(len(t), one) for t, one in titles if t and t in normalize(brief.request)]
    return max(named, key=lambda pair: pair[0])[1] if named else {}


def _open_questions(brief: Brief) -> list[PlayedQuestion]:
    """Return the questions about what is to be built, without those already decided."""
    built = {piece.name for piece in requested_pieces(brief)}
    decided = {text(d, "question") for d in brief.entries("decisions") if text(d, "answer")}
    return [
        question
        for number, question in enumerate(brief.texts.questions)
        if question.piece in built
        and not decided & {texts.questions[number].text for texts in languages()}
    ]


@dataclass(frozen=True)
class _OpenQuestion:
    """An open question, and its number among them."""

    number: int
    told: JsonObject

    @property
    def id(self) -> str:
        return text(self.told, "id") or f"D{self.number}"

    @property
    def options(self) -> list[str]:
        return strings(self.told, "options")

    def chosen(self, clause: str) -> list[str]:
        """Return the options a clause means: it contains the whole option, or words for it."""
        whole = [option for option in self.options if normalize(option) in clause]
        return whole or [
            o for o, cues in zip(self.options, self._cues(), strict=False) if mentions(clause, cues)
        ]

    def _cues(self) -> Sequence[tuple[str, ...]]:
        known = (q for texts in languages() for q in texts.questions)
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
    # A new clause begins at a full stop, a comma, an "and", and where a question is named by its id.
    for sentence in _CLAUSE.split(said):
        yield from re.split(r"(?=\bd[0-9]{1,2}(?![0-9]))", sentence)


def _assign_clause(
    clause: str, asked: Sequence[_OpenQuestion], found: dict[str, str], unclear: list[str]
) -> None:
    """Assign one clause to the question it is about, with its answer."""
    number, option, words = _parse_reference(clause, asked)
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


def _parse_reference(clause: str, asked: Sequence[_OpenQuestion]) -> tuple[int | None, int, str]:
    """Return the number of the question a clause refers to, the number of the option, and an answer in free text."""
    about, option, words = None, 0, ""
    by_id = _ID.search(clause)
    if by_id:
        about = next((one.number for one in asked if normalize(one.id) == f"d{by_id[1]}"), 0)
        words = by_id[2].strip()
    for found in _ORDINAL.finditer(clause):
        n = _ORDINALS[found["english"] or found["japanese"]]
        if about is None and (found["for"] or found["question"]):
            about = n
        else:
            option = n
    return about, option, words


# Judgements: of people's messages, of what a change affects, of the next step, of a plan.

THANKS = (
    "thank",
    "thx",
    "ok",
    "okay",
    "nice",
    "great",
    "cool",
    "good work",
    "well done",
    "perfect",
)
THANKS += ("ありがとう", "了解", "お疲れ", "いいね", "素晴らしい")
WANTED = ("make", "change", "add", "use ", "print", "please", "should", "instead", "want", "remove")
WANTED += ("columns", "桁", "して", "ください", "変え", "追加", "欲しい", "ほしい")
"""Words of somebody who wants something else, however friendly they begin."""
ELSEWHERE = ("completely different", "entirely different", "another project", "different shop")
ELSEWHERE += ("unrelated", "new project", "全く別", "まったく別", "別のプロジェクト", "別の店")
CONTRADICTION = ("contradiction", "矛盾")
"""A specification with this word has a critical finding, until it is rewritten with the findings."""
LASTING_CONTRADICTION = ("hopeless contradiction", "解けない矛盾")
"""With these words the finding stays."""

_ASKS = re.compile(r"(?:what|when|why|how|which|who|where)\b|.*(?:\?|か。?)$", re.DOTALL)


def classify_message(brief: Brief) -> dict[str, object]:
    """Classify a message as talk, question or change; whatever is neither of the first two is a change."""
    said, phrases = brief.text("said"), brief.texts.replies
    if asks(said):
        return {"kind": "question", "reply": describe_state(brief), "reason": phrases.question}
    if chats(said):
        return {"kind": "talk", "reply": "", "reason": phrases.talk}
    return {"kind": "change", "reply": "", "reason": phrases.change}


def continuation(brief: Brief) -> dict[str, object]:
    said, phrases = brief.text("said"), brief.texts.replies
    if asks(said):
        return {"verdict": "talk", "reason": phrases.question, "reply": describe_state(brief)}
    if chats(said):
        return {"verdict": "talk", "reason": phrases.talk, "reply": phrases.welcome}
    if mentions(said, ELSEWHERE) or brief.data.get("may_continue") is False:
        return {"verdict": "new", "reason": phrases.starts_new, "reply": ""}
    return {"verdict": "continue", "reason": phrases.goes_on, "reply": ""}


def asks(said: str) -> bool:
    return _ASKS.match(normalize(said).strip()) is not None


def chats(said: str) -> bool:
    return normalize(said).strip(" !.。").startswith(THANKS) and not mentions(said, WANTED)


def describe_state(brief: Brief) -> str:
    """Return a factual description of the state, as the answer to any question."""
    phrases = brief.texts.replies
    session = brief.entry("session")
    names = tuple({"name": name} for name in strings(session, "tasks"))
    tasks = brief.entries("tasks") or entries(session, "tasks") or names
    told = " ".join(
        phrases.states.format(key=text(task, "key"), name=_name(task), state=text(task, "state"))
        for task in tasks
    )
    return f"{told or phrases.nobody_at_work} {phrases.played}"


def affected_tasks(brief: Brief) -> dict[str, object]:
    """Return the tasks that produce what the change names, and those it names by their key."""
    phrases = brief.texts.replies
    affected = [
        {"key": text(task, "key"), "why": why}
        for task in brief.entries("tasks")
        if text(task, "state") not in ENDED_STATES and (why := _reason_affected(brief, task))
    ]
    reason = phrases.change if affected else phrases.untouched
    return {"reason": reason, "affected": affected}


def next_step(brief: Brief) -> dict[str, object]:
    """Choose the default step, if it is offered."""
    offered = [text(option, "id") for option in brief.entries("options")]
    usual = brief.text("default")
    choice = usual if usual in offered or not offered else offered[0]
    return {"choice": choice, "reason": brief.texts.replies.next_step}


def judge_plan(brief: Brief) -> dict[str, object]:
    """Judge a plan; a task without acceptance criteria lowers its score."""
    phrases = brief.texts.replies
    issues = [
        phrases.no_acceptance.format(key=text(task, "key"))
        for task in brief.entries("tasks")
        if not strings(task, "acceptance")
    ]
    return {"score": 40 if issues else 90, "issues": issues}


def analyse(brief: Brief) -> dict[str, object]:
    phrases = brief.texts.replies
    findings = [_finding("underspecification", "LOW", "plan.md", phrases.finding, phrases.advice)]
    if _contradicts_itself(brief):
        told = phrases.contradiction, phrases.contradiction_advice
        findings.insert(0, _finding("inconsistency", "CRITICAL", "spec.md", *told))
    return {"findings": findings}


def _name(task: JsonObject) -> str:
    return text(task, "name") or text(task, "title")


def _reason_affected(brief: Brief, task: JsonObject) -> str:
    """Return why a task is affected; empty if it is not."""
    phrases, change = brief.texts.replies, brief.text("change")
    if re.search(rf"\b{re.escape(normalize(text(task, 'key')))}\b", normalize(change), re.ASCII):
        return phrases.named.format(key=text(task, "key"))
    cues = [cue for cue in _cues(task) if cue in normalize(change)]
    return phrases.touched.format(name=_name(task), cues=", ".join(cues)) if cues else ""


def _cues(task: JsonObject) -> tuple[str, ...]:
    """Return words people use for a task: those of its module, or else the longer words of its name."""
    piece = piece_in(strings(task, "files")) or _piece_named(_name(task))
    if piece:
        return piece.cues
    return tuple(word for word in re.findall(r"\w+", normalize(_name(task))) if len(word) > 3)


def _piece_named(name: str) -> DemoPiece | None:
    """Return the module whose word comes first in a name: “Checkout with discounts” is the checkout."""
    places = {
        min(normalize(name).find(cue) for cue in piece.cues if cue in normalize(name)): piece
        for piece in PIECES.values()
        if mentions(name, piece.cues)
    }
    return places[min(places)] if places else None


def _finding(category: str, severity: str, where: str, summary: str, advice: str) -> dict[str, str]:
    told = {"where": where, "summary": summary, "recommendation": advice}
    return {"category": category, "severity": severity, **told}


def _contradicts_itself(brief: Brief) -> bool:
    spec = brief.text("spec")
    if mentions(spec, LASTING_CONTRADICTION):
        return True
    settled = brief.entries("findings") or brief.texts.documents.settled in spec
    return mentions(spec, CONTRADICTION) and not settled
