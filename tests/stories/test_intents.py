"""Intents as a person lives through them at a real terminal, on real git: from a draft to its history, and back to a new wish."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from bot.cli import demo
from tests.stories.terminal import Terminal
from tests.stories.test_demo import SIZE, Person, Place, environ

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
DRAFT = """\
---
type: feature
---

Add discount codes and a printable receipt to the basket
"""
NOTICED = "prices-are-turned-into-text-in-more-than-one"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    asyncio.run(demo.end_agents(tmp_path / ".demo"))


class Forge:
    """The folder as people find it in their checkout."""

    def __init__(self, shop: Path) -> None:
        self._path = shop / ".forge"

    def drafts(self, name: str, text: str) -> None:
        folder = self._path / "intent-drafts"
        folder.mkdir(parents=True)
        (folder / name).write_text(text)

    def intent(self, id: str) -> dict[str, Any]:
        return self._read(self._path / "intents" / f"{id}.yaml")

    def history(self) -> dict[str, Any]:
        [path] = (self._path / "knowledge" / "history").iterdir()
        return self._read(path)

    def observations(self) -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", self._read(self._path / "observations.yaml"))

    def comments(self, id: str, comment: str) -> None:
        path = self._path / "intents" / f"{id}.yaml"
        path.write_text(f"# {comment}\n{path.read_text()}")

    def says(self, id: str, text: str) -> bool:
        return text in (self._path / "intents" / f"{id}.yaml").read_text()

    @staticmethod
    def _read(path: Path) -> Any:
        return yaml.safe_load(path.read_text())


@pytest.mark.covers("F-ENTITY-History", "F-REGISTRY-1", "F-DRAFT-2", "F-REFLECT-1", "F-HISTORY-1")
def test_a_draft_is_approved_run_and_merged_and_what_was_noticed_becomes_a_new_wish(
    folder: Path,
) -> None:
    place = Place(folder)
    forge = Forge(place.shop)
    with Terminal(folder, environ(folder, "0.05"), SIZE) as terminal:
        person = Person(terminal)
        person.starts()
        forge.drafts("receipt.md", DRAFT)
        terminal.type("intent show receipt")
        terminal.until_seen("no approval of a plan", "] Approve")
        forge.comments("receipt", "ask Anna")
        terminal.type("intent approve receipt")
        terminal.until_seen("receipt is approved, by")
        assert forge.intent("receipt")["status"] == "approved"
        terminal.type("intent run receipt")
        person.takes_defaults()
        terminal.until_seen("Feature Specification: ", "Once approved, I work alone")
        person.approves()
        person.merges("Add discount codes and a printable receipt")
        terminal.until(lambda: forge.intent("receipt")["status"] == "done")
        terminal.type("reflect")
        terminal.until_seen("1 intent proposed of 1 observation")
        terminal.type("inbox")
        terminal.until_seen(NOTICED)
    place.assert_all_is_merged_and_nothing_left()
    receipt = forge.intent("receipt")
    assert (receipt["type"], receipt["source"]) == ("feature", "human")
    assert all(asked["answer"] for asked in receipt["clarifications"])
    assert forge.says("receipt", "# ask Anna\n")
    history = forge.history()
    assert (history["intent_id"], history["outcome"]) == ("receipt", "success")
    assert history["failure_reason"] is None
    [noticed] = forge.observations()
    assert (noticed["source"], noticed["processed"]) == ("implement", True)
    assert noticed["evidence"] == [{"type": "file", "ref": "basket/checkout.py"}]
    assert history["observations"] == [noticed["id"]]
    proposed = forge.intent(NOTICED)
    assert (proposed["source"], proposed["status"]) == ("reflection", "proposed")
