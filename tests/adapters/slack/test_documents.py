"""Documents in parts and as files, and cards that Slack does not take as they were drawn."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from tests.adapters.slack.bot import DEAF, POST, UPDATE, Bot, actions, document
from tests.beds.slack import PUBLIC
from tests.fakes import cards

SPEC = document(6)


async def test_a_document_is_shown_in_parts_and_then_as_a_file(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.show(thread, SPEC)
    parts = at.reads(thread)
    assert len(parts) > 1
    assert [f"Part {n}" in "".join(parts) for n in range(6)] == [True] * 6
    (file,) = at.bed.files
    assert (file.name, file.content, file.thread) == ("spec.md", SPEC.text.encode(), thread.root)
    assert at.bed.thread(PUBLIC, thread.root)[-1].files


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal"])
async def test_a_file_that_fails_does_not_keep_the_document_from_being_shown(
    at: Bot, method: str
) -> None:
    thread = await at.ask()
    at.bed.faults.answer(503, method)
    await at.chat.show(thread, SPEC)
    parts = at.reads(thread)
    assert parts
    assert at.files(thread) == []
    await (await at.restart()).show(thread, SPEC)
    assert at.files(thread) == ["spec.md"]
    assert at.reads(thread) == parts


async def test_a_file_is_in_the_thread_once_even_if_the_answer_is_lost(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer("files.completeUploadExternal")
    await at.chat.show(thread, SPEC)
    calls = at.calls()
    await (await at.restart()).show(thread, SPEC)
    assert at.files(thread) == ["spec.md"]
    assert at.calls() == calls


async def test_an_empty_document_has_no_file(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.show(thread, SPEC.model_copy(update={"text": ""}))
    assert len(at.cards(thread)) == 1
    assert at.files(thread) == []


# A form Slack does not take


@pytest.mark.parametrize("error", ["msg_too_long", "msg_blocks_too_long"])
@pytest.mark.parametrize("times", [1, 2])
async def test_what_slack_does_not_take_as_drawn_is_shown_in_a_simpler_form(
    at: Bot, error: str, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    at.bed.leeway.forgiven |= {error}
    thread = await at.ask()
    for method, card in ((POST, cards.APPROVAL), (UPDATE, cards.APPROVED)):
        at.bed.faults.refuse(error, method, times)
        await at.chat.show(thread, card)
        (only,) = at.cards(thread)
        assert "Set up the theme module" in only.reads
        assert bool(only.blocks) is (times == 1)
    simpler = [one for one in caplog.records if "simpler" in one.message]
    assert [one.levelno for one in simpler] == [logging.ERROR] * 2 * times


async def test_without_the_scope_for_files_documents_are_shown_all_the_same(at: Bot) -> None:
    at.bed.world.grants = replace(DEAF, scopes=DEAF.scopes - {"files:write"})
    at.bed.leeway.forgiven |= {"missing_scope"}
    thread = await at.ask()
    for revision in (1, 2):
        await at.chat.show(thread, document(6, f"spec:{revision}"))
    told = [text for text in at.reads(thread) if "not attached as files" in text]
    assert len(told) == 1


async def test_in_the_simpler_form_buttons_still_work(at: Bot) -> None:
    at.bed.leeway.forgiven |= {"msg_blocks_too_long"}
    thread, other = await at.ask(), await at.ask()
    await at.chat.show(thread, cards.APPROVAL)
    at.bed.faults.refuse("msg_blocks_too_long", POST)
    await at.chat.show(other, cards.APPROVAL)
    (rich,), (plain,) = at.cards(thread), at.cards(other)
    assert actions(plain) == actions(rich) != []
    assert {block["type"] for block in plain.blocks} <= {"section", "actions"}
