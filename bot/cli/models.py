"""The master model that the settings name, and how it is changed while the bot runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from adapters.files import Disk, make_private
from adapters.llm import (
    CLAUDE_CODE,
    CODEX,
    Capabilities,
    CliLlm,
    LlmAccess,
    OpenAiLlm,
    Windows,
    window_in_table,
)
from adapters.store.disk import disk_error
from bot.core.errors import Refused, SettingsError, Unavailable
from bot.core.llm import AI_SETTINGS_REQUIRED, ModelChoice, Reply, Tool, Turn, Usage
from bot.core.masking import LearningMasker
from bot.ports import Llm
from bot.settings import Provider, Settings

# The settings are read again at every question: they may change while the bot runs.

_CLIS = {Provider.CLAUDE_CODE: CLAUDE_CODE, Provider.CODEX: CODEX}
_CLI_MODELS = {Provider.CLAUDE_CODE: "claude", Provider.CODEX: "gpt-5"}
"""The model family a CLI uses when no model is named. The smallest window of the family counts."""
_ANTHROPIC = "https://api.anthropic.com/v1"
_OPENAI = "https://api.openai.com/v1"
_CHOICES = ", ".join(one for one in Provider if one is not Provider.CUSTOM)


LONGEST_REPORTED_WAIT = 60.0
"""Seconds. Settings are read again at least this often, however long an endpoint asks to wait."""


class ChosenLlm:
    """Implements bot.ports.Llm. `environ` is the bot's own environment: a CLI gets only its own login from it."""

    def __init__(
        self,
        current: Callable[[], Settings],
        masker: LearningMasker,
        environ: Mapping[str, str],
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._current = current
        self._masker = masker
        self._environ = environ
        self._capabilities = Capabilities()
        self._windows = Windows(clock)
        self._clock = clock
        self._rate_limited: dict[tuple[str, ...], tuple[float, Unavailable]] = {}
        """Endpoints that asked for a long wait: the time until then, and the error they gave."""

    async def complete(
        self,
        system: str,
        data: str,
        *,
        schema: dict[str, object] | None,
        turns: Sequence[Turn] = (),
        tools: Sequence[Tool] = (),
    ) -> Reply:
        settings = self._current()
        self._masker.learn(settings.secrets)
        began = self._clock()
        whom = (settings.llm_provider, *_endpoint(settings))
        self._raise_if_rate_limited(whom)
        try:
            reply = await self._create_llm(settings).complete(
                system, data, schema=schema, turns=turns, tools=tools
            )
        except Unavailable as trouble:
            if (trouble.retry_after or 0) > LONGEST_REPORTED_WAIT:
                self._rate_limited[whom] = (self._clock() + (trouble.retry_after or 0), trouble)
                self._raise_if_rate_limited(whom)
            raise
        self._windows.learn(_model_key(settings), reply.context_window)
        asked = Usage(
            provider=settings.llm_provider,
            model=reply.model or settings.openai_model,
            milliseconds=int((self._clock() - began) * 1000),
        )
        return reply.model_copy(update={"usage": reply.usage + asked})

    async def window(self) -> int:
        """Return how many tokens the model accepts: by the setting, else as its endpoint or CLI reports, else by a
        table.
        """
        settings = self._current()
        if settings.llm_context_window:
            return settings.llm_context_window
        if settings.llm_provider in _CLIS:
            named = settings.openai_model or _CLI_MODELS[settings.llm_provider]
            return self._windows.learnt(_model_key(settings)) or window_in_table(named)
        if _missing(settings):
            return window_in_table(settings.openai_model)
        return await self._windows.of(llm_access(settings))

    def _raise_if_rate_limited(self, endpoint: tuple[str, ...]) -> None:
        """Raise Unavailable while the endpoint's requested wait lasts, for all sessions.

        The reported wait is at most LONGEST_REPORTED_WAIT, so that changed settings take effect soon.
        """
        until, trouble = self._rate_limited.get(endpoint, (0.0, None))
        left = until - self._clock()
        if trouble and left > 0:
            raise Unavailable(
                trouble.reason, trouble.remedy, min(left, LONGEST_REPORTED_WAIT)
            ) from trouble

    def _create_llm(self, settings: Settings) -> Llm:
        mask, timeout = self._masker.mask, settings.llm_timeout
        cli = _CLIS.get(settings.llm_provider)
        if cli:
            model = settings.openai_model
            return CliLlm(cli, self._environ, mask=mask, model=model, timeout=timeout)
        return OpenAiLlm(
            llm_access(settings),
            mask=mask,
            timeout=timeout,
            capabilities=self._capabilities,
            windows=self._windows,
        )


def llm_access(settings: Settings) -> LlmAccess:
    """Return the access to the endpoint in the settings.

    Raises Unavailable, with what is missing, until they are complete.
    """
    url, key_setting = _address(settings), _key_setting(settings)
    missing = [
        name
        for name, there in (
            ("OPENAI_BASE_URL", url),
            ("OPENAI_MODEL", settings.openai_model),
            (key_setting, _key(settings) or settings.llm_provider is Provider.CUSTOM),
        )
        if not there
    ]
    if missing:
        raise Unavailable(AI_SETTINGS_REQUIRED, _remedy(settings, missing))
    return LlmAccess(url, settings.openai_model, _key(settings), key_setting)


def _model_key(settings: Settings) -> tuple[str, str]:
    return (_address(settings) or settings.llm_provider, settings.openai_model)


def _endpoint(settings: Settings) -> tuple[str, ...]:
    return (_address(settings), settings.openai_model, _key(settings))


def _address(settings: Settings) -> str:
    match settings.llm_provider:
        case Provider.ANTHROPIC:
            # Always Anthropic's own address: a base URL left over from another provider must not receive this key.
            return _ANTHROPIC
        case Provider.OPENAI:
            return settings.openai_base_url or _OPENAI
        case _:
            return settings.openai_base_url


def _key(settings: Settings) -> str:
    # Each provider has its own key: a key must never be sent to another provider.
    if settings.llm_provider is Provider.ANTHROPIC:
        return settings.anthropic_api_key.get_secret_value()
    return settings.openai_api_key.get_secret_value()


def _key_setting(settings: Settings) -> str:
    anthropic = settings.llm_provider is Provider.ANTHROPIC
    return "ANTHROPIC_API_KEY" if anthropic else "OPENAI_API_KEY"


def _remedy(settings: Settings, missing: list[str]) -> str:
    names = " and ".join(missing)
    if settings.llm_provider is not Provider.CUSTOM:
        return f"LLM_PROVIDER is {settings.llm_provider}: set {names}, too; the bot goes on as soon as they are there."
    key = "" if settings.openai_api_key else ", and OPENAI_API_KEY where the endpoint wants a key"
    return (
        f"Set {names}{key}; or choose a LLM_PROVIDER ({_CHOICES}). "
        "The bot goes on as soon as they are there."
    )


# The model selection that users change at run time: two lines of the .env in the bot's home, never a key. Settings from
# elsewhere take precedence over that file; then nothing is changed, and the user is told where the value comes from.

_URL, _MODEL = "OPENAI_BASE_URL", "OPENAI_MODEL"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ADDRESS = re.compile(r"https?://[A-Za-z0-9._~:/%+\[\]-]{1,500}")
"""Accepts only characters that a .env parser leaves alone: no `${A_KEY}`, no quote, no space."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")


class EnvPreferences:
    """Implements bot.ports.Preferences. `start_env_file` is the .env of the folder in which the bot was started."""

    def __init__(
        self,
        current: Callable[[], Settings],
        environ: Mapping[str, str],
        start_env_file: Path = Path(".env"),
    ) -> None:
        self._current = current
        self._environ = environ
        self._start_env_file = start_env_file.absolute()

    def model(self) -> ModelChoice:
        try:
            settings = self._current()
        except SettingsError as wrong:
            return ModelChoice(provider="unknown", missing=str(wrong).partition("\n")[0])
        key = settings.openai_api_key
        if settings.llm_provider is Provider.ANTHROPIC:
            key = settings.anthropic_api_key
        return ModelChoice(
            provider=settings.llm_provider,
            base_url=settings.openai_base_url,
            model=settings.openai_model,
            key_set=bool(key.get_secret_value()),
            missing=_missing(settings),
        )

    def choose_model(self, base_url: str, model: str) -> None:
        settings = self._settings()
        if settings.llm_provider is not Provider.CUSTOM:
            raise Refused(
                f"LLM_PROVIDER is {settings.llm_provider}.",
                "The address is its own; change LLM_PROVIDER where it is set.",
            )
        base_url = base_url.strip().rstrip("/")
        _check(base_url, model := model.strip())
        file = settings.gwt_home / ".env"
        try:
            self._refuse_overruled(file)
            make_private(file.parent)
            # if it is a link, change the file that it points to and keep the link
            file = file.resolve()
            Disk().replace(
                file, _with_variables(_read_text(file), {_URL: base_url, _MODEL: model}).encode()
            )
        except OSError as error:
            raise disk_error(error, file) from error

    def _settings(self) -> Settings:
        try:
            return self._current()
        except SettingsError as wrong:
            raise Refused("The settings cannot be read as they are.", str(wrong)) from wrong

    def _refuse_overruled(self, file: Path) -> None:
        there = {name.upper() for name in self._environ}
        for name in (_URL, _MODEL):
            if name in there:
                raise Refused(f"{name} is set in the bot's environment.", "Change it there.")
            if self._start_env_file.resolve() != file.resolve() and _is_set_in(
                self._start_env_file, name
            ):
                raise Refused(f"{name} is set in {self._start_env_file}.", "Change it there.")


def _read_text(file: Path) -> str:
    # Bytes, not text mode: the line ends of unchanged lines must stay as they are.
    try:
        return file.read_bytes().decode() if file.exists() else ""
    except UnicodeDecodeError as error:
        raise Refused(f"{file} is no text.", "Write it anew, in UTF-8.") from error


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    return bool(_ADDRESS.fullmatch(url) and secure and parts.hostname) and port != 0


def _check(base_url: str, model: str) -> None:
    if not _is_address(base_url):
        raise Refused(
            "That is no address I would send a key to.",
            "Write https://…, without a name, password or question mark in it; http:// only for this machine.",
        )
    if not _NAME.fullmatch(model):
        raise Refused("That is no name of a model.", "Write it as the endpoint names it.")


def _missing(settings: Settings) -> str:
    if settings.llm_provider in (Provider.CLAUDE_CODE, Provider.CODEX):
        return ""
    try:
        llm_access(settings)
    except Unavailable as wanting:
        return wanting.remedy
    return ""


def _is_set_in(file: Path, name: str) -> bool:
    # Also true for an empty value: it takes precedence over values from elsewhere.
    return any(_line_sets(line, name) for line in _read_text(file).splitlines())


def _line_sets(line: str, name: str) -> bool:
    # In every spelling that the settings parser accepts.
    return bool(re.match(rf"\s*(?:export\s+)?{name}\s*(?:=|$)", line, re.IGNORECASE))


def _with_variables(text: str, chosen: Mapping[str, str]) -> str:
    """Return the text with these variables set, each in its old place or at the end. Every other line is unchanged."""
    lines = text.removesuffix("\n").split("\n") if text else []
    for name, value in chosen.items():
        known = [number for number, line in enumerate(lines) if _line_sets(line, name)]
        place = known[0] if known else len(lines)
        lines = [line for number, line in enumerate(lines) if number not in known]
        lines.insert(place, f"{name}={value}")
    return "\n".join([*lines, ""])
