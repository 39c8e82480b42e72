"""Anything that may stand on a card, and what Slack would say to the message that comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar, cast

from hypothesis import strategies as st

from adapters.slack.blocks.kit import SlackMessage, text_length
from bot.core.cards import AnswerCard, Card, QuestionsCard
from bot.core.choices import Choice, Style, Verb
from bot.core.intent import Question
from bot.core.people import Thread
from bot.core.sheets import (
    Bullets,
    Code,
    Element,
    Entries,
    Entry,
    Fields,
    Pointer,
    Prose,
    Table,
    Text,
    Tone,
)
from tests.beds.slack.validation import wrong_in_blocks

HOSTILE = (
    "<!channel> <@U1> <#C1|general> <http://evil.example|your bank> @here @channel",
    "```",
    "`` ` ```\n```` \n```",
    "*",
    "*bold* _it_ ~no~ `code` :tada:",
    "> quoted\n# head\n- item",
    "&lt;!here&gt; &amp;",
    "x" * 20_000,
    "<>&" * 7_000,
    "設定は次回の起動時にも保存されること。" * 1_100,
    "line\n" * 4_000,
    "```\n" + "_" * 20_000,
    "",
    " \n\t ",
    "\x00\x1b[31mred\x1b[0m\x07\u202e\u200b",
    "👩‍💻🇯🇵",
    '"\\' * 400,
)
_Item = TypeVar("_Item")
words = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


def few(of: st.SearchStrategy[_Item], most: int = 6) -> st.SearchStrategy[tuple[_Item, ...]]:
    return st.lists(of, max_size=most).map(lambda found: tuple(found))


choices = st.builds(
    Choice,
    label=words,
    verb=st.sampled_from(Verb),
    about=words,
    style=st.sampled_from(Style),
    asks=words,
    confirm=words,
)
threads = st.builds(
    Thread,
    platform=st.sampled_from(("slack", "matrix")),
    workspace=st.just("T0001") | words,
    channel=st.just("C0001") | words,
    root=st.just("1794988193.000100") | words,
)
entries = st.builds(
    Entry,
    title=words,
    facts=few(words),
    thread=st.none() | threads,
    choices=few(choices, 7),
)
elements: st.SearchStrategy[Element] = st.one_of(
    st.builds(Text, text=words, strong=st.booleans()),
    st.builds(Fields, pairs=few(st.tuples(words, words), 20)),
    st.builds(Bullets, items=few(words)),
    st.builds(Table, head=few(words), rows=few(few(words, 25), 20)),
    st.builds(Code, text=words),
    st.builds(Prose, name=words, markdown=words),
    st.builds(Pointer, text=words, thread=threads),
    st.builds(Entries, items=few(entries, 25)),
)
answer_cards = st.builds(
    AnswerCard,
    key=words,
    title=words,
    tone=st.sampled_from(Tone),
    body=few(elements, 12),
    choices=few(choices, 12),
)


@st.composite
def question_cards(draw: st.DrawFn) -> QuestionsCard:
    """Questions have a number each, and an answer now and then."""
    options = st.lists(words, max_size=4) | st.just([str(n) for n in range(40)])
    asked = tuple(
        Question(
            number=number,
            text=draw(words),
            why=draw(words),
            options=tuple(draw(options)),
            default=draw(words),
            answer=draw(st.none() | words),
        )
        for number in range(1, draw(st.integers(0, 4)) + 1)
    )
    return QuestionsCard(key=draw(words), questions=asked)


def with_everywhere(card: Card, text: str, times: int = 1) -> Card:
    """The card with one text wherever a text may stand, and `times` as much of everything that is a list."""
    content = {name: _filled(value, text, times) for name, value in card.model_dump().items()}
    return type(card).model_validate({**content, "kind": card.kind})


def _filled(value: object, text: str, times: int) -> object:
    if type(value) is str:
        return text
    if isinstance(value, dict):
        inner = cast("dict[str, object]", value)
        return {
            key: one if key == "kind" else _filled(one, text, times) for key, one in inner.items()
        }
    if isinstance(value, tuple | list):
        return tuple(_filled(one, text, times) for one in cast("list[object]", value)) * times
    return value


def wrong_in(message: SlackMessage) -> list[str]:
    """What Slack would refuse, and what we promise beyond that."""
    wrong = wrong_in_blocks(message.blocks)
    if not 1 <= len(message.text) <= 300:
        wrong.append(f"a fallback of {len(message.text)} characters")
    if not message.blocks:
        wrong.append("no blocks")
    if text_length(message.blocks) > 8_000:
        wrong.append(f"{text_length(message.blocks)} characters in all")
    wrong += [f"blank text in {one}" for one in texts_of(message.blocks) if not one.strip()]
    return wrong


def texts_of(content: object) -> Iterator[str]:
    """Every text in blocks or a view, whatever reads it."""
    if isinstance(content, dict):
        for key, value in cast("dict[str, object]", content).items():
            if key == "text" and isinstance(value, str):
                yield value
            else:
                yield from texts_of(value)
    elif isinstance(content, list):
        for one in cast("list[object]", content):
            yield from texts_of(one)


def parts_of(content: object, kind: str) -> Iterator[dict[str, Any]]:
    """Everything of that type, at any depth."""
    if isinstance(content, dict):
        block = cast("dict[str, Any]", content)
        if block.get("type") == kind:
            yield block
        for value in block.values():
            yield from parts_of(value, kind)
    elif isinstance(content, list):
        for one in cast("list[object]", content):
            yield from parts_of(one, kind)


def texts_in_markup(content: object) -> Iterator[str]:
    """Every text in which Slack reads markup."""
    for kind in ("mrkdwn", "markdown"):
        yield from (part["text"] for part in parts_of(content, kind))
