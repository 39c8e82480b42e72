"""Pull requests: opens them, keeps their texts up to date, reads their state and comments."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import cast

from adapters.github.api import ApiRefused, ApiTiming
from adapters.github.checks import Checks
from adapters.github.client import (
    Client,
    PullComment,
    PullData,
    parse_answer,
    path_with_query,
    read_json,
)
from bot.core.errors import Refused, Unavailable
from bot.core.forge import MergeState, Pull, PullWanted, ReviewNote
from bot.core.text import cut

# Opening a pull request and keeping its texts up to date. It is looked for before it is created, and again when an
# answer was lost.

_OPENING = "open a pull request"
_HEAD_TRIES = 3
_DRAFT = (
    "mutation($input: {name}Input!) {{ {field}(input: $input) {{ pullRequest {{ isDraft }} }} }}"
)


class Pulls:
    def __init__(self, client: Client, pace: ApiTiming) -> None:
        self._client = client
        self._pace = pace

    async def open(self, slug: str, wanted: PullWanted) -> PullData:
        """Find and update the pull request of the branch, or create one."""
        found = await self._find(slug, wanted)
        if found is None:
            found = await self._create(slug, wanted)
        return await self._update(slug, found, wanted)

    async def read(self, slug: str, number: int) -> PullData:
        doing = f"show the pull request #{number}"
        return await self._client.get(slug, f"/repos/{slug}/pulls/{number}", PullData, doing)

    async def make_ready(self, slug: str, number: int) -> PullData:
        return await self._set_draft(slug, await self.read(slug, number), draft=False)

    async def _find(self, slug: str, wanted: PullWanted) -> PullData | None:
        """Return an open pull request, or one already merged with this commit, so that no second one is created for it."""
        owner = slug.split("/")[0]
        path = path_with_query(f"/repos/{slug}/pulls", head=f"{owner}:{wanted.branch}", state="all")
        told = await self._client.get_pages(slug, path, PullData, "show its pull requests")
        # GitHub returns all pull requests if it does not understand the head
        ours = [one for one in told if one.head.is_branch_of(owner, wanted.branch)]
        open_ones = [one for one in ours if one.is_open]
        for one in open_ones:
            if one.base.ref == wanted.base:
                return one
        for one in open_ones:
            if find_part(one.body or ""):
                return one
        merged = (one for one in ours if one.is_merged and one.head.sha == wanted.commit)
        return next(merged, None)

    async def _create(self, slug: str, wanted: PullWanted) -> PullData:
        for left in reversed(range(_HEAD_TRIES)):
            try:
                return await self._post(slug, wanted, draft=wanted.draft)
            except ApiRefused as refused:
                made = await self._after_refusal(slug, wanted, refused)
                if made is not None:
                    return made
                if not refused.answer.rejects_field("head") or not left:
                    raise _explain(refused, wanted) from refused
            except Unavailable:
                # it may have been created although the answer was lost
                made = await self._find(slug, wanted)
                if made is None:
                    raise
                return made
            # a commit that was just pushed is not known everywhere at once
            await asyncio.sleep(self._pace.again)
        raise AssertionError("unreachable: the last try returns or raises")

    async def _after_refusal(
        self, slug: str, wanted: PullWanted, refused: ApiRefused
    ) -> PullData | None:
        said = refused.answer.message.lower()
        if "already exists" in said:
            return await self._find(slug, wanted)
        if wanted.draft and "draft" in said:
            # not every GitHub plan has drafts; the body records what was requested, so that it is not tried again
            return await self._post(slug, wanted, draft=False)
        return None

    async def _post(self, slug: str, wanted: PullWanted, *, draft: bool) -> PullData:
        title = safe_title(wanted.title)
        body = {
            "title": title,
            "body": render_body(wanted.body, title, draft=wanted.draft),
            "head": wanted.branch,
            "base": wanted.base,
            "draft": draft,
        }
        path = f"/repos/{slug}/pulls"
        return parse_answer(await self._client.change(slug, "POST", path, body, _OPENING), PullData)

    async def _update(self, slug: str, pull: PullData, wanted: PullWanted) -> PullData:
        # Only what the bot has written, and nobody has changed since, is updated.
        body = normalize_line_ends(pull.body or "")
        part = find_part(body)
        if part is None or not pull.is_open:
            return pull
        turns = pull.draft == part.draft and wanted.draft != pull.draft
        draft = wanted.draft if turns else part.draft
        title = safe_title(wanted.title)
        renames = digest(pull.title) == part.title_digest and pull.title != title
        # the digest of a title set by people is kept, so that it stays theirs
        about = title if renames or pull.title == title else None
        changes: dict[str, object] = {"title": title} if renames else {}
        if part.untouched:
            new = render_body(
                wanted.body,
                title,
                draft=draft,
                title_digest=part.title_digest if about is None else "",
            )
            if replace_part(body, part, new) != body:
                changes["body"] = replace_part(body, part, new)
        if pull.base.ref != wanted.base:
            changes["base"] = wanted.base
        if turns:
            pull = await self._set_draft(slug, pull, draft=wanted.draft)
        return await self._patched(slug, pull, changes) if changes else pull

    async def _patched(self, slug: str, pull: PullData, changes: dict[str, object]) -> PullData:
        path = f"/repos/{slug}/pulls/{pull.number}"
        doing = f"bring the pull request #{pull.number} up to date"
        return parse_answer(
            await self._client.change(slug, "PATCH", path, changes, doing), PullData
        )

    async def _set_draft(self, slug: str, pull: PullData, *, draft: bool) -> PullData:
        # Switched by GraphQL, because REST has no way to make a draft or mark it ready.
        if pull.draft == draft or not pull.is_open:
            return pull
        field = "convertPullRequestToDraft" if draft else "markPullRequestReadyForReview"
        mutation = _DRAFT.format(name=field[0].upper() + field[1:], field=field)
        doing = f"{'make a draft of' if draft else 'make ready'} the pull request #{pull.number}"
        given = {"input": {"pullRequestId": pull.node_id}}
        try:
            await self._client.graphql(slug, mutation, given, doing)
        except Unavailable:
            if (await self.read(slug, pull.number)).draft != draft:
                raise
        return await self.read(slug, pull.number)


def _explain(refused: ApiRefused, wanted: PullWanted) -> Refused:
    """Return the error with a remedy for people."""
    answer = refused.answer
    if "no commits between" in answer.message.lower():
        return Refused(
            f"there is nothing to merge: {wanted.branch} has no commit that {wanted.base} has not"
        )
    if answer.rejects_field("head"):
        return Refused(
            f"the branch {wanted.branch} is not on GitHub", "Try again: it is pushed anew then."
        )
    if answer.rejects_field("base"):
        return Refused(
            f"the branch {wanted.base} is not on GitHub, so nothing can be merged into it",
            f"Push {wanted.base} to GitHub, then try again.",
        )
    return Refused(refused.reason, refused.remedy)


# The state of a pull request. What has not changed does not count against the quota.

MAX_CHECKS = 200
_UNDECIDED_TRIES = 4
_STATES = {
    "clean": MergeState.CLEAN,
    "has_hooks": MergeState.CLEAN,
    "dirty": MergeState.CONFLICT,
    "behind": MergeState.BEHIND,
    "blocked": MergeState.BLOCKED,
    "unstable": MergeState.UNSTABLE,
    "draft": MergeState.DRAFT,
}


class PullReader:
    def __init__(
        self, client: Client, pulls: Pulls, checks: Checks, notes: PullComments, pace: ApiTiming
    ) -> None:
        self._client = client
        self._pulls = pulls
        self._checks = checks
        self._notes = notes
        self._pace = pace

    async def look(self, slug: str, number: int) -> Pull:
        self._client.quota.keep_reserve()
        told = await self._with_mergeable(slug, number)
        said = await self._checks.results(slug, told.head.sha)
        notes = await self._notes.of(slug, number)
        checks = {"ci": said.state, "checks": said.names[:MAX_CHECKS], "failures": said.failures}
        return Pull.model_validate(to_pull(told).model_dump() | checks | {"notes": notes})

    async def _with_mergeable(self, slug: str, number: int) -> PullData:
        # GitHub computes whether it can be merged only after the first request.
        told = await self._pulls.read(slug, number)
        for _ in range(_UNDECIDED_TRIES - 1):
            if told.mergeable is not None or not told.is_open:
                break
            await asyncio.sleep(self._pace.again)
            told = await self._pulls.read(slug, number)
        return told


def to_pull(told: PullData) -> Pull:
    """Convert GitHub's answer."""
    return Pull(
        number=told.number,
        url=told.html_url,
        branch=told.head.ref,
        head=told.head.sha,
        base=told.base.ref,
        open=told.is_open,
        merged=told.is_merged,
        # for an open one it is GitHub's trial merge
        merge_commit=(told.merge_commit_sha or "") if told.is_merged else "",
        draft=told.draft,
        merge_state=_merge_state(told),
    )


def _merge_state(told: PullData) -> MergeState:
    if not told.is_open:
        return MergeState.UNKNOWN
    if told.mergeable is False:
        return MergeState.CONFLICT
    if told.draft:
        return MergeState.DRAFT
    return _STATES.get(told.mergeable_state, MergeState.UNKNOWN)


# The texts of a pull request. No I/O. The bot changes only what it wrote itself. Its part is between two invisible
# marks; the first contains a digest of what the bot wrote last, so that a part changed by people is recognised as
# theirs from then on.

MAX_BODY_LENGTH = 63_000
MAX_TITLE_LENGTH = 250
MARK = "<!-- gwt-bot"
_PART = re.compile(
    r"<!-- gwt-bot title=([0-9a-f]{12}) text=([0-9a-f]{12}) draft=([01]) -->\n(.*?)\n<!-- /gwt-bot -->",
    re.DOTALL,
)
_MENTION = re.compile(r"@(?=[A-Za-z0-9])")
_CLOSING = re.compile(
    r"\b(clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)"
    r"(\s*:?\s+)(?=(?:[A-Za-z0-9._-]+/[A-Za-z0-9._-]+)?(?:\#|GH-)[0-9]|https?://)",
    re.IGNORECASE,
)
_OWN_MARK = re.compile(r"(?<!\n)\n*(<!-- gwt-bot [A-Za-z0-9=_-]{1,80} -->)\s*\Z")
"""The mark with which a text of the bot may end; other text that looks like a mark is not the bot's."""
_WORD_JOINER = "\u2060"
"""Invisible, and allows no line break at its position."""
_MARKS_ROOM = 200
"""Room for the two marks, which are shorter."""
_CUT = "\n\n… (shortened)"


@dataclass(frozen=True)
class BodyPart:
    """The bot's own part of an existing body."""

    start: int
    end: int
    draft: bool
    title_digest: str
    untouched: bool
    """Whether nobody has changed it since the bot wrote it."""


def without_references(text: str) -> str:
    """Return a model's text so that it looks the same but mentions nobody and closes nothing."""
    calmed = _CLOSING.sub(
        rf"\1{_WORD_JOINER}\2{_WORD_JOINER}", _MENTION.sub(f"@{_WORD_JOINER}", text)
    )
    # a text that looks like the bot's mark could pass for the bot's part
    return calmed.replace("<!--", f"<{_WORD_JOINER}!--")


def safe_title(text: str) -> str:
    """Return one line of limited length that mentions nobody."""
    line = without_references(" ".join(text.split()))
    return cut(line, MAX_TITLE_LENGTH)


def render_body(text: str, title: str, *, draft: bool, title_digest: str = "") -> str:
    """Return the bot's part of a body.

    `title_digest`: digest of the title the bot set, if people have chosen another.
    """
    text = normalize_line_ends(text)
    mark = _OWN_MARK.search(text)
    end = f"\n\n{mark.group(1)}" if mark else ""
    calm = without_references(text[: mark.start()] if mark else text).strip("\n")
    room = MAX_BODY_LENGTH - len(end) - _MARKS_ROOM
    if len(calm) > room:
        calm = calm[: room - len(_CUT)] + _CUT
    calm += end
    about = title_digest or digest(title)
    head = f"{MARK} title={about} text={digest(calm)} draft={int(draft)} -->"
    return f"{head}\n{calm}\n<!-- /gwt-bot -->"


def find_part(body: str) -> BodyPart | None:
    """Return the bot's part, or None if there is none and the whole text is somebody else's."""
    found = _PART.search(body)
    if found is None:
        return None
    return BodyPart(
        start=found.start(),
        end=found.end(),
        draft=found.group(3) == "1",
        title_digest=found.group(1),
        untouched=digest(found.group(4)) == found.group(2),
    )


def replace_part(body: str, part: BodyPart, new: str) -> str:
    """Return the body with the bot's part replaced, and everything around it unchanged."""
    return body[: part.start] + new + body[part.end :]


def normalize_line_ends(body: str) -> str:
    # Texts edited on the web have other line ends.
    return body.replace("\r\n", "\n")


def digest(text: str) -> str:
    return sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:12]


# What people write on a pull request, without bots, the bot itself, replies and resolved threads.

MAX_TEXT_LENGTH = 6_000
MOST_NOTES = 100
_MAY_WRITE = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_CHANGES_REQUESTED = "CHANGES_REQUESTED"
_SAID_NOTHING = "(changes are requested, without a word why)"
_THREADS = """query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 100) { nodes { isResolved comments(first: 1) { nodes { databaseId } } } }
  } }
}"""


class PullComments:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def of(self, slug: str, number: int) -> tuple[ReviewNote, ...]:
        pull, issue = f"/repos/{slug}/pulls/{number}", f"/repos/{slug}/issues/{number}"
        doing = f"show what is said at the pull request #{number}"
        inline = await self._client.get_pages(slug, f"{pull}/comments", PullComment, doing)
        reviews = await self._client.get_pages(slug, f"{pull}/reviews", PullComment, doing)
        below = await self._client.get_pages(slug, f"{issue}/comments", PullComment, doing)
        begun = [one for one in inline if one.in_reply_to_id is None and _is_from_person(one)]
        resolved = await self._resolved(slug, number) if begun else frozenset[int]()
        kept = [
            *(("line", one) for one in begun if one.id not in resolved),
            *(("review", one) for one in _open_remarks(reviews)),
            *(("comment", one) for one in below if _is_from_person(one) and _text(one)),
        ]
        kept.sort(key=lambda each: each[1].when)
        # if there are too many, those of strangers are dropped first, because anybody may write any number
        by_weight = sorted(range(len(kept)), key=lambda n: (_may_write(kept[n][1]), n))
        return tuple(_note(*kept[n]) for n in sorted(by_weight[-MOST_NOTES:]))

    async def _resolved(self, slug: str, number: int) -> frozenset[int]:
        # REST does not report resolved threads. Without permission for GraphQL all comments are returned.
        owner, _, name = slug.partition("/")
        given = {"owner": owner, "name": name, "number": number}
        try:
            answer = await self._client.graphql(slug, _THREADS, given, "show its threads")
        except Refused:
            return frozenset()
        return resolved_comments(read_json(answer))


def resolved_comments(told: object) -> frozenset[int]:
    """Return the ids of the first comments of all resolved threads."""
    threads = _nested(told, "data", "repository", "pullRequest", "reviewThreads", "nodes")
    found: set[int] = set()
    for thread in threads if isinstance(threads, list) else []:
        first = _nested(thread, "comments", "nodes")
        if _nested(thread, "isResolved") is True and isinstance(first, list) and first:
            number = _nested(first[0], "databaseId")
            if isinstance(number, int):
                found.add(number)
    return frozenset(found)


def _nested(told: object, *names: str) -> object:
    for name in names:
        told = cast("dict[str, object]", told).get(name) if isinstance(told, dict) else None
    return told


def _open_remarks(reviews: Iterable[PullComment]) -> Iterator[PullComment]:
    # A request for changes is valid until the same person approves, or it is dismissed.
    told = [one for one in reviews if _is_from_person(one)]
    for number, one in enumerate(told):
        if one.state in {"DISMISSED", "PENDING"}:
            continue
        if one.state != _CHANGES_REQUESTED and not _text(one):
            continue
        later = {other.state for other in told[number + 1 :] if other.user == one.user}
        if one.state != _CHANGES_REQUESTED or "APPROVED" not in later:
            yield one


def _note(kind: str, one: PullComment) -> ReviewNote:
    return ReviewNote(
        key=f"{kind}:{one.id}",
        author=one.user.login if one.user else "",
        trusted=_may_write(one),
        text=(_text(one) or _SAID_NOTHING)[:MAX_TEXT_LENGTH],
        path=one.path,
        line=one.line if one.line is not None else one.original_line,
        asks_for_changes=one.state == _CHANGES_REQUESTED,
        url=one.html_url,
    )


def _may_write(one: PullComment) -> bool:
    return one.author_association in _MAY_WRITE and one.user is not None


def _text(one: PullComment) -> str:
    return (one.body or "").strip()


def _is_from_person(one: PullComment) -> bool:
    # Bots are ignored, and the bot's own comments contain its mark.
    return not (one.user is not None and one.user.is_robot) and MARK not in (one.body or "")
