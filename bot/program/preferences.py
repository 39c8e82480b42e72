"""Which model is asked, chosen while the bot runs: two lines of the .env in the bot's home, and never a key.

What is set elsewhere counts more than that file, so it is not changed behind anybody's back: the one who asks is told where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from adapters.store.disk import Disk, make_private, unavailable
from bot.domain.world import ModelChoice
from bot.errors import Refused, SettingsError, Unavailable
from bot.program.models import access
from bot.settings import Provider, Settings

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
            raise unavailable(error, file) from error

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
