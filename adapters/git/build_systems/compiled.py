"""Projects of languages that are compiled: Cargo, Go, Maven, Gradle, .NET, CMake, Make."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from adapters.git.build_systems.reading import Found, path_word, sayable, toml_table
from bot.domain.world import BuildSystem

GRADLE = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
SOLUTIONS = (".sln", ".slnx")
DOTNET_PROJECTS = (".csproj", ".fsproj", ".vbproj")
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which make looks for them."""
_CTEST = "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"


def cargo(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if "Cargo.toml" not in manifests:
        return None
    text = manifests["Cargo.toml"]
    manifest = toml_table(text)
    if manifest is None:
        whole = re.search(r"^\[workspace\b", text, re.MULTILINE) is not None
    else:
        whole = "workspace" in manifest
    return Found(BuildSystem.CARGO, "cargo test --workspace" if whole else "cargo test")


def go(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    return Found(BuildSystem.GO, "go test ./...") if "go.mod" in manifests else None


def maven(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if "pom.xml" not in manifests:
        return None
    return Found(BuildSystem.MAVEN, "./mvnw -B test" if "mvnw" in files else "mvn -B test")


def gradle(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if not any(name in manifests for name in GRADLE):
        return None
    return Found(BuildSystem.GRADLE, "./gradlew test" if "gradlew" in files else "gradle test")


def dotnet(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    """Only what lies in the directory itself: dotnet looks no deeper, and wants a name where there are several."""
    kinds = (*SOLUTIONS, *DOTNET_PROJECTS)
    here = sorted(path for path in files if path.endswith(kinds) and "/" not in path)
    named = [name for name in here if sayable(name)]
    if not here:
        return None
    if len(here) == 1:
        return Found(BuildSystem.DOTNET, "dotnet test")
    solutions = [name for name in named if name.endswith(SOLUTIONS)]
    tests = [name for name in named if "test" in name.lower()]
    chosen = next(iter(solutions or tests or named), "")
    return Found(BuildSystem.DOTNET, f"dotnet test {path_word(chosen)}" if chosen else "")


def cmake(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if "CMakeLists.txt" not in manifests:
        return None
    tested = re.search(
        r"^[ \t]*+(enable_testing|include\s*+\(\s*+CTest)",
        manifests["CMakeLists.txt"],
        re.MULTILINE | re.IGNORECASE,
    )
    return Found(BuildSystem.CMAKE, _CTEST if tested else "")


def make(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    text = next((manifests[name] for name in MAKEFILES if name in manifests), None)
    if text is None:
        return None
    target = re.search(r"^(test|check)[ \t]*+::?(?!=)", text, re.MULTILINE)
    return Found(BuildSystem.MAKE, f"make {target[1]}" if target else "")
