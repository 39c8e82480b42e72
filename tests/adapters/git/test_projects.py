"""What is built and tested by itself in one repository, and how all of it is tested with one command."""

from __future__ import annotations

import pytest

from adapters.git.projects import command_of_all, project_manifests, projects_of, set_up_of_all
from bot.core.git import BuildSystem, Project

PYTEST = "[tool.pytest.ini_options]"
NPM = '{"scripts": {"test": "mocha"}}'


def seen(files: dict[str, str]) -> tuple[tuple[Project, ...], str]:
    paths = list(files)
    projects = projects_of(paths, files, project_manifests(paths))
    return projects, command_of_all(projects, paths, files)


def command(files: dict[str, str]) -> str:
    return seen(files)[1]


def test_without_a_command_at_the_top_each_project_is_tested_in_its_directory() -> None:
    projects, all_of_it = seen(
        {
            "README.md": "",
            "backend/pyproject.toml": PYTEST,
            "backend/tests/test_a.py": "",
            "services/worker/go.mod": "",
            "web/package.json": NPM,
        }
    )
    assert [(one.path, one.build_system, one.test_command) for one in projects] == [
        (".", BuildSystem.OTHER, ""),
        ("backend", BuildSystem.PYTHON, "python3 -m pytest"),
        ("web", BuildSystem.NPM, "npm test"),
        ("services/worker", BuildSystem.GO, "go test ./..."),
    ]
    assert all_of_it == (
        "(cd backend && python3 -m pytest) && (cd web && npm test)"
        " && (cd services/worker && go test ./...)"
    )


def test_the_command_of_the_top_stays_and_the_projects_are_told() -> None:
    projects, all_of_it = seen({"Makefile": "test:\n", "web/package.json": NPM})
    assert all_of_it == "make test"
    assert [one.path for one in projects] == [".", "web"]


def test_a_repository_of_one_project_is_its_top() -> None:
    assert seen({"go.mod": ""}) == (
        (Project(path=".", build_system=BuildSystem.GO, test_command="go test ./..."),),
        "go test ./...",
    )
    assert seen({}) == ((Project(path="."),), "")


def test_tests_of_a_project_below_are_not_those_of_the_top() -> None:
    assert command({"a/setup.py": "", "a/test_a.py": "", "b/test_b.py": ""}) == (
        "python3 -m unittest discover"
    )
    assert command({"a/setup.py": "", "a/test_a.py": ""}) == (
        "(cd a && python3 -m unittest discover)"
    )


@pytest.mark.parametrize(
    "folder",
    [
        *("node_modules/x", "web/node_modules/x", "vendor/x", "tests/fixtures/x", "examples/x"),
        *("pkg/testdata", "third_party/x", ".hidden", "docs", "tests/project", "a/b/c/d"),
        *("line\nbreak", "not\ufffdutf8"),
    ],
)
def test_what_is_not_ours_or_too_deep_is_no_project(folder: str) -> None:
    projects, all_of_it = seen({f"{folder}/package.json": NPM, "README.md": ""})
    assert ([one.path for one in projects], all_of_it) == (["."], "")


def test_names_are_quoted_for_the_shell() -> None:
    files = {"it's; rm -rf x/package.json": NPM, "-x/go.mod": "", "a b/go.mod": ""}
    assert command(files) == (
        "(cd ./-x && go test ./...) && (cd 'a b' && go test ./...)"
        """ && (cd 'it'"'"'s; rm -rf x' && npm test)"""
    )


def test_what_lies_in_a_tested_project_of_its_kind_is_tested_with_it() -> None:
    files = {"app/pom.xml": "", "app/core/pom.xml": "", "app/web/package.json": NPM}
    assert command(files) == "(cd app && mvn -B test) && (cd app/web && npm test)"


def test_parts_without_tests_are_not_told() -> None:
    files = {"CMakeLists.txt": "", "src/CMakeLists.txt": "", "web/package.json": "{}"}
    assert [one.path for one in seen(files)[0]] == [".", "web"]


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        ({}, "npm test --workspaces --if-present"),
        ({"pnpm-lock.yaml": ""}, "pnpm --recursive run --if-present test"),
        ({"bun.lock": ""}, "bun run --filter '*' test"),
        ({"yarn.lock": ""}, "(cd packages/a && yarn test) && (cd packages/b && yarn test)"),
    ],
)
def test_members_of_a_workspace_are_tested_together(top: dict[str, str], expected: str) -> None:
    files = {
        "package.json": '{"workspaces": ["packages/*"]}',
        "packages/a/package.json": NPM,
        "packages/b/package.json": NPM,
        **top,
    }
    assert command(files) == expected
    assert command(files | {"api/go.mod": ""}).replace(expected, "").strip(" &") == (
        "(cd api && go test ./...)"
    )


def test_a_workspace_without_tests_has_nothing_to_run() -> None:
    assert command({"package.json": '{"workspaces": ["a"]}', "a/package.json": "{}"}) == ""


def test_a_pnpm_workspace_is_known_by_its_own_file() -> None:
    files = {"package.json": "{}", "pnpm-workspace.yaml": "", "a/package.json": NPM}
    assert command(files) == "pnpm --recursive run --if-present test"


def test_a_lock_file_of_its_own_comes_before_that_of_the_top() -> None:
    files = {"yarn.lock": "", "a/package.json": NPM, "b/package.json": NPM, "b/bun.lock": ""}
    assert command(files) == "(cd a && yarn test) && (cd b && bun run test)"


def test_at_most_twelve_projects_are_told_and_those_with_tests_come_first() -> None:
    untested = {f"a{n:02}/package.json": "{}" for n in range(20)}
    tested = {f"z{n:02}/package.json": NPM for n in range(20)}
    projects, all_of_it = seen(untested | tested)
    assert len(projects) == 1 + 12
    assert [one.path for one in projects[1:]] == [f"z{n:02}" for n in range(12)]
    assert all_of_it.count("npm test") == 12


def set_up(files: dict[str, str]) -> str:
    return set_up_of_all(seen(files)[0])


def test_the_lock_of_a_workspace_holds_for_its_members_and_is_installed_once() -> None:
    files = {
        "pyproject.toml": "[tool.uv.workspace]",
        "uv.lock": "",
        "api/pyproject.toml": '[project]\ndependencies = ["pytest"]',
        "web/package.json": NPM,
        "web/package-lock.json": "",
        "web/admin/package.json": NPM,
    }
    assert command(files) == "(cd api && uv run python -m pytest) && (cd web && npm test)"
    assert set_up(files) == "(cd web && npm ci)"
    members = {
        "package.json": '{"workspaces": ["a"]}',
        "yarn.lock": "",
        "a/package.json": NPM,
    }
    assert (command(members), set_up(members)) == ("(cd a && yarn test)", "yarn install")
