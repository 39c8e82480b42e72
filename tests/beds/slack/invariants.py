"""What must be true after every test with the played Slack, whatever went wrong in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import TYPE_CHECKING

from tests.beds.slack.messages import parts_of, texts_in
from tests.beds.slack.names import Json

if TYPE_CHECKING:
    from tests.beds.slack.server import SlackBed


SLOWEST_ACK = 3.0
FALLBACK = 300
MESSAGE = 8_000
_DECIDED = re.compile(r".+ by .+, \d{4}-\d\d-\d\d \d\d:\d\d UTC", re.DOTALL)
OWN_FAULTS = (
    "invalid_arguments",
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_metadata_format",
    "markdown_text_conflict",
    "metadata_too_large",
    "missing_argument",
    "missing_scope",
    "msg_blocks_too_long",
    "msg_too_long",
    "no_text",
    "not_allowed_token_type",
    "not_authed",
    "unknown_method",
    "view_too_large",
)
"""Refusals no state of the world can explain: the app asked for what cannot be."""


def by_key(payload: Json) -> Hashable:
    """What makes two posts the same, in the payload of their metadata."""
    return payload.get("card")


def check(
    bed: SlackBed,
    *,
    roots: Collection[str] | bool = (),
    unacked: bool = False,
    forgiven: Collection[str] = (),
    key: Callable[[Json], Hashable] = by_key,
) -> None:
    """Fails with a list of all that is wrong. What is allowed here is still allowed when the test is over, where it is
    looked at by itself: see `Leeway` for the words."""
    bed.leeway.also(roots, forgiven, unacked=unacked)
    _fail([*_acks(bed), *_wrong(bed, key)])


def check_at_the_end(bed: SlackBed) -> None:
    """After every test. The app is gone by then: what it was never told it could not ack."""
    if bed.leeway.checked:
        _fail([*_given_up(bed), *_wrong(bed, by_key)])


def _fail(wrong: list[str]) -> None:
    assert not wrong, "\n".join(wrong)


def _wrong(bed: SlackBed, key: Callable[[Json], Hashable]) -> Iterator[str]:
    yield from bed.world.complaints
    yield from _outside(bed)
    yield from _doubles(bed, key)
    yield from _own_faults(bed)
    yield from _at_work_for_ever(bed)
    yield from _live(bed)
    yield from _too_long(bed)
    yield from (f"no ack: {text}" for text in bed.sockets.strange)


def _acks(bed: SlackBed) -> Iterator[str]:
    for one in bed.deliveries if not bed.leeway.unacked else ():
        if not one.acked:
            yield f"{one.what} was not acked"
        elif (one.delay or 0) > SLOWEST_ACK:
            yield f"{one.what} was acked after {one.delay:.1f} s"


def _given_up(bed: SlackBed) -> Iterator[str]:
    for one in bed.deliveries if not bed.leeway.unacked else ():
        if one.lost and one.attempts:
            yield f"{one.what} was never acked"
        elif (one.delay or 0) > SLOWEST_ACK:
            yield f"{one.what} was acked after {one.delay:.1f} s"


def _outside(bed: SlackBed) -> Iterator[str]:
    if bed.leeway.anywhere:
        return
    for one in bed.world.messages:
        if one.by_our_bot and not one.thread and bed.leeway.roots.isdisjoint((one.channel, one.ts)):
            yield f"outside a thread, in {one.channel}: {one.text[:80]}"


def _doubles(bed: SlackBed, key: Callable[[Json], Hashable]) -> Iterator[str]:
    counted = Counter(
        (one.channel, one.thread, made)
        for one in bed.world.messages
        if one.metadata and (made := key(one.metadata["event_payload"])) is not None
    )
    yield from (f"posted {times} times: {what}" for what, times in counted.items() if times > 1)


def _own_faults(bed: SlackBed) -> Iterator[str]:
    for call in bed.calls:
        own = call.error in OWN_FAULTS and not call.ordered
        if own and call.error not in bed.leeway.forgiven:
            yield f"{call.method} was refused: {call.answer}"


def _at_work_for_ever(bed: SlackBed) -> Iterator[str]:
    """Where a session is closed, nothing says any more that it is being worked at."""
    for (channel, thread), session in bed.world.sessions.items():
        if session.get("status") != "closed":
            continue
        for message in bed.world.messages.thread(channel, thread):
            parts = parts_of(message.blocks)
            yield from (
                f"still in progress: {one.get('title')}"
                for one in parts
                if one.get("type") == "task_card" and one.get("status") == "in_progress"
            )


def _live(bed: SlackBed) -> Iterator[str]:
    """Who decided stands where the buttons were."""
    for message in bed.world.messages:
        if not message.metadata:
            continue
        kinds = {block["type"] for block in message.blocks}
        notes = [block for block in message.blocks if block["type"] == "context"]
        if "actions" in kinds and any(map(_DECIDED.fullmatch, texts_in(notes))):
            yield f"decided, and still to be pressed: {message.text[:80]}"


def _too_long(bed: SlackBed) -> Iterator[str]:
    """What Slack takes is looked at with every call; this is what the bot promises beyond that."""
    said = [one for one in bed.world.messages if one.metadata]
    for message in [*said, *(one.message for one in bed.world.ephemerals if one.message.blocks)]:
        if message.blocks and len(message.text) > FALLBACK:
            yield f"a fallback of {len(message.text)} characters: {message.text[:80]}"
        if (length := sum(map(len, texts_in(message.blocks)))) > MESSAGE:
            yield f"{length} characters in one message: {message.text[:80]}"
