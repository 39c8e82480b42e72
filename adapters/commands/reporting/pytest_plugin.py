"""Records what pytest ran. Copied under a random name, so that no setting of the repository can disable it."""

import os

import pytest
import sitecustomize  # pyright: ignore[reportMissingImports] - the one beside it

os.environ.pop("PYTEST_PLUGINS", None)
LINES = sitecustomize.LINES
LINES.write(begin="pytest")
HIDDEN = {}


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    # An exception without a failure in the report was suppressed by something in the repository.
    made = yield
    report = made.get_result()
    if call.excinfo is None or report.outcome == "failed" or hasattr(report, "wasxfail"):
        return
    skips = (pytest.skip.Exception, __import__("unittest").SkipTest)
    if not isinstance(call.excinfo.value, skips) and report.outcome != "rerun":
        HIDDEN[report.nodeid] = True


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_logreport(report):
    if report.outcome == "failed" or HIDDEN.pop(report.nodeid, False):
        LINES.write(test=report.nodeid, ended="failed")
    elif report.outcome == "skipped":
        # expected to fail, and it did: it ran
        ended = "passed" if hasattr(report, "wasxfail") else "skipped"
        LINES.write(test=report.nodeid, ended=ended)
    elif report.when == "call" and report.outcome == "passed":
        LINES.write(test=report.nodeid, ended="passed")
    yield


def pytest_collectreport(report):
    if report.outcome == "failed":
        LINES.write(test=report.nodeid, ended="failed")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_sessionfinish():
    yield
    LINES.write(end="pytest")
