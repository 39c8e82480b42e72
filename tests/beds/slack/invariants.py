"""What must be true after every test with the played Slack, whatever went wrong in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator

from tests.beds.slack.names import Json
from tests.beds.slack.server import SlackBed

SLOWEST_ACK = 3.0
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
    """Fails with a list of all that is wrong.

    `roots`: where the bot may write outside threads: channels, or single messages (True: everywhere). `unacked`: a test that cuts
    connections or crashes the app may leave envelopes unacked. `forgiven`: refusals the test provoked.
    """
    wrong = [
        *bed.world.complaints,
        *(_acks(bed) if not unacked else ()),
        *_outside(bed, roots),
        *_doubles(bed, key),
        *_own_faults(bed, forgiven),
        *(f"no ack: {text}" for text in bed.sockets.strange),
    ]
    assert not wrong, "\n".join(wrong)


def _acks(bed: SlackBed) -> Iterator[str]:
    for one in bed.deliveries:
        what = f"{one.kind} {one.event.get('type') or one.payload.get('type', '')}"
        if not one.acked:
            yield f"{what} was not acked"
        elif (one.delay or 0) > SLOWEST_ACK:
            yield f"{what} was acked after {one.delay:.1f} s"


def _outside(bed: SlackBed, roots: Collection[str] | bool) -> Iterator[str]:
    if roots is True:
        return
    allowed = frozenset(roots or ())
    for one in bed.world.messages:
        if one.by_our_bot and not one.thread and allowed.isdisjoint((one.channel, one.ts)):
            yield f"outside a thread, in {one.channel}: {one.text[:80]}"


def _doubles(bed: SlackBed, key: Callable[[Json], Hashable]) -> Iterator[str]:
    counted = Counter(
        (one.channel, one.thread, made)
        for one in bed.world.messages
        if one.metadata and (made := key(one.metadata["event_payload"])) is not None
    )
    yield from (f"posted {times} times: {what}" for what, times in counted.items() if times > 1)


def _own_faults(bed: SlackBed, forgiven: Collection[str]) -> Iterator[str]:
    for call in bed.calls:
        if call.error in OWN_FAULTS and call.error not in forgiven:
            yield f"{call.method} was refused: {call.answer}"
