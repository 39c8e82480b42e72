"""The model, chosen while the bot runs: two lines of one file, never a key, and nothing changed behind anybody's back."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.cli.preferences import EnvPreferences
from bot.core.errors import Refused
from bot.settings import Provider, Settings, load
from tests.program.environment import given_by

URL, MODEL = "https://llm.example/v1", "qwen3:32b"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch, home: Path, tmp_path: Path) -> EnvPreferences:
    given_by(monkeypatch, home)
    return EnvPreferences(lambda: load(tmp_path / ".env"), {}, tmp_path / ".env")


def refusal(chosen: EnvPreferences, url: str = URL, model: str = MODEL) -> str:
    with pytest.raises(Refused) as problem:
        chosen.choose_model(url, model)
    return f"{problem.value.reason} {problem.value.remedy}"


@pytest.mark.covers("G-RULE-AI-4", "G-RULE-AI-5")
def test_what_is_chosen_counts_at_once_and_is_for_the_owner_only(
    chosen: EnvPreferences, home: Path
) -> None:
    assert chosen.model().missing
    chosen.choose_model(f" {URL}/ ", f" {MODEL} ")
    told = chosen.model()
    assert (told.base_url, told.model, told.missing) == (URL, MODEL, "")
    assert (home / ".env").stat().st_mode & 0o777 == 0o600


def test_every_other_line_stays_as_it_was(chosen: EnvPreferences, home: Path) -> None:
    home.mkdir()
    before = "# mine\r\nexport OPENAI_MODEL = old # why\nOPENAI_API_KEY='s p'\n\nopenai_base_url=http://127.0.0.1:1\nLAST=1"
    (home / ".env").write_bytes(before.encode())
    (home / ".env").chmod(0o600)
    chosen.choose_model(URL, MODEL)
    after = (home / ".env").read_bytes().decode()
    assert after == (
        f"# mine\r\nOPENAI_MODEL={MODEL}\nOPENAI_API_KEY='s p'\n\nOPENAI_BASE_URL={URL}\nLAST=1\n"
    )


def test_it_says_whether_a_key_is_set_and_never_which(home: Path) -> None:
    settings = Settings(
        gwt_home=home,
        openai_api_key=SecretStr("sk-secret"),
        openai_model=MODEL,
        openai_base_url=URL,
    )
    told = EnvPreferences(lambda: settings, {}).model()
    assert told.key_set
    assert "sk-secret" not in told.model_dump_json()


def test_what_counts_more_is_not_overruled(chosen: EnvPreferences, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_MODEL=\n")
    (tmp_path / ".env").chmod(0o600)
    assert str(tmp_path / ".env") in refusal(chosen)
    (tmp_path / ".env").unlink()
    elsewhere = EnvPreferences(lambda: load(None), {"openai_base_url": URL})
    assert "environment" in refusal(elsewhere)


def test_a_provider_with_an_address_of_its_own_keeps_it(home: Path) -> None:
    settings = Settings(gwt_home=home, llm_provider=Provider.ANTHROPIC)
    assert "LLM_PROVIDER" in refusal(EnvPreferences(lambda: settings, {}))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "llm.example/v1",
        "ftp://llm.example",
        "http://llm.example/v1",
        "https://user:secret@llm.example/v1",
        "https://llm.example/v1?key=secret",
        "https://llm.example/${OPENAI_API_KEY}",
        "https://llm.example/v1\nGITHUB_TOKEN=x",
        "https://llm.example:0/v1",
        "https://[llm",
    ],
)
def test_an_address_a_key_must_not_be_sent_to_is_refused_and_nothing_written(
    chosen: EnvPreferences, home: Path, url: str
) -> None:
    assert "address" in refusal(chosen, url=url)
    assert not (home / ".env").exists()


@pytest.mark.parametrize("model", ["", "two words", "a\nb", "$(id)", "x" * 300, "#x"])
def test_what_is_no_name_of_a_model_is_refused(
    chosen: EnvPreferences, home: Path, model: str
) -> None:
    assert "model" in refusal(chosen, model=model)
    assert not (home / ".env").exists()


def test_a_file_that_is_no_text_is_left_alone(chosen: EnvPreferences, home: Path) -> None:
    home.mkdir()
    (home / ".env").write_bytes(b"\xff\xfe")
    (home / ".env").chmod(0o600)
    broken = EnvPreferences(lambda: Settings(gwt_home=home), {}, home / "other")
    assert "no text" in refusal(broken)
    assert (home / ".env").read_bytes() == b"\xff\xfe"
