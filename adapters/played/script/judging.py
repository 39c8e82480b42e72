"""How the played model judges: people's words, what a change touches, the next step, a plan."""

from __future__ import annotations

import re

from adapters.played.script.brief import Brief, Entry, entries, has, plain, strings, text
from adapters.played.script.pieces import PIECES, Piece, piece_in
from adapters.played.script.tasks import GONE

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
"""A specification with this word in it has a critical finding, until it is written anew with the findings."""
HOPELESS = ("hopeless contradiction", "解けない矛盾")
"""With these words it stays."""

_ASKS = re.compile(r"(?:what|when|why|how|which|who|where)\b|.*(?:\?|か。?)$", re.DOTALL)


def words(brief: Brief) -> dict[str, object]:
    """Talk, question or change? Whatever is neither of the first two is wanted different."""
    said, phrases = brief.text("said"), brief.texts.replies
    if asks(said):
        return {"kind": "question", "reply": state(brief), "reason": phrases.question}
    if chats(said):
        return {"kind": "talk", "reply": "", "reason": phrases.talk}
    return {"kind": "change", "reply": "", "reason": phrases.change}


def continuation(brief: Brief) -> dict[str, object]:
    said, phrases = brief.text("said"), brief.texts.replies
    if asks(said):
        return {"verdict": "talk", "reason": phrases.question, "reply": state(brief)}
    if chats(said):
        return {"verdict": "talk", "reason": phrases.talk, "reply": phrases.welcome}
    if has(said, ELSEWHERE) or brief.data.get("may_continue") is False:
        return {"verdict": "new", "reason": phrases.starts_new, "reply": ""}
    return {"verdict": "continue", "reason": phrases.goes_on, "reply": ""}


def asks(said: str) -> bool:
    return _ASKS.match(plain(said).strip()) is not None


def chats(said: str) -> bool:
    return plain(said).strip(" !.。").startswith(THANKS) and not has(said, WANTED)


def state(brief: Brief) -> str:
    """How things stand: an honest answer to whatever was asked."""
    phrases = brief.texts.replies
    session = brief.entry("session")
    names = tuple({"name": name} for name in strings(session, "tasks"))
    tasks = brief.entries("tasks") or entries(session, "tasks") or names
    told = " ".join(
        phrases.states.format(key=text(task, "key"), name=_name(task), state=text(task, "state"))
        for task in tasks
    )
    return f"{told or phrases.nobody_at_work} {phrases.played}"


def impact(brief: Brief) -> dict[str, object]:
    """The tasks that write what the change names, and those it names by their key."""
    phrases = brief.texts.replies
    affected = [
        {"key": text(task, "key"), "why": why}
        for task in brief.entries("tasks")
        if text(task, "state") not in GONE and (why := _touched(brief, task))
    ]
    reason = phrases.change if affected else phrases.untouched
    return {"reason": reason, "affected": affected}


def next_step(brief: Brief) -> dict[str, object]:
    """The usual one: the played model has no reason to think otherwise."""
    offered = [text(option, "id") for option in brief.entries("options")]
    usual = brief.text("default")
    choice = usual if usual in offered or not offered else offered[0]
    return {"choice": choice, "reason": brief.texts.replies.next_step}


def quality(brief: Brief) -> dict[str, object]:
    """A task that does not say when it is done spoils a breakdown."""
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


def _name(task: Entry) -> str:
    return text(task, "name") or text(task, "title")


def _touched(brief: Brief, task: Entry) -> str:
    """Why a task is affected; empty: it is not."""
    phrases, change = brief.texts.replies, brief.text("change")
    if re.search(rf"\b{re.escape(plain(text(task, 'key')))}\b", plain(change), re.ASCII):
        return phrases.named.format(key=text(task, "key"))
    cues = [cue for cue in _cues(task) if cue in plain(change)]
    return phrases.touched.format(name=_name(task), cues=", ".join(cues)) if cues else ""


def _cues(task: Entry) -> tuple[str, ...]:
    """What people call it: by the piece it writes, else by the longer words of its name."""
    piece = piece_in(strings(task, "files")) or _piece_named(_name(task))
    if piece:
        return piece.cues
    return tuple(word for word in re.findall(r"\w+", plain(_name(task))) if len(word) > 3)


def _piece_named(name: str) -> Piece | None:
    """The piece whose word stands first in a name: “Checkout with discounts” is the checkout."""
    places = {
        min(plain(name).find(cue) for cue in piece.cues if cue in plain(name)): piece
        for piece in PIECES.values()
        if has(name, piece.cues)
    }
    return places[min(places)] if places else None


def _finding(category: str, severity: str, where: str, summary: str, advice: str) -> dict[str, str]:
    told = {"where": where, "summary": summary, "recommendation": advice}
    return {"category": category, "severity": severity, **told}


def _contradicts_itself(brief: Brief) -> bool:
    spec = brief.text("spec")
    if has(spec, HOPELESS):
        return True
    settled = brief.entries("findings") or brief.texts.documents.settled in spec
    return has(spec, CONTRADICTION) and not settled
