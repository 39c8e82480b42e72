"""Secrets become [MASKED:…] before a text goes anywhere: chat, log, state, model, pull request."""

from bot.domain.masking.clean import clean
from bot.domain.masking.masker import Masker

__all__ = ["Masker", "clean"]
