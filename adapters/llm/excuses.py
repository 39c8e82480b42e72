"""Why a CLI did not answer, from its own words: what a person can do, and whether trying again helps. Pure."""

from __future__ import annotations

import re

from adapters.llm.problem import BY_A_PERSON_SECONDS, too_long
from bot.errors import PortError, Refused, Unavailable

_EXCERPT = 300
_SECRETIVE = re.compile(r"https?://\S+", re.IGNORECASE)

_ROOT = re.compile(r"root/sudo|as root\b|root privileges", re.IGNORECASE)
_CUT_OFF = re.compile(r"output token (maximum|limit)|max_output_tokens", re.IGNORECASE)
_LOGGED_OUT = re.compile(
    r"not logged in|please run /login|run `?(codex|claude) (auth )?login|log ?in (again|to)|sign in again"
    r"|(token|session|login) (has |is )?expired|refresh token|missing bearer",
    re.IGNORECASE,
)
_NO_QUOTA = re.compile(r"insufficient_quota|quota exceeded|credit balance|billing", re.IGNORECASE)
_LIMIT = re.compile(
    r"(usage|session|weekly|hour|opus|your) limit|limit (was |has been |is )?reached|usage_limit",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"invalid (x-)?api.key|\b40[13] (unauthorized|forbidden)|authentication", re.IGNORECASE
)
_MODEL = re.compile(
    r"selected model|model_not_found|model .{0,80}(does not exist|not supported|not found)|\b404 not found",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"unknown option|unexpected argument|unrecognized (option|argument)", re.IGNORECASE
)


def excuse(cli: str, login: str, said: str, *, status: int = 0) -> PortError:
    """The error to raise for what `cli` said. `said` is shown to people: it is masked already."""
    told = _shown(said)
    if _OPTION.search(said):
        return Refused(f"{cli} does not know an option it is asked with: {told}", "Update it.")
    if _ROOT.search(said):
        return Refused(
            f"{cli} does not work as root: {told}", "Run the bot as another user, not as root."
        )
    if too_long(said):
        return Refused(
            f"the request is too long for the context window of {cli}",
            "Set OPENAI_MODEL to a model with a larger context window, or ask for something smaller.",
        )
    if _CUT_OFF.search(said):
        return cut_off(cli)
    return _account(cli, login, said, status) or _passing(cli, told)


def cut_off(cli: str) -> PortError:
    return Refused(
        f"the answer of {cli} was cut off at its length limit",
        "Raise its output limit, set OPENAI_MODEL to another model, or ask for something smaller.",
    )


def _account(cli: str, login: str, said: str, status: int) -> PortError | None:
    told = _shown(said)
    if _LOGGED_OUT.search(said):
        return Unavailable(
            f"{cli} is not logged in: {told}",
            f"Log in as the user the bot runs as: {login}. The bot goes on by itself then.",
        )
    if status == 402 or _NO_QUOTA.search(said):
        return Unavailable(
            f"the account of {cli} has no quota left: {told}",
            "A person must act: look at plan and billing. The bot goes on by itself then.",
            retry_after=BY_A_PERSON_SECONDS,
        )
    if _LIMIT.search(said):
        return Unavailable(
            f"{cli} has reached a usage limit: {told}",
            "The bot goes on by itself once it is lifted; LLM_PROVIDER can name another model until then.",
            retry_after=BY_A_PERSON_SECONDS,
        )
    if status in {401, 403} or _KEY.search(said):
        return Refused(
            f"{cli} is refused: {told}", f"Log in anew ({login}), or set a key that is valid."
        )
    if status == 404 or _MODEL.search(said):
        return Refused(
            f"{cli} cannot use this model: {told}",
            "Set OPENAI_MODEL to one it offers, or leave it empty for its own choice.",
        )
    return None


def _passing(cli: str, told: str) -> PortError:
    return Unavailable(f"{cli} did not answer: {told}", "The bot tries again by itself.")


def _shown(said: str) -> str:
    """One line, bounded, without addresses."""
    return " ".join(_SECRETIVE.sub("…", said).split())[:_EXCERPT]
