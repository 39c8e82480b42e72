"""The panes of a session's agents, to look at. Nothing on this page types there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from adapters.local.page.data import PageData
from adapters.local.page.frame import Context, PageParts
from bot.core.errors import PortError
from bot.core.runs import Run
from bot.core.screens import PaneScreen, Row, Style
from bot.core.session import Session
from bot.core.states import Outcome, RunState
from bot.core.task import Task

LOOK_SECONDS = 0.15
"""How often a pane is looked at while it is open on a page: about 4 ms each time, one of them of the processor."""
REST_SECONDS = 2.0
"""The same for a pane that is gone, or that tmux does not show."""


class ListedPane(NamedTuple):
    run: str
    key: str
    """Of its task."""
    name: str
    number: int
    """Which run of that task it is."""
    agent: str
    state: str
    live: bool
    attach: str
    started_at: datetime


def panes_of(session: Session) -> list[ListedPane]:
    """Return the runs whose panes can be looked at: those at work first, then the last one of each other task."""
    listed = [_listed(task, task.run) for task in session.tasks if task.run]
    return sorted(listed, key=lambda pane: not pane.live)


def _listed(task: Task, run: Run) -> ListedPane:
    return ListedPane(
        run=run.id,
        key=task.key,
        name=task.name,
        number=run.number,
        agent=run.agent,
        state=_state(run),
        live=run.alive,
        attach=run.attach,
        started_at=run.started_at,
    )


def _state(run: Run) -> str:
    if run.alive:
        return "need" if run.state is RunState.WAITING_INPUT else "work"
    return "done" if run.outcome is Outcome.FINISHED else "fail"


async def panes(parts: PageParts, session: Session, query: dict[str, str]) -> Context:
    listed = panes_of(session)
    wanted = query.get("run", "")
    every = ((task, run) for task in session.tasks for run in task.runs)
    chosen = next((_listed(task, run) for task, run in every if run.id == wanted), None)
    chosen = chosen or (listed[0] if listed else None)
    task = next((one for one in session.tasks if chosen and one.key == chosen.key), None)
    return {
        "panes": listed,
        "pane": await pane_of(parts.data, session, chosen) if chosen else None,
        "runs": [(run.id, run.number) for run in task.runs] if task else [],
    }


async def pane_of(data: PageData, session: Session, pane: ListedPane) -> dict[str, object]:
    """Return a pane with what it shows now."""
    try:
        screen, problem = await data.screen(f"run-{pane.run}"), ""
    except PortError as error:
        screen, problem = PaneScreen(), error.reason
    return {
        "listed": pane,
        "stream": f"{session.id}/{pane.run}" if pane.live else "",
        "rows": drawn(screen.rows),
        "columns": screen.columns,
        "live": screen.live,
        "problem": problem,
    }


async def follow(data: PageData, name: str, say: Callable[[str, str], None]) -> None:
    """Send the screen of a run of a session (`session/run`) whenever it changes, until cancelled."""
    id, _, run = name.partition("/")
    session = data.session(id)
    if session is None or not any(run == one.id for task in session.tasks for one in task.runs):
        return
    before: PaneScreen | None = None
    while True:
        try:
            screen = await data.screen(f"run-{run}")
        except PortError:
            await asyncio.sleep(REST_SECONDS)
            continue
        if screen != before:
            say("pane", _told(name, screen))
            before = screen
        await asyncio.sleep(LOOK_SECONDS if screen.live else REST_SECONDS)


def _told(name: str, screen: PaneScreen) -> str:
    told = {
        "pane": name,
        "columns": screen.columns,
        "live": screen.live,
        "rows": drawn(screen.rows),
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def drawn(rows: Sequence[Row]) -> list[list[tuple[str, str]]]:
    """Return texts and the classes of their colours, row by row."""
    return [[(span.text, classes(span.style)) for span in row] for row in rows]


def classes(style: Style) -> str:
    """Return the classes of a style: f and b with the number of a colour, a with that of an attribute."""
    front, back = style.foreground, style.background
    marks = [
        f"a{code}"
        for code, on in (
            (1, style.bold),
            (2, style.dim),
            (3, style.italic),
            (4, style.underline),
            (7, style.reverse),
            (9, style.struck),
        )
        if on
    ]
    if style.reverse:
        front, back = back, front
    named = [f"f{front}" if front is not None else "", f"b{back}" if back is not None else ""]
    return " ".join(filter(None, (*named, *marks)))
