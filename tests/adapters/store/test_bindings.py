"""Which channel works on which repository: kept over restarts, for the owner only, and never half written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.files import Disk
from adapters.store.state_files import BindingsFile
from bot.core.errors import Unavailable


class FullDisk(Disk):
    def replace(self, path: Path, data: bytes, **how: Any) -> None:
        raise OSError(28, "No space left on device")


def test_what_was_bound_is_known_in_the_next_life(tmp_path: Path) -> None:
    bound = BindingsFile(tmp_path)
    assert bound.of("slack:T1:C1") == ""
    bound.bind("slack:T1:C1", "web")
    bound.bind("slack:T1:C2", "api")
    bound.bind("slack:T1:C1", "shop")
    again = BindingsFile(tmp_path)
    assert (again.of("slack:T1:C1"), again.of("slack:T1:C2")) == ("shop", "api")
    assert (tmp_path / "bindings.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", '{"a": ', "\udcff", "[" * 5_000])
def test_a_file_that_cannot_be_read_binds_nothing_and_can_be_written_again(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "bindings.json").write_bytes(text.encode(errors="surrogateescape"))
    bound = BindingsFile(tmp_path)
    assert bound.of("slack:T1:C1") == ""
    bound.bind("slack:T1:C1", "web")
    assert BindingsFile(tmp_path).of("slack:T1:C1") == "web"


def test_on_a_full_disk_it_is_told_and_stays_as_it_was(tmp_path: Path) -> None:
    BindingsFile(tmp_path).bind("slack:T1:C1", "web")
    bound = BindingsFile(tmp_path, FullDisk())
    with pytest.raises(Unavailable):
        bound.bind("slack:T1:C1", "api")
    assert bound.of("slack:T1:C1") == "web" == BindingsFile(tmp_path).of("slack:T1:C1")
