"""The form for model and endpoint: what is set can be seen, a key never is, and what is no address is given back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.blocks import forms
from adapters.slack.blocks.forms import FormPurpose
from bot.core.choices import Verb
from bot.core.events import Configured
from tests.adapters.slack import content
from tests.adapters.slack.whole import DEADLINE, HOME, PAGE, Whole, whole
from tests.beds.slack import AKI, MIKA, TEAM, SlackBed
from tests.beds.slack.validation import wrong_in_view

WHERE = FormPurpose(thread=HOME, verb=Verb.SETTINGS)
URL = "https://models.example/v1"


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed() as bed:
        yield bed


@pytest.fixture
async def bot(bed: SlackBed, tmp_path: Path) -> AsyncIterator[Whole]:
    async with whole(bed, tmp_path) as bot:
        await bot.visit(PAGE)
        yield bot


def values(base_url: str = "", model: str = "") -> dict[str, Any]:
    return {
        "base_url": {"base_url": {"type": "plain_text_input", "value": base_url}},
        "model": {"model": {"type": "plain_text_input", "value": model}},
    }


@pytest.mark.parametrize("text", content.HOSTILE, ids=lambda text: ascii(text[:12]))
def test_slack_takes_it_whatever_is_set(text: str) -> None:
    facts = ((text, text), ("Model", text), ("Base URL", text))
    assert wrong_in_view(forms.settings_form(WHERE, facts)) == []
    assert wrong_in_view(forms.settings_form(WHERE, facts * 30)) == []


def test_it_says_what_is_set_and_where_the_key_belongs() -> None:
    view = forms.settings_form(WHERE, PAGE.settings)
    reads = "\n".join(content.texts_of(view))
    assert "Key: SET" in reads
    assert "OPENAI_API_KEY in .env" in reads
    fields = {one["block_id"]: one["element"] for one in view["blocks"] if "element" in one}
    assert set(fields) == {"base_url", "model"}, "no key is asked for"
    assert fields["base_url"]["initial_value"] == "http://127.0.0.1:1/v1"
    assert fields["model"]["initial_value"] == "qwen3"


@pytest.mark.parametrize(
    ("url", "model"),
    [(URL, "m"), (URL, ""), ("", "org/model-1:latest"), ("http://[::1]:8080/v1", "x")],
)
def test_an_address_or_a_model_is_taken(url: str, model: str) -> None:
    assert forms.settings_errors(values(url, model)) == {}
    assert forms.settings_given(values(f" {url} ", model)) == (url, model)


@pytest.mark.parametrize(
    "url",
    [
        "models.example",
        "ftp://models.example",
        "https://",
        "https://me:secret@models.example/v1",
        "https://models.example/v1?key=secret",
        "https://models.example/v1#x",
        "https://models.example/ v1",
        "https://models.example:99999/",
        "https://[::1/",
        "https://" + "x" * 600,
        "javascript:alert(1)",
    ],
)
def test_what_is_no_address_or_holds_a_secret_is_given_back(url: str) -> None:
    assert list(forms.settings_errors(values(url, "m"))) == ["base_url"]


def test_an_empty_form_and_a_sentence_are_given_back() -> None:
    assert list(forms.settings_errors(values())) == ["model"]
    assert list(forms.settings_errors(values(URL, "the best one"))) == ["model"]


@pytest.mark.covers("G-RULE-AI-4")
async def test_what_is_set_there_is_delivered(bot: Whole) -> None:
    await bot.bed.click(MIKA, "home", "Model and endpoint")
    await bot.bed.until(lambda: bot.bed.views, DEADLINE)
    [form] = bot.bed.views
    answer = await bot.bed.submit(form, {"base_url": "nonsense", "model": "m"})
    assert list(answer["errors"]) == ["base_url"]
    await bot.bed.submit(form, {"base_url": URL, "model": "m"})
    [_, (thread, event)] = await bot.taken(2)
    assert isinstance(event, Configured)
    assert (event.base_url, event.model, event.by.id) == (URL, "m", f"{TEAM}:{MIKA}")
    assert thread == HOME


async def test_who_may_not_is_shown_no_form(bot: Whole) -> None:
    await bot.visit(PAGE, AKI)
    bot.desk.banned = {f"{TEAM}:{AKI}"}
    await bot.bed.click(AKI, "home", "Model and endpoint")
    await bot.bed.all_acked(DEADLINE)
    assert len(bot.desk.calls) == 1
    assert bot.bed.called("views.open") == []


async def test_a_form_for_something_else_sets_nothing(bot: Whole) -> None:
    await bot.bed.click(MIKA, "home", "Model and endpoint")
    await bot.bed.until(lambda: bot.bed.views, DEADLINE)
    [form] = bot.bed.views
    form.told["private_metadata"] = FormPurpose(thread=HOME, verb=Verb.HINT).json_text
    await bot.bed.submit(form, {"base_url": URL, "model": "m"})
    await bot.taken(1)
