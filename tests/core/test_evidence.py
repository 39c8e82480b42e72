"""Evidence is sealed: one changed word, and its hash no longer fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.evidence import Artifact, Evidence
from tests.steps.scenes import T0


def evidence(**changes: object) -> Evidence:
    made = Evidence(
        evidence_id="e-1",
        timestamp=T0,
        operation_type="check",
        executor_id="gwt-bot",
        artifacts=(Artifact(path="/raw/one.log", sha256="0" * 64),),
        summary="T001: passed",
    )
    return made.model_copy(update=changes)


@pytest.mark.covers("R-ENTITY-Evidence", "R-RULE-EVIDENCE-2")
def test_what_was_sealed_fits_its_hash() -> None:
    sealed = evidence().sealed()
    assert sealed.hash == sealed.content_hash
    assert sealed.integrity_validated
    assert sealed.sealed() == sealed


@pytest.mark.covers("R-RULE-EVIDENCE-2")
def test_the_hash_survives_being_written_and_read() -> None:
    sealed = evidence(summary="日本語 \u0007 é").sealed()
    read = Evidence.model_validate_json(sealed.model_dump_json(indent=2))
    assert read.content_hash == sealed.hash


@pytest.mark.covers("R-RULE-EVIDENCE-4")
@given(st.sampled_from(sorted(Evidence.model_fields)), st.text(min_size=1, max_size=20))
def test_any_changed_field_shows(field: str, text: str) -> None:
    if field in ("hash", "integrity_validated"):
        return
    values: dict[str, object] = {
        "timestamp": T0.replace(year=2020),
        "artifacts": (),
        "atomic_operation": False,
        "contains_sensitive_data": True,
        "raw_evidence_refs": (text,),
    }
    sealed = evidence().sealed()
    changed = sealed.model_copy(update={field: values.get(field, f"{text}!")})
    assert changed.content_hash != sealed.hash
