"""Opening a pull request and keeping its texts. Its rule: looked for before it is made, and again when an answer was lost."""

from __future__ import annotations

import asyncio

from adapters.github.access import Pace
from adapters.github.answers import PullTold
from adapters.github.bodies import body_of, digest, lines_of, part_in, title_of, with_part
from adapters.github.client import Client, parsed, query
from adapters.github.problem import NotDone
from bot.domain.hosting import PullWanted
from bot.errors import Refused, Unavailable

_OPENING = "open a pull request"
_HEAD_TRIES = 3
_DRAFT = (
    "mutation($input: {name}Input!) {{ {field}(input: $input) {{ pullRequest {{ isDraft }} }} }}"
)


class Pulls:
    def __init__(self, client: Client, pace: Pace) -> None:
        self._client = client
        self._pace = pace

    async def open(self, slug: str, wanted: PullWanted) -> PullTold:
        """The one of that branch: brought up to date, or made."""
        found = await self._find(slug, wanted)
        if found is None:
            found = await self._make(slug, wanted)
        return await self._up_to_date(slug, found, wanted)

    async def read(self, slug: str, number: int) -> PullTold:
        doing = f"show the pull request #{number}"
        return await self._client.get(slug, f"/repos/{slug}/pulls/{number}", PullTold, doing)

    async def make_ready(self, slug: str, number: int) -> PullTold:
        return await self._turn(slug, await self.read(slug, number), draft=False)

    async def _find(self, slug: str, wanted: PullWanted) -> PullTold | None:
        """An open one; or one that is merged already with this very commit, so that no second one is made of it."""
        owner = slug.split("/")[0]
        path = query(f"/repos/{slug}/pulls", head=f"{owner}:{wanted.branch}", state="all")
        told = await self._client.pages(slug, path, PullTold, "show its pull requests")
        # GitHub shows all there are where it does not understand the head
        ours = [one for one in told if one.head.is_branch_of(owner, wanted.branch)]
        open_ones = [one for one in ours if one.is_open]
        for one in open_ones:
            if one.base.ref == wanted.base:
                return one
        for one in open_ones:
            if part_in(one.body or ""):
                return one
        merged = (one for one in ours if one.is_merged and one.head.sha == wanted.commit)
        return next(merged, None)

    async def _make(self, slug: str, wanted: PullWanted) -> PullTold:
        for left in reversed(range(_HEAD_TRIES)):
            try:
                return await self._post(slug, wanted, draft=wanted.draft)
            except NotDone as refused:
                made = await self._after_refusal(slug, wanted, refused)
                if made is not None:
                    return made
                if not refused.answer.blames("head") or not left:
                    raise _explained(refused, wanted) from refused
            except Unavailable:
                # it may have been made, though nobody has told us
                made = await self._find(slug, wanted)
                if made is None:
                    raise
                return made
            # what was pushed just now is not known everywhere at once
            await asyncio.sleep(self._pace.again)
        raise AssertionError("unreachable: the last try returns or raises")

    async def _after_refusal(
        self, slug: str, wanted: PullWanted, refused: NotDone
    ) -> PullTold | None:
        said = refused.answer.message.lower()
        if "already exists" in said:
            return await self._find(slug, wanted)
        if wanted.draft and "draft" in said:
            # not every plan has drafts; its text says what was wanted, so that nobody tries it again
            return await self._post(slug, wanted, draft=False)
        return None

    async def _post(self, slug: str, wanted: PullWanted, *, draft: bool) -> PullTold:
        title = title_of(wanted.title)
        body = {
            "title": title,
            "body": body_of(wanted.body, title, draft=wanted.draft),
            "head": wanted.branch,
            "base": wanted.base,
            "draft": draft,
        }
        path = f"/repos/{slug}/pulls"
        return parsed(await self._client.change(slug, "POST", path, body, _OPENING), PullTold)

    async def _up_to_date(self, slug: str, pull: PullTold, wanted: PullWanted) -> PullTold:
        """Only what the bot has written itself, and nobody has changed since."""
        body = lines_of(pull.body or "")
        part = part_in(body)
        if part is None or not pull.is_open:
            return pull
        turns = pull.draft == part.draft and wanted.draft != pull.draft
        draft = wanted.draft if turns else part.draft
        title = title_of(wanted.title)
        renames = digest(pull.title) == part.title_digest and pull.title != title
        # a digest of a title that is theirs is left as it is, so that it stays theirs
        about = title if renames or pull.title == title else None
        changes: dict[str, object] = {"title": title} if renames else {}
        if part.untouched:
            new = body_of(
                wanted.body,
                title,
                draft=draft,
                title_digest=part.title_digest if about is None else "",
            )
            if with_part(body, part, new) != body:
                changes["body"] = with_part(body, part, new)
        if pull.base.ref != wanted.base:
            changes["base"] = wanted.base
        if turns:
            pull = await self._turn(slug, pull, draft=wanted.draft)
        return await self._patched(slug, pull, changes) if changes else pull

    async def _patched(self, slug: str, pull: PullTold, changes: dict[str, object]) -> PullTold:
        path = f"/repos/{slug}/pulls/{pull.number}"
        doing = f"bring the pull request #{pull.number} up to date"
        return parsed(await self._client.change(slug, "PATCH", path, changes, doing), PullTold)

    async def _turn(self, slug: str, pull: PullTold, *, draft: bool) -> PullTold:
        """Make it a draft, or ready. REST knows no way."""
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


def _explained(refused: NotDone, wanted: PullWanted) -> Refused:
    """What can be done about it, in words for people."""
    answer = refused.answer
    if "no commits between" in answer.message.lower():
        return Refused(
            f"there is nothing to merge: {wanted.branch} has no commit that {wanted.base} has not"
        )
    if answer.blames("head"):
        return Refused(
            f"the branch {wanted.branch} is not on GitHub", "Try again: it is pushed anew then."
        )
    if answer.blames("base"):
        return Refused(
            f"the branch {wanted.base} is not on GitHub, so nothing can be merged into it",
            f"Push {wanted.base} to GitHub, then try again.",
        )
    return Refused(refused.reason, refused.remedy)
