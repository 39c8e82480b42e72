"""The played Slack keeps its promises: the real client and the real Bolt work with it, and it refuses what Slack refuses."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from tests.beds.slack import (
    AKI,
    APP_TOKEN,
    ARCHIVED,
    BOT_TOKEN,
    FOREIGN,
    MIKA,
    PUBLIC,
    SIGNING_SECRET,
    CannotDo,
    Delivery,
    Grants,
    SlackBed,
    invariants,
)

Json = dict[str, Any]
BUTTONS: list[Json] = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "Approve this plan?"}},
    {
        "type": "section",
        "block_id": "q1",
        "text": {"type": "mrkdwn", "text": "Which theme?"},
        "accessory": {
            "type": "static_select",
            "action_id": "pick",
            "options": [
                {"text": {"type": "plain_text", "text": "Dark"}, "value": "1"},
                {"text": {"type": "plain_text", "text": "Light"}, "value": "2"},
            ],
            "initial_option": {"text": {"type": "plain_text", "text": "Dark"}, "value": "1"},
        },
    },
    {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": "approve",
                "value": "r2",
                "text": {"type": "plain_text", "text": "Approve"},
                "confirm": {
                    "title": {"type": "plain_text", "text": "Sure?"},
                    "text": {"type": "plain_text", "text": "It runs."},
                    "confirm": {"type": "plain_text", "text": "Yes"},
                    "deny": {"type": "plain_text", "text": "No"},
                },
            }
        ],
    },
]
FORM: Json = {
    "type": "modal",
    "callback_id": "feedback",
    "title": {"type": "plain_text", "text": "Changes"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "what",
            "label": {"type": "plain_text", "text": "What?"},
            "element": {"type": "plain_text_input", "action_id": "text", "multiline": True},
        }
    ],
}


class App:
    """The real Bolt on a socket of the bed: keeps what it hears, and acks everything."""

    def __init__(self, bed: SlackBed, session: aiohttp.ClientSession) -> None:
        self.client: Any = AsyncWebClient(
            BOT_TOKEN, base_url=bed.api_url, session=session, retry_handlers=[], timeout=10
        )
        self.heard: list[Json] = []
        self.retries: list[str] = []
        self.refuses = 0
        self.says: Json = {}
        """What it answers to a form or a command."""
        bolt: Any = AsyncApp(client=self.client)
        bolt.middleware(self._journal)
        everything = re.compile(".*")
        kinds = (bolt.event, bolt.action, bolt.command, bolt.shortcut, bolt.view, bolt.view_closed)
        for kind in kinds:
            kind(everything)(self._ack)
        self.handler: Any = AsyncSocketModeHandler(
            bolt, APP_TOKEN, web_client=self.client, ping_interval=0.5
        )

    async def ok(self, method: str, **args: object) -> Json:
        answer = await self.client.api_call(method, json=args)
        return answer.data

    async def refused(self, method: str, **args: object) -> str:
        return (await self.failed(method, **args))["error"]

    async def failed(self, method: str, **args: object) -> Any:
        """The answer to a call that fails."""
        with pytest.raises(SlackApiError) as failed:
            await self.client.api_call(method, json=args)
        return cast("Any", failed.value).response

    async def _journal(self, req: Any, body: Json, next: Callable[[], Awaitable[None]]) -> None:
        self.heard.append(body)
        self.retries += req.headers.get("x-slack-retry-num", [])
        if self.refuses:
            self.refuses -= 1
            raise OSError("No space left on device.")
        await next()

    async def _ack(self, ack: Any) -> None:
        await ack(**self.says)


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed(grants=Grants(), checked=False) as bed:
        yield bed


@pytest.fixture
async def app(bed: SlackBed) -> AsyncIterator[App]:
    async with aiohttp.ClientSession() as session:
        app = App(bed, session)
        await app.handler.connect_async()
        await bed.connected()
        yield app
        await app.handler.close_async()


async def post(app: App, thread: str, **more: object) -> Json:
    return await app.ok("chat.postMessage", channel=PUBLIC, thread_ts=thread, text="Hello", **more)


def button(text: str = "Go", **more: object) -> Json:
    label = {"type": "plain_text", "text": text}
    return {"type": "button", "action_id": "go", "text": label, **more}


async def test_a_mention_comes_twice_and_each_ack_is_on_record(bed: SlackBed, app: App) -> None:
    message = await bed.mention(MIKA, PUBLIC, "add a dark mode")
    await bed.all_acked()
    events = [one["event"] for one in app.heard]
    assert sorted(one["type"] for one in events) == ["app_mention", "message"]
    assert {one["ts"] for one in events} == {message.ts}
    assert {one["text"] for one in events} == {"<@U0BOT> add a dark mode"}
    assert all(one.delay is not None and one.delay < 3 for one in bed.deliveries)
    invariants.check(bed)


async def test_a_post_can_be_edited_and_read_back_with_its_key(bed: SlackBed, app: App) -> None:
    root = await bed.mention(MIKA, PUBLIC, "hi")
    key = {"event_type": "card", "event_payload": {"card": "k1"}}
    posted = await post(app, root.ts, metadata=key)
    await app.ok("chat.update", channel=PUBLIC, ts=posted["ts"], text="a & b", blocks=BUTTONS)
    answer = await app.client.conversations_replies(
        channel=PUBLIC, ts=root.ts, include_all_metadata=True
    )
    told = answer.data["messages"]
    assert [one["ts"] for one in told] == [root.ts, posted["ts"]]
    assert (told[1]["text"], told[1]["metadata"]) == ("a &amp; b", key)
    assert all(one["block_id"] for one in told[1]["blocks"])
    assert told[1]["blocks"][2]["elements"][0]["text"]["emoji"]
    own = [one.event for one in bed.deliveries if one.event.get("user") != MIKA]
    assert [one.get("subtype") for one in own] == [None, "message_changed"]
    assert own[0]["bot_id"] == own[1]["message"]["bot_id"] == "B0BOT"
    await bed.all_acked()
    assert bed.thread(PUBLIC, root.ts)[1].edits == 1
    await post(app, root.ts, metadata=key)
    with pytest.raises(AssertionError, match="posted 2 times"):
        invariants.check(bed)


async def test_a_press_tells_where_and_what_stood_there(bed: SlackBed, app: App) -> None:
    root = await bed.mention(MIKA, PUBLIC, "hi")
    posted = await post(app, root.ts, blocks=BUTTONS)
    assert await bed.click(AKI, posted["ts"], "Approve", agree=False) is None
    pressed = await bed.click(AKI, posted["ts"], "Approve", state={"pick": "Light"})
    assert pressed is not None
    await pressed.ack()
    body = app.heard[-1]
    assert body["type"] == "block_actions"
    assert body["user"]["id"] == AKI
    assert (body["team"]["id"], body["channel"]["id"]) == ("T0001", PUBLIC)
    assert body["message"]["thread_ts"] == body["container"]["thread_ts"] == root.ts
    assert (body["actions"][0]["action_id"], body["actions"][0]["value"]) == ("approve", "r2")
    assert body["state"]["values"]["q1"]["pick"]["selected_option"]["value"] == "2"
    assert pressed.confirm is not None
    assert body["trigger_id"]
    with pytest.raises(CannotDo):
        await bed.click(AKI, posted["ts"], "Discard")


async def test_a_button_of_an_old_screen_can_still_be_pressed(bed: SlackBed, app: App) -> None:
    root = await bed.mention(MIKA, PUBLIC, "hi")
    posted = await post(app, root.ts, blocks=BUTTONS)
    await app.ok("chat.update", channel=PUBLIC, ts=posted["ts"], text="Approved.")
    with pytest.raises(CannotDo):
        await bed.click(AKI, posted["ts"], "Approve")
    stale = await bed.click(AKI, posted["ts"], "Approve", version=0)
    assert stale is not None
    await stale.ack()
    assert app.heard[-1]["actions"][0]["value"] == "r2"


WRONG_BLOCKS: list[tuple[str, list[Json]]] = [
    ("empty text", [{"type": "section", "text": {"type": "mrkdwn", "text": ""}}]),
    ("long text", [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}]),
    ("long field", [{"type": "section", "fields": [{"type": "mrkdwn", "text": "x" * 2001}]}]),
    ("neither text nor fields", [{"type": "section"}]),
    ("mrkdwn header", [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}]),
    ("long label", [{"type": "actions", "elements": [button("x" * 76)]}]),
    ("long value", [{"type": "actions", "elements": [button(value="x" * 2001)]}]),
    ("same action twice", [{"type": "actions", "elements": [button(), button()]}]),
    ("bad style", [{"type": "actions", "elements": [button(style="red")]}]),
    ("no elements", [{"type": "actions", "elements": []}]),
    ("unknown key", [{"type": "divider", "colour": "red"}]),
    ("unknown block", [{"type": "table_of_tables"}]),
    ("same block id", [{"type": "divider", "block_id": "a"}, {"type": "divider", "block_id": "a"}]),
    ("too many", [{"type": "divider"}] * 51),
    (
        "bad task",
        [{"type": "plan", "title": "x", "tasks": [{"type": "task_card", "task_id": "1"}]}],
    ),
]


@pytest.mark.parametrize(
    "blocks", [blocks for _, blocks in WRONG_BLOCKS], ids=[name for name, _ in WRONG_BLOCKS]
)
async def test_blocks_slack_would_refuse_are_refused(
    bed: SlackBed, app: App, blocks: list[Json]
) -> None:
    root = await bed.mention(MIKA, PUBLIC, "hi")
    refused = await app.refused(
        "chat.postMessage", channel=PUBLIC, thread_ts=root.ts, text="x", blocks=blocks
    )
    assert refused == "invalid_blocks"
    assert len(bed.thread(PUBLIC, root.ts)) == 1
    with pytest.raises(AssertionError, match="invalid_blocks"):
        invariants.check(bed)


async def test_what_cannot_be_is_refused_by_slacks_names(bed: SlackBed, app: App) -> None:
    root = await bed.mention(MIKA, PUBLIC, "hi")
    post = "chat.postMessage"
    long = [{"type": "markdown", "text": "x" * 11_900}]
    more = [{"type": "section", "text": {"type": "plain_text", "text": "x" * 2_900}}]
    mine = (await app.ok(post, channel=PUBLIC, thread_ts=root.ts, text="x"))["ts"]
    refused = [
        await app.refused(post, channel=PUBLIC),
        await app.refused(post, channel="C404", text="x"),
        await app.refused(post, channel=FOREIGN, text="x"),
        await app.refused(post, channel=ARCHIVED, text="x"),
        await app.refused(post, channel=PUBLIC, text="x", thread_ts=mine),
        await app.refused(post, channel=PUBLIC, text="x", markdown_text="x"),
        await app.refused(post, channel=PUBLIC, text="x", blocks=long + more),
        await app.refused("chat.update", channel=PUBLIC, ts=mine, text="x" * 4_001),
        await app.refused("chat.update", channel=PUBLIC, ts=root.ts, text="x"),
        await app.refused("views.open", trigger_id="never", view=FORM),
        await app.refused("agents.sessions.setStatus", channel_id=PUBLIC, status="busy"),
        await app.refused("reactions.get", channel=PUBLIC, timestamp=root.ts),
        await app.refused("chat.meMessage", channel=PUBLIC),
    ]
    assert refused == [
        "no_text",
        "channel_not_found",
        "not_in_channel",
        "is_archived",
        "cannot_reply_to_message",
        "markdown_text_conflict",
        "msg_blocks_too_long",
        "msg_too_long",
        "cant_update_message",
        "invalid_trigger_id",
        "invalid_status",
        "missing_scope",
        "unknown_method",
    ]


async def test_a_wrong_token_is_refused(bed: SlackBed) -> None:
    for token, error in (("xoxb-no", "invalid_auth"), (APP_TOKEN, "not_allowed_token_type")):
        client: Any = AsyncWebClient(token, base_url=bed.api_url)
        with pytest.raises(SlackApiError, match=error):
            await client.auth_test()


async def test_what_is_not_acked_comes_again_with_the_same_event_id(
    bed: SlackBed, app: App
) -> None:
    bed.courier.ack_seconds = 0.3
    app.refuses = 2
    await bed.say(MIKA, PUBLIC, "hello")
    await bed.all_acked()
    (delivery,) = bed.deliveries
    assert [one.number for one in delivery.attempts] == [0, 1, 2]
    assert len({one.envelope_id for one in delivery.attempts}) == 3
    assert len({one["event_id"] for one in app.heard}) == 1
    assert app.retries == ["0", "1", "2"]
    assert delivery.attempts[2].acked
    assert not delivery.attempts[0].acked


async def test_what_nobody_was_there_to_hear_comes_again(bed: SlackBed) -> None:
    await bed.say(MIKA, PUBLIC, "hello?")
    async with aiohttp.ClientSession() as session:
        app = App(bed, session)
        await app.handler.connect_async()
        await bed.all_acked()
        await app.handler.close_async()
    assert [one["event"]["text"] for one in app.heard] == ["hello?"]


async def test_an_answer_can_get_lost_after_the_deed(bed: SlackBed, app: App) -> None:
    root = await bed.mention(MIKA, PUBLIC, "hi")
    bed.faults.lose_answer("chat.postMessage")
    with pytest.raises(aiohttp.ClientError):
        await post(app, root.ts)
    assert len(bed.thread(PUBLIC, root.ts)) == 2
    bed.faults.drop("chat.postMessage")
    with pytest.raises(aiohttp.ClientError):
        await post(app, root.ts)
    assert len(bed.thread(PUBLIC, root.ts)) == 2


async def test_calls_can_be_turned_away_and_then_healed(bed: SlackBed, app: App) -> None:
    bed.faults.storm(1, retry_after=7, method="chat.*")
    bed.faults.answer(503, times=None)
    limited = await app.failed("chat.postMessage", channel=PUBLIC, text="x")
    assert (limited.status_code, limited.headers["Retry-After"]) == (429, "7")
    for _ in range(2):
        assert (await app.failed("auth.test")).status_code == 503
    bed.faults.heal()
    bed.faults.refuse("invalid_auth")
    assert await app.refused("auth.test") == "invalid_auth"
    answer = await app.client.auth_test()
    assert "chat:write" in answer.headers["x-oauth-scopes"]


async def test_a_rate_is_counted_per_channel(bed: SlackBed, app: App) -> None:
    bed.faults.limit("chat.postMessage", per_minute=1, burst=1)
    await app.ok("chat.postMessage", channel=PUBLIC, text="x")
    await app.ok("chat.postMessage", channel=bed.dm(MIKA), text="x")
    assert await app.refused("chat.postMessage", channel=PUBLIC, text="x") == "ratelimited"


async def test_sockets_fail_in_every_way_and_come_back(bed: SlackBed, app: App) -> None:
    await bed.sockets.disconnect("refresh_requested")
    await bed.until(lambda: bed.sockets.opened == 2)
    await bed.connected()
    bed.sockets.reset()
    await bed.until(lambda: bed.sockets.opened == 3)
    await bed.connected()
    bed.sockets.mute()
    await bed.until(lambda: bed.sockets.opened == 4)
    await bed.until(lambda: bed.sockets.open and not bed.sockets.open[-1].muted)
    await bed.go_away()
    await bed.come_back()
    await bed.until(lambda: bed.sockets.opened == 5)
    bed.faults.repeats = 1
    bed.faults.echoes = 1
    await bed.say(MIKA, PUBLIC, "still there?")
    await bed.until(lambda: len(app.heard) == 4)


async def test_a_dead_url_is_tried_again_until_it_is_forgotten(bed: SlackBed, app: App) -> None:
    bed.faults.dead_urls = 1
    await bed.sockets.disconnect("refresh_requested")
    await bed.until(lambda: bed.sockets.issued == 2)
    app.handler.client.wss_uri = None
    await bed.until(lambda: bed.sockets.opened == 2)


async def test_a_socket_url_is_good_once(bed: SlackBed) -> None:
    client: Any = AsyncWebClient(APP_TOKEN, base_url=bed.api_url)
    url = (await client.apps_connections_open(app_token=APP_TOKEN))["url"]
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url) as socket:
            assert (await socket.receive_json())["type"] == "hello"
        with pytest.raises(aiohttp.WSServerHandshakeError, match="404"):
            await session.ws_connect(url)


@pytest.mark.parametrize("counts", [True, False])
async def test_an_ack_on_another_socket_counts_if_slack_says_so(
    bed: SlackBed, counts: bool
) -> None:
    bed.faults.acks_elsewhere = counts
    bed.courier.ack_seconds = 0.2
    client: Any = AsyncWebClient(APP_TOKEN, base_url=bed.api_url)
    urls = [(await client.apps_connections_open(app_token=APP_TOKEN))["url"] for _ in range(2)]
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(urls[0]) as old,
        session.ws_connect(urls[1]) as new,
    ):
        await bed.connected(2)
        bed.sockets.open[1].leaving = True
        delivery = (await bed.open_home(MIKA)) or Delivery("", {})
        await old.receive_json()
        envelope = await old.receive_json()
        await new.send_json({"envelope_id": envelope["envelope_id"]})
        await bed.until(lambda: delivery.acked or len(delivery.attempts) > 1)
    assert delivery.acked == counts


async def test_a_slow_answer_is_an_answer_all_the_same(bed: SlackBed, app: App) -> None:
    bed.faults.slow(60, "auth.test")
    hurried: Any = AsyncWebClient(BOT_TOKEN, base_url=bed.api_url, timeout=1, retry_handlers=[])
    with pytest.raises(TimeoutError):
        await hurried.auth_test()
    bed.faults.slow(0.01, "auth.test")
    assert (await app.ok("auth.test"))["user_id"] == "U0BOT"


async def test_a_form_opens_once_and_answers(bed: SlackBed, app: App) -> None:
    delivery = await bed.slash(MIKA, PUBLIC, "/sessions", "list")
    await delivery.ack()
    trigger = app.heard[-1]["trigger_id"]
    assert "thread_ts" not in app.heard[-1]
    await app.ok("views.open", trigger_id=trigger, view=FORM)
    assert await app.refused("views.open", trigger_id=trigger, view=FORM) == "exchanged_trigger_id"
    (view,) = bed.views
    with pytest.raises(CannotDo, match="has to be filled in"):
        await bed.submit(view)
    app.says = {"response_action": "errors", "errors": {"what": "Say more."}}
    await bed.submit(view, {"what": "x"})
    assert view.errors == {"what": "Say more."}
    app.says = {}
    assert await bed.submit(view, {"what": "More tests"}) == {}
    values = app.heard[-1]["view"]["state"]["values"]
    assert values == {"what": {"text": {"type": "plain_text_input", "value": "More tests"}}}
    assert bed.views == []
    app.says = {"text": "Nothing runs."}
    await (await bed.slash(MIKA, PUBLIC, "/sessions")).ack()
    assert [one.text for one in bed.ephemerals(MIKA)] == ["Nothing runs."]
    with pytest.raises(CannotDo, match="not supported in threads"):
        await bed.slash(MIKA, PUBLIC, "/sessions", thread="1.1")


async def test_a_trigger_that_waited_too_long_opens_nothing() -> None:
    async with (
        SlackBed(grants=Grants(), trigger_seconds=0, checked=False) as bed,
        aiohttp.ClientSession() as session,
    ):
        app = App(bed, session)
        trigger = bed.world.new_trigger(MIKA)
        assert await app.refused("views.open", trigger_id=trigger, view=FORM) == (
            "expired_trigger_id"
        )
        await app.handler.close_async()


async def test_a_whisper_has_buttons_and_a_url_to_answer_to(bed: SlackBed, app: App) -> None:
    await app.ok("chat.postEphemeral", channel=PUBLIC, user=AKI, text="which?", blocks=BUTTONS)
    (whisper,) = bed.ephemerals(AKI)
    with pytest.raises(CannotDo):
        await bed.click(MIKA, whisper.ts, "Approve")
    await (await bed.choose(AKI, whisper.ts, "pick", "Light")).ack()
    body = app.heard[-1]
    assert body["actions"][0]["selected_option"]["value"] == "2"
    assert body["container"]["is_ephemeral"]
    assert "message" not in body
    respond: Any = AsyncWebhookClient(body["response_url"])
    for _ in range(5):
        assert (await respond.send(text="Done.", replace_original=True)).status_code == 200
    assert [one.text for one in bed.ephemerals(AKI)] == ["Done."]
    assert (await respond.send(text="Once more.")).status_code == 404


async def test_a_form_that_is_closed_says_so_if_it_was_to(bed: SlackBed, app: App) -> None:
    for notify in (False, True):
        view = FORM | {"notify_on_close": notify}
        await app.ok("views.open", trigger_id=bed.world.new_trigger(MIKA), view=view)
        told = await bed.close(bed.views[-1])
        assert (told is not None) == notify
    await bed.all_acked()
    assert [one["type"] for one in app.heard] == ["view_closed"]


async def test_the_root_of_a_thread_leaves_a_stone(bed: SlackBed, app: App) -> None:
    root, alone = await bed.mention(MIKA, PUBLIC, "hi"), await bed.say(MIKA, PUBLIC, "oh")
    await post(app, root.ts)
    for message in (root, alone):
        await bed.delete(MIKA, message.ts)
    answer = await app.client.conversations_replies(channel=PUBLIC, ts=root.ts)
    assert answer.data["messages"][0]["subtype"] == "tombstone"
    with pytest.raises(SlackApiError, match="thread_not_found"):
        await app.client.conversations_replies(channel=PUBLIC, ts=alone.ts)
    subtypes = [one.event.get("subtype") for one in bed.deliveries[-2:]]
    assert subtypes == ["message_changed", "message_deleted"]


async def test_long_threads_come_page_by_page_with_the_root_first(bed: SlackBed, app: App) -> None:
    root = await bed.say(MIKA, PUBLIC, "0")
    said = [await bed.reply(AKI, PUBLIC, root.ts, str(number)) for number in range(1, 5)]
    read: list[str] = []
    async for page in await app.client.conversations_replies(channel=PUBLIC, ts=root.ts, limit=2):
        read += [one["text"] for one in page["messages"]]
    assert read == ["0", "1", "2", "3", "4"]
    later = await app.client.conversations_replies(channel=PUBLIC, ts=root.ts, oldest=said[1].ts)
    assert [one["text"] for one in later.data["messages"]] == ["0", "3", "4"]


async def test_files_come_in_three_steps(bed: SlackBed, app: App) -> None:
    root = await bed.mention(MIKA, PUBLIC, "hi")
    await app.client.files_upload_v2(
        channel=PUBLIC, thread_ts=root.ts, content="# Spec", filename="spec.md", title="Spec"
    )
    assert [(one.name, one.content, one.thread) for one in bed.files] == [
        ("spec.md", b"# Spec", root.ts)
    ]
    assert bed.thread(PUBLIC, root.ts)[1].files[0]["name"] == "spec.md"


async def test_the_rest_of_slack_is_there(bed: SlackBed, app: App) -> None:
    root = await bed.mention(MIKA, PUBLIC, "hi")
    await app.client.reactions_add(channel=PUBLIC, timestamp=root.ts, name="eyes")
    assert bed.reactions(root.ts) == {"eyes": ["U0BOT"]}
    await app.ok(
        "agents.sessions.setStatus", channel_id=PUBLIC, thread_ts=root.ts, status="processing"
    )
    stop = await bed.native_stop(MIKA, PUBLIC, root.ts)
    assert stop is not None
    await stop.ack()
    assert app.heard[-1]["event"]["thread_ts"] == root.ts
    await app.ok("chat.postEphemeral", channel=PUBLIC, user=AKI, text="only you", thread_ts=root.ts)
    assert [one.text for one in bed.ephemerals(AKI)] == ["only you"]
    home = {"type": "home", "blocks": [{"type": "actions", "elements": [button()]}]}
    await app.ok("views.publish", user_id=MIKA, view=home)
    pressed = await bed.click(MIKA, "home", "Go")
    assert pressed is not None
    await pressed.ack()
    shortcut = await bed.message_shortcut(MIKA, root.ts, "session_status")
    await shortcut.ack()
    assert app.heard[-1]["message"]["ts"] == root.ts
    invariants.check(bed)


async def test_by_post_the_answer_is_the_ack_and_the_signature_is_right(bed: SlackBed) -> None:
    verifier = SignatureVerifier(SIGNING_SECRET)
    bodies: list[str] = []

    async def receive(request: web.Request) -> web.Response:
        body = await request.text()
        valid = verifier.is_valid_request(body, dict(request.headers))
        bodies.append(body)
        return web.Response(status=200 if valid else 401)

    site = web.Application()
    site.router.add_post("/events", receive)
    runner = web.AppRunner(site)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = bed.deliver_to(f"http://127.0.0.1:{runner.addresses[0][1]}/events")
    await bed.say(MIKA, PUBLIC, "by post")
    await bed.all_acked()
    await runner.cleanup()
    assert json.loads(bodies[0])["event"]["text"] == "by post"
    assert url.statuses == [200]
    invariants.check(bed)


async def test_an_outsider_may_see_what_was_left_undone(bed: SlackBed, app: App) -> None:
    await app.ok("chat.postMessage", channel=PUBLIC, text="at the root")
    bed.courier.deliveries.append(Delivery("events_api", {"event": {"type": "message"}}))
    with pytest.raises(AssertionError) as wrong:
        invariants.check(bed)
    assert "outside a thread" in str(wrong.value)
    assert "not acked" in str(wrong.value)


def test_the_manifest_says_what_the_app_may(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yml"
    manifest.write_text(
        "features: {slash_commands: [{command: /x}]}\n"
        "oauth_config: {scopes: {bot: [commands]}}\n"
        "settings: {event_subscriptions: {bot_events: [app_mention]}}\n",
        encoding="utf-8",
    )
    grants = Grants.of_manifest(manifest)
    assert grants.scopes == {"commands"}
    assert grants.commands == {"/x"}
    assert not grants.agent
    assert Grants.of_manifest(tmp_path / "none.yml") == Grants()
