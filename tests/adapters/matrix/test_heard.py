"""What an event of a room means to the bot: the shapes clients send, and those nobody should."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.matrix.events import (
    BotIdentity,
    HeardEdit,
    HeardMessage,
    Reaction,
    Redaction,
    SentFile,
    interpret_event,
)

ME = BotIdentity("@bot:hs", "Dev Bot")
ROOM = "!room"
PILL = '<a href="https://matrix.to/#/@bot:hs">Dev Bot</a>'
AT = datetime(2026, 3, 1, 12, 30, 0, 500_000, tzinfo=UTC)


def event(content: object, kind: str = "m.room.message", **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "event_id": "$1",
        "sender": "@anna:hs",
        "origin_server_ts": int(AT.timestamp() * 1000),
        "content": content,
        **more,
    }


def message(body: object, **content: Any) -> HeardMessage:
    heard = interpret_event(ROOM, event({"msgtype": "m.text", "body": body, **content}), ME)
    assert isinstance(heard, HeardMessage)
    return heard


def in_thread(
    root: str = "$root", *, replies_to: str = "$last", back: bool = True
) -> dict[str, Any]:
    return {
        "rel_type": "m.thread",
        "event_id": root,
        "is_falling_back": back,
        "m.in_reply_to": {"event_id": replies_to},
    }


def test_a_mention_outside_of_threads_is_the_root_of_a_new_one() -> None:
    assert message(
        "Dev Bot:  please build **bold** `code`",
        format="org.matrix.custom.html",
        formatted_body=f"{PILL}:  please build <b>bold</b>",
        **{"m.mentions": {"user_ids": ["@bot:hs"]}},
    ) == HeardMessage(
        event_id="$1",
        sender="@anna:hs",
        room=ROOM,
        root="$1",
        text="please build **bold** `code`",
        mention=True,
        to_others=False,
        at=AT,
    )


def test_a_message_in_a_thread_belongs_to_its_root() -> None:
    heard = message("approve", **{"m.mentions": {}, "m.relates_to": in_thread()})
    assert (heard.root, heard.replies_to, heard.mention, heard.to_others) == (
        "$root",
        "",
        False,
        False,
    )


def test_a_quotation_in_a_thread_is_no_reply_of_its_own() -> None:
    relation = in_thread(replies_to="$plan", back=False)
    heard = message("good", **{"m.relates_to": relation, "m.mentions": {"user_ids": ["@bot:hs"]}})
    assert (heard.root, heard.replies_to, heard.mention) == ("$root", "", True)


def test_a_reply_outside_of_threads_tells_what_it_replies_to() -> None:
    relation = {"m.in_reply_to": {"event_id": "$plan"}}
    heard = message("yes", **{"m.relates_to": relation})
    assert (heard.root, heard.replies_to) == ("$1", "$plan")


@pytest.mark.parametrize(
    "mentions", [{}, {"user_ids": []}, {"user_ids": ["@bot:hs.org"]}, {"room": True}, None, 5]
)
def test_what_the_client_says_decides_who_is_mentioned(mentions: object) -> None:
    """A name typed by hand, or even a link, mentions nobody where the client says so."""
    heard = message(
        "Dev Bot: build it, @bot:hs", formatted_body=f"{PILL}: it", **{"m.mentions": mentions}
    )
    assert heard.mention is False


@pytest.mark.parametrize(
    ("body", "formatted"),
    [
        ("Dev Bot do", f"{PILL} do"),
        ("do it, @bot:hs.", ""),
        ("@bot:hs: do", ""),
        ("(@bot:hs)", ""),
        ("do", '<a href="https://matrix.to/#/%40bot%3Ahs?via=hs">x</a>'),
        ("do", '<a href="matrix:u/bot:hs">x</a>'),
        ("do", "<a href='https://matrix.to/#/&#64;bot:hs'>x</a>"),
    ],
)
def test_where_the_client_says_nothing_a_link_or_a_full_id_mentions(
    body: str, formatted: str
) -> None:
    assert message(body, formatted_body=formatted).mention


@pytest.mark.parametrize(
    ("body", "formatted"),
    [
        ("Dev Bot: do", ""),
        ("mail me@bot:hs", ""),
        ("@bot:hs.org do", ""),
        ("@bot:hs2 do", ""),
        ("@robot:hs do", ""),
        ("do", "<a href='https://matrix.to/#/@bot:hs.org'>Dev Bot</a>"),
        ("do", "<mx-reply>In reply to " + PILL + "</mx-reply>do"),
    ],
)
def test_names_and_longer_ids_mention_nobody(body: str, formatted: str) -> None:
    assert not message(body, formatted_body=formatted).mention


def test_a_word_to_somebody_else_is_known_as_one() -> None:
    assert message("x", **{"m.mentions": {"user_ids": ["@berta:hs"]}}).to_others
    assert message("x @berta:hs").to_others
    assert not message("x", **{"m.mentions": {"user_ids": ["@berta:hs", "@bot:hs"]}}).to_others
    assert not message("x", **{"m.mentions": {"user_ids": ["@anna:hs"]}}).to_others, "herself"
    assert not message("x", **{"m.mentions": {"room": True}}).to_others


@pytest.mark.parametrize(
    ("body", "formatted", "text"),
    [
        ("Dev Bot: build it", "", "build it"),
        ("Dev Bot：作って", "", "作って"),
        ("Dev Bot builds it", "", "Dev Bot builds it"),
        ("Dev Bot builds it", f"{PILL} builds it", "builds it"),
        ("Dev Botこれを直して", f"{PILL}これを直して", "これを直して"),
        ("Dev & Co: go", '<p><a href="https://matrix.to/#/@bot:hs">Dev &amp; Co</a>: go</p>', "go"),
        ("[Dev Bot](https://matrix.to/#/@bot:hs) go", f"{PILL} go", "go"),
        ("@bot:hs go", "", "go"),
        ("@bot:hs: go", f"{PILL}: go", "go"),
        ("@bot:hs", "", ""),
        ("@bot:hs.org go", "", "@bot:hs.org go"),
        ("Berta: go", '<a href="https://matrix.to/#/@berta:hs">Berta</a>: go', "Berta: go"),
        ("ask Dev Bot: go", "", "ask Dev Bot: go"),
        ("  two\n  lines  ", "", "two\n  lines"),
    ],
)
def test_the_bot_s_own_name_in_front_is_left_out(body: str, formatted: str, text: str) -> None:
    assert message(body, formatted_body=formatted).text == text


def test_what_an_old_client_quotes_is_neither_text_nor_mention() -> None:
    body = "> <@bot:hs> Which one?\n> The red?\n\n> mine\nDev Bot: the red"
    relation = {"m.in_reply_to": {"event_id": "$plan"}}
    heard = message(body, **{"m.relates_to": relation})
    assert (heard.text, heard.mention) == ("> mine\nDev Bot: the red", False)
    assert message("> <@bot:hs> said so\n\nyes").text.startswith("> <@bot:hs>"), "no reply"
    assert message("> a quote\nyes", **{"m.relates_to": relation}).text == "> a quote\nyes"


def test_the_words_under_a_picture_are_heard_and_its_name_is_not() -> None:
    named = {"msgtype": "m.image", "filename": "a.png"}
    assert message("fix this", **named).text == "fix this"
    assert message("a.png", **named).text == ""
    assert message("a.png", msgtype="m.image").text == ""


def test_a_file_is_told_of_as_its_sender_describes_it() -> None:
    told = {"msgtype": "m.file", "url": "mxc://hs/1", "info": {"size": 5}}
    open_ = message("a.txt", **told).file
    assert open_ == SentFile("m.file", "a.txt", "mxc://hs/1", 5, {})
    lock = {"url": "mxc://hs/2", "v": "v2"}
    sealed = message("see this", **told | {"filename": "b.txt", "file": lock, "info": {}}).file
    assert sealed == SentFile("m.file", "b.txt", "mxc://hs/2", 0, lock)
    assert message("just words").file is None


def test_an_edit_tells_of_what_it_changes_and_is_no_message() -> None:
    now = {"msgtype": "m.text", "body": "@bot:hs: hello again"}
    edit = event({**TEXT, "m.relates_to": EDIT, "m.new_content": now})
    assert interpret_event(ROOM, edit, ME) == HeardEdit(
        "$1", "@anna:hs", ROOM, "$1", "hello again", AT
    )
    assert interpret_event(ROOM, event({**TEXT, "m.relates_to": EDIT}), ME) is None


@pytest.mark.parametrize(
    ("key", "heard"), [("✅\ufe0f Approve", "✅ Approve"), ("✅ Approve", "✅ Approve"), ("✏️", "✏")]
)
def test_a_reaction_is_the_same_with_and_without_a_variant(key: str, heard: str) -> None:
    relation = {"rel_type": "m.annotation", "event_id": "$prompt", "key": key}
    found = interpret_event(ROOM, event({"m.relates_to": relation}, "m.reaction"), ME)
    assert found == Reaction("$1", "@anna:hs", ROOM, "$prompt", heard, AT)


def test_a_redaction_tells_what_was_taken_back_in_rooms_old_and_new() -> None:
    told = Redaction("$1", "@anna:hs", ROOM, "$gone", AT)
    assert interpret_event(ROOM, event({"redacts": "$gone"}, "m.room.redaction"), ME) == told
    assert interpret_event(ROOM, event({}, "m.room.redaction", redacts="$gone"), ME) == told


TEXT = {"msgtype": "m.text", "body": "hello"}
EDIT = {"rel_type": "m.replace", "event_id": "$1"}
CLICK = {"rel_type": "m.annotation", "event_id": "$1", "key": "✅"}


@pytest.mark.parametrize(
    "one",
    [
        event(TEXT, sender="@bot:hs"),
        event({"m.relates_to": CLICK}, "m.reaction", sender="@bot:hs"),
        event({"redacts": "$1"}, "m.room.redaction", sender="@bot:hs"),
        event({**TEXT, "msgtype": "m.notice"}),
        event({**TEXT, "msgtype": "m.emote"}),
        event({**TEXT, "m.relates_to": {"rel_type": "m.replace"}}),
        event({}),
        event({}, "m.reaction"),
        event({"topic": "x"}, "m.room.topic", state_key=""),
        event(TEXT, state_key=""),
        event({"algorithm": "m.megolm.v1.aes-sha2"}, "m.room.encrypted"),
    ],
)
def test_own_words_notices_and_state_mean_nothing(one: dict[str, Any]) -> None:
    assert interpret_event(ROOM, one, ME) is None


@pytest.mark.parametrize("kind", ["m.room.message", "m.reaction", "m.room.redaction", "x", 5])
@pytest.mark.parametrize("value", [None, 5, "x", [], {}, {"event_id": 5, "rel_type": []}])
def test_nothing_that_anybody_sends_is_too_odd(kind: Any, value: object) -> None:
    names = ("m.relates_to", "m.mentions", "formatted_body", "body", "redacts", "filename")
    interpret_event(ROOM, {}, ME)
    interpret_event(ROOM, event(value, kind), ME)
    interpret_event(ROOM, event({"body": "x", "msgtype": value}, kind), ME)
    for name in names:
        for type_ in ("m.text", "m.image"):
            content = {"msgtype": type_, "body": "x", "redacts": "$1", name: value}
            interpret_event(ROOM, event(content, kind, origin_server_ts=value), ME)


def test_what_is_longer_than_any_id_is_none() -> None:
    long = {"rel_type": "m.thread", "event_id": "$" * 256}
    heard = interpret_event(ROOM, event({**TEXT, "m.relates_to": long}), ME)
    assert isinstance(heard, HeardMessage)
    assert heard.root == "$1"


@pytest.mark.parametrize("stamp", [-(10**30), 10**30, "x", None, True])
def test_a_time_that_cannot_be_is_some_time(stamp: object) -> None:
    heard = interpret_event(ROOM, event(TEXT, origin_server_ts=stamp), ME)
    assert isinstance(heard, HeardMessage)
    assert heard.at.tzinfo is UTC


def test_a_long_message_that_means_harm_is_read_all_the_same() -> None:
    for harm in ("<a href='", '<a x="', "<mx-reply>", "@a:", "> <@", "https://matrix.to/#/@", "&#"):
        heard = message(harm * (60_000 // len(harm)), formatted_body=harm * (60_000 // len(harm)))
        assert not heard.mention
