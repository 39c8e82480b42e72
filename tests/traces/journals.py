"""Journals that 0.1.0 has written, in `journals/`: what each says once it is read, and what comes of the first event of each kind.

They come from schedules of the simulation, most of them cut off somewhere; `every-kind` has one of each event and action waiting.
`expected.xz` tells what each came to. `record` writes the same into its folder, so that `compare` shows what has changed; whoever
wants that writes it anew:

    python -m tests.traces journals
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.store import JournalStore
from bot.core.projections.records import Record, states_of
from bot.steps.decisions import decide, due
from tests.traces.values import Json, Leaves, plain

SAMPLES = Path(__file__).with_name("journals")
_ID = re.compile(rb'"/session":\{"schema_version":\d+,"id":"([^"]+)"')
EXPECTED = SAMPLES / "expected.xz"


def names() -> list[str]:
    return sorted(path.name.partition(".")[0] for path in SAMPLES.glob("*.journal.xz"))


def read(name: str) -> bytes:
    return lzma.decompress((SAMPLES / f"{name}.journal.xz").read_bytes())


def told(journal: bytes) -> list[str]:
    """What is in it, and what the first event of each kind led to: as lines of JSON."""
    last = _loaded(journal)
    facts: list[Json] = [
        ["stands", plain(states_of(last.session)), last.heard],
        ["inbox", plain(last.inbox)],
        ["outbox", plain(last.outbox)],
        ["values", sorted(Leaves().of(last.session))],
        *_decided(journal),
    ]
    return [json.dumps(fact, ensure_ascii=False) for fact in facts]


def expected() -> dict[str, list[str]]:
    return json.loads(lzma.decompress(EXPECTED.read_bytes()))


def write_expected() -> None:
    found = {name: told(read(name)) for name in names()}
    EXPECTED.write_bytes(lzma.compress(json.dumps(found, ensure_ascii=False).encode()))


def _decided(journal: bytes) -> Iterator[Json]:
    """From the session as it was saved at that moment."""
    known: set[str] = set()
    end = 0
    for line in journal.splitlines(keepends=True):
        end += len(line)
        if b"/inbox/" not in line:
            continue
        waiting = _loaded(journal[:end])
        for event in [one for one in waiting.inbox[:1] if one.kind not in known]:
            known.add(event.kind)
            session = waiting.session.copied()
            deeds = decide(session, event)
            stands = plain(states_of(session))
            orders = sorted(order.key for order in due(session))
            yield ["heard", event.kind, stands, orders, plain(deeds)]


def _loaded(journal: bytes) -> Record:
    """By the store itself; what is over, too."""
    named = _ID.search(journal)
    assert named, "it names no session"
    session_id = named[1].decode()
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"sessions/unfinished/{session_id}.journal"
        path.parent.mkdir(parents=True)
        path.write_bytes(journal)
        found = JournalStore(Path(folder), export_delay=3600).find(session_id)
    assert found, "it is not found by its id"
    return found
