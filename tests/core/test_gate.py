"""The one gate, cell by cell: who may do what, and where. What should come of it is written here in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, product

import pytest

from bot.core.choices import Command, Verb, Word
from bot.core.events import Commanded, Configured, FromPeople, Opened, Pressed, Said, Visited
from bot.core.gate import Door, Gate
from bot.core.people import Person, Role, Thread
from bot.core.projections.records import Record
from tests.faults.figures import every_day
from tests.steps import scenes
from tests.stories.stage import Stage

NEEDS = {
    "start": """command-continue press-check_again open-check_again press-ship_again open-ship_again press-watch_again open-watch_again press-wait_longer open-wait_longer press-more open-more
        said-to-the-bot said-in-passing
        command-status command-sessions command-resume command-tasks command-usage command-info
        command-logs command-help command-reopen command-decisions command-context command-ask
        command-catchup command-inbox command-repo command-model command-verbosity command-tests command-setup visit
        command-branch command-branches press-show_branch open-show_branch
        command-spec press-spec open-spec press-reassign open-reassign
        command-intent command-reflect command-audit press-intent_run open-intent_run
        press-log open-log press-helpful open-helpful press-unhelpful open-unhelpful
        press-begin open-begin
        press-defaults press-answer press-change press-resume press-retry press-skip press-keep
        press-nudge open-nudge press-tell open-tell
        press-try_again press-drop press-split press-whole press-there press-here
        open-defaults open-answer open-change open-resume open-retry open-skip open-keep
        open-try_again open-drop open-split open-whole open-there open-here""",
    "approve": """command-discard
        press-approve press-discard press-give_up press-merge
        open-approve open-discard open-give_up open-merge
        command-takeover command-handback command-use press-take_as_done open-take_as_done
        press-reply press-always press-accept press-send_back press-use_agent press-merge_pull press-merge_pulls press-unneeded
        press-merge_unchecked open-merge_unchecked
        open-reply open-always open-accept open-send_back open-use_agent open-merge_pull open-merge_pulls open-unneeded
        press-hint open-hint press-tests open-tests press-untested open-untested set-the-tests
        press-merge_branch open-merge_branch press-delete_branch open-delete_branch
        press-intent_approve open-intent_approve press-intent_reject open-intent_reject
        approve-an-intent reject-an-intent""",
    "stop": "command-stop press-stop open-stop press-stop_task open-stop_task",
    "admin": "command-keys command-relink bind-a-channel",
    "operate": "press-settings open-settings choose-a-model",
}
"""What one must be allowed to do, for each thing one can do."""

MAY = {
    "allowed for everything": "start approve stop admin operate",
    "may only start": "start",
    "may only approve": "approve",
    "may only stop": "stop",
    "admin and no more": "admin",
    "may only operate": "operate",
    "on no list": "",
    "a guest on the list": "",
    "a bot on the list": "",
    "an external person on the list": "",
    "the same user of another team": "",
    "without a team": "",
    "without an id": "",
    "with the name of somebody allowed": "",
    "of another platform": "",
}
PEOPLE = {
    "allowed for everything": Person(platform="here", id="T1:ANNA"),
    "may only start": Person(platform="here", id="T1:STARTER"),
    "may only approve": Person(platform="here", id="T1:APPROVER"),
    "may only stop": Person(platform="here", id="T1:STOPPER"),
    "admin and no more": Person(platform="here", id="T1:ADMIN"),
    "may only operate": Person(platform="here", id="T1:OPERATOR"),
    "on no list": Person(platform="here", id="T1:NOBODY"),
    "a guest on the list": Person(platform="here", id="T1:GUEST", outsider=True),
    "a bot on the list": Person(platform="here", id="T1:BOT", outsider=True),
    "an external person on the list": Person(platform="here", id="T9:EXTERN", outsider=True),
    "the same user of another team": Person(platform="here", id="T2:ANNA"),
    "without a team": Person(platform="here", id="ANNA"),
    "without an id": Person(platform="here", id="", name="Anna"),
    "with the name of somebody allowed": Person(platform="here", id="T1:X", name="T1:ANNA"),
    "of another platform": Person(platform="elsewhere", id="T1:ANNA"),
}
_LISTED_FOR_ALL = {"T1:ANNA", "T1:GUEST", "T1:BOT", "T9:EXTERN", ""}
LISTS = {
    Role.START: frozenset({"T1:STARTER"} | _LISTED_FOR_ALL),
    Role.APPROVE: frozenset({"T1:APPROVER"} | _LISTED_FOR_ALL),
    Role.STOP: frozenset({"T1:STOPPER"} | _LISTED_FOR_ALL),
    Role.ADMIN: frozenset({"T1:ADMIN"} | _LISTED_FOR_ALL),
    Role.OPERATE: frozenset({"T1:OPERATOR"} | _LISTED_FOR_ALL),
}

CHANNELS = frozenset({"T1:C1"})
PLACES = {
    # name: the places of the door (None: one place only; "none": no door), the thread, is it open?
    "an allowed channel": (CHANNELS, ("T1", "C1", False), True),
    "another channel": (CHANNELS, ("T1", "C2", False), False),
    "the same channel of another team": (CHANNELS, ("T2", "C1", False), False),
    "an allowed channel, its team left out": (CHANNELS, ("", "C1", False), False),
    "a direct talk, allowed": (frozenset({"T1:dm"}), ("T1", "D1", True), True),
    "a direct talk, not allowed": (CHANNELS, ("T1", "D1", True), False),
    "a direct talk of another team": (frozenset({"T1:dm"}), ("T2", "D1", True), False),
    "a direct talk, allowed by its own id": (frozenset({"T1:D1"}), ("T1", "D1", True), True),
    "a direct talk with people of no team": (frozenset({"dm"}), ("", "!d:a", True), True),
    "a room where only direct talks are": (frozenset({"dm"}), ("", "!r:a", False), False),
    "a channel that is called dm": (frozenset({"T1:dm"}), ("T1", "dm", False), False),
    "a room that is called dm": (frozenset({"dm"}), ("", "dm", False), False),
    "a platform without a door": ("none", ("T1", "C1", False), False),
    "a door that leads nowhere": (frozenset[str](), ("T1", "C1", False), False),
    "a door that leads nowhere, direct": (frozenset[str](), ("T1", "D1", True), False),
    "a platform that is one place": (None, ("", "terminal", False), True),
    "the bot's own page": (CHANNELS, ("T1", "", False), True),
}
THROUGH_THE_DESK = (
    "an allowed channel",
    "another channel",
    "a direct talk, allowed",
    "a direct talk, not allowed",
    "a platform without a door",
)
OWN_PAGE = "the bot's own page"
_BESIDE = frozenset(
    [
        "command-branch",
        "command-branches",
        "press-show_branch",
        "press-merge_branch",
        "press-delete_branch",
        "command-spec",
        "command-intent",
        "command-reflect",
        "command-audit",
        "press-intent_approve",
        "press-intent_reject",
        "press-intent_run",
        "approve-an-intent",
        "reject-an-intent",
        "bind-a-channel",
        "choose-a-model",
    ]
)
ANSWERED = (
    frozenset(
        f"command-{word}"
        for word in (
            Word.HELP,
            Word.SESSIONS,
            Word.KEYS,
            Word.INBOX,
            Word.REPO,
            Word.MODEL,
            Word.ASK,
        )
    )
    | {f"press-{Verb.SETTINGS}"}
    | _BESIDE
)
"""What is answered at once, and no session hears of."""


def gate_of(where: str) -> Gate:
    places = PLACES[where][0]
    if isinstance(places, str):
        return Gate({"elsewhere": Door(LISTS, CHANNELS)})
    return Gate({"here": Door(LISTS, places), "elsewhere": Door(LISTS, places)})


def thread_of(where: str) -> Thread:
    workspace, channel, direct = PLACES[where][1]
    root = "" if where == OWN_PAGE else "1"
    return Thread(platform="here", workspace=workspace, channel=channel, root=root, direct=direct)


def needed(what: str) -> str:
    [role] = [role for role, things in NEEDS.items() if what in things.split()]
    return role


def may(who: str, where: str, what: str) -> bool:
    return PLACES[where][2] and needed(what) in MAY[who].split()


def everything(by: Person) -> Iterator[tuple[str, FromPeople]]:
    """All that somebody can do, each with its name and an id of its own."""
    at = scenes.later()
    passing = Said(id="said-in-passing", at=at, by=by, text="Make it faster", mention=False)
    yield passing.id, passing
    yield "said-to-the-bot", Said(id="said-to-the-bot", at=at, by=by, text="Make it blue")
    for verb in Verb:
        opened, pressed = f"open-{verb}", f"press-{verb}"
        yield opened, Opened(id=opened, at=at, by=by, verb=verb)
        yield pressed, Pressed(id=pressed, at=at, by=by, verb=verb)
    for word in Word:
        command = f"command-{word}"
        yield command, Commanded(id=command, at=at, by=by, command=Command(word=word))
    bind = Command(word=Word.REPO, argument="repository")
    yield "bind-a-channel", Commanded(id="bind-a-channel", at=at, by=by, command=bind)
    tests = Command(word=Word.TESTS, text="make check")
    yield "set-the-tests", Commanded(id="set-the-tests", at=at, by=by, command=tests)
    for what in ("approve", "reject"):
        wish = Command(word=Word.INTENT, argument=what, text="a-wish")
        yield f"{what}-an-intent", Commanded(id=f"{what}-an-intent", at=at, by=by, command=wish)
    yield "visit", Visited(id="visit", at=at, by=by)
    chosen = Configured(id="choose-a-model", at=at, by=by, base_url="https://a", model="m")
    yield chosen.id, chosen


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("who", PEOPLE)
def test_who_may_do_what_is_a_matter_of_full_ids_roles_and_places(who: str, where: str) -> None:
    gate, thread = gate_of(where), thread_of(where)
    let = {what: gate.lets(thread, event) for what, event in everything(PEOPLE[who])}
    assert let == {what: may(who, where, what) for what in let}


def test_the_table_has_every_word_and_every_button_once_and_many_cells() -> None:
    named = " ".join(NEEDS.values()).split()
    done = [what for what, _ in everything(PEOPLE["on no list"])]
    assert sorted(named) == sorted(done)
    assert MAY.keys() == PEOPLE.keys()
    assert len(PEOPLE) * len(PLACES) * len(done) >= 500


@pytest.mark.parametrize("lists", [{}, dict.fromkeys(Role, frozenset[str]())], ids=["no", "empty"])
@pytest.mark.parametrize("places", [None, CHANNELS])
def test_an_empty_list_means_nobody(
    lists: dict[Role, frozenset[str]], places: frozenset[str] | None
) -> None:
    gate = Gate({"here": Door(lists, places)})
    for person in PEOPLE.values():
        assert not [
            e for _, e in everything(person) if gate.lets(thread_of("an allowed channel"), e)
        ]


def test_a_gate_without_doors_lets_nobody_through() -> None:
    thread = thread_of("an allowed channel")
    assert not [
        e for _, e in everything(PEOPLE["allowed for everything"]) if Gate({}).lets(thread, e)
    ]


async def with_a_plan_in(where: str) -> Stage:
    """A bot at that gate, and in that thread a session that waits for approval."""
    stage = Stage()
    session = scenes.awaiting_approval()
    session.thread, session.intent = thread_of(where), session.intent
    stage.store.save(Record(session=session))
    stage.platform, stage.gate = "here", gate_of(where)
    await stage.open()
    await stage.settle()
    return stage


def told(stage: Stage) -> list[tuple[Thread, Person, str]]:
    return [(thread, to, card.model_dump_json()) for thread, to, card in stage.chat.whispered]


def answers(stage: Stage) -> list[str]:
    """What was answered, privately or where all in a thread may read it."""
    shown = [
        card for cards in stage.chat.threads.values() for key, card in cards if "answer:" in key
    ]
    return [text for _, _, text in told(stage)] + [card.model_dump_json() for card in shown]


def records(stage: Stage, in_passing: bool) -> list[Record]:
    """What is kept; of talk in passing the session may know, but nothing follows from it."""
    found = [Record.model_validate_json(record) for record in stage.store.records.values()]
    for record in found if in_passing else ():
        record.session.talk.overheard, record.heard = (), []
        record.session.updated_at = scenes.T0
    return found


async def is_refused(stage: Stage, thread: Thread, event: FromPeople) -> None:
    """However often it comes, nothing changes; who has addressed the bot is told, once and privately."""
    assert stage.desk
    in_passing = isinstance(event, Said) and not event.mention
    silent = in_passing or isinstance(event, Visited)
    kept, shown, before = records(stage, in_passing), list(stage.chat.shown), told(stage)
    # long after the last no: one who hears many in a row is not told each
    await stage.clock.advance(600)
    for _ in range(2):
        assert await stage.desk.take(thread, event) is in_passing
        await stage.settle()
    assert (records(stage, in_passing), stage.chat.shown) == (kept, shown)
    new = told(stage)[len(before) :]
    assert [to for _, to, _ in new] == ([] if silent else [event.by])
    assert all(there == thread and "You may not do that here" in text for there, _, text in new)


async def is_taken(stage: Stage, thread: Thread, event: FromPeople) -> None:
    """It reaches the session, once; what is no session's business is answered, once."""
    assert stage.desk
    kept, before = dict(stage.store.records), answers(stage)
    for _ in range(2):
        assert await stage.desk.take(thread, event)
        await stage.settle()
    answered = [text for text in answers(stage) if text not in before]
    assert not [text for text in answered if "You may not" in text]
    if isinstance(event, Visited):
        # shown on the bot's own page, and in no channel
        assert (answered, stage.store.records) == ([], kept)
    elif event.id in ANSWERED:
        assert (len(answered), stage.store.records) == (1, kept)
    elif isinstance(event, Opened):
        assert (answered, stage.store.records) == ([], kept)
    else:
        [record] = stage.store.records.values()
        assert Record.model_validate_json(record).heard.count(event.id) == 1


PAIRS = [*product(PEOPLE, THROUGH_THE_DESK)]
USUAL = [*zip(PEOPLE, cycle(THROUGH_THE_DESK), strict=False)]


@pytest.mark.parametrize(
    ("who", "where"), every_day(USUAL, [pair for pair in PAIRS if pair not in USUAL])
)
async def test_only_what_may_be_done_reaches_a_session(who: str, where: str) -> None:
    stage = await with_a_plan_in(where)
    try:
        for what, event in everything(PEOPLE[who]):
            if may(who, where, what):
                await is_taken(stage, thread_of(where), event)
            else:
                await is_refused(stage, thread_of(where), event)
    finally:
        await stage.close()


def test_any_folder_of_the_machine_is_named_by_the_operator_alone() -> None:
    one = "local:1"
    thread = Thread(platform="console", channel="terminal", root="1")
    named = Said(
        id="e", at=scenes.T0, by=Person(platform="console", id=one), text="x", repository="/srv"
    )
    people = {role: frozenset({one}) for role in Role}
    assert Gate({"console": Door(people)}).lets(thread, named)
    without = {**people, Role.OPERATE: frozenset[str]()}
    assert not Gate({"console": Door(without)}).lets(thread, named)
    plain = named.model_copy(update={"repository": ""})
    assert Gate({"console": Door(without)}).lets(thread, plain)
