"""Projects of Python: pytest, tox, nox, unittest. The interpreter of the tests is `python3`, whatever installs the project."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from adapters.git.build_systems.reading import Found, table, toml_table
from bot.domain.world import BuildSystem

REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements-test.txt", "Pipfile")
MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", *REQUIREMENTS)
_UNITTEST = "python3 -m unittest discover"


def python(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    tests = [path for path in files if path.endswith(".py") and _is_test(path)]
    if not tests and not any(name in manifests for name in (*MARKS, "pytest.ini")):
        return None
    return BuildSystem.PYTHON, _command(files, manifests, tests)


def _is_test(path: str) -> bool:
    name = path[path.rfind("/") + 1 :]
    return name.startswith("test_") or name.endswith("_test.py")


def _command(files: Collection[str], manifests: Mapping[str, str], tests: Collection[str]) -> str:
    if _uses_pytest(files, manifests):
        return "python3 -m pytest"
    project = toml_table(manifests.get("pyproject.toml", "")) or {}
    if "tox.ini" in manifests or "tox" in table(project, "tool"):
        return "tox"
    if "noxfile.py" in manifests:
        return "nox"
    if any(path.startswith("tests/") for path in tests):
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
    if any(path.endswith("conftest.py") and path[:-11][-1:] in ("", "/") for path in files):
        return True
    required = "\n".join(manifests.get(name, "") for name in (*REQUIREMENTS, "setup.cfg"))
    # blanks alone: a pattern that runs over lines takes minutes for a file of empty ones, and stops the whole bot
    if re.search(r"^[ \t]*pytest\b", required, re.MULTILINE):
        return True
    return _pyproject_uses_pytest(manifests.get("pyproject.toml", ""))


def _pyproject_uses_pytest(text: str) -> bool:
    project = toml_table(text)
    if project is None:
        return "pytest" in text
    if "pytest" in table(project, "tool"):
        return True
    named = [
        table(project, "project").get("dependencies"),
        table(project, "project").get("optional-dependencies"),
        table(project, "dependency-groups"),
        table(project, "tool").get("poetry"),
        table(project, "tool").get("uv"),
    ]
    return re.search(r"['\"]pytest\b", repr(named)) is not None
