"""The questions to the LLM, one function each. Its answers are checked; a wrong one is asked again twice, then done without."""

from bot.engine.brain.planning import analyse, document
from bot.engine.brain.reading import EarlierSession, read_answers, understand

__all__ = ["EarlierSession", "analyse", "document", "read_answers", "understand"]
