"""What stands in for the model's documents when it cannot write any: those of before, and what was asked for, literally."""

from __future__ import annotations

from bot.domain import spec_kit
from bot.domain.session import Session
from bot.engine.brain.material import former, wanted_change


def plain_spec(session: Session) -> str:
    previous, change = _before(session, "spec")
    if previous:
        number = max((int(id[3:6]) for id in spec_kit.requirement_ids(previous)), default=0) + 1
        asked = f"- **FR-{number:03}**: The system MUST do what was asked for: {_line(change)}"
        return f"{previous}\n\n## Change\n\n{asked}\n" if change else f"{previous}\n"
    quoted = _line(session.intent.body)
    return (
        f"# Feature Specification: {session.title}\n\n**Status**: Draft\n\n**Input**: “{quoted}”\n\n"
        "## User Scenarios & Testing\n\n### User Story 1 - The request as it stands (Priority: P1)\n\n"
        f"{session.intent.body}\n\n## Requirements\n\n### Functional Requirements\n\n"
        f"- **FR-001**: The system MUST do what was asked for: {quoted}\n\n"
        "## Success Criteria\n\n### Measurable Outcomes\n\n"
        "- **SC-001**: The tests written for this request pass.\n\n"
        "## Assumptions\n\n- The model could not write a fuller specification; the request is taken literally.\n"
    )


def plain_plan(session: Session) -> str:
    previous, change = _before(session, "plan")
    if previous:
        return f"{previous}\n\n## Change\n\n{change}\n" if change else f"{previous}\n"
    command = session.test_command or "to be set up"
    return (
        f"# Implementation Plan: {session.title}\n\n## Summary\n\n{session.intent.body}\n\n"
        f"## Technical Context\n\n**Testing**: {command}\n\n"
        "## Project Structure\n\n**Structure Decision**: as the repository is laid out today.\n"
    )


def _before(session: Session, kind: str) -> tuple[str, str]:
    """The former document, and what is wanted different from it."""
    return former(session).get(kind, "").rstrip(), wanted_change(session).strip()


def _line(text: str) -> str:
    return " ".join(text.split())
