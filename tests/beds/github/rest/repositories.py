"""Repositories, branches, refs and commits, and what a token can learn of itself."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from tests.beds.github.git import NOTHING
from tests.beds.github.names import Json, Refusal, not_found
from tests.beds.github.payloads.commits import commit, files, size
from tests.beds.github.payloads.repositories import branch, protection, ref, repository, url_of
from tests.beds.github.payloads.users import oneself
from tests.beds.github.rest.asking import Answer, Ask, Route

_REPO = "/repos/{owner}/{repo}"


def routes() -> Iterable[Route]:
    return (
        Route("GET", "/user", "", read_user),
        Route("GET", "/rate_limit", "", read_quota),
        Route("GET", _REPO, "metadata", read),
        Route("GET", _REPO + "/rules/branches/{branch}", "metadata", read_ruleset, "any"),
        Route("GET", _REPO + "/contents/{path}", "contents", read_folder, "any"),
        Route("GET", _REPO + "/git/blobs/{sha}", "contents", read_blob, "any"),
        Route("GET", _REPO + "/actions/workflows", "actions", workflows, "any"),
        Route("GET", _REPO + "/branches/{branch}/protection", "administration", read_rules, "any"),
        Route("GET", _REPO + "/branches/{branch}", "contents", read_branch),
        Route("POST", _REPO + "/git/refs", "contents", create_ref),
        Route("GET", _REPO + "/git/ref/{ref}", "contents", read_ref),
        Route("GET", _REPO + "/git/refs/{ref}", "contents", read_ref, "git-ref"),
        Route("GET", _REPO + "/git/matching-refs/{ref}", "contents", matching),
        Route("PATCH", _REPO + "/git/refs/{ref}", "contents", move_ref),
        Route("DELETE", _REPO + "/git/refs/{ref}", "contents", delete_ref),
        Route("GET", _REPO + "/compare/{basehead}", "contents", compare),
        Route("GET", _REPO + "/commits/{ref}", "contents", read_commit),
    )


def read_user(ask: Ask) -> Answer:
    return Answer(oneself(ask.world, ask.token.login))


def read_quota(ask: Ask) -> Answer:
    quota = ask.world.quota
    core = {"limit": quota.limit, "used": quota.used, "remaining": quota.left, "reset": quota.reset}
    names = ("core", "graphql", "search")
    return Answer({"resources": dict.fromkeys(names, core), "rate": core})


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


def read_rules(ask: Ask) -> Answer:
    if ask.names["branch"] not in ask.repository.protected:
        raise Refusal(404, "Branch not protected")
    return Answer(protection(ask.world, ask.repository, ask.names["branch"]))


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


def create_ref(ask: Ask) -> Answer:
    name, sha = str(ask.body["ref"]), str(ask.body["sha"])
    if not name.startswith("refs/heads/") or name.count("/") < 2:
        raise Refusal(
            422, "Reference name must start with 'refs' and contain at least two slashes."
        )
    if not ask.repository.git.holds("cat-file", "-e", sha + "^{commit}"):
        raise Refusal(422, "Object does not exist")
    if not ask.repository.git.holds("update-ref", name, sha, NOTHING):
        raise Refusal(422, "Reference already exists")
    return Answer(ref(ask.world, ask.repository, name, sha), 201)


def read_ref(ask: Ask) -> Answer:
    name, sha = f"refs/{ask.names['ref']}", _refs(ask).get(f"refs/{ask.names['ref']}")
    if sha is None:
        raise not_found()
    return Answer(ref(ask.world, ask.repository, name, sha))


def matching(ask: Ask) -> Answer:
    begin = f"refs/{ask.names['ref']}"
    found = [(name, sha) for name, sha in _refs(ask).items() if name.startswith(begin)]
    return Answer(items=[ref(ask.world, ask.repository, name, sha) for name, sha in found])


def move_ref(ask: Ask) -> Answer:
    name, sha = f"refs/{ask.names['ref']}", str(ask.body["sha"])
    old = _refs(ask).get(name)
    git = ask.repository.git
    if old is None:
        raise Refusal(422, "Reference does not exist")
    _demand_open(ask, name)
    if not git.holds("cat-file", "-e", sha + "^{commit}"):
        raise Refusal(422, "Object does not exist")
    if not ask.body.get("force") and not git.contains(sha, old):
        raise Refusal(422, "Update is not a fast forward")
    git.run("update-ref", name, sha, old)
    return Answer(ref(ask.world, ask.repository, name, sha))


def delete_ref(ask: Ask) -> Answer:
    name = f"refs/{ask.names['ref']}"
    if name not in _refs(ask):
        raise Refusal(422, "Reference does not exist")
    _demand_open(ask, name)
    if name == f"refs/heads/{ask.repository.default_branch}":
        raise Refusal(422, "Cannot delete the default branch")
    ask.repository.git.run("update-ref", "-d", name)
    return Answer(status=204)


def read_commit(ask: Ask) -> Answer:
    sha, git = ask.commit(ask.names["ref"]), ask.repository.git
    found = commit(ask.world, ask.repository, sha)
    parents = git.parents(sha)
    since = parents[0] if parents else git.run("hash-object", "-w", "-t", "tree", "--stdin")
    counted = size(git, since, sha)
    total = counted["additions"] + counted["deletions"]
    stats = {"additions": counted["additions"], "deletions": counted["deletions"], "total": total}
    changed = files(ask.world, ask.repository, since, sha)
    return Answer({**found, "stats": stats, "files": changed})


def compare(ask: Ask) -> Answer:
    base_name, _, head_name = ask.names["basehead"].partition("...")
    git = ask.repository.git
    base, head = (git.commit_of(one.rpartition(":")[2]) for one in (base_name, head_name))
    if not base or not head:
        raise not_found()
    fork = git.fork(base, head)
    ahead, behind = git.between(base, head), git.between(head, base)
    states = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
    page = f"{ask.world.base}/{ask.repository.full_name}/compare/{base_name}...{head_name}"
    found: Json = {
        "url": f"{url_of(ask.world, ask.repository)}/compare/{base_name}...{head_name}",
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": commit(ask.world, ask.repository, base),
        "merge_base_commit": commit(ask.world, ask.repository, fork),
        "status": states.get((bool(ahead), bool(behind)), "identical"),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [commit(ask.world, ask.repository, one) for one in ahead],
        "files": files(ask.world, ask.repository, fork, head),
    }
    return Answer(found)


def _refs(ask: Ask) -> dict[str, str]:
    return {f"refs/heads/{name}": sha for name, sha in ask.repository.git.heads().items()}


def _demand_open(ask: Ask, name: str) -> None:
    rules = ask.repository.protected.get(name.removeprefix("refs/heads/"))
    if rules and rules.closed:
        raise Refusal(422, "Protected branch update failed")
