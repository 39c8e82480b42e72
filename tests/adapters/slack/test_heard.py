"""What each kind of thing that Slack tells leads to at the desk: an event, or nothing at all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from bot.core.choices import Verb, Word
from bot.core.events import Commanded, Configured, FromPeople, Opened, Pressed, Said, Visited
from bot.core.people import Thread
from tests.adapters.slack.bot import HOME, PAGE, Bot
from tests.beds.slack import AKI, BOT, MIKA, OTHER_TEAM, PUBLIC, SECOND, TEAM, SlackBed
from tests.fakes import cards

Json = dict[str, Any]
ROOT, TS = "1763467100.000100", "1763467200.000200"
THREAD = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=ROOT)
IN_CHANNEL = THREAD.model_copy(update={"root": ""})
USER = {"id": MIKA, "team_id": TEAM}
ALL_IS_ACKED = 30


@dataclass(frozen=True)
class Heard:
    """What an event is expected to say."""

    kind: type[FromPeople]
    thread: Thread = THREAD
    says: tuple[Any, ...] = ()
    """Text and mention; word, argument and mention; or verb and what it is about."""


def gist(event: FromPeople, thread: Thread) -> Heard:
    match event:
        case Said():
            says: tuple[Any, ...] = (event.text, event.mention)
        case Commanded():
            says = (event.command.word, event.command.argument, event.mention)
        case Pressed():
            says = (event.verb, event.about)
        case Opened():
            says = (event.verb,)
        case _:
            says = ()
    return Heard(type(event), thread, says)


async def hears(bot: Bot, kind: str, payload: Json) -> Heard | None:
    before = len(bot.desk.taken)
    delivery = bot.bed.courier.send(kind, payload)
    async with asyncio.timeout(ALL_IS_ACKED):
        await delivery.over.wait()
    assert delivery.acked, f"never acked: {payload}"
    new = list(bot.desk.taken.values())[before:]
    assert len(new) <= 1
    return gist(new[0][1], new[0][0]) if new else None


def message(text: str, **more: Any) -> Json:
    """Said in a thread."""
    event = {"type": "message", "user": MIKA, "channel": PUBLIC, "ts": TS, "thread_ts": ROOT}
    return told(event | {"text": text, "event_ts": TS} | more)


def told(event: Json, **more: Any) -> Json:
    body: Json = {"type": "event_callback", "team_id": TEAM, "event_id": "Ev1", "event_time": 1}
    return body | {"event": event, "is_ext_shared_channel": False} | more


def top(text: str, **more: Any) -> Json:
    """Said in the channel itself."""
    return message(text, thread_ts=None, **more)


def said(text: str, mention: bool = False, thread: Thread = THREAD) -> Heard:
    return Heard(Said, thread, (text, mention))


def command(word: Word, argument: str = "", *, mention: bool, thread: Thread = THREAD) -> Heard:
    return Heard(Commanded, thread, (word, argument, mention))


OWN = THREAD.model_copy(update={"root": TS})
DM = THREAD.model_copy(update={"channel": "D0001", "direct": True})
STOP = {"type": "agent_session_stopped", "channel": PUBLIC, "thread_ts": ROOT, "user": MIKA}
MESSAGES: list[tuple[str, Json, Heard | None]] = [
    ("a mention", top(f"<@{BOT}> Add it", type="app_mention"), said("Add it", True, OWN)),
    ("the message it stands in", top(f"<@{BOT}> Add it"), said("Add it", True, OWN)),
    ("a reply", message("blue, please"), said("blue, please")),
    ("an escaped sign", message("a &lt; b &amp; c"), said("a < b & c")),
    ("a broadcast", message("hi", subtype="thread_broadcast"), said("hi")),
    ("a link", message("see <http://x.example|this>"), said("see this (http://x.example)")),
    ("talk in a channel", top("Lunch?"), None),
    ("talk to somebody else", message(f"<@{AKI}> what do you think?"), None),
    ("to both", message(f"<@{AKI}> wait. <@{BOT}> go on"), said(f"@{AKI} wait. go on", True)),
    ("stop", message("stop"), command(Word.STOP, mention=False)),
    ("stop, to the bot", message(f"<@{BOT}> stop"), command(Word.STOP, mention=True)),
    ("stop, in a channel", top("stop"), None),
    ("nothing but the name", top(f"<@{BOT}>"), command(Word.HELP, mention=True, thread=OWN)),
    ("nothing", message(""), None),
    ("an edit", message("Add", subtype="message_changed", hidden=True), None),
    ("a deletion", message("Add", subtype="message_deleted"), None),
    ("somebody joins", message("Add", subtype="channel_join"), None),
    ("a bot", message("Add", subtype="bot_message"), None),
    ("another app", message("Add", bot_id="B0OTHER"), None),
    ("itself", message("Add", user=BOT, bot_id="B0BOT"), None),
    ("itself, as a user", message("Add", user=BOT), None),
    ("Slack", message("Add", user="USLACKBOT"), None),
    ("nobody", message("Add", user=None), None),
    ("nowhere", message("Add", channel=None), None),
    ("without a time", message("Add", ts=None), None),
    ("another workspace", message("Add") | {"team_id": OTHER_TEAM}, None),
    (
        "another workspace, by a shared channel",
        message("Add") | {"team_id": OTHER_TEAM, "authorizations": [{"team_id": TEAM}]},
        said("Add"),
    ),
    (
        "alone with the bot",
        top("Add it", channel="D0001", channel_type="im"),
        said("Add it", True, DM.model_copy(update={"root": TS})),
    ),
    (
        "a reply there",
        message(f"<@{AKI}> said: blue", channel="D0001"),
        said(f"@{AKI} said: blue", True, DM),
    ),
    ("Slack's own stop", told(STOP | {"event_ts": TS}), command(Word.STOP, mention=True)),
    (
        "the home is opened",
        told({"type": "app_home_opened", "user": MIKA, "tab": "home", "event_ts": TS}),
        Heard(Visited, HOME),
    ),
    (
        "another tab",
        told({"type": "app_home_opened", "user": MIKA, "tab": "about", "event_ts": TS}),
        None,
    ),
    ("what nobody listens to", told({"type": "channel_rename", "event_ts": TS}), None),
    ("without its shape", told({"type": "message", "event_ts": TS}), None),
]


def slash(text: str, name: str = "/gwt", **more: str) -> Json:
    body = {"command": name, "text": text, "user_id": MIKA, "channel_id": PUBLIC, "team_id": TEAM}
    return body | {"trigger_id": "t1"} | more


def order(word: Word, argument: str = "") -> Heard:
    return command(word, argument, mention=True, thread=IN_CHANNEL)


SLASHES: list[tuple[str, Json, Heard | None]] = [
    (f"{one['command']} {one['text']}"[:40], one, heard)
    for one, heard in (
        (slash(""), order(Word.HELP)),
        (slash("help"), order(Word.HELP)),
        (slash("status"), order(Word.STATUS)),
        (slash("status 1a2b3c4d"), order(Word.STATUS, "1a2b3c4d")),
        (slash("resume 1a2b"), order(Word.RESUME, "1a2b")),
        (slash("catch up"), order(Word.CATCH_UP)),
        (slash("repo shop"), order(Word.REPO, "shop")),
        (slash("logs T001"), order(Word.LOGS, "T001")),
        (slash("fly to the moon"), order(Word.HELP)),
        (slash("<!channel>"), order(Word.HELP)),
        (slash("new shiny thing"), order(Word.HELP)),
        (slash("x" * 3_000), order(Word.HELP)),
        (slash("", "/interrupt"), order(Word.STOP)),
        (slash("1a2b", "/interrupt"), order(Word.STOP, "1a2b")),
        (slash("all-mine", "/interrupt"), order(Word.STOP, "all-mine")),
        (slash("", "/sessions"), order(Word.SESSIONS)),
        (slash(" List ", "/sessions"), order(Word.SESSIONS)),
        (slash("resume 1a2b", "/sessions"), order(Word.RESUME, "1a2b")),
        (slash("new", "/sessions"), order(Word.HELP)),
        (slash("", "/other"), order(Word.HELP)),
        (slash("status", user_id=""), None),
        (slash("new"), Heard(Opened, IN_CHANNEL, (Verb.BEGIN,))),
        (slash(" Start "), Heard(Opened, IN_CHANNEL, (Verb.BEGIN,))),
        (slash("spec"), Heard(Opened, IN_CHANNEL, (Verb.SPEC,))),
    )
]


def shortcut(name: str, **more: Any) -> Json:
    body: Json = {"type": "message_action", "callback_id": name, "user": USER, "trigger_id": "t1"}
    at = {"channel": {"id": PUBLIC}, "message": {"ts": TS, "thread_ts": ROOT}}
    return body | at | more


def press(value: str, **more: Any) -> Json:
    action = {"type": "button", "action_id": "a:0", "value": value, "action_ts": "1763467300.5"}
    return {
        "type": "block_actions",
        "team": {"id": TEAM},
        "user": USER,
        "channel": {"id": PUBLIC},
        "container": {"type": "message", "message_ts": TS, "channel_id": PUBLIC},
        "message": {"ts": TS, "thread_ts": ROOT},
        "trigger_id": "t1",
        "actions": [action],
        **more,
    }


INTERACTIONS: list[tuple[str, Json, Heard | None]] = [
    ("stop, in a menu", shortcut("session_interrupt"), command(Word.STOP, mention=True)),
    (
        "status, on a root",
        shortcut("session_status", message={"ts": ROOT}),
        command(Word.STATUS, mention=True),
    ),
    ("another app's", shortcut("other"), None),
    ("nobody's", shortcut("session_status", user={}), None),
    (
        "everywhere",
        {"type": "shortcut", "callback_id": "session_new", "user": USER, "trigger_id": "t1"},
        Heard(Opened, HOME, (Verb.BEGIN,)),
    ),
    ("everywhere, other", {"type": "shortcut", "callback_id": "x", "user": USER}, None),
    ("a closed window", {"type": "view_closed", "view": {"id": "V1"}}, None),
    ("options", {"type": "block_suggestion"}, None),
    ("hollow", {"type": "block_actions", "actions": [1], "view": [], "message": "x"}, None),
    ("a hollow form", {"type": "view_submission", "view": []}, None),
    *(
        (f"a press on {value!r}", press(value), None)
        for value in ("", "approve", "{}", "[1]", '{"v":"launch"}', '{"v":"stop","more":1}', "[" * 3_000)
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "rows"),
    [("events_api", MESSAGES), ("slash_commands", SLASHES), ("interactive", INTERACTIONS)],
    ids=["messages", "slashes", "interactions"],
)
async def test_what_slack_tells_means_one_thing(
    bot: Bot, kind: str, rows: list[tuple[str, Json, Heard | None]]
) -> None:
    bot.bed.leeway.checked = False  # much of it happened nowhere
    wrong: list[str] = []
    for number, (name, payload, expected) in enumerate(rows):
        heard = await hears(bot, kind, fresh(payload, number))
        if heard != adapted(expected, number):
            wrong.append(f"{name}: {heard} instead of {expected}")
    assert wrong == []


def fresh(payload: Json, number: int) -> Json:
    """Each happens at a time of its own, else it were the same event again."""
    told: Json = dict(payload)
    if "trigger_id" in payload:
        told["trigger_id"] = f"t{number}"
    event = told.get("event")
    if event and event.get("ts"):
        told["event"] = event | {"ts": f"{TS[:-3]}{number:03}"}
    return told | {"event_id": f"Ev{number}"} if event else told


def adapted(expected: Heard | None, number: int) -> Heard | None:
    if expected and expected.thread.root == TS:
        root = f"{TS[:-3]}{number:03}"
        return Heard(
            expected.kind, expected.thread.model_copy(update={"root": root}), expected.says
        )
    return expected


async def test_what_was_typed_and_not_understood_can_be_named_in_the_answer(bot: Bot) -> None:
    await bot.bed.slash(AKI, SECOND, "/gwt", "make <it> so")
    _, event = await bot.one()
    assert isinstance(event, Commanded)
    assert event.command.text == "make <it> so"
    await hears(bot, "slash_commands", slash("x" * 3_000))
    assert isinstance(event := bot.desk.events[-1], Commanded)
    assert 0 < len(event.command.text) < 100


@pytest.mark.parametrize("field", ["user_team", "source_team"])
async def test_who_comes_from_another_workspace_is_an_outsider(bot: Bot, field: str) -> None:
    await hears(bot, "events_api", message("hi", **{field: OTHER_TEAM}))
    assert (bot.desk.events[-1].by.id, bot.desk.events[-1].by.outsider) == (
        f"{OTHER_TEAM}:{MIKA}",
        True,
    )
    await hears(bot, "slash_commands", slash("status", team_id=OTHER_TEAM))
    assert bot.desk.events[-1].by.outsider


async def test_each_of_slacks_own_stops_is_another(bot: Bot) -> None:
    bot.bed.leeway.checked = False
    for name in ("Ev1", "Ev2", "Ev2"):
        await hears(bot, "events_api", told(STOP | {"event_ts": TS}) | {"event_id": name})
    assert len(bot.desk.taken) == 2


# Buttons, by what the bot itself has put on them


async def test_a_press_is_about_what_its_button_says(bot: Bot) -> None:
    thread, ts = await bot.shown(cards.APPROVAL)
    await bot.bed.click(AKI, ts, "Approve")
    where, event = await bot.one()
    assert gist(event, where) == Heard(Pressed, thread, (Verb.APPROVE, cards.DIGEST))
    assert event.by.id == f"{TEAM}:{AKI}"


async def test_two_presses_are_two_events(bot: Bot) -> None:
    _, ts = await bot.shown(cards.APPROVAL)
    for who in (AKI, MIKA, MIKA):
        await bot.bed.click(who, ts, "Approve")
    await bot.taken(3)


async def test_a_press_on_what_only_one_person_sees_is_about_its_thread(bot: Bot) -> None:
    thread, _ = await bot.shown(cards.RECEIVED)
    for where in (thread, thread.model_copy(update={"root": ""})):
        card = cards.PROBLEM.model_copy(update={"key": f"in {where.root}"})
        await bot.chat.whisper(where, cards.MIKA.model_copy(update={"id": f"{TEAM}:{MIKA}"}), card)
        seen = bot.bed.ephemerals(MIKA)[-1]
        await bot.bed.click(MIKA, seen.ts, card.choices[0].label)
    assert [heard.root for heard, _ in await bot.taken(2)] == [thread.root, ""]


@pytest.mark.parametrize(("thumb", "verb"), [("👍", Verb.HELPFUL), ("👎", Verb.UNHELPFUL)])
async def test_a_thumb_is_heard_as_a_press(bot: Bot, thumb: str, verb: Verb) -> None:
    _, ts = await bot.shown(cards.SUMMARY)
    await bot.bed.click(MIKA, ts, thumb)
    thread, event = await bot.one()
    assert gist(event, thread).says[0] is verb


async def test_a_button_of_another_version_of_the_bot_means_nothing(bot: Bot) -> None:
    _, ts = await bot.shown(cards.APPROVAL)
    [button, *_] = [
        one for block in bot.bed.messages(PUBLIC)[-1].blocks for one in block.get("elements", ())
    ]
    button["value"] = '{"v":"launch","a":"x"}'
    clicked = await bot.bed.click(MIKA, ts, "Approve")
    assert clicked
    await clicked.ack()
    assert bot.desk.calls == []


async def test_a_shortcut_is_about_the_thread_of_its_message(bot: Bot) -> None:
    thread, ts = await bot.shown(cards.RECEIVED)
    await bot.bed.message_shortcut(MIKA, ts, "session_interrupt")
    await bot.bed.message_shortcut(MIKA, thread.root, "session_status")
    both = await bot.taken(2)
    assert {where.root for where, _ in both} == {thread.root}
    assert [gist(event, thread).says[0] for _, event in both] == [Word.STOP, Word.STATUS]


async def test_slacks_own_stop_button_stops(bot: Bot) -> None:
    thread, _ = await bot.shown(cards.RECEIVED)
    await bot.bed.until(lambda: bot.bed.session_status(PUBLIC, thread.root) == "processing")
    await bot.bed.native_stop(MIKA, PUBLIC, thread.root)
    where, event = await bot.one()
    assert gist(event, where) == command(Word.STOP, mention=True, thread=thread)


# Settings are nobody's but those of the home they were opened on


@pytest.mark.covers("G-RULE-AI-4")
async def test_model_and_endpoint_are_set_in_a_form(bot: Bot) -> None:
    await bot.visit(PAGE)
    await bot.bed.click(MIKA, "home", "Model and endpoint")
    await bot.bed.until(lambda: bot.bed.views)
    [form] = bot.bed.views
    assert "Key: SET" in form.reads
    assert "OPENAI_API_KEY in .env" in form.reads
    for url, model, field in NOT_TAKEN:
        answer = await bot.bed.submit(form, {"base_url": url, "model": model})
        assert list(answer.get("errors", ())) == [field], url
    await bot.bed.submit(form, {"base_url": " https://models.example/v1 ", "model": "org/m-1"})
    [_, (thread, event)] = await bot.taken(2)
    assert isinstance(event, Configured)
    assert (event.base_url, event.model, thread) == ("https://models.example/v1", "org/m-1", HOME)


NOT_TAKEN = [
    *(
        (url, "m", "base_url")
        for url in (
            "models.example",
            "ftp://models.example",
            "https://",
            "https://me:secret@models.example/v1",
            "https://models.example/v1?key=secret",
            "https://models.example/v1#x",
            "https://models.example/ v1",
            "https://models.example:99999/",
            "https://[::1/",
            "javascript:alert(1)",
        )
    ),
    ("https://models.example/v1", "the best one", "model"),
]


async def test_who_may_not_is_shown_no_form(bot: Bot, bed: SlackBed) -> None:
    await bot.visit(PAGE, AKI)
    bot.desk.banned = {f"{TEAM}:{AKI}"}
    await bed.click(AKI, "home", "Model and endpoint")
    await bed.all_acked(ALL_IS_ACKED)
    assert len(bot.desk.calls) == 1
    assert bed.called("views.open") == []
