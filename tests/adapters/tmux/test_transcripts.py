"""A transcript has a limit of its own, whatever an agent prints."""

from __future__ import annotations

from adapters.tmux.screens import TRANSCRIPT, fit_transcript


def test_what_fits_is_kept_as_it_is() -> None:
    text = b"x" * (TRANSCRIPT - 1) + b"\n"
    assert fit_transcript(text) == text


def test_of_what_is_too_long_the_beginning_and_the_end_are_kept_in_whole_lines() -> None:
    lines = [f"line {number}\n".encode() for number in range(400_000)]
    text = b"".join(lines)
    kept = fit_transcript(text)
    assert len(kept) <= TRANSCRIPT < len(text)
    told = kept.splitlines(keepends=True)
    [place] = [n for n, line in enumerate(told) if b"left out" in line]
    assert told[:place] == lines[:place]
    assert told[place + 1 :] == lines[-len(told[place + 1 :]) :]
    assert sum(map(len, told[:place] + told[place + 1 :])) + int(told[place].split()[1]) == len(
        text
    )


def test_one_line_without_end_is_cut_all_the_same() -> None:
    for text in (b"x" * (3 * TRANSCRIPT), b"x" * (3 * TRANSCRIPT) + b"\n"):
        assert TRANSCRIPT // 2 < len(fit_transcript(text)) <= TRANSCRIPT
