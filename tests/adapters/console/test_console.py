"""The console as a person meets it: what typed lines do, what is shown again, and what a restart keeps."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from adapters.console.chat import ConsoleChat, ConsoleOptions
from adapters.console.input import SWITCH_LINE
from adapters.console.transcript import Transcript
from adapters.console.typed import ends_thread
from bot.core.cards import AnswerCard, Card, CardDecision, StatusCard
from bot.core.choices import Verb, Word
from bot.core.errors import Refused
from bot.core.events import Commanded, Pressed, Said
from bot.core.intent import Question
from bot.core.people import Person
from tests.adapters.console.stage import Stage
from tests.fakes import cards


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.mark.covers("G-RULE-SCOPE-1")
async def test_free_text_is_said_in_a_thread_of_its_own(stage: Stage) -> None:
    await stage.type("Add a dark mode")
    [(thread, event)] = stage.heard
    assert isinstance(event, Said)
    assert (event.text, event.by, event.at.tzinfo) == ("Add a dark mode", cards.MIKA, UTC)
    assert (thread.platform, thread.channel) == ("console", "terminal")


async def test_every_event_has_an_id_of_its_own(stage: Stage) -> None:
    await stage.type("one", "two", "status")
    assert len({event.id for event in stage.events}) == 3


async def test_commands_are_commands_also_before_there_is_a_session(stage: Stage) -> None:
    await stage.type("sessions", "/resume 1a2b3c4d", "stop")
    words = [event.command.word for event in stage.events if isinstance(event, Commanded)]
    assert words == [Word.SESSIONS, Word.RESUME, Word.STOP]
    assert len({thread.key for thread, _ in stage.heard}) == 1


@pytest.mark.parametrize("word", ["/quit", "exit", "QUIT"])
async def test_leaving_words_leave_and_are_not_delivered(stage: Stage, word: str) -> None:
    await stage.type(word, "never heard")
    assert stage.heard == []


async def test_a_number_presses_the_choice_of_the_newest_open_card(stage: Stage) -> None:
    await stage.show(cards.QUESTIONS, cards.APPROVAL)
    await stage.type("1")
    [event] = stage.events
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.APPROVE, cards.DIGEST)


@pytest.mark.parametrize("line", ["y", "YES", "はい"])
async def test_yes_presses_what_is_proposed(stage: Stage, line: str) -> None:
    await stage.show(cards.QUESTIONS)
    await stage.type(line)
    assert [event.verb for event in stage.events if isinstance(event, Pressed)] == [Verb.DEFAULTS]


@pytest.mark.covers("G-RULE-QUESTIONS-4")
async def test_enter_agrees_to_what_has_been_there_to_be_read(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.show(cards.APPROVAL)
    await stage.type("")
    assert stage.events == []
    assert "came just now" in stage.text
    monkeypatch.setattr(Transcript, "just_changed", False)
    await stage.type("")
    assert [event.verb for event in stage.events if isinstance(event, Pressed)] == [Verb.APPROVE]
    assert "You chose: Approve." in stage.text


async def test_enter_never_stops_or_destroys_anything(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Transcript, "just_changed", False)
    harmful = cards.PROBLEM.model_copy(update={"choices": cards.PROBLEM.choices[1:]})
    await stage.show(cards.STATUS, harmful)
    await stage.type("")
    assert stage.events == []


async def test_the_live_status_hides_no_question(stage: Stage) -> None:
    await stage.show(cards.NEEDS_YOU, cards.STATUS)
    await stage.type("1")
    assert [event.verb for event in stage.events if isinstance(event, Pressed)] == [Verb.RETRY]


async def test_a_choice_that_wants_a_text_asks_for_it(stage: Stage) -> None:
    await stage.show(cards.APPROVAL)
    await stage.type("2", "use JWT", "2 use cookies", "2", "  ")
    texts = [event.text for event in stage.events if isinstance(event, Pressed)]
    assert texts == ["use JWT", "use cookies"]
    assert "What should be different? " in stage.script.prompts
    assert "Nothing was changed." in stage.text


async def test_a_choice_that_cannot_be_undone_asks_once_more(stage: Stage) -> None:
    await stage.show(cards.APPROVAL)
    await stage.type("3", "", "3", "no", "3", "y")
    assert [event.verb for event in stage.events if isinstance(event, Pressed)] == [Verb.DISCARD]
    assert stage.script.prompts.count("Discard this session? Its branches stay. [y/N] ") == 3


@pytest.mark.parametrize("number", ["2", "3"])
async def test_stop_counts_also_where_something_was_asked(stage: Stage, number: str) -> None:
    await stage.show(cards.APPROVAL)
    await stage.type(number, "stop")
    [event] = stage.events
    assert isinstance(event, Commanded)
    assert event.command.word is Word.STOP


async def test_a_pipe_that_ends_at_a_question_presses_nothing(stage: Stage) -> None:
    await stage.show(cards.APPROVAL)
    await stage.type("3")
    assert stage.events == []


async def test_a_number_nobody_offers_is_said_so(stage: Stage) -> None:
    await stage.show(cards.APPROVAL)
    await stage.type("4", "0")
    assert stage.events == []
    assert "There is no choice 4 now." in stage.text


async def test_a_number_may_be_the_answer_to_a_question(stage: Stage) -> None:
    await stage.show(cards.QUESTIONS)
    await stage.type("2", "1 and 2 as you like")
    texts = [event.text for event in stage.events if isinstance(event, Said)]
    assert texts == ["2", "1 and 2 as you like"]


UNKNOWN = cards.QUESTIONS.model_copy(
    update={"questions": (Question(number=1, text="Which file?", options=("a.py", "b.py")),)}
)


async def test_questions_without_defaults_are_answered_in_words_only(stage: Stage) -> None:
    await stage.show(cards.APPROVAL, UNKNOWN)
    await stage.type("", "1", "yes", "D1: b.py")
    texts = [event.text for event in stage.events if isinstance(event, Said)]
    assert texts == ["1", "yes"], "and nothing that stands above it is pressed"
    assert [e.answers for e in stage.events if isinstance(e, Pressed)] == [{1: "b.py"}]
    again = Stage(stage.home)
    await again.type("1")
    assert [type(event) for event in again.events] == [Said]


async def test_enter_on_questions_without_defaults_says_what_is_wanted(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Transcript, "just_changed", False)
    await stage.show(UNKNOWN)
    await stage.type("")
    assert "Type your answers." in stage.text
    assert stage.events == []


async def test_some_questions_may_be_answered_and_the_rest_left_to_the_defaults(
    stage: Stage,
) -> None:
    await stage.show(cards.QUESTIONS)
    await stage.type("D1: In the browser")
    text = await stage.show(cards.HALF_ANSWERED)
    assert "1 question is still open" in text
    assert "→ In the browser" in text
    await stage.type("1")
    answered, defaults = [event for event in stage.events if isinstance(event, Pressed)]
    assert answered.answers == {1: "In the browser"}
    assert defaults.verb is Verb.DEFAULTS


async def test_a_decided_card_can_no_longer_be_pressed(stage: Stage) -> None:
    await stage.show(cards.APPROVAL, cards.APPROVED)
    await stage.type("1")
    assert stage.events == []


async def test_going_on_after_a_stop_closes_the_card_of_the_stop(stage: Stage) -> None:
    await stage.show(cards.NEEDS_YOU, cards.STOPPED, cards.STATUS)
    await stage.type("1")
    assert [event.verb for event in stage.events if isinstance(event, Pressed)] == [Verb.RETRY]


async def test_a_card_shown_twice_stands_there_once(stage: Stage) -> None:
    for card in cards.EVERY_KIND:
        assert await stage.show(card)
        assert await stage.show(card) == ""


async def test_a_card_shown_twice_at_once_stands_there_once(stage: Stage) -> None:
    thread = await stage.thread()
    await asyncio.gather(*(stage.chat.show(thread, cards.OFFER) for _ in range(3)))
    assert stage.text.count("Everything is built") == 1


async def test_a_card_shown_before_a_restart_is_not_shown_again(stage: Stage) -> None:
    for card in cards.EVERY_KIND[:-3]:
        await stage.show(card)
    again = Stage(stage.home)
    for card in cards.EVERY_KIND[:-3]:
        assert await again.show(card, thread=await stage.thread()) == ""


async def test_an_open_card_can_be_pressed_after_a_restart(stage: Stage) -> None:
    await stage.show(cards.APPROVAL)
    again = Stage(stage.home)
    await again.type("1")
    [(thread, event)] = again.heard
    assert isinstance(event, Pressed)
    assert thread == await stage.thread()
    assert "[1] Approve" in again.text


async def test_what_was_decided_is_told_in_one_line(stage: Stage) -> None:
    await stage.show(cards.APPROVAL)
    decided = CardDecision(what="Approved", by="Mika", at=cards.AT)
    text = await stage.show(cards.APPROVAL.model_copy(update={"decided": decided}))
    time = f"{cards.AT.astimezone():%H:%M}"
    assert text.strip() == f"✓ Approved by you, {time}   Shall I build SPEC-1a2b3c4d, revision 1?"


async def test_a_plan_that_was_approved_is_not_shown_once_more_for_who_did(stage: Stage) -> None:
    await stage.show(cards.APPROVAL.model_copy(update={"dry_run": True}))
    text = await stage.show(cards.APPROVED.model_copy(update={"approved_by": ("Mika",)}))
    assert text.strip().startswith("✓ Approved by you")
    assert len(text.strip().splitlines()) == 1


async def test_what_somebody_else_decided_names_them(stage: Stage) -> None:
    await stage.show(cards.OFFER)
    decided = CardDecision(what="Merged", by="Anna", at=cards.AT)
    assert "✓ Merged by Anna" in await stage.show(
        cards.OFFER.model_copy(update={"decided": decided})
    )


async def test_a_card_that_says_something_else_is_shown_anew(stage: Stage) -> None:
    await stage.show(cards.OFFER)
    text = await stage.show(cards.OFFER.model_copy(update={"problem": "main has moved."}))
    assert "main has moved." in text
    assert "Everything is built" in text


@pytest.mark.covers("G-RULE-UI-2")
async def test_ticks_do_not_scroll_by(stage: Stage) -> None:
    await stage.show(cards.STATUS)
    for seconds in range(1, 4):
        tasks = tuple(
            t.model_copy(update={"seconds": seconds, "tail": "x"}) for t in cards.STATUS.tasks
        )
        assert (
            await stage.show(cards.STATUS.model_copy(update={"tasks": tasks, "at": cards.AT})) == ""
        )


@pytest.mark.covers("O-C8")
async def test_a_status_that_is_to_come_anew_is_shown_in_full_each_time(stage: Stage) -> None:
    await stage.show(cards.STATUS)
    for minutes in (2, 4):
        at = cards.AT + timedelta(minutes=minutes)
        text = await stage.show(cards.STATUS.model_copy(update={"anew": True, "at": at}))
        assert "T001" in text
    after = cards.STATUS.model_copy(update={"at": cards.AT + timedelta(minutes=5)})
    assert await stage.show(after) == ""


@pytest.mark.covers("G-RULE-UI-1")
async def test_a_task_that_moved_is_told_in_one_line(stage: Stage) -> None:
    await stage.show(cards.STATUS)
    moved = cards.STATUS.tasks[2].model_copy(update={"state": "NeedsContinuation", "name": "It"})
    update = {"tasks": (*cards.STATUS.tasks[:2], moved)}
    text = await stage.show(cards.STATUS.model_copy(update=update))
    assert text == "↻ T003  It  needs continuation\n"


async def test_the_answer_to_status_is_shown_in_full(stage: Stage) -> None:
    await stage.show(cards.STATUS)
    text = await stage.show(cards.STATUS.model_copy(update={"key": "answer:7", "choices": ()}))
    assert "T001" in text
    assert "Running" in text


async def test_when_a_session_is_given_up_a_request_opens_a_new_thread(stage: Stage) -> None:
    await stage.type("first")
    await stage.show(cards.DISCARDED)
    await stage.type("logs", "second", "third")
    threads = [thread.root for thread, _ in stage.heard]
    assert threads[0] == threads[1], "a command still means the old session"
    assert threads[2] == threads[3] != threads[0]


async def test_when_a_session_has_come_to_its_end_what_is_said_is_still_said_there(
    stage: Stage,
) -> None:
    await stage.type("first")
    await stage.show(cards.SUMMARY)
    await stage.type("logs", "second")
    again = Stage(stage.home)
    await again.type("third")
    threads = [thread for thread, _ in (*stage.heard, *again.heard)]
    assert len(threads) == 4
    assert len(set(threads)) == 1


async def test_that_a_session_was_given_up_is_remembered_over_a_restart(stage: Stage) -> None:
    await stage.type("first")
    await stage.show(cards.DISCARDED)
    again = Stage(stage.home)
    await again.type("second")
    assert again.heard[0][0] != stage.heard[0][0]


async def test_a_discarded_session_leaves_nothing_to_press(stage: Stage) -> None:
    await stage.show(cards.APPROVAL, cards.STATUS.model_copy(update={"status": "Discarded"}))
    await stage.type("1")
    assert stage.events == []


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_only_a_summary_or_a_discard_ends_a_thread(card: Card) -> None:
    assert ends_thread(card) is (card == cards.SUMMARY)
    assert ends_thread(cards.DISCARDED)
    assert ends_thread(cards.STATUS.model_copy(update={"status": "Discarded"}))


async def test_a_card_of_another_session_names_it_and_cannot_be_pressed_here(stage: Stage) -> None:
    await stage.thread()
    text = await stage.show(cards.NEEDS_YOU, thread=cards.OTHER_THREAD)
    assert "session 22222222" in text
    text += await stage.show(cards.STOPPED, cards.OFFER, thread=cards.OTHER_THREAD)
    assert text.count("session 1a2b3c4d") == 2, "the name is known once a card has told it"
    assert "[1]" not in text
    assert stage.script.seen == []
    await stage.type("1")
    assert stage.events == []


async def test_turning_to_another_session_makes_its_cards_pressable(stage: Stage) -> None:
    await stage.thread()
    await stage.show(cards.NEEDS_YOU, thread=cards.OTHER_THREAD)
    await stage.chat.turn_to(cards.OTHER_THREAD)
    assert "[1] Retry" in stage.text
    await stage.type("1")
    [(thread, event)] = stage.heard
    assert thread == cards.OTHER_THREAD
    assert isinstance(event, Pressed)


async def test_the_end_of_another_session_does_not_end_the_current_one(stage: Stage) -> None:
    await stage.type("first")
    await stage.show(cards.SUMMARY, thread=cards.OTHER_THREAD)
    await stage.type("second")
    assert stage.heard[0][0] == stage.heard[1][0]


async def test_a_word_in_private_says_that_nobody_else_sees_it(stage: Stage) -> None:
    card = AnswerCard(key="private:1", title="Already approved by Mika.")
    await stage.chat.whisper(await stage.thread(), cards.MIKA, card)
    assert "only you see this" in stage.text
    assert "Already approved by Mika." in stage.text


async def test_a_word_to_somebody_else_is_not_shown(stage: Stage) -> None:
    await stage.chat.whisper(cards.THREAD, Person(platform="slack", id="U1"), cards.ANSWER)
    assert stage.text == ""


async def test_a_line_that_could_not_be_taken_is_told_and_listening_goes_on(stage: Stage) -> None:
    stage.disk_full = True
    await stage.type("Add a dark mode", "status")
    assert stage.text.count("I could not take that: No space left on device. Free some space.") == 2
    assert stage.heard == []


async def test_cards_shown_at_once_are_never_mixed(stage: Stage) -> None:
    thread = await stage.thread()
    await asyncio.gather(*(stage.chat.show(thread, card) for card in cards.EVERY_KIND))
    together = stage.text
    alone = Stage(stage.home / "alone")
    await alone.chat.turn_to(thread)
    for card in cards.EVERY_KIND:
        assert await alone.show(card, thread=thread) in together


async def test_an_output_that_is_gone_is_refused_and_the_card_not_forgotten(stage: Stage) -> None:
    thread = await stage.thread()
    whole = stage.out.write

    def broken(text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")

    stage.out.write = broken
    with pytest.raises(Refused, match="Broken pipe"):
        await stage.chat.show(thread, cards.ANSWER)
    stage.out.write = whole
    assert "Sessions" in await stage.show(cards.ANSWER)


async def test_a_status_of_a_finished_session_is_no_longer_below_the_line(stage: Stage) -> None:
    status: StatusCard = cards.STATUS
    await stage.show(status, cards.SUMMARY)
    assert "Type what you want built" in "".join(t for _, t, *_ in stage.chat.toolbar(100, 40))


@pytest.mark.covers("G-US1.1", "G-US1.2", "G-FR-001")
async def test_tab_asks_for_the_branches_and_leads_back_to_the_conversation(stage: Stage) -> None:
    await stage.type(SWITCH_LINE, "agent/dark-mode", SWITCH_LINE, "Add a light mode")
    listed, one, said = stage.events
    assert isinstance(listed, Commanded)
    assert isinstance(one, Commanded)
    assert (listed.command.word, one.command.word) == (Word.BRANCHES, Word.BRANCH)
    assert one.command.argument == "agent/dark-mode"
    assert isinstance(said, Said)
    assert "Back in the conversation." in stage.text


async def test_what_a_script_asks_for_says_that_nobody_is_there_and_where_to_work(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path)
    stage.chat = ConsoleChat(
        tmp_path,
        cards.MIKA,
        lines=stage.script,
        out=stage.out,
        options=ConsoleOptions(scripted=True, repository="/srv/copy", copy_of="/srv/web"),
    )
    await stage.type("Add a light mode")
    [said] = stage.events
    assert isinstance(said, Said)
    assert (said.unattended, said.repository, said.copy_of) == (True, "/srv/copy", "/srv/web")


async def test_a_console_of_one_project_shows_no_session_of_others(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    manner = ConsoleOptions(scripted=True, only_own=True, own="web")
    chat = ConsoleChat(tmp_path, cards.MIKA, lines=stage.script, out=stage.out, options=manner)
    await chat.show(chat.thread.model_copy(update={"root": "another"}), cards.NEWS)
    assert stage.text == ""
    await chat.show(chat.thread, cards.NEWS)
    assert "They go back to the same agent." in stage.text
