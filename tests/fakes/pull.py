"""A pull request in memory: its texts, what was said of it, and how it looks from outside."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.core.forge import CiFailure, CiState, MergeState, Pull, PullWanted, ReviewNote
from tests.fakes.histories import clashes
from tests.fakes.repository import FakeRepository

_WORST_FIRST = (CiState.FAILED, CiState.PENDING, CiState.PASSED)


@dataclass
class FakePull:
    number: int
    url: str
    branch: str
    base: str
    title: str
    body: str
    draft: bool
    head: str
    state: str = "open"
    """open, closed or merged."""
    merge_commit: str = ""
    blocked: bool = False
    """By rules of the base branch."""
    given: tuple[str, str] = ("", "")
    """Title and body as the bot gave them last: what people have changed since is theirs."""
    ci: dict[str, tuple[CiState, CiFailure | None]] = field(
        default_factory=dict[str, tuple[CiState, CiFailure | None]]
    )
    """Of the head, by the name of the check."""
    notes: list[ReviewNote] = field(default_factory=list[ReviewNote])

    @property
    def ci_state(self) -> CiState:
        states = [state for state, _ in self.ci.values()]
        return next((state for state in _WORST_FIRST if state in states), CiState.NONE)

    def bring_up_to_date(self, wanted: PullWanted) -> None:
        """Only what nobody has changed since the bot gave it."""
        title, body = self.given
        if self.title == title:
            self.title = title = wanted.title
        if self.body == body:
            self.body = body = wanted.body
        self.given = (title, body)
        self.base, self.draft = wanted.base, wanted.draft

    def seen(self, hub: FakeRepository) -> Pull:
        """As a call answers that is not there to look."""
        return Pull(
            number=self.number,
            url=self.url,
            branch=self.branch,
            head=self.head,
            base=self.base,
            open=self.state == "open",
            merged=self.state == "merged",
            merge_commit=self.merge_commit,
            draft=self.draft,
            merge_state=self._merge_state(hub),
        )

    def looked_at(self, hub: FakeRepository) -> Pull:
        said = {
            "ci": self.ci_state,
            "checks": tuple(self.ci),
            "failures": tuple(failure for _, failure in self.ci.values() if failure),
            "notes": tuple(self.notes),
        }
        return self.seen(hub).model_copy(update=said)

    def _merge_state(self, hub: FakeRepository) -> MergeState:
        if self.state != "open":
            return MergeState.UNKNOWN
        if clashes(hub, hub.heads[self.base], self.head):
            return MergeState.CONFLICT
        if self.draft:
            return MergeState.DRAFT
        if self.blocked:
            return MergeState.BLOCKED
        waiting = self.ci_state in {CiState.FAILED, CiState.PENDING}
        return MergeState.UNSTABLE if waiting else MergeState.CLEAN
