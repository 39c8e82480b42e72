"""What must never be shown, as far as it is known; it may grow while the bot runs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.domain.masking import Masker

_TELLING = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE | re.ASCII)


def secrets_in(environ: Mapping[str, str]) -> dict[str, str]:
    """Values of variables whose names say that they are secret. Where a key lies is none, and people have to be told."""
    return {
        name: value
        for name, value in environ.items()
        if _TELLING.search(name) and not name.upper().endswith(("_FILE", "_PATH"))
    }


class LearningMasker(Masker):
    """A masker that can be told of a new secret while it is in use everywhere."""

    def learn(self, more: Mapping[str, str]) -> None:
        known = self.with_known(more)
        self.__dict__.update(known.__dict__)
