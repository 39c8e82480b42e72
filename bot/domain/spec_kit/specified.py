"""spec.md and plan.md: what must be in them, and which ids and stories they define."""

from __future__ import annotations

import re

from bot.domain.spec_kit.sections import heading, lines

# Headings may carry "*(mandatory)*" or a translation behind them, or be the translation.
_SPEC = {
    "# Feature Specification: <name>": r"# Feature Specification|# (?:機能)?仕様(?:書)?(?=[:：\s]|$)|# 機能仕様",
    "## User Scenarios & Testing": r"## User Scenarios?(?: (?:&|and) Testing)?|## ユーザーシナリオ|## ユーザシナリオ",
    "## Requirements": r"## Requirements?|## 要件|## 機能要件",
    "## Success Criteria": r"## Success Criteria|## 成功基準|## 成功の基準",
}
_PLAN = {
    "# Implementation Plan: <name>": r"# Implementation Plan|# 実装計画|# 実装プラン",
    "## Summary": r"## Summary|## 概要|## 要約|## サマリー?",
    "## Technical Context": r"## Technical Context|## 技術的?(?:な)?(?:コンテキスト|背景|文脈)",
    "## Project Structure": r"## Project Structure|## プロジェクト(?:の)?構[造成]",
}
_PLACEHOLDER = re.compile(
    r"\[(?:FEATURE(?: NAME)?|###-feature-name|DATE|Brief Title|Entity [0-9]|PROJECT(?: NAME)?|TITLE|\$ARGUMENTS)\]"
)
_MENTIONED = r"\b{prefix}-[0-9]{{3}}[a-z]?\b"
_DEFINED = r"[ \t]*(?:[-*+]|[0-9]+[.)]|\||#{{3,6}})[ \t]+[*_`\[]*({prefix}-[0-9]{{3}}[a-z]?)(?![0-9A-Za-z])"
_STORY = re.compile(
    r"(?:User Story|ユーザーストーリー)\s*([0-9]{1,3})\s*[-–—:：]?\s*(.*?)\s*(?:[(（].*)?",
    re.IGNORECASE,
)


def check_spec(markdown: str) -> list[str]:
    """What a spec.md lacks; empty: nothing."""
    missing = _missing(markdown, _SPEC)
    if not requirement_ids(markdown):
        missing.append("there is no requirement: - **FR-001**: …")
    if not success_ids(markdown):
        missing.append("there is no success criterion: - **SC-001**: …")
    return missing


def check_plan(markdown: str) -> list[str]:
    """What a plan.md lacks; empty: nothing."""
    return _missing(markdown, _PLAN)


def requirement_ids(spec: str) -> tuple[str, ...]:
    """The requirements a spec defines, FR-001 …; those it merely mentions only where it defines none."""
    return _ids(spec, "FR")


def success_ids(spec: str) -> tuple[str, ...]:
    """The success criteria a spec defines, SC-001 …"""
    return _ids(spec, "SC")


def story_titles(spec: str) -> dict[str, str]:
    """The user stories of a spec: US1 → its title."""
    found: dict[str, str] = {}
    for line in lines(spec):
        level, title = heading(line)
        story = _STORY.fullmatch(" ".join(title.split())) if level == 3 else None
        if story:
            found.setdefault(f"US{int(story[1])}", story[2])
    return found


def _missing(markdown: str, wanted: dict[str, str]) -> list[str]:
    there = [f"{'#' * level} {title}" for level, title in map(heading, lines(markdown)) if level]
    missing = [
        f"the heading “{name}” is missing"
        for name, pattern in wanted.items()
        if not any(re.match(rf"(?:{pattern})(?![A-Za-z])", title, re.IGNORECASE) for title in there)
    ]
    plain = "\n".join(
        re.sub(r"`[^`]*`", "", line.text) for line in lines(markdown) if not line.fenced
    )
    left = dict.fromkeys(_PLACEHOLDER.findall(plain))
    return missing + [f"the placeholder {placeholder} is still there" for placeholder in left]


def _ids(spec: str, prefix: str) -> tuple[str, ...]:
    plain = [line.text for line in lines(spec) if not line.fenced]
    defined = [
        found[1] for text in plain if (found := re.match(_DEFINED.format(prefix=prefix), text))
    ]
    mentioned = re.findall(_MENTIONED.format(prefix=prefix), "\n".join(plain))
    return tuple(dict.fromkeys(defined or mentioned))
