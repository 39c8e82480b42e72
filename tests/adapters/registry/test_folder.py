"""`.forge` in a repository that means no good: nothing is followed, waited for, or read without an end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ruamel.yaml.comments import CommentedMap

from adapters.registry import ForgeRegistry, documents
from adapters.registry.folder import RegistryFolder
from bot.core.errors import PortError, Refused
from bot.core.intent import Intent
from bot.core.projections.registry import FiledIntent, IntentEdit
from bot.core.states import IntentStatus

GOOD = b"title: Good\n"


@pytest.fixture
def registry() -> ForgeRegistry:
    return ForgeRegistry()


def folder(top: Path, name: str = "intents") -> Path:
    made = top / ".forge" / name
    made.mkdir(parents=True, exist_ok=True)
    return made


def outside(top: Path) -> Path:
    secret = top.parent / f"{top.name}-outside"
    secret.mkdir()
    (secret / "secret.yaml").write_bytes(b"title: secret\n")
    return secret


async def told(registry: ForgeRegistry, top: Path) -> tuple[list[str], str]:
    shelf = await registry.shelf(str(top))
    return [filed.intent.id for filed in shelf.intents], " ".join(shelf.problems)


async def test_what_is_no_plain_file_is_told_and_the_rest_is_read(
    registry: ForgeRegistry, tmp_path: Path
) -> None:
    here = folder(tmp_path)
    (here / "good.yaml").write_bytes(GOOD)
    (here / "link.yaml").symlink_to(outside(tmp_path) / "secret.yaml")
    os.mkfifo(here / "pipe.yaml")
    (here / "folder.yaml").mkdir()
    (here / "huge.yaml").write_bytes(b"title: x\n" + b"# \n" * documents.MAX_INTENT_BYTES)
    ids, problems = await told(registry, tmp_path)
    assert ids == ["good"]
    for name in ("link", "pipe", "folder", "huge"):
        assert f".forge/intents/{name}.yaml" in problems


@pytest.mark.parametrize("where", [".forge", ".forge/intents"])
async def test_a_link_in_place_of_a_folder_is_not_followed(
    registry: ForgeRegistry, tmp_path: Path, where: str
) -> None:
    secret = outside(tmp_path)
    (secret / "intents").mkdir()
    (secret / "intents" / "x.yaml").write_bytes(GOOD)
    link = tmp_path / where
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(secret)
    ids, problems = await told(registry, tmp_path)
    assert ids == []
    assert "no folder of the repository's own" in problems
    with pytest.raises(Refused, match="no folder"):
        await registry.add(str(tmp_path), FiledIntent(intent=Intent(id="a", title="A")))
    assert sorted(path.name for path in secret.rglob("*.yaml")) == ["secret.yaml", "x.yaml"]


@pytest.mark.covers("F-INTENT-ID")
async def test_names_that_no_intent_can_have_are_told(
    registry: ForgeRegistry, tmp_path: Path
) -> None:
    here = folder(tmp_path)
    odd = ["a b.yaml", "-rf.yaml", "x\n@here.yaml", f"{'x' * 150}.yaml", "y.yaml.yaml"]
    for name in odd:
        (here / name).write_bytes(GOOD)
    os.close(os.open(os.fsencode(here) + b"/\xff.yaml", os.O_CREAT | os.O_WRONLY))
    (here / "修正.yaml").write_bytes(GOOD)
    (here / ".hidden.yaml").write_bytes(GOOD)
    ids, problems = await told(registry, tmp_path)
    assert ids == ["修正"]
    assert problems.count("a name that no intent can have") == len(odd) + 1
    assert "\n" not in problems


@pytest.mark.covers("F-INTENT-YAML")
@pytest.mark.parametrize("broken", [
    b"title: [", b"\xff\xfe", b"title: A\ntitle: B\n",
    b"a: &a [x]\nb: &b [*a, *a]\ntitle: *b\n", b"[" * 20_000, b"- title: A\n",
    b"title: A\nstatus: finished\n", b"title: A\nclarifications: [1, 2]\n", b"type: fix\n",
    b"title: A\n---\ntitle: B\n",
])  # fmt: skip
async def test_broken_yaml_is_told_and_left_untouched(
    registry: ForgeRegistry, tmp_path: Path, broken: bytes
) -> None:
    file = folder(tmp_path) / "broken.yaml"
    file.write_bytes(broken)
    ids, problems = await told(registry, tmp_path)
    assert ids == []
    assert ".forge/intents/broken.yaml cannot be read" in problems
    with pytest.raises(PortError):
        await registry.change(str(tmp_path), "broken", IntentEdit(status=IntentStatus.APPROVED))
    assert file.read_bytes() == broken


async def test_an_id_cannot_lead_out_of_its_folder(registry: ForgeRegistry, tmp_path: Path) -> None:
    outside(tmp_path)
    folder(tmp_path)
    for id in ("../secret", "/etc/x", "a/b", "", "..", "a\0b"):
        with pytest.raises(Refused):
            await registry.change(str(tmp_path), id, IntentEdit(status=IntentStatus.APPROVED))


async def test_what_somebody_takes_away_while_it_is_changed_is_told(
    registry: ForgeRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = folder(tmp_path) / "good.yaml"
    there.write_bytes(GOOD)

    def taken_away(data: CommentedMap, edit: IntentEdit) -> None:
        data["status"] = edit.status and edit.status.value
        there.unlink()

    monkeypatch.setattr(documents, "change_intent", taken_away)
    with pytest.raises(Refused, match="not there any more"):
        await registry.change(str(tmp_path), "good", IntentEdit(status=IntentStatus.APPROVED))
    assert list(there.parent.iterdir()) == []


def test_what_is_gone_was_moved_before(tmp_path: Path) -> None:
    folder(tmp_path, "intent-drafts")
    into = RegistryFolder(str(tmp_path), "intent-drafts", "taken")
    RegistryFolder(str(tmp_path), "intent-drafts").move("idea.md", into)
    assert into.names() == []


@pytest.mark.covers("F-DRAFT-2")
async def test_a_draft_is_moved_where_it_can_be_found_again(
    registry: ForgeRegistry, tmp_path: Path
) -> None:
    here = folder(tmp_path, "intent-drafts")
    for text in ("one", "two"):
        (here / "idea.md").write_text(text)
        [draft] = (await registry.shelf(str(tmp_path))).drafts
        await registry.put_aside(str(tmp_path), draft)
    assert sorted(path.name for path in here.rglob("*.md")) == ["idea-2.md", "idea.md"]
    assert {path.read_text() for path in here.rglob("*.md")} == {"one", "two"}


async def test_a_draft_and_an_intent_of_one_name_and_content_are_two_things(
    registry: ForgeRegistry, tmp_path: Path
) -> None:
    (folder(tmp_path) / "x.md.yaml").write_bytes(GOOD)
    (folder(tmp_path, "intent-drafts") / "x.md").write_bytes(GOOD)
    shelf = await registry.shelf(str(tmp_path))
    assert [filed.intent.id for filed in shelf.intents] == ["x.md"]
    assert [draft.digest for draft in shelf.drafts] == [documents.draft_digest(GOOD)]


async def test_a_draft_that_is_still_being_written_stays(
    registry: ForgeRegistry, tmp_path: Path
) -> None:
    here = folder(tmp_path, "intent-drafts")
    (here / "idea.md").write_text("one")
    [draft] = (await registry.shelf(str(tmp_path))).drafts
    (here / "idea.md").write_text("one and more")
    await registry.put_aside(str(tmp_path), draft)
    assert (here / "idea.md").read_text() == "one and more"


@pytest.mark.covers("F-DRAFT-1")
@pytest.mark.parametrize(("text", "title", "type", "body"), [
    ("---\ntype: feature\n---\n\nリンクを追加する。\n\n現状は無い。\n", "リンクを追加する。", "feature", "リンクを追加する。\n\n現状は無い。"),
    ("# Add codes\n\nMore.\n", "Add codes", "", "# Add codes\n\nMore."),
    ("---\ntitle: Codes\nrisk: low\n---\n", "Codes", "", "Codes"),
    ("Just words", "Just words", "", "Just words"),
    ("--- not front matter\nx", "not front matter", "", "--- not front matter\nx"),
    ("\ufeff---\r\ntype: fix\r\n---\r\nFix it\r\n", "Fix it", "fix", "Fix it"),
])  # fmt: skip
async def test_a_draft_needs_no_front_matter(text: str, title: str, type: str, body: str) -> None:
    draft = documents.read_draft("a.md", text.encode())
    assert (draft.title, draft.type, draft.body) == (title, type, body)


@pytest.mark.covers("F-DRAFT-1")
async def test_an_unreadable_draft_is_told_and_stays(
    registry: ForgeRegistry, tmp_path: Path
) -> None:
    here = folder(tmp_path, "intent-drafts")
    (here / "odd.md").write_text("---\nrisk: enormous\n---\nDo it\n")
    (here / "empty.md").write_text("\n\n")
    shelf = await registry.shelf(str(tmp_path))
    assert shelf.drafts == ()
    assert "it can be low, med or high" in " ".join(shelf.problems)
    assert sorted(path.name for path in here.iterdir()) == ["empty.md", "odd.md"]


async def test_a_file_in_place_of_the_folder_is_refused(
    registry: ForgeRegistry, tmp_path: Path
) -> None:
    (tmp_path / ".forge").write_text("a file")
    with pytest.raises(Refused, match="no folder"):
        await registry.add(str(tmp_path), FiledIntent(intent=Intent(id="a", title="A")))


async def test_a_checkout_that_is_gone_is_refused_or_empty(
    registry: ForgeRegistry, tmp_path: Path
) -> None:
    assert (await registry.shelf(str(tmp_path / "gone"))).intents == ()
    with pytest.raises(PortError):
        await registry.add(str(tmp_path / "gone"), FiledIntent(intent=Intent(id="a", title="A")))
