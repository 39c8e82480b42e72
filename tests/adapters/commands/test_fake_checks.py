"""Ways in which a tree can make its tests «pass», each tried with the real runner, and what the report shows of it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.commands.shell import ShellCommands
from bot.core.checks import compare
from bot.core.runs import Executed

pytestmark = pytest.mark.covers("O-X18")

PYTHON_TREE = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "tests/__init__.py": "",
    "tests/test_shop.py": """
import unittest
from shop import total

class TotalTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(total([1, 2]), 3)

    def test_nothing_is_zero(self):
        self.assertEqual(total([]), 0)
""",
}
PYTEST_TREE = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "test_shop.py": """
import pytest
from shop import total

@pytest.mark.parametrize("prices, wanted", [([1, 2], 3), ([5], 5)])
def test_adds(prices, wanted):
    assert total(prices) == wanted

def test_nothing_is_zero():
    assert total([]) == 0
""",
}
NODE_TREE = {
    "shop.js": "exports.total = (prices) => prices.reduce((a, b) => a + b, 0);\n",
    "shop.test.js": """
const { test } = require('node:test');
const assert = require('node:assert');
const { total } = require('./shop.js');
test('adds', () => assert.equal(total([1, 2]), 3));
test('nothing is zero', () => assert.equal(total([]), 0));
""",
    "package.json": '{"scripts": {"test": "node --test"}}\n',
}
BROKEN = {"shop.py": "def total(prices):\n    return 7\n", "shop.js": "exports.total = () => 7;\n"}
"""The product, with a fault that every test notices."""
UNITTEST = f"{sys.executable} -m unittest discover -s tests -t ."
PYTEST = f"{sys.executable} -m pytest -q"
NODE = "npm test"


@dataclass(frozen=True)
class Way:
    """What is done to a tree whose product is broken."""

    says: str
    files: Mapping[str, str]
    shows: str = ""
    """Words of the sign; none: the report says that tests fail, whatever the exit code is."""

    def __str__(self) -> str:
        return self.says


def product(more: str) -> dict[str, str]:
    return {"shop.py": more + "\n" + BROKEN["shop.py"]}


BY_UNITTEST = [
    Way("a module that takes the runner's place", {"unittest.py": "print('Ran 2 tests')\nprint('OK')\n"}),
    Way("an empty module in the runner's place", {"unittest.py": ""}),
    Way("a package in the runner's place", {"unittest/__init__.py": "", "unittest/__main__.py": "print('OK')\n"}),
    Way("the package of tests ends the process", {"tests/__init__.py": "import os\nos._exit(0)\n"}, "before its tests were through"),
    Way("the product ends the process at its exit", product("import atexit, os\natexit.register(os._exit, 0)")),
    Way("the product ends the process at once", product("import os\nos._exit(0)"), "before its tests were through"),
    Way(
        "the package hides its tests",
        {"tests/__init__.py": "import unittest\ndef load_tests(*_):\n    return unittest.TestSuite()\n"},
        "No test ran; at the base 2 tests ran",
    ),
    Way(
        "the product patches the result",
        product(
            "import unittest\n"
            "unittest.TestResult.addFailure = unittest.TestResult.addError = lambda *a: None\n"
            "unittest.TextTestResult.addFailure = unittest.TextTestResult.addError = lambda *a: None\n"
            "unittest.TestResult.wasSuccessful = lambda self: True"
        ),
    ),
    Way(
        "the product patches how tests are run",
        product("import unittest\nunittest.TestCase.run = lambda self, result=None: None"),
        "No test ran",
    ),
    Way(
        "the product has the suite run nothing",
        product("import unittest\nunittest.TestSuite.run = lambda self, result, debug=False: result"),
        "No test ran",
    ),
    Way(
        "the test skips itself from the product",
        product("import unittest\nraise unittest.SkipTest('not here')"),
        "No test ran",
    ),
    Way("the tests are not named so any more", {"tests/test_shop.py": PYTHON_TREE["tests/test_shop.py"].replace("def test_adds", "def adds")}),
]  # fmt: skip
BY_PYTEST = [
    Way("a module that takes the runner's place", {"pytest.py": "print('2 passed')\n"}),
    Way("a package in the runner's place", {"pytest/__init__.py": "", "pytest/__main__.py": "print('2 passed')\n"}),
    Way("a conftest that ends the process", {"conftest.py": "import os\nos._exit(0)\n"}, "before its tests were through"),
    Way(
        "a conftest that sets the exit status",
        {"conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"},
    ),
    Way(
        "a conftest that ends the process when all is done",
        {"conftest.py": "import os\ndef pytest_unconfigure():\n    os._exit(0)\n"},
    ),
    Way(
        "a conftest that makes every report a good one",
        {
            "conftest.py": "import pytest\n"
            "@pytest.hookimpl(hookwrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n"
            "    outcome = yield\n"
            "    outcome.get_result().outcome = 'passed'\n"
        },
    ),
    Way(
        "a conftest that makes failures skips",
        {
            "conftest.py": "import pytest\n"
            "@pytest.hookimpl(hookwrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n"
            "    outcome = yield\n"
            "    report = outcome.get_result()\n"
            "    if report.failed:\n"
            "        report.outcome, report.longrepr = 'skipped', ('x', 1, 'Skipped: x')\n"
        },
    ),
    Way(
        "a conftest that removes the tests",
        {"conftest.py": "def pytest_collection_modifyitems(items):\n    del items[1:]\n"},
    ),
    Way("a setting that deselects", {"pytest.ini": "[pytest]\naddopts = --deselect test_shop.py::test_adds --deselect test_shop.py::test_nothing_is_zero\n", "test_new.py": "def test_new(): pass\n"}, "3 tests of the base's did not run"),
    Way("a setting that expects failures", {"test_shop.py": PYTEST_TREE["test_shop.py"].replace("from shop", "pytestmark = pytest.mark.skip\nfrom shop")}, "No test ran"),
    Way("all tests are left out by name", {"pytest.ini": "[pytest]\npython_functions = check_*\n", "test_new.py": "def check_new(): pass\n"}, "3 tests of the base's did not run"),
]  # fmt: skip
BY_NODE = [
    Way("a script that says so itself", {"package.json": '{"scripts": {"test": "echo 2 passing"}}\n'}, "did not report which tests it ran; at the base it ran 2 tests"),
    Way("a script with a tail that forgives", {"package.json": '{"scripts": {"test": "node --test || true"}}\n'}),
    Way("a product that ends the process", {"shop.js": "process.exit(0);\n"}, "did not run: "),
]  # fmt: skip


def laid(folder: Path, *layers: Mapping[str, str]) -> Path:
    for layer in layers:
        for name, text in layer.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def commands() -> ShellCommands:
    return ShellCommands(os.environ, lambda text: text)


@pytest.fixture(scope="module")
def at_base(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Mapping[str, str]], Executed]:
    """What the tests of a tree that nobody has touched come to: run once."""
    known: dict[str, Executed] = {}

    def run(command: str, tree: Mapping[str, str]) -> Executed:
        if command not in known:
            folder = tmp_path_factory.mktemp("base")
            base, log = laid(folder / "tree", tree), str(folder / "base.log")
            done = asyncio.run(commands().test(str(base), command, seconds=60, log=log))
            assert (done.exit_code, done.report is not None) == (0, True), done.output
            known[command] = done
        return known[command]

    return run


WAYS = [
    *(pytest.param(UNITTEST, PYTHON_TREE, way, id=f"unittest: {way}") for way in BY_UNITTEST),
    *(pytest.param(PYTEST, PYTEST_TREE, way, id=f"pytest: {way}") for way in BY_PYTEST),
    *(
        pytest.param(
            NODE,
            NODE_TREE,
            way,
            id=f"node: {way}",
            marks=pytest.mark.skipif(not shutil.which("npm"), reason="Node.js is not installed"),
        )
        for way in BY_NODE
    ),
]


@pytest.mark.parametrize(("command", "tree", "way"), WAYS)
def test_a_broken_product_is_not_taken_for_a_good_one(
    tmp_path: Path,
    at_base: Callable[[str, Mapping[str, str]], Executed],
    command: str,
    tree: Mapping[str, str],
    way: Way,
) -> None:
    broken = {name: BROKEN[name] for name in tree if name in BROKEN}
    task, log = laid(tmp_path / "tree", tree, broken, way.files), str(tmp_path / "task.log")
    done = asyncio.run(commands().test(str(task), command, seconds=60, log=log))
    found = compare(done.report, at_base(command, tree).report)
    assert found.signs or found.new_failures or done.exit_code, done.output
    if way.shows:
        assert way.shows in " ".join(found.signs)
    assert [one.name for one in tmp_path.iterdir() if "report-" in one.name] == []
