"""Which model the settings name: presets, what is missing, and that they are looked at for every question."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.models import ChosenLlm, llm_access
from bot.core.errors import SettingsError, Unavailable
from bot.core.llm import Usage
from bot.core.masking import LearningMasker
from bot.settings import Provider, Settings
from tests.fakes.llm_programs import LlmPrograms, says
from tests.fakes.llm_server import LlmServer, fails
from tests.fakes.llm_server import says as server_says
from tests.program.environment import Given, given_by

OPENAI, ANTHROPIC = "sk-of-openai-0123", "sk-ant-of-anthropic"


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Given:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return given_by(monkeypatch, tmp_path)


@pytest.mark.covers("R-ENUM-Provider")
@pytest.mark.parametrize(
    ("settings", "url", "key"),
    [
        ({"LLM_PROVIDER": "openai"}, "https://api.openai.com/v1", OPENAI),
        (
            {"LLM_PROVIDER": "openai", "OPENAI_BASE_URL": "https://proxy.test/v1"},
            "https://proxy.test/v1",
            OPENAI,
        ),
        ({"LLM_PROVIDER": "anthropic"}, "https://api.anthropic.com/v1", ANTHROPIC),
        (
            {"LLM_PROVIDER": "anthropic", "OPENAI_BASE_URL": "https://proxy.test/v1"},
            "https://api.anthropic.com/v1",
            ANTHROPIC,
        ),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1/"}, "http://127.0.0.1:1/v1", OPENAI),
        (
            {
                "LLM_PROVIDER": "custom",
                "OPENAI_BASE_URL": "http://127.0.0.1:1",
                "OPENAI_API_KEY": "",
            },
            "http://127.0.0.1:1",
            "",
        ),
    ],
)
def test_a_preset_knows_its_address_and_its_key(
    given: Given, settings: dict[str, str], url: str, key: str
) -> None:
    keys = {"OPENAI_API_KEY": OPENAI, "ANTHROPIC_API_KEY": ANTHROPIC}
    found = llm_access(given(**{"OPENAI_MODEL": "m-1", **keys, **settings}))
    assert (found.base_url, found.model, found.api_key) == (url, "m-1", key)
    assert found.key_setting == ("ANTHROPIC_API_KEY" if key == ANTHROPIC else "OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("settings", "named", "unnamed"),
    [
        ({}, ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY", "claude-code"], ["ANTHROPIC_"]),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1"}, ["OPENAI_MODEL"], ["OPENAI_BASE_URL"]),
        ({"OPENAI_MODEL": "m-1"}, ["OPENAI_BASE_URL"], ["OPENAI_MODEL"]),
        (
            {"LLM_PROVIDER": "openai"},
            ["OPENAI_MODEL", "OPENAI_API_KEY"],
            ["OPENAI_BASE_URL", "ANTHROPIC_API_KEY"],
        ),
        (
            {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": OPENAI, "ANTHROPIC_API_KEY": ANTHROPIC},
            ["OPENAI_MODEL"],
            ["_KEY"],
        ),
        (
            {"LLM_PROVIDER": "anthropic", "OPENAI_MODEL": "m-1"},
            ["ANTHROPIC_API_KEY"],
            ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"],
        ),
    ],
)
def test_what_is_missing_is_named_and_no_value_is(
    given: Given, settings: dict[str, str], named: list[str], unnamed: list[str]
) -> None:
    with pytest.raises(Unavailable, match="AI settings are required") as missing:
        llm_access(given(**settings))
    assert [name for name in named if name not in missing.value.remedy] == []
    assert [name for name in unnamed if name in missing.value.remedy] == []
    told = missing.value.reason + missing.value.remedy
    assert OPENAI not in told
    assert ANTHROPIC not in told


def test_a_provider_nobody_knows_is_told_with_the_known_ones(given: Given) -> None:
    with pytest.raises(SettingsError) as refusal:
        given(LLM_PROVIDER="gpt")
    assert "LLM_PROVIDER" in str(refusal.value)
    for provider in Provider:
        assert provider in str(refusal.value)


def test_no_provider_is_an_endpoint_of_ones_own(given: Given) -> None:
    assert given(LLM_PROVIDER="").llm_provider is Provider.CUSTOM
    assert given(LLM_CONTEXT_WINDOW="200000").llm_context_window == 200_000


def test_the_second_key_is_a_secret_too(given: Given) -> None:
    found = given(ANTHROPIC_API_KEY=ANTHROPIC)
    assert found.keys()["ANTHROPIC_API_KEY"] is True
    assert found.secrets == {"ANTHROPIC_API_KEY": ANTHROPIC}
    assert ANTHROPIC not in repr(found)


@pytest.mark.covers("R-ENUM-Provider")
async def test_the_settings_count_for_the_next_question(given: Given, tmp_path: Path) -> None:
    programs = LlmPrograms(tmp_path / "programs")
    programs.then(says("from a program"))
    settings: list[Settings] = []
    masker = LearningMasker({})
    llm = ChosenLlm(lambda: settings[-1], masker, {"PATH": str(programs.bin)})
    async with LlmServer(server_says("from an endpoint")) as server:
        here = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m-1", "OPENAI_API_KEY": OPENAI}
        answers: list[str] = []
        told = Usage()
        for provider in ("", "claude-code", "codex", "openai"):
            settings.append(given(LLM_PROVIDER=provider, **here))
            reply = await llm.complete("s", f"d {OPENAI}", schema=None)
            answers.append(reply.text)
            told += reply.usage
            assert told.provider == (provider or "custom")
            assert told.model
        assert told.milliseconds > 0
        assert len(server.asked) == 2
        assert OPENAI not in str([asked.body for asked in server.asked])
    assert answers == ["from an endpoint", "from a program", "from a program", "from an endpoint"]
    assert [seen.argv[seen.argv.index("--model") + 1] for seen in programs.seen] == ["m-1"] * 2
    assert OPENAI not in str(programs.seen)


async def test_what_was_learnt_of_an_endpoint_is_kept_between_questions(given: Given) -> None:
    async with LlmServer(server_says("I like turtles.")) as server:
        settings = given(OPENAI_BASE_URL=server.url, OPENAI_MODEL="m-1")
        llm = ChosenLlm(lambda: settings, LearningMasker({}), {})
        for _ in range(3):
            await llm.complete("s", "d", schema={"type": "object"})
        assert [asked.format for asked in server.asked] == ["json_schema"] * 2 + ["json_object"]


async def test_an_endpoint_that_asks_for_an_hour_is_let_alone_and_another_one_is_asked_at_once(
    given: Given,
) -> None:
    moments = [0.0]
    async with (
        LlmServer(fails(429, {"Retry-After": "3600"})) as busy,
        LlmServer(server_says("hello")) as other,
    ):
        settings = {"OPENAI_MODEL": "m-1", "OPENAI_BASE_URL": busy.url}
        llm = ChosenLlm(
            lambda: given(**settings), LearningMasker({}), {}, clock=lambda: moments[-1]
        )
        waits: list[float | None] = []
        for moment in (0.0, 60.0, 3590.0):
            moments.append(moment)
            with pytest.raises(Unavailable, match="429") as error:
                await llm.complete("s", "d", schema=None)
            waits.append(error.value.retry_after)
        assert waits == [60, 60, 10], "it is looked every minute whether the settings have changed"
        assert len(busy.asked) == 1
        settings["OPENAI_BASE_URL"] = other.url
        assert (await llm.complete("s", "d", schema=None)).text == "hello"
        settings["OPENAI_BASE_URL"] = busy.url
        moments.append(3600.0)
        busy.then(server_says("back"))
        assert (await llm.complete("s", "d", schema=None)).text == "back"
