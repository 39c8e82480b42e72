"""How a session ended, judged from what is known to have happened: a pure sum over its tasks and their evidence."""

from bot.domain.results.speculative import speculative
from bot.domain.results.statuses import contradiction, status_of, why_not
from bot.domain.results.whole import execution_result, overall

__all__ = ["contradiction", "execution_result", "overall", "speculative", "status_of", "why_not"]
