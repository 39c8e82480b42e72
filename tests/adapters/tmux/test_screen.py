"""What is read from a screen, and what may be typed into one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.tmux.screens import last_lines, readable, typeable
from adapters.tmux.terminal import PaneOutput


@given(st.text())
def test_nothing_that_is_read_can_steer_a_terminal_or_turn_the_text_around(text: str) -> None:
    assert not [
        letter
        for letter in readable(text)
        if (ord(letter) < 0x20 and letter not in "\n\t")
        or 0x7F <= ord(letter) <= 0x9F
        or letter in "\u200b\u200d\u202e\u2066\ufeff"
    ]


@given(st.text())
def test_what_is_typed_is_the_text_without_its_control_characters(text: str) -> None:
    kept = [c for c in text if c in "\n\t" or (ord(c) >= 0x20 and not 0x7F <= ord(c) <= 0x9F)]
    assert typeable(text) == "".join(kept)


def test_the_last_lines_are_those_with_something_on_them() -> None:
    screen = "one\n\ntwo  \n   \nthree\n\n\nPane is dead (status 0, Wed Nov 18 13:00:00 2026)\n"
    assert last_lines(screen, 2) == "two\nthree"
    assert last_lines(screen, 9) == "one\ntwo\nthree"
    assert last_lines(screen, 0) == ""


@pytest.mark.parametrize("printed", [
    b"DONE-4f\r\n", b"words\r\n\x1b[32m\xe2\x8f\xba\x1b[0m DONE-4f\x1b[K\r\n",
    b"\x1b]0;title DONE-4f\x07x\r\nDONE-4f\r",
    b"\x1b[3;1H\xe2\x94\x82 DONE-4f \xe2\x94\x82\x1b[4;1H",
])  # fmt: skip
@pytest.mark.parametrize("cut", [1, 3, 1000])
def test_a_marker_is_seen_however_its_output_is_cut(
    tmp_path: Path, printed: bytes, cut: int
) -> None:
    file = tmp_path / "output"
    file.write_bytes(b"")
    output = PaneOutput(file, "DONE-4f")
    for start in range(0, len(printed), cut):
        with file.open("ab") as more:
            more.write(printed[start : start + cut])
        output.read()
    assert output.done


@pytest.mark.covers("G-RULE-END-3")
@pytest.mark.parametrize(
    "printed", [b"say DONE-4f\r\n", b"DONE-4f2\r\n", b"DONE-4f", b"\x1b]0;DONE-4f\x07"]
)
def test_a_marker_inside_a_line_is_none(tmp_path: Path, printed: bytes) -> None:
    file = tmp_path / "output"
    file.write_bytes(printed)
    output = PaneOutput(file, "DONE-4f")
    output.read()
    assert not output.done


@pytest.mark.parametrize("cut", [1, 4, 1000])
def test_asking_for_pasted_text_is_seen_however_it_is_cut(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "output"
    file.write_bytes(b"")
    output = PaneOutput(file, "")
    printed = b"hello \x1b[?25l\x1b[?2004h> "
    for start in range(0, len(printed), cut):
        with file.open("ab") as more:
            more.write(printed[start : start + cut])
        output.read()
    assert output.ready


def test_output_that_was_begun_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.write_bytes(b"x" * 1000)
    output = PaneOutput(file, "DONE-4f")
    output.read()
    file.write_bytes(b"DONE-4f\r\n")
    output.read()
    assert output.done
