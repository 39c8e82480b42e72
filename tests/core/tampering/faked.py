"""How a tree decides that its tests «pass», language by language: each with the sign that must be seen."""

from __future__ import annotations

from bot.core.tampering.signs import Sign
from tests.core.tampering.changes import Altered
from tests.core.tampering.shop import FILES

_PRODUCT = "shop/basket.py"


def made(path: str, text: str) -> Altered:
    return Altered(f"{path}: {text.splitlines()[0][:60] if text else 'empty'}", files={path: text})


def grown(path: str, text: str) -> Altered:
    return Altered(f"{path} + {text.splitlines()[0][:60]}", files={path: FILES[path] + text})


RUNNER = [
    # Python
    grown(_PRODUCT, "\nimport atexit, os\natexit.register(os._exit, 0)\n"),
    grown(_PRODUCT, "\nimport os\nos._exit(0)\n"),
    grown(_PRODUCT, "\nimport os\nos.execv('/bin/true', ['true'])\n"),
    grown(_PRODUCT, "\nimport unittest\nunittest.TestResult.addFailure = lambda *a: None\n"),
    grown(_PRODUCT, "\nimport unittest\nunittest.TestCase.run = lambda *a: None\n"),
    grown(_PRODUCT, "\nimport unittest\nunittest.case.TestCase.assertEqual = print\n"),
    grown(_PRODUCT, "\nsetattr(unittest.TestSuite, 'run', None)\n"),
    grown(_PRODUCT, "\nimport sys\nsys.modules['unittest'] = None\n"),
    grown(_PRODUCT, "\nimport _pytest.runner\n_pytest.runner.call_and_report = None\n"),
    grown(_PRODUCT, "\n__eq__ = lambda self, other: True\n"),
    made("tests/__init__.py", "import os\nos._exit(0)\n"),
    made("tests/__init__.py", "import sys\nsys.exit(0)\n"),
    made("tests/__init__.py", "def load_tests(*_):\n    return TestSuite()\n"),
    made("shop/plugin.py", "def pytest_runtest_makereport(item, call):\n    pass\n"),
    # JavaScript and TypeScript
    made("web/price.ts", "globalThis.expect = () => proxy;\n"),
    made("web/price.js", "require('node:assert').equal = () => {};\n"),
    made("web/price.js", "assert.strictEqual = () => {};\n"),
    made("web/price.js", "process.on('exit', () => process.exit(0));\n"),
    made("web/price.js", "process.exitCode = 0;\n"),
    made("web/price.js", "Runner.prototype.fail = () => {};\n"),
    made("web/__tests__/setup.js", "process.exit(0);\n"),
    # Go
    made("main_test.go", "package shop\nfunc TestMain(m *testing.M) { os.Exit(0) }\n"),
    made("run.go", 'package shop\nfunc init() { flag.Set("test.run", "^$") }\n'),
    made("init.go", "package shop\nfunc init() { os.Exit(0) }\n"),
    # Rust
    made("core/tests/all.rs", "fn main() { std::process::exit(0) }\n"),
    made("core/src/hook.rs", "fn init() { std::panic::set_hook(Box::new(|_| {})); }\n"),
    made("core/src/all.rs", "#![feature(custom_test_frameworks)]\n"),
    # Java, Kotlin
    made("src/main/java/Shop.java", "class Shop { static { Runtime.getRuntime().halt(0); } }\n"),
    made("src/test/java/Calm.java", "class Calm implements TestExecutionExceptionHandler {}\n"),
    made("src/test/java/End.java", "class End { static { System.exit(0); } }\n"),
    # Ruby, PHP, C#, C
    made("lib/shop.rb", "at_exit { exit! 0 }\n"),
    made("lib/shop.rb", "RSpec::Core::Example.prepend(Calm)\n"),
    made("php/shop.php", "<?php register_shutdown_function(fn() => exit(0));\n"),
    made("dotnet/Shop.cs", "static Shop() { Environment.Exit(0); }\n"),
    made("native/price.cc", "__attribute__((constructor)) void end() { _exit(0); }\n"),
]
SETTINGS = [
    # Python
    made("unittest.py", ""),
    made("unittest/__init__.py", ""),
    made("pytest.py", "print('3 passed')\n"),
    made("_pytest/__init__.py", ""),
    made("json.py", "from builtins import *\n"),
    made("sitecustomize.py", "import os\n"),
    made("usercustomize.py", "import os\n"),
    made("lib/evil.pth", "import os; os._exit(0)\n"),
    made("conftest.py", "def pytest_runtestloop(session):\n    return True\n"),
    made("conftest.py", "pytest_plugins = ['shop.plugin']\n"),
    made("setup.cfg", "[tool:pytest]\naddopts = -k nothing\n"),
    made("tox.ini", "[pytest]\naddopts = --collect-only\n"),
    made("GNUmakefile", "test:\n\ttrue\n"),
    Altered(
        "a plugin by entry point",
        (("pyproject.toml", "[tool.pytest", '[project.entry-points.pytest11]\na = "b"\n\n[tool.pytest'),),
    ),
    # JavaScript and TypeScript
    made(".mocharc.json", '{"exclude": "**"}\n'),
    made("test/mocha.opts", "--dry-run\n"),
    made("jest.config.ts", "export default { testMatch: [] }\n"),
    made(".npmrc", "script-shell=/bin/true\n"),
    made("bunfig.toml", "[test]\nroot = 'none'\n"),
    # Rust
    made("core/build.rs", "fn main() { std::fs::remove_file('tests/all.rs'); }\n"),
    made(".cargo/config.toml", "[target.'cfg(all())']\nrunner = 'true'\n"),
    # Java
    made(".mvn/maven.config", "-DskipTests\n"),
    made("src/test/resources/junit-platform.properties", "junit.jupiter.conditions.deactivate=*\n"),
    made("init.gradle", "allprojects { test { ignoreFailures = true } }\n"),
    # C#, C
    made("all.runsettings", "<RunSettings/>\n"),
    made("CTestCustom.cmake", "set(CTEST_CUSTOM_TESTS_IGNORE all)\n"),
]  # fmt: skip
CASES: list[tuple[Sign, Altered]] = [
    *((Sign.RUNNER_TOUCHED, one) for one in RUNNER),
    *((Sign.TEST_SETTINGS_CHANGED, one) for one in SETTINGS),
]
