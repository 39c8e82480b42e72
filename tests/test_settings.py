"""Settings: from the environment and two files, every problem at once, no key ever shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot import settings
from bot.core.errors import SettingsError
from bot.settings import Settings
from tests.program.environment import MATRIX, SLACK, TOKENS, Given, given_by


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GWT_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def written(file: Path, text: str) -> Path:
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_settings_for_all_repositories_stand_in_the_home(home: Path, tmp_path: Path) -> None:
    written(home / ".env", "OPENAI_MODEL=of-the-home\n")
    assert settings.load(tmp_path / "none").openai_model == "of-the-home"


def test_what_stands_where_the_bot_is_started_counts_more(home: Path, tmp_path: Path) -> None:
    written(home / ".env", "OPENAI_MODEL=of-the-home\nGWT_AGENT=codex\n")
    here = written(tmp_path / ".env", "OPENAI_MODEL=of-the-folder\n")
    found = settings.load(here)
    assert (found.openai_model, found.gwt_agent) == ("of-the-folder", "codex")


def test_the_environment_counts_most(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = written(tmp_path / ".env", "OPENAI_MODEL=of-the-folder\n")
    monkeypatch.setenv("OPENAI_MODEL", "of-the-environment")
    assert settings.load(here).openai_model == "of-the-environment"


def test_a_file_in_the_home_that_others_can_read_is_refused(home: Path, tmp_path: Path) -> None:
    written(home / ".env", "OPENAI_API_KEY=very-secret\n").chmod(0o640)
    with pytest.raises(SettingsError, match="chmod 600"):
        settings.load(tmp_path / "none")


def test_a_file_that_is_no_text_is_named(home: Path) -> None:
    file = written(home / ".env", "")
    file.write_bytes(b"OPENAI_MODEL=caf\xe9\n")
    with pytest.raises(SettingsError, match=r"\.env is no text: save it as UTF-8"):
        settings.load(Path("none"))


def test_a_key_is_never_shown(home: Path, tmp_path: Path) -> None:
    here = written(tmp_path / ".env", "OPENAI_API_KEY=very-secret\n")
    found = settings.load(here)
    assert "very-secret" not in repr(found)
    assert found.keys()["OPENAI_API_KEY"] is True
    assert found.secrets == {"OPENAI_API_KEY": "very-secret"}


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, home: Path) -> Given:
    return given_by(monkeypatch, home)


@pytest.mark.covers("R-SECRET-RULE-3")
def test_keys_tell_which_are_set_and_never_what_they_are(given: Given) -> None:
    found = given(**SLACK, **MATRIX)
    kept = found.keys()
    assert {name for name, there in kept.items() if there} == {
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
        "MATRIX_ACCESS_TOKEN",
        "MATRIX_HOMESERVER",
    }
    assert kept["SLACK_SIGNING_SECRET"] is False
    assert {type(there) for there in kept.values()} == {bool}
    assert set(found.secrets.values()) == set(TOKENS)
    assert set(found.secrets) <= set(kept)
    assert not [token for token in TOKENS if token in f"{found!r}{found}{kept}"]


@pytest.mark.covers("R-ENTITY-Session")
def test_what_the_logs_tell_of_the_settings_holds_no_secret_and_nobodys_id(given: Given) -> None:
    found = given(**SLACK, **MATRIX, GWT_AGENT="codex")
    told = found.told()
    assert (told["gwt_agent"], told["progress_seconds"]) == ("codex", 120)
    assert not [token for token in TOKENS if token in str(told)]
    assert not set(told) & {name.lower() for name in found.secrets}
    assert "T1:U1" not in str(told)
    assert "@mika" not in str(told)


@pytest.mark.parametrize(
    ("name", "written", "understood"),
    [
        ("SLACK_USERS", "T1:U1, T1:W2 ,,T1:U1,", {"T1:U1", "T1:W2"}),
        ("SLACK_CHANNELS", "T1:C1,T1:G2,T1:dm", {"T1:C1", "T1:G2", "T1:dm"}),
        (
            "MATRIX_USERS",
            "@mika:example.org,@b_o-b=x/y:[::1]:8448",
            {"@mika:example.org", "@b_o-b=x/y:[::1]:8448"},
        ),
        (
            "MATRIX_ROOMS",
            "!abc:example.org, !NoServerInIt, dm",
            {"!abc:example.org", "!NoServerInIt", "dm"},
        ),
        ("SLACK_ADMINS", " ", set[str]()),
    ],
)
def test_a_list_holds_full_ids_between_commas(
    given: Given, name: str, written: str, understood: set[str]
) -> None:
    assert getattr(given(**{name: written}), name.lower()) == understood


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("SLACK_USERS", "mika"),
        ("SLACK_USERS", "@mika"),
        ("SLACK_USERS", "U0456DEF"),
        ("SLACK_APPROVERS", "T1:C1"),
        ("SLACK_STOPPERS", "t1:u1"),
        ("SLACK_ADMINS", "T1:U1;T1:U2"),
        ("SLACK_CHANNELS", "#dev"),
        ("SLACK_CHANNELS", "C0456DEF"),
        ("SLACK_CHANNELS", "dm"),
        ("SLACK_CHANNELS", "T1:U1"),
        ("MATRIX_USERS", "mika"),
        ("MATRIX_APPROVERS", "@mika"),
        ("MATRIX_STOPPERS", "mika:example.org"),
        ("MATRIX_ADMINS", "*"),
        ("MATRIX_ROOMS", "#dev:example.org"),
        ("MATRIX_ROOMS", "dev"),
    ],
)
def test_a_name_instead_of_an_id_is_told(given: Given, name: str, wrong: str) -> None:
    full = SLACK["SLACK_USERS"] if name.startswith("SLACK_") else MATRIX["MATRIX_USERS"]
    places = {"SLACK_CHANNELS": SLACK["SLACK_CHANNELS"], "MATRIX_ROOMS": MATRIX["MATRIX_ROOMS"]}
    with pytest.raises(SettingsError) as refusal:
        given(**{name: f"{places.get(name, full)},{wrong}"})
    (line,) = str(refusal.value).splitlines()[1:]
    assert line.startswith(f"  {name}: {wrong}: ")
    assert ", like " in line


def test_all_that_is_wrong_is_told_at_once(given: Given) -> None:
    wrong = dict.fromkeys(("SLACK_USERS", "SLACK_CHANNELS", "MATRIX_USERS"), "mika")
    with pytest.raises(SettingsError) as refusal:
        given(**wrong, MATRIX_HOMESERVER="example.org", SLACK_HTTP_PORT="0")
    told = str(refusal.value).splitlines()[1:]
    named = {line.split(":")[0].strip() for line in told}
    assert named == {*wrong, "MATRIX_HOMESERVER", "SLACK_HTTP_PORT"}


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_in_the_wrong_line_is_not_shown(given: Given, token: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        given(SLACK_USERS=token, MATRIX_ROOMS=token, MATRIX_HOMESERVER=token, SLACK_HTTP_PORT=token)
    assert token not in f"{refusal.value}{refusal.value.__cause__}"
    assert len(str(refusal.value).splitlines()) == 5


NUMBERS = [
    name
    for name, default in Settings.model_construct().model_dump().items()
    if isinstance(default, int | float) and not isinstance(default, bool)
]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("wrong", ["inf", "-inf", "nan", "1" * 40, "1e308", "9" * 5000, "-1", "x"])
def test_a_number_is_finite_and_its_bounds_are_told(given: Given, name: str, wrong: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        given(**{name.upper(): wrong})
    (line,) = str(refusal.value).splitlines()[1:]
    assert re.fullmatch(rf"  {name.upper()}: must be a .*number.* and at most [\d,]+", line), line


SECRET = "sk-abcdefghijklmnopqrstuvwxyz"  # noqa: S105 - it opens nothing


@pytest.mark.parametrize(
    ("text", "number", "named", "why"),
    [
        (f"{SECRET}\n", 1, "", "has no ="),
        (f"\n# a key\n\nMY KEY IS {SECRET}\n", 4, "", "has no ="),
        (f"OPENAI_API_KEY {SECRET}\n", 1, " (OPENAI_API_KEY)", "has no ="),
        (f"openai_api_key\n#{SECRET}\n", 1, " (OPENAI_API_KEY)", "has no ="),
        (f'OPENAI_API_KEY="{SECRET}\n', 1, " (OPENAI_API_KEY)", "never closed"),
        (f"export OPENAI_API_KEY='{SECRET}\n", 1, " (OPENAI_API_KEY)", "never closed"),
        (f'A="1"\nOPENAI_API_KEY="{SECRET}\nGWT_SET_UP=""\n', 2, " (OPENAI_API_KEY)", "closed"),
        (f'OPENAI_API_KEY="{SECRET}\nA=1\nGWT_SET_UP="a" b\n', 1, " (OPENAI_API_KEY)", "closed"),
        (f'OPENAI_API_KEY="{SECRET}" 2\r\n', 1, " (OPENAI_API_KEY)", "behind a closing"),
        (f"={SECRET}\n", 1, "", "cannot be read"),
    ],
)
def test_a_line_that_cannot_be_read_costs_its_own_setting_and_no_other(
    home: Path, tmp_path: Path, text: str, number: int, named: str, why: str
) -> None:
    file = written(home / ".env", text + "OPENAI_MODEL=after-it\n")
    found = settings.load(tmp_path / "none")
    assert (found.openai_model, found.keys()["OPENAI_API_KEY"]) == ("after-it", False)
    line = str(found.bad_lines[0])
    assert line.startswith(f"{file}, line {number}{named}: ")
    assert why in line
    assert SECRET not in "".join(map(str, found.bad_lines))


@pytest.mark.parametrize(
    "text",
    [
        'KEY="-----BEGIN\nab=cd\n-----END"\nOPENAI_MODEL=x\n',
        "\ufeffOPENAI_MODEL=x\n",
        "export OPENAI_MODEL = 'x' # why\nexport PATH\n",
        "NAME=x\nOPENAI_MODEL=${NAME}\n",
        "PROGRESS = edit\r\nopenai_model=x",
    ],
)
def test_what_other_programs_read_in_such_a_file_is_read(
    home: Path, tmp_path: Path, text: str
) -> None:
    written(home / ".env", text)
    found = settings.load(tmp_path / "none")
    assert (found.openai_model, found.bad_lines) == ("x", ())


@pytest.mark.parametrize("name", ["SANDBOX", "GWT_HOME", "SLACK_APPROVERS", "GWT_PULL_REQUESTS"])
def test_a_limit_that_cannot_be_read_is_not_lifted(home: Path, tmp_path: Path, name: str) -> None:
    """Without the line the bot would do more than it was told to, or do it elsewhere."""
    written(home / ".env", f'{name}="bwrap\nOPENAI_MODEL=x\n')
    with pytest.raises(SettingsError, match=rf"\.env, line 1 \({name}\): .* never closed"):
        settings.load(tmp_path / "none")


@pytest.mark.parametrize("name", ["GWT_HOME", "GWT_REPOSITORY", "GWT_REPOSITORIES", "SANDBOX_READ"])
def test_a_home_folder_of_nobody_is_told(given: Given, name: str) -> None:
    path = "~no-such-user/x"
    with pytest.raises(SettingsError, match=f"{name}: .*there is no home folder of that name"):
        given(**{name: f"api={path}" if name.endswith("IES") else path})
    if name == "GWT_HOME":
        with pytest.raises(SettingsError, match=name):
            settings.load(Path("none"))


def test_a_home_that_cannot_be_looked_into_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GWT_HOME", f"/{'long' * 100}")
    with pytest.raises(SettingsError, match="cannot be read: File name too long"):
        settings.load(Path("none"))


def test_that_the_folder_one_is_in_was_removed_is_told(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(SettingsError, match="was removed"):
        settings.load(Path("none"))


@pytest.mark.parametrize("name", ["GWT_HOME", "GWT_REPOSITORY"])
def test_a_path_with_a_line_break_is_told(given: Given, tmp_path: Path, name: str) -> None:
    """Neither git's answers nor tmux's commands can be read with it."""
    with pytest.raises(SettingsError, match=f"{name}: there is a line break in this path"):
        given(**{name: str(tmp_path / "two\nlines")})
