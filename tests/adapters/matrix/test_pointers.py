"""What leads to another thread, and the card of a very large plan, as messages of Matrix."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from adapters.matrix.cards import DrawnMessage, draw_card
from adapters.matrix.reactions import seeded_keys
from adapters.matrix.sending import edit_content, message_content
from bot.core.cards import AnswerCard, ApprovalCard, Card, QuestionsCard
from bot.core.choices import Verb
from bot.core.intent import Question
from bot.core.layout import lay_out
from bot.core.people import Thread
from bot.core.plan import Alteration, Altered, Analysis, Difference, Finding, Severity
from bot.core.sheets import Pointer
from tests.fakes import cards

THREAD = Thread(platform="matrix", channel="!room:example.org", root="$event_-1")
LINK = "https://matrix.to/#/!room:example.org/$event_-1"
LARGEST = 65_536
SOME = '利用者は "設定" を選べる; <b>the settings page</b> must remember it & say so. '


def pointing(text: str, thread: Thread = THREAD) -> DrawnMessage:
    card = AnswerCard(key="a", title="", body=(Pointer(text=text, thread=thread),))
    (message,) = draw_card(card)
    return message


def links(message: DrawnMessage) -> list[str]:
    return [unescape(one) for one in re.findall(r'href="([^"]*)"', message.html)]


def event_size(message: DrawnMessage) -> int:
    sent = (message_content(message, "$root" * 10, "@a:b"), edit_content(message, "$event" * 10))
    return max(len(json.dumps(content, ensure_ascii=False).encode()) for content in sent)


def test_a_pointer_is_a_link_to_the_first_message_of_the_thread() -> None:
    message = pointing("Payments")
    assert f'→ <a href="{LINK}">Payments</a>' in message.html
    assert f"→ Payments: {LINK}" in message.body


def test_what_is_no_message_of_matrix_is_mere_words() -> None:
    for change in ({"platform": "slack"}, {"root": ""}, {"channel": "@anna:hs"}, {"root": "x"}):
        message = pointing("Payments", THREAD.model_copy(update=change))
        assert links(message) == []
        assert "→ Payments" in message.body
        assert "matrix.to" not in message.body


@pytest.mark.parametrize(
    "text",
    ['"><a href="https://evil.org">', "@room @anna:hs https://evil.org", "[x](javascript:1)", ""],
)
def test_words_cannot_change_where_a_link_leads(text: str) -> None:
    message = pointing(text)
    assert links(message) == [LINK]
    assert message.html.count("<a ") == message.html.count("</a>") == 1
    assert "@room" not in message.html


def test_an_id_cannot_break_out_of_the_link() -> None:
    thread = THREAD.model_copy(update={"root": '$x"><img src=y>', "channel": "!a/../@anna:hs"})
    message = pointing("Payments", thread)
    (link,) = links(message)
    assert "<img" not in message.html
    assert link.count("/") == LINK.count("/")


def test_a_long_pointer_stays_a_link() -> None:
    assert links(pointing("word " * 2_000)) == [LINK]


def test_every_new_choice_has_a_chip_that_no_other_on_the_card_has() -> None:
    for card in (cards.PARTS, cards.EARLIER, cards.APPROVAL):
        chips = seeded_keys(lay_out(card).choices)
        assert len({chip.split()[0] for chip in chips}) == len(lay_out(card).choices)
    change = cards.APPROVAL.model_copy(update={"change": "Only on Sundays"})
    assert [chip.split()[0] for chip in seeded_keys(lay_out(change).choices)] == ["✅", "✏", "🗑"]


def test_what_only_a_person_can_know_has_no_default() -> None:
    question = Question(number=1, text="Which account?", options=("one", "two"))
    (message,) = draw_card(QuestionsCard(key="questions", questions=(question,)))
    assert "1. one\n2. two\nOnly you can know this." in message.body
    assert "efault" not in message.body


def test_what_is_answered_stands_beside_what_is_open() -> None:
    first, second = cards.QUESTIONS.questions
    asked = (first.model_copy(update={"answer": "in a file"}), second)
    (message,) = draw_card(QuestionsCard(key="questions", questions=asked))
    assert f"{first.text}\n→ in a file" in message.body
    assert "Default: 設定画面" in message.body


def large(severity: Severity, words: str = SOME) -> ApprovalCard:
    altered = tuple(
        Alteration(what=Altered.CHANGED, where="spec.md", name=words, details=(words * 2,) * 5)
        for _ in range(40)
    )
    findings = tuple(
        Finding(id=f"C{n}", severity=severity, category="coverage", summary=words * 2, where=words)
        for n in range(50)
    )
    task = cards.APPROVAL.tasks[1].model_copy(update={"name": words})
    return cards.APPROVAL.model_copy(
        update={
            "tasks": (task,) * 40,
            "analysis": Analysis(findings=findings),
            "difference": Difference(since=1, sections=altered, tasks=altered),
            "change": words * 5,
            "stops": (words,) * 40,
        }
    )


@pytest.mark.parametrize("severity", [Severity.CRITICAL, Severity.LOW])
@pytest.mark.parametrize("words", [SOME, "x" * 2_500, "&<>" * 300, "👩‍💻" * 100])
def test_a_very_large_plan_fits_into_messages_and_can_be_pressed_on_the_last(
    severity: Severity, words: str
) -> None:
    card: Card = large(severity, words)
    messages = draw_card(card)
    assert max(map(event_size, messages)) < LARGEST
    verbs = [choice.verb for choice in lay_out(card).choices]
    assert (Verb.APPROVE in verbs) is (severity is not Severity.CRITICAL)
    assert all(choice.label in messages[-1].body for choice in lay_out(card).choices)


def test_wherever_a_card_is_cut_its_choices_stand_together_on_the_last_message() -> None:
    cut = 0
    for times in range(3_300, 4_400, 20):
        card = cards.APPROVAL.model_copy(update={"change": "word\n" * times})
        *_, last = messages = draw_card(card)
        cut += len(messages) - 1
        for choice in lay_out(card).choices:
            assert choice.label in last.body
        assert lay_out(card).footer in last.body
    assert cut
