"""What each thing means that comes from a home, a window, a menu, a shortcut or a slash; and what is none of ours."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.slack.blocks import forms
from adapters.slack.blocks.kit import ButtonValue as Button
from adapters.slack.client import ConnectionHealth
from adapters.slack.deliveries import (
    Delivery,
    FormOpening,
    FormRequest,
    HomeVisit,
    MessagesTabOpened,
    ModelSettings,
    NotForBot,
    PageTurned,
    PayloadMeaning,
    PressedButton,
    SlackCommand,
    WindowClosed,
)
from adapters.slack.incoming import interpret_payload
from adapters.slack.payloads import NEW_WORDS, PayloadContext, SlashCommand
from bot.core.choices import Verb, Word
from bot.core.people import Thread
from tests.adapters.slack.way_in import US
from tests.adapters.slack.whole import HOME, SESSION
from tests.beds.slack import MIKA, OTHER_TEAM, PUBLIC, SECOND, TEAM

Json = dict[str, Any]
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
THREAD = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root="1794988193.000100")
USER = {"id": MIKA, "team_id": TEAM}


def meaning(body: Json, known: PayloadContext | None = None) -> PayloadMeaning:
    return interpret_payload(body, US, NOW, known or PayloadContext(channels=(PUBLIC,)))


def delivered(body: Json, known: PayloadContext | None = None) -> Delivery:
    found = meaning(body, known)
    assert isinstance(found, Delivery), found
    return found


def press_in(view: Json, button: Button, **action: Any) -> Json:
    pressed = {"type": "button", "action_id": "a:0", "action_ts": "1.5", "value": button.value}
    return {
        "type": "block_actions",
        "user": USER,
        "container": {"type": "view", "view_id": "V1"},
        "view": {"id": "V1", **view},
        "trigger_id": "t1",
        "actions": [pressed | action],
    }


def opened(**more: Any) -> Json:
    event = {"type": "app_home_opened", "user": MIKA, "tab": "home", "channel": "D1"}
    event |= {"event_ts": "1763467200.000200"} | more
    return {"type": "event_callback", "team_id": TEAM, "event_id": "Ev1", "event": event}


def typed(text: str, command: str = "/gwt", **more: str) -> Json:
    told = {"command": command, "text": text, "user_id": MIKA, "channel_id": PUBLIC}
    return told | {"team_id": TEAM, "trigger_id": "t1"} | more


def sent(form: Json, values: Json) -> Json:
    view = {**form, "id": "V1", "hash": "h1", "state": {"values": values}}
    return {"type": "view_submission", "user": USER, "view": view}


# the home


def test_opening_the_home_is_a_visit_and_each_is_another() -> None:
    visit = delivered(opened())
    assert (visit.what, visit.thread, visit.user) == (HomeVisit(), HOME, MIKA)
    assert visit.at == datetime(2025, 11, 18, 12, 0, 0, 200, tzinfo=UTC)
    assert delivered(opened() | {"event_id": "Ev2"}).id != visit.id


def test_opening_the_messages_is_none() -> None:
    assert meaning(opened(tab="messages")) == MessagesTabOpened(MIKA, "D1")
    for more in ({"tab": "about"}, {"tab": None}, {"user": ""}, {"tab": "messages", "channel": 1}):
        assert isinstance(meaning(opened(**more)), NotForBot)


def test_a_visit_to_another_workspace_means_nothing() -> None:
    assert isinstance(meaning(opened() | {"team_id": OTHER_TEAM}), NotForBot)


def test_a_press_on_a_home_stands_in_no_thread() -> None:
    stop = delivered(press_in({"type": "home"}, Button(verb=Verb.STOP, about=SESSION)))
    assert (stop.thread, stop.what) == (HOME, PressedButton(Verb.STOP, SESSION))
    assert MIKA in stop.id
    assert stop.line != HOME.key, "people do not wait for each other"


def test_an_entry_of_a_menu_is_pressed_like_a_button() -> None:
    button = Button(verb=Verb.RESUME, about=SESSION)
    option = {"text": {"type": "plain_text", "text": "Resume"}, "value": button.short_value}
    action = {"type": "overflow", "value": None, "selected_option": option}
    assert delivered(press_in({"type": "home"}, button, **action)).what == button_press(button)
    asking = Button(verb=Verb.HINT, about="T001", asks=True)
    option["value"] = asking.short_value
    opening = delivered(press_in({"type": "home"}, asking, **action)).what
    assert isinstance(opening, FormOpening)
    assert opening.form["title"]["text"] == "Resume"


def button_press(button: Button) -> PressedButton:
    return PressedButton(button.verb, button.about)


# windows


def test_a_window_knows_the_thread_it_was_opened_in() -> None:
    purpose = forms.FormPurpose(thread=THREAD, verb=Verb.LOG)
    view = {"type": "modal", "private_metadata": purpose.json_text}
    pressed = delivered(press_in(view, Button(verb=Verb.RETRY, about="T001")))
    assert (pressed.thread, pressed.what) == (THREAD, PressedButton(Verb.RETRY, "T001"))


@pytest.mark.parametrize("workspace", [OTHER_TEAM, ""])
def test_a_window_of_somebody_else_means_nothing(workspace: str) -> None:
    foreign = THREAD.model_copy(update={"workspace": workspace})
    purpose = forms.FormPurpose(thread=foreign, verb=Verb.LOG)
    view = {"type": "modal", "private_metadata": purpose.json_text}
    assert isinstance(meaning(press_in(view, Button(verb=Verb.RETRY))), NotForBot)
    assert isinstance(meaning(press_in({"type": "modal"}, Button(verb=Verb.RETRY))), NotForBot)


def test_a_log_is_shown_in_a_window_wherever_it_is_asked_for() -> None:
    button = Button(verb=Verb.LOG, about="T001")
    assert delivered(press_in({"type": "home"}, button)).what == PressedButton(
        Verb.LOG, "T001", trigger="t1"
    )
    stop = delivered(press_in({"type": "home"}, Button(verb=Verb.STOP))).what
    assert isinstance(stop, PressedButton)
    assert stop.trigger == "", "nothing else opens one"


def test_leafing_and_closing_concern_only_the_window() -> None:
    action = {"action_id": "page:older", "value": "3"}
    leafed = meaning(press_in({"type": "modal"}, Button(verb=Verb.LOG), **action))
    assert leafed == PageTurned("V1", 3)
    assert meaning({"type": "view_closed", "view": {"id": "V1"}}) == WindowClosed("V1")
    assert isinstance(meaning({"type": "view_closed", "view": {}}), NotForBot)


# forms


def test_a_form_is_taken_only_for_what_it_was_opened_for() -> None:
    for verb in Verb:
        purpose = forms.FormPurpose(thread=HOME, verb=verb)
        begun = sent(forms.feature_form(purpose), {})
        assert isinstance(meaning(begun), NotForBot) == (verb is not Verb.BEGIN)
        put_in = sent(forms.settings_form(purpose), {})
        assert isinstance(meaning(put_in), NotForBot) == (verb is not Verb.SETTINGS)


def test_a_wish_is_for_the_channel_that_was_chosen_and_has_the_name_of_its_form() -> None:
    form = forms.feature_form(forms.FormPurpose(thread=HOME, verb=Verb.BEGIN))
    values = {
        "channel": {"channel": {"selected_conversation": SECOND}},
        "what": {"what": {"value": "Add it"}},
    }
    wish = delivered(sent(form, values))
    assert wish.what == FormRequest(form="V1", text="Add it")
    assert wish.thread == THREAD.model_copy(update={"channel": SECOND, "root": ""})
    again = sent(form, values)
    again["view"]["hash"] = "h2"
    assert delivered(again).id == wish.id, "what is given back and sent again is the same wish"


def test_settings_are_delivered_where_they_were_opened() -> None:
    form = forms.settings_form(forms.FormPurpose(thread=HOME, verb=Verb.SETTINGS))
    put_in = delivered(sent(form, {"model": {"model": {"value": "m"}}}))
    assert (put_in.thread, put_in.what) == (HOME, ModelSettings("", "m"))


# slashes and shortcuts


@pytest.mark.parametrize("text", [*sorted(NEW_WORDS), " New "])
def test_new_opens_the_form_for_a_feature(text: str) -> None:
    opening = delivered(typed(text)).what
    assert isinstance(opening, FormOpening)
    assert opening.verb is Verb.BEGIN
    assert "initial_conversation': 'C0001'" in str(opening.form)
    other = delivered(typed(text, channel_id=SECOND), PayloadContext(channels=(PUBLIC, "C9"))).what
    assert "initial_conversation" not in str(other)


@pytest.mark.parametrize(
    ("text", "word", "argument"),
    [
        ("", Word.HELP, ""),
        ("help", Word.HELP, ""),
        ("catch up", Word.CATCH_UP, ""),
        ("inbox", Word.INBOX, ""),
        ("usage", Word.USAGE, ""),
        ("repo", Word.REPO, ""),
        ("repo shop", Word.REPO, "shop"),
        ("status 1a2b3c4d", Word.STATUS, "1a2b3c4d"),
        ("logs T001", Word.LOGS, "T001"),
    ],
)
def test_what_is_said_behind_the_slash_is_a_command(text: str, word: Word, argument: str) -> None:
    order = delivered(typed(text))
    assert isinstance(order.what, SlackCommand)
    assert (order.what.command.word, order.what.command.argument) == (word, argument)


@pytest.mark.parametrize("text", ["fly to the moon", "<!channel>", "new shiny thing", "x" * 3_000])
def test_what_is_not_understood_is_passed_on_so_that_it_can_be_named_in_the_answer(
    text: str,
) -> None:
    order = delivered(typed(text))
    assert isinstance(order.what, SlackCommand)
    assert order.what.command.word is Word.HELP
    assert text.startswith(order.what.command.text.rstrip("…"))
    assert 0 < len(order.what.command.text) < 100


def test_only_the_bots_own_command_opens_a_form() -> None:
    for slash in (SlashCommand.INTERRUPT, SlashCommand.SESSIONS):
        assert isinstance(delivered(typed("new", slash)).what, SlackCommand)


def test_the_shortcut_for_a_feature_is_there_everywhere() -> None:
    body = {"type": "shortcut", "callback_id": "session_new", "user": USER, "trigger_id": "t1"}
    opening = delivered(body)
    assert opening.thread == HOME
    assert isinstance(opening.what, FormOpening)
    assert "initial_conversation': 'C0001'" in str(opening.what.form), "the only one there is"
    changes: list[Json] = [{"callback_id": "other"}, {"trigger_id": ""}, {"user": {}}]
    for change in changes:
        assert isinstance(meaning({**body, **change}), NotForBot)


# health


def test_health_says_since_when_and_the_how_manieth_connection() -> None:
    clock = [NOW]
    health = ConnectionHealth(now=lambda: clock[0])
    assert "not connected" in str(health.facts())
    health.connected("a")
    assert dict(health.facts())["Slack"] == "connected since 2026-11-18 12:00 UTC"
    clock[0] = NOW.replace(hour=13)
    health.connected("a")
    health.heard()
    assert "12:00" in dict(health.facts())["Slack"]
    assert "13:00" in dict(health.facts())["Last heard of Slack"]
    health.lost()
    assert "not connected" in str(health.facts())
    health.connected("b")
    assert dict(health.facts())["Slack"].endswith("13:00 UTC, connection 2 of this start")
    assert "calls this host" in str(ConnectionHealth(by_socket=False).facts())
