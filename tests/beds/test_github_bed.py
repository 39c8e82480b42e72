"""The played GitHub answers as the real one is known to: what it refuses and in which words, and what it never lets pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest

from tests.adapters.git.worlds import PEOPLE, git, write
from tests.beds.github import STRANGER, CannotDo, GithubBed, Hosted, Protection
from tests.beds.github.rest.asking import Answer, Ask, Route

CALC = "def add(a, b):\n    return a + b\n"
PULL: dict[str, object] = {"title": "Add it", "head": "agent/a", "base": "main"}
SHOP = "/repos/acme/shop"


@dataclass
class Hub:
    """A repository `shop` with `main`, and `agent/a` with one commit on top of it; somebody asks with the bot's token."""

    bed: GithubBed
    shop: Hosted
    folder: Path

    async def ask(
        self, method: str, path: str, body: object = None, token: str = "", **headers: str
    ) -> tuple[int, Any, str]:
        """The status, the answer, and its first word of refusal."""
        shown = {"Authorization": f"Bearer {token or self.bed.token}", "User-Agent": "test"}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(5)) as session,
            session.request(method, self.bed.url + path, json=body, headers=shown | headers) as got,
        ):
            answer = await got.json(content_type=None)
            whole: dict[str, Any] = dict(answer) if "message" in answer else {}
            told: dict[str, Any] = (whole.get("errors") or [whole])[0]
            return got.status, answer, str(told.get("message") or whole.get("message", ""))

    async def open(self, **changes: object) -> int:
        status, answer, told = await self.ask("POST", f"{SHOP}/pulls", PULL | changes)
        assert status == 201, told
        return cast("int", answer["number"])

    async def merge(self, number: int = 1, **body: object) -> tuple[int, str]:
        status, _, told = await self.ask("PUT", f"{SHOP}/pulls/{number}/merge", body)
        return status, told

    async def state(self, number: int = 1) -> str:
        """Once GitHub has thought about it."""
        await self.ask("GET", f"{SHOP}/pulls/{number}")
        return (await self.ask("GET", f"{SHOP}/pulls/{number}"))[1]["mergeable_state"]


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with GithubBed(tmp_path / "hub") as bed:
        shop = bed.repository("acme/shop")
        shop.people.push("agent/a", {"calc.py": CALC}, "Add calc")
        yield Hub(bed, shop, tmp_path)


Doing = Callable[[Hub], object]
OPENING: dict[str, tuple[Doing, dict[str, object], str]] = {
    "a head that is not there": (lambda _: None, {"head": "agent/none"}, "Validation Failed"),
    "nothing to merge": (lambda h: h.shop.people.push("c", {}), {"head": "main"}, "No commits between main and main"),
    "the same twice": (lambda h: h.shop.people.open_pull("agent/a"), {}, "A pull request already exists for acme:agent/a."),
    "a long title": (lambda _: None, {"title": "x" * 257}, "title is too long (maximum is 256 characters)"),
    "a long text": (lambda _: None, {"body": "x" * 65_537}, "body is too long (maximum is 65536 characters)"),
    "no drafts there": (lambda h: setattr(h.shop.habits, "drafts", False), {"draft": True}, "Draft pull requests are not supported in this repository."),
    "no head at all": (lambda _: None, {"head": None}, "Invalid request.\n\nFor 'head', None is not of type 'string'."),
}  # fmt: skip


@pytest.mark.parametrize("name", OPENING)
async def test_what_cannot_be_opened_is_refused_in_githubs_words(hub: Hub, name: str) -> None:
    before, changes, words = OPENING[name]
    before(hub)
    count = len(hub.shop.pulls)
    status, _, told = await hub.ask("POST", f"{SHOP}/pulls", PULL | changes)
    assert (status, told, len(hub.shop.pulls)) == (422, words, count)


def _protect(**rules: Any) -> Doing:
    return lambda hub: hub.shop.protect("main", Protection(**rules))


def _moved(hub: Hub) -> None:
    hub.shop.people.push("agent/a", {"evil.py": "\n"})


def _reviewed(hub: Hub, *words: tuple[str, str]) -> None:
    hub.shop.protect("main", Protection(reviews=1))
    for event, by in words:
        hub.shop.people.review(1, event, "x", by=by)


def _behind(hub: Hub) -> None:
    hub.shop.protect("main", Protection(checks=("ci",), up_to_date=True))
    hub.shop.robots.status("agent/a", "ci", "success")
    hub.shop.people.push("main", {"other.py": "y = 2\n"})


def _checked(conclusion: str | None) -> Doing:
    def doing(hub: Hub) -> None:
        hub.shop.protect("main", Protection(checks=("ci",)))
        hub.shop.robots.check("agent/a", "ci", conclusion)

    return doing


UNREVIEWED = "At least 1 approving review is required by reviewers with write access."
MERGING: dict[str, tuple[Doing, dict[str, Any], str, int, str]] = {
    "clean": (lambda _: None, {}, "clean", 200, "Pull Request successfully merged"),
    "a failed check nobody requires": (lambda h: h.shop.robots.check("agent/a", "lint", "failure"), {}, "unstable", 200, "Pull Request successfully merged"),
    "a method that is not allowed": (lambda h: setattr(h.shop.habits, "methods", ("squash",)), {}, "clean", 405, "Merge commits are not allowed on this repository."),
    "another head": (_moved, {"sha": "1" * 40}, "clean", 409, "Head branch was modified. Review and try the merge again."),
    "a conflict": (lambda h: h.shop.people.push("main", {"calc.py": "no\n"}), {}, "dirty", 405, "Pull Request is not mergeable"),
    "closed": (lambda h: h.shop.people.close(1), {}, "unknown", 405, "Pull Request is not mergeable"),
    "a check that is missing": (_protect(checks=("ci",)), {}, "blocked", 405, 'Required status check "ci" is expected.'),
    "a check at work": (_checked(None), {}, "blocked", 405, 'Required status check "ci" is in progress.'),
    "a check that failed": (_checked("failure"), {}, "blocked", 405, 'Required status check "ci" is failing.'),
    "a check that passed": (_checked("success"), {}, "clean", 200, "Pull Request successfully merged"),
    "no review": (lambda h: _reviewed(h, ("APPROVE", STRANGER)), {}, "blocked", 405, UNREVIEWED),
    "changes wanted": (lambda h: _reviewed(h, ("APPROVE", "aki"), ("REQUEST_CHANGES", "mika")), {}, "blocked", 405, UNREVIEWED),
    "reviewed": (lambda h: _reviewed(h, ("REQUEST_CHANGES", "mika"), ("APPROVE", "mika")), {}, "clean", 200, "Pull Request successfully merged"),
    "behind": (_behind, {}, "behind", 405, "1 of 1 required status checks are expected."),
}  # fmt: skip


@pytest.mark.parametrize("name", MERGING)
async def test_what_can_be_merged_is_and_the_rest_refused_in_githubs_words(
    hub: Hub, name: str
) -> None:
    before, body, state, status, words = MERGING[name]
    await hub.open()
    assert (await hub.ask("GET", f"{SHOP}/pulls/1"))[1]["mergeable"] is None, "it thinks first"
    before(hub)
    assert await hub.state() == state
    tip = hub.shop.tip("main")
    assert await hub.merge(**body) == (status, words)
    assert (hub.shop.tip("main") != tip) is (status == 200)
    if status == 200:
        assert await hub.merge() == (405, "Pull Request is not mergeable"), "nothing merges twice"


@pytest.mark.parametrize(
    ("method", "log"),
    [
        ("merge", ["Take it", "Other", "More", "Add calc", "Begin"]),
        ("squash", ["Take it", "Other", "Begin"]),
        ("rebase", ["More", "Add calc", "Other", "Begin"]),
    ],
)
async def test_merging_is_real(hub: Hub, method: str, log: list[str]) -> None:
    people = hub.shop.people
    people.push("agent/a", {"calc.py": CALC + "more = 1\n"}, "More")
    await hub.open()
    people.push("main", {"other.py": "y = 2\n"}, "Other")
    hub.shop.habits.delete_branch_on_merge = True
    assert (await hub.merge(merge_method=method, commit_title="Take it"))[0] == 200
    assert sorted(hub.shop.log("main")) == sorted(log)
    assert (hub.shop.read("main", "other.py"), "agent/a" in hub.shop.branches) == ("y = 2", False)
    _, pull, _ = await hub.ask("GET", f"{SHOP}/pulls/1")
    told = (pull["merged"], pull["state"], pull["merge_commit_sha"], pull["changed_files"])
    assert told == (True, "closed", hub.shop.tip("main"), 1)


async def test_right_after_another_merge_the_base_was_modified_once(hub: Hub) -> None:
    hub.shop.habits.race_after_merge = True
    hub.shop.people.push("agent/b", {"b.py": "b = 1\n"})
    for head in ("agent/a", "agent/b"):
        await hub.open(head=head)
    assert (await hub.merge(1))[0] == 200
    assert await hub.merge(2) == (405, "Base branch was modified. Review and try the merge again.")
    assert (await hub.merge(2))[0] == 200


async def test_pull_requests_follow_their_branches(hub: Hub) -> None:
    people = hub.shop.people
    people.push("agent/b", {"b.py": "b = 1\n"}, start="agent/a")
    for more in ({}, {"head": "agent/b", "base": "agent/a"}):
        await hub.open(**more)
    people.push("agent/a", {"more.py": "x = 1\n"})
    assert (await hub.ask("GET", f"{SHOP}/pulls/1"))[1]["head"]["sha"] == hub.shop.tip("agent/a")
    hub.shop.habits.delete_branch_on_merge = True
    await hub.merge(1)
    assert (hub.shop.pull(2).base, hub.shop.pull(2).is_open) == ("main", True), "it is retargeted"
    people.delete_branch("agent/b")
    assert not hub.shop.pull(2).is_open
    status, _, told = await hub.ask("PATCH", f"{SHOP}/pulls/2", {"state": "open"})
    assert (status, told.endswith("The agent/b branch has been deleted.")) == (422, True)
    with pytest.raises(CannotDo, match="not mergeable"):
        people.merge(2)


WRITES = {"pull_requests": ("POST", f"{SHOP}/pulls"), "contents": ("PUT", f"{SHOP}/pulls/1/merge")}
READS = {"checks": "check-runs", "statuses": "status"}


async def test_a_token_may_only_what_it_is_given(hub: Hub) -> None:
    await hub.open()
    rights = hub.bed.rights
    refusal = "Resource not accessible by personal access token"
    for right, (method, path) in WRITES.items():
        rights.give(**{right: "read"})
        status, _, told = await hub.ask(method, path, PULL if method == "POST" else {})
        assert (status, told) == (403, refusal)
    for right, path in READS.items():
        rights.give(**{right: "none"})
        assert (await hub.ask("GET", f"{SHOP}/commits/main/{path}"))[0] == 403
    assert (await hub.ask("GET", SHOP, token="wrong"))[::2] == (401, "Bad credentials")  # noqa: S106
    rights.repositories = frozenset({"acme/other"})
    assert (await hub.ask("GET", SHOP))[0] == 404
    rights.expire()
    assert (await hub.ask("GET", SHOP))[0] == 401
    hub.bed.renew_token()
    assert (await hub.ask("GET", SHOP))[0] == 200


async def test_the_quota_counts_what_has_changed_alone(hub: Hub) -> None:
    await hub.open()
    quota, path = hub.bed.quota, f"{SHOP}/pulls?state=all&per_page=1&page=1"
    shown = {"Authorization": f"Bearer {hub.bed.token}", "User-Agent": "test"}
    async with aiohttp.ClientSession(headers=shown) as session:
        async with session.get(hub.bed.url + path) as got:
            tag, used = got.headers["ETag"], quota.used
        async with session.get(hub.bed.url + path, headers={"If-None-Match": tag}) as got:
            assert (got.status, quota.used) == (304, used)
        hub.shop.people.push("agent/b", {"b.py": "b\n"})
        hub.shop.people.open_pull("agent/b")
        async with session.get(hub.bed.url + path, headers={"If-None-Match": tag}) as got:
            assert (got.status, quota.used) == (200, used + 1)
            assert 'page=2>; rel="next"' in got.headers["Link"]
    quota.used = quota.limit
    status, _, told = await hub.ask("GET", SHOP)
    assert (status, told.startswith("API rate limit exceeded for user ID")) == (403, True)


def _wrong(ask: Ask) -> Answer:
    return Answer({"full_name": ask.world.quota.limit})


MISTAKES: dict[str, str] = {
    "not allowed": "PUT /repos/acme/shop/pulls/1/merge is not among what is allowed",
    "token in an address": "the token stands in the address",
    "no answer of GitHub's": "'id' is a required property",
}


@pytest.mark.parametrize("name", MISTAKES)
async def test_what_must_never_happen_fails_the_test(tmp_path: Path, name: str) -> None:
    async def work(bed: GithubBed, hub: Hub) -> None:
        if name == "not allowed":
            bed.allow(("GET", "*"))
            await hub.merge()
        elif name == "token in an address":
            await hub.ask("GET", f"{SHOP}?access_token={bed.token}")
        else:
            bed.api.routes = (Route("GET", "/repos/{owner}/{repo}", "", _wrong),)
            await hub.ask("GET", SHOP)

    async def whole() -> None:
        async with GithubBed(tmp_path / "hub") as bed:
            await work(bed, Hub(bed, bed.repository("acme/shop"), tmp_path))

    with pytest.raises(AssertionError, match=MISTAKES[name]):
        await whole()


FAULTS: dict[str, tuple[Callable[[Hub], None], bool]] = {
    "dropped": (lambda hub: hub.bed.faults.drop("POST", "*/pulls"), False),
    "502 before": (lambda hub: hub.bed.faults.answer(502, "POST", "*/pulls"), False),
    "a limit": (lambda hub: hub.bed.faults.secondary_limit(7, "POST", "*/pulls"), False),
    "no right": (lambda hub: hub.bed.faults.forbid("POST", "*/pulls"), False),
    "a page": (lambda hub: hub.bed.faults.html("POST", "*/pulls"), False),
    "lost": (lambda hub: hub.bed.faults.lose_answer("POST", "*/pulls"), True),
    "502 after": (lambda hub: hub.bed.faults.answer(502, "POST", "*/pulls", after=True), True),
    "half": (lambda hub: hub.bed.faults.half("POST", "*/pulls"), True),
    "no JSON": (lambda hub: hub.bed.faults.broken_json("POST", "*/pulls"), True),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_hits_one_request_before_it_was_done_or_after(hub: Hub, name: str) -> None:
    order, done = FAULTS[name]
    order(hub)
    with pytest.raises((aiohttp.ClientError, ValueError, AssertionError)):
        await hub.open()
    assert len(hub.shop.pulls) == done
    assert (await hub.ask("GET", f"{SHOP}/pulls"))[0] == 200


@pytest.fixture
def clone(hub: Hub) -> Path:
    """Its `agent/new` is not pushed; git shows the bot's token by an address that it rewrites."""
    place, url = hub.folder / "clone", hub.shop.clone_url
    git(hub.folder, "clone", "--quiet", str(hub.bed.world.folder / "acme/shop.git"), str(place))
    git(place, "remote", "set-url", "origin", url.replace("//", f"//x:{hub.bed.token}@"))
    git(place, "switch", "--quiet", "--create", "agent/new")
    (place / "new.py").write_text("new = 1\n" * 9_000)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "-m", "new")
    return place


async def pushed(clone: Path, what: str = "agent/new") -> tuple[bool, str]:
    program = await asyncio.create_subprocess_exec(
        *("git", "push", "origin", what),
        cwd=clone,
        env=PEOPLE | {"GIT_TERMINAL_PROMPT": "0"},
        stderr=asyncio.subprocess.PIPE,
    )
    _, told = await program.communicate()
    return program.returncode == 0, told.decode()


def _workflow(hub: Hub) -> None:
    place = hub.folder / "clone"
    write(place, {".github/workflows/ci.yml": "on: push\n"})
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "-m", "CI")


GH006 = "GH006: Protected branch update failed for refs/heads/main."
PUSHING: dict[str, tuple[Doing, str, str]] = {
    "a protected branch": (_protect(), "HEAD:main", GH006),
    "a rule": (lambda h: h.shop.refuse_pushes("agent/*", "GH013: Secrets"), "agent/new", "GH013: Secrets"),
    "a workflow": (_workflow, "agent/new", "without `workflow` scope"),
    "a branch that moved on": (lambda h: h.shop.people.push("agent/new", {"b": "b\n"}), "agent/new", "[rejected]"),
    "no right": (lambda h: h.bed.rights.give(contents="read"), "agent/new", "Permission to acme/shop.git denied to gwt-bot."),
    "an old token": (lambda h: h.bed.rights.expire(), "agent/new", ""),
    "no repository": (lambda h: setattr(h.bed.rights, "repositories", frozenset({"a/b"})), "agent/new", "not found"),
    "a status": (lambda h: h.bed.git_faults.answer(503, "push"), "agent/new", "503"),
    "a line that breaks": (lambda h: h.bed.git_faults.cut("push"), "agent/new", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", PUSHING)
async def test_a_push_is_refused_as_github_refuses_it(hub: Hub, clone: Path, name: str) -> None:
    before, what, words = PUSHING[name]
    before(hub)
    heads = hub.shop.branches
    done, told = await pushed(clone, what)
    assert (done, words in told, hub.shop.branches) == (False, True, heads), told


async def test_a_push_is_git_s_own_and_may_arrive_unheard(hub: Hub, clone: Path) -> None:
    hub.bed.git_faults.lose_answer("push")
    assert not (await pushed(clone))[0]
    assert hub.shop.tip("agent/new") == git(clone, "rev-parse", "HEAD")
    assert await pushed(clone) == (True, "Everything up-to-date\n")
    number = await hub.open(head="agent/new")
    hub.shop.people.delete_branch("agent/new")
    refs = git(hub.bed.world.folder / "acme/shop.git", "for-each-ref", "--format=%(refname)")
    assert f"refs/pull/{number}/head" in refs
