"""Questions of which some stay open, and questions that only a person can answer."""

from __future__ import annotations

from typing import Any

from adapters.slack.blocks import forms
from adapters.slack.blocks.cards import draw_card
from adapters.slack.blocks.kit import ButtonValue, SlackMessage
from adapters.slack.blocks.questions import picked
from adapters.slack.blocks.text import ZERO_WIDTH_SPACE
from bot.core.cards import QuestionsCard
from bot.core.choices import Verb
from bot.core.events import Opened, Pressed
from bot.core.intent import Question
from tests.adapters.slack import content
from tests.adapters.slack.office import Office
from tests.adapters.slack.way_in import Desk, listening, way_in
from tests.beds.slack import MIKA, SlackBed
from tests.beds.slack.forms import labels
from tests.beds.slack.validation import wrong_in_view
from tests.fakes import cards

WHERE = Question(number=1, text="Where is it kept?", options=("Here", "There"), default="Here")
NAME = Question(number=2, text="What is it called?", default="theme")
WHO = Question(number=3, text="Who may see it?", why="The law asks.")
WHICH = Question(number=4, text="Which account?", options=("the first", "the second"))
PURPOSE = forms.FormPurpose(
    thread=cards.THREAD.model_copy(update={"platform": "slack", "workspace": "T0001"}),
    verb=Verb.ANSWER,
    key="questions",
)


def asking(*questions: Question) -> SlackMessage:
    (message,) = draw_card(QuestionsCard(key="questions", questions=questions))
    assert content.wrong_in(message) == []
    return message


def reads(message: SlackMessage) -> str:
    return "\n".join(content.texts_of(message.blocks)).replace(ZERO_WIDTH_SPACE, "")


def presses(message: SlackMessage) -> list[ButtonValue | None]:
    shown = content.parts_of(message.blocks, "button")
    return [ButtonValue.read(button["value"]) for button in shown]


def answered(question: Question, answer: str = "so") -> Question:
    return question.model_copy(update={"answer": answer})


def inputs(*questions: Question) -> dict[str, dict[str, Any]]:
    view = forms.questions_form(questions, PURPOSE)
    assert wrong_in_view(view) == []
    return {block["block_id"]: block for block in view["blocks"] if block["type"] == "input"}


def test_what_only_a_person_can_know_must_be_written_and_is_not_chosen() -> None:
    form = inputs(WHO, WHICH)
    assert list(form) == ["else:3", "else:4"]
    assert [block["optional"] for block in form.values()] == [False, False]
    assert form["else:3"]["hint"]["text"] == "The law asks. Only you can know this."
    assert form["else:4"]["hint"]["text"] == "1. the first · 2. the second Only you can know this."
    assert "placeholder" not in form["else:3"]["element"]


def test_a_line_that_may_stay_empty_says_that_its_question_stays_open() -> None:
    (block,) = inputs(NAME).values()
    assert block["optional"]
    assert block["hint"]["text"] == "Default: theme. Empty: it stays open."
    assert forms.answers_given({"else:2": {"else:2": {"value": ""}}}, (NAME,)) == {}


def test_a_form_asks_only_what_is_open() -> None:
    assert list(inputs(answered(WHERE), NAME, answered(WHO))) == ["else:2"]


def test_a_card_says_of_each_question_what_it_is_answered_with_or_that_only_you_know() -> None:
    message = asking(answered(WHERE, "in a file"), NAME, WHO, WHICH)
    shown = reads(message)
    assert "→ in a file" in shown
    assert "Default: theme" in shown
    assert "The law asks.\nOnly you can know this." in shown
    assert "1. the first\n2. the second\nOnly you can know this." in shown
    assert list(content.parts_of(message.blocks, "static_select")) == []


def test_nothing_is_left_to_press_where_everything_is_answered() -> None:
    assert presses(asking(answered(WHERE), answered(WHO))) == []
    assert ButtonValue(verb=Verb.ANSWER, key="questions", form=True) in presses(
        asking(answered(WHERE), WHO)
    )


def test_what_a_menu_was_left_at_does_not_answer_again_what_is_answered() -> None:
    values = {"b": {"pick:1": {"selected_option": {"value": "D1:2"}}}}
    assert picked(values, (WHERE,)) == {1: "There"}
    assert picked(values, (answered(WHERE),)) == {}
    form = {"pick:1": values["b"], "else:2": {"else:2": {"value": "dark"}}}
    assert forms.answers_given(form, (answered(WHERE), NAME)) == {2: "dark"}


async def test_a_form_with_a_line_left_empty_answers_the_others() -> None:
    card = QuestionsCard(key="questions", questions=(WHERE, NAME, WHO))
    async with SlackBed() as bed:
        desk = Desk()
        async with (
            way_in(bed, desk, questions=lambda thread, key: card.questions) as way,
            listening(way),
        ):
            root = (await bed.mention(MIKA, "C0001", "Build it")).ts
            (message,) = draw_card(card)
            ts = await way.post(root, message.text, message.blocks)
            assert labels(message.blocks)[-1] == "Answer in a form"
            await bed.click(MIKA, ts, "Answer in a form")
            await bed.until(lambda: bed.views, 30)
            (view,) = bed.views
            assert await bed.submit(view, {"else:3": "everybody"}) == {}
            _, opened, sent = [event for _, event in await way.taken(3)]
            assert isinstance(opened, Opened)
            assert isinstance(sent, Pressed)
            assert sent.verb is Verb.ANSWER
            assert sent.answers == {1: "Here", 3: "everybody"}


async def test_answers_that_come_one_by_one_are_shown_in_one_card(at: Office) -> None:
    thread = await at.ask()
    for questions in ((WHERE, WHO), (answered(WHERE), WHO), (answered(WHERE), answered(WHO))):
        await at.gateway.show(thread, QuestionsCard(key="questions", questions=questions))
    (only,) = at.cards(thread)
    assert only.edits == 2
    assert labels(only.blocks) == []
