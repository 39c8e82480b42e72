"""Loaded by Python before anything of the tested repository: makes its tests record what ran.

It runs in whatever Python the repository uses, so it is limited to Python 3.8. Modules of test runners are taken from
the path without the working directory, so that a `unittest.py` there is not used.
"""

import json
import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

OUT = os.environ.get("GWT_TEST_REPORT", "")
HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib would make every start slower
PLUGIN = os.environ.get("GWT_TEST_PLUGIN", "")
RUNNERS = ("unittest", "doctest", "pytest", "_pytest", "py", "pluggy", "iniconfig", "nose2")


def others():
    return [one for one in sys.path if os.path.abspath(one or ".") != HERE]  # noqa: PTH100


class ReportLines:
    """The report of one process: each line is written as soon as it is known, so that an early end is visible."""

    file = None

    def write(self, **told):
        if self.file is None:
            name = f"python-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
            # kept open, so that the folder's name is not needed any more
            self.file = open(os.path.join(OUT, name), "a", encoding="utf-8")  # noqa: PTH118, PTH123, SIM115
            os.environ.pop("GWT_TEST_REPORT", None)
        self.file.write(json.dumps(told) + "\n")
        self.file.flush()


LINES = ReportLines()
WORST = {"failed": 2, "passed": 1, "skipped": 0}


class RecordedResult:
    """Wraps a test's result, so that changes the repository makes to the result's class have no effect."""

    def __init__(self, result):
        object.__setattr__(self, "_result", result)
        object.__setattr__(self, "_ended", None)

    def __getattr__(self, name):
        return getattr(self._result, name)

    def __setattr__(self, name, value):
        setattr(self._result, name, value)

    def _note(self, ended):
        if self._ended is None or WORST[ended] > WORST[self._ended]:
            object.__setattr__(self, "_ended", ended)

    def addSuccess(self, test):
        self._note("passed")
        return self._result.addSuccess(test)

    def addFailure(self, test, err):
        self._note("failed")
        return self._result.addFailure(test, err)

    def addError(self, test, err):
        self._note("failed")
        return self._result.addError(test, err)

    def addSkip(self, test, reason):
        self._note("skipped")
        return self._result.addSkip(test, reason)

    def addExpectedFailure(self, test, err):
        self._note("passed")
        return self._result.addExpectedFailure(test, err)

    def addUnexpectedSuccess(self, test):
        self._note("failed")
        return self._result.addUnexpectedSuccess(test)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._note("failed")
        return self._result.addSubTest(test, subtest, err)

    def stopTest(self, test):
        LINES.write(test=test.id(), ended=self._ended or "failed")
        return self._result.stopTest(test)


def watch_cases(module):
    original = module.TestCase.run

    def run(self, result=None):
        if (
            result is None
            or isinstance(result, RecordedResult)
            or type(result).__module__.startswith("_pytest")
        ):
            return original(self, result)
        found = original(self, RecordedResult(result))
        return result if isinstance(found, RecordedResult) else found

    module.TestCase.run = run


def watch_program(module):
    begin, run = module.TestProgram.__init__, module.TestProgram.runTests

    def __init__(self, *arguments, **named):
        LINES.write(begin="unittest")
        begin(self, *arguments, **named)

    def runTests(self):
        try:
            run(self)
        finally:
            LINES.write(end="unittest")

    module.TestProgram.__init__, module.TestProgram.runTests = __init__, runTests


def watch_pytest(module):
    # only in the process started first: in programs started by pytest's tests it would interfere
    os.environ["PYTEST_PLUGINS"] = PLUGIN


AFTER = {
    "unittest.case": watch_cases,
    "unittest.main": watch_program,
    "_pytest.config": watch_pytest,
}


class InstrumentingLoader:
    """Loads a module with its own loader, and then instruments it."""

    def __init__(self, loader, then):
        self._loader, self._then = loader, then

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._then(module)


class Finder:
    trusted = others()

    def find_spec(self, name, path=None, target=None):
        if name in RUNNERS and path is None:
            return PathFinder.find_spec(name, self.trusted, target)
        if name in AFTER:
            spec = PathFinder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = InstrumentingLoader(spec.loader, AFTER[name])  # pyright: ignore[reportAttributeAccessIssue] - it does as one
            return spec
        return None


def run_shadowed_sitecustomize():
    """Run another sitecustomize on the path, which this module shadows."""
    spec = PathFinder.find_spec("sitecustomize", others())
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


if OUT:
    for loaded, then in AFTER.items():
        if loaded in sys.modules:
            then(sys.modules[loaded])
    sys.meta_path.insert(0, Finder())
run_shadowed_sitecustomize()
