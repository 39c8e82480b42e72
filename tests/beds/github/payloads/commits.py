"""Commits and changed files in answers: read from git when somebody asks."""

from __future__ import annotations

from tests.beds.github.git import Git
from tests.beds.github.names import Json
from tests.beds.github.payloads.users import user
from tests.beds.github.repositories import Repository
from tests.beds.github.world import World

_FORMAT = "%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
_KINDS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "T": "changed"}


def commit(world: World, one: Repository, sha: str) -> Json:
    read = one.git.run("log", "-1", f"--format={_FORMAT}", sha).split("\0")
    tree, parents, author, mail, written, committer, address, committed, message = read
    url = f"{world.api}/repos/{one.full_name}"
    page = f"{world.base}/{one.full_name}/commit"
    return {
        "sha": sha,
        "node_id": f"C_kwDOBed{sha[:12]}",
        "url": f"{url}/commits/{sha}",
        "html_url": f"{page}/{sha}",
        "comments_url": f"{url}/commits/{sha}/comments",
        "commit": {
            "url": f"{url}/git/commits/{sha}",
            "author": {"name": author, "email": mail, "date": written},
            "committer": {"name": committer, "email": address, "date": committed},
            "message": message.rstrip("\n"),
            "comment_count": 0,
            "tree": {"sha": tree, "url": f"{url}/git/trees/{tree}"},
        },
        "author": user(world, author) if author in world.accounts.users else None,
        "committer": None,
        "parents": [
            {"sha": each, "url": f"{url}/commits/{each}", "html_url": f"{page}/{each}"}
            for each in parents.split()
        ],
    }


def files(world: World, one: Repository, since: str, until: str) -> list[Json]:
    """What changed between two commits, file by file, with its patch."""
    counted = one.git.run("diff", "--numstat", "-M", since, until).splitlines()
    named = one.git.run("diff", "--name-status", "-M", since, until).splitlines()
    return [
        _file(world, one, (since, until), (count.split("\t"), name.split("\t")))
        for count, name in zip(counted, named, strict=True)
    ]


def _file(
    world: World, one: Repository, ends: tuple[str, str], read: tuple[list[str], list[str]]
) -> Json:
    (added, removed, *_), (kind, *paths) = read
    binary = added == "-"
    plus, minus = (0, 0) if binary else (int(added), int(removed))
    path = paths[-1]
    url = f"{world.api}/repos/{one.full_name}"
    found: Json = {
        "sha": None if kind == "D" else one.git.run("rev-parse", f"{ends[1]}:{path}"),
        "filename": path,
        "status": _KINDS[kind[0]],
        "additions": plus,
        "deletions": minus,
        "changes": plus + minus,
        "blob_url": f"{world.base}/{one.full_name}/blob/{ends[1]}/{path}",
        "raw_url": f"{world.base}/{one.full_name}/raw/{ends[1]}/{path}",
        "contents_url": f"{url}/contents/{path}?ref={ends[1]}",
    }
    if len(paths) > 1:
        found["previous_filename"] = paths[0]
    if not binary:
        found["patch"] = patch(one.git, *ends, path)
    return found


def patch(git: Git, since: str, until: str, path: str) -> str:
    """The hunks of one file, without what stands above them."""
    whole = git.run("diff", since, until, "--", path)
    _, at, rest = whole.partition("\n@@")
    return (at + rest).lstrip("\n")


def size(git: Git, since: str, until: str) -> Json:
    """How much changed between two commits."""
    lines = [line.split("\t") for line in git.run("diff", "--numstat", since, until).splitlines()]
    counted = [(int(one[0]), int(one[1])) for one in lines if one[0] != "-"]
    return {
        "additions": sum(plus for plus, _ in counted),
        "deletions": sum(minus for _, minus in counted),
        "changed_files": len(lines),
    }
