"""What a test run proves: which tests ran and how each ended, as its runner reports, and how that compares with the base.

An exit code alone proves nothing: a tree can end its runner early, hide tests from it or put another program in its place.
"""

from bot.domain.checks.compared import Compared, compared, not_run
from bot.domain.checks.reports import Report
from bot.domain.checks.runners import Reporting, recognised, reporting

__all__ = ["Compared", "Report", "Reporting", "compared", "not_run", "recognised", "reporting"]
