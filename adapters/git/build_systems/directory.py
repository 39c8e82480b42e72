"""Which build system one directory uses. Its rule: what can be tested wins over what comes first."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adapters.git.build_systems.compiled import (
    GRADLE,
    MAKEFILES,
    cargo,
    cmake,
    dotnet,
    go,
    gradle,
    make,
    maven,
)
from adapters.git.build_systems.node import node
from adapters.git.build_systems.python import MARKS, python
from adapters.git.build_systems.reading import Found, Rule
from adapters.git.build_systems.ruby import ruby
from bot.domain.world import BuildSystem

MANIFESTS: tuple[str, ...] = (
    *("Cargo.toml", "package.json", "turbo.json"),
    *(*MARKS, "pytest.ini"),
    *("go.mod", "pom.xml", *GRADLE),
    *("CMakeLists.txt", *MAKEFILES),
    *("Gemfile", "Rakefile"),
)
"""What must be read of a directory for an answer."""

_RULES: tuple[Rule, ...] = (cargo, node, python, go, maven, gradle, dotnet, ruby, cmake, make)


def recognised(files: Collection[str], manifests: Mapping[str, str]) -> Found:
    """The build system and the test command; `files` are all paths, `manifests` the contents of those in MANIFESTS.

    The first build system whose tests can be run wins over an earlier one without tests: a Python project with a
    package.json for its formatter is a Python project.
    """
    answers = [answer for rule in _RULES if (answer := rule(files, manifests)) is not None]
    nothing = Found(BuildSystem.OTHER, "")
    tested = (answer for answer in answers if answer.command)
    return next(tested, answers[0] if answers else nothing)
