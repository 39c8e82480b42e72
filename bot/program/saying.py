"""What the program says on its terminal, which is often somebody's journal: in plain lines, and masked like everything else."""

from __future__ import annotations

import logging
import os
import sys

from bot import settings
from bot.domain.masking import Masker
from bot.errors import SettingsError
from bot.program.secrets import secrets_in


def say(*lines: str) -> None:
    masker = Masker(_known())
    for line in lines:
        sys.stderr.write(f"{masker.mask(line)}\n")


class EarlyLog(logging.Handler):
    """For what is logged before there is a log: Python would write it down as it is."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"gwt-bot: {record.getMessage()}")


def _known() -> dict[str, str]:
    known = secrets_in(os.environ)
    try:
        return {**known, **settings.load().secrets}
    except SettingsError:
        return known
