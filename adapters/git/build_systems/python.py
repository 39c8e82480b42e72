"""Projects of Python. What its lock file or its configuration names runs the tests: uv, poetry, pdm, pipenv, hatch, a `.venv`, tox, nox; `python3` where nothing is named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from adapters.git.build_systems.reading import Found, path_word, table, toml_table
from bot.domain.world import BuildSystem

REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements-test.txt", "Pipfile")
MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", *REQUIREMENTS)
ENVIRONMENTS = (".venv/bin/python", "venv/bin/python")
"""Interpreters that people keep beside their code; git ignores them, so they are looked for in the checkout."""
UV_LOCK = "uv.lock"
"""It lies at the top of a workspace, and holds for all members."""

_LOCK_FILES = (
    (UV_LOCK, "uv"),
    ("poetry.lock", "poetry"),
    ("pdm.lock", "pdm"),
    ("Pipfile.lock", "pipenv"),
    ("Pipfile", "pipenv"),
)
_SUITES = ("tests", "test")
"""What sessions and scripts that run the tests are called."""
_DEFAULT_GROUPS = ("dev",)
"""Dependency groups that uv, pdm and poetry install without being told."""


@dataclass(frozen=True)
class _Project:
    """What is known of one directory."""

    files: Collection[str]
    manifests: Mapping[str, str]
    tests: Collection[str]
    pyproject: Mapping[str, Any]

    def tool(self, name: str) -> dict[str, Any]:
        return table(table(self.pyproject, "tool"), name)

    def text(self, name: str) -> str:
        return self.manifests.get(name, "")


def python(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    tests = [path for path in files if path.endswith(".py") and _is_test(path)]
    if not tests and not any(name in manifests for name in (*MARKS, "pytest.ini")):
        return None
    pyproject = toml_table(manifests.get("pyproject.toml", "")) or {}
    project = _Project(files, manifests, tests, pyproject)
    command = _hatch(project) or _run(project)
    return Found(BuildSystem.PYTHON, command, _set_up(project, command))


def _is_test(path: str) -> bool:
    name = path[path.rfind("/") + 1 :]
    return name.startswith("test_") or name.endswith("_test.py")


def _run(project: _Project) -> str:
    """tox and nox make the environment themselves, so they win over an interpreter that nobody has named."""
    interpreter, module = _interpreter(project), _module(project)
    if module and interpreter:
        return f"{interpreter} -m {module}"
    return _tox_or_nox(project) or (f"python3 -m {module}" if module else "")


def _interpreter(project: _Project) -> str:
    """How the project's own Python is started; empty: nothing says."""
    match _manager(project):
        case "uv":
            return " ".join(["uv run", *_uv_options(project), "python"])
        case "":
            return next((path_word(one) for one in ENVIRONMENTS if one in project.files), "")
        case manager:
            return f"{manager} run python"


def _manager(project: _Project) -> str:
    """By lock file; by its table in pyproject.toml where there is none. pdm's table is often that of its build backend alone."""
    locked = next((manager for file, manager in _LOCK_FILES if file in project.files), "")
    if locked:
        return locked
    if "uv" in table(project.pyproject, "tool"):
        return "uv"
    if "poetry" in table(project.pyproject, "tool"):
        return "poetry"
    pdm = project.tool("pdm")
    return "pdm" if "dev-dependencies" in pdm or "scripts" in pdm else ""


def _uv_options(project: _Project) -> Iterator[str]:
    """What has to be installed besides the usual, so that pytest is there."""
    if not _uses_pytest(project):
        return
    where = _where_pytest_is_required(project.pyproject)
    if where is None:
        yield "--with pytest"
    elif where:
        yield where


def _where_pytest_is_required(pyproject: Mapping[str, Any]) -> str | None:
    """The option that has it installed; empty: it always is. None: nobody requires it."""
    project = table(pyproject, "project")
    if _names_pytest(project.get("dependencies")):
        return ""
    groups = table(pyproject, "dependency-groups")
    if any(_names_pytest(groups.get(name)) for name in _DEFAULT_GROUPS):
        return ""
    if _names_pytest(table(table(pyproject, "tool"), "uv").get("dev-dependencies")):
        return ""
    for option, named in (
        ("--group", groups),
        ("--extra", table(project, "optional-dependencies")),
    ):
        for name, required in named.items():
            if _names_pytest(required) and re.fullmatch(r"[A-Za-z0-9._-]+", name):
                return f"{option} {name}"
    return None


def _names_pytest(required: object) -> bool:
    return re.search(r"['\"]pytest\b", repr(required)) is not None


def _module(project: _Project) -> str:
    """What Python is told to run; empty: there are no tests that are known."""
    if _uses_pytest(project):
        return "pytest"
    if any(path.startswith("tests/") for path in project.tests):
        # -t makes the top directory importable, but then `tests` must be a package
        top = " -t ." if "tests/__init__.py" in project.files else ""
        return f"unittest discover -s tests{top}"
    if project.tests and not _tox_or_nox(project):
        return "unittest discover"
    return ""


def _tox_or_nox(project: _Project) -> str:
    configured = re.search(r"^\[(?:tox|testenv)\b", project.text("tox.ini"), re.MULTILINE)
    if configured or "tox" in table(project.pyproject, "tool"):
        return "tox"
    if "noxfile.py" not in project.manifests:
        return ""
    sessions = re.findall(r"^def (\w+)", project.text("noxfile.py"), re.MULTILINE)
    named = next((name for name in _SUITES if name in sessions), "")
    return f"nox -s {named}" if named else "nox"


def _hatch(project: _Project) -> str:
    """Only where environments of it are configured: as a build backend it stands in many projects that use something else."""
    environments = table(project.tool("hatch"), "envs")
    if not environments or _manager(project):
        return ""
    for name in ("default", *_SUITES):
        scripts = table(table(environments, name), "scripts")
        script = next((one for one in (*_SUITES, "run") if one in scripts), "")
        if script:
            return f"hatch run {script}" if name == "default" else f"hatch run {name}:{script}"
    return "hatch test" if _uses_pytest(project) else ""


def _set_up(project: _Project, command: str) -> str:
    """What makes the environment in a new worktree; empty where the tests' own command does."""
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


def _environment(project: _Project, interpreter: str) -> str:
    folder = interpreter.partition("/")[0]
    parts = [f"-r {name}" for name in REQUIREMENTS if name in project.manifests]
    if "pyproject.toml" in project.manifests or "setup.py" in project.manifests:
        where = (_where_pytest_is_required(project.pyproject) or "").split()
        extra, group = where[:1] == ["--extra"], where[:1] == ["--group"]
        parts.append(f"-e '.[{where[1]}]'" if extra else "-e .")
        parts += [f"--group {where[1]}"] if group else []
    install = f" && {folder}/bin/pip install {' '.join(parts)}" if parts else ""
    return f"python3 -m venv {folder}{install}"


def _uses_pytest(project: _Project) -> bool:
    """Configured, required, or plainly used."""
    if "pytest.ini" in project.manifests or "[tool:pytest]" in project.text("setup.cfg"):
        return True
    if re.search(r"^\[pytest\]", project.text("tox.ini"), re.MULTILINE):
        return True
    if any(path.endswith("conftest.py") and path[:-11][-1:] in ("", "/") for path in project.files):
        return True
    required = "\n".join(project.text(name) for name in (*REQUIREMENTS, "setup.cfg"))
    # blanks alone: a pattern that runs over lines takes minutes for a file of empty ones, and stops the whole bot
    if re.search(r"^[ \t]*pytest\b", required, re.MULTILINE):
        return True
    return _pyproject_uses_pytest(project)


def _pyproject_uses_pytest(project: _Project) -> bool:
    text = project.text("pyproject.toml")
    if not project.pyproject:
        return "pytest" in text  # it cannot be read, for example because it was cut
    if "pytest" in table(project.pyproject, "tool"):
        return True
    metadata = table(project.pyproject, "project")
    named: list[object] = [
        metadata.get("dependencies"),
        metadata.get("optional-dependencies"),
        table(project.pyproject, "dependency-groups"),
        *(project.tool(name) for name in ("poetry", "uv", "pdm", "hatch")),
    ]
    return _names_pytest(cast("object", named))
