"""S9: no parser raises anything but what whoever calls it expects, whatever it reads; and twice as much takes twice as long."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from tests.faults.figures import Count
from tests.faults.mutants import mutants
from tests.faults.parsers import PARSERS, Parser

GATE = "S9"
EVERY_DAY, ALL = 2_000, 20_000
SHORT, LONG = 16_000, 128_000
"""Bytes. A reader that goes through them again and again takes 64 times as long for the long one."""
AS_LONG = 24
"""Times: for eight times the bytes, on a machine that does other things as well."""


@pytest.fixture(params=PARSERS, ids=[parser.name for parser in PARSERS])
def parser(request: pytest.FixtureRequest) -> Parser:
    return request.param


def broken(parser: Parser, number: int, seed: int) -> list[str]:
    """Not all of it: what can still be read is read."""
    wrong: list[str] = []
    read = 0
    for mutant in mutants(parser.samples, number, seed):
        try:
            parser.read(mutant)
        except parser.expected:
            continue
        except Exception as error:  # noqa: BLE001 - which one nobody expects is what is looked for
            wrong.append(f"{error!r}: {mutant[:400]!r}")
        else:
            read += 1
    assert read, "nothing was broken so little that it is read"
    return wrong


def test_good_input_is_read(parser: Parser) -> None:
    for sample in parser.samples:
        parser.read(sample) if not parser.expected else _read_or_expected(parser, sample)


def _read_or_expected(parser: Parser, sample: bytes) -> None:
    try:
        parser.read(sample)
    except parser.expected:
        assert b"error" in sample, sample


def test_broken_input_is_no_surprise(parser: Parser, count: Count) -> None:
    number = EVERY_DAY // parser.effort
    wrong = broken(parser, number, seed=1)
    count(GATE, inputs=number, surprises=len(wrong))
    assert wrong[:3] == []


@pytest.mark.faults
@pytest.mark.timeout(900)
def test_no_broken_input_of_very_many_is_a_surprise(parser: Parser, count: Count) -> None:
    wrong = broken(parser, ALL, seed=2)
    count(GATE, inputs=ALL, surprises=len(wrong))
    assert wrong[:3] == []


@pytest.mark.faults
def test_what_is_longer_takes_no_more_than_its_share(parser: Parser, count: Count) -> None:
    for piece in (*parser.samples, b"a", b"[", b"{", b" ", b"\n- ", b"\\", b'"', b"<a ", b"`"):
        short, long = (seconds(parser, piece * (size // len(piece))) for size in (SHORT, LONG))
        assert long < AS_LONG * max(short, 0.005), (piece[:80], short, long)
        count(GATE, lengths=1)


def seconds(parser: Parser, data: bytes) -> float:
    began = time.process_time()
    with suppress(*parser.expected):
        parser.read(data)
    return time.process_time() - began
