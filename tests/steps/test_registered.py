"""Every action has one performer, and every event a rule that decides on it."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from importlib import resources
from types import ModuleType
from typing import get_args

import pytest

from bot.core import events
from bot.core.actions import Action, ActionBase, RunCheck
from bot.core.events import Event
from bot.core.world import PERFORMERS, performs
from bot.steps import decisions, trials
from bot.steps.approve import rules as approve
from bot.steps.asking import PROMPTS
from bot.steps.change import rules as change
from bot.steps.clarify import rules as clarify
from bot.steps.control import rules as control
from bot.steps.execute import rules as execute
from bot.steps.finish import afterwards
from bot.steps.finish import rules as finish
from bot.steps.intake import rules as intake
from bot.steps.perform import MODULES
from bot.steps.specify import rules as specify

RULES: dict[str, ModuleType] = {
    "first": decisions,
    "control": control,
    "intake": intake,
    "clarify": clarify,
    "specify": specify,
    "approve": approve,
    "execute": execute,
    "change": change,
    "finish": finish,
    "done": afterwards,
}
"""The rules that an event is handed to first: of each phase, of a change, and what counts in every phase."""
PHASES = ("intake", "clarify", "specify", "approve", "execute", "change", "finish", "done")
SHARED: dict[type, tuple[str, ...]] = {
    events.Said: PHASES,
    events.Pressed: ("control", *PHASES),
    events.OrderFailed: ("control", *PHASES),
    events.Scanned: ("intake", "specify"),
    events.DocumentWritten: ("specify", "change"),
    events.PlanAnalysed: ("specify", "change"),
    events.BaseSeen: ("specify", "approve", "execute"),
    events.WordsJudged: ("specify", "approve", "execute", "finish"),
    events.DocumentsCommitted: ("specify", "execute"),
    events.SessionOpened: ("intake", "done"),
    events.RunEnded: ("execute", "done"),
    events.WorkDescribed: ("execute", "finish"),
    events.PullsSeen: ("execute", "finish"),
    events.PullMergeTried: ("execute", "finish"),
    events.CleanedUp: ("approve", "finish", "done"),
}
"""Events that mean something in several phases. All others have one rule."""


def members(union: object) -> tuple[type, ...]:
    """The classes of a union that is told apart by `kind`."""
    return get_args(get_args(union)[0])


@cache
def events_named_in(module: ModuleType) -> frozenset[str]:
    """Classes that a `case` of the module matches, or that the first of all rules asks for."""
    source = inspect.getsource(decisions.decide if module is decisions else module)
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.MatchClass(cls=ast.Name(id=name)):
                found.add(name)
            case ast.If(test=ast.Call(args=[_, ast.Name(id=name)])) if module is decisions:
                found.add(name)
            case _:
                pass
    return frozenset(found)


@pytest.mark.parametrize("action", members(Action), ids=lambda one: one.__name__)
def test_every_action_has_a_performer(action: type[ActionBase]) -> None:
    assert MODULES, "they register as they are imported"
    assert action in PERFORMERS


def test_nothing_is_performed_that_is_no_action() -> None:
    assert set(PERFORMERS) == set(members(Action))


def test_a_second_performer_of_an_action_is_refused() -> None:
    with pytest.raises(TypeError, match="RunCheck has a performer already"):
        performs(RunCheck)(PERFORMERS[RunCheck])  # pyright: ignore[reportArgumentType]


def test_every_prompt_file_is_one_question_and_is_headed_by_its_name() -> None:
    files = {one.name: one.read_text("utf-8") for one in resources.files("bot.prompts").iterdir()}
    headings = {
        name: text.partition("\n")[0] for name, text in files.items() if name.endswith(".md")
    }
    # how to look at the repository stands below every question that may
    asked = {*PROMPTS, trials.LocatePrompt.name, "looking"}
    assert headings == {f"{name}.md": f"# {name}" for name in asked}


@pytest.mark.parametrize("event", members(Event), ids=lambda one: one.__name__)
def test_every_event_is_decided_on_by_one_rule_or_is_listed_as_shared(event: type) -> None:
    rules = tuple(
        name for name, module in RULES.items() if event.__name__ in events_named_in(module)
    )
    if event in SHARED:
        assert rules == SHARED[event]
    else:
        assert len(rules) == 1, f"decided on by {', '.join(rules) or 'no rule'}"
