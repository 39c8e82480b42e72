"""Turns the errors of an endpoint or CLI into the error to raise, including whether a retry helps. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from adapters.http import retry_after
from bot.core.errors import PortError, Refused, Unavailable

# Errors of an endpoint.

MANUAL_FIX_RETRY_SECONDS = 60.0
"""Seconds between retries when a person must act first: they want to see soon that it helped."""

_ENDPOINT_EXCERPT = 200
_TOO_LONG = re.compile(
    r"context.?(length|window|size)|maximum context|too many (input )?tokens|prompt is too long",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\btools?\b|tool_choice|\bfunctions?\b|function.?call", re.IGNORECASE)
_STREAM = re.compile(r"\bstream", re.IGNORECASE)
_STREAM_USAGE = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_OUTPUT = re.compile(r"max_(?:completion_|output_|new_)?tokens|maxOutputTokens", re.IGNORECASE)
_OUTPUT_LIMITS = (
    re.compile(r"at most ([\d,]+) (?:completion|output) tokens", re.IGNORECASE),
    re.compile(r"> ([\d,]+), which is the maximum allowed number of output tokens", re.IGNORECASE),
    re.compile(r"valid range of max_\w*tokens is \[\d+, ?([\d,]+)\]", re.IGNORECASE),
    re.compile(r"less than or equal to [`'\"]?([\d,]+)", re.IGNORECASE),
    re.compile(r"\bto ([\d,]+) \((?:in|ex)clusive\)", re.IGNORECASE),
)
_NO_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)
_PASSING = frozenset({408, 409, 425, 429})
_MOVED = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True)
class Problem:
    """An error reported by the endpoint, by its status or inside an answer with status 200."""

    status: int
    code: str = ""
    message: str = ""
    whole: str = ""
    """The whole error as text: some endpoints name the rejected parameter only deep inside."""
    retry_after: float | None = None
    leads_to: str = ""
    """Scheme and host that a redirect names."""

    @property
    def dislikes_the_format(self) -> bool:
        return self.status in {400, 404, 422} and "response_format" in self.whole

    @property
    def dislikes_tools(self) -> bool:
        if self.is_too_long:
            return False  # such a message may count the tokens "in functions"
        told = self.whole if self.status in {400, 404, 422} else ""
        if self.status in {500, 501}:
            told = self.message  # llama.cpp without --jinja
        return _TOOLS.search(told) is not None

    @property
    def dislikes_streams(self) -> bool:
        return self.status in {400, 404, 422} and _STREAM.search(self.whole) is not None

    @property
    def dislikes_stream_usage(self) -> bool:
        return self.dislikes_streams and _STREAM_USAGE.search(self.whole) is not None

    @property
    def is_about_output(self) -> bool:
        """Whether it is about the field that limits the answer: there is one too many, one too few, or its value is."""
        return self.status in {400, 404, 422} and _OUTPUT.search(self.whole) is not None

    @property
    def output_limit(self) -> int:
        """The most tokens an answer may have, as the message names them; else 0."""
        if not self.is_about_output or self.is_too_long:
            return 0
        found = next((m for one in _OUTPUT_LIMITS if (m := one.search(self.message))), None)
        if found is None:
            return 0
        return int(found[1].replace(",", "")) - found[0].lower().endswith("(exclusive)")

    @property
    def is_too_long(self) -> bool:
        """Whether the question does not fit into the model's window."""
        if self.status == 413 or (self.status in {400, 422} and is_context_overflow(self.message)):
            return True
        return self.status < 500 and self.code == "context_length_exceeded"


def read_problem(status: int, error: object, headers: Mapping[str, str]) -> Problem:
    """Parse an error of any shape: OpenAI's, {"detail": …}, a plain text, nothing."""
    parts = cast("Mapping[object, object]", error) if isinstance(error, Mapping) else {}
    inner = parts.get("error")
    if isinstance(inner, Mapping):
        return read_problem(status, cast("object", inner), headers)
    told = parts.get("message") or parts.get("detail") or inner or error or ""
    code = parts.get("code") or parts.get("type") or ""
    return Problem(
        status=_status(status, code),
        code=str(code),
        message=" ".join(str(told).split()),
        whole=str(error),
        retry_after=retry_after(headers.get("retry-after", ""), headers.get("date", "")),
        leads_to=_origin(headers.get("location", "")) if status in _MOVED else "",
    )


def error_for(problem: Problem, model: str, key: str) -> PortError:
    """Return the error to raise. `key`: the setting that holds the key.

    Context length and quota are checked first, because they come with various statuses.
    """
    said = f": {problem.message[:_ENDPOINT_EXCERPT]}" if problem.message else ""
    http = f"HTTP {problem.status}"
    if problem.status in _MOVED:
        return _moved(problem)
    if problem.is_too_long:
        return Refused(
            f"the request is too long for the context window of {model}",
            "Set OPENAI_MODEL to a model with a larger context window, or ask for something smaller.",
        )
    if problem.status == 402 or problem.code in _NO_QUOTA_CODES:
        return Unavailable(
            f"the LLM account has no quota left ({http}){said}",
            f"A person must act: look at plan and billing of the account of {key}. The bot goes on by itself then.",
            retry_after=MANUAL_FIX_RETRY_SECONDS,
        )
    if problem.status in {401, 403}:
        return Refused(
            f"the LLM endpoint refuses the key ({http}){said}",
            f"Set {key} to a key that is valid there and may use OPENAI_MODEL.",
        )
    if problem.status == 404 or problem.code == "model_not_found":
        return Refused(
            f"the LLM endpoint knows no model {model}, or not this address ({http}){said}",
            "Check OPENAI_MODEL and OPENAI_BASE_URL (most addresses end in /v1).",
        )
    if problem.status in _PASSING or problem.status >= 500:
        return Unavailable(
            f"the LLM endpoint does not serve just now ({http}){said}",
            _retry_text(problem.retry_after),
            retry_after=problem.retry_after,
        )
    return Refused(
        f"the LLM endpoint does not accept the request ({http}){said}",
        "Check that OPENAI_BASE_URL speaks OpenAI's chat completions and that OPENAI_MODEL is a chat model.",
    )


def _moved(problem: Problem) -> Refused:
    elsewhere = f" to {problem.leads_to}" if problem.leads_to else ""
    return Refused(
        f"the LLM endpoint redirects the question{elsewhere} (HTTP {problem.status})",
        "The bot does not follow: the question holds your code. Set OPENAI_BASE_URL to the address that answers itself.",
    )


def _origin(location: str) -> str:
    # Only scheme and host are shown, because the rest may contain a signature or key. Empty for the same host.
    try:
        found = urlsplit(location)
        host, port = found.hostname, found.port
    except ValueError:
        return ""
    return f"{found.scheme or 'http'}://{host}{f':{port}' if port else ''}" if host else ""


def _retry_text(seconds: float | None) -> str:
    """Return when the bot retries, if the endpoint asks for more than a minute."""
    minutes = round((seconds or 0) / 60)
    when = f" in {minutes} minutes, as the endpoint asks" if minutes > 1 else ""
    return f"The bot tries again by itself{when}."


def is_context_overflow(message: str) -> bool:
    """Whether the message says that the question exceeds the model's context window."""
    return _TOO_LONG.search(message) is not None


def _status(status: int, code: object) -> int:
    # An error in a 200 answer may carry the real status as its code; otherwise it counts as the endpoint's own failure.
    if status >= 300:
        return status
    text = str(code)
    known = {"context_length_exceeded": 400, "model_not_found": 404, "invalid_api_key": 401}
    if text in known:
        return known[text]
    return int(text) if re.fullmatch(r"[45][0-9]{2}", text, re.ASCII) else 502


# Errors of a CLI, from its own messages.

_CLI_EXCERPT = 300
_SECRETIVE = re.compile(r"https?://\S+", re.IGNORECASE)

_ROOT = re.compile(r"root/sudo|as root\b|root privileges", re.IGNORECASE)
_CUT_OFF = re.compile(r"output token (maximum|limit)|max_output_tokens", re.IGNORECASE)
_LOGGED_OUT = re.compile(
    r"not logged in|please run /login|run `?(codex|claude) (auth )?login|log ?in (again|to)|sign in again"
    r"|(token|session|login) (has |is )?expired|refresh token|missing bearer",
    re.IGNORECASE,
)
_NO_QUOTA_WORDS = re.compile(
    r"insufficient_quota|quota exceeded|credit balance|billing", re.IGNORECASE
)
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


def cli_error(cli: str, login: str, said: str, *, status: int = 0) -> PortError:
    """Return the error to raise for the message `said`, which is shown to people and must be masked already."""
    told = _excerpt(said)
    if _OPTION.search(said):
        return Refused(f"{cli} does not know an option it is asked with: {told}", "Update it.")
    if _ROOT.search(said):
        return Refused(
            f"{cli} does not work as root: {told}", "Run the bot as another user, not as root."
        )
    if is_context_overflow(said):
        return Refused(
            f"the request is too long for the context window of {cli}",
            "Set OPENAI_MODEL to a model with a larger context window, or ask for something smaller.",
        )
    if _CUT_OFF.search(said):
        return cut_off_error(cli)
    return _account(cli, login, said, status) or _passing(cli, told)


def cut_off_error(cli: str) -> PortError:
    return Refused(
        f"the answer of {cli} was cut off at its length limit",
        "Raise its output limit, set OPENAI_MODEL to another model, or ask for something smaller.",
    )


def _account(cli: str, login: str, said: str, status: int) -> PortError | None:
    told = _excerpt(said)
    if _LOGGED_OUT.search(said):
        return Unavailable(
            f"{cli} is not logged in: {told}",
            f"Log in as the user the bot runs as: {login}. The bot goes on by itself then.",
        )
    if status == 402 or _NO_QUOTA_WORDS.search(said):
        return Unavailable(
            f"the account of {cli} has no quota left: {told}",
            "A person must act: look at plan and billing. The bot goes on by itself then.",
            retry_after=MANUAL_FIX_RETRY_SECONDS,
        )
    if _LIMIT.search(said):
        return Unavailable(
            f"{cli} has reached a usage limit: {told}",
            "The bot goes on by itself once it is lifted; LLM_PROVIDER can name another model until then.",
            retry_after=MANUAL_FIX_RETRY_SECONDS,
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


def _excerpt(said: str) -> str:
    """Return one line of limited length, without addresses."""
    return " ".join(_SECRETIVE.sub("…", said).split())[:_CLI_EXCERPT]
