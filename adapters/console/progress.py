"""Shows the state of a session: always below the line being typed, and in the transcript only on changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from prompt_toolkit.formatted_text import StyleAndTextTuples
from rich.cells import cell_len, set_cell_size
from rich.text import Text as Words

from adapters.console.rendering import MARK_STYLES, on_one_line
from adapters.console.typed import Pick, picks_on, primary_choice
from bot.core.cards import Card, StatusCard, TaskLine
from bot.core.choices import Verb
from bot.core.layout import lay_out
from bot.core.layout.phrases import model_usage_in_words, state_in_words
from bot.core.layout.reporting import STATE_MARKS
from bot.core.states import TaskState
from bot.core.text import clean, duration, time_of_day

_MOVING = frozenset(
    {
        TaskState.RUNNING,
        TaskState.VERIFYING,
        TaskState.INTEGRATING,
        TaskState.NEEDS_CONTINUATION,
        TaskState.BLOCKED,
        TaskState.FAILED,
    }
)
StyledText = tuple[str, str]


def status_changes(old: StatusCard, new: StatusCard) -> list[Words]:
    """Return one line for each change."""
    before = {task.key: task.state for task in old.tasks}
    lines = [_moved(task) for task in new.tasks if task.state != before.get(task.key)]
    if new.trouble != old.trouble and new.trouble:
        lines.append(Words(f"Waiting: {on_one_line(new.trouble)}", style="red"))
    if (new.status, new.queue_position) != (old.status, old.queue_position):
        lines.append(Words(f"The session is {_standing(new)}.", style="dim"))
    return lines


def _moved(task: TaskLine) -> Words:
    mark = STATE_MARKS.get(task.state, " ")
    words = Words(f"{mark} ", style=MARK_STYLES.get(mark, "")).append(
        f"{task.key}  {on_one_line(task.name)}  ", style="default"
    )
    note = f", {on_one_line(task.note)}" if task.note else ""
    return words.append(f"{_state_words(task.state)}{note}", style="dim")


def _state_words(state: str) -> str:
    """Convert NeedsContinuation to needs continuation."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in state).strip()


def _standing(card: StatusCard) -> str:
    place = f", place {card.queue_position} of {card.waiting}" if card.queue_position else ""
    return f"{card.status.lower()}{place}"


def picks_list(picks: Sequence[Pick], picked: int, width: int, height: int) -> StyleAndTextTuples:
    """Return the choices with the selected one marked; empty until an arrow key was pressed."""
    if not 0 < picked <= len(picks):
        return []
    room = max(3, height // 3)
    first = max(0, min(picked - 1 - room // 2, len(picks) - room))
    parts: StyleAndTextTuples = []
    for place, pick in enumerate(picks[first : first + room], first + 1):
        mark, style = ("❯ ", "bold") if place == picked else ("  ", "class:faint")
        parts += [*_fitted([("bold", mark), (style, pick.label)], width), ("", "\n")]
    keys = [("bold", "↑ ↓"), ("class:faint", " choose   "), ("bold", "Enter")]
    left = f" take it   {picked} of {len(picks)}"
    return [*parts, *_fitted([*keys, ("class:faint", left)], width)]


def toolbar(
    status: StatusCard | None,
    card: Card | None,
    width: int,
    height: int,
    notice: str = "",
    *,
    branches: bool = False,
) -> StyleAndTextTuples:
    """Return what is shown below the line being typed: the tasks, if any, and the available keys."""
    lines: list[list[StyledText]] = []
    if status and status.tasks:
        lines.append(_head(status, width))
        lines += _task_lines(status.tasks, max(2, height // 3))
    lines.append([("bold", notice)] if notice else _keys(status, card, branches=branches))
    parts: StyleAndTextTuples = []
    for line in lines:
        if parts:
            parts.append(("", "\n"))
        parts += _fitted(line, width)
    return parts


def _head(status: StatusCard, width: int) -> list[StyledText]:
    title = on_one_line(status.title)
    if cell_len(title) > width // 3:
        title = _cut(title, width // 3)
    _, _, phase = state_in_words(status.status, status.phase).partition(" · ")
    head = [("bold", title), ("class:faint", f"  {_standing(status)} · {phase}")]
    if status.trouble:
        head.append(("class:failed", f" · {on_one_line(status.trouble)}"))
    return [
        *head,
        (
            "class:faint",
            f" · {model_usage_in_words(status.usage)} · {time_of_day(status.at, seconds=True)}",
        ),
    ]


def _task_lines(tasks: Sequence[TaskLine], room: int) -> Iterator[list[StyledText]]:
    """Yield the task lines; if there are too many, active ones are shown first and the rest is counted."""
    chosen = list(tasks)
    if len(tasks) > room:
        chosen = sorted(tasks, key=lambda task: task.state not in _MOVING)[: room - 1]
    names = min(40, max(cell_len(on_one_line(task.name)) for task in chosen))
    states = max(len(_state_words(task.state)) for task in chosen)
    for task in tasks:
        if task in chosen:
            yield _task_line(task, names, states)
    rest = [task for task in tasks if task not in chosen]
    if rest:
        counts = Counter(_state_words(task.state) for task in rest)
        yield [("class:faint", "  and " + ", ".join(f"{n} {state}" for state, n in counts.items()))]


def _task_line(task: TaskLine, names: int, states: int) -> list[StyledText]:
    mark = STATE_MARKS.get(task.state, " ")
    tail = next((line for line in reversed(clean(task.tail).splitlines()) if line.strip()), "")
    return [
        (f"class:{task.state.lower()}", f"{mark} "),
        ("", f"{task.key}  {_cut(on_one_line(task.name), names)}  "),
        ("class:faint", f"{_state_words(task.state):{states}}  {duration(task.seconds):>10}"),
        ("class:faint", f"  │ {on_one_line(tail)}" if tail else f"  {on_one_line(task.note)}"),
    ]


def _keys(status: StatusCard | None, card: Card | None, *, branches: bool) -> list[StyledText]:
    parts: list[StyledText] = []
    if card:
        first = primary_choice(card)
        for number, choice in enumerate(lay_out(card).choices, 1):
            key = "Enter" if choice == first else str(number)
            parts += [("bold", key), ("class:faint", f" {on_one_line(choice.label)}   ")]
        if not parts:
            parts.append(("class:faint", "Type your answers   "))
        if len(picks_on(card)) > 1:
            parts += [("bold", "↓"), ("class:faint", " choose   ")]
    if status and any(choice.verb is Verb.STOP for choice in status.choices):
        parts += [("bold", "Esc"), ("class:faint", " stop   ")]
    if not parts:
        wanted = "Type the name of a branch   " if branches else "Type what you want built   "
        parts += [("class:faint", wanted), ("bold", "/"), ("class:faint", " commands   ")]
        other = " conversation   " if branches else " branches   "
        parts += [("bold", "Tab"), ("class:faint", other)]
    return [*parts, ("bold", "Ctrl-D"), ("class:faint", " leave")]


def _fitted(line: Sequence[StyledText], width: int) -> Iterator[StyledText]:
    # Cut at the terminal's width, because the toolbar must not wrap.
    for style, text in line:
        if width <= 0:
            return
        shown = _cut(text, width) if cell_len(text) > width else text
        width -= cell_len(shown)
        yield style, shown


def _cut(text: str, width: int) -> str:
    """Return exactly `width` cells of the text."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + "…" if width > 1 else "…"
