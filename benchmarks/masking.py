"""How well and how fast secrets are masked.

    python -m benchmarks.masking

Shown are known values that leak in any embedding, labelled shapes and tokens that the patterns miss, places masked per
megabyte of code without secrets (a third of the standard library), how fast that is, beside listing the words of the same
text, and the time for 64 kB and for twice as much, of ordinary text and of the hardest there is.
"""

from __future__ import annotations

import re
import sysconfig
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.table import Row, Unit, all_of, at_most, beside, hand_in
from bot.core.masking import Masker
from tests.core import secret_shapes as shapes
from tests.core.test_masking import (
    EMBEDDINGS,
    HARD,
    KNOWN,
    KNOWS_TOKENS,
    NOBODY,
    TOKENS,
    leaking_tokens,
    leaks,
    missed_labels,
)

SIZE = 64_000
AT_ONCE = 64_000
"""Characters that are masked in one call."""
SEEDS = 20
"""Secrets tried in each labelled shape."""


def leaking() -> tuple[int, int]:
    """Of all known values in all embeddings, those that can be put together again."""
    masker = Masker(KNOWN)
    found = [
        leaks(masker.mask(shown), shown, secret)
        for written in EMBEDDINGS.values()
        for secret in KNOWN.values()
        for shown in (written(secret),)
    ]
    tokens = sum(len(leaking_tokens(KNOWS_TOKENS, one)) for one in shapes.EMBEDDINGS)
    return sum(found) + tokens, len(found) + len(shapes.EMBEDDINGS) * len(TOKENS)


def missed_tokens(found: shapes.Found) -> float:
    """In a hundred, of tokens that nobody knows."""
    some = [one for one in shapes.EMBEDDINGS if one.found == found]
    missed = sum(len(leaking_tokens(NOBODY, one)) for one in some)
    return 100 * missed / len(some) / len(TOKENS)


def code() -> list[str]:
    """A third of the standard library, in pieces."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))[::3]
    texts = [
        path.read_text("utf-8", "replace")
        for path in paths
        if "site-packages" not in path.parts and "test" not in path.parts
    ]
    return [
        text[start : start + AT_ONCE] for text in texts for start in range(0, len(text), AT_ONCE)
    ]


def places(pieces: list[str]) -> int:
    return sum(NOBODY.mask(one).count("[MASKED:") - one.count("[MASKED:") for one in pieces)


def best(texts: Iterable[str], mask: Callable[[str], object]) -> float:
    times: list[float] = []
    for _ in range(3):
        begun = time.process_time()
        for text in texts:
            mask(text)
        times.append(time.process_time() - begun)
    return min(times)


def speed(pieces: list[str]) -> list[Row]:
    known = Masker(KNOWN)
    text = (Path(sysconfig.get_path("stdlib")) / "argparse.py").read_text("utf-8") * 2
    texts = {
        "code": [[text[:SIZE]], [text[: 2 * SIZE]]],
        "the hardest there is": [
            [(one * SIZE)[:length] for one in HARD] for length in (SIZE // 4, SIZE // 2)
        ],
    }
    times = {
        name: [best(some, known.mask_personal) for some in sizes] for name, sizes in texts.items()
    }
    size = sum(map(len, pieces)) / 1_000_000
    masked, words = best(pieces, NOBODY.mask), best(pieces, re.compile(r"\w+").findall)
    with_known = f"{SIZE // 1000} kB of code masked with {len(KNOWN)} known, processor"
    return [
        at_most("", "a MB of code masked, processor", masked / size, 0.2),
        beside("", "the same, beside listing its words", masked, words, of="words", most=8),
        at_most("", with_known, times["code"][0], 0.02),
        *(
            beside("", f"{name}, masked: twice the text", twice, once, of="once", most=2.5)
            for name, (once, twice) in times.items()
        ),
    ]


def main() -> None:
    leaked, embedded = leaking()
    lost = 100 * len(missed_labels(SEEDS)) / len(shapes.LABELLED) / SEEDS
    pieces = code()
    false = places(pieces) / sum(map(len, pieces)) * 1_000_000
    whole, cut = missed_tokens("shape"), missed_tokens("joined")
    hand_in(
        all_of("", "known values masked, in any embedding", embedded - leaked, embedded),
        at_most("", "labelled shapes missed", lost, 1, unit=Unit.PERCENT),
        at_most("", "tokens nobody knows, missed", whole, 0.1, unit=Unit.PERCENT),
        at_most("", "the same, cut by line ends or tags", cut, 3, unit=Unit.PERCENT),
        at_most("", "places masked for nothing in a MB of code", false, 1, unit=Unit.COUNT),
        *speed(pieces),
    )


if __name__ == "__main__":
    main()
