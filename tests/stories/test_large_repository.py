"""A request in a repository of 14,000 files: the model is shown what it is about, within its window."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.git import GitRepository
from bot.core.context.excerpts import RequestContext
from bot.core.llm import ModelRole, context_tokens, estimate_tokens, token_budget
from bot.core.states import Phase
from tests.stories.stage import Stage

FILES = 14_000
WINDOW = 32_000
ABOUT = "shop/pricing/discounts.py"


def stream() -> Iterator[str]:
    """The history of such a repository, as git reads it in one go: one commit."""
    yield "commit refs/heads/main\ncommitter Mika <mika@example.org> 1767225600 +0000\ndata 5\nBegin\n"
    for number in range(FILES - 1):
        text = f"def handle_{number}(event):\n    return event.value * {number}\n"
        yield f"M 100644 inline area{number // 100:03}/part{number:05}.py\n"
        yield f"data {len(text)}\n{text}\n"
    text = "def apply_discount(order):\n    return round(order.total * 0.9)\n"
    yield f"M 100644 inline {ABOUT}\ndata {len(text)}\n{text}\n"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Its path and its commit."""
    top = tmp_path_factory.mktemp("large")
    subprocess.run(["git", "init", "-q", "-b", "main", str(top)], check=True)
    history = "".join(stream()).encode()
    subprocess.run(["git", "fast-import", "--quiet"], cwd=top, input=history, check=True)
    tip = subprocess.check_output(["git", "rev-parse", "main"], cwd=top, text=True).strip()
    return str(top), tip


async def thirty_two_thousand(role: ModelRole) -> int:
    return WINDOW


async def test_a_plan_is_made_within_the_window(
    stage: Stage, large: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    real, request = (
        GitRepository(home, {"PATH": os.environ["PATH"]}),
        "Change how apply_discount rounds",
    )
    found = await real.find_context(*large, request, context_tokens(WINDOW))
    assert (found.searched, found.files[0].path) == (FILES, ABOUT)

    async def find_context(path: str, commit: str, asked: str, tokens: int) -> RequestContext:
        assert tokens == context_tokens(WINDOW)
        return found

    monkeypatch.setattr(stage.repository, "find_context", find_context)
    await stage.close()
    stage.rules = replace(stage.rules, context_window=thirty_two_thousand)
    await stage.open()
    await stage.is_planned(request)
    assert stage.session().phase is Phase.APPROVING
    specify = next(call for call in stage.llm.calls if call.system.startswith("# specify"))
    assert f"{ABOUT}:1" in specify.data or "apply_discount(order)" in specify.data
    for call in stage.llm.calls:
        whole = call.system + call.data + "".join(f"{one.answer}{one.then}" for one in call.turns)
        assert estimate_tokens(whole, 1.0) <= token_budget(WINDOW)
