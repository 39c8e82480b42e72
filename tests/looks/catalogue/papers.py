"""The three documents of the story, as a model writes them: headings, tables, code, check boxes."""

from __future__ import annotations

SPEC = """\
# Feature Specification: Dark mode

**Feature Branch**: `agent/spec-1a2b3c4d` | **Created**: 2026-11-18 | **Status**: Draft

## User Scenarios & Testing

### User Story 1 - Choose a dark appearance (Priority: P1)

Somebody who works at night opens the *settings page*, turns on **Dark mode**, and the whole shop changes at once.

**Why this priority**: it is the wish itself; everything else serves it.

**Acceptance Scenarios**:

1. **Given** a light page, **When** the switch is turned on, **Then** every page is dark.
2. **Given** a dark page, **When** it is loaded again, **Then** it is dark from the first frame.

### Edge Cases

- What happens when storage is not available? The choice holds until the tab is closed.
- What happens with ~~images~~ pictures on white ground? They get a border.

## Requirements

| Id | Requirement | Story |
|---|---|---|
| FR-001 | People can switch between light and dark on the settings page | US1 |
| FR-002 | The choice survives a reload and a restart of the browser | US1 |
| FR-003 | Contrast is at least 4.5 : 1 in both appearances | US1 |

> Nothing is sent to the server: see [the privacy page](https://shop.example/privacy).
"""
PLAN = """\
# Implementation Plan: Dark mode

**Language**: TypeScript 5.6 | **Storage**: `localStorage` | **Testing**: Vitest

## Structure

```text
src/
├── theme.ts          # what is chosen, and who is told
├── theme.test.ts
└── settings/
    └── Switch.tsx
```

## Decisions

1. The choice is an attribute of the root element; styles read it through custom properties.
2. A script of eight lines in the head sets it before anything is drawn:

```html
<script>document.documentElement.dataset.theme = localStorage.theme ?? "light"</script>
```

---

## Risks

- [ ] Third-party widgets bring colours of their own
- [x] Printed pages stay light
"""
TASKS = """\
# Tasks: Dark mode

## Phase 1: Setup

- [ ] T001 Set up the theme module in `src/theme.ts`

## Phase 2: User Story 1

- [ ] T002 [P] [US1] Add the switch to the settings page in `src/settings/Switch.tsx`
- [ ] T003 [P] [US1] Remember the choice across reloads in `src/theme.ts`

## Phase 3: Polish

- [ ] T004 Describe it in the user guide in `docs/guide.md`
"""
