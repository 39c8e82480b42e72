"""Which build system a repository uses, and how its tests are run. Its rule: a command is named only where there is something to run."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

from bot.domain.world import BuildSystem

MANIFESTS: tuple[str, ...] = (
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "noxfile.py",
    "pytest.ini",
    "requirements.txt",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "Gemfile",
    "Rakefile",
)
"""What must be read of a repository's top directory for an answer."""

Found = tuple[BuildSystem, str]
NOTHING: Found = (BuildSystem.OTHER, "")


def recognised(files: Collection[str], manifests: Mapping[str, str]) -> Found:
    """The build system and the test command; `files` are all paths, `manifests` the contents of those in MANIFESTS.

    The first build system whose tests can be run wins over an earlier one without tests: a Python project with a
    package.json for its formatter is a Python project.
    """
    answers = [answer for rule in _RULES if (answer := rule(files, manifests)) is not None]
    return next((answer for answer in answers if answer[1]), answers[0] if answers else NOTHING)


def _cargo(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    return (BuildSystem.CARGO, "cargo test") if "Cargo.toml" in manifests else None


def _node(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if "package.json" not in manifests:
        return None
    package = _json(manifests["package.json"])
    system, command = _package_manager(files, str(package.get("packageManager", "")))
    script = _table(package, "scripts").get("test", "")
    # what `npm init` writes is no test
    real = isinstance(script, str) and script.strip() and "no test specified" not in script
    return system, command if real else ""


_LOCK_FILES: tuple[tuple[str, str], ...] = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)
_NODE: Mapping[str, Found] = {
    "pnpm": (BuildSystem.PNPM, "pnpm test"),
    "yarn": (BuildSystem.YARN, "yarn test"),
    "bun": (BuildSystem.BUN, "bun run test"),
    "npm": (BuildSystem.NPM, "npm test"),
}


def _package_manager(files: Collection[str], declared: str) -> Found:
    """By lock file; by the `packageManager` field where there is none."""
    locked = next((manager for file, manager in _LOCK_FILES if file in files), "")
    return _NODE.get(locked or declared.partition("@")[0], _NODE["npm"])


_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "noxfile.py")
_PYTHON_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
_UNITTEST = "python3 -m unittest discover"


def _python(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    tests = [path for path in files if _PYTHON_TEST.search(path)]
    if not tests and not any(name in manifests for name in (*_PYTHON, "pytest.ini")):
        return None
    return BuildSystem.PYTHON, _python_command(files, manifests, tests)


def _python_command(
    files: Collection[str], manifests: Mapping[str, str], tests: Collection[str]
) -> str:
    if _uses_pytest(files, manifests):
        return "python3 -m pytest"
    if "tox.ini" in manifests:
        return "tox"
    if "noxfile.py" in manifests:
        return "nox"
    beneath = [path for path in tests if path.startswith("tests/")]
    if beneath:
        # -t makes the top directory importable, but then `tests` must be a package
        top = " -t ." if "tests/__init__.py" in files else ""
        return f"{_UNITTEST} -s tests{top}"
    return _UNITTEST if tests else ""


def _uses_pytest(files: Collection[str], manifests: Mapping[str, str]) -> bool:
    """Configured, required, or plainly used."""
    if "pytest.ini" in manifests or "[tool:pytest]" in manifests.get("setup.cfg", ""):
        return True
    if re.search(r"^\[pytest\]", manifests.get("tox.ini", ""), re.MULTILINE):
        return True
    if any(path.rpartition("/")[2] == "conftest.py" for path in files):
        return True
    required = "\n".join(manifests.get(name, "") for name in ("requirements.txt", "setup.cfg"))
    if re.search(r"^\s*pytest\b", required, re.MULTILINE):
        return True
    return _pyproject_uses_pytest(manifests.get("pyproject.toml", ""))


def _pyproject_uses_pytest(text: str) -> bool:
    try:
        project = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return "pytest" in text
    if "pytest" in _table(project, "tool"):
        return True
    named = [
        _table(project, "project").get("dependencies"),
        _table(project, "project").get("optional-dependencies"),
        _table(project, "dependency-groups"),
        _table(project, "tool").get("poetry"),
    ]
    return re.search(r"['\"]pytest\b", repr(named)) is not None


def _go(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    return (BuildSystem.GO, "go test ./...") if "go.mod" in manifests else None


def _maven(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if "pom.xml" not in manifests:
        return None
    return BuildSystem.MAVEN, "./mvnw -B test" if "mvnw" in files else "mvn -B test"


def _gradle(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if not {"build.gradle", "build.gradle.kts"} & manifests.keys():
        return None
    return BuildSystem.GRADLE, "./gradlew test" if "gradlew" in files else "gradle test"


def _dotnet(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    projects = any(path.endswith((".sln", ".slnx", ".csproj", ".fsproj")) for path in files)
    return (BuildSystem.DOTNET, "dotnet test") if projects else None


def _ruby(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if "Gemfile" not in manifests and "Rakefile" not in manifests:
        return None
    if any(path.startswith("spec/") and path.endswith("_spec.rb") for path in files):
        return BuildSystem.RUBY, "bundle exec rspec"
    tests = any(path.startswith("test/") and path.endswith(".rb") for path in files)
    return BuildSystem.RUBY, "bundle exec rake test" if tests and "Rakefile" in manifests else ""


def _cmake(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if "CMakeLists.txt" not in manifests:
        return None
    tested = re.search(
        r"^\s*(enable_testing|include\s*\(\s*CTest)", manifests["CMakeLists.txt"], re.MULTILINE
    )
    steps = (
        "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"
    )
    return BuildSystem.CMAKE, steps if tested else ""


def _make(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    text = next(
        (manifests[name] for name in ("GNUmakefile", "makefile", "Makefile") if name in manifests),
        None,
    )
    if text is None:
        return None
    target = re.search(r"^(test|check)\s*::?(?!=)", text, re.MULTILINE)
    return BuildSystem.MAKE, f"make {target[1]}" if target else ""


_RULES: tuple[Callable[[Collection[str], Mapping[str, str]], Found | None], ...] = (
    _cargo,
    _node,
    _python,
    _go,
    _maven,
    _gradle,
    _dotnet,
    _ruby,
    _cmake,
    _make,
)


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _table(parent: dict[str, Any], name: str) -> dict[str, Any]:
    value = parent.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
