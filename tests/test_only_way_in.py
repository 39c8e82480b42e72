"""There is one way in: whatever a chat hears reaches a session through `Desk.take`, and `Desk.take` asks the one gate first.

Chats cannot import the desk (the import rule); all they are given of it is `deliver`. These are the rest of the chain.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bot.core.desk import Desk
from bot.core.gate import Gate

ROOT = Path(__file__).resolve().parents[1]
FROM_PEOPLE = {"Said", "Pressed", "Commanded", "Opened", "Visited", "Configured", "Continued"}
HEARING = {"desk", "session_commands"}
"""Modules in which a session is given what people do."""


def trees(*tops: str) -> Iterator[tuple[str, ast.Module]]:
    for top in tops:
        for path in sorted((ROOT / top).rglob("*.py")):
            name = str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
            yield name, tree_of(path)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def calls(*tops: str) -> Iterator[tuple[str, str, ast.Call]]:
    """Module, the last name of what is called, the call."""
    return (call for top in tops for call in calls_below(top))


@cache
def calls_below(top: str) -> list[tuple[str, str, ast.Call]]:
    return [
        (
            name,
            node.func.attr
            if isinstance(node.func, ast.Attribute)
            else getattr(node.func, "id", ""),
            node,
        )
        for name, tree in trees(top)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    ]


def where(last: str, *tops: str) -> set[str]:
    return {name for name, called, _ in calls(*tops) if called == last}


def test_every_chat_is_given_the_desks_take_and_nothing_else_of_it() -> None:
    """A seat is a terminal's: what is done there is told to the chat of this machine, which says by whom it is."""
    listened = {
        ast.unparse(call.args[0])
        for _, called, call in calls("bot")
        if called == "listen" and call.args
    }
    assert listened == {"desk.take", "seat.deliver"}
    taking = {
        name
        for name, tree in trees("bot/cli")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "desk.take"
    }
    assert taking == {"bot.cli.serve"}


def test_only_the_program_makes_a_desk_and_only_the_desk_gives_sessions_what_people_do() -> None:
    assert where("Desk", "bot", "adapters") == {"bot.cli.assemble"}
    assert where("LiveSessions", "bot", "adapters") == {"bot.core.desk"}
    assert where("Actor", "bot", "adapters") == {"bot.core.live_sessions"}
    hearing = {
        name
        for name, called, call in calls("bot/core", "bot/steps")
        if called == "hear" and isinstance(call.func, ast.Attribute)
    }
    assert hearing == {f"bot.core.{module}" for module in HEARING}


def test_the_engine_makes_no_words_and_presses_of_people_itself() -> None:
    """But for what was asked for in a thread of its own and is passed on, past the gate of the other thread; and for what
    a command says in another way, by whom it was given: talk, a setting, a request."""
    made = {(name, called) for name, called, _ in calls("bot/core", "bot/steps")}
    assert {one for one in made if one[1] in FROM_PEOPLE} == {
        ("bot.steps.intake.work", "Continued"),
        # what is passed on to a session that goes on already are words like any others
        ("bot.steps.decisions", "Said"),
        ("bot.core.desk", "Said"),
        # a button that picks a session for a command, as its own person's, and asked for at the gate again
        ("bot.core.session_commands", "Commanded"),
        ("bot.core.desk", "Configured"),
        ("bot.core.session_factory", "Said"),
    }


def test_of_the_desk_only_take_takes_what_people_do() -> None:
    taking = [
        name
        for name, method in inspect.getmembers(Desk, inspect.isfunction)
        if not name.startswith("_")
        and any(
            word in str(parameter.annotation)
            for parameter in inspect.signature(method).parameters.values()
            for word in ("From", "Event", *FROM_PEOPLE)
        )
    ]
    assert taking == ["take"]


def test_nothing_is_done_with_an_event_before_the_gate_was_asked() -> None:
    """But to know whether it was answered already, and whether it was meant for the bot at all."""
    [take] = [
        node
        for name, tree in trees("bot/core", "bot/steps")
        if name == "bot.core.desk"
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "take"
    ]
    asked = [
        call.func.attr
        for statement in take.body
        for call in ast.walk(statement)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    ]
    before = asked[: asked.index("lets")]
    assert before == ["known", "_is_not_for_bot"]


@pytest.mark.parametrize("way", ["lets", "grants"])
def test_only_the_desk_and_what_belongs_to_it_asks_the_gate(way: str) -> None:
    """A second place that decides who may would sooner or later decide otherwise."""
    assert callable(getattr(Gate, way))
    asking = where(way, "bot", "adapters")
    assert asking <= {f"bot.core.{one}" for one in ("desk", "session_commands", "gate", "overview")}


def test_roles_are_decided_about_at_the_gate_alone() -> None:
    """Chats know no roles: they cannot even ask."""
    naming = {
        name
        for name, tree in trees("adapters")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module == "bot.core.people"
        and any(alias.name == "Role" for alias in node.names)
    }
    assert naming == set()
