"""Code that ends, patches or replaces what runs the tests, wherever it stands: in a test, in what helps them, or in the product."""

from __future__ import annotations

import re
import sys
from pathlib import PurePosixPath

from bot.domain.tampering.languages import is_of_tests
from bot.domain.tampering.reading import Change

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
"""What any program may do, and tests or what they load may not."""
_COMMENT = ("# ", "//", "*", "/*")
"""How a line begins that is nothing else; Rust has attributes that begin with «#»."""
_PLACES = frozenset(
    ("unittest", "pytest", "_pytest", "pluggy", "iniconfig", "sitecustomize", "usercustomize")
)


def runner_touched(change: Change) -> str:
    """The first added line that reaches into what runs the tests; empty: there is none."""
    pattern = _SUFFIXES.get(PurePosixPath(change.path).suffix.lower())
    if pattern is None:
        return ""
    of_tests = is_of_tests(change.path)
    gone = {line.text.strip() for line in change.touched if line.mark == "-"}
    for line in change.touched:
        text = line.text.strip()
        if line.mark != "+" or text in gone or text.startswith(_COMMENT):
            continue
        if pattern.search(text) or (of_tests and _ENDS_OF_TESTS.search(text)):
            return text
    return ""


def takes_a_place(path: str) -> bool:
    """Whether Python, started in the tree's top folder, takes the file for a module of its own or of a test runner."""
    if path.endswith(".pth"):
        return True
    parts = PurePosixPath(path).parts
    name = parts[0].removesuffix(".py")
    if len(parts) > 1 and parts[-1] not in ("__init__.py", "__main__.py"):
        return False
    if not path.endswith(".py") or len(parts) > 2:
        return False
    return name in _PLACES or (name in sys.stdlib_module_names and name not in ("test", "this"))
