"""Finds the projects in a repository, with the commands that set up and test each. Every project's tests run once, in its own directory."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence

from adapters.git.build_systems import (
    DOTNET_PROJECTS,
    GRADLE,
    LOCK_FILES,
    MAKEFILES,
    MARKS,
    SOLUTIONS,
    UV_LOCK,
    BuildCommands,
    BuildRule,
    cargo,
    cmake,
    dotnet,
    go,
    gradle,
    is_printable_path,
    make,
    maven,
    node,
    python,
    quote_path,
    ruby,
    workspaces_command,
)
from bot.core.git import BuildSystem, Project

# The build system of one directory: the first one with tests, or else the first one found.

MANIFESTS: tuple[str, ...] = (
    *("Cargo.toml", "package.json", "turbo.json"),
    *(*MARKS, "pytest.ini"),
    *("go.mod", "pom.xml", *GRADLE),
    *("CMakeLists.txt", *MAKEFILES),
    *("Gemfile", "Rakefile"),
)
"""The files of a directory whose contents are needed."""

_RULES: tuple[BuildRule, ...] = (cargo, node, python, go, maven, gradle, dotnet, ruby, cmake, make)


def build_commands(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands:
    """Return build system and test command.

    `files`: all paths; `manifests`: contents of those in MANIFESTS. A build system with tests wins over an earlier one
    without: a Python project with a package.json for its formatter is a Python project.
    """
    answers = [answer for rule in _RULES if (answer := rule(files, manifests)) is not None]
    nothing = BuildCommands(BuildSystem.OTHER, "")
    tested = (answer for answer in answers if answer.command)
    return next(tested, answers[0] if answers else nothing)


DEEPEST_PROJECT = 3
MOST_PROJECTS = 12
MAX_CANDIDATES = 48
"""The most directories whose manifests are read."""
TOP = "."

_IGNORED_FOLDERS = frozenset(
    {
        *("node_modules", "vendor", "third_party", "third-party", "external", "bower_components"),
        *("fixtures", "__fixtures__", "testdata", "test-data", "mocks", "snapshots"),
        *("examples", "example", "samples", "sample", "demo", "demos", "templates", "template"),
        *("docs", "doc", "build", "dist", "out", "target", "venv", "site-packages"),
        *("test", "tests", "__tests__", "spec", "specs", "benchmarks", "e2e"),
    }
)
"""Directories with third-party projects, or with parts of the surrounding one."""
_MANIFEST_NAMES = frozenset(MANIFESTS)
_MANIFEST_SUFFIXES = (*SOLUTIONS, *DOTNET_PROJECTS)


def project_manifests(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the directories below the top that look like projects, nearest first, with their manifests."""
    found: dict[str, list[str]] = {}
    for path in paths:
        name = path[path.rfind("/") + 1 :]
        if name in _MANIFEST_NAMES or name.endswith(_MANIFEST_SUFFIXES):
            folder = path[: -len(name) - 1]
            if folder and _may_be_project(folder):
                found.setdefault(folder, []).append(path)
    nearest = sorted(found, key=lambda folder: (folder.count("/"), folder))
    return {folder: found[folder] for folder in nearest[:MAX_CANDIDATES]}


def find_projects(
    paths: Sequence[str], texts: Mapping[str, str], folders: Iterable[str]
) -> tuple[Project, ...]:
    """Return the top project, then those below it. `texts`: contents of manifests by path."""
    ordered = sorted(paths)
    below = {folder: _files_in(folder, ordered) for folder in folders}
    nested = {path for files in below.values() for path in files}
    own = [path for path in paths if path not in nested] if nested else paths
    everything = frozenset(paths) if below else frozenset[str]()
    top = _project(TOP, own, texts, ())
    found = [
        _project(folder, files, texts, _inherited_locks(folder, everything))
        for folder, files in below.items()
    ]
    told = [one for one in found if one.test_command or not _is_part_of((top, *found), one)]
    told.sort(key=lambda one: not one.test_command)
    return (top, *told[:MOST_PROJECTS])


def combined_test_command(
    projects: Sequence[Project], paths: Collection[str], texts: Mapping[str, str]
) -> str:
    """Return the top's test command or, if it has none, those of all projects in their directories; empty if there is
    nothing to run.
    """
    top, *below = projects
    if top.test_command:
        return top.test_command
    tested = [one for one in below if one.test_command]
    alone = [one for one in tested if not _is_part_of(tested, one)]
    parts: list[str] = []
    together = workspaces_command(paths, texts) if _is_node(top) else ""
    if together and any(one.build_system is top.build_system for one in alone):
        parts.append(together)
        alone = [one for one in alone if one.build_system is not top.build_system]
    parts += [f"(cd {quote_path(one.path)} && {one.test_command})" for one in alone]
    return " && ".join(parts)


def combined_set_up(projects: Sequence[Project]) -> str:
    """Return what the tests of all projects need in a new worktree: the top's command first, which often serves all
    members.
    """
    top, *below = projects
    tested = [] if top.test_command else [one for one in below if one.test_command]
    parts = [f"(cd {quote_path(one.path)} && {one.set_up})" for one in tested if one.set_up]
    return " && ".join([top.set_up, *parts] if top.set_up else parts)


def _inherited_locks(folder: str, paths: Collection[str]) -> tuple[str, ...]:
    """Return the lock files in surrounding directories that apply to the folder: for each language those of the nearest
    one.
    """
    found: list[str] = []
    for names in (LOCK_FILES, (UV_LOCK,)):
        around = folder
        here = _present(names, folder, paths)
        while around and not here:
            around = around.rpartition("/")[0]
            here = _present(names, around, paths)
            found += here
    return tuple(found)


def _present(names: Collection[str], folder: str, paths: Collection[str]) -> list[str]:
    start = f"{folder}/" if folder else ""
    return [name for name in names if start + name in paths]


def _may_be_project(folder: str) -> bool:
    parts = folder.split("/")
    if len(parts) > DEEPEST_PROJECT or any(
        part in _IGNORED_FOLDERS or part[0] == "." for part in parts
    ):
        return False
    return is_printable_path(folder)


def _files_in(folder: str, ordered: Sequence[str]) -> Sequence[str]:
    after = chr(ord("/") + 1)
    return ordered[bisect_left(ordered, f"{folder}/") : bisect_left(ordered, folder + after)]


def _project(
    folder: str, paths: Sequence[str], texts: Mapping[str, str], locks: Collection[str]
) -> Project:
    """Return the project in a folder.

    `locks`: lock files of surrounding directories that apply to it; their dependencies are installed there.
    """
    start = "" if folder == TOP else f"{folder}/"
    files = {path[len(start) :] for path in paths}.union(locks)
    manifests = {name: texts[start + name] for name in MANIFESTS if start + name in texts}
    system, command, set_up = build_commands(files, manifests)
    one = Project(path=folder, build_system=system, test_command=command, set_up=set_up)
    installed_above = _is_node(one) and not set(LOCK_FILES).isdisjoint(locks)
    return one.model_copy(update={"set_up": ""}) if installed_above else one


def _is_part_of(projects: Iterable[Project], inner: Project) -> bool:
    """Whether the project is inside another one of the same build system."""
    return any(
        one.build_system is inner.build_system
        and one is not inner
        and (one.path == TOP or inner.path.startswith(f"{one.path}/"))
        for one in projects
    )


def _is_node(project: Project) -> bool:
    return project.build_system in (
        BuildSystem.NPM,
        BuildSystem.PNPM,
        BuildSystem.YARN,
        BuildSystem.BUN,
    )


# Recognises test files by their names alone.

_TEST_FILE_NAME = re.compile(
    r"""
      test_.*\.py | .*_test\.(?:py|go|rb|rs|exs|dart|c|cc|cpp)
    | .*_spec\.rb
    | .*[.\-_](?:test|spec)\.[cm]?[jt]sx?
    | (?:.*Tests? | Test.+ | .*Spec)\.(?:java|kt|kts|groovy|scala)
    | .*Tests?\.(?:cs|fs|vb|swift|php)
    """,
    re.VERBOSE,
)
_HINTS = ("test", "Test", "spec", "Spec")
_TEST_FOLDERS = ("__tests__", "tests", "test")
"""For languages whose test files have no naming convention."""
_UNNAMED = (".js", ".ts", ".rs", ".rb", ".c", ".cc", ".cpp")


def is_test(path: str) -> bool:
    if not any(hint in path for hint in _HINTS):
        return False  # a cheap check that decides for nearly all files
    folder, _, name = path.rpartition("/")
    if _TEST_FILE_NAME.fullmatch(name):
        return True
    return name.endswith(_UNNAMED) and any(part in _TEST_FOLDERS for part in folder.split("/"))
