"""Which programs a command needs is read from it, and never by running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.commands.shell import program_problem

HERE = "/usr/bin:/bin"


@pytest.mark.parametrize(
    ("command", "lacking"),
    [
        ("sh -c x", ""),
        ("CI=1 nonsense run pytest", "`nonsense`"),
        ("(cd api && ./gradlew test) && (cd web && nonsense)", "`nonsense`"),
        ("cd api; ./gradlew test", ""),
        ("./gradlew test", "no gradlew in"),
        ("(cd api && ./mvnw test)", "api/mvnw is not executable"),
        ("test -x a || nonsense", "`nonsense`"),
        ("if true; then nonsense; fi", "`nonsense`"),
        ("echo a | nonsense", "`nonsense`"),
        ("$RUNNER test", ""),
        ("sh 'unclosed", "no command of a shell"),
        ("env A=1 sh", ""),
    ],
)
def test_what_lacks_is_named(command: str, lacking: str, tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    for name, mode in (("gradlew", 0o755), ("mvnw", 0o644)):
        (tmp_path / "api" / name).touch(mode)
    said = program_problem(command, str(tmp_path), HERE)
    assert lacking in said
    assert bool(said) == bool(lacking)
