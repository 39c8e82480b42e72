"""Lines from pipes and files, and the demo that plays the person."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import TextIO

import pytest

from adapters.console.chat import ConsoleChat
from adapters.console.input import PROMPT, DemoInput, PipeInput
from adapters.console.rendering import ConsoleScreen
from bot.core.cards import Card, CardDecision
from bot.core.choices import Style, Verb
from bot.core.events import FromPeople, Pressed, Said
from bot.core.intent import Question
from bot.core.layout import lay_out
from bot.core.people import Thread
from tests.fakes import cards


async def all_of(source: TextIO, out: StringIO | None = None) -> list[str]:
    lines = PipeInput(source, ConsoleScreen(out or StringIO()))
    found: list[str] = []
    while (line := await lines.next_line(PROMPT)) is not None:
        found.append(line)
    return found


@pytest.fixture
def pipe() -> Iterator[tuple[TextIO, TextIO]]:
    read, write = os.pipe()
    with os.fdopen(read) as reader, os.fdopen(write, "w") as writer:
        yield reader, writer


async def test_a_pipe_is_read_line_by_line_as_it_comes(pipe: tuple[TextIO, TextIO]) -> None:
    reader, writer = pipe
    lines = PipeInput(reader, ConsoleScreen(StringIO()))
    waiting = asyncio.create_task(lines.next_line(PROMPT))
    await asyncio.wait({waiting}, timeout=0.01)
    assert not waiting.done()
    writer.write("öne\ntwo\nthr")
    writer.flush()
    assert await waiting == "öne"
    assert await lines.next_line(PROMPT) == "two"
    writer.write("ee")
    writer.close()
    assert await lines.next_line(PROMPT) == "three"
    assert await lines.next_line(PROMPT) is None


async def test_waiting_for_a_pipe_can_be_given_up(pipe: tuple[TextIO, TextIO]) -> None:
    lines = PipeInput(pipe[0], ConsoleScreen(StringIO()))
    waiting = asyncio.create_task(lines.next_line(PROMPT))
    await asyncio.wait({waiting}, timeout=0.01)
    waiting.cancel()
    await asyncio.wait({waiting}, timeout=120)
    assert waiting.cancelled()
    pipe[1].write("later\n")
    pipe[1].flush()
    assert await lines.next_line(PROMPT) == "later"


async def test_files_and_texts_are_read_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("one\n\n  \ntwo")
    with (tmp_path / "script").open() as file:
        assert await all_of(file) == ["one", "two"]
    with os.fdopen(os.open(os.devnull, os.O_RDONLY)) as nothing:
        assert await all_of(nothing) == []
    assert await all_of(StringIO("one\ntwo\n")) == ["one", "two"]


async def test_broken_letters_in_a_pipe_end_nothing(tmp_path: Path) -> None:
    (tmp_path / "script").write_bytes(b"a\xffb\nc\n")
    with (tmp_path / "script").open() as file:
        assert await all_of(file) == ["a\ufffdb", "c"]


async def test_a_question_in_a_pipe_can_be_read_and_takes_the_next_line() -> None:
    out = StringIO()
    lines = PipeInput(StringIO("use JWT\n"), ConsoleScreen(out))
    assert await lines.next_line("What should be different? ") == "use JWT"
    assert out.getvalue() == "What should be different?\n"


async def test_a_whole_session_can_be_piped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("Add a dark mode\n2\nuse JWT\n1\n"))
    out = StringIO()
    chat = ConsoleChat(tmp_path, cards.MIKA, out=out)
    heard: list[FromPeople] = []

    async def deliver(thread: Thread, event: FromPeople) -> bool:
        heard.append(event)
        await chat.show(thread, cards.APPROVAL)
        return True

    await chat.listen(deliver)
    assert [event.kind for event in heard] == ["said", "pressed", "pressed"]
    assert "\x1b" not in out.getvalue()


async def play(out: StringIO, tmp_path: Path) -> list[FromPeople]:
    """A desk that asks for an approval, then for a merge, then sums up."""
    chat = ConsoleChat(tmp_path, cards.MIKA, lines=DemoInput("Add a dark mode", 0, out), out=out)
    heard: list[FromPeople] = []

    async def deliver(thread: Thread, event: FromPeople) -> bool:
        heard.append(event)
        match event:
            case Said():
                await chat.show(thread, cards.RECEIVED)
                await chat.show(thread, cards.STATUS)
                await chat.show(thread, cards.APPROVAL)
            case Pressed(verb=Verb.APPROVE):
                await chat.show(thread, cards.APPROVED)
                await chat.show(thread, cards.OFFER)
            case _:
                decided = CardDecision(what="Merged", by="Mika", at=cards.AT)
                await chat.show(thread, cards.OFFER.model_copy(update={"decided": decided}))
                await chat.show(thread, cards.SUMMARY)
        return True

    async with asyncio.timeout(120):
        await chat.listen(deliver)
    return heard


async def test_the_demo_asks_takes_every_first_choice_and_ends(tmp_path: Path) -> None:
    out = StringIO()
    heard = await play(out, tmp_path)
    assert [e.verb if isinstance(e, Pressed) else e.kind for e in heard] == [
        "said",
        Verb.APPROVE,
        Verb.MERGE,
    ]
    assert "COMPLETE" in out.getvalue()


async def test_the_demo_takes_what_every_card_of_a_story_proposes() -> None:
    lines = DemoInput("Add a dark mode", 0, StringIO())
    await lines.next_line(PROMPT)
    story = (cards.QUESTIONS, cards.EARLIER, cards.APPROVAL, cards.CHANGE, cards.OFFER)
    for card in story:
        lines.card_shown(card)
        async with asyncio.timeout(120):
            line = await lines.next_line(PROMPT)
        assert lay_out(card).choices[int(line or 0) - 1].style is Style.PRIMARY


@pytest.mark.parametrize(
    "card",
    [
        cards.PROBLEM.model_copy(update={"choices": cards.PROBLEM.choices[1:]}),
        cards.QUESTIONS.model_copy(update={"questions": (Question(number=1, text="Which?"),)}),
    ],
    ids=["harmful", "in words"],
)
async def test_the_demo_waits_where_nothing_is_proposed(card: Card) -> None:
    lines = DemoInput("Add a dark mode", 0, StringIO())
    await lines.next_line(PROMPT)
    lines.card_shown(card)
    waiting = asyncio.create_task(lines.next_line(PROMPT))
    await asyncio.wait({waiting}, timeout=0.05)
    assert not waiting.done()
    lines.card_shown(cards.APPROVAL)
    async with asyncio.timeout(120):
        assert await waiting == "1"


async def test_what_the_demo_types_is_shown_and_marked(tmp_path: Path) -> None:
    out = StringIO()
    await play(out, tmp_path)
    typed = [line for line in out.getvalue().splitlines() if line.endswith("typed by the demo")]
    assert [line.partition("   ")[0] for line in typed] == [
        "› Add a dark mode",
        "› 1",
        "› 1",
        "Merge 2 branches into your local main? [y/N] y",
    ]


async def test_the_demo_presses_once_and_waits_until_it_is_decided() -> None:
    lines = DemoInput("Add a dark mode", 0, StringIO())
    assert await lines.next_line(PROMPT) == "Add a dark mode"
    lines.card_shown(cards.APPROVAL)
    assert await lines.next_line(PROMPT) == "1"
    waiting = asyncio.create_task(lines.next_line(PROMPT))
    await asyncio.wait({waiting}, timeout=0.05)
    assert not waiting.done()
    lines.card_shown(cards.APPROVED)
    lines.card_shown(cards.NEEDS_YOU)
    assert await waiting == "1"
    lines.card_shown(cards.SUMMARY)
    assert await lines.next_line(PROMPT) is None
