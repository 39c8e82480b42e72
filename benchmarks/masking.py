"""How well and how fast secrets are masked.

    python -m benchmarks.masking

Shown are known values that leak in any embedding, labelled values that the patterns miss, places masked per megabyte of
code without secrets (a third of the standard library), and the time for 64 kB and for twice as much, of ordinary text and of
the hardest there is.
"""

from __future__ import annotations

import sysconfig
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.table import Unit, all_of, at_most, beside, hand_in
from bot.domain.masking import Masker
from tests.domain.test_masking import EMBEDDINGS, HARD, KNOWN, LABELS, leaks

SIZE = 64_000
AT_ONCE = 64_000
"""Characters that are masked in one call."""


def leaking() -> tuple[int, int]:
    """Of all known values in all embeddings, those that can be put together again."""
    masker = Masker(KNOWN)
    found = [
        leaks(masker.mask(shown), shown, secret)
        for written in EMBEDDINGS.values()
        for secret in KNOWN.values()
        for shown in (written(secret),)
    ]
    return sum(found), len(found)


def missed() -> tuple[int, int]:
    """Of values nobody knows, behind labels, those of which the middle is still there."""
    nobody = Masker({})
    kinds = [secret for secret in KNOWN.values() if not any(sign.isspace() for sign in secret)]
    found = [
        secret[len(secret) // 2 :][:8] in nobody.mask(written(secret))
        for written in LABELS.values()
        for secret in kinds
    ]
    return sum(found), len(found)


def masked_code() -> tuple[int, float]:
    """Places in a third of the standard library, and how many megabytes that is."""
    nobody, places, size = Masker({}), 0, 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))[::3]:
        if "site-packages" in path.parts or "test" in path.parts:
            continue
        text = path.read_text("utf-8", "replace")
        size += len(text)
        for start in range(0, len(text), AT_ONCE):
            piece = text[start : start + AT_ONCE]
            places += nobody.mask(piece).count("[MASKED:") - piece.count("[MASKED:")
    return places, size / 1_000_000


def best(texts: Iterable[str], mask: Callable[[str], str]) -> float:
    times: list[float] = []
    for _ in range(3):
        begun = time.process_time()
        for text in texts:
            mask(text)
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    known = Masker(KNOWN)
    leaked, embedded = leaking()
    lost, labelled = missed()
    places, size = masked_code()
    code = (Path(sysconfig.get_path("stdlib")) / "argparse.py").read_text("utf-8") * 2
    texts = {
        "code": [[code[:SIZE]], [code[: 2 * SIZE]]],
        "the hardest there is": [
            [(one * SIZE)[:length] for one in HARD] for length in (SIZE // 4, SIZE // 2)
        ],
    }
    times = {
        name: [best(some, known.mask_personal) for some in sizes] for name, sizes in texts.items()
    }
    hand_in(
        all_of("", "known values masked, in any embedding", embedded - leaked, embedded),
        at_most("", "labelled values missed", 100 * lost / labelled, 5, unit=Unit.PERCENT),
        at_most("", "places masked for nothing in a MB of code", places / size, 2, unit=Unit.COUNT),
        at_most("", f"{SIZE // 1000} kB of code masked, processor", times["code"][0], 0.2),
        *(
            beside("", f"{name}, masked: twice the text", twice, once, of="once", most=2.5)
            for name, (once, twice) in times.items()
        ),
    )


if __name__ == "__main__":
    main()
