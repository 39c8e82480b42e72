"""What was asked for, the questions it raised, and requests that are too vague to be planned."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum

from pydantic import AwareDatetime

from bot.core.facts import Fact
from bot.core.languages import JAPANESE
from bot.core.states import INTENTS, IntentStatus, move


class Risk(StrEnum):
    LOW = "low"
    MED = "med"
    HIGH = "high"


class Source(StrEnum):
    HUMAN = "human"
    REFLECTION = "reflection"


class Question(Fact):
    """A question to be answered before planning. `answer` is `None` while it is open."""

    number: int
    """The number of the decision: D1, D2 …"""
    text: str
    why: str = ""
    options: tuple[str, ...] = ()
    """The recommended option first. Empty if a free answer is wanted."""
    default: str = ""
    """Empty if only the user can know the answer."""
    answer: str | None = None
    answered_by: str = ""
    answered_at: AwareDatetime | None = None
    tests: bool = False
    """The answer is the test command, unless it is one of the options."""

    @property
    def decision(self) -> str:
        return f"D{self.number}"


class Vague(StrEnum):
    """A request too vague to be planned, by the fixed question it needs."""

    CREATE = "create"
    """Create, add, update: which file or path?"""
    CHANGE = "change"
    """Fix, change, modify: which feature or place?"""


class Intent(Fact):
    """One request. One session carries it out."""

    id: str = ""
    title: str = ""
    body: str = ""
    type: str = "feature"
    source: Source = Source.HUMAN
    risk: Risk | None = None
    risk_reasons: tuple[str, ...] = ()
    status: IntentStatus = IntentStatus.PROPOSED
    parent: str | None = None
    clarifications: tuple[Question, ...] = ()
    created_at: AwareDatetime | None = None

    def become(self, status: IntentStatus) -> Intent:
        return self.model_copy(update={"status": move(INTENTS, self.status, status)})

    def with_question(self, question: Question) -> Intent:
        """Return a copy with this question in place of the one with the same number."""
        questions = tuple(
            question if other.number == question.number else other for other in self.clarifications
        )
        return self.model_copy(update={"clarifications": questions})

    @property
    def open_questions(self) -> tuple[Question, ...]:
        return tuple(question for question in self.clarifications if question.answer is None)


# Requests too vague to be planned, and the one question that each needs. Only plainly empty ones count: `fix it` says
# nothing; `fix the login` is a request, and the model judges whether it says enough.

_POLITE = re.compile(
    r"\b(?:please|pls|plz|kindly|just|now|asap|quickly|thanks?|thank you|(?:can|could|would|will) you"
    r"|i (?:want|need) you to|i(?:'d| would) like you to|let's|for me|hey|hi|hello|bot)\b"
)
_THING = (
    r"(?: (?:it|this|that|these|those|them|something|anything|stuff|things?|everything|here)"
    r"| (?:the |an? |my |our |some |this |that )?(?:new )?"
    r"(?:files?|code|bugs?|issues?|errors?|problems?|program|app|application|feature|features|function|part|place))"
)
_ENGLISH = {
    Vague.CREATE: re.compile(
        rf"(?:add|create|update|make|write|implement|build|generate){_THING}?"
    ),
    Vague.CHANGE: re.compile(
        rf"(?:(?:fix|change|modify|repair|correct|edit|improve|adjust|debug|refactor|clean up){_THING}?(?: up)?"
        r"|make it (?:work|better|good|nicer|faster)|it (?:does not|doesn't|doesnt) work|it(?:'s| is) broken)"
    ),
}
_JAPANESE_THING = (
    r"(?:(?:これ|それ|あれ|ここ|そこ|何か|なにか|なんか|全部|すべて)"
    r"|(?:この|その|あの|新しい|新規)?(?:ファイル|コード|プログラム|アプリ|機能|バグ|不具合|エラー|問題|箇所|部分))"
    r"(?:を|の|も|が|に)?"
)
_JAPANESE_END = (
    r"(?:を?(?:お願い(?:し(?:ます|たい(?:です)?))?)"
    r"|(?:し|て|って|いて|えて|って)?(?:て|で)?(?:おいて)?(?:下さい|ください|くれ|ほしい(?:です)?|欲しい(?:です)?|もらえますか)?"
    r"|する|したい(?:です)?|しろ|せよ|す|る|く|う|い)"
)
_JAPANESE = {
    Vague.CREATE: re.compile(
        rf"(?:{_JAPANESE_THING})?(?:追加|新規作成|作成|作|つく|更新|生成|実装|書い|書)(?:っ|り)?{_JAPANESE_END}"
    ),
    Vague.CHANGE: re.compile(
        rf"(?:{_JAPANESE_THING})?(?:修正|修理|直し|直|なおし|なお|変更|変え|かえ|改善|訂正|改修){_JAPANESE_END}"
    ),
}
_QUESTIONS = {
    Vague.CREATE: (
        "Which file or path is it about?",
        "対象のファイル名またはパスを指定してください。",
    ),
    Vague.CHANGE: (
        "Which feature or place is to be changed? (For instance a command, an error message, a file.)",
        "どの機能/箇所を修正しますか？（例: コマンド名、エラー文、対象ファイル）",
    ),
}
_LONGEST_VAGUE = 80


def vague_request(text: str) -> Vague | None:
    """Return what a request lacks that is only a verb, or `None` if it says anything more."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if len(plain.strip()) > _LONGEST_VAGUE:
        return None
    plain = re.sub(r"[^\w']+", " ", plain)
    english = " ".join(_POLITE.sub(" ", plain).split())
    japanese = "".join(plain.split())
    for kind in Vague:
        if _ENGLISH[kind].fullmatch(english) or _JAPANESE[kind].fullmatch(japanese):
            return kind
    return None


def fixed_question(vague: Vague, language: str) -> Question:
    """Return the question for such a request. It has no default, as only the user can know the answer."""
    english, japanese = _QUESTIONS[vague]
    return Question(number=1, text=japanese if language == JAPANESE else english)


# The type of a request, guessed from its words. Used if no model answers.

_TYPES = (
    ("fix", r"\b(?:fix|bug|broken|wrong|crash|error|fail)\w*|修正|バグ|不具合|直[すし]"),
    ("refactor", r"\b(?:refactor|clean up|simplif|rename|dedup|duplicate)\w*|リファクタ|整理|重複"),
    ("test", r"\b(?:tests?|coverage)\b|テスト"),
    ("docs", r"\b(?:docs?|documentation|readme|comment)\b|ドキュメント|文書"),
    ("audit", r"\b(?:audit|investigat|review|look into|find out)\w*|調査|監査"),
)


def guess_type(text: str) -> str:
    """Return the first type with a matching word, or "feature"."""
    lower = text.casefold()
    return next((kind for kind, words in _TYPES if re.search(words, lower)), "feature")
