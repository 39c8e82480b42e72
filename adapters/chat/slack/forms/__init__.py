"""Modal forms: what they ask for, what they were opened for, and reading what was sent. Pure."""

from adapters.chat.slack.forms.asking import (
    ASKING,
    DOCUMENTS,
    SAYING,
    asking,
    missing,
    said,
    saying,
)
from adapters.chat.slack.forms.beginning import (
    BEGINNING,
    CHANNEL,
    SPEC,
    WHAT,
    asked,
    beginning,
    spec,
    wrong,
)
from adapters.chat.slack.forms.fields import View
from adapters.chat.slack.forms.purpose import Purpose
from adapters.chat.slack.forms.questions import QUESTIONS, answers, questions_form
from adapters.chat.slack.forms.settings import SETTINGS, Facts, configured, settings, unfit

__all__ = [
    "ASKING",
    "BEGINNING",
    "CHANNEL",
    "DOCUMENTS",
    "QUESTIONS",
    "SAYING",
    "SETTINGS",
    "SPEC",
    "WHAT",
    "Facts",
    "Purpose",
    "View",
    "answers",
    "asked",
    "asking",
    "beginning",
    "configured",
    "missing",
    "questions_form",
    "said",
    "saying",
    "settings",
    "spec",
    "unfit",
    "wrong",
]
