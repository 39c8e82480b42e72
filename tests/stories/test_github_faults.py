"""A GitHub that is not well, and a bot that is killed: nothing is made twice. Real program, tmux, git and sockets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.stories.github import deaths, faults, token_leaks
from tests.stories.github.workshop import workshop

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


async def test_lost_answers_refusals_and_a_while_without_github_make_nothing_twice(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        await faults.answers_get_lost(shop)


@pytest.mark.covers("G-RULE-PR-3")
async def test_a_token_that_is_worth_nothing_is_told_and_gone_on_with_when_it_works_again(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        await faults.the_token_is_worth_nothing_for_a_while(shop)


@pytest.mark.covers("G-RULE-PR-8")
async def test_a_push_that_a_rule_refuses_is_told_in_the_words_of_the_rule(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        await faults.a_rule_refuses_the_push(shop)


@pytest.mark.covers("B-OP-createPullRequest")
async def test_killed_around_every_step_of_a_pull_request_there_is_one_for_each_task(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        await deaths.around_every_step(shop)


@pytest.mark.covers("G-SEC-3", "R-PROPERTY-24")
async def test_no_key_of_the_bots_is_seen_anywhere(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        async with workshop(tmp_path, **token_leaks.CANARIES) as shop:
            await token_leaks.no_key_leaves_the_bot(shop)
    finally:
        os.umask(before)
