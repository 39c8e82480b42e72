"""Branches as people see them in a chat, and a spec that was written alone."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.cards import AnswerCard
from bot.core.git import Branch, BranchDetails, BranchList, ChangedFile, Commit
from bot.steps import messages
from bot.steps.branches import cards as branch_cards
from bot.steps.branches.cards import BranchWork, ButtonTarget
from tests.looks.catalogue.entry import Entry, entry
from tests.looks.catalogue.sample import NOW, at, planned

_TIP = "5f2b7c9e1a4d6088b3c2f1e0d9a8b7c6d5e4f3a2"
_SUBJECTS = ("Follow the theme of the system", "Add a switch for the theme")


def entries() -> Iterator[Entry]:
    few = (_branch("main", 0), _branch("agent/theme-module", 2), _branch("feature/search", 5, 3))
    many = tuple(_branch(f"feature/idea-{n}", n, n) for n in range(40))
    yield Entry("branches/a few", _list(few), private=True)
    yield Entry("branches/many", _list(many, more=12), private=True)
    yield Entry("branch/the model reads it", _card(_details(), "The model is reading it."))
    yield Entry("branch/all together", _card(_details(), "It adds a switch, with tests."))
    yield Entry("branch/merged", _card(_details(ahead=0, lost=0), "", done="Merged into main"))
    yield Entry("branch/checked out", _card(_details(), "", obstacle="it is checked out in /srv"))
    alone = planned()
    alone.request.spec_only = True
    yield entry("spec alone/written", messages.approval_wanted(alone))


def _branch(name: str, ahead: int, behind: int = 0) -> Branch:
    return Branch(
        name=name, commit=_TIP, at=at(-90), subject=_SUBJECTS[0], ahead=ahead, behind=behind
    )


def _list(branches: tuple[Branch, ...], more: int = 0) -> AnswerCard:
    found = BranchList(repository="/srv/webshop", base="main", branches=branches, more=more)
    known = {"agent/theme-module": BranchWork(planned())}
    body = branch_cards.branch_list(found, known.get, NOW)
    return AnswerCard(key="answer:branches", title="Branches", body=body)


def _details(ahead: int = 2, lost: int = 2) -> BranchDetails:
    commits = tuple(Commit(sha=_TIP, subject=subject) for subject in _SUBJECTS)
    return BranchDetails(
        repository="/srv/webshop",
        branch=_branch("agent/theme-module", ahead, 1),
        base="main",
        author="Mika",
        commits=commits[:ahead],
        files=(ChangedFile(path="src/theme.ts", added=40, deleted=2), ChangedFile(path="a.png")),
        lost=lost,
        only_here=commits[:lost],
    )


def _card(found: BranchDetails, summary: str, *, done: str = "", obstacle: str = "") -> AnswerCard:
    about = ButtonTarget(
        "0123456789ab", "0123456789ab", _TIP, found.lost, found.base, found.branch.name
    )
    carried = BranchWork(planned())
    return branch_cards.branch_card(
        found, carried, about, summary, NOW, done=done, obstacle=obstacle
    )
