"""How cards look in Slack, and that Slack takes them whatever stands on them."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.slack.blocks.cards import draw_card
from adapters.slack.blocks.kit import EVERY_BLOCK_KIND, BlockKind, ButtonValue, SlackMessage
from adapters.slack.blocks.questions import picked
from adapters.slack.blocks.text import ZERO_WIDTH_SPACE
from bot.core.cards import AnswerCard, Card, Decided, DocumentCard, QuestionsCard
from bot.core.choices import Choice, Style, Verb
from bot.core.intent import Question
from bot.core.layout import lay_out
from bot.core.sheets import Bullets, Code, Element, Fields, Prose, Table, Text, Tone
from tests.adapters.slack import content
from tests.fakes import cards

pytestmark = pytest.mark.covers("O-C6", "O-C17")

DECIDED = Decided(what="Approved", by="Mika", at=cards.AT)
_LIVE = re.compile(r"<(?:[@#]\w|![a-zA-Z]|[a-z]+:[^>\n]*\|)")
_any = settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


PLAIN: frozenset[BlockKind] = frozenset({BlockKind.MARKDOWN})


def one(card: Card, *, rich: frozenset[BlockKind] = PLAIN) -> SlackMessage:
    (message,) = draw_card(card, rich=rich)
    return message


def answer(*body: Element) -> SlackMessage:
    return one(AnswerCard(key="answer:1", title="Title", body=body))


def reads(message: SlackMessage) -> str:
    return "\n".join(content.texts_of(message.blocks)).replace(ZERO_WIDTH_SPACE, "")


def kinds(message: SlackMessage) -> list[str]:
    return [block["type"] for block in message.blocks]


def buttons(message: SlackMessage) -> list[dict[str, Any]]:
    return list(content.parts_of(message.blocks, "button"))


def selects(message: SlackMessage) -> list[dict[str, Any]]:
    return list(content.parts_of(message.blocks, "static_select"))


def state(message: SlackMessage, **chosen: int) -> dict[str, Any]:
    """`state.values` of a later press: the option at that place was chosen, or else the first."""
    return {
        block["block_id"]: {
            (pick := block["accessory"])["action_id"]: {
                "type": "static_select",
                "selected_option": pick["options"][chosen.get(f"D{n}", 0)],
            }
        }
        for n, block in enumerate((b for b in message.blocks if "accessory" in b), 1)
    }


@pytest.mark.parametrize(
    "rich", [frozenset[BlockKind](), EVERY_BLOCK_KIND], ids=["everywhere", "rich"]
)
@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
class TestEveryKind:
    def test_slack_takes_it(self, card: Card, rich: frozenset[BlockKind]) -> None:
        for message in draw_card(card, rich=rich):
            assert content.wrong_in(message) == []

    @pytest.mark.parametrize("text", content.HOSTILE, ids=lambda text: ascii(text[:12]))
    def test_slack_takes_it_with_any_text_in_it(
        self, card: Card, rich: frozenset[BlockKind], text: str
    ) -> None:
        for message in draw_card(content.with_everywhere(card, text), rich=rich):
            assert content.wrong_in(message) == []

    @pytest.mark.parametrize("times", [0, 30])
    def test_slack_takes_it_with_nothing_or_much_on_it(
        self, card: Card, rich: frozenset[BlockKind], times: int
    ) -> None:
        much = content.with_everywhere(card, "A fairly long line of text, as on real cards", times)
        for message in draw_card(much, rich=rich):
            assert content.wrong_in(message) == []

    def test_it_is_as_many_messages_whatever_is_taken(
        self, card: Card, rich: frozenset[BlockKind]
    ) -> None:
        much = content.with_everywhere(card, "A fairly long line of text, as on real cards", 30)
        assert len(draw_card(much, rich=rich)) == len(draw_card(much))

    def test_nothing_on_it_mentions_links_or_forges(
        self, card: Card, rich: frozenset[BlockKind]
    ) -> None:
        for message in draw_card(content.with_everywhere(card, content.HOSTILE[0]), rich=rich):
            for text in (message.text, *content.texts_in_markup(message.blocks)):
                assert not _LIVE.search(text)
                assert not re.search("@(here|channel)", text)

    def test_its_title_is_what_a_notification_says(
        self, card: Card, rich: frozenset[BlockKind]
    ) -> None:
        first = draw_card(card, rich=rich)[0]
        assert lay_out(card).title in first.text.replace(ZERO_WIDTH_SPACE, "")


@_any
@given(content.answer_cards, st.frozensets(st.sampled_from(BlockKind)))
def test_slack_takes_any_card(card: AnswerCard, rich: frozenset[BlockKind]) -> None:
    assert content.wrong_in(one(card, rich=rich)) == []


@_any
@given(content.question_cards())
def test_slack_takes_any_questions(card: QuestionsCard) -> None:
    message = one(card)
    assert content.wrong_in(message) == []
    known = {question.number: question for question in card.questions}
    for number, text in picked(state(message), card.questions).items():
        assert text == known[number].default, "what is picked already is the default"


@_any
@given(content.words, st.integers(1, 5))
def test_slack_takes_any_document(text: str, times: int) -> None:
    for message in draw_card(cards.DOCUMENT.model_copy(update={"text": text * times})):
        assert content.wrong_in(message) == []


def test_a_title_asks_in_large_and_tells_in_bold_with_the_mark_of_its_tone() -> None:
    assert one(cards.APPROVAL).blocks[0]["type"] == "header"
    assert one(cards.APPROVAL).blocks[0]["text"]["text"].startswith("❓ Shall I build")
    assert one(cards.NEWS).blocks[0]["text"]["text"] == "❌ *T002: tests failed, 1 of 3*"
    marks = {
        one(AnswerCard(key="a", title="Title", tone=tone)).blocks[0]["text"]["text"]
        for tone in Tone
    }
    assert len(marks) == len(Tone)


def test_a_long_question_is_asked_in_bold_rather_than_cut_to_a_heading() -> None:
    card = AnswerCard(key="a", title="Why " * 50, tone=Tone.NEEDS_YOU)
    assert reads(one(card)).count("Why") == 50


def test_text_is_read_without_markup() -> None:
    section = answer(Text(text="*a* _b_ <@U1> &lt;")).blocks[1]
    assert section["text"] == {"type": "plain_text", "text": "*a* _b_ <@U1> &lt;", "emoji": False}


def test_lines_that_follow_each_other_stand_in_one_block() -> None:
    message = answer(Text(text="one"), Bullets(items=("two", "", "three")), Text(text="four"))
    assert [*content.texts_of(message.blocks)][1:] == ["one\n• two\n• three\nfour"]


def test_what_heads_something_is_bold() -> None:
    block = answer(Text(text="Tests *I* ran 2*3*4", strong=True)).blocks[1]
    assert block["text"]["type"] == "mrkdwn"
    assert block["text"]["text"].replace(ZERO_WIDTH_SPACE, "") == "*Tests *I* ran 2*3*4*"
    assert (
        block["text"]["text"].count("*") - block["text"]["text"].count(f"{ZERO_WIDTH_SPACE}*") == 2
    )


def test_a_fact_is_a_line_with_its_name_before_it() -> None:
    pairs = tuple((f"Name {n}", f"*value* {n}") for n in range(7))
    message = answer(Fields(pairs=pairs))
    (block,) = message.blocks[1:]
    lines = block["text"]["text"].replace(ZERO_WIDTH_SPACE, "").split("\n")
    assert lines == [f"*Name {n}*  *value* {n}" for n in range(7)]
    assert "*value*" not in block["text"]["text"], "what somebody wrote is no markup"


def test_a_table_is_lines_that_read_well_on_a_telephone() -> None:
    lines = one(cards.STATUS).blocks[2]["text"]["text"].split("\n")
    assert lines[0] == "*✓ T001* Set up the theme module — Completed · 1 min 15 s"
    assert lines[1].endswith("— Running · 1 h 02 min · tests failed 1×, being mended")
    table = Table(head=("Task", "What", "A", "B"), rows=(("T001", "Theme", "", "x"),))
    assert "• *T001* Theme — x" in reads(answer(table))


def test_rows_without_room_are_counted() -> None:
    table = Table(head=("Task",), rows=tuple((f"T{n:04} " + "x" * 100,) for n in range(200)))
    shown = reads(answer(table))
    kept = len(re.findall(r"T\d{4}", shown))
    assert f"… and {200 - kept} more" in shown
    assert kept > 50


def test_a_rich_table_is_a_table_block_and_only_the_first() -> None:
    table = Table(head=("A", "B"), rows=(("<@U1>", ""),))
    message = one(AnswerCard(key="a", title="T", body=(table, table)), rich=EVERY_BLOCK_KIND)
    assert kinds(message) == ["section", "table", "section"]
    assert message.blocks[1]["rows"][1] == [
        {"type": "raw_text", "text": "<@U1>"},
        {"type": "raw_text", "text": "–"},
    ]


def test_code_stands_between_fences_and_nothing_in_it_ends_them() -> None:
    block = answer(Code(text="a *b* <c>\n```\n<!channel>")).blocks[1]
    text = block["text"]["text"]
    assert text.startswith("```\na *b* &lt;c&gt;\n")
    assert text.count("```") == 2
    assert block["text"]["verbatim"] is True


def test_of_long_output_the_end_stays_and_the_rest_is_counted() -> None:
    output = "\n".join(f"line {n} of the output" for n in range(1_000))
    shown = reads(answer(Code(text=output)))
    assert "line 999 of the output" in shown
    kept = shown.count("of the output")
    assert f"… ({1_000 - kept} lines above left out)" in shown
    assert kept > 100


def test_of_one_endless_line_the_end_stays() -> None:
    shown = reads(answer(Code(text="x" * 20_000 + " & the error")))
    assert shown.endswith("x &amp; the error\n```")
    assert "the beginning is left out" in shown


def test_the_screens_of_many_tasks_leave_room_for_each_other() -> None:
    line = cards.STATUS.tasks[1].model_copy(update={"tail": "output\n" * 1_000 + "the end"})
    card = cards.STATUS.model_copy(update={"tasks": (line,) * 6})
    assert reads(one(card)).count("the end") == 6


def test_what_is_cut_says_how_much_is_missing() -> None:
    shown = reads(answer(Text(text="a" * 5_000)))
    kept = shown.count("a" * 100) * 100
    assert 2_500 < kept < 3_000
    missing = re.search(r"… \(([\d,]+) more characters\)", shown)
    assert missing
    assert int(missing[1].replace(",", "")) > 2_000


def test_what_has_no_room_at_all_is_mentioned() -> None:
    body = tuple(Text(text=f"Heading {n}", strong=True) for n in range(90))
    message = answer(*body)
    assert len(message.blocks) <= 50
    assert "There is more than this message has room for" in reads(message)


def test_a_document_inside_an_answer_is_a_markdown_block() -> None:
    message = answer(Prose(name="x", markdown="# Title\n\n" + "Words.\n\n" * 3_000))
    assert kinds(message) == ["section", "markdown", "context"]
    assert "more characters" in reads(message)


def test_where_no_markdown_is_taken_a_document_is_read_letter_for_letter() -> None:
    text = "".join(f"# Title {n}\n\n" + "Words, *and* more <words>.\n\n" * 80 for n in range(9))
    card = cards.DOCUMENT.model_copy(update={"text": text})
    rich, plain = draw_card(card), draw_card(card, rich=frozenset())
    assert len(plain) == len(rich) > 1
    for message in plain:
        assert content.wrong_in(message) == []
        assert set(kinds(message)) == {"section", "context"}
    assert "".join(map(reads, plain)).count("Words, *and* more <words>.") == 9 * 80


def test_a_document_inside_an_answer_mentions_nobody() -> None:
    assert not _LIVE.search(answer(Prose(name="x", markdown="see <@U1>")).blocks[1]["text"])


def test_a_rich_table_is_as_wide_as_there_is_room() -> None:
    before = (Text(text="a" * 5_000), Code(text="b" * 5_000))
    table = Table(head=("name " * 40,) * 20, rows=(("cell",),))
    message = one(AnswerCard(key="a", title="T", body=(*before, table)), rich=EVERY_BLOCK_KIND)
    assert kinds(message)[-1] == "table"
    assert content.wrong_in(message) == []


def test_an_empty_card_is_still_a_message() -> None:
    message = one(AnswerCard(key="a", title=""))
    assert (message.text, kinds(message)) == ("…", ["section"])


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_a_button_carries_what_its_press_means(card: Card) -> None:
    laid = lay_out(card)
    shown = [button for message in draw_card(card) for button in buttons(message)]
    for n, (choice, button) in enumerate(zip(laid.choices, shown, strict=False)):
        assert button["action_id"] == f"{choice.verb}:{n}"
        press = ButtonValue.read(button["value"])
        assert press == ButtonValue(
            verb=choice.verb,
            about=choice.about,
            key=card.key,
            asks=bool(choice.asks),
            question=choice.asks,
        )
        assert json.loads(button["value"])["asks"] is bool(choice.asks)
    assert len(shown) >= len(laid.choices)


def test_buttons_look_like_what_they_do() -> None:
    approve, change, discard = buttons(one(cards.APPROVAL))
    assert approve["style"] == "primary"
    assert "style" not in change
    assert discard["style"] == "danger"
    assert "confirm" not in approve
    assert discard["confirm"]["text"]["text"] == "Discard this session? Its branches stay."
    assert discard["confirm"]["style"] == "danger"


def test_a_choice_that_cannot_be_a_button_is_named_rather_than_forged() -> None:
    many = [Choice(label=f"Option {n}", verb=Verb.KEEP, about=str(n)) for n in range(12)]
    card = AnswerCard(
        key="a",
        title="T",
        choices=(Choice(label="Far too long", verb=Verb.RETRY, about="x" * 3_000), *many),
    )
    message = one(card)
    assert len(buttons(message)) == 10
    assert "No room for these buttons: Far too long, Option 10, Option 11" in reads(message)


def test_a_value_of_another_program_is_no_press() -> None:
    for value in ("", "s_7f3a:rev2", "[" * 3_000, "{}", '{"v":"launch"}', '{"v":"stop","x":1}'):
        assert ButtonValue.read(value) is None


@pytest.mark.parametrize(
    "card",
    [card for card in cards.EVERY_KIND if "decided" in type(card).model_fields],
    ids=lambda card: card.kind,
)
def test_a_decided_card_has_nothing_left_to_press_and_says_who_decided(card: Card) -> None:
    for message in draw_card(card.model_copy(update={"decided": DECIDED})):
        assert content.wrong_in(message) == []
        assert "actions" not in kinds(message)
        assert not buttons(message) + selects(message)
        assert "Approved by Mika, 2026-11-18 12:03 UTC" in reads(message)
        assert "header" not in kinds(message), "nobody is asked any more"


def test_answered_questions_stand_with_their_answers() -> None:
    answered = tuple(
        question.model_copy(update={"answer": f"answer {question.number}"})
        for question in cards.QUESTIONS.questions
    )
    shown = reads(one(QuestionsCard(key="q", questions=answered, decided=DECIDED)))
    assert "*D1 Where shall the setting be kept?*\n→ answer 1" in shown.replace("  ", " ")
    assert "→ answer 2" in shown


def test_block_ids_are_new_when_anything_is_new_and_only_then() -> None:
    def ids(card: Card) -> set[str]:
        return {block["block_id"] for block in one(card).blocks}

    later = cards.STATUS.model_copy(update={"at": cards.AT + timedelta(seconds=1)})
    stops = cards.STATUS.model_copy(
        update={"choices": (Choice(label="Stop", verb=Verb.STOP, about="x"),)}
    )
    assert ids(cards.STATUS) == ids(cards.STATUS)
    assert not ids(cards.STATUS) & ids(later)
    assert not ids(cards.STATUS) & ids(stops)


def question(*options: str, default: str, number: int = 1) -> Question:
    return Question(number=number, text="Which one?", options=options, default=default)


def asking(*questions: Question) -> SlackMessage:
    return one(QuestionsCard(key="questions", questions=questions))


def test_every_question_has_a_select_with_its_default_first_and_picked() -> None:
    message = one(cards.QUESTIONS)
    (select,) = selects(message)
    labels = [option["text"]["text"] for option in select["options"]]
    assert labels == ["In the browser (default)", "In the user's profile on the server"]
    assert select["initial_option"] == select["options"][0]
    assert "Default: 設定画面" in reads(message), "without options there is nothing to select"


def test_the_questions_have_buttons_for_defaults_answers_and_a_form() -> None:
    presses = [ButtonValue.read(button["value"]) for button in buttons(one(cards.QUESTIONS))]
    assert presses == [
        ButtonValue(verb=Verb.DEFAULTS, about="questions#D1,D2", key="questions"),
        ButtonValue(verb=Verb.ANSWER, key="questions"),
        ButtonValue(verb=Verb.ANSWER, key="questions", form=True),
    ]
    assert buttons(one(cards.QUESTIONS))[0]["style"] == Style.PRIMARY
    labels = [button["text"]["text"] for button in buttons(one(cards.QUESTIONS))]
    assert labels == ["Use all defaults", "Send these answers", "Answer in a form"]


def test_without_a_select_there_are_no_answers_to_send() -> None:
    labels = [b["text"]["text"] for b in buttons(asking(question(default="x")))]
    assert labels == ["Use all defaults", "Answer in a form"]


def test_what_was_picked_can_be_read_from_a_later_press() -> None:
    asked = (
        question("a", "b", "c", default="b"),
        question("d", "e", default="f", number=2),
        question("g", default="g", number=3),
    )
    message = asking(*asked)
    assert picked(state(message), asked) == {1: "b", 2: "f"}
    assert picked(state(message, D1=2, D2=2), asked) == {1: "c", 2: "e"}


def test_without_the_questions_nothing_is_told_rather_than_half_or_a_number() -> None:
    asked = (question("a", "b", default="a"), question("c", "d", default="c", number=2))
    values = state(asking(*asked), D1=1, D2=1)
    assert picked(values) == {}
    assert picked(values, asked[:1]) == {}
    assert picked(values, asked) == {1: "b", 2: "d"}


def test_a_default_that_is_none_of_the_options_needs_no_questions() -> None:
    asked = (question("a", default="b"), question("c", "d", default="c", number=2))
    assert picked(state(asking(*asked), D2=1), asked[1:]) == {2: "d"}


def test_foreign_state_is_not_taken_for_an_answer() -> None:
    for element in (
        {"type": "static_select", "selected_option": None},
        {"type": "static_select", "selected_option": {"value": "D1"}},
        {"type": "plain_text_input", "value": "D1:1"},
    ):
        assert picked({"b": {"pick:1": element}}) == {}
    assert picked({"b": {"other": {"selected_option": {"value": "D1:1"}}}}) == {}
    beyond = {"b": {"pick:1": {"selected_option": {"value": "D1:9"}}}}
    assert picked(beyond, (question("a", default="a"),)) == {}


def test_options_too_long_for_a_select_are_listed_with_the_number_a_person_would_type() -> None:
    long = (
        "In the browser, so that nothing has to be sent anywhere, whatever else may be said of it"
    )
    message = asking(question("short", long, default="short"))
    assert f"1. short (default)\n2. {long}" in reads(message)
    (select,) = selects(message)
    assert [option["text"]["text"][:3] for option in select["options"]] == ["1. ", "2. "]
    assert select["options"][1]["text"]["text"].endswith("…")
    assert picked(state(message, D1=1), (question("short", long, default="short"),)) == {1: long}


def test_more_questions_than_fit_are_counted() -> None:
    asked = tuple(question("a", "b", default="a", number=n) for n in range(1, 80))
    message = asking(*asked)
    assert content.wrong_in(message) == []
    left = 79 - len(selects(message))
    assert f"… and {left} more" in reads(message)


def test_many_options_of_many_questions_leave_room_for_each_other() -> None:
    options = tuple(f"Option {n}, which says much about itself and more" for n in range(30))
    asked = tuple(question(*options, default=options[0], number=n) for n in range(1, 45))
    assert content.wrong_in(asking(*asked)) == []


def test_a_document_says_which_it_is_and_stands_in_a_markdown_block() -> None:
    message = one(cards.DOCUMENT)
    assert kinds(message) == ["section", "context", "markdown"]
    assert reads(message) == (
        f"*spec.md · revision 1*\nspecs/SPEC-1a2b3c4d/spec.md\n{cards.DOCUMENT.text.strip()}"
    )
    assert message.part == "1/1"


def long_document(text: str) -> tuple[SlackMessage, ...]:
    return draw_card(
        DocumentCard(key="d", document=cards.DOCUMENT.document, spec_id="S", revision=2, text=text)
    )


def test_a_long_document_is_several_messages_that_say_which_part_they_are() -> None:
    text = "\n".join(f"## Part {n}\n\n" + "Some words. " * 100 for n in range(20))
    messages = long_document(text)
    assert [message.part for message in messages] == [
        f"{n}/{len(messages)}" for n in range(1, len(messages) + 1)
    ]
    assert len(messages) == 4
    assert f"part 2 of {len(messages)}" in reads(messages[1])
    assert "part 2 of" in messages[1].text
    bodies = [message.blocks[-1]["text"] for message in messages]
    assert all(body.startswith("## Part") for body in bodies)
    assert "".join(bodies).split() == text.split(), "nothing is lost"
    ids = [block["block_id"] for message in messages for block in message.blocks]
    assert len(set(ids)) == len(ids)
