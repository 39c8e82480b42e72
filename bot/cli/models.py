"""The master model that the settings name, and how it is changed while the bot runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from adapters.files import Disk, make_private
from adapters.llm import (
    CLAUDE_CODE,
    CODEX,
    CliLlm,
    Formats,
    LlmAccess,
    OpenAiLlm,
    Windows,
    limit_in,
    window_in_table,
)
from adapters.store.disk import disk_error
from bot.core.errors import Refused, SettingsError, Unavailable
from bot.core.llm import AI_SETTINGS, ModelChoice, Reply, Usage
from bot.core.masking import LearningMasker
from bot.ports import Llm
from bot.settings import Provider, Settings

# The master model that the settings name, looked up at every question: they may change while the
# bot is at work.

_CLIS = {Provider.CLAUDE_CODE: CLAUDE_CODE, Provider.CODEX: CODEX}
_CLI_MODELS = {Provider.CLAUDE_CODE: "claude", Provider.CODEX: "gpt-5"}
"""The family a CLI uses when no model is named. Its smallest window counts."""
_ANTHROPIC = "https://api.anthropic.com/v1"
_OPENAI = "https://api.openai.com/v1"
_CHOICES = ", ".join(one for one in Provider if one is not Provider.CUSTOM)


SOON = 60.0
"""Seconds after which the settings are looked at again, however long an endpoint asks to wait."""


class ChosenLlm:
    """Implements bot.ports.Llm. `environ` is the bot's own: a CLI gets its own login of it, and nothing else."""

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
        self._formats = Formats()
        self._windows = Windows(clock)
        self._clock = clock
        self._let_alone: dict[tuple[str, ...], tuple[float, Unavailable]] = {}
        """Endpoints that asked for a long wait: until when, and what they said."""

    async def complete(self, system: str, data: str, *, schema: dict[str, object] | None) -> Reply:
        settings = self._current()
        self._masker.learn(settings.secrets)
        began = self._clock()
        whom = (settings.llm_provider, *_endpoint(settings))
        self._heed(whom)
        try:
            reply = await self._chosen(settings).complete(system, data, schema=schema)
        except Unavailable as trouble:
            if (trouble.retry_after or 0) > SOON:
                self._let_alone[whom] = (self._clock() + (trouble.retry_after or 0), trouble)
                self._heed(whom)
            raise
        self._windows.learn(_model_key(settings), reply.context_window)
        asked = Usage(
            provider=settings.llm_provider,
            model=reply.model or settings.openai_model,
            milliseconds=int((self._clock() - began) * 1000),
        )
        return reply.model_copy(update={"usage": reply.usage + asked})

    async def window(self) -> int:
        """How many tokens the model takes at once: the setting, else what its endpoint or its CLI says, else a table."""
        settings = self._current()
        if settings.llm_context_window:
            return settings.llm_context_window
        if settings.llm_provider in _CLIS:
            named = settings.openai_model or _CLI_MODELS[settings.llm_provider]
            return self._windows.learnt(_model_key(settings)) or window_in_table(named)
        if _missing(settings):
            return window_in_table(settings.openai_model)
        return await self._windows.of(access(settings))

    def _heed(self, whom: tuple[str, ...]) -> None:
        """Unavailable while the endpoint wants to be left alone, by whichever session.

        The one who asks comes back soon all the same, and reaches the model at once where other settings name another.
        """
        until, trouble = self._let_alone.get(whom, (0.0, None))
        left = until - self._clock()
        if trouble and left > 0:
            raise Unavailable(trouble.reason, trouble.remedy, min(left, SOON)) from trouble

    def _chosen(self, settings: Settings) -> Llm:
        mask, timeout = self._masker.mask, settings.llm_timeout
        cli = _CLIS.get(settings.llm_provider)
        if cli:
            model = settings.openai_model
            return CliLlm(cli, self._environ, mask=mask, model=model, timeout=timeout)
        key = _model_key(settings)
        return OpenAiLlm(
            access(settings),
            mask=mask,
            timeout=timeout,
            formats=self._formats,
            learn_limit=lambda message: self._windows.learn(key, limit_in(message)),
        )


def access(settings: Settings) -> LlmAccess:
    """To the endpoint the settings name. Unavailable, with what is missing, until they are complete."""
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
        raise Unavailable(AI_SETTINGS, _remedy(settings, missing))
    return LlmAccess(url, settings.openai_model, _key(settings), key_setting)


def _model_key(settings: Settings) -> tuple[str, str]:
    return (_address(settings) or settings.llm_provider, settings.openai_model)


def _endpoint(settings: Settings) -> tuple[str, ...]:
    return (_address(settings), settings.openai_model, _key(settings))


def _address(settings: Settings) -> str:
    match settings.llm_provider:
        case Provider.ANTHROPIC:
            # Its key is for nobody else: an address that was left over must not get it.
            return _ANTHROPIC
        case Provider.OPENAI:
            return settings.openai_base_url or _OPENAI
        case _:
            return settings.openai_base_url


def _key(settings: Settings) -> str:
    """Each provider's own: a key that was set for another must not be sent to it."""
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


# Which model is asked, chosen while the bot runs: two lines of the .env in the bot's home, and
# never a key.
#
# What is set elsewhere counts more than that file, so it is not changed behind anybody's back:
# the one who asks is told where.

_URL, _MODEL = "OPENAI_BASE_URL", "OPENAI_MODEL"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ADDRESS = re.compile(r"https?://[A-Za-z0-9._~:/%+\[\]-]{1,500}")
"""Nothing that a .env reads otherwise than it is written: not ${A_KEY}, no quote, no space."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")


class EnvPreferences:
    """Implements bot.ports.Preferences. `also` is the .env where the bot was started."""

    def __init__(
        self, current: Callable[[], Settings], environ: Mapping[str, str], also: Path = Path(".env")
    ) -> None:
        self._current = current
        self._environ = environ
        self._also = also.absolute()

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
            # a link leads to where the operator keeps it: that file is changed, not the link
            file = file.resolve()
            Disk().replace(file, _with(_text(file), {_URL: base_url, _MODEL: model}).encode())
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
            if self._also.resolve() != file.resolve() and _sets(self._also, name):
                raise Refused(f"{name} is set in {self._also}.", "Change it there.")


def _text(file: Path) -> str:
    """Line ends as they are: what is not changed stays."""
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
        access(settings)
    except Unavailable as wanting:
        return wanting.remedy
    return ""


def _sets(file: Path, name: str) -> bool:
    """Also with nothing behind the sign: what is empty there counts more than what is written elsewhere."""
    return any(_names(line, name) for line in _text(file).splitlines())


def _names(line: str, name: str) -> bool:
    """As the settings are read: whichever way it is written."""
    return bool(re.match(rf"\s*(?:export\s+)?{name}\s*(?:=|$)", line, re.IGNORECASE))


def _with(text: str, chosen: Mapping[str, str]) -> str:
    """The file with these lines, where they stood, else at its end. Every other line stays as it was."""
    lines = text.removesuffix("\n").split("\n") if text else []
    for name, value in chosen.items():
        known = [number for number, line in enumerate(lines) if _names(line, name)]
        place = known[0] if known else len(lines)
        lines = [line for number, line in enumerate(lines) if number not in known]
        lines.insert(place, f"{name}={value}")
    return "\n".join([*lines, ""])
