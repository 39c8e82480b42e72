"""What the bot reads of GitHub's answers: the fields it needs, and no others. Whatever else they hold is passed over."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class End(Told):
    """Head or base of a pull request."""

    ref: str
    sha: str
    label: str | None = None
    """owner:branch."""

    def is_branch_of(self, owner: str, branch: str) -> bool:
        """A fork may have a branch of the same name."""
        if self.ref != branch:
            return False
        return self.label is None or self.label.lower() == f"{owner}:{branch}".lower()


class PullTold(Told):
    number: int
    node_id: str
    html_url: str
    state: str
    title: str
    body: str | None = None
    head: End
    base: End
    draft: bool = False
    merged_at: datetime | None = None
    merge_commit_sha: str | None = None
    mergeable: bool | None = None
    """None also where it was told in a list: GitHub has to think first."""
    mergeable_state: str = "unknown"

    @property
    def is_open(self) -> bool:
        return self.state == "open"

    @property
    def is_merged(self) -> bool:
        return self.merged_at is not None


class MergeTold(Told):
    merged: bool
    sha: str | None = None


class Permissions(Told):
    push: bool = True


class RepositoryTold(Told):
    full_name: str
    html_url: str
    archived: bool = False
    disabled: bool = False
    permissions: Permissions | None = None
    allow_squash_merge: bool | None = None
    allow_merge_commit: bool | None = None
    allow_rebase_merge: bool | None = None


class User(Told):
    login: str
    type: str = "User"

    @property
    def is_robot(self) -> bool:
        return self.type == "Bot" or self.login.endswith("[bot]")


class Remark(Told):
    """A comment below a pull request, or in one of its lines, or a review."""

    id: int
    user: User | None = None
    body: str | None = None
    author_association: str = "NONE"
    html_url: str = ""
    created_at: datetime | None = None
    submitted_at: datetime | None = None
    state: str = ""
    """Of a review."""
    path: str = ""
    line: int | None = None
    original_line: int | None = None
    in_reply_to_id: int | None = None

    @property
    def when(self) -> float:
        told = self.created_at or self.submitted_at
        return told.timestamp() if told else 0.0


class Output(Told):
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations_count: int = 0


class App(Told):
    slug: str = ""


class CheckRun(Told):
    id: int
    name: str
    status: str
    conclusion: str | None = None
    html_url: str | None = None
    output: Output = Output()
    app: App | None = None


class CheckSuite(Told):
    """All check runs of one app on a commit; of GitHub Actions, those of one workflow."""

    id: int
    status: str | None = None
    conclusion: str | None = None
    latest_check_runs_count: int = 0
    app: App | None = None


class Annotation(Told):
    path: str = ""
    start_line: int | None = None
    annotation_level: str | None = None
    message: str | None = None


class Status(Told):
    id: int
    context: str
    state: str
    description: str | None = None
    target_url: str | None = None


class Statuses(Told):
    statuses: tuple[Status, ...]


class StatusChecks(Told):
    contexts: tuple[str, ...] = ()


class BranchProtection(Told):
    required_status_checks: StatusChecks | None = None


class BranchTold(Told):
    protection: BranchProtection | None = None


class StatusCheck(Told):
    context: str


class RuleParameters(Told):
    required_status_checks: tuple[StatusCheck, ...] = ()


class Rule(Told):
    """Of a branch, from whichever ruleset it comes."""

    type: str
    parameters: RuleParameters | None = None


class Entry(Told):
    """Of a folder."""

    name: str
    path: str
    sha: str
    size: int = 0
    type: str = "file"


class Blob(Told):
    content: str
    encoding: str = "base64"


class Workflow(Told):
    path: str
    state: str = "active"


class FileOfPull(Told):
    filename: str
