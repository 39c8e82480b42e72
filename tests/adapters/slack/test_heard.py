"""What each kind of thing that comes from Slack means."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.slack.blocks import forms
from adapters.slack.blocks.kit import ButtonValue as Button
from adapters.slack.deliveries import (
    Delivery,
    FormOpening,
    IncompleteForm,
    MessageEdit,
    NotForBot,
    PayloadMeaning,
    PressedButton,
    SlackCommand,
    Talk,
)
from adapters.slack.incoming import as_message_event, interpret_payload, message_key
from adapters.slack.payloads import PayloadContext
from bot.core.choices import Command, Verb, Word
from bot.core.events import Commanded, Opened, Pressed, Said
from bot.core.intent import Question
from bot.core.people import Person, Thread
from tests.adapters.slack.way_in import US
from tests.beds.slack import AKI, BOT, MIKA, OTHER_TEAM, PUBLIC, TEAM

Json = dict[str, Any]
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
TS, ROOT = "1763467200.000200", "1763467100.000100"
THREAD = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=ROOT)
QUESTIONS = (
    Question(number=1, text="Where?", options=("Here", "There"), default="Here"),
    Question(number=2, text="When?", default="Now"),
)


def meaning(body: Json) -> PayloadMeaning:
    def asked(thread: Thread, key: str) -> Sequence[Question]:
        return QUESTIONS if (thread, key) == (THREAD, "questions") else ()

    return interpret_payload(body, US, NOW, PayloadContext(asked))


def said(text: str, **more: Any) -> Json:
    event = {"type": "message", "user": MIKA, "channel": PUBLIC, "ts": TS, "text": text}
    body = {"type": "event_callback", "team_id": TEAM, "event_id": "Ev1"}
    return body | {"event": event | more}


def in_thread(text: str, **more: Any) -> Json:
    return said(text, thread_ts=ROOT, **more)


def delivered(body: Json) -> Delivery:
    found = meaning(body)
    assert isinstance(found, Delivery), found
    return found


def press(button: Button | str, **more: Any) -> Json:
    value = button if isinstance(button, str) else button.value
    action = {"type": "button", "action_id": "a:0", "value": value, "action_ts": "1763467300.5"}
    label = {"type": "plain_text", "text": "Request changes"}
    return {
        "type": "block_actions",
        "team": {"id": TEAM},
        "user": {"id": MIKA, "team_id": TEAM},
        "channel": {"id": PUBLIC},
        "container": {"type": "message", "message_ts": TS, "channel_id": PUBLIC},
        "message": {"ts": TS, "thread_ts": ROOT},
        "trigger_id": "t1",
        "state": {"values": {}},
        "actions": [action | {"text": label}],
        **more,
    }


def sent(view: forms.ModalView, values: Json) -> Json:
    told = {"id": "V1", "hash": "h1", "state": {"values": values}}
    user = {"id": MIKA, "team_id": TEAM}
    return {"type": "view_submission", "user": user, "view": {**view, **told}}


def typed(command: str, text: str = "") -> Json:
    told = {"command": command, "text": text, "user_id": MIKA, "channel_id": PUBLIC}
    return told | {"team_id": TEAM, "trigger_id": "t1"}


# what is written


def test_a_mention_and_the_message_it_stands_in_are_one_event() -> None:
    mention = delivered(said(f"<@{BOT}> Add a dark mode", type="app_mention"))
    message = delivered(said(f"<@{BOT}> Add a dark mode", channel_type="channel"))
    assert mention == message
    assert mention.id == f"slack:{TEAM}:{PUBLIC}:{TS}"
    assert mention.what == Talk("Add a dark mode", mention=True)
    assert mention.thread == THREAD.model_copy(update={"root": TS})


def test_a_message_read_from_the_history_is_the_same_event() -> None:
    live = in_thread("blue, please", channel_type="channel")
    read = {"type": "message", "user": MIKA, "ts": TS, "thread_ts": ROOT, "text": "blue, please"}
    assert meaning(dict(as_message_event(read, PUBLIC, US))) == meaning(live)
    assert message_key(live) == (PUBLIC, TS)
    assert message_key(press("x")) is None


def test_a_reply_needs_no_mention_and_is_marked_as_such() -> None:
    reply = delivered(in_thread("blue, please"))
    assert reply.what == Talk("blue, please", mention=False)
    assert reply.thread == THREAD
    assert reply.at == datetime(2025, 11, 18, 12, 0, 0, 200, tzinfo=UTC)


def test_a_file_a_broadcast_and_an_escaped_sign_are_talk() -> None:
    for subtype in ("file_share", "thread_broadcast"):
        heard_so = delivered(in_thread("a &lt; b", subtype=subtype))
        assert heard_so.what == Talk("a < b", mention=False)


@pytest.mark.parametrize(
    "more",
    [
        {"subtype": "message_changed", "hidden": True},
        {"subtype": "message_deleted"},
        {"subtype": "channel_join"},
        {"subtype": "bot_message"},
        {"bot_id": "B0OTHER"},
        {"bot_id": "B0BOT", "user": BOT},
        {"user": BOT},
        {"user": "USLACKBOT"},
        {"user": None},
        {"channel": None},
        {"ts": None},
    ],
)
def test_what_no_person_says_means_nothing(more: Json) -> None:
    assert isinstance(meaning(in_thread("Add a dark mode", **more)), NotForBot)


def test_talk_among_people_is_not_for_the_bot() -> None:
    lunch = meaning(said("Lunch?"))
    assert isinstance(lunch, NotForBot)
    assert lunch.talked == THREAD.model_copy(update={"root": TS})
    asked = meaning(in_thread(f"<@{AKI}> what do you think?"))
    assert isinstance(asked, NotForBot)
    assert asked.talked == THREAD
    both = delivered(in_thread(f"<@{AKI}> wait. <@{BOT}> go on"))
    assert isinstance(both.what, Talk)
    assert both.what.mention


@pytest.mark.parametrize(
    ("text", "mention"), [("stop", False), (f"<@{BOT}> stop", True), (f"stop <@{BOT}>", True)]
)
def test_stop_is_a_command_in_a_thread_with_or_without_a_mention(text: str, mention: bool) -> None:
    assert delivered(in_thread(text)).what == SlackCommand(Command(word=Word.STOP), mention)


def test_stop_in_a_channel_is_talk_among_people() -> None:
    assert isinstance(meaning(said("stop")), NotForBot)


def test_the_name_of_the_bot_alone_asks_for_help() -> None:
    assert delivered(said(f"<@{BOT}>")).what == SlackCommand(Command(word=Word.HELP), mention=True)
    assert isinstance(meaning(in_thread("")), NotForBot)


def test_everything_in_a_direct_message_is_for_the_bot() -> None:
    top = delivered(said("Add a dark mode", channel="D0001", channel_type="im"))
    assert top.what == Talk("Add a dark mode", mention=True)
    assert top.thread.direct
    assert top.thread.root == TS
    reply = delivered(in_thread(f"<@{AKI}> said: blue", channel="D0001"))
    assert reply.what == Talk(f"@{AKI} said: blue", mention=True)


def test_where_somebody_comes_from_is_kept() -> None:
    for name in ("user_team", "source_team"):
        assert delivered(in_thread("hi", **{name: OTHER_TEAM})).home == OTHER_TEAM
    assert delivered(in_thread("hi")).home == ""


def test_what_happens_in_another_workspace_means_nothing() -> None:
    foreign = said(f"<@{BOT}> hi") | {"team_id": OTHER_TEAM}
    assert isinstance(meaning(foreign), NotForBot)
    shared = foreign | {"authorizations": [{"team_id": TEAM}]}
    assert delivered(shared).thread.workspace == TEAM


# commands


@pytest.mark.parametrize(
    ("command", "text", "word", "argument"),
    [
        ("/gwt", "status", Word.STATUS, ""),
        ("/gwt", "resume 1a2b", Word.RESUME, "1a2b"),
        ("/gwt", "", Word.HELP, ""),
        ("/interrupt", "", Word.STOP, ""),
        ("/interrupt", "1a2b", Word.STOP, "1a2b"),
        ("/interrupt", "all-mine", Word.STOP, "all-mine"),
        ("/sessions", "", Word.SESSIONS, ""),
        ("/sessions", " List ", Word.SESSIONS, ""),
        ("/sessions", "resume 1a2b", Word.RESUME, "1a2b"),
        ("/sessions", "discard 1a2b", Word.DISCARD, "1a2b"),
    ],
)
def test_a_slash_command_is_given_in_the_channel_itself(
    command: str, text: str, word: Word, argument: str
) -> None:
    order = delivered(typed(command, text))
    assert order.what == SlackCommand(Command(word=word, argument=argument))
    assert order.thread == THREAD.model_copy(update={"root": ""})
    assert (order.id, order.at) == (f"slack:{TEAM}:t1", NOW)


def test_a_slash_command_from_elsewhere_tells_where_it_is_from() -> None:
    assert delivered(typed("/gwt") | {"team_id": OTHER_TEAM}).home == OTHER_TEAM


@pytest.mark.parametrize(
    ("callback", "word"), [("session_interrupt", Word.STOP), ("session_status", Word.STATUS)]
)
def test_a_shortcut_is_a_command_in_the_thread_of_its_message(callback: str, word: Word) -> None:
    body = {
        "type": "message_action",
        "callback_id": callback,
        "user": {"id": MIKA},
        "channel": {"id": PUBLIC},
        "message": {"ts": TS, "thread_ts": ROOT},
        "trigger_id": "t1",
    }
    assert delivered(body).what == SlackCommand(Command(word=word))
    assert delivered(body).thread == THREAD
    on_root = delivered(body | {"message": {"ts": ROOT}, "trigger_id": "t2"})
    assert on_root.thread == THREAD
    assert on_root.id != delivered(body).id
    assert isinstance(meaning(body | {"callback_id": "other"}), NotForBot)


def test_slacks_own_stop_is_one_event_however_often_it_comes() -> None:
    event = {"type": "agent_session_stopped", "channel": PUBLIC, "thread_ts": ROOT}
    body = said("") | {"event": event | {"user": MIKA, "event_ts": TS}}
    assert delivered(body).what == SlackCommand(Command(word=Word.STOP), mention=True)
    assert delivered(body).thread == THREAD
    assert delivered(body).id != delivered(body | {"event_id": "Ev2"}).id


# buttons and forms


def test_a_press_is_about_what_its_button_says() -> None:
    pressed = delivered(press(Button(verb=Verb.APPROVE, about="abc", key="approval:1")))
    assert pressed.what == PressedButton(Verb.APPROVE, "abc")
    assert pressed.thread == THREAD
    assert pressed.id == f"slack:{TEAM}:{PUBLIC}:{TS}:1763467300.5:{MIKA}"


def test_a_press_on_what_only_one_sees_in_a_channel_has_no_thread() -> None:
    body = press(Button(verb=Verb.STOP, about="1a2b"))
    del body["message"]
    assert delivered(body).thread.root == ""
    body["container"]["thread_ts"] = ROOT
    assert delivered(body).thread == THREAD


@pytest.mark.parametrize(
    "value", ["", "approve", "{}", "[1]", '{"v":"launch"}', '{"v":"stop","more":1}']
)
def test_a_value_that_is_none_of_ours_means_nothing(value: str) -> None:
    assert isinstance(meaning(press(value)), NotForBot)


def test_choosing_in_a_select_means_nothing_yet() -> None:
    body = press(Button(verb=Verb.ANSWER))
    body["actions"][0]["type"] = "static_select"
    assert isinstance(meaning(body), NotForBot)


def test_a_button_that_asks_leads_to_a_form() -> None:
    button = Button(verb=Verb.CHANGE, about="abc", key="a", asks=True, question="What else?")
    opening = delivered(press(button)).what
    assert isinstance(opening, FormOpening)
    assert (opening.verb, opening.trigger) == (Verb.CHANGE, "t1")
    assert opening.form["title"]["text"] == "Request changes"
    purpose = forms.FormPurpose.read(opening.form["private_metadata"])
    assert purpose == forms.FormPurpose(thread=THREAD, verb=Verb.CHANGE, about="abc", key="a")


def test_the_form_with_all_questions_knows_them_by_the_card() -> None:
    known = delivered(press(Button(verb=Verb.ANSWER, key="questions", form=True))).what
    assert isinstance(known, FormOpening)
    assert "D1 Where?" in str(known.form)


def test_picked_options_are_told_by_their_texts() -> None:
    state = {"values": {"b1": {"pick:1": {"selected_option": {"value": "D1:2"}}, "x": None}}}
    pressed = delivered(press(Button(verb=Verb.ANSWER, key="questions"), state=state))
    assert pressed.what == PressedButton(Verb.ANSWER, answers={1: "There"})


@pytest.mark.parametrize(("key", "option"), [("old", "D1:2"), ("questions", "D1:9")])
def test_what_cannot_be_told_any_more_is_not_taken_for_the_defaults(key: str, option: str) -> None:
    state = {"values": {"b1": {"pick:1": {"selected_option": {"value": option}}}}}
    pressed = delivered(press(Button(verb=Verb.ANSWER, key=key), state=state))
    assert isinstance(pressed.what, FormOpening)
    assert "answer in the thread" in str(pressed.what.form)


def test_a_form_with_forgotten_questions_is_neither_opened_nor_taken() -> None:
    opening = delivered(press(Button(verb=Verb.ANSWER, key="old", form=True))).what
    assert isinstance(opening, FormOpening)
    assert opening.form["callback_id"] == forms.SAYING
    purpose = forms.FormPurpose(thread=THREAD, verb=Verb.ANSWER, key="old")
    form = forms.questions_form(QUESTIONS, purpose)
    values = {"pick:1": {"pick:1": {"selected_option": {"value": "D1:2"}}}}
    given_back = meaning(sent(form, values))
    assert isinstance(given_back, IncompleteForm)
    assert list(given_back.errors) == ["pick:1"]


def test_what_was_written_in_a_form_comes_with_its_purpose() -> None:
    purpose = forms.FormPurpose(thread=THREAD, verb=Verb.CHANGE, about="abc")
    form = forms.ask_form("Changes", "What else?", purpose)
    there = delivered(sent(form, {"said": {"said": {"value": " Smaller "}}}))
    assert there.what == PressedButton(Verb.CHANGE, "abc", text="Smaller")
    assert (there.thread, there.id) == (THREAD, f"slack:{TEAM}:V1:h1")
    empty = meaning(sent(form, {"said": {"said": {"value": "  "}}}))
    assert isinstance(empty, IncompleteForm)
    assert list(empty.errors) == ["said"]


def test_answers_from_a_form_are_by_question() -> None:
    purpose = forms.FormPurpose(thread=THREAD, verb=Verb.ANSWER, key="questions")
    form = forms.questions_form(QUESTIONS, purpose)
    values = {
        "pick:1": {"pick:1": {"selected_option": {"value": "D1:2"}}},
        "else:2": {"else:2": {"value": "Tomorrow"}},
    }
    assert delivered(sent(form, values)).what == PressedButton(
        Verb.ANSWER, answers={1: "There", 2: "Tomorrow"}
    )


def test_a_form_of_somebody_else_means_nothing() -> None:
    other = THREAD.model_copy(update={"workspace": OTHER_TEAM})
    foreign = forms.ask_form("x", "y", forms.FormPurpose(thread=other, verb=Verb.CHANGE))
    said_so = {"said": {"said": {"value": "Smaller"}}}
    assert isinstance(meaning(sent(foreign, said_so)), NotForBot)
    broken = foreign | {"private_metadata": "{"}
    assert isinstance(meaning(sent(broken, said_so)), NotForBot)


@pytest.mark.parametrize("kind", ["view_closed", "block_suggestion", "shortcut", "", "tokens"])
def test_what_nobody_listens_to_means_nothing(kind: str) -> None:
    assert isinstance(meaning({"type": kind}), NotForBot)
    assert isinstance(meaning(said("") | {"event": {"type": kind}}), NotForBot)


@pytest.mark.parametrize(
    "kind", ["event_callback", "block_actions", "view_submission", "message_action"]
)
def test_what_has_not_its_shape_means_nothing(kind: str) -> None:
    hollow = {"type": kind, "team_id": TEAM, "actions": [1], "view": [], "message": "x"}
    events: list[Any] = [None, [], "x", {"type": "message", "channel": 1}]
    for event in events:
        assert isinstance(meaning(hollow | {"event": event}), NotForBot)


def test_a_delivery_becomes_the_event_of_a_person() -> None:
    mika = Person(platform="slack", id=f"{TEAM}:{MIKA}", name="Mika")
    button = Button(verb=Verb.CHANGE, about="abc", asks=True)
    for body, kind in (
        (in_thread("blue"), Said),
        (in_thread("stop"), Commanded),
        (press(Button(verb=Verb.APPROVE)), Pressed),
        (press(button), Opened),
    ):
        event = delivered(body).event(mika)
        assert isinstance(event, kind)
        assert event.by == mika


def changed(text: str, before: str = "Add a dark mode", **more: Any) -> Json:
    message = {"type": "message", "user": MIKA, "ts": TS, "text": text}
    message |= {"edited": {"user": MIKA, "ts": "1763467300.000100"}, **more}
    event = {"subtype": "message_changed", "hidden": True, "message": message}
    return said("") | {
        "event": said("")["event"] | event | {"previous_message": {**message, "text": before}}
    }


def test_an_edit_by_the_author_tells_which_message_says_what_now() -> None:
    edit = delivered(changed(f"<@{BOT}> Add a light mode"))
    assert edit.what == MessageEdit(f"slack:{TEAM}:{PUBLIC}:{TS}", "Add a light mode")
    assert edit.thread.root == TS
    assert delivered(changed("And tabs", thread_ts=ROOT)).thread.root == ROOT


@pytest.mark.parametrize(
    "body",
    [
        changed("Add a dark mode"),
        changed("Another", edited=None),
        changed("Another", edited={"user": AKI, "ts": TS}),
        changed("Another", bot_id="B1"),
        changed("Another", user=""),
    ],
    ids=["a link was unfolded", "not edited", "by somebody else", "a bot", "by nobody"],
)
def test_a_change_that_its_author_did_not_make_means_nothing(body: Json) -> None:
    assert isinstance(meaning(body), NotForBot)
