"""`gwt-bot doctor`, as the program it is: what it finds, how it says it is mended, and what it never says."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.cli.doctor import CheckResult, run_checks
from bot.core.masking import LearningMasker
from tests.beds.slack import APP_TOKEN, BOT_TOKEN, MIKA, PUBLIC, TEAM, SlackBed
from tests.beds.synapse import Homeserver, People
from tests.fakes.llm_server import Behaviour, LlmServer, fails, says
from tests.program.environment import Given
from tests.stories.cradle import completed

ROOT = Path(__file__).parents[2]
TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"  # noqa: S105 - it opens nothing


def doctor(
    folder: Path, *options: str, begin: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    clean = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "GWT_HOME": str(folder / "home"),
        "GWT_AGENT": "other",
        "GWT_AGENT_COMMAND": "true",
    }
    program = ["bot", "doctor", *options]
    if begin:
        return subprocess.run(
            [sys.executable, "-m", *program],
            cwd=folder,
            env=clean | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            preexec_fn=begin,
        )
    return completed(program, clean | environment, folder)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "shop"
    for command in (
        ("init", "-q", "-b", "main", str(path)),
        (
            "-C",
            str(path),
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b.c",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "begin",
        ),
    ):
        subprocess.run(["git", *command], check=True)
    return path


def line_of(said: str, what: str) -> str:
    return next(line for line in said.splitlines() if line[2:].startswith(what))


async def test_where_everything_is_there_it_says_so_and_ends_well(
    repository: Path, tmp_path: Path
) -> None:
    async with LlmServer(says("ready")) as model:
        named = {"OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "some-model"}
        done = await asyncio.to_thread(
            doctor, tmp_path, begin=None, **named, GWT_REPOSITORY=str(repository)
        )
    (asked,) = model.asked
    assert sum(map(len, asked.texts)) < 100, "it asks for next to nothing"
    assert done.returncode == 0, done.stdout + done.stderr
    for what in ("tmux", "repository", "model", "agent other"):
        assert line_of(done.stdout, what).startswith("✓"), done.stdout
    assert "main at" in line_of(done.stdout, "repository")


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [(fails(401, message="bad key"), "bad key"), (fails(404, message="no m"), "no m")],
)
async def test_a_model_that_does_not_answer_is_told_with_what_to_look_at(
    given: Given, behaviour: Behaviour, reason: str
) -> None:
    async with LlmServer(behaviour) as model:
        found = await row(given, "model", OPENAI_BASE_URL=model.url, OPENAI_MODEL="m")
    assert (found.ok, found.needed) == (False, True)
    assert reason in found.says
    assert "OPENAI_" in found.remedy


async def test_each_model_that_the_settings_name_is_looked_at(given: Given) -> None:
    async with LlmServer(says("ready")) as main, LlmServer(fails(503)) as away:
        named = {"OPENAI_BASE_URL": main.url, "OPENAI_MODEL": "m-1", "LLM_JUDGE_MODEL": "m-judge"}
        other = {"LLM_FALLBACK_BASE_URL": away.url, "LLM_FALLBACK_MODEL": "m-f"}
        judge = await row(given, "model judge", **named, **other)
        fallback = await row(given, "model fallback", **named, **other)
    assert (judge.ok, judge.needed) == (True, True)
    assert "m-judge" in [asked.body["model"] for asked in main.asked]
    assert (fallback.ok, fallback.needed) == (False, False)


def test_whoever_wants_no_question_to_the_model_has_none_asked(
    repository: Path, tmp_path: Path
) -> None:
    nowhere = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_MODEL": "some-model"}
    here = {"GWT_REPOSITORY": str(repository)}
    done = doctor(tmp_path, "--no-model", begin=None, **nowhere, **here)
    assert "some-model (custom), not asked" in line_of(done.stdout, "model")


def test_which_programs_of_the_repository_would_run_is_told_and_none_is_run(
    repository: Path, tmp_path: Path
) -> None:
    (repository / "clean.sh").write_text("#!/bin/sh\ntouch ran\ncat\n")
    (repository / "clean.sh").chmod(0o755)
    found = doctor(tmp_path, GWT_REPOSITORY=str(repository))
    assert "no filter or merge driver" in line_of(found.stdout, "programs")
    command = ["git", "-C", str(repository), "config", "filter.z.clean", "./clean.sh"]
    subprocess.run(command, check=True)
    found = doctor(tmp_path, GWT_REPOSITORY=str(repository))
    assert "filter z runs `./clean.sh`" in line_of(found.stdout, "programs")
    assert not (repository / "ran").exists()


def test_every_repository_is_looked_at(repository: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    others = f"shop={repository}, web={elsewhere}"
    done = doctor(tmp_path, GWT_REPOSITORY=str(repository), GWT_REPOSITORIES=others)
    assert done.returncode == 1
    assert line_of(done.stdout, "repository shop").startswith("✓")
    assert line_of(done.stdout, "repository web").startswith("✗")


@pytest.mark.covers("O-K2")
def test_each_thing_that_lacks_is_told_with_its_remedy(tmp_path: Path) -> None:
    done = doctor(tmp_path, GWT_REPOSITORY=str(tmp_path), GWT_AGENT="claude", PATH="/usr/bin:/bin")
    assert done.returncode == 1
    assert line_of(done.stdout, "repository").startswith("✗")
    assert "AI settings are required" in line_of(done.stdout, "model")
    assert line_of(done.stdout, "agent claude").startswith("✗")
    assert done.stdout.count("→") >= 3
    assert "needed are not as they must be" in done.stderr


def test_a_token_is_never_said(repository: Path, tmp_path: Path) -> None:
    done = doctor(
        tmp_path, GWT_REPOSITORY=str(repository), GITHUB_TOKEN=TOKEN, OPENAI_API_KEY=f"sk-{TOKEN}"
    )
    assert "pull requests" in done.stdout
    assert TOKEN not in done.stdout + done.stderr


def test_it_changes_nothing(repository: Path, tmp_path: Path) -> None:
    before = sorted(str(path) for path in repository.rglob("*"))
    doctor(tmp_path, GWT_REPOSITORY=str(repository))
    assert sorted(str(path) for path in repository.rglob("*")) == before


@pytest.mark.covers("O-K2")
def test_programs_read_the_same_as_people_and_no_token(repository: Path, tmp_path: Path) -> None:
    done = doctor(tmp_path, "--json", GWT_REPOSITORY=str(repository), GITHUB_TOKEN=TOKEN)
    told = json.loads(done.stdout)
    assert (done.returncode, told["ok"]) == (1, False)
    found = {one["what"]: one for one in told["checks"]}
    assert found["tmux"]["ok"]
    assert not found["model"]["ok"]
    assert found["model"]["remedy"]
    assert TOKEN not in done.stdout


def test_a_line_of_the_settings_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / ".env").touch(0o600)
    (tmp_path / ".env").write_text('OPENAI_API_KEY="sk-abcdefghijklmnopqrstuvwxyz\n')
    done = doctor(tmp_path)
    assert "line 1 (OPENAI_API_KEY): its quotation mark" in line_of(done.stdout, "settings")
    assert "sk-" not in done.stdout + done.stderr


def test_a_home_in_which_nothing_can_be_kept_is_told_and_not_made(
    repository: Path, tmp_path: Path
) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = doctor(tmp_path, begin=full, GWT_REPOSITORY=str(repository))
    for what in ("home", "repository"):
        assert line_of(done.stdout, what).startswith("✗"), done.stdout
        assert "the disk is full" in line_of(done.stdout, what)
    (tmp_path / "file").touch()
    done = doctor(tmp_path, GWT_HOME=str(tmp_path / "file" / "home"))
    assert "so nothing can be kept under" in line_of(done.stdout, "home")
    done = doctor(tmp_path)
    assert line_of(done.stdout, "home").startswith("✓")
    assert not (tmp_path / "home").exists()


def test_a_home_that_others_can_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o755)
    (tmp_path / "home" / "index.json").touch(0o644)
    assert "can be read by others" in line_of(doctor(tmp_path).stdout, "home")


@pytest.mark.parametrize(
    ("set", "told"),
    [
        ({"GITHUB_APP_ID": "12"}, "in part: GITHUB_APP_KEY_FILE is missing"),
        ({"GITHUB_APP_KEY_FILE": "key.pem"}, "in part: GITHUB_APP_ID is missing"),
        ({"GITHUB_APP_INSTALLATION": "7"}, "GITHUB_APP_ID and GITHUB_APP_KEY_FILE is missing"),
        ({"GITHUB_APP_ID": "12", "GITHUB_APP_KEY_FILE": "/no/key.pem"}, "(/no/key.pem): No such"),
        ({"GITHUB_APP_ID": "12", "GITHUB_APP_KEY_FILE": "/dev"}, "Is a directory"),
        ({"GITHUB_APP_ID": "12", "GITHUB_APP_KEY_FILE": "/dev/null"}, "no private key in PEM"),
        ({"GITHUB_API_URL": "http://example.org", "GITHUB_TOKEN": TOKEN}, "over https only"),
    ],
)
def test_half_of_what_opens_github_is_told_where_nothing_is_hosted_yet(
    repository: Path, tmp_path: Path, set: dict[str, str], told: str
) -> None:
    done = doctor(tmp_path, begin=None, **set, GWT_REPOSITORY=str(repository))
    row = line_of(done.stdout, "pull requests")
    assert row.startswith("✗")
    assert told in row
    assert done.returncode == 1


def test_half_of_what_opens_a_chat_is_told(repository: Path, tmp_path: Path) -> None:
    done = doctor(tmp_path, GWT_REPOSITORY=str(repository), SLACK_BOT_TOKEN="xoxb-1")  # noqa: S106
    row = line_of(done.stdout, "chats")
    assert row.startswith("✗")
    assert "SLACK_APP_TOKEN is missing" in row


def test_a_command_of_an_agent_that_cannot_be_read_hides_no_other_row(tmp_path: Path) -> None:
    done = doctor(tmp_path, GWT_AGENT_COMMAND="agent 'half")
    assert "cannot be read" in line_of(done.stdout, "agent other")
    assert line_of(done.stdout, "audit log").startswith("✓")


@pytest.fixture
async def slack() -> AsyncIterator[SlackBed]:
    async with SlackBed() as bed:
        bed.leeway.forgiven |= {"missing_scope", "not_allowed_token_type"}
        yield bed


def of_slack(bed: SlackBed) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "SLACK_USERS": f"{TEAM}:{MIKA}",
        "SLACK_CHANNELS": f"{TEAM}:{PUBLIC}",
        "SLACK_API_URL": bed.api_url,
    }


async def row(given: Given, what: str, **environ: str) -> CheckResult:
    looked = run_checks(given(**environ), LearningMasker({}))
    (found,) = [one async for one in looked if one.what == what]
    return found


async def test_slack_is_asked_and_nothing_is_changed_there(given: Given, slack: SlackBed) -> None:
    found = await row(given, "slack", **of_slack(slack))
    assert (found.ok, slack.sockets.opened) == (True, 0)
    assert f"as gwt in the workspace {TEAM}" in found.says


@pytest.mark.parametrize(
    ("method", "error"),
    [("auth.test", "token_revoked"), ("apps.connections.open", "invalid_auth")],
)
async def test_a_token_that_slack_refuses_is_told(
    given: Given, slack: SlackBed, method: str, error: str
) -> None:
    slack.faults.refuse(error, method)
    found = await row(given, "slack", **of_slack(slack))
    assert (found.ok, found.needed) == (False, True)
    assert error in found.says
    assert "SLACK_" in found.remedy


async def test_a_slack_that_is_away_is_told(given: Given, slack: SlackBed) -> None:
    environ = of_slack(slack)
    await slack.go_away()
    found = await row(given, "slack", **environ)
    assert "cannot be reached" in found.says
    assert "proxy" in found.remedy


async def test_the_homeserver_is_asked_who_the_bot_is(
    given: Given, homeserver: Homeserver, people: People
) -> None:
    login = people("bot").login
    environ = {
        "MATRIX_HOMESERVER": homeserver.url,
        "MATRIX_USER": login.user_id,
        "MATRIX_ACCESS_TOKEN": login.access_token,
        "MATRIX_USERS": "@anna:hs",
        "MATRIX_ROOMS": "dm",
    }
    found = await row(given, "matrix", **environ)
    assert found.ok
    assert login.user_id in found.says
    homeserver.revoke(login)
    found = await row(given, "matrix", **environ)
    assert (found.ok, found.needed) == (False, True)
    assert "MATRIX_ACCESS_TOKEN" in found.remedy


def test_a_test_command_whose_program_is_not_there_is_told(
    repository: Path, tmp_path: Path
) -> None:
    told = "nonsense --all &&& web: (cd shop && make test)"
    here = {"GWT_REPOSITORY": str(repository), "GWT_REPOSITORIES": f"web={tmp_path / 'web'}"}
    done = doctor(tmp_path, begin=None, **here, GWT_TEST_COMMAND=told)
    assert line_of(done.stdout, "tests shop").startswith("✗")
    assert "There is no program `nonsense`" in line_of(done.stdout, "tests shop")
    assert "GWT_TEST_COMMAND" in done.stdout
    assert line_of(done.stdout, "tests web").startswith("✓")
    found = doctor(tmp_path, GWT_REPOSITORY=str(repository))
    assert "none was found" in line_of(found.stdout, "tests")
