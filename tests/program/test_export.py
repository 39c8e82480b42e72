"""An archive of a session: nothing secret in it, whole or refused, and it goes the same way again."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.store import JournalStore
from adapters.store.session_archive import HISTORY, MANIFEST, open_archive
from bot.cli.archives import replay, replay_history, write_archive
from bot.core.choices import Word
from bot.core.errors import BotError, Refused
from bot.core.masking import Masker
from bot.core.projections.records import EventHistory
from tests.adapters.store.disks import files_no_larger_than
from tests.stories.stage import Stage

HIDDEN = "correct-horse-battery-staple"
MAIL = "anna@example.org"
MASKER = Masker({"SLACK_BOT_TOKEN": HIDDEN})


async def lived(home: Path) -> str:
    """A session that was asked for, answered, approved, stopped, resumed and worked on. Its id."""
    stage = Stage()
    stage.store = JournalStore(home)  # type: ignore[assignment]
    await stage.open()
    await stage.is_planned(f"Add discounts; ask {MAIL}, the code is {HIDDEN}")
    await stage.approves()
    await stage.commands_(Word.STOP)
    await stage.commands_(Word.RESUME)
    await stage.agents_work(rounds=4)
    session = stage.session().id
    await stage.close()
    stage.store.close()  # type: ignore[attr-defined]
    return session


@pytest.fixture
async def archive(tmp_path: Path) -> Path:
    session = await lived(tmp_path / "home")
    path = tmp_path / "session.tar.gz"
    write_archive(tmp_path / "home", session[:8], path, MASKER)
    return path


def unpacked(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        files = {about.name: tar.extractfile(about) for about in tar}
        return {name: file.read() for name, file in files.items() if file}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def beginning(archive: Path, to: Path) -> Path:
    to.write_bytes(archive.read_bytes()[:-2000])
    return to


def repacked(archive: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    files = unpacked(archive)
    change(files)
    out = archive.with_name("changed.tar.gz")
    with tarfile.open(out, "w:gz") as tar:
        for name, content in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
    return out


async def test_what_a_session_has_heard_leads_to_the_same_states_and_orders_again(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await replay(archive)
    told = capsys.readouterr().out
    assert re.search(r"\d\d events, and the same states and orders come of them", told)


async def test_neither_a_secret_nor_a_mail_address_is_in_it(archive: Path) -> None:
    whole = b"".join(unpacked(archive).values()).decode()
    assert "discounts" in whole
    assert HIDDEN not in whole
    assert MAIL not in whole
    assert "[MASKED:EMAIL]" in whole


async def test_it_is_for_its_owner_alone_and_overwrites_nothing(
    archive: Path, tmp_path: Path
) -> None:
    assert mode(archive) == 0o600
    [session] = [p.stem for p in (tmp_path / "home" / "sessions").glob("*.json")]
    with pytest.raises(Refused, match="is there already"):
        write_archive(tmp_path / "home", session, archive, MASKER)


async def test_on_a_full_disk_no_half_of_it_stays_in_the_way(tmp_path: Path) -> None:
    session, path = await lived(tmp_path / "home"), tmp_path / "session.tar.gz"
    with files_no_larger_than(1000), pytest.raises(Refused, match="cannot be written"):
        write_archive(tmp_path / "home", session, path, MASKER)
    write_archive(tmp_path / "home", session, path, MASKER)
    open_archive(path)


async def test_what_somebody_has_led_elsewhere_is_no_part_of_it(tmp_path: Path) -> None:
    session = await lived(tmp_path / "home")
    secret = tmp_path / "secret.json"
    secret.write_text('"what is none of theirs"')
    logs = tmp_path / "home" / "logs" / "sessions" / session
    logs.mkdir(parents=True)
    (logs / "one.json").write_text("{}")
    (logs / "more.json").symlink_to(secret)
    write_archive(tmp_path / "home", session, tmp_path / "session.tar.gz", MASKER)
    told = unpacked(tmp_path / "session.tar.gz")
    assert [name for name in told if name.startswith("logs/")] == ["logs/one.json"]


async def test_who_made_an_archive_does_not_speak_to_the_terminal_of_who_replays_it(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def titled(files: dict[str, bytes]) -> None:
        manifest = json.loads(files[MANIFEST])
        files[MANIFEST] = json.dumps({**manifest, "title": "a\x1b]0;b\x07\nc"}).encode()

    await replay(repacked(archive, titled))
    assert capsys.readouterr().out.startswith("a c, exported by")


async def test_its_manifest_names_every_file_with_its_hash(archive: Path) -> None:
    files = unpacked(archive)
    named = {mark["name"] for mark in json.loads(files[MANIFEST])["files"]}
    assert named == files.keys() - {MANIFEST}
    assert {HISTORY, "session.json", "metadata.json"} <= named


@pytest.mark.covers("R-ENTITY-Run", "R-ENTITY-SessionMetadata", "R-RULE-ID-1", "R-RULE-ID-2")
async def test_threads_and_turns_are_numbered_in_it(archive: Path) -> None:
    about = json.loads(unpacked(archive)["metadata.json"])
    assert [one["thread_id"] for one in about["threads"]] == ["thr_001", "thr_002", "thr_003"]
    turns = about["turns"]
    assert [one["run_id"] for one in turns] == [f"run_{n:03d}" for n in range(1, len(turns) + 1)]
    assert turns[0]["trigger"] == "USER_INPUT"
    assert {one["trigger"] for one in turns} == {"USER_INPUT", "USER_RESPONSE", "EXECUTOR"}
    assert {one["status"] for one in turns} >= {"COMPLETED", "CANCELLED"}
    assert about["current_phase"] in {"EXECUTION", "QA", "COMPLETION_VALIDATION"}


async def test_another_outcome_is_told_with_its_step(archive: Path) -> None:
    _, history = open_archive(archive)
    steps = list(history.steps)
    at = next(n for n, step in enumerate(steps) if step.event.kind == "run_ended")
    wrong = steps[at].stand.model_copy(update={"tasks": {"T001": "Failed"}})
    steps[at] = steps[at].model_copy(update={"stand": wrong})
    found = replay_history(EventHistory(start=history.start, steps=tuple(steps)))
    assert found.difference.startswith(f"Step {at + 1} (run_ended): task T001 was Failed, and is")


async def test_another_order_is_told_too(archive: Path) -> None:
    _, history = open_archive(archive)
    first = history.steps[0].model_copy(update={"orders": ("scan",)})
    found = replay_history(EventHistory(start=history.start, steps=(first,)))
    assert "it orders survey; it does not order scan" in found.difference


def _without_history(files: dict[str, bytes]) -> None:
    del files[HISTORY]


def _other_history(files: dict[str, bytes]) -> None:
    files[HISTORY] += b" "


def _stranger(files: dict[str, bytes]) -> None:
    files["../../etc/passwd"] = b"x"


def _no_manifest(files: dict[str, bytes]) -> None:
    files[MANIFEST] = b"{"


def _newer(files: dict[str, bytes]) -> None:
    files[MANIFEST] = files[MANIFEST].replace(b'"format": 1', b'"format": 99')


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_without_history, "lacks history.jsonl"),
        (_other_history, "is not what was exported"),
        (_stranger, "which its manifest does not name"),
        (_no_manifest, "no manifest that I understand"),
        (_newer, "a newer gwt-bot"),
    ],
)
async def test_a_changed_archive_is_refused_with_what_is_wrong(
    archive: Path, change: Callable[[dict[str, bytes]], None], told: str
) -> None:
    with pytest.raises(Refused, match=told):
        await replay(repacked(archive, change))


@pytest.mark.parametrize("content", [b"", b"nothing", gzip.compress(b"no tar", mtime=0)])
async def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(content)
    with pytest.raises(Refused, match=r"no whole archive|no manifest"):
        await replay(path)
    with pytest.raises(Refused, match="There is no file"):
        await replay(tmp_path / "nowhere")


@pytest.mark.parametrize("hidden", [True, False])
async def test_what_unpacks_to_too_much_is_refused_also_where_no_file_shows_it(
    tmp_path: Path, hidden: bool
) -> None:
    """What stands in a header is read before anybody is asked for room."""
    bomb = tmp_path / "bomb.tar.gz"
    with tarfile.open(bomb, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        about = tarfile.TarInfo(MANIFEST)
        much = b"0" * 3_000_000
        if hidden:
            about.pax_headers = {"comment": much.decode()}
        about.size = 0 if hidden else len(much)
        tar.addfile(about, io.BytesIO(b"" if hidden else much))
    assert bomb.stat().st_size < 100_000
    with pytest.raises(Refused, match="too large"):
        open_archive(bomb, largest=1_000_000)


def _zipped(path: Path, tar: bytes) -> Path:
    path.write_bytes(gzip.compress(tar + bytes(1024)))
    return path


def _with_headers(**headers: str) -> bytes:
    about = tarfile.TarInfo("a")
    about.size = 512
    about.pax_headers = {f"GNU.sparse.{name}": value for name, value in headers.items()}
    return about.tobuf(tarfile.PAX_FORMAT) + b"q\n" * 256


def _named_again_and_again() -> bytes:
    about = tarfile.TarInfo("././@LongLink")
    about.type, about.size = tarfile.GNUTYPE_LONGNAME, 2
    return (about.tobuf(tarfile.GNU_FORMAT) + b"a" + bytes(511)) * 2000


async def test_a_file_that_is_all_holes_is_refused(tmp_path: Path) -> None:
    """Each is as large as it likes, and the archive as small as it was."""
    path = _zipped(tmp_path / "a.tar.gz", _with_headers(map="900000,0", size="900000"))
    with pytest.raises(Refused, match="no file"):
        open_archive(path)


@pytest.mark.parametrize(
    "tar",
    [
        _with_headers(map="x,y", size="10"),
        _with_headers(major="1", minor="0", realsize="5"),
        _named_again_and_again(),
    ],
    ids=["map", "realsize", "names"],
)
async def test_headers_that_make_no_sense_are_refused(tmp_path: Path, tar: bytes) -> None:
    with pytest.raises(Refused, match="no whole archive"):
        open_archive(_zipped(tmp_path / "a.tar.gz", tar))


async def test_half_an_archive_is_refused(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no whole archive"):
        await replay(beginning(archive, tmp_path / "half.tar.gz"))


def test_an_unknown_session_is_told(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no such session"):
        write_archive(tmp_path, "12345678", None, MASKER)


async def test_a_replay_that_differs_ends_with_an_error(archive: Path) -> None:
    def otherwise(files: dict[str, bytes]) -> None:
        lines = files[HISTORY].splitlines()
        files[HISTORY] = b"\n".join([lines[0], *lines[8:]]) + b"\n"
        manifest = json.loads(files[MANIFEST])
        for mark in manifest["files"]:
            if mark["name"] == HISTORY:
                mark["sha256"] = hashlib.sha256(files[HISTORY]).hexdigest()
        files[MANIFEST] = json.dumps(manifest).encode()

    with pytest.raises(BotError, match="Step "):
        await replay(repacked(archive, otherwise))
