"""Which files hold tests, by their names alone."""

from __future__ import annotations

import re

_NAMED = re.compile(
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
_FOLDERS = ("__tests__", "tests", "test")
"""Of the languages whose tests have no name of their own."""
_UNNAMED = (".js", ".ts", ".rs", ".rb", ".c", ".cc", ".cpp")


def is_test(path: str) -> bool:
    if not any(hint in path for hint in _HINTS):
        return False  # nearly all files, at the least cost
    folder, _, name = path.rpartition("/")
    if _NAMED.fullmatch(name):
        return True
    return name.endswith(_UNNAMED) and any(part in _FOLDERS for part in folder.split("/"))
