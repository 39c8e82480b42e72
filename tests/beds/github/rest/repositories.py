"""Repositories, branches, refs and commits, and what a token can learn of itself."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from tests.beds.github.names import Json, Refusal, not_found
from tests.beds.github.payloads.repositories import branch, repository, url_of
from tests.beds.github.rest.asking import Answer, Ask, Route

_REPO = "/repos/{owner}/{repo}"


def routes() -> Iterable[Route]:
    return (
        Route("GET", _REPO, "metadata", read),
        Route("GET", _REPO + "/rules/branches/{branch}", "metadata", read_ruleset, "any"),
        Route("GET", _REPO + "/contents/{path}", "contents", read_folder, "any"),
        Route("GET", _REPO + "/git/blobs/{sha}", "contents", read_blob, "any"),
        Route("GET", _REPO + "/actions/workflows", "actions", workflows, "any"),
        Route("GET", _REPO + "/branches/{branch}", "contents", read_branch),
    )


def read(ask: Ask) -> Answer:
    writes = ask.token.may("contents", "write")
    may = {"admin": False, "maintain": False, "push": writes, "triage": writes, "pull": True}
    return Answer({**repository(ask.world, ask.repository), "permissions": may})


def read_branch(ask: Ask) -> Answer:
    name = ask.names["branch"]
    sha = ask.repository.git.heads().get(name)
    if sha is None:
        raise Refusal(404, "Branch not found")
    return Answer(branch(ask.world, ask.repository, name, sha))


def read_ruleset(ask: Ask) -> Answer:
    """What all rulesets together ask of a branch; of one that does not exist, too."""
    checks = [{"context": name, "integration_id": None} for name in ask.repository.rules]
    given = {"strict_required_status_checks_policy": False, "required_status_checks": checks}
    found: Json = {"type": "required_status_checks", "parameters": given, "ruleset_id": 1}
    plain: Json = {"type": "deletion", "ruleset_id": 1}
    return Answer(items=[plain, found] if checks else [])


def read_folder(ask: Ask) -> Answer:
    """A folder alone: of a file GitHub tells the content, too."""
    git, path = ask.repository.git, ask.names["path"]
    commit = git.commit_of(ask.query.get("ref", ask.repository.default_branch))
    if not commit or not git.holds("cat-file", "-e", f"{commit}:{path}"):
        raise not_found()
    lines = git.run("ls-tree", "-l", f"{commit}:{path}").splitlines()
    return Answer([_entry(ask, path, line) for line in lines])


def _entry(ask: Ask, folder: str, line: str) -> Json:
    told, _, name = line.partition("\t")
    _, kind, sha, length = told.split()
    path = f"{folder}/{name}"
    url = f"{url_of(ask.world, ask.repository)}/contents/{path}"
    size, type_ = (int(length), "file") if kind == "blob" else (0, "dir")
    return {"type": type_, "name": name, "path": path, "sha": sha, "size": size, "url": url}


def read_blob(ask: Ask) -> Answer:
    git, sha = ask.repository.git, ask.names["sha"]
    if not git.holds("cat-file", "-e", sha):
        raise not_found()
    content = git.run("cat-file", "blob", sha)
    text = base64.encodebytes(content.encode()).decode()
    return Answer({"sha": sha, "size": len(content), "encoding": "base64", "content": text})


def workflows(ask: Ask) -> Answer:
    """Those of the default branch."""
    git, branch = ask.repository.git, ask.repository.default_branch
    names = git.run("ls-tree", "-r", "--name-only", branch, ".github/workflows/").splitlines()
    state = "disabled_fork" if ask.repository.workflows_off else "active"
    items = [{"id": n, "name": path, "path": path, "state": state} for n, path in enumerate(names)]
    return Answer(items=items, under="workflows")
