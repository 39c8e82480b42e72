"""Which texts are commands, and which are talk."""

from __future__ import annotations

import pytest

from bot.core.choices import STOP_WORDS, Command, Word, parse_command


@pytest.mark.covers("O-C14")
@pytest.mark.parametrize("word", sorted(set(Word) - {Word.STOP, Word.REOPEN}))
def test_a_command_alone_is_a_command(word: Word) -> None:
    for text in (word, f"/{word}", f"!{word}", word.upper(), f" {word}. "):
        assert parse_command(text) == Command(word=word)


@pytest.mark.covers("G-RULE-APPROVAL-5")
@pytest.mark.parametrize(
    "text",
    [
        *sorted(STOP_WORDS),
        "STOP",
        "Stop!",
        "stop.",
        "/interrupt",
        "中断!",
        "ストップ。",
        "ｓｔｏｐ",
        "！stop",
    ],
)
def test_every_word_for_stopping_stops(text: str) -> None:
    assert parse_command(text) == Command(word=Word.STOP)


@pytest.mark.parametrize(
    ("text", "word", "argument"),
    [
        ("resume 1a2b3c4d", Word.RESUME, "1a2b3c4d"),
        ("resume abcd", Word.RESUME, "abcd"),
        ("/interrupt deadbeef", Word.STOP, "deadbeef"),
        (
            "discard 1a2b3c4d-0000-4000-8000-000000000000",
            Word.DISCARD,
            "1a2b3c4d-0000-4000-8000-000000000000",
        ),
        ("status 1a2b3c4d", Word.STATUS, "1a2b3c4d"),
        ("stop all-mine", Word.STOP, "all-mine"),
        ("resume mine", Word.RESUME, "mine"),
        ("logs T001", Word.LOGS, "T001"),
        ("logs t2", Word.LOGS, "t2"),
        ("info task-1a2b3c4d-1", Word.INFO, "task-1a2b3c4d-1"),
        ("logs Ｔ００１", Word.LOGS, "T001"),
        ("catch up 1a2b3c4d", Word.CATCH_UP, "1a2b3c4d"),
        ("catchup 1a2b3c4d", Word.CATCH_UP, "1a2b3c4d"),
    ],
)
def test_a_command_may_name_a_session_or_a_task(text: str, word: Word, argument: str) -> None:
    assert parse_command(text) == Command(word=word, argument=argument)


@pytest.mark.parametrize(
    "text", ["catch up", "Catch  UP!", "/catch up", "catch up.", "ｃａｔｃｈ　ｕｐ", "！ｃａｔｃｈｕｐ", "catch up…"]
)  # fmt: skip
def test_to_catch_up_may_be_said_in_two_words(text: str) -> None:
    assert parse_command(text) == Command(word=Word.CATCH_UP)


def test_the_model_may_be_named_with_its_address() -> None:
    named = Command(word=Word.MODEL, argument="https://llm.example/v1", text="qwen3:32b")
    assert parse_command("model https://llm.example/v1 qwen3:32b") == named
    assert parse_command("/model https://llm.example/v1 qwen3:32b") == named
    for talk in ("model the basket", "model the basket anew", "model https://llm.example/v1 a b"):
        assert parse_command(talk) is None


@pytest.mark.parametrize(
    ("text", "word", "argument"),
    [
        ("repo web-app", Word.REPO, "web-app"),
        ("ｒｅｐｏ　ｗｅｂ", Word.REPO, "web"),
        ("/repo Web.App_2", Word.REPO, "Web.App_2"),
        ("verbosity quiet", Word.VERBOSITY, "quiet"),
        ("Verbosity FULL", Word.VERBOSITY, "FULL"),
        ("ｖｅｒｂｏｓｉｔｙ　ｎｏｒｍａｌ", Word.VERBOSITY, "normal"),
    ],
)
def test_a_command_may_name_a_repository_or_how_much_is_said(
    text: str, word: Word, argument: str
) -> None:
    assert parse_command(text) == Command(word=word, argument=argument)


@pytest.mark.parametrize(
    ("text", "decision", "answer"),
    [
        ("reopen D3", "D3", ""),
        ("reopen d3", "D3", ""),
        ("/reopen 3", "D3", ""),
        ("!REOPEN D012.", "D12", ""),
        ("reopen D3 use OAuth", "D3", "use OAuth"),
        ("reopen D3: use OAuth", "D3", "use OAuth"),
        ("ｒｅｏｐｅｎ　Ｄ３：　ＯＡｕｔｈを使う", "D3", "ＯＡｕｔｈを使う"),
        ("  reopen\tD3\n Use OAuth,\n  as before. ", "D3", "Use OAuth,\n  as before."),
    ],
)
def test_a_decision_is_reopened_by_its_number_and_perhaps_answered_anew(
    text: str, decision: str, answer: str
) -> None:
    assert parse_command(text) == Command(word=Word.REOPEN, argument=decision, text=answer)


def test_only_a_reopening_carries_a_text() -> None:
    assert parse_command("info 1a2b3c4d please") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "reopen",
        "reopen.",
        "reopen D0",
        "reopen D",
        "reopen the issue",
        "reopen 1a2b3c4d",
        "reopen T003",
        "reopen D3a",
        "reopen D3,D4",
        "decisions D3",
        "decisions 1a2b3c4d",
        "decisions were made",
        "/",
        "stop using globals",
        "stop it",
        "stop please",
        "stop a",
        "resume work",
        "resume v2",
        "cancel subscriptions",
        "help me",
        "sessions 1a2b3c4d",
        "stop all",
        "discard changes",
        "logs T001\nand more",
        "add a status page",
        "1",
        "yes",
        "中断して",
        "catch",
        "catch up on sleep",
        "catch up later",
        "catch the error",
        "I have to catch up",
        "up catch",
        "repo is broken",
        "repo ../etc",
        "repo /srv/web",
        "repo -web",
        "verbosity 2",
        "verbosity of the logs",
        "inbox 1a2b3c4d",
        "inbox zero",
    ],
)
def test_talk_is_talk(text: str) -> None:
    assert parse_command(text) is None


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("tests", ""),
        ("Tests: make check", "make check"),
        ("/tests：npm test -- --run", "npm test -- --run"),
        ("!tests `uv run python -m pytest`", "`uv run python -m pytest`"),
        ("tests: none", "none"),
    ],
)
def test_the_command_that_runs_the_tests_is_told_as_it_is_written(text: str, command: str) -> None:
    assert parse_command(text) == Command(word=Word.TESTS, text=command)


@pytest.mark.parametrize(
    "text", ["tests fail since Monday", "tests make no sense", "tests:", "test"]
)
def test_talk_about_tests_is_no_command(text: str) -> None:
    assert parse_command(text) is None


def test_use_names_an_agent_and_is_talk_otherwise() -> None:
    assert parse_command("use codex") == Command(word=Word.USE, text="codex")
    assert parse_command("use mine for T002") == Command(
        word=Word.USE, argument="T002", text="mine"
    )
    assert parse_command("Use Decimal.") is None
