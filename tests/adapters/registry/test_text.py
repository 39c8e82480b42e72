"""What people write into intents survives whatever the bot has to say there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.registry import ForgeRegistry, documents
from adapters.registry.folder import RegistryFolder
from adapters.registry.yaml_text import BrokenError, edit_mapping
from bot.core.errors import PortError
from bot.core.intent import Risk
from bot.core.projections.registry import IntentEdit, Observation, Observer
from bot.core.states import IntentStatus

SOURCE = """\
# Wanted by the shop team.
title: "ログインバリデーションの修正"   # ask Anna
body: |
  現状のバリデーションがメールアドレスの形式チェックを行っていない。
  RFC 5322 準拠のチェックを追加する。   # no comment
type: fix
source: human
risk: low
status: approved
owner: 'shop'   # ours
parent: null
created_at: 2025-02-22T10:00:00Z
clarifications:
  - question: "メールアドレスの形式チェックは RFC 5322 準拠？"
    answer: "RFC 5322 準拠で"
    # settled on Monday
  - question: "既存ユーザーのデータも再検証する？"
    answer: null
labels: {a: 1, b: [2, 3]}
# the end
"""
EDIT = IntentEdit(
    status=IntentStatus.EXECUTING,
    session="s1",
    type="feature",
    risk=Risk.HIGH,
    answers={"既存ユーザーのデータも再検証する？": "はい: # すべて", "New?": None},
)
EDITED = SOURCE.replace("status: approved", "status: executing").replace(
    "    answer: null\n", "    answer: 'はい: # すべて'\n  - question: New?\n    answer: null\n"
)


@pytest.mark.covers("F-INTENT-ID", "F-INTENT-YAML")
def test_an_intent_is_read_field_by_field() -> None:
    intent = documents.read_intent("fix-login-validation", SOURCE.encode()).intent
    assert intent.id == "fix-login-validation"
    assert intent.title == "ログインバリデーションの修正"
    assert intent.body.startswith("現状のバリデーション")
    assert (intent.type, intent.source, intent.risk) == ("fix", "human", "low")
    assert (intent.status, intent.parent) == ("approved", None)
    assert intent.created_at == datetime(2025, 2, 22, 10, tzinfo=UTC)
    answers = [question.answer for question in intent.clarifications]
    assert answers == ["RFC 5322 準拠で", None]
    assert [question.number for question in intent.open_questions] == [2]


@pytest.mark.covers("F-INTENT-TYPE")
@pytest.mark.parametrize("type", ["feature", "refactor", "fix", "test", "audit", "docs", "楽"])
def test_any_word_can_be_a_type(type: str) -> None:
    assert documents.read_intent("a", f"title: A\ntype: {type}\n".encode()).intent.type == type


@pytest.mark.covers("F-INTENT-SOURCE")
@pytest.mark.parametrize("source", ["human", "reflection"])
def test_a_source_is_human_or_reflection(source: str) -> None:
    assert (
        documents.read_intent("a", f"title: A\nsource: {source}\n".encode()).intent.source == source
    )
    with pytest.raises(BrokenError, match="source is"):
        documents.read_intent("a", b"title: A\nsource: robot\n")


def edited(content: bytes, edit: IntentEdit) -> bytes:
    return edit_mapping(content, lambda data: documents.change_intent(data, edit))


@pytest.mark.covers("F-INTENT-YAML")
def test_comments_order_quotes_and_unknown_keys_survive_an_edit() -> None:
    new = edited(SOURCE.encode(), EDIT).decode()
    assert sorted(new.splitlines()) == sorted([*EDITED.splitlines(), "session: s1"])


DONE = IntentEdit(status=IntentStatus.DONE)
SAME = IntentEdit(status=IntentStatus.APPROVED, type="fix", risk=Risk.HIGH)
FLAT = b"title: A\nclarifications:\n- question: B\n  answer: null\n"


@pytest.mark.parametrize(("content", "edit", "new"), [
    (SOURCE.encode().replace(b"\n", b"\r\n"), DONE, (b"status: approved", b"status: done")),
    (b"\xef\xbb\xbf" + SOURCE.encode(), DONE, (b"status: approved", b"status: done")),
    (FLAT, IntentEdit(status=IntentStatus.APPROVED), (b"answer: null\n", b"answer: null\nstatus: approved\n")),
    (SOURCE.encode(), SAME, (b"", b"")),
], ids=["line ends", "a byte mark", "a flat list", "nothing new"])  # fmt: skip
def test_an_edit_changes_what_it_says_and_nothing_else(
    content: bytes, edit: IntentEdit, new: tuple[bytes, bytes]
) -> None:
    assert edited(content, edit) == content.replace(*new)


class Editor(RegistryFolder):
    """A person saves the file the moment before the bot does."""

    saves = 1

    def replace(self, name: str, content: bytes, *, was: bytes, limit: int) -> None:
        if Editor.saves:
            Editor.saves -= 1
            path = self._top / self.name / name
            path.write_bytes(path.read_bytes().replace(b"title: A", b"title: B  # mine"))
        super().replace(name, content, was=was, limit=limit)


class Edited(ForgeRegistry):
    def _folder(self, repository: str, *within: str) -> RegistryFolder:
        return Editor(repository, *within)


@pytest.mark.covers("F-INTENT-YAML")
async def test_what_a_person_saves_meanwhile_is_kept_and_the_edit_is_made_in_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / ".forge" / "intents" / "a.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("title: A\nstatus: proposed\n")
    Editor.saves = 1
    approved = IntentEdit(status=IntentStatus.APPROVED)
    await Edited().change(str(tmp_path), "a", approved, seen=IntentStatus.PROPOSED)
    assert file.read_text() == "title: B  # mine\nstatus: approved\n"


async def test_who_saves_without_an_end_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / ".forge" / "intents" / "a.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("title: A A A A A A A\nstatus: proposed\n")
    Editor.saves = 100

    class Restless(Editor):
        def replace(self, name: str, content: bytes, *, was: bytes, limit: int) -> None:
            path = self._top / self.name / name
            path.write_bytes(path.read_bytes() + b"# more\n")
            RegistryFolder.replace(self, name, content, was=was, limit=limit)

    class Reedited(ForgeRegistry):
        def _folder(self, repository: str, *within: str) -> RegistryFolder:
            return Restless(repository, *within)

    with pytest.raises(PortError, match="being written by somebody else"):
        await Reedited().change(str(tmp_path), "a", IntentEdit(status=IntentStatus.APPROVED))
    assert "status: proposed" in file.read_text()
    assert sorted(path.name for path in file.parent.iterdir()) == ["a.yaml"]


@pytest.mark.covers("F-OBSERVE-1")
async def test_observations_of_people_stay_as_they_wrote_them(tmp_path: Path) -> None:
    file = tmp_path / ".forge" / "observations.yaml"
    file.parent.mkdir()
    mine = "# mine\n- content: 'Slow'   # very\n  evidence: []\n  mood: bad\n"
    file.write_text(mine)
    registry = ForgeRegistry()
    new = Observation(id="o2", content="Dead: code", source=Observer.AUDIT)
    await registry.observe(str(tmp_path), [new])
    assert file.read_text().startswith(mine)
    [first, second] = (await registry.noticed(str(tmp_path))).observations
    assert (first.content, second) == ("Slow", new)
    await registry.mark(str(tmp_path), {first.id})
    assert [one.processed for one in (await registry.noticed(str(tmp_path))).observations] == [
        True,
        False,
    ]
    assert "  mood: bad\n" in file.read_text()
