"""What people write at a pull request. Its rule: robots, the bot itself, replies and what is settled are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from adapters.github.answers import Remark
from adapters.github.bodies import MARK
from adapters.github.client import Client, read_json
from bot.domain.hosting import ReviewNote
from bot.errors import Refused

LONGEST_TEXT = 6_000
MOST_NOTES = 100
_MAY_WRITE = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_WISH = "CHANGES_REQUESTED"
_SAID_NOTHING = "(changes are requested, without a word why)"
_THREADS = """query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 100) { nodes { isResolved comments(first: 1) { nodes { databaseId } } } }
  } }
}"""


class Notes:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def of(self, slug: str, number: int) -> tuple[ReviewNote, ...]:
        pull, issue = f"/repos/{slug}/pulls/{number}", f"/repos/{slug}/issues/{number}"
        doing = f"show what is said at the pull request #{number}"
        inline = await self._client.pages(slug, f"{pull}/comments", Remark, doing)
        reviews = await self._client.pages(slug, f"{pull}/reviews", Remark, doing)
        below = await self._client.pages(slug, f"{issue}/comments", Remark, doing)
        begun = [one for one in inline if one.in_reply_to_id is None and _counts(one)]
        resolved = await self._resolved(slug, number) if begun else frozenset[int]()
        kept = [
            *(("line", one) for one in begun if one.id not in resolved),
            *(("review", one) for one in _unsettled(reviews)),
            *(("comment", one) for one in below if _counts(one) and _text(one)),
        ]
        kept.sort(key=lambda each: each[1].when)
        # where there are too many, strangers' words go first: anybody may write any number of them
        by_weight = sorted(range(len(kept)), key=lambda n: (_may_write(kept[n][1]), n))
        return tuple(_note(*kept[n]) for n in sorted(by_weight[-MOST_NOTES:]))

    async def _resolved(self, slug: str, number: int) -> frozenset[int]:
        """The comments that begin threads which are settled. REST does not tell; who may not ask hears all of them."""
        owner, _, name = slug.partition("/")
        given = {"owner": owner, "name": name, "number": number}
        try:
            answer = await self._client.graphql(slug, _THREADS, given, "show its threads")
        except Refused:
            return frozenset()
        return settled(read_json(answer))


def settled(told: object) -> frozenset[int]:
    """The numbers of the first comments of all resolved threads, as GraphQL tells them."""
    threads = _in(told, "data", "repository", "pullRequest", "reviewThreads", "nodes")
    found: set[int] = set()
    for thread in threads if isinstance(threads, list) else []:
        first = _in(thread, "comments", "nodes")
        if _in(thread, "isResolved") is True and isinstance(first, list) and first:
            number = _in(first[0], "databaseId")
            if isinstance(number, int):
                found.add(number)
    return frozenset(found)


def _in(told: object, *names: str) -> object:
    for name in names:
        told = cast("dict[str, object]", told).get(name) if isinstance(told, dict) else None
    return told


def _unsettled(reviews: Iterable[Remark]) -> Iterator[Remark]:
    """A wish for changes holds until the same person approves, or it is dismissed."""
    told = [one for one in reviews if _counts(one)]
    for number, one in enumerate(told):
        if one.state in {"DISMISSED", "PENDING"}:
            continue
        if one.state != _WISH and not _text(one):
            continue
        later = {other.state for other in told[number + 1 :] if other.user == one.user}
        if one.state != _WISH or "APPROVED" not in later:
            yield one


def _note(kind: str, one: Remark) -> ReviewNote:
    return ReviewNote(
        key=f"{kind}:{one.id}",
        author=one.user.login if one.user else "",
        trusted=_may_write(one),
        text=(_text(one) or _SAID_NOTHING)[:LONGEST_TEXT],
        path=one.path,
        line=one.line if one.line is not None else one.original_line,
        asks_for_changes=one.state == _WISH,
        url=one.html_url,
    )


def _may_write(one: Remark) -> bool:
    return one.author_association in _MAY_WRITE and one.user is not None


def _text(one: Remark) -> str:
    return (one.body or "").strip()


def _counts(one: Remark) -> bool:
    """Robots are not listened to, and what the bot wrote itself has its mark."""
    return not (one.user is not None and one.user.is_robot) and MARK not in (one.body or "")
