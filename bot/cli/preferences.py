"""The model as people choose it while the bot runs: two lines of the .env in the bot's home, never a key.

Settings from elsewhere take precedence over that file; then nothing is changed, and people are told where the value is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from adapters.files import Disk, make_private
from adapters.store.disk import disk_error
from bot.cli.models import what_is_missing
from bot.core.errors import Refused, SettingsError
from bot.core.llm import ModelChoice
from bot.settings import Provider, Settings

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
            missing=what_is_missing(settings),
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
