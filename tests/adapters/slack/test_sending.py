"""As richly as a workspace takes it: what it refuses for its kind costs one call and one line, and is tried again another day."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

import pytest

from adapters.slack.blocks.kit import EVERY_BLOCK_KIND, Block, BlockKind, plain_text, section
from adapters.slack.blocks.kit import SlackMessage as Drawn
from adapters.slack.client import SlackDenied
from adapters.slack.messages import REFUSED_FOR, SupportedBlocks, doubted_kinds
from bot.core.cards import Card
from tests.adapters.slack.office import CHANGED, LATER, PERSON, POST, SPEC, Office, news
from tests.beds.slack import MIKA, TEAM, Message
from tests.fakes import cards

BLOCKS: list[Block] = [
    {"type": "section"},
    {"type": "alert"},
    {"type": "plan"},
    {"type": "context"},
]


def kinds(message: Message) -> set[str]:
    return {block["type"] for block in message.blocks}


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.message for one in caplog.records if one.levelno >= logging.WARNING]


async def test_cards_are_drawn_with_all_that_is_taken(at: Office) -> None:
    working, ended = await at.ask(), await at.ask()
    for card in (cards.STATUS, cards.NEEDS_YOU, cards.ANSWER, cards.DOCUMENT):
        await at.gateway.show(working, card)
    await at.gateway.show(ended, cards.SUMMARY)
    seen = set[str]().union(*map(kinds, [*at.cards(working), *at.cards(ended)]))
    assert seen >= {kind.value for kind in BlockKind}


@pytest.mark.parametrize(
    ("kind", "card", "changed"),
    [
        (BlockKind.PLAN, cards.STATUS, LATER),
        (BlockKind.ALERT, cards.NEWS, CHANGED),
        (BlockKind.TABLE, cards.APPROVAL, cards.APPROVED),
        (BlockKind.MARKDOWN, cards.DOCUMENT, cards.DOCUMENT.model_copy(update={"revision": 2})),
        (BlockKind.FEEDBACK, cards.SUMMARY, cards.SUMMARY.model_copy(update={"merged": "no"})),
    ],
    ids=lambda value: getattr(value, "kind", value),
)
async def test_a_kind_that_is_refused_costs_one_call_and_one_line(
    at: Office, kind: BlockKind, card: Card, changed: Card, caplog: pytest.LogCaptureFixture
) -> None:
    at.forgiven = ("invalid_blocks",)
    at.bed.world.untaken.add(kind)
    one, other = await at.ask(), await at.ask()
    for thread in (one, other):
        for version in (card, changed):
            await at.gateway.show(thread, version)
        (only,) = at.cards(thread)
        assert kind not in kinds(only)
    refused = [call for call in at.bed.calls if call.error == "invalid_blocks"]
    assert len(refused) == 1
    assert told(caplog) == ["drawn more plainly: a workspace does not take some blocks"]


async def test_several_kinds_that_are_refused_are_found_one_after_the_other(at: Office) -> None:
    at.forgiven = ("invalid_blocks",)
    at.bed.world.untaken |= {BlockKind.ALERT, BlockKind.TABLE, BlockKind.FEEDBACK}
    thread = await at.ask()
    await at.gateway.show(thread, cards.SUMMARY)
    (only,) = at.cards(thread)
    assert kinds(only) == {"section", "actions"}
    assert "Theme" in only.reads
    assert at.count(POST) == 2


async def test_what_is_refused_is_remembered_over_a_start_and_tried_again_after_a_day(
    at: Office,
) -> None:
    at.forgiven = ("invalid_blocks",)
    at.bed.world.untaken.add(BlockKind.ALERT)
    thread = await at.ask()
    await at.gateway.show(thread, news("one"))
    await at.gateway.show(thread, cards.NEWS)
    at.bed.world.untaken.clear()
    await at.start().show(thread, cards.PROBLEM)
    assert "alert" not in kinds(at.cards(thread)[-1])
    at.clock += REFUSED_FOR + 1
    await at.start().show(thread, cards.NEEDS_YOU)
    assert "alert" in kinds(at.cards(thread)[-1])


async def test_a_word_in_private_climbs_the_same_ladder(at: Office) -> None:
    at.forgiven = ("invalid_blocks",)
    at.bed.world.untaken.add(BlockKind.ALERT)
    thread = await at.ask()
    for card in (cards.PROBLEM, cards.PROBLEM.model_copy(update={"key": "other"})):
        await at.gateway.whisper(thread, PERSON, card)
    assert len(at.bed.ephemerals(MIKA)) == 2
    assert at.count("chat.postEphemeral") == 3


async def test_a_long_document_without_markdown_stands_in_as_many_messages(at: Office) -> None:
    at.forgiven = ("invalid_blocks",)
    rich, plain = await at.ask(), await at.ask()
    await at.gateway.show(rich, SPEC)
    at.bed.world.untaken.add(BlockKind.MARKDOWN)
    await at.gateway.show(plain, SPEC)
    assert len(at.cards(plain)) == len(at.cards(rich)) > 1
    text = "".join(at.reads(plain))
    assert [f"# Part {n}\n" in text for n in range(6)] == [True] * 6


async def test_what_is_refused_for_its_content_is_not_held_against_its_kind(at: Office) -> None:
    at.forgiven = ("invalid_blocks",)
    long: Block = {"type": "alert", "text": plain_text("x"), "block_id": "b" * 300}

    def draw(card: object, site: object, rich: frozenset[BlockKind]) -> Sequence[Drawn]:
        return [Drawn("hello", [long, section(plain_text("the words"))])]

    thread = await at.ask()
    await at.start(draw=draw).show(thread, cards.NEWS)
    (only,) = at.cards(thread)
    assert "the words" in only.reads
    assert SupportedBlocks(at.folder / "refused.json").kinds(TEAM) == EVERY_BLOCK_KIND


async def test_where_slack_does_not_say_which_block_all_newer_ones_are_left_out(at: Office) -> None:
    at.forgiven = ("invalid_blocks",)
    at.bed.faults.refuse("invalid_blocks", POST)
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEEDS_YOU)
    await at.gateway.show(thread, cards.STATUS)
    needs, status = at.cards(thread)
    assert "alert" not in kinds(needs)
    assert "plan" in kinds(status)
    assert at.count(POST) == 3


async def test_a_refusal_of_a_message_without_newer_blocks_is_held_against_none(at: Office) -> None:
    at.forgiven = ("invalid_blocks",)
    at.bed.faults.refuse("invalid_blocks", POST)
    thread = await at.ask()
    await at.gateway.show(thread, cards.RECEIVED)
    (only,) = at.cards(thread)
    assert kinds(only) == {"section"}
    assert SupportedBlocks(at.folder / "refused.json").kinds(TEAM) == EVERY_BLOCK_KIND


async def test_what_cannot_be_shown_in_any_form_is_said(at: Office) -> None:
    at.forgiven = ("invalid_blocks",)
    at.bed.faults.refuse("invalid_blocks", POST, None)
    with pytest.raises(SlackDenied, match="invalid_blocks"):
        await at.gateway.show(await at.ask(), cards.NEEDS_YOU)
    assert SupportedBlocks(at.folder / "refused.json").kinds(TEAM) == EVERY_BLOCK_KIND


@pytest.mark.parametrize(
    ("details", "doubted"),
    [
        (("[ERROR] unsupported type: plan [json-pointer:/blocks/2/type]",), {BlockKind.PLAN}),
        (("unsupported type: alert",), {BlockKind.ALERT}),
        (("unsupported type: rich_text [json-pointer:/blocks/2/tasks/0/type]",), {BlockKind.PLAN}),
        (
            ("[ERROR] invalid additional property: level [json-pointer:/blocks/1]",),
            {BlockKind.ALERT},
        ),
        (("failed to match all allowed schemas [json-pointer:/blocks/1]",), {BlockKind.ALERT}),
        (("unsupported type: section [json-pointer:/blocks/0/type]",), set[BlockKind]()),
        (("must be less than 151 characters [json-pointer:/blocks/2/title]",), set[BlockKind]()),
        (("no more than 50 items allowed [json-pointer:/blocks/2/tasks]",), set[BlockKind]()),
        (("must be more than 0 characters [json-pointer:/blocks/1/text/text]",), set[BlockKind]()),
        (("`block_id` already exists [json-pointer:/blocks/1]",), set[BlockKind]()),
        (("no idea",), set[BlockKind]()),
        (("what? [json-pointer:/blocks/99/type]",), set[BlockKind]()),
        ((), {BlockKind.ALERT, BlockKind.PLAN}),
    ],
)
def test_the_details_of_a_refusal_tell_what_is_in_doubt(
    details: tuple[str, ...], doubted: set[BlockKind]
) -> None:
    assert doubted_kinds(SlackDenied("no", "", "invalid_blocks", details), BLOCKS) == doubted
    assert doubted_kinds(SlackDenied("no", "", "msg_blocks_too_long", details), BLOCKS) == set()


# What is remembered


def test_one_workspace_does_not_learn_from_another(at: Office) -> None:
    takes = SupportedBlocks(at.folder / "refused.json")
    takes.refuse("T1", frozenset({BlockKind.PLAN}), "unsupported")
    assert takes.kinds("T1") == EVERY_BLOCK_KIND - {BlockKind.PLAN}
    assert takes.kinds("T2") == EVERY_BLOCK_KIND


@pytest.mark.parametrize("text", ["", "[", "{}", '[["T1", "hologram", 1]]', '[["T1"]]', "[1]", "3"])
def test_a_file_that_cannot_be_read_is_found_out_anew(at: Office, text: str) -> None:
    path = at.folder / "refused.json"
    path.write_text(text, "utf-8")
    takes = SupportedBlocks(path, wall=lambda: 5.0)
    assert takes.kinds("T1") == EVERY_BLOCK_KIND
    takes.refuse("T1", frozenset({BlockKind.TABLE}), "unsupported")
    assert json.loads(path.read_text("utf-8")) == [["T1", "table", 5.0]]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_clock_that_was_set_back_keeps_no_block_away(at: Office) -> None:
    path = at.folder / "refused.json"
    SupportedBlocks(path, wall=lambda: 10 * REFUSED_FOR).refuse(
        "T1", frozenset({BlockKind.TABLE}), "unsupported"
    )
    assert SupportedBlocks(path, wall=lambda: 1 * REFUSED_FOR).kinds("T1") == EVERY_BLOCK_KIND


def test_a_disk_that_is_full_only_forgets(at: Office) -> None:
    path = at.folder / "folder"
    path.mkdir()
    takes = SupportedBlocks(path)
    takes.refuse("T1", frozenset({BlockKind.TABLE}), "unsupported")
    assert takes.kinds("T1") == EVERY_BLOCK_KIND - {BlockKind.TABLE}
