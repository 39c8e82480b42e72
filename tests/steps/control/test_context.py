"""`context` lists what was read of the repository: what was found for the request, and what the model looked at."""

from __future__ import annotations

from bot.core.choices import Word
from bot.core.context.excerpts import ContextFile, RequestContext
from bot.core.events import Scanned
from bot.core.git import BuildSystem, Scan
from bot.core.llm import Usage
from bot.core.looks import MOST_KEPT, Look, LookTool, SeenLook
from bot.core.session import Session
from bot.steps.decisions import decide, due
from tests.steps.scenes import T0, cards, commanded, surveyed

CONTEXT = RequestContext(
    commit="b" * 40,
    files=(
        ContextFile(path="shop/discounts.py", ranges=((1, 9), (30, 40)), why="discount (name)"),
        ContextFile(path="shop/mail.py"),
    ),
    tokens=1_200,
    searched=31,
)


def told(session: Session) -> str:
    [card] = cards(decide(session, commanded(Word.CONTEXT)))
    return card.model_dump_json()


def seen(path: str) -> SeenLook:
    look = Look(tool=LookTool.READ, path=path, first=3, last=9)
    return SeenLook(look=look, commit="b" * 40, tokens=10, digest="d" * 16)


def scan(context: RequestContext | None = None) -> Scan:
    return Scan(commit="b" * 40, build_system=BuildSystem.OTHER, context=context)


def test_before_anything_is_read_it_says_so() -> None:
    assert "Nothing yet" in told(surveyed())


def test_files_lines_and_reasons_are_listed() -> None:
    session = surveyed()
    session.repository.scan = scan(CONTEXT)
    text = told(session)
    for part in ("shop/discounts.py", "1-9, 30-40", "discount (name)", "1,200 tokens of 31 source"):
        assert part in text


def test_looks_of_a_result_are_kept_the_last_ones() -> None:
    session = surveyed()
    [order] = due(session)
    looks = tuple(seen(f"lib/{n}.py") for n in range(MOST_KEPT + 5))
    decide(session, Scanned(id="e1", at=T0, answers=order.key, scan=scan(), looks=looks))
    assert session.repository.looks == looks[-MOST_KEPT:]
    assert f"read lib/{MOST_KEPT + 4}.py:3-9" in told(session)


def test_what_was_shortened_in_a_prompt_is_listed_by_question() -> None:
    session = surveyed()
    [order] = due(session)
    shortened = ("plan: repository.context", "plan: conversation_left_out", "judge: report")
    usage = Usage(calls=1, shortened=shortened)
    decide(session, Scanned(id="e1", at=T0, answers=order.key, scan=scan(), usage=usage))
    text = told(session)
    assert "plan: code found for the request, old messages" in text
    assert "judge: report" in text
