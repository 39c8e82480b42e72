"""Which model the settings name: presets, what is missing, and that they are looked at for every question."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.models import ChosenLlm, chosen_models, main_model, model_for
from bot.core.errors import Refused, SettingsError, Unavailable
from bot.core.llm import ModelRole, Usage
from bot.core.masking import LearningMasker
from bot.settings import Provider, Settings
from tests.fakes.llm_programs import LlmPrograms, says
from tests.fakes.llm_server import Behaviour, LlmServer, cut, fails
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
    found = main_model(given(**{"OPENAI_MODEL": "m-1", **keys, **settings})).access
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
        _ = main_model(given(**settings)).access
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


# --- a model of its own for a role, and one that stands in ---

KEYS = {"OPENAI_API_KEY": OPENAI, "ANTHROPIC_API_KEY": ANTHROPIC}
HERE = {"OPENAI_BASE_URL": "https://own.test/v1", "OPENAI_MODEL": "m-1", **KEYS}


@pytest.mark.parametrize(("settings", "url", "model", "key"), [
    # at the main model's address, with its key
    ({"LLM_JUDGE_MODEL": "m-2"}, "https://own.test/v1", "m-2", OPENAI),
    ({"LLM_JUDGE_MODEL": "m-2", "LLM_JUDGE_KEY": "own"}, "https://own.test/v1", "m-2", "own"),
    # elsewhere: a key is never sent to another address
    ({"LLM_JUDGE_MODEL": "m-2", "LLM_JUDGE_BASE_URL": "https://x.test/v1"}, "https://x.test/v1", "m-2", ""),
    ({"LLM_JUDGE_MODEL": "m-2", "LLM_JUDGE_BASE_URL": "https://x.test/v1", "LLM_JUDGE_KEY": "own"}, "https://x.test/v1", "m-2", "own"),
    ({"LLM_JUDGE_MODEL": "m-2", "LLM_JUDGE_PROVIDER": "openai", "LLM_JUDGE_KEY": "own"}, "https://api.openai.com/v1", "m-2", "own"),
    ({"LLM_JUDGE_MODEL": "m-2", "LLM_JUDGE_PROVIDER": "anthropic"}, "https://api.anthropic.com/v1", "m-2", ANTHROPIC),
    ({"LLM_JUDGE_MODEL": "m-2", "LLM_PROVIDER": "anthropic", "LLM_JUDGE_PROVIDER": "custom", "LLM_JUDGE_BASE_URL": "https://x.test/v1"}, "https://x.test/v1", "m-2", ""),
])  # fmt: skip
def test_a_role_has_the_model_its_settings_name_and_no_key_of_another_address(
    given: Given, settings: dict[str, str], url: str, model: str, key: str
) -> None:
    found = model_for(given(**{**HERE, **settings}), ModelRole.JUDGE).access
    assert (found.base_url, found.model, found.api_key) == (url, model, key)


def test_without_settings_of_its_own_a_role_has_the_main_model(given: Given) -> None:
    settings = given(**HERE, LLM_JUDGE_KEY="", LLM_JUDGE_PROVIDER="")
    for role in ModelRole:
        assert model_for(settings, role).access == main_model(settings).access
    assert [one.name for one in chosen_models(settings)] == ["main"]


def test_what_another_model_lacks_is_named_by_its_own_settings(given: Given) -> None:
    settings = given(**HERE, LLM_JUDGE_PROVIDER="openai")
    with pytest.raises(Unavailable, match="AI settings are required") as missing:
        _ = model_for(settings, ModelRole.JUDGE).access
    for name in ("LLM_JUDGE_PROVIDER", "LLM_JUDGE_MODEL", "LLM_JUDGE_KEY"):
        assert name in missing.value.remedy
    assert "OPENAI_" not in missing.value.remedy


def test_the_keys_of_all_models_are_secrets(given: Given) -> None:
    keys = {f"LLM_{name}_KEY": f"sk-of-{name.lower()}" for name in ("JUDGE", "SMALL", "FALLBACK")}
    found = given(**keys, LLM_JUDGE_MODEL="m-2")
    assert found.secrets == keys
    assert not [key for key in keys.values() if key in f"{found!r}{found.told()}{found.keys()}"]
    assert keys["LLM_JUDGE_KEY"] not in repr(model_for(found, ModelRole.JUDGE))


async def test_each_question_goes_to_the_model_of_its_role(given: Given) -> None:
    async with LlmServer(server_says("hi")) as server, LlmServer(server_says("no")) as judge:
        settings = given(
            OPENAI_BASE_URL=server.url, OPENAI_MODEL="m-1", LLM_SMALL_MODEL="m-small",
            LLM_JUDGE_BASE_URL=judge.url, LLM_JUDGE_MODEL="m-judge", LLM_JUDGE_KEY="sk-of-the-judge",
            LLM_SMALL_CONTEXT_WINDOW="9000", LLM_CONTEXT_WINDOW="100000",
        )  # fmt: skip
        llm = ChosenLlm(lambda: settings, LearningMasker({}), {})
        texts = [
            (await llm.complete("s", "sk-of-the-judge", schema=None, role=role)).text
            for role in ModelRole
        ]
        assert texts == ["hi", "no", "hi"]
        assert [one.body["model"] for one in server.asked] == ["m-1", "m-small"]
        assert judge.asked[0].headers["authorization"] == "Bearer sk-of-the-judge"
        assert "sk-of-the-judge" not in str([one.body for one in (*server.asked, *judge.asked)])
        windows = [await llm.window(role) for role in (ModelRole.MAIN, ModelRole.SMALL)]
        assert windows == [100_000, 9000]


async def test_an_error_of_another_model_names_its_own_settings(given: Given) -> None:
    async with LlmServer(fails(404)) as server:
        settings = given(**HERE, LLM_JUDGE_BASE_URL=server.url, LLM_JUDGE_MODEL="m-judge")
        llm = ChosenLlm(lambda: settings, LearningMasker({}), {})
        with pytest.raises(Refused, match="m-judge") as error:
            await llm.complete("s", "d", schema=None, role=ModelRole.JUDGE)
        assert "LLM_JUDGE_MODEL and LLM_JUDGE_BASE_URL" in error.value.remedy


@pytest.mark.parametrize(
    "trouble", [fails(503), fails(429), fails(402), fails(429, {"Retry-After": "3600"}), cut()]
)
async def test_while_a_model_is_away_the_fallback_answers_and_then_it_is_asked_again(
    given: Given, trouble: Behaviour
) -> None:
    moments = [0.0]
    async with LlmServer(trouble) as first, LlmServer(server_says("instead")) as other:
        settings = given(
            OPENAI_BASE_URL=first.url, OPENAI_MODEL="m-1", LLM_CONTEXT_WINDOW="100000",
            LLM_FALLBACK_BASE_URL=other.url, LLM_FALLBACK_MODEL="m-f", LLM_FALLBACK_CONTEXT_WINDOW="9000",
        )  # fmt: skip
        llm = ChosenLlm(lambda: settings, LearningMasker({}), {}, clock=lambda: moments[-1])
        assert await llm.window(ModelRole.MAIN) == 100_000
        replies = [await llm.complete("s", "d", schema=None) for _ in range(3)]
        assert [reply.text for reply in replies] == ["instead"] * 3
        assert [reply.usage.stood_in for reply in replies] == [1, 1, 1]
        assert (
            {reply.usage.setting for reply in replies}
            == {llm.asked(ModelRole.MAIN)}
            == {"fallback"}
        )
        assert len(first.asked) == 1, "it is let alone for a while"
        assert await llm.window(ModelRole.MAIN) == 9000, "prompts are made for who answers"
        first.then(server_says("back"))
        moments.append(3601.0)
        reply = await llm.complete("s", "d", schema=None)
        assert (reply.text, reply.usage.stood_in) == ("back", 0)
        assert reply.usage.setting == llm.asked(ModelRole.MAIN) == "main"
        assert await llm.window(ModelRole.MAIN) == 100_000


async def test_the_main_model_stands_in_for_the_small_one_and_never_for_a_named_judge(
    given: Given,
) -> None:
    async with LlmServer(server_says("main")) as main, LlmServer(fails(503)) as away:
        settings = given(
            OPENAI_BASE_URL=main.url, OPENAI_MODEL="m-1", LLM_CONTEXT_WINDOW="100000",
            LLM_SMALL_BASE_URL=away.url, LLM_SMALL_MODEL="m-small", LLM_SMALL_CONTEXT_WINDOW="9000",
            LLM_JUDGE_BASE_URL=away.url, LLM_JUDGE_MODEL="m-judge",
        )  # fmt: skip
        llm = ChosenLlm(lambda: settings, LearningMasker({}), {})
        reply = await llm.complete("s", "d", schema=None, role=ModelRole.SMALL)
        assert (reply.text, reply.usage.setting, reply.usage.stood_in) == ("main", "main", 0)
        assert await llm.window(ModelRole.SMALL) == 100_000, "prompts are made for who answers"
        with pytest.raises(Unavailable) as error:
            await llm.complete("s", "d", schema=None, role=ModelRole.JUDGE)
        assert "LLM_FALLBACK_MODEL, or empty LLM_JUDGE_MODEL" in error.value.remedy
        assert len(main.asked) == 1


async def test_a_model_that_refuses_has_nobody_stand_in(given: Given) -> None:
    """A wrong key or name stays until somebody has put it right."""
    async with LlmServer(fails(401)) as first, LlmServer(server_says("instead")) as other:
        settings = given(
            OPENAI_BASE_URL=first.url, OPENAI_MODEL="m-1",
            LLM_FALLBACK_BASE_URL=other.url, LLM_FALLBACK_MODEL="m-f",
        )  # fmt: skip
        llm = ChosenLlm(lambda: settings, LearningMasker({}), {})
        with pytest.raises(Refused, match="refuses the key"):
            await llm.complete("s", "d", schema=None)
        assert other.asked == []


@pytest.mark.parametrize(
    "second", [fails(503), fails(401), fails(400, code="context_length_exceeded")]
)
async def test_where_nobody_can_stand_in_the_first_trouble_is_told(
    given: Given, second: Behaviour
) -> None:
    async with LlmServer(fails(503, message="down")) as first, LlmServer(second) as other:
        settings = given(
            OPENAI_BASE_URL=first.url, OPENAI_MODEL="m-1",
            LLM_FALLBACK_BASE_URL=other.url, LLM_FALLBACK_MODEL="m-f",
        )  # fmt: skip
        llm = ChosenLlm(lambda: settings, LearningMasker({}), {})
        for _ in range(2):
            with pytest.raises(Unavailable, match="down"):
                await llm.complete("s", "d", schema=None)
