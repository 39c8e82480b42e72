"""Which repository a request is about: the one it names, the one its channel is bound to, or the usual one; never a guess."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.cards import ReceivedCard
from bot.core.choices import Command, Word
from bot.core.events import Commanded
from bot.core.evidence import CommandSource
from bot.core.gate import Door, Gate
from bot.core.people import Role
from bot.core.repositories import Repositories, RepositoryRequest, repository_request
from bot.core.session_factory import SessionStarter
from bot.core.sheets import Table
from tests.core.at_the_desk import (
    ANNA,
    CHANNEL,
    ELSEWHERE,
    REFUSED,
    STARTER,
    begun,
    command,
    said,
    take,
    titles,
)
from tests.fakes.chat import THREAD
from tests.stories.stage import Stage


@pytest.fixture
async def stage() -> Stage:
    stage = Stage()
    usual = stage.repository.path
    stage.rules = replace(stage.rules, repositories={"shop": usual, "web": "/srv/web"})
    stage.gate = Gate(
        {"memory": Door({**dict.fromkeys(Role, frozenset({ANNA.id})), Role.START: frozenset({ANNA.id, STARTER.id})})}
    )  # fmt: skip
    await stage.open()
    return stage


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Add a page", RepositoryRequest("Add a page")),
        ("repo:web Add a page", RepositoryRequest("Add a page", "web")),
        ("Add a page repo:web.", RepositoryRequest("Add a page", "web")),
        ("Add repo:web, please", RepositoryRequest("Add please", "web")),
        ("リポジトリ repo：web に追加", RepositoryRequest("リポジトリ に追加", "web")),
        ("see https://x/repo:web", RepositoryRequest("see https://x/repo:web")),
        ("repo:../etc add", RepositoryRequest("add", "../etc")),
    ],
)
def test_a_request_may_name_one_anywhere_in_it(text: str, found: RepositoryRequest) -> None:
    assert repository_request(text) == found


@pytest.mark.covers("O-C18")
async def test_a_channel_that_is_bound_begins_its_sessions_there_and_others_do_not(
    stage: Stage,
) -> None:
    await command(stage, Word.REPO, "WEB")
    assert titles(stage) == ["Requests here are now about web"]
    assert (await begun(stage, CHANNEL)).repository.path == "/srv/web"
    assert (await begun(stage, ELSEWHERE)).repository.path == stage.repository.path


@pytest.mark.covers("O-C18")
async def test_a_name_in_the_request_wins_and_is_no_part_of_it(stage: Stage) -> None:
    await command(stage, Word.REPO, "web")
    await take(stage, said("Add discounts repo:shop"))
    await stage.settle()
    session = stage.session(THREAD)
    assert session.repository.path == stage.repository.path
    assert session.intent.body == "Add discounts"
    [first, *_] = stage.chat.cards(THREAD)
    assert isinstance(first, ReceivedCard)
    assert first.repository == stage.repository.path
    assert (first.branch, first.commit) == (
        session.repository.base_branch,
        session.repository.base_commit,
    )


@pytest.mark.covers("O-C18")
async def test_one_that_nobody_knows_is_told_and_no_other_is_taken(stage: Stage) -> None:
    await take(stage, said("Add discounts repo:wbe"))
    await command(stage, Word.REPO, "nowhere")
    assert titles(stage) == [
        "I know no repository wbe. There is shop, web.",
        "I know no repository nowhere. There is shop, web.",
    ]
    assert stage.store.sessions() == []


async def test_a_binding_to_one_that_is_gone_is_told_and_no_other_is_taken(stage: Stage) -> None:
    await command(stage, Word.REPO, "web")
    await stage.close()
    usual = stage.repository.path
    stage.rules = replace(stage.rules, repositories={"shop": usual, "api": "/srv/api"})
    await stage.open()
    await take(stage, said("Add discounts", id="again"))
    assert titles(stage)[-1].startswith("Requests here are about web. I know no repository web.")
    assert stage.store.sessions() == []


@pytest.mark.covers("O-X4")
async def test_set_up_is_for_the_usual_repository_or_for_the_one_it_names(stage: Stage) -> None:
    usual = stage.repository.path
    stage.rules = replace(stage.rules, set_up=("npm ci", "WEB: make deps", "echo a: b"))
    await stage.revive()
    repositories = Repositories(stage.world)
    assert repositories.set_up_for(usual) == ("npm ci", "echo a: b")
    assert repositories.set_up_for("/srv/web") == ("make deps",)
    # a copy that a script works on
    assert repositories.set_up_for("/srv/copies/shop") == ("npm ci", "echo a: b")


async def test_a_test_command_is_the_usual_repositorys_or_that_of_the_one_it_names(
    stage: Stage,
) -> None:
    told = ("make check", "WEB: npm test", "Web: npm run e2e", "echo a: b")
    stage.rules = replace(stage.rules, test_commands=told)
    await stage.revive()
    repositories = Repositories(stage.world)
    assert repositories.test_command_for(stage.repository.path) == "(make check) && (echo a: b)"
    assert repositories.test_command_for("/srv/web") == "(npm test) && (npm run e2e)"
    stage.rules = replace(stage.rules, test_commands=("web: npm test",))
    await stage.revive()
    repositories = Repositories(stage.world)
    assert repositories.test_command_for("/srv/web") == "npm test"
    assert repositories.test_command_for(stage.repository.path) == ""


@pytest.mark.covers("R-REPL-CONFIG-5")
async def test_a_copy_is_tested_as_what_it_was_copied_from(stage: Stage) -> None:
    usual = stage.repository.path
    stage.rules = replace(stage.rules, test_commands=("make check",))
    await stage.revive()
    beginning = SessionStarter(stage.world, Repositories(stage.world))
    for copied, wanted_command in ((usual, "make check"), ("/srv/web", ""), ("", "")):
        asked = said("Add discounts", id=f"of {copied}")
        asked = asked.model_copy(update={"repository": "/srv/copy", "copy_of": copied})
        begun_with = beginning.start_from_request(THREAD, asked).session
        assert (begun_with.repository.path, begun_with.tests.command) == (
            "/srv/copy",
            wanted_command,
        )


async def test_who_may_only_ask_may_look_and_not_bind(stage: Stage) -> None:
    assert await command(stage, Word.REPO, by=STARTER)
    assert not await command(stage, Word.REPO, "web", by=STARTER)
    assert titles(stage) == ["Repositories", REFUSED]
    (_, _, card), *_ = stage.chat.whispered
    [table, _] = card.model_copy().body  # type: ignore[union-attr]
    assert isinstance(table, Table)
    assert [row[2] for row in table.rows] == ["here", ""]


async def test_a_test_command_from_the_chat_counts_for_later_sessions_of_that_repository_alone(
    stage: Stage,
) -> None:
    first = await begun(stage, ELSEWHERE)
    sets = Command(word=Word.TESTS, text="make check")
    event = Commanded(id="tests", at=first.created_at, by=ANNA, command=sets, mention=True)
    await take(stage, event, first.thread)
    await stage.settle()
    await stage.revive()
    later = await begun(stage, ELSEWHERE)
    assert (later.tests.command, later.tests.source) == ("make check", CommandSource.EARLIER)
    repositories = Repositories(stage.world)
    assert repositories.test_command_and_source(f"{stage.repository.path}/api") == (
        "make check",
        CommandSource.EARLIER,
    )
    assert repositories.test_command_and_source("/srv/web") == ("", None)
    stage.rules = replace(stage.rules, test_commands=("tox",))
    await stage.revive()
    operators = Repositories(stage.world).test_command_and_source(stage.repository.path)
    assert operators == ("tox", CommandSource.SETTINGS)
