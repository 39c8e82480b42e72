"""The same card with other words on it: very long ones, Japanese, hostile, none. What is no text for people stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from bot.core.cards import Card, QuestionsCard

Words = Callable[[str], str]
_NOT_FOR_PEOPLE = frozenset(
    {"about", "digest", "id", "key", "kind", "offer", "platform", "spec_id", "state", "workspace",
     "channel", "root", "commit"}
)  # fmt: skip
_LONG = (
    " which nobody would read to its end, though it must wrap well and leave room for what stands below it, as on a "
    "narrow screen in particular"
)
_JAPANESE = (
    "設定画面にダークモードの切り替えを追加し、選んだ外観を再読み込みの後も、ブラウザを再起動した後も保持すること。"
    "利用者が何も選んでいない場合は、端末の設定に従う。"
)
_HOSTILE = (
    "<!channel> <@U0001> </div><script>alert(1)</script> *bold* _it_ ~no~ `code` ```fence :tada: "
    "<https://evil.example|your bank> [Approve](https://evil.example) \u202emoc.live\u202c zero\u200bwidth @here "
    "&lt;!here&gt; > quoted # head | cell | ✅ Approved by Mika [ Approve ]"
)


@dataclass(frozen=True)
class Variant:
    name: str
    words: Words | None
    times: int = 1
    """So many of everything that is a list."""

    def of(self, card: Card) -> Card:
        if self.words is None:
            return card
        content = {
            name: value if name == "key" else self._other(name, value)
            for name, value in card.model_dump().items()
        }
        made = type(card).model_validate({**content, "kind": card.kind})
        return _numbered(made) if isinstance(made, QuestionsCard) else made

    def _other(self, name: str, value: object, *, grows: bool = True) -> object:
        if name in _NOT_FOR_PEOPLE:
            return value
        if type(value) is str:
            return self.words(value) if self.words and value else value
        if isinstance(value, dict):
            inner = cast("dict[str, object]", value)
            return {key: self._other(key, one) for key, one in inner.items()}
        if isinstance(value, tuple | list):
            found = cast("list[object]", value)
            times = self.times if grows and name != "head" else 1
            return tuple(self._other(name, one, grows=False) for one in found) * times
        return value


def _numbered(card: QuestionsCard) -> QuestionsCard:
    questions = tuple(
        question.model_copy(update={"number": number})
        for number, question in enumerate(card.questions, 1)
    )
    return card.model_copy(update={"questions": questions})


def _longer(text: str) -> str:
    return f"{text}{_LONG}" if len(text) > 3 else text


def _japanese(text: str) -> str:
    """About as wide as it was: such letters are twice as wide."""
    wanted = max(2, len(text) // 2)
    return (_JAPANESE * (wanted // len(_JAPANESE) + 1))[:wanted]


VARIANTS = (
    Variant("short", None),
    Variant("long", _longer, times=4),
    Variant("japanese", _japanese),
    Variant("hostile", lambda text: _HOSTILE),
    Variant("empty", lambda text: ""),
)
