"""The cards for branches: a list of all, or one branch with everything known about it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from bot.core.cards import AnswerCard
from bot.core.choices import Choice, Style, Verb
from bot.core.git import Branch, BranchDetails, BranchList, ChangedFile
from bot.core.session import Session
from bot.core.sheets import Bullets, Element, Entries, Entry, Fields, Pointer, Table, Text, Tone
from bot.core.task import Task
from bot.core.text import ago, counted, cut

# Which session and task a branch belongs to.


@dataclass(frozen=True)
class BranchWork:
    """The session and task that a branch belongs to."""

    session: Session
    task: Task | None = None
    """`None` if it holds the session's documents."""

    @property
    def worktree(self) -> str:
        if self.task is None:
            return self.session.plan.spec.workspace.path if self.session.plan.spec else ""
        return self.task.workspace.path if self.task.workspace else ""

    def told(self) -> str:
        """Return a short description."""
        what = f"{self.task.key} {self.task.state}" if self.task else "its documents"
        over = f" ({self.session.status.lower()})" if self.session.over else ""
        return f"{what} · {self.session.short}{over}"


MAX_BRANCH_BUTTONS = 20
"""Up to this many branches get a button each; more are shown as a table."""
_COMMITS = 8
_FILES = 12
_CONFIRM = 240
HINT = "branch <name> shows one, with what it brings and what can be done with it."
WorkOf = Callable[[str], BranchWork | None]


def branch_list(found: BranchList, known: WorkOf, now: datetime) -> tuple[Element, ...]:
    if len(found.branches) <= MAX_BRANCH_BUTTONS:
        entries = tuple(_entry(one, found.base, known(one.name), now) for one in found.branches)
        body: list[Element] = [Entries(items=entries)]
    else:
        head = ("Branch", f"Against {found.base or 'what is checked out'}", "Changed", "Work of")
        rows = tuple(_row(one, found.base, known(one.name), now) for one in found.branches)
        body = [Table(head=head, rows=rows)]
    if found.more:
        body.append(Text(text=f"… and {counted(found.more, 'older branch')}."))
    return tuple(body)


def branch_card(
    found: BranchDetails,
    work: BranchWork | None,
    about: ButtonTarget,
    summary: str,
    now: datetime,
    *,
    done: str = "",
    obstacle: str = "",
) -> AnswerCard:
    """Return the card of one branch. `done`: what was just done to it; `obstacle`: why it may not be deleted."""
    told = (Text(text=done, strong=True),) if done else ()
    stays = (Text(text=f"It cannot be deleted now: {obstacle}."),) if obstacle else ()
    return AnswerCard(
        key=about.card,
        title=title(found),
        tone=Tone.SUCCESS if done else Tone.PLAIN,
        body=(*told, *details(found, work, summary, now), *stays),
        choices=tuple(choices(found, work, about, obstacle)),
    )


def title(found: BranchDetails) -> str:
    return f"Branch {found.branch.name}"


def details(
    found: BranchDetails, work: BranchWork | None, summary: str, now: datetime
) -> Iterator[Element]:
    # The summary arrives later and comes last, so that it does not move what is being read.
    yield Fields(pairs=tuple(_facts(found, work, now)))
    if work:
        yield Pointer(text=work.session.title, thread=work.session.thread)
    if found.commits:
        more = found.branch.ahead - len(found.commits[:_COMMITS])
        yield Text(text="What it brings", strong=True)
        lines = [f"{one.sha[:7]} {one.subject}" for one in found.commits[:_COMMITS]]
        yield Bullets(items=(*lines, *((f"… and {more} more",) if more > 0 else ())))
    if found.files:
        yield from _files(found.files)
    if summary:
        yield Text(text="In short", strong=True)
        yield Text(text=summary)


def choices(
    found: BranchDetails, work: BranchWork | None, about: ButtonTarget, obstacle: str
) -> Iterator[Choice]:
    """`obstacle`: why the branch may not be deleted."""
    name, base = found.branch.name, found.base
    if base and found.branch.ahead and name != base:
        running = bool(work and work.task and not work.session.over)
        tested = " Its task is not over." if running else ""
        yield Choice(
            label=f"Merge into {base}"[:70],
            verb=Verb.MERGE_BRANCH,
            about=about.told(),
            confirm=cut(f"Merge {name} into {base}? No tests are run.{tested}", _CONFIRM),
        )
    if not obstacle:
        yield Choice(
            label="Delete",
            verb=Verb.DELETE_BRANCH,
            about=about.told(),
            style=Style.DANGER,
            confirm=cut(_delete_question(found, work), _CONFIRM),
        )


def _facts(
    found: BranchDetails, work: BranchWork | None, now: datetime
) -> Iterator[tuple[str, str]]:
    branch = found.branch
    by = f" · {found.author}" if found.author else ""
    yield "Last commit", f"{branch.commit[:7]} {branch.subject}{by} · {ago(branch.at, now)}"
    if found.branch.name != found.base:
        yield f"Against {found.base or 'what is checked out'}", against(branch)
    if work:
        yield "Work of", work.told()
    if work and work.task and (pull := work.task.pull_request):
        yield "Pull request", f"#{pull.number} {pull.url}".strip()
    if branch.worktree:
        left = f", {counted(found.uncommitted, 'uncommitted file')}" if found.uncommitted else ""
        yield "Checked out", f"{branch.worktree}{left}"
    if found.upstream:
        yield "Follows", found.upstream
    if found.lost and branch.name != found.base:
        yield "Only here", counted(found.lost, "commit")


def against(branch: Branch) -> str:
    if not branch.ahead:
        return f"merged, {branch.behind} behind" if branch.behind else "merged"
    behind = f", {branch.behind} behind" if branch.behind else ""
    return f"{branch.ahead} ahead{behind}"


def _files(files: tuple[ChangedFile, ...]) -> Iterator[Element]:
    yield Text(text="What it changes", strong=True)
    rows = tuple((one.path, _lines("+", one.added), _lines("-", one.deleted)) for one in files)
    yield Table(head=("File", "Added", "Gone"), rows=rows[:_FILES])
    if len(files) > _FILES:
        yield Text(text=f"… and {counted(len(files) - _FILES, 'more file')}.")


def _lines(sign: str, number: int | None) -> str:
    return "binary" if number is None else f"{sign}{number}"


def _delete_question(found: BranchDetails, work: BranchWork | None) -> str:
    """Return the question asked before deletion, which names what would be lost."""
    name = found.branch.name
    busy = work and not work.session.over
    needed = f" {work.told()} needs it." if work and busy else ""
    if not found.lost:
        return f"Delete {name}? Nothing is lost: all of it is on other branches.{needed}"
    names = "; ".join(f"{one.sha[:7]} {one.subject}" for one in found.only_here[:3])
    return f"Delete {name} and lose {counted(found.lost, 'commit')} that nothing else has?{needed} {names}"


def _entry(branch: Branch, base: str, work: BranchWork | None, now: datetime) -> Entry:
    facts = [against(branch)] if branch.name != base else ["checked out"]
    facts += [ago(branch.at, now)]
    facts += [work.told()] if work else []
    facts += [f"in {PurePath(branch.worktree).name}"] if _elsewhere(branch, base) else []
    look = Choice(label="Show", verb=Verb.SHOW_BRANCH, about=branch.name)
    return Entry(title=branch.name, facts=tuple(facts), choices=(look,))


def _row(branch: Branch, base: str, work: BranchWork | None, now: datetime) -> tuple[str, ...]:
    stands = against(branch) if branch.name != base else "checked out"
    where = f", in {PurePath(branch.worktree).name}" if _elsewhere(branch, base) else ""
    return (branch.name, stands + where, ago(branch.at, now), work.told() if work else "")


def _elsewhere(branch: Branch, base: str) -> bool:
    return bool(branch.worktree) and branch.name != base


# What a button of branch mode refers to: it acts on what the user saw, or does nothing.


@dataclass(frozen=True)
class ButtonTarget:
    """The state of a branch when its card was shown.

    It travels with the button, so nothing must be remembered. Names of branches never contain a colon.
    """

    asked: str
    """Identifies the card."""
    where: str
    """Identifies the repository."""
    commit: str
    lost: int
    base: str
    name: str

    @property
    def card(self) -> str:
        return f"branch:{self.asked}"

    def told(self) -> str:
        parts = (self.asked, self.where, self.commit, str(self.lost), self.base, self.name)
        return ":".join(parts)

    @classmethod
    def read(cls, text: str) -> ButtonTarget | None:
        """Parse the text of a button; `None` if it is not one of these buttons."""
        parts = text.split(":")
        if len(parts) != 6 or not parts[3].isdigit():
            return None
        asked, where, commit, lost, base, name = parts
        return cls(asked, where, commit, int(lost), base, name)


def short_hash(text: str) -> str:
    """Return a short stable identifier for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]
