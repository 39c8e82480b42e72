"""Which build systems a repository uses, and how its tests are run. Its rule: a command is named only where there is something to run."""

from __future__ import annotations

from adapters.git.build_systems.directory import MANIFESTS, recognised
from adapters.git.build_systems.projects import (
    command_of_all,
    project_manifests,
    projects_of,
    set_up_of_all,
)
from adapters.git.build_systems.python import ENVIRONMENTS
from adapters.git.build_systems.tests import is_test

__all__ = [
    "ENVIRONMENTS",
    "MANIFESTS",
    "command_of_all",
    "is_test",
    "project_manifests",
    "projects_of",
    "recognised",
    "set_up_of_all",
]
