"""Projects of Node.js: npm, pnpm, yarn, bun, with turbo or without. A script that would go on watching is told to run once."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from adapters.git.build_systems.reading import Found, json_table, table
from bot.domain.world import BuildSystem

_LOCK_FILES: tuple[tuple[str, str], ...] = (
    ("pnpm-lock.yaml", "pnpm"),
    ("pnpm-workspace.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)
_RUNS: Mapping[str, tuple[BuildSystem, str, str]] = {
    "pnpm": (BuildSystem.PNPM, "pnpm test", "pnpm --recursive run --if-present test"),
    "yarn": (BuildSystem.YARN, "yarn test", ""),
    "bun": (BuildSystem.BUN, "bun run test", "bun run --filter '*' test"),
    "npm": (BuildSystem.NPM, "npm test", "npm test --workspaces --if-present"),
}
"""What runs the test script here, and what runs those of all workspaces; yarn's way depends on its version."""
_TURBO: Mapping[str, str] = {
    "pnpm": "pnpm exec turbo run test",
    "yarn": "yarn turbo run test",
    "bun": "bunx turbo run test",
    "npm": "npx turbo run test",
}
_INSTALL: Mapping[str, str] = {
    "pnpm": "pnpm install --frozen-lockfile",
    "yarn": "yarn install",
    "bun": "bun install --frozen-lockfile",
    "npm": "npm ci",
}
"""What brings node_modules into a new worktree; without a lock file it is `install` alone."""
_ONCE = ("run", "--run", "bench", "list", "related")
_LINKED = frozenset("&|;\n")


def node(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if "package.json" not in manifests:
        return None
    package = json_table(manifests["package.json"])
    manager = _manager(files, package)
    system = _RUNS[manager][0]
    return Found(system, _command(manager, package, files, manifests), _set_up(files, package))


def _command(
    manager: str, package: Mapping[str, Any], files: Collection[str], manifests: Mapping[str, str]
) -> str:
    script = table(package, "scripts").get("test", "")
    # what `npm init` writes is no test
    if not isinstance(script, str) or not script.strip() or "no test specified" in script:
        return _without_script(manager, files, manifests)
    once = _run_once(script)
    # npm alone keeps for itself what does not stand behind --
    dashes = ["--"] if once and manager == "npm" else []
    return " ".join([_RUNS[manager][1], *dashes, *once])


def _without_script(manager: str, files: Collection[str], manifests: Mapping[str, str]) -> str:
    """turbo runs the scripts of all packages; bun has a test runner of its own."""
    if re.search(r'"(?:[^"\s]*#)?test"\s*:', manifests.get("turbo.json", "")):
        return _TURBO[manager]
    own = any(re.search(r"[._](?:test|spec)\.[cm]?[jt]sx?$", path) for path in files)
    return "bun test" if manager == "bun" and own else ""


def _set_up(files: Collection[str], package: Mapping[str, Any]) -> str:
    needs = ("dependencies", "devDependencies", "workspaces")
    locked = own_lock(files)
    if not locked and not any(package.get(name) for name in needs):
        return ""
    manager = _manager(files, package)
    return _INSTALL[manager] if locked else f"{manager} install"


def workspaces_command(files: Collection[str], manifests: Mapping[str, str]) -> str:
    """What runs the test scripts of all members of a workspace; empty: it is none."""
    package = json_table(manifests.get("package.json", ""))
    if not package.get("workspaces") and "pnpm-workspace.yaml" not in files:
        return ""
    return _RUNS[_manager(files, package)][2]


def own_lock(files: Collection[str]) -> str:
    """The package manager whose lock file lies in the directory itself."""
    return next((manager for file, manager in _LOCK_FILES if file in files), "")


LOCK_FILES = tuple(name for name, _ in _LOCK_FILES)


def _manager(files: Collection[str], package: Mapping[str, Any]) -> str:
    """By lock file; by the `packageManager` field where there is none."""
    named = own_lock(files) or str(package.get("packageManager", "")).partition("@")[0]
    return named if named in _RUNS else "npm"


def _run_once(script: str) -> list[str]:
    """What must be added to a script that would watch. CI=1, which the bot sets, is enough for the others."""
    words = script.split()
    if _LINKED & set(script):
        return []  # it would be added to the last of several commands
    if "vitest" in words and not any(word in _ONCE for word in words):
        return ["--run"]
    if "jest" in words:
        return [f"{word}=false" for word in words if word in ("--watch", "--watchAll")]
    return []
