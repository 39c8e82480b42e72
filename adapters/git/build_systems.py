"""Recognises build systems by their files:

Python, Node.js, compiled languages, Ruby. A command is returned only if there is something to run.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple, cast

from bot.core.git import BuildSystem

# Python. The test runner follows from the lock file or configuration: uv, poetry, pdm, pipenv, hatch, a `.venv`, tox,
# nox; otherwise `python3`.

REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements-test.txt", "Pipfile")
MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", *REQUIREMENTS)
ENVIRONMENTS = (".venv/bin/python", "venv/bin/python")
"""Virtual environments kept next to the code; git ignores them, so they are looked for in the checkout."""
UV_LOCK = "uv.lock"
"""At the top of a workspace; it applies to all members."""

_PYTHON_LOCK_FILES = (
    (UV_LOCK, "uv"),
    ("poetry.lock", "poetry"),
    ("pdm.lock", "pdm"),
    ("Pipfile.lock", "pipenv"),
    ("Pipfile", "pipenv"),
)
_TEST_SCRIPT_NAMES = ("tests", "test")
"""Usual names of sessions and scripts that run the tests."""
_DEFAULT_GROUPS = ("dev",)
"""Dependency groups that uv, pdm and poetry install by default."""


@dataclass(frozen=True)
class _PythonProject:
    """What is known about one directory."""

    files: Collection[str]
    manifests: Mapping[str, str]
    tests: Collection[str]
    pyproject: Mapping[str, Any]

    def tool(self, name: str) -> dict[str, Any]:
        return table(table(self.pyproject, "tool"), name)

    def text(self, name: str) -> str:
        return self.manifests.get(name, "")


def python(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    tests = [path for path in files if path.endswith(".py") and _is_test(path)]
    if not tests and not any(name in manifests for name in (*MARKS, "pytest.ini")):
        return None
    pyproject = toml_table(manifests.get("pyproject.toml", "")) or {}
    project = _PythonProject(files, manifests, tests, pyproject)
    command = _hatch(project) or _python_command(project)
    return BuildCommands(BuildSystem.PYTHON, command, _python_set_up(project, command))


def _is_test(path: str) -> bool:
    name = path[path.rfind("/") + 1 :]
    return name.startswith("test_") or name.endswith("_test.py")


def _python_command(project: _PythonProject) -> str:
    # tox and nox create the environment themselves, so they take precedence over an interpreter that nothing names.
    interpreter, module = _interpreter(project), _test_module(project)
    if module and interpreter:
        return f"{interpreter} -m {module}"
    return _tox_or_nox(project) or (f"python3 -m {module}" if module else "")


def _interpreter(project: _PythonProject) -> str:
    """Return the command that starts the project's own Python; empty if nothing names one."""
    match _python_manager(project):
        case "uv":
            return " ".join(["uv run", *_uv_options(project), "python"])
        case "":
            return next((quote_path(one) for one in ENVIRONMENTS if one in project.files), "")
        case manager:
            return f"{manager} run python"


def _python_manager(project: _PythonProject) -> str:
    """Return the package manager by lock file, or else by its table in pyproject.toml.

    A pdm table is often only that of its build backend.
    """
    locked = next((manager for file, manager in _PYTHON_LOCK_FILES if file in project.files), "")
    if locked:
        return locked
    if "uv" in table(project.pyproject, "tool"):
        return "uv"
    if "poetry" in table(project.pyproject, "tool"):
        return "poetry"
    pdm = project.tool("pdm")
    return "pdm" if "dev-dependencies" in pdm or "scripts" in pdm else ""


def _uv_options(project: _PythonProject) -> Iterator[str]:
    """Yield the options that make uv install pytest, if it would not anyway."""
    if not _uses_pytest(project):
        return
    where = _where_pytest_is_required(project.pyproject)
    if where is None:
        yield "--with pytest"
    elif where:
        yield where


def _where_pytest_is_required(pyproject: Mapping[str, Any]) -> str | None:
    """Return the option that installs pytest; empty if it is always installed, None if nothing requires it."""
    project = table(pyproject, "project")
    if _requires_pytest(project.get("dependencies")):
        return ""
    groups = table(pyproject, "dependency-groups")
    if any(_requires_pytest(groups.get(name)) for name in _DEFAULT_GROUPS):
        return ""
    if _requires_pytest(table(table(pyproject, "tool"), "uv").get("dev-dependencies")):
        return ""
    for option, named in (
        ("--group", groups),
        ("--extra", table(project, "optional-dependencies")),
    ):
        for name, required in named.items():
            if _requires_pytest(required) and re.fullmatch(r"[A-Za-z0-9._-]+", name):
                return f"{option} {name}"
    return None


def _requires_pytest(required: object) -> bool:
    return re.search(r"['\"]pytest\b", repr(required)) is not None


def _test_module(project: _PythonProject) -> str:
    """Return the module and arguments for Python to run; empty if no tests are known."""
    if _uses_pytest(project):
        return "pytest"
    if any(path.startswith("tests/") for path in project.tests):
        # -t makes the top directory importable, but then `tests` must be a package
        top = " -t ." if "tests/__init__.py" in project.files else ""
        return f"unittest discover -s tests{top}"
    if project.tests and not _tox_or_nox(project):
        return "unittest discover"
    return ""


def _tox_or_nox(project: _PythonProject) -> str:
    configured = re.search(r"^\[(?:tox|testenv)\b", project.text("tox.ini"), re.MULTILINE)
    if configured or "tox" in table(project.pyproject, "tool"):
        return "tox"
    if "noxfile.py" not in project.manifests:
        return ""
    sessions = re.findall(r"^def (\w+)", project.text("noxfile.py"), re.MULTILINE)
    named = next((name for name in _TEST_SCRIPT_NAMES if name in sessions), "")
    return f"nox -s {named}" if named else "nox"


def _hatch(project: _PythonProject) -> str:
    # Only if hatch environments are configured: many projects use hatch merely as a build backend.
    environments = table(project.tool("hatch"), "envs")
    if not environments or _python_manager(project):
        return ""
    for name in ("default", *_TEST_SCRIPT_NAMES):
        scripts = table(table(environments, name), "scripts")
        script = next((one for one in (*_TEST_SCRIPT_NAMES, "run") if one in scripts), "")
        if script:
            return f"hatch run {script}" if name == "default" else f"hatch run {name}:{script}"
    return "hatch test" if _uses_pytest(project) else ""


def _python_set_up(project: _PythonProject, command: str) -> str:
    """Return the command that creates the environment in a new worktree; empty if the test command does that itself."""
    match command.split(" ", 1)[0]:
        case "poetry":
            where = _where_pytest_is_required(project.pyproject) or ""
            return f"poetry install {where}".replace("--group", "--with").strip()
        case "pdm":
            return "pdm install"
        case "pipenv":
            return "pipenv sync --dev" if "Pipfile.lock" in project.files else "pipenv install -d"
        case interpreter if interpreter in ENVIRONMENTS:
            return _environment(project, interpreter)
        case _:
            return ""


def _environment(project: _PythonProject, interpreter: str) -> str:
    folder = interpreter.partition("/")[0]
    parts = [f"-r {name}" for name in REQUIREMENTS if name in project.manifests]
    if "pyproject.toml" in project.manifests or "setup.py" in project.manifests:
        where = (_where_pytest_is_required(project.pyproject) or "").split()
        extra, group = where[:1] == ["--extra"], where[:1] == ["--group"]
        parts.append(f"-e '.[{where[1]}]'" if extra else "-e .")
        parts += [f"--group {where[1]}"] if group else []
    install = f" && {folder}/bin/pip install {' '.join(parts)}" if parts else ""
    return f"python3 -m venv {folder}{install}"


def _uses_pytest(project: _PythonProject) -> bool:
    """Whether pytest is configured, required, or evidently used."""
    if "pytest.ini" in project.manifests or "[tool:pytest]" in project.text("setup.cfg"):
        return True
    if re.search(r"^\[pytest\]", project.text("tox.ini"), re.MULTILINE):
        return True
    if any(path.endswith("conftest.py") and path[:-11][-1:] in ("", "/") for path in project.files):
        return True
    required = "\n".join(project.text(name) for name in (*REQUIREMENTS, "setup.cfg"))
    # blanks only: a pattern that crosses lines takes minutes on a file of empty lines, and blocks the whole bot
    if re.search(r"^[ \t]*pytest\b", required, re.MULTILINE):
        return True
    return _pyproject_uses_pytest(project)


def _pyproject_uses_pytest(project: _PythonProject) -> bool:
    text = project.text("pyproject.toml")
    if not project.pyproject:
        return "pytest" in text  # the file cannot be parsed, for example because it was truncated
    if "pytest" in table(project.pyproject, "tool"):
        return True
    metadata = table(project.pyproject, "project")
    named: list[object] = [
        metadata.get("dependencies"),
        metadata.get("optional-dependencies"),
        table(project.pyproject, "dependency-groups"),
        *(project.tool(name) for name in ("poetry", "uv", "pdm", "hatch")),
    ]
    return _requires_pytest(cast("object", named))


# Node.js: npm, pnpm, yarn, bun, with or without turbo. A script that would keep watching is made to run once.

_NODE_LOCK_FILES: tuple[tuple[str, str], ...] = (
    ("pnpm-lock.yaml", "pnpm"),
    ("pnpm-workspace.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)
_TEST_COMMANDS: Mapping[str, tuple[BuildSystem, str, str]] = {
    "pnpm": (BuildSystem.PNPM, "pnpm test", "pnpm --recursive run --if-present test"),
    "yarn": (BuildSystem.YARN, "yarn test", ""),
    "bun": (BuildSystem.BUN, "bun run test", "bun run --filter '*' test"),
    "npm": (BuildSystem.NPM, "npm test", "npm test --workspaces --if-present"),
}
"""The commands for the test script here and for those of all workspaces; yarn's depend on its version."""
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
"""Commands that install node_modules in a new worktree; without a lock file it is plain `install`."""
_RUN_ONCE_OPTIONS = ("run", "--run", "bench", "list", "related")
_COMMAND_SEPARATORS = frozenset("&|;\n")


def node(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    if "package.json" not in manifests:
        return None
    package = json_table(manifests["package.json"])
    manager = _node_manager(files, package)
    system = _TEST_COMMANDS[manager][0]
    return BuildCommands(
        system, _node_command(manager, package, files, manifests), _node_set_up(files, package)
    )


def _node_command(
    manager: str, package: Mapping[str, Any], files: Collection[str], manifests: Mapping[str, str]
) -> str:
    script = table(package, "scripts").get("test", "")
    # the placeholder written by `npm init` is no test
    if not isinstance(script, str) or not script.strip() or "no test specified" in script:
        return _without_script(manager, files, manifests)
    once = _run_once(script)
    # only npm needs -- before the arguments of the script
    dashes = ["--"] if once and manager == "npm" else []
    return " ".join([_TEST_COMMANDS[manager][1], *dashes, *once])


def _without_script(manager: str, files: Collection[str], manifests: Mapping[str, str]) -> str:
    # turbo runs the scripts of all packages; bun has a test runner of its own.
    if re.search(r'"(?:[^"\s]*#)?test"\s*:', manifests.get("turbo.json", "")):
        return _TURBO[manager]
    own = any(re.search(r"[._](?:test|spec)\.[cm]?[jt]sx?$", path) for path in files)
    return "bun test" if manager == "bun" and own else ""


def _node_set_up(files: Collection[str], package: Mapping[str, Any]) -> str:
    needs = ("dependencies", "devDependencies", "workspaces")
    locked = own_lock(files)
    if not locked and not any(package.get(name) for name in needs):
        return ""
    manager = _node_manager(files, package)
    return _INSTALL[manager] if locked else f"{manager} install"


def workspaces_command(files: Collection[str], manifests: Mapping[str, str]) -> str:
    """Return the command that runs the test scripts of all workspace members; empty if this is not a workspace."""
    package = json_table(manifests.get("package.json", ""))
    if not package.get("workspaces") and "pnpm-workspace.yaml" not in files:
        return ""
    return _TEST_COMMANDS[_node_manager(files, package)][2]


def own_lock(files: Collection[str]) -> str:
    """Return the package manager whose lock file is in this directory; empty if there is none."""
    return next((manager for file, manager in _NODE_LOCK_FILES if file in files), "")


LOCK_FILES = tuple(name for name, _ in _NODE_LOCK_FILES)


def _node_manager(files: Collection[str], package: Mapping[str, Any]) -> str:
    """Return the package manager by lock file, or else by the `packageManager` field."""
    named = own_lock(files) or str(package.get("packageManager", "")).partition("@")[0]
    return named if named in _TEST_COMMANDS else "npm"


def _run_once(script: str) -> list[str]:
    """Return the arguments that keep a script from watching. For other scripts CI=1, which the bot sets, is enough."""
    words = script.split()
    if _COMMAND_SEPARATORS & set(script):
        return []  # they would be appended to the last of several commands
    if "vitest" in words and not any(word in _RUN_ONCE_OPTIONS for word in words):
        return ["--run"]
    if "jest" in words:
        return [f"{word}=false" for word in words if word in ("--watch", "--watchAll")]
    return []


# Compiled languages: Cargo, Go, Maven, Gradle, .NET, CMake, Make.

GRADLE = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
SOLUTIONS = (".sln", ".slnx")
DOTNET_PROJECTS = (".csproj", ".fsproj", ".vbproj")
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which make looks for them."""
_CTEST = "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"


def cargo(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    if "Cargo.toml" not in manifests:
        return None
    text = manifests["Cargo.toml"]
    manifest = toml_table(text)
    if manifest is None:
        whole = re.search(r"^\[workspace\b", text, re.MULTILINE) is not None
    else:
        whole = "workspace" in manifest
    return BuildCommands(BuildSystem.CARGO, "cargo test --workspace" if whole else "cargo test")


def go(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    return BuildCommands(BuildSystem.GO, "go test ./...") if "go.mod" in manifests else None


def maven(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    if "pom.xml" not in manifests:
        return None
    return BuildCommands(BuildSystem.MAVEN, "./mvnw -B test" if "mvnw" in files else "mvn -B test")


def gradle(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    if not any(name in manifests for name in GRADLE):
        return None
    return BuildCommands(
        BuildSystem.GRADLE, "./gradlew test" if "gradlew" in files else "gradle test"
    )


def dotnet(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    # Only files in the directory itself: dotnet looks no deeper, and needs a name if there are several.
    kinds = (*SOLUTIONS, *DOTNET_PROJECTS)
    here = sorted(path for path in files if path.endswith(kinds) and "/" not in path)
    named = [name for name in here if is_printable_path(name)]
    if not here:
        return None
    if len(here) == 1:
        return BuildCommands(BuildSystem.DOTNET, "dotnet test")
    solutions = [name for name in named if name.endswith(SOLUTIONS)]
    tests = [name for name in named if "test" in name.lower()]
    chosen = next(iter(solutions or tests or named), "")
    return BuildCommands(BuildSystem.DOTNET, f"dotnet test {quote_path(chosen)}" if chosen else "")


def cmake(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    if "CMakeLists.txt" not in manifests:
        return None
    tested = re.search(
        r"^[ \t]*+(enable_testing|include\s*+\(\s*+CTest)",
        manifests["CMakeLists.txt"],
        re.MULTILINE | re.IGNORECASE,
    )
    return BuildCommands(BuildSystem.CMAKE, _CTEST if tested else "")


def make(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    text = next((manifests[name] for name in MAKEFILES if name in manifests), None)
    if text is None:
        return None
    target = re.search(r"^(test|check)[ \t]*+::?(?!=)", text, re.MULTILINE)
    return BuildCommands(BuildSystem.MAKE, f"make {target[1]}" if target else "")


# Ruby: RSpec, or a Rakefile with tests.


def ruby(files: Collection[str], manifests: Mapping[str, str]) -> BuildCommands | None:
    if "Gemfile" not in manifests and "Rakefile" not in manifests:
        return None
    bundled = "bundle exec " if "Gemfile" in manifests else ""
    set_up = "bundle install" if bundled else ""
    if any(path.startswith("spec/") and path.endswith("_spec.rb") for path in files):
        return BuildCommands(BuildSystem.RUBY, f"{bundled}rspec", set_up)
    tests = any(path.startswith("test/") and path.endswith(".rb") for path in files)
    runs = tests and "Rakefile" in manifests
    return BuildCommands(BuildSystem.RUBY, f"{bundled}rake test" if runs else "", set_up)


# Reading manifests. An unreadable one is ignored.


class BuildCommands(NamedTuple):
    system: BuildSystem
    command: str
    """The test command; empty if there is nothing to run."""
    set_up: str = ""
    """The command a new worktree needs first; empty if it needs none."""


BuildRule = Callable[[Collection[str], Mapping[str, str]], BuildCommands | None]
"""Takes all paths of a directory and the contents of its manifests; returns None if it is not this build system."""
_MAX_DOTS = 300
"""Per line. Parsing a dotted key takes time quadratic in its length, and no real manifest nests this deep."""


def json_table(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def toml_table(text: str) -> dict[str, Any] | None:
    """Parse TOML; None if that fails, for example because the text was truncated."""
    if any(line.count(".") > _MAX_DOTS for line in text.split("\n")):
        return None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        # a number of thousands of digits raises a ValueError of its own
        return None


def is_printable_path(path: str) -> bool:
    """Whether the path can be shown in a command that people read before it runs, without being ambiguous."""
    return path.isprintable() and "\ufffd" not in path


def quote_path(path: str) -> str:
    """Quote the path as one word of a command that is never taken for an option."""
    return quote(f"./{path}" if path[0] == "-" else path)


def table(parent: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = parent.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
