"""Finds changes to what decides whether tests count:

CI, settings of test runners, and code that ends, patches or replaces a runner.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from bot.core.diffs import FileChange, Hunk
from bot.core.tampering.languages import belongs_to_tests

# CI pipelines and the settings of test runners.

_CI = re.compile(
    r"(?:.*/)?\.github/(?:workflows|actions)/.+|(?:.*/)?\.gitlab-ci(?:\.[\w-]+)?\.ya?ml|(?:.*/)?\.gitlab/.+\.ya?ml"
    r"|(?:.*/)?Jenkinsfile[^/]*|(?:.*/)?\.?azure-pipelines(?:[^/]*\.ya?ml|/.+)|\.circleci/.+|\.ci/.+|\.buildkite/.+"
    r"|\.woodpecker(?:/.+|\.ya?ml)|\.teamcity/.+|\.(?:travis|drone|cirrus|semaphore)\.ya?ml|\.semaphore/.+|\.?appveyor\.ya?ml"
    r"|bitbucket-pipelines\.ya?ml|cloudbuild\.ya?ml|buildspec\.ya?ml"
)
_SETTINGS = re.compile(
    r"\.?pytest\.(?:ini|toml)|tox\.(?:ini|toml)|noxfile\.py|\.coveragerc|\.?codecov\.ya?ml|(?:jest|vitest|karma|playwright|cypress|ava|wdio)"
    r"\.(?:conf|config|workspace)\.\w+|vitest\.workspace\.\w+|\.mocharc(?:\.\w+)?|\.nycrc(?:\.\w+)?|\.c8rc(?:\.\w+)?|phpunit\.xml(?:\.dist)?"
    r"|\.rspec|nextest\.toml|\.taprc|testng\.xml|mocha\.opts|junit-platform\.properties|build\.rs|nose2\.cfg|unittest\.cfg"
    r"|xunit\.runner\.json|.*\.runsettings|Directory\.(?:Build|Test)\.(?:props|targets)|maven\.config|jvm\.config|init\.gradle(?:\.kts)?"
    r"|CTest(?:Custom|TestFile|Config)\.cmake|bunfig\.toml|\.npmrc|\.yarnrc(?:\.yml)?|gradlew|mvnw|\.envrc"
)
_SECTION = re.compile(r"^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_TEST_SECTION = re.compile(
    r"(?:tool[.:])?(?:pytest\b.*|coverage\b.*|tox\b.*|nox\b.*|tool:pytest|nosetests|unittest|profile\.test|test)|.*\bpytest(?:11)?\b.*"
)
_INI_KEYS = re.compile(
    r"^\s*\[?(?:project\.entry-points\.)?\W*pytest11\b|^\s*(?:addopts|testpaths|filterwarnings|xfail_strict|python_(?:files|classes|functions)|norecursedirs"
    r"|collect_ignore\w*|fail_under|asyncio_mode)\s*=|--(?:ignore|deselect|cov-fail-under|maxfail|reruns)\b"
    r"|\btest\s*=\s*false|\bharness\s*=\s*false"
)
_PACKAGE = re.compile(
    r"^\s*\"(?:(?:pre|post)?test(?::[^\"]*)?|jest|vitest|mocha|ava|nyc|c8|coverageThreshold|testMatch|testRegex"
    r"|testPathIgnorePatterns|testEnvironment)\"\s*:"
)
_TARGET = re.compile(r"^([A-Za-z0-9_./%-]+(?:\s+[A-Za-z0-9_./%-]+)*)\s*::?(?!=)")
_TEST_TARGET = re.compile(r"(?:.*[-_/])?(?:tests?|check|coverage|ci|spec|verify)(?:[-_/].*)?")
_TEST_VARIABLE = re.compile(r"^\s*(?:export\s+)?\w*(?:PYTEST|TEST)\w*\s*[:?+]?=")
_BUILD = re.compile(
    r"skipTests|maven\.test\.skip|testFailureIgnore|ignoreFailures|failIfNoTests|useJUnitPlatform|excludeTags|<skip>true"
    r"|<(?:includes?|excludes?|groups|forkedProcessExitTimeout\w*)>|\bsurefire|\bfailsafe|\btest\.(?:enabled|onlyIf)\b|\bonlyIf\b.*\bfalse"
    r"|\btasks?\.(?:named\()?[\"'(]*test\b|\bexcludeTestsMatching\b|<excludedGroups>|VSTest|RunSettings"
)
_CONFTEST = re.compile(
    r"\bpytest_(?:runtestloop|cmdline_\w+|load_initial_conftests|unconfigure|runtest_logreport)\b|\bpytest_plugins\b|"
    r"\bcollect_ignore|\bpytest_(?:ignore_collect|collection_modifyitems|collection_finish|deselected|pyfunc_call"
    r"|runtest_(?:makereport|call|protocol)|sessionfinish|report_teststatus|itemcollected)\b|\bos\._exit\(|\bexitstatus\s*="
)
_CMAKE = re.compile(
    r"\b(?:WILL_FAIL|DISABLED)\b|^\s*#?\s*(?:enable_testing|add_test|gtest_discover_tests|set_tests_properties)\("
)
_VITE = re.compile(r"\b(?:test|coverage|thresholds?|exclude|passWithNoTests|bail|retry)\s*:")
_SETTINGS_COMMENT = ("#", ";", "//")
_HOOKS = frozenset((".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml"))
_HOOK_FOLDERS = frozenset((".husky", ".githooks", "githooks", ".git"))
_LOCK = re.compile(
    r"(?:package|packages|npm|yarn|pnpm|bun|deno|uv|poetry|pdm|pixi|pipfile|cargo|composer|gemfile|gradle|mix|flake"
    r"|podfile|pubspec|conan|chart)[.-](?:lock|lockb|lockfile|lock\.json|lock\.ya?ml|shrinkwrap\.json)"
    r"|go\.sum|package\.resolved|pylock(?:\.[\w-]+)?\.toml"
)


def is_ci(path: str) -> bool:
    return _CI.fullmatch(path) is not None


def reaches_further(path: str) -> bool:
    """Whether the file decides what runs elsewhere, with more rights than an agent has:

    CI, git hooks, installed packages.
    """
    lower = PurePosixPath(path.lower())
    hook = lower.name in _HOOKS or any(part in _HOOK_FOLDERS for part in lower.parts[:-1])
    return is_ci(path) or hook or ".github" in lower.parts or is_lock(path)


def is_lock(path: str) -> bool:
    return _LOCK.fullmatch(PurePosixPath(path.lower()).name) is not None


def is_test_settings(path: str) -> bool:
    """Whether the whole file is settings of a test runner."""
    lower = PurePosixPath(path)
    cargo = lower.parts[-2:-1] == (".cargo",) and lower.stem == "config"
    return cargo or _SETTINGS.fullmatch(lower.name) is not None


def settings_touched(change: FileChange) -> str:
    """Return the changed line that affects how tests are run, for a file that contains other things, too; empty if
    there is none.
    """
    name = PurePosixPath(change.path).name
    if change.kind == "new" and shadows_a_module(change.path):
        return change.path
    if change.kind == "new" and name in ("GNUmakefile", "makefile"):
        return f"{name} is read instead of Makefile"
    if change.kind == "new" and name not in ("conftest.py", "setup.cfg"):
        return ""  # a new project's file comes with its settings
    return next(_touched(change, name), "")


def _touched(change: FileChange, name: str) -> Iterator[str]:
    match name:
        case "pyproject.toml" | "setup.cfg" | "Cargo.toml":
            yield from (line for hunk in change.hunks for line in _in_sections(hunk))
        case "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile":
            yield from (line for hunk in change.hunks for line in _in_targets(hunk))
        case "package.json":
            yield from _lines(change, _PACKAGE, trailing=",")
        case "conftest.py":
            yield from _lines(change, _CONFTEST)
        case _ if re.fullmatch(r"pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|.*\.csproj", name):
            yield from _lines(change, _BUILD)
        case "CMakeLists.txt":
            yield from _lines(change, _CMAKE)
        case _ if re.fullmatch(r"vite\.config\.\w+", name):
            yield from _lines(change, _VITE)
        case _:
            return


def _lines(change: FileChange, pattern: re.Pattern[str], trailing: str = "") -> Iterator[str]:
    """Yield matching lines that are on only one side of the patch."""
    sides: dict[str, dict[str, None]] = {"-": {}, "+": {}}
    for line in change.touched:
        if pattern.search(line.text) and not line.text.lstrip().startswith(_SETTINGS_COMMENT):
            sides[line.mark][line.text.strip().rstrip(trailing or " ")] = None
    for mark, other in (("+", "-"), ("-", "+")):
        yield from (text for text in sides[mark] if text not in sides[other])


def _in_sections(hunk: Hunk) -> Iterator[str]:
    """Yield changed lines of a section about tests. If the section's header is not visible, the key decides."""
    section, seen = "", bool(_INI_KEYS.search(f"{hunk.header} ="))
    for line in hunk.lines:
        found = _SECTION.match(line.text)
        if found:
            section, seen = found[1].strip("\"' "), False
        if (
            line.mark == " "
            or not line.text.strip()
            or line.text.lstrip().startswith(_SETTINGS_COMMENT)
        ):
            continue
        about = bool(section) and _TEST_SECTION.fullmatch(section) is not None
        if about or (not section and (seen or _INI_KEYS.search(line.text))):
            yield line.text.strip()


def _in_targets(hunk: Hunk) -> Iterator[str]:
    """Yield changed lines of a make target that runs tests."""
    target = _TARGET.match(hunk.header)
    names = target[1].split() if target else []
    for line in hunk.lines:
        found = _TARGET.match(line.text)
        if found:
            names = found[1].split()
        if (
            line.mark == " "
            or not line.text.strip()
            or line.text.lstrip().startswith(_SETTINGS_COMMENT)
        ):
            continue
        recipe = found is not None or line.text[:1] in ("\t", " ")
        if _TEST_VARIABLE.match(line.text) or (
            recipe and any(_TEST_TARGET.fullmatch(name) for name in names)
        ):
            yield line.text.strip()


# Code that ends, patches or replaces the test runner, wherever it is: in a test, in a helper, or in the product.

_PYTHON = re.compile(
    r"\bos\._exit\b|\bos\.(?:abort|killpg|kill)\(\s*os\.getp|\bos\.exec[lv]p?e?\("
    r"|\b(?:unittest(?:\.\w+)?|TestCase|Test(?:Result|Suite|Program|Loader)|TextTest(?:Result|Runner))\.\w+\s*=(?!=)"
    r"|\b(?:_pytest|pytest|pluggy)(?:\.\w+)+\s*=(?!=)|\bsetattr\(\s*(?:unittest|_?pytest|pluggy|builtins)\b"
    r"|\bdef load_tests\(|\bload_tests\s*=|\bsys\.modules\[\s*['\"](?:unittest|_?pytest|pluggy)"
    r"|\bdef pytest_(?:runtest_\w+|runtestloop|cmdline_\w+|load_initial_conftests|unconfigure|sessionfinish|pyfunc_call"
    r"|collection_\w+|deselected|ignore_collect|report_teststatus|itemcollected|pycollect_\w+)\("
    r"|\bbuiltins\.(?:AssertionError|exit|__import__)\s*=(?!=)|\b__eq__\s*=\s*lambda\b.*\bTrue\b"
)
_JAVASCRIPT = re.compile(
    r"\b(?:globalThis|global|window)\.(?:expect|test|it|describe|assert|suite)\s*=(?![=>])"
    r"|\bassert(?:\.strict)?\.\w+\s*=(?![=>])|\brequire\(\s*['\"](?:node:)?(?:test|assert)['\"]\s*\)\.\w+\s*=(?![=>])"
    r"|\bprocess\.(?:exit|reallyExit)\s*=(?![=>])|\bprocess\.exitCode\s*=\s*0|\bprocess\.reallyExit\("
    r"|\bprocess\.on\(\s*['\"](?:beforeE|e)xit['\"].*\bexit"
    r"|\b(?:Mocha|Runner|Suite|Test|Runnable)\.prototype\.\w+\s*=(?!=)|\bjest\.mock\(\s*['\"](?:expect|@jest/)"
)
_GO = re.compile(r"\bfunc TestMain\(|\bflag\.Set\(\s*\"test\.|\bfunc init\(\)\s*\{.*os\.Exit\(0\)")
_RUST = re.compile(
    r"#!?\[cfg\(not\(test\)\)\].*\bmod\b|\bctor\b.*\bexit\(0\)|\bpanic::(?:set_hook|take_hook)\("
    r"|#!\[(?:feature\(custom_test_frameworks|test_runner|reexport_test)"
)
_JVM = re.compile(
    r"\bRuntime\.getRuntime\(\)\.halt\(|\.addShutdownHook\(.*\bhalt\("
    r"|\bimplements\s+(?:\w+,\s*)*(?:TestExecutionExceptionHandler|ExecutionCondition|InvocationInterceptor|TestRule)\b"
)
_RUBY = re.compile(
    r"\bexit!|\bat_exit\b.*\bexit\b|\b(?:RSpec::Core|RSpec::Expectations|Minitest|Test::Unit)[\w:]*\.(?:prepend|class_eval|send)\b"
    r"|\b(?:filter_run_excluding|filter_run_including|filter_run_when_matching)\b|\bmodule Minitest::Assertions\b"
)
_PHP = re.compile(r"\bregister_shutdown_function\(.*\bexit\b")
_C = re.compile(r"\b(?:_exit|_Exit|quick_exit)\(\s*(?:0|EXIT_SUCCESS)\s*\)")
_CSHARP = re.compile(r"\bEnvironment\.(?:Exit\(\s*0|ExitCode\s*=\s*0)")
_SUFFIXES = {
    **dict.fromkeys((".py", ".pyi"), _PYTHON),
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"), _JAVASCRIPT),
    ".go": _GO,
    ".rs": _RUST,
    **dict.fromkeys((".java", ".kt", ".groovy", ".scala"), _JVM),
    ".rb": _RUBY,
    ".php": _PHP,
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"), _C),
    ".cs": _CSHARP,
}
_ENDS_OF_TESTS = re.compile(
    r"\b(?:sys\.exit|process\.exit|os\.Exit|process::exit|System\.exit|exit)\(\s*0?\s*\)"
)
"""Allowed in a program, but not in tests or what they load."""
_CODE_COMMENT = ("# ", "//", "*", "/*")
"""Beginnings of a comment line. Only "# " with a blank: Rust's attributes begin with «#», too."""
_SHADOWED_MODULES = frozenset(
    ("unittest", "pytest", "_pytest", "pluggy", "iniconfig", "sitecustomize", "usercustomize")
)


def runner_touched(change: FileChange) -> str:
    """Return the first added line that interferes with the test runner; empty if there is none."""
    pattern = _SUFFIXES.get(PurePosixPath(change.path).suffix.lower())
    if pattern is None:
        return ""
    of_tests = belongs_to_tests(change.path)
    gone = {line.text.strip() for line in change.touched if line.mark == "-"}
    for line in change.touched:
        text = line.text.strip()
        if line.mark != "+" or text in gone or text.startswith(_CODE_COMMENT):
            continue
        if pattern.search(text) or (of_tests and _ENDS_OF_TESTS.search(text)):
            return text
    return ""


def shadows_a_module(path: str) -> bool:
    """Whether Python, started in the top folder, would import this file instead of a standard module or a part of a
    test runner.
    """
    if path.endswith(".pth"):
        return True
    parts = PurePosixPath(path).parts
    name = parts[0].removesuffix(".py")
    if len(parts) > 1 and parts[-1] not in ("__init__.py", "__main__.py"):
        return False
    if not path.endswith(".py") or len(parts) > 2:
        return False
    return name in _SHADOWED_MODULES or (
        name in sys.stdlib_module_names and name not in ("test", "this")
    )
