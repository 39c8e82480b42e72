"""Broken inputs: a good one that was cut, flipped, filled or twisted, the same ones for the same seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, cast

_WORDS = (
    *(b"", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\r\n", b"\x1b[2J\x1b]0;x\x07", b"\xe2\x80\xae"),
    *(b"[" * 300, b'{"a":' * 300, b'"', b"\\", b"\\ud800", b"1e999", b"-", b"9" * 400, b"NaN"),
    *(b"null", b"true", b"```", b"---", b"- [ ] ", b"%s{0}", b"<!--", b"../../etc/passwd"),
    *(
        b"\n",
        b"- ",
        b": ",
        b"#",
        b"'",
        b"|",
        b"&a ",
        b"*a",
        b"[",
        b"{",
        b"\t",
        b"!!x ",
        b"? ",
        b"<<: ",
    ),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 1e308, float("nan"), "", "x" * 5000, "\ud800", "\u202e", "\x00"),
    *([], {}, [[]], [None], {"": None}, [{}], {"type": {"type": []}}, "9" * 400),
)


def mutants(samples: tuple[bytes, ...], number: int, seed: int) -> Iterator[bytes]:
    chance = random.Random(seed)  # noqa: S311 - the same mutants in every run
    trees = [tree for sample in samples if (tree := _tree(sample)) is not None]
    for _ in range(number):
        if trees and chance.random() < 0.6:
            yield _twisted(chance.choice(trees), chance)
        else:
            yield _spoiled(chance.choice(samples), chance)


def _tree(sample: bytes) -> Any:
    try:
        return json.loads(sample)
    except ValueError:
        return None


def _twisted(tree: Any, chance: random.Random) -> bytes:
    """Still JSON, but not what is expected."""
    tree = json.loads(json.dumps(tree))
    for _ in range(chance.randint(1, 3)):
        inner = [one for one in _inner(tree) if one]
        if not inner:
            break
        _twist(chance.choice(inner), chance)
    return json.dumps(tree).encode()


def _inner(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict):
        yield tree
        for value in cast("dict[str, Any]", tree).values():
            yield from _inner(value)
    elif isinstance(tree, list):
        yield tree
        for value in cast("list[Any]", tree):
            yield from _inner(value)


def _twist(inner: Any, chance: random.Random) -> None:
    named = isinstance(inner, dict)
    keys: list[Any] = [*(cast("dict[str, Any]", inner) if named else range(len(inner)))]
    key = chance.choice(keys)
    match chance.randrange(4):
        case 0:
            del inner[key]
        case 1 if named:
            value = cast("object", inner[key])
            del inner[key]
            inner[chance.choice(("", "type", "id", "\ud800", f"{key}x"))] = value
        case _:
            inner[key] = deepcopy(chance.choice(_VALUES))


def _spoiled(sample: bytes, chance: random.Random) -> bytes:
    made = sample
    for _ in range(chance.randint(1, 3)):
        made = chance.choice(_SPOILING)(made, chance)
    return made


def _cut(made: bytes, chance: random.Random) -> bytes:
    return made[: chance.randrange(len(made) + 1)]


def _flipped(made: bytes, chance: random.Random) -> bytes:
    if not made:
        return made
    at = chance.randrange(len(made))
    return made[:at] + bytes([made[at] ^ (1 << chance.randrange(8))]) + made[at + 1 :]


def _filled(made: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(made) + 1)
    return made[:at] + chance.choice(_WORDS) + made[at:]


def _without(made: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(made) + 1)
    return made[:at] + made[at + chance.randrange(1, 40) :]


def _doubled(made: bytes, chance: random.Random) -> bytes:
    at, end = sorted((chance.randrange(len(made) + 1), chance.randrange(len(made) + 1)))
    return made[:end] + made[at:end] + made[end:]


def _moved(made: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(made) + 1)
    end = at + chance.randrange(1, 40)
    return made[:at] + made[end:] + made[at:end]


_SPOILING: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_cut, _flipped, _filled, _without, _doubled, _moved),
)
