"""Requests that nobody could plan, and the one question that mends them. Only what is plainly empty is taken for it.

`fix it` says nothing; `fix the login` is a request, and whether it says enough is for the model to judge.
"""

from __future__ import annotations

import re
import unicodedata

from bot.domain.intent import Question, Vague
from bot.domain.language import JAPANESE

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
_LONGEST = 80


def vague(text: str) -> Vague | None:
    """What a request lacks that is nothing but a verb; none where it says anything at all."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if len(plain.strip()) > _LONGEST:
        return None
    plain = re.sub(r"[^\w']+", " ", plain)
    english = " ".join(_POLITE.sub(" ", plain).split())
    japanese = "".join(plain.split())
    for kind in Vague:
        if _ENGLISH[kind].fullmatch(english) or _JAPANESE[kind].fullmatch(japanese):
            return kind
    return None


def fixed_question(vague: Vague, language: str) -> Question:
    """The question that such a request gets. Only the person can know the answer, so there is no default."""
    english, japanese = _QUESTIONS[vague]
    return Question(number=1, text=japanese if language == JAPANESE else english)
