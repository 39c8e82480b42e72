"""How cards stand in Slack: whatever is on them Slack takes it, nothing in it is live, nothing is lost, and buttons say what they do."""

from __future__ import annotations

import json
import logging
import re
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.cards import (
    AnswerCard,
    ApprovalCard,
    Card,
    CardDecision,
    PlannedTask,
    QuestionsCard,
    TaskLine,
)
from bot.core.choices import Choice, Style, Verb
from bot.core.intent import Question
from bot.core.layout import lay_out
from bot.core.sheets import (
    Bullets,
    Code,
    Element,
    Entries,
    Entry,
    Fields,
    Pointer,
    Table,
    Text,
    Tone,
)
from bot.core.states import TaskState
from tests.adapters.slack import content
from tests.adapters.slack.bot import (
    CHANGED,
    ELSEWHERE,
    LATER,
    POST,
    SESSION,
    Bot,
    document,
    news,
    person,
)
from tests.beds.slack import MIKA, PUBLIC, Message
from tests.beds.slack.forms import labels
from tests.fakes import cards

pytestmark = pytest.mark.covers("O-C6", "O-C17")

DECIDED = CardDecision(what="Approved", by="Mika", at=cards.AT)
ZERO_WIDTH_SPACE = "\u200b"
LINK = f"https://played.slack.com/archives/{PUBLIC}/p1794988193000100"
NEWER = ("plan", "alert", "table", "markdown", "context_actions")
"""Kinds of blocks that not every workspace takes."""
_LIVE = re.compile(r"<(?:[@#]\w|![a-zA-Z]|[a-z]+:[^>\n]*\|)")
_OWN_LINK = re.compile(r"<https://(?:played\.slack\.com/archives|forge\.example/acme)/[^|>]*\|")
_any = settings(
    max_examples=8,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)


async def stands(at: Bot, card: Card) -> list[Message]:
    """In a thread of its own; Slack took it as it was drawn."""
    at.bed.leeway.forgiven |= {"invalid_blocks"}
    thread = await at.ask()
    before = len(at.bed.calls)
    await at.chat.show(thread, card)
    refused = [call.error for call in at.bed.calls[before:] if call.error]
    assert set(refused) <= ({"invalid_blocks"} if at.bed.world.untaken else set[str]())
    return at.cards(thread)


async def one(at: Bot, card: Card) -> Message:
    (message,) = await stands(at, card)
    return message


async def answers(at: Bot, *body: Element, choices: tuple[Choice, ...] = ()) -> Message:
    return await one(at, AnswerCard(key="answer:1", title="Title", body=body, choices=choices))


def reads(message: Message) -> str:
    return "\n".join(content.texts_of(message.blocks)).replace(ZERO_WIDTH_SPACE, "")


def kinds(message: Message) -> list[str]:
    return [block["type"] for block in message.blocks]


def buttons(message: Message) -> list[dict[str, object]]:
    return list(content.parts_of(message.blocks, "button"))


def sound(messages: list[Message]) -> None:
    """What must hold of any card."""
    for message in messages:
        assert 1 <= len(message.text) <= 300
        assert message.blocks
        assert sum(map(len, content.texts_of(message.blocks))) <= 13_000
        assert [text for text in content.texts_of(message.blocks) if not text.strip()] == []
        for text in content.texts_in_markup(message.blocks):
            assert not _LIVE.search(_OWN_LINK.sub("", text)), text


# Whatever is on a card


@pytest.mark.parametrize("rich", [True, False], ids=["rich", "plain"])
async def test_slack_takes_every_kind_of_card_with_any_text_on_it(at: Bot, rich: bool) -> None:
    at.bed.world.untaken |= set() if rich else set(NEWER)
    for card in cards.EVERY_KIND:
        sound(await stands(at, card))
        for text in (content.HOSTILE[0], "<>&" * 3_000, " \n\t "):
            sound(await stands(at, content.with_everywhere(card, text)))


@_any
@given(content.answer_cards | content.question_cards())
async def test_slack_takes_any_card(at: Bot, card: Card) -> None:
    sound(await stands(at, card))


async def test_cards_are_drawn_with_all_that_is_taken(at: Bot) -> None:
    seen = set[str]()
    for card in (cards.STATUS, cards.NEEDS_YOU, cards.ANSWER, cards.DOCUMENT, cards.SUMMARY):
        seen |= set().union(*map(kinds, await stands(at, card)))
    assert seen >= set(NEWER)


LARGE = cards.APPROVAL.model_copy(
    update={
        "tasks": tuple(
            PlannedTask(key=f"T{n:03}", name=f"{'a long name & <!here> ' * 9}{n}", after=("T001",))
            for n in range(1, 41)
        ),
        "risk": "high",
        "risk_reasons": ('They touch the <@U1> & "payments". ' * 5,) * 8,
        "approvers": 2,
    }
)


async def test_a_large_plan_leaves_room_for_every_button_and_what_stands_below(at: Bot) -> None:
    for card in (LARGE, content.with_everywhere(LARGE, content.HOSTILE[0], 3)):
        assert isinstance(card, ApprovalCard)
        message = await one(at, card)
        sound([message])
        pressed = [json.loads(str(button["value"]))["v"] for button in buttons(message)]
        assert pressed == [choice.verb for choice in lay_out(card).choices]
    shown = reads(await one(at, LARGE))
    for said in ("T001", "more", "must approve"):
        assert said in shown


# Foreign text


@pytest.mark.parametrize(
    "text",
    ["<!channel> <@U1> <#C1|x> <http://evil.example|your bank>", "&lt;!here&gt; *a* _b_ `c` ~d~"],
)
async def test_foreign_text_reads_as_it_was_written_and_does_nothing(at: Bot, text: str) -> None:
    message = await answers(
        at,
        Text(text=text),
        Text(text=text, strong=True),
        Fields(pairs=(("Name", text),)),
        Bullets(items=(text,)),
        Code(text=text),
        Table(head=("A",), rows=((text,),)),
    )
    sound([message])
    said = reads(message).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert said.count(text) + said.count(text.replace("&lt;", "<").replace("&gt;", ">")) >= 6


async def test_code_cannot_end_its_fence(at: Bot) -> None:
    block = (await answers(at, Code(text="a *b* <c>\n```\n<!channel>"))).blocks[1]
    text = block["text"]["text"]
    assert text.startswith("```\na *b* &lt;c&gt;\n")
    assert text.count("```") == 2


async def test_of_long_output_the_end_stays_and_the_rest_is_counted(at: Bot) -> None:
    output = "\n".join(f"line {n} of the output" for n in range(1_000))
    shown = reads(await answers(at, Code(text=output)))
    kept = shown.count("of the output")
    assert "line 999 of the output" in shown
    assert f"… ({1_000 - kept} lines above left out)" in shown
    endless = reads(await answers(at, Code(text="x" * 20_000 + " & the error")))
    assert endless.endswith("x &amp; the error\n```")
    assert "the beginning is left out" in endless


async def test_what_is_cut_or_has_no_room_is_counted_or_mentioned(at: Bot) -> None:
    shown = reads(await answers(at, Text(text="a" * 5_000)))
    assert re.search(r"… \([\d,]+ more characters\)", shown)
    table = Table(head=("Task",), rows=tuple((f"T{n:04} " + "x" * 100,) for n in range(200)))
    at.bed.world.untaken.add("table")
    shown = reads(await answers(at, table))
    kept = len(re.findall(r"T\d{4}", shown))
    assert f"… and {200 - kept} more" in shown
    many = await answers(at, *(Text(text=f"Heading {n}", strong=True) for n in range(90)))
    assert "There is more than this message has room for" in reads(many)


# What leads to another thread


async def test_a_pointer_is_a_link_made_of_ids_alone(at: Bot) -> None:
    for text in ("Payments", *content.HOSTILE):
        message = await answers(at, Pointer(text=text, thread=ELSEWHERE))
        sound([message])
        shown = "\n".join(content.texts_of(message.blocks[1:]))
        assert re.findall(r"<([^<>|]*)[^<>]*>", shown) == [LINK], text
    assert "|there>" in reads(await answers(at, Pointer(text=" \n", thread=ELSEWHERE)))
    for change in (
        {"platform": "matrix"},
        {"workspace": "T0999"},
        {"root": ""},
        {"root": "1.1|you> <!channel>"},
        {"channel": "../../evil"},
    ):
        thread = ELSEWHERE.model_copy(update=change)
        shown = reads(await answers(at, Pointer(text="Payments", thread=thread)))
        assert shown.endswith("→ Payments"), change
    assert at.bed.called(POST)[-1].args["unfurl_links"] is False


def entry(*choices: Choice, **more: object) -> Entry:
    told = {"title": "Dark mode", "facts": ("executing", "12 min"), "thread": ELSEWHERE}
    return Entry.model_validate({**told, "choices": choices, **more})


SHOW = Choice(label="Show", verb=Verb.LOG, about=SESSION)
RESUME = Choice(label="Resume", verb=Verb.RESUME, about=SESSION, style=Style.PRIMARY)
MERGE = Choice(label="Merge", verb=Verb.MERGE, about=SESSION)
DISCARD = Choice(
    label="Discard", verb=Verb.DISCARD, about=SESSION, style=Style.DANGER, confirm="Sure?"
)
LONG = SHOW.model_copy(update={"about": "x" * 200})
HINTS = tuple(Choice(label=a, verb=Verb.HINT, about="t2", asks=f"{a}?") for a in ("One", "Two"))


@pytest.mark.parametrize(
    ("choices", "menu", "beside"),
    [
        ((), [], []),
        ((RESUME,), [], ["Resume"]),
        ((RESUME, SHOW, MERGE), ["Resume", "Show", "Merge"], []),
        ((RESUME, DISCARD), [], ["Resume", "Discard"]),
        ((RESUME, SHOW, DISCARD), ["Resume", "Show"], ["Discard"]),
        ((RESUME, MERGE, LONG), ["Resume", "Merge"], ["Show"]),
        ((RESUME, *HINTS), ["Resume", "Two"], ["One"]),
    ],
)  # fmt: skip
async def test_what_can_be_done_about_an_entry_is_a_button_or_a_menu(
    at: Bot, choices: tuple[Choice, ...], menu: list[str], beside: list[str]
) -> None:
    """What must be confirmed is in no menu; neither is what has no room there, or looks the same to Slack."""
    message = await answers(at, Entries(items=(entry(*choices),)))
    assert f"*<{LINK}|Dark mode>*\nexecuting · 12 min" in reads(message)
    shown = [one["options"] for one in content.parts_of(message.blocks, "overflow")]
    assert [option["text"]["text"] for options in shown for option in options] == menu
    assert labels(message.blocks) == beside
    assert [bool(one.get("confirm")) for one in buttons(message)] == [
        label == "Discard" for label in beside
    ]


async def test_of_more_than_twenty_entries_the_rest_is_counted(at: Bot) -> None:
    message = await answers(at, Entries(items=(entry(RESUME, DISCARD),) * 33), choices=(SHOW,))
    assert "… and 13 more" in reads(message)
    assert labels(message.blocks)[-1] == "Show", "there is room for what stands below"


# Buttons


@pytest.mark.parametrize("rich", [True, False], ids=["rich", "plain"])
async def test_a_button_carries_what_its_press_means(at: Bot, rich: bool) -> None:
    at.bed.world.untaken |= set() if rich else set(NEWER)
    for card in cards.EVERY_KIND:
        wanted = [
            (choice.verb, choice.about, bool(choice.asks)) for choice in lay_out(card).choices
        ]
        values = [
            json.loads(str(button["value"]))
            for message in await stands(at, card)
            for button in buttons(message)
        ]
        told = [(value["v"], value.get("about", ""), value.get("asks", False)) for value in values]
        assert [one for one in wanted if one not in told] == [], card.kind


async def test_buttons_look_like_what_they_do(at: Bot) -> None:
    approve, change, discard = buttons(await one(at, cards.APPROVAL))
    assert (approve.get("style"), change.get("style"), discard.get("style")) == (
        "primary",
        None,
        "danger",
    )
    assert "confirm" not in approve
    assert "Discard this session? Its branches stay." in str(discard["confirm"])


async def test_a_choice_that_cannot_be_a_button_is_named_rather_than_forged(at: Bot) -> None:
    many = (Choice(label=f"Option {n}", verb=Verb.KEEP, about=str(n)) for n in range(12))
    long = Choice(label="Far too long", verb=Verb.RETRY, about="x" * 3_000)
    message = await answers(at, choices=(long, *many))
    assert len(buttons(message)) == 10
    assert "No room for these buttons: Far too long, Option 10, Option 11" in reads(message)


DECIDABLE = [card for card in cards.EVERY_KIND if "decided" in type(card).model_fields]


async def test_a_decided_card_has_nothing_left_to_press_and_says_who_decided(at: Bot) -> None:
    for card in DECIDABLE:
        for message in await stands(at, card.model_copy(update={"decided": DECIDED})):
            assert labels(message.blocks) == [], card.kind
            assert "Approved by Mika, 2026-11-18 12:03 UTC" in reads(message)
            assert "warning" not in str(message.blocks), "nobody is asked any more"


async def test_block_ids_are_new_when_anything_is_new_and_only_then(at: Bot) -> None:
    """Slack keeps what is picked in a block for as long as its id is the same."""
    later = cards.STATUS.model_copy(update={"at": cards.AT + timedelta(seconds=1)})
    first, again, other = [
        {block["block_id"] for block in (await one(at, card)).blocks}
        for card in (cards.STATUS, cards.STATUS, later)
    ]
    assert first == again
    assert not first & other


# Questions


def question(*options: str, default: str, number: int = 1) -> Question:
    return Question(number=number, text="Which one?", options=options, default=default)


async def test_every_question_has_a_select_with_its_default_first_and_picked(at: Bot) -> None:
    message = await one(at, cards.QUESTIONS)
    (select,) = content.parts_of(message.blocks, "static_select")
    options = [option["text"]["text"] for option in select["options"]]
    assert options == ["In the browser (default)", "In the user's profile on the server"]
    assert select["initial_option"] == select["options"][0]
    assert labels(message.blocks) == ["Use all defaults", "Send these answers", "Answer in a form"]
    assert "Default: 設定画面" in reads(message), "without options there is nothing to select"
    bare = await one(at, QuestionsCard(key="q", questions=(question(default="x"),)))
    assert labels(bare.blocks) == ["Use all defaults", "Answer in a form"]


async def test_options_too_long_for_a_select_are_listed_with_their_numbers(at: Bot) -> None:
    long = (
        "In the browser, so that nothing has to be sent anywhere, whatever else may be said of it"
    )
    message = await one(
        at, QuestionsCard(key="q", questions=(question("short", long, default="short"),))
    )
    assert f"1. short (default)\n2. {long}" in reads(message)


async def test_more_questions_than_fit_are_counted(at: Bot) -> None:
    asked = tuple(question("a", "b", default="a", number=n) for n in range(1, 80))
    message = await one(at, QuestionsCard(key="q", questions=asked))
    left = 79 - len(list(content.parts_of(message.blocks, "static_select")))
    assert f"… and {left} more" in reads(message)


# What is going on


async def test_a_status_is_a_plan_with_a_card_for_each_task(at: Bot) -> None:
    (plan,) = content.parts_of((await one(at, cards.STATUS)).blocks, "plan")
    assert plan["title"] == "1 of 3 done · 1 h 03 min of work"
    assert [task["status"] for task in plan["tasks"]] == ["complete", "in_progress", "pending"]
    at.bed.world.untaken |= set(NEWER)
    assert "*✓ T001* Set up the theme module — Completed · 1 min 15 s" in reads(
        await one(at, cards.STATUS)
    )


async def test_of_many_tasks_those_that_are_over_are_counted_and_the_others_shown(at: Bot) -> None:
    def task(n: int, state: TaskState, **more: object) -> TaskLine:
        told = {"key": f"T{n:03}", "name": f"Task {n}", "state": state, **more}
        return TaskLine.model_validate(told)

    over = [task(n, TaskState.COMPLETED, seconds=60) for n in range(40)]
    more = [task(n, TaskState.RUNNING) for n in range(40, 70)]
    message = await one(at, cards.STATUS.model_copy(update={"tasks": (*over, *more)}))
    (plan,) = content.parts_of(message.blocks, "plan")
    titles = {one["title"] for one in plan["tasks"]}
    assert {f"T{n:03} Task {n}" for n in range(40, 70)} <= titles
    assert "… and 20 more: 20 Completed" in reads(message)
    for state in TaskState:
        await stands(at, cards.STATUS.model_copy(update={"tasks": (task(1, state),)}))


@pytest.mark.parametrize(
    ("card", "level"),
    [
        (cards.NEEDS_YOU, "warning"),
        (cards.STOPPED, "warning"),
        (cards.PROBLEM, "error"),
        (cards.NEWS, "error"),
        (cards.SUMMARY, "success"),
        (AnswerCard(key="a", title="No", tone=Tone.FAILURE), "error"),
        *((card, "") for card in (cards.APPROVAL, cards.QUESTIONS, cards.STATUS, cards.RECEIVED)),
    ],
    ids=lambda value: getattr(value, "kind", value),
)
async def test_what_needs_to_be_seen_stands_in_a_box(at: Bot, card: Card, level: str) -> None:
    boxes = [box["level"] for box in content.parts_of((await one(at, card)).blocks, "alert")]
    assert boxes == ([level] if level else [])


async def test_only_the_result_can_be_praised_or_not(at: Bot) -> None:
    for card in cards.EVERY_KIND:
        thumbs = [
            block
            for message in await stands(at, card)
            for block in message.blocks
            if block["type"] == "context_actions"
        ]
        assert (thumbs != []) is (card is cards.SUMMARY)
    at.bed.world.untaken.add("context_actions")
    assert labels((await one(at, cards.SUMMARY)).blocks)[-2:] == ["Helpful", "Not helpful"]


# Documents


async def test_a_document_says_which_it_is(at: Bot) -> None:
    assert reads(await one(at, cards.DOCUMENT)) == (
        f"*spec.md · revision 1*\nspecs/SPEC-1a2b3c4d/spec.md\n{cards.DOCUMENT.text.strip()}"
    )


_LINE = "Some words of no importance, in a line."
_blocks = st.one_of(
    st.integers(1, 4).map(lambda n: "#" * n + " Heading"),
    st.lists(st.just(_LINE), min_size=1, max_size=40).map("\n".join),
    st.integers(1, 300).map(lambda n: "```python\n" + "# no heading\n" * n + "```"),
    st.integers(1, 300).map(lambda n: "| a | b |\n|---|:-:|" + "\n| one | two |" * n),
)


@pytest.mark.parametrize("rich", [True, False], ids=["markdown", "plain"])
@_any
@given(st.lists(_blocks, max_size=20).map("\n\n".join))
async def test_a_long_document_in_parts_is_whole_and_each_part_stands_alone(
    at: Bot, rich: bool, text: str
) -> None:
    at.bed.world.untaken = set() if rich else {"markdown"}
    parts = await stands(at, cards.DOCUMENT.model_copy(update={"text": text}))
    shown = [reads(part) for part in parts]
    for word in (_LINE, "# no heading", "| one | two |", "# Heading"):
        assert sum(part.count(word) for part in shown) == text.count(word)
    for part in shown:
        assert part.count("```") % 2 == 0, "code is closed, and opened again"
        assert "| one | two |" not in part or "| a | b |" in part, "a table has its head"
    if len(parts) > 1:
        assert "part 2 of" in shown[1]


@pytest.mark.parametrize("text", ["\n" * 50_000, "x" * 60_000, "_" * 100_000, "<a:" * 30_000])
async def test_even_a_monstrous_document_is_shown(at: Bot, text: str) -> None:
    sound(await stands(at, cards.DOCUMENT.model_copy(update={"text": text})))


# As richly as the workspace takes it


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.message for one in caplog.records if one.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("kind", "card", "changed"),
    [
        ("plan", cards.STATUS, LATER),
        ("alert", cards.NEWS, CHANGED),
        ("table", cards.APPROVAL, cards.APPROVED),
        ("markdown", cards.DOCUMENT, cards.DOCUMENT.model_copy(update={"revision": 2})),
        ("context_actions", cards.SUMMARY, cards.SUMMARY.model_copy(update={"merged": "no"})),
    ],
    ids=["plan", "alert", "table", "markdown", "thumbs"],
)
async def test_a_kind_that_is_refused_costs_one_call_and_one_line(
    at: Bot, kind: str, card: Card, changed: Card, caplog: pytest.LogCaptureFixture
) -> None:
    at.bed.leeway.forgiven |= {"invalid_blocks"}
    at.bed.world.untaken.add(kind)
    for thread in (await at.ask(), await at.ask()):
        for version in (card, changed):
            await at.chat.show(thread, version)
        (only,) = at.cards(thread)
        assert kind not in kinds(only)
    assert len([call for call in at.bed.calls if call.error == "invalid_blocks"]) == 1
    assert told(caplog) == ["drawn more plainly: a workspace does not take some blocks"]


async def test_what_is_refused_is_remembered_over_a_start_and_tried_again_after_a_day(
    at: Bot,
) -> None:
    at.bed.leeway.forgiven |= {"invalid_blocks"}
    at.bed.world.untaken.add("alert")
    thread = await at.ask()
    await at.chat.show(thread, cards.NEWS)
    at.bed.world.untaken.clear()
    await (await at.restart()).show(thread, cards.PROBLEM)
    assert "alert" not in kinds(at.cards(thread)[-1])
    refused = at.folder / "refused.json"
    assert refused.stat().st_mode & 0o777 == 0o600
    [[workspace, kind, when]] = json.loads(refused.read_text())
    refused.write_text(json.dumps([[workspace, kind, when - 25 * 3600]]))
    await (await at.restart()).show(thread, cards.NEEDS_YOU)
    assert "alert" in kinds(at.cards(thread)[-1])


@pytest.mark.parametrize("text", ["", "[", "{}", '[["T1", "hologram", 1]]', '[["T1"]]', "[1]", "3"])
async def test_a_file_of_refusals_that_cannot_be_read_is_found_out_anew(at: Bot, text: str) -> None:
    (at.folder / "refused.json").write_text(text, "utf-8")
    await at.restart()
    assert "alert" in kinds(await one(at, cards.NEWS))


async def test_a_word_in_private_is_drawn_more_plainly_too(at: Bot) -> None:
    at.bed.leeway.forgiven |= {"invalid_blocks"}
    at.bed.world.untaken.add("alert")
    thread = await at.ask()
    for card in (cards.PROBLEM, cards.PROBLEM.model_copy(update={"key": "other"})):
        await at.chat.whisper(thread, person(), card)
    assert len(at.bed.ephemerals(MIKA)) == 2
    assert at.count("chat.postEphemeral") == 3


async def test_where_slack_does_not_say_which_block_all_newer_ones_are_left_out(at: Bot) -> None:
    at.bed.leeway.forgiven |= {"invalid_blocks"}
    at.bed.faults.refuse("invalid_blocks", POST)
    thread = await at.ask()
    await at.chat.show(thread, cards.NEEDS_YOU)
    assert "alert" not in kinds(at.cards(thread)[0])
    await at.chat.show(thread, cards.STATUS)
    assert "plan" in kinds(at.cards(thread)[1])


async def test_what_cannot_be_shown_in_any_form_is_said_and_held_against_no_kind(at: Bot) -> None:
    at.bed.leeway.forgiven |= {"invalid_blocks"}
    at.bed.faults.refuse("invalid_blocks", POST, None)
    with pytest.raises(Exception, match="invalid_blocks"):
        await at.chat.show(await at.ask(), cards.NEEDS_YOU)
    at.bed.faults.heal()
    assert "alert" in kinds(await one(at, cards.NEEDS_YOU))


@pytest.mark.parametrize(
    "card", [cards.APPROVAL, cards.SUMMARY, cards.QUESTIONS, news("x"), document(1)]
)
async def test_where_everything_is_refused_the_words_are_there_all_the_same(
    at: Bot, card: Card
) -> None:
    at.bed.leeway.forgiven |= {"msg_blocks_too_long"}
    rich = reads(await one(at, card))
    thread = await at.ask()
    at.bed.faults.refuse("msg_blocks_too_long", POST, 2)
    await at.chat.show(thread, card)
    (plain,) = at.cards(thread)
    assert plain.blocks == []
    words = re.findall(r"\w{4,}", rich)
    missing = [word for word in words if word not in plain.text.replace(ZERO_WIDTH_SPACE, "")]
    assert len(missing) <= len(words) / 2
    assert not _LIVE.search(plain.text)
