"""Cards with all that a modern workspace takes: a plan, coloured boxes, thumbs, menus; and what stands there without."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.blocks.cards import draw_card, plainer_forms
from adapters.slack.blocks.kit import (
    BlockKind,
    ButtonValue,
    Site,
    SlackMessage,
    pressed_label,
    text_length,
)
from adapters.slack.blocks.text import ZERO_WIDTH_SPACE
from bot.core.cards import AnswerCard, Card, Decided, StatusCard, TaskLine
from bot.core.choices import Choice, Style, Verb
from bot.core.events import Pressed
from bot.core.evidence import ExecutionResult
from bot.core.people import Thread
from bot.core.sheets import Entries, Entry, Tone
from bot.core.states import OverallStatus, TaskState
from tests.adapters.slack import content
from tests.adapters.slack.way_in import WayIn, listening, way_in
from tests.beds.slack import MIKA, PUBLIC, SlackBed, invariants
from tests.beds.slack.validation import wrong_in_blocks
from tests.fakes import cards

NONE: frozenset[BlockKind] = frozenset()
DECIDED = Decided(what="Done", by="Mika", at=cards.AT)
SITE = Site("T0001", "https://played.slack.com/")
THREAD = Thread(platform="slack", workspace="T0001", channel="C0001", root="1794988193.000100")
LINK = "https://played.slack.com/archives/C0001/p1794988193000100"
SESSION = "1a2b3c4d-0000-4000-8000-000000000000"
OPEN = Choice(label="Show", verb=Verb.LOG, about=SESSION)
RESUME = Choice(label="Resume", verb=Verb.RESUME, about=SESSION, style=Style.PRIMARY)
DISCARD = Choice(
    label="Discard", verb=Verb.DISCARD, about=SESSION, style=Style.DANGER, confirm="Discard it?"
)
MERGE = Choice(label="Merge", verb=Verb.MERGE, about=SESSION)


def one(card: Card, rich: frozenset[BlockKind] | None = None) -> SlackMessage:
    (message,) = draw_card(card, SITE) if rich is None else draw_card(card, SITE, rich)
    assert content.wrong_in(message) == []
    return message


def of_type(message: SlackMessage, kind: str) -> list[dict[str, Any]]:
    return [block for block in message.blocks if block["type"] == kind]


def reads(message: SlackMessage) -> str:
    return "\n".join(content.texts_of(message.blocks)).replace(ZERO_WIDTH_SPACE, "")


def status(*tasks: TaskLine) -> StatusCard:
    return cards.STATUS.model_copy(update={"tasks": tasks})


def task(number: int, state: TaskState = TaskState.RUNNING, **more: Any) -> TaskLine:
    return TaskLine(key=f"T{number:03}", name=f"Task {number}", state=state, **more)


# The plan


def test_a_status_is_a_plan_with_a_card_for_each_task() -> None:
    message = one(cards.STATUS)
    (plan,) = of_type(message, "plan")
    assert plan["title"] == "1 of 3 done · 1 h 03 min of work"
    assert [task["status"] for task in plan["tasks"]] == ["complete", "in_progress", "pending"]
    second = plan["tasks"][1]
    assert second["title"] == "T002 設定画面に切り替えを追加する"
    assert [*content.texts_of(second["details"])] == ["Running · 1 h 02 min"]
    assert [*content.texts_of(second["output"])] == ["tests failed 1×, being mended"]
    assert "output" not in plan["tasks"][2]


def test_where_no_plan_is_taken_the_tasks_stand_in_a_table() -> None:
    without = frozenset(BlockKind) - {BlockKind.PLAN}
    assert of_type(one(cards.STATUS, without), "table")
    assert not of_type(one(cards.STATUS), "table")
    assert "T003" in reads(one(cards.STATUS, NONE))


@pytest.mark.parametrize("state", TaskState)
def test_every_state_of_a_task_is_one_of_slacks(state: TaskState) -> None:
    (plan,) = of_type(one(status(task(1, state))), "plan")
    assert plan["tasks"][0]["status"] in ("pending", "in_progress", "complete", "error")


def test_what_was_replaced_is_not_waited_for() -> None:
    (plan,) = of_type(
        one(status(task(1, TaskState.REPLACED), task(2, TaskState.COMPLETED))), "plan"
    )
    assert plan["title"] == "1 of 1 done"


def test_of_many_tasks_those_that_are_over_are_counted_and_the_others_shown() -> None:
    over = [task(n, TaskState.COMPLETED, seconds=60) for n in range(40)]
    message = one(status(*over, *(task(n) for n in range(40, 70))))
    (plan,) = of_type(message, "plan")
    titles = [one["title"] for one in plan["tasks"]]
    assert len(titles) == 50
    assert len({one["task_id"] for one in plan["tasks"]}) == 50
    assert {f"T{n:03} Task {n}" for n in range(40, 70)} <= set(titles)
    assert titles == sorted(titles)
    assert "… and 20 more: 20 Completed" in reads(message)


def test_however_many_tasks_with_however_much_to_say_the_screens_have_room() -> None:
    long = task(1, note="note " * 90, seconds=9, tail="out\n" * 900 + "the end")
    long = long.model_copy(update={"name": "long " * 90})
    message = one(status(*[long.model_copy(update={"tail": ""})] * 60, *[long] * 3))
    assert reads(message).count("the end") == 3
    assert text_length(message.blocks) <= 8_000


# Coloured boxes


@pytest.mark.parametrize(
    ("card", "level"),
    [
        (cards.NEEDS_YOU, "warning"),
        (cards.STOPPED, "warning"),
        (cards.PROBLEM, "error"),
        (cards.NEWS, "error"),
        (cards.SUMMARY, "success"),
        (AnswerCard(key="a", title="No", tone=Tone.FAILURE), "error"),
    ],
    ids=lambda value: getattr(value, "kind", value),
)
def test_what_needs_to_be_seen_stands_in_a_box(card: Card, level: str) -> None:
    (box,) = of_type(one(card), "alert")
    assert box["level"] == level
    assert one(card).blocks[0] is not one(card, NONE).blocks[0]
    assert not of_type(one(card, NONE), "alert")


def test_what_went_wrong_at_the_end_is_no_success() -> None:
    wrong = ExecutionResult(overall_status=OverallStatus.INCOMPLETE, session_id="1a2b3c4d")
    (box,) = of_type(one(cards.SUMMARY.model_copy(update={"result": wrong})), "alert")
    assert box["level"] == "error"


@pytest.mark.parametrize("card", [cards.NEEDS_YOU, cards.STOPPED], ids=lambda card: card.kind)
def test_what_is_decided_warns_nobody_any_more(card: Card) -> None:
    assert not of_type(one(card.model_copy(update={"decided": DECIDED})), "alert")


@pytest.mark.parametrize(
    "card",
    [cards.APPROVAL, cards.QUESTIONS, cards.STATUS, cards.RECEIVED, cards.ANSWER],
    ids=lambda card: card.kind,
)
def test_what_only_asks_or_tells_has_no_box(card: Card) -> None:
    assert not of_type(one(card), "alert")


# Thumbs


def test_the_result_can_be_praised_or_not_and_the_thumbs_stay() -> None:
    for card in (cards.SUMMARY, cards.SUMMARY.model_copy(update={"decided": DECIDED})):
        (block,) = of_type(one(card), "context_actions")
        (thumbs,) = block["elements"]
        pair = (thumbs["positive_button"], thumbs["negative_button"])
        assert [ButtonValue.read(button["value"]) for button in pair] == [
            ButtonValue(verb=Verb.HELPFUL, key="summary"),
            ButtonValue(verb=Verb.UNHELPFUL, key="summary"),
        ]


def test_where_no_thumbs_are_taken_there_are_two_buttons() -> None:
    buttons = list(content.parts_of(one(cards.SUMMARY, NONE).blocks, "button"))
    assert [button["text"]["text"] for button in buttons] == ["Helpful", "Not helpful"]
    presses = [ButtonValue.of(button) for button in buttons]
    assert [press.verb for press in presses if press] == [Verb.HELPFUL, Verb.UNHELPFUL]


def test_nothing_but_the_result_is_to_be_praised() -> None:
    others = [card for card in cards.EVERY_KIND if card is not cards.SUMMARY]
    for card in others:
        for message in draw_card(card):
            assert not of_type(message, "context_actions")


def test_in_the_simplest_form_with_buttons_the_thumbs_are_there() -> None:
    (_, blocks), _ = plainer_forms(one(cards.SUMMARY))
    assert [block["type"] for block in blocks][-1] == "context_actions"
    assert wrong_in_blocks(blocks) == []


# Several things of a kind


def listing(*entries: Entry) -> AnswerCard:
    return AnswerCard(key="answer:1", title="Sessions", body=(Entries(items=entries),))


def entry(*choices: Choice, **more: Any) -> Entry:
    told = {"title": "Dark mode", "facts": ("executing", "12 min"), "thread": THREAD}
    return Entry.model_validate({**told, "choices": choices, **more})


def test_an_entry_leads_to_its_thread_and_says_how_it_stands() -> None:
    block = one(listing(entry())).blocks[1]
    assert block["text"]["text"] == f"*<{LINK}|Dark mode>*\nexecuting · 12 min"
    assert "accessory" not in block


def test_an_entry_that_stands_nowhere_is_mere_words() -> None:
    for thread in (None, THREAD.model_copy(update={"platform": "matrix"})):
        block = one(listing(entry(thread=thread))).blocks[1]
        assert block["text"]["text"] == "*Dark mode*\nexecuting · 12 min"


def test_an_entry_links_nowhere_else_and_forges_nothing() -> None:
    block = one(listing(entry(title="<!here> *x*> <http://evil.example|y>"))).blocks[1]
    text = block["text"]["text"]
    assert text.startswith(f"*<{LINK}|")
    assert text.count("<") == text.count(">") == 1


def test_one_thing_to_do_is_a_button_beside_it() -> None:
    for choice in (RESUME, DISCARD):
        button = one(listing(entry(choice))).blocks[1]["accessory"]
        assert (button["type"], button["text"]["text"]) == ("button", choice.label)
        assert ButtonValue.of(button) == ButtonValue(verb=choice.verb, about=SESSION)
        assert ("confirm" in button) == bool(choice.confirm)


def test_several_things_to_do_are_a_menu() -> None:
    menu = one(listing(entry(RESUME, OPEN, MERGE))).blocks[1]["accessory"]
    assert menu["type"] == "overflow"
    assert [option["text"]["text"] for option in menu["options"]] == ["Resume", "Show", "Merge"]
    chosen = {"type": "overflow", "selected_option": menu["options"][1]}
    assert ButtonValue.of(chosen) == ButtonValue(verb=Verb.LOG, about=SESSION)
    assert pressed_label(chosen) == "Show"


def test_what_must_be_confirmed_is_in_no_menu() -> None:
    _, section, row = one(listing(entry(RESUME, DISCARD))).blocks
    assert "accessory" not in section
    assert [button["text"]["text"] for button in row["elements"]] == ["Resume", "Discard"]
    _, section, row = one(listing(entry(RESUME, OPEN, DISCARD))).blocks
    assert len(section["accessory"]["options"]) == 2
    (only,) = row["elements"]
    assert only["confirm"]["text"]["text"] == "Discard it?"


def test_what_has_no_room_in_a_menu_is_a_button() -> None:
    long = OPEN.model_copy(update={"about": "x" * 200})
    _, section, row = one(listing(entry(RESUME, MERGE, long))).blocks
    assert len(section["accessory"]["options"]) == 2
    assert [button["text"]["text"] for button in row["elements"]] == ["Show"]


def test_two_that_differ_only_in_what_they_ask_are_not_in_one_menu() -> None:
    """Slack refuses a menu in which two options have one value, and an option has no room for the question."""
    hints = [Choice(label=a, verb=Verb.HINT, about="t2", asks=f"{a}?") for a in ("One", "Two")]
    _, section, row = one(listing(entry(RESUME, *hints))).blocks
    values = [option["value"] for option in section["accessory"]["options"]]
    assert len(values) == len(set(values)) == 2
    assert len(row["elements"]) == 1


def test_a_choice_of_a_menu_that_asks_for_a_text_says_so() -> None:
    hint = Choice(label="Hint …", verb=Verb.HINT, about="t2", asks="What does it not know? " * 20)
    menu = one(listing(entry(RESUME, hint))).blocks[1]["accessory"]
    press = ButtonValue.of({"type": "overflow", "selected_option": menu["options"][1]})
    assert press == ButtonValue(verb=Verb.HINT, about="t2", asks=True)


def test_of_more_than_twenty_the_rest_is_counted() -> None:
    message = one(listing(*[entry(RESUME, DISCARD)] * 33))
    assert len(of_type(message, "actions")) == 20
    assert "… and 13 more" in reads(message)


def test_entries_leave_room_for_what_stands_below_them() -> None:
    items = [entry(RESUME, DISCARD, title="t" * 200, facts=("f" * 500,))] * 20
    parts = (Entries(items=tuple(items)), cards.ANSWER.body[0])
    message = one(AnswerCard(key="a", title="T", body=parts, choices=(OPEN,)))
    assert "… and " in reads(message)
    assert of_type(message, "table")
    assert [block["type"] for block in message.blocks].count("actions") > 1


def test_in_the_simplest_form_with_buttons_every_entry_keeps_its_own() -> None:
    message = one(listing(entry(RESUME), entry(OPEN, MERGE), entry(OPEN, DISCARD)))
    (_, blocks), (bare, nothing) = plainer_forms(message)
    assert wrong_in_blocks(blocks) == []
    kinds = [part["type"] for part in blocks for part in [part.get("accessory", part)]]
    assert kinds.count("button") == kinds.count("overflow") == kinds.count("actions") == 1
    assert "Resume" not in bare
    assert nothing == []


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"type": "button"},
        {"type": "button", "value": 3},
        {"type": "static_select", "selected_option": {"value": '{"v":"stop"}'}},
        {"type": "overflow", "selected_option": None},
        {"type": "overflow", "selected_option": {"value": "D1:2"}},
        {"type": "overflow", "value": '{"v":"stop"}'},
    ],
)
def test_what_is_none_of_our_buttons_is_no_press(action: dict[str, Any]) -> None:
    assert ButtonValue.of(action) is None
    assert pressed_label(action) == ""


# What Slack tells of a press


async def posted(way: WayIn, card: Card) -> str:
    root = await way.bed.say(MIKA, PUBLIC, "please")
    return await way.post(root.ts, "hello", one(card).blocks)


async def pressed(way: WayIn) -> Pressed:
    _, event = await way.one()
    assert isinstance(event, Pressed)
    return event


@pytest.mark.parametrize(("thumb", "verb"), [("👍", Verb.HELPFUL), ("👎", Verb.UNHELPFUL)])
async def test_a_thumb_is_heard_as_a_press(thumb: str, verb: Verb) -> None:
    async with SlackBed() as bed, way_in(bed) as way, listening(way):
        await bed.click(MIKA, await posted(way, cards.SUMMARY), thumb)
        assert (await pressed(way)).verb is verb
        invariants.check(bed)


async def test_a_choice_from_a_menu_is_heard_as_a_press() -> None:
    async with SlackBed() as bed, way_in(bed) as way, listening(way):
        await bed.choose(MIKA, await posted(way, listing(entry(RESUME, MERGE))), "menu", "Merge")
        event = await pressed(way)
        assert (event.verb, event.about) == (Verb.MERGE, SESSION)
        invariants.check(bed)
