"""All settings in one model, from the environment and the .env files. All problems are reported at once."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import (
    AliasChoices,
    Field,
    JsonValue,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.core.errors import SettingsError
from bot.settings_parsing import (
    BadLine,
    MatrixPeople,
    MatrixPlaces,
    SlackPeople,
    SlackPlaces,
    read_env_files,
)

if TYPE_CHECKING:
    from bot.core.evidence import TaskLimits
    from bot.core.intent import Source

_SECRET = (
    "openai_api_key",
    "anthropic_api_key",
    "llm_judge_key",
    "llm_small_key",
    "llm_fallback_key",
    "slack_bot_token",
    "slack_app_token",
    "slack_signing_secret",
    "matrix_access_token",
    "matrix_password",
    "github_token",
)


_PEOPLE = ("_users", "_approvers", "_stoppers", "_admins")
LEAST_WINDOW = 8_000
"""Tokens. No useful plan fits into less."""
A_DAY, A_WEEK = 86_400, 604_800
LARGEST_NUMBER = 100_000_000
"""The largest value of numbers without a limit of their own: anything larger is a mistake that no timer or file could
handle.
"""
_RESTRICTIVE_SETTINGS = frozenset(
    {
        *("gwt_home", "gwt_repository", "sandbox", "on_restart"),
        *("llm_provider", "openai_base_url", "slack_api_url", "github_api_url"),
        *(
            f"llm_{role}_{what}"
            for role in ("judge", "small", "fallback")
            for what in ("provider", "base_url")
        ),
        *("github_repository", "gwt_pull_requests", "gwt_intents"),
        *("gwt_parallel", "gwt_most_repositories", "gwt_most_files", "gwt_most_tests"),
        *("gwt_most_seconds", "gwt_most_in_a_minute", "gwt_most_in_an_hour", "gwt_most_sessions"),
        *("gwt_low_risk_sources", "gwt_high_risk_approvers", "gwt_high_risk_asker_counts"),
        *("slack_approvers", "slack_stoppers", "slack_admins"),
        *("matrix_approvers", "matrix_stoppers", "matrix_admins", "matrix_encrypted_approvals"),
    }
)
"""Settings that restrict what the bot does or where it works.

Their defaults allow more or lead elsewhere, so the bot does not start if one that somebody has tried to set cannot be
read.
"""


class OnRestart(StrEnum):
    CONTINUE = "continue"
    ASK = "ask"


class Provider(StrEnum):
    """The provider of the master model."""

    CUSTOM = "custom"
    """Any endpoint with OpenAI's chat completions API, at OPENAI_BASE_URL."""
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"


class Progress(StrEnum):
    """How the live status is updated."""

    EDIT = "edit"
    """Edited in place; it moves to the end of the thread if others have written since."""
    POST = "post"
    """Posted at the end of the thread, at every tick."""


class EncryptedApprovals(StrEnum):
    """How plans are approved in encrypted rooms of Matrix."""

    REACTIONS = "reactions"
    TEXT = "text"


class SandboxKind(StrEnum):
    """What confines agents and the repository's own commands."""

    NONE = "none"
    BWRAP = "bwrap"


class MergeMethod(StrEnum):
    """How pull requests are merged."""

    SQUASH = "squash"
    MERGE = "merge"
    REBASE = "rebase"


class Settings(BaseSettings):
    """Named as in the environment. .env.example explains each setting."""

    model_config = SettingsConfigDict(
        extra="ignore", env_file_encoding="utf-8", hide_input_in_errors=True
    )

    llm_provider: Provider = Provider.CUSTOM
    openai_base_url: str = ""
    openai_model: str = ""
    openai_api_key: SecretStr = SecretStr("")
    anthropic_api_key: SecretStr = SecretStr("")
    llm_timeout: float = Field(default=180, gt=0, le=A_DAY)
    llm_context_window: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    """In tokens; 0 if unknown."""
    llm_judge_provider: Provider | None = None
    llm_judge_base_url: str = ""
    llm_judge_model: str = ""
    llm_judge_key: SecretStr = SecretStr("")
    llm_judge_context_window: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    llm_small_provider: Provider | None = None
    llm_small_base_url: str = ""
    llm_small_model: str = ""
    llm_small_key: SecretStr = SecretStr("")
    llm_small_context_window: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    llm_fallback_provider: Provider | None = None
    llm_fallback_base_url: str = ""
    llm_fallback_model: str = ""
    llm_fallback_key: SecretStr = SecretStr("")
    llm_fallback_context_window: int = Field(default=0, ge=0, le=LARGEST_NUMBER)

    gwt_home: Path = Field(
        default=Path("~/.gwt"), validation_alias=AliasChoices("GWT_HOME", "gwt_home")
    )
    gwt_repository: Path = Path()
    gwt_repositories: str = ""
    """Further repositories as name=path, separated by commas."""
    gwt_agent: str = "claude"
    gwt_agent_command: str = ""
    gwt_agent_env: str = ""
    gwt_test_command: str = ""
    gwt_check_seconds: float = Field(default=900, gt=0, le=A_WEEK)
    gwt_other_agents: str = ""
    gwt_set_up: str = ""
    gwt_copy_files: str = ""
    sandbox: SandboxKind = SandboxKind.NONE
    sandbox_read: str = ""
    sandbox_write: str = ""
    gwt_most_files: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    gwt_most_tests: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    gwt_most_seconds: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    gwt_quiet_seconds: int = Field(default=900, ge=0, le=A_WEEK)
    gwt_long_seconds: int = Field(default=7200, ge=0, le=A_WEEK)
    on_restart: OnRestart = OnRestart.CONTINUE
    gwt_parallel: int = Field(default=10, ge=1, le=10)
    gwt_most_repositories: int = Field(default=4, ge=0, le=LARGEST_NUMBER)
    gwt_intents: bool = True
    gwt_reflect_after: bool = False
    gwt_low_risk_alone: bool = False
    gwt_low_risk_sources: str = "human"
    gwt_high_risk_approvers: int = Field(default=1, ge=1, le=9)
    gwt_high_risk_asker_counts: bool = True
    gwt_most_in_a_minute: int = Field(default=120, ge=0, le=LARGEST_NUMBER)
    gwt_most_in_an_hour: int = Field(default=30, ge=0, le=LARGEST_NUMBER)
    gwt_most_sessions: int = Field(default=200, ge=0, le=LARGEST_NUMBER)
    progress_seconds: float = Field(default=120, ge=1, le=A_DAY)
    progress: Progress = Progress.EDIT

    gwt_pull_requests: bool = True
    github_token: SecretStr = SecretStr("")
    github_repository: str = ""
    github_api_url: str = "https://api.github.com"
    github_app_id: str = ""
    github_app_key_file: Path | None = None
    github_app_installation: str = ""
    github_merge_method: MergeMethod | None = None
    github_poll_seconds: float = Field(default=60, ge=1, le=A_DAY)
    github_checks_seconds: float = Field(default=600, ge=1, le=A_DAY)

    slack_bot_token: SecretStr = SecretStr("")
    slack_app_token: SecretStr = SecretStr("")
    slack_signing_secret: SecretStr = SecretStr("")
    slack_http_host: str = "127.0.0.1"
    slack_http_port: int = Field(default=3000, ge=1, le=65535)
    slack_api_url: str = "https://slack.com/api/"
    slack_users: SlackPeople = frozenset()
    slack_approvers: SlackPeople = frozenset()
    slack_stoppers: SlackPeople = frozenset()
    slack_admins: SlackPeople = frozenset()
    slack_channels: SlackPlaces = frozenset()
    slack_shared_channels: SlackPlaces = frozenset()

    matrix_homeserver: str = ""
    matrix_user: str = ""
    matrix_access_token: SecretStr = SecretStr("")
    matrix_password: SecretStr = SecretStr("")
    matrix_encrypted_approvals: EncryptedApprovals = EncryptedApprovals.REACTIONS
    matrix_users: MatrixPeople = frozenset()
    matrix_approvers: MatrixPeople = frozenset()
    matrix_stoppers: MatrixPeople = frozenset()
    matrix_admins: MatrixPeople = frozenset()
    matrix_rooms: MatrixPlaces = frozenset()

    _bad_lines: tuple[BadLine, ...] = PrivateAttr(())

    @field_validator("llm_provider", mode="before")
    @classmethod
    def _custom_if_empty(cls, provider: object) -> object:
        return provider or Provider.CUSTOM

    @field_validator("progress", mode="before")
    @classmethod
    def _edited_if_not_said(cls, progress: object) -> object:
        return progress or Progress.EDIT

    @field_validator(
        *("github_merge_method", "github_app_key_file"),
        *("llm_judge_provider", "llm_small_provider", "llm_fallback_provider"),
        mode="before",
    )
    @classmethod
    def _none_if_empty(cls, value: object) -> object:
        return value or None

    @field_validator("github_repository")
    @classmethod
    def _owner_and_name(cls, slug: str) -> str:
        if slug and not re.fullmatch(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}", slug):
            raise ValueError("must be owner/name")
        return slug

    @field_validator("sandbox", mode="before")
    @classmethod
    def _none_if_not_said(cls, kind: object) -> object:
        return kind or SandboxKind.NONE

    @field_validator("sandbox_read", "sandbox_write")
    @classmethod
    def _absolute_paths(cls, text: str) -> str:
        if lost := [path for path in paths_in(text) if not Path(path).is_absolute()]:
            raise ValueError(f"must be absolute paths, separated by commas; {lost[0]!r} is not")
        return text

    @field_validator("gwt_low_risk_sources")
    @classmethod
    def _sources(cls, text: str) -> str:
        sources_in(text)
        return text

    @field_validator("gwt_repositories")
    @classmethod
    def _names_and_paths(cls, text: str) -> str:
        repositories_in(text)
        return text

    @model_validator(mode="after")
    def _one_on_github_by_name(self) -> Settings:
        if self.github_repository and self.gwt_repositories:
            raise ValueError(
                "GITHUB_REPOSITORY is for one repository; with GWT_REPOSITORIES each is found by its remote origin"
            )
        return self

    @model_validator(mode="after")
    def _each_has_its_own_name(self) -> Settings:
        # Otherwise the default repository could not be named.
        others = repositories_in(self.gwt_repositories)
        name, path = self._usual
        if any(one.lower() == name.lower() and others[one] != path for one in others):
            raise ValueError(f"GWT_REPOSITORIES: {name} is the name of GWT_REPOSITORY already")
        return self

    @field_validator(
        *("llm_context_window", "llm_judge_context_window"),
        *("llm_small_context_window", "llm_fallback_context_window"),
    )
    @classmethod
    def _room_for_a_plan(cls, tokens: int) -> int:
        if tokens and tokens < LEAST_WINDOW:
            raise ValueError(f"must be 0 (not known) or at least {LEAST_WINDOW}")
        return tokens

    @field_validator("gwt_home", "gwt_repository")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        found = _from_here(path)
        if len(str(found).splitlines()) > 1:
            raise ValueError("there is a line break in this path: rename the folder")
        return found

    @field_validator(
        *("openai_base_url", "llm_judge_base_url", "llm_small_base_url", "llm_fallback_base_url"),
        *("matrix_homeserver", "slack_api_url", "github_api_url"),
    )
    @classmethod
    def _url(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return url.rstrip("/")

    def without(self, lines: tuple[BadLine, ...]) -> Self:
        self._bad_lines = lines
        return self

    @property
    def bad_lines(self) -> tuple[BadLine, ...]:
        """Lines of the .env files that could not be read; their settings are not set."""
        return self._bad_lines

    @property
    def secrets(self) -> dict[str, str]:
        """Values that must never be shown: name → value."""
        kept = {name: getattr(self, name) for name in _SECRET}
        return {name.upper(): v.get_secret_value() for name, v in kept.items() if v}

    @property
    def repositories(self) -> dict[str, str]:
        """All repositories by name, the default one first; without a name of its own it has its folder's."""
        return dict([self._usual]) | repositories_in(self.gwt_repositories)

    @property
    def _usual(self) -> tuple[str, str]:
        usual, others = str(self.gwt_repository), repositories_in(self.gwt_repositories)
        own = self.gwt_repository.name or "repository"
        return next((name for name, path in others.items() if path == usual), own), usual

    @property
    def limits(self) -> TaskLimits:
        """What a task may use before a person is asked. 0 in the settings means no limit."""
        from bot.core.evidence import (
            TaskLimits,  # imported here because every command reads the settings, but few need the limits
        )

        return TaskLimits(
            max_files=self.gwt_most_files or None,
            max_tests=self.gwt_most_tests or None,
            max_seconds=self.gwt_most_seconds or None,
            quiet_seconds=self.gwt_quiet_seconds or None,
            long_seconds=self.gwt_long_seconds or None,
        )

    @property
    def low_risk_sources(self) -> frozenset[Source]:
        return sources_in(self.gwt_low_risk_sources)

    def told(self) -> dict[str, JsonValue]:
        """Return the effective settings, without secrets and without permissions."""
        unsaid = {*_SECRET, *(name for name in type(self).model_fields if name.endswith(_PEOPLE))}
        return self.model_dump(mode="json", exclude=unsaid)

    def keys(self) -> dict[str, bool]:
        """Return which keys are set, never their values."""
        names = ("openai_base_url", "openai_model", *_SECRET, "matrix_homeserver")
        return {name.upper(): bool(getattr(self, name)) for name in names}


def repositories_in(text: str) -> dict[str, str]:
    """Parse `web=/srv/web, api=/srv/api`."""
    found: dict[str, str] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, separator, path = (piece.strip() for piece in part.partition("="))
        if not (separator and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name) and path):
            raise ValueError(f"must be name=path, separated by commas; {part!r} is not")
        if name.lower() in {known.lower() for known in found}:
            raise ValueError(f"{name} is named twice")
        found[name] = str(_from_here(Path(path)))
    return found


def paths_in(text: str) -> tuple[str, ...]:
    """Parse `~/.nvm, /srv/cache`."""
    parts = (part.strip() for part in text.split(","))
    return tuple(str(_expanded(Path(part))) for part in parts if part)


def sources_in(text: str) -> frozenset[Source]:
    """Parse `human, reflection`."""
    from bot.core.intent import Source

    told = {part.strip() for part in text.split(",")} - {""}
    if unknown := sorted(told - set(Source)):
        raise ValueError(f"can be {', '.join(Source)}; {unknown[0]!r} is neither")
    return frozenset(map(Source, told))


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"{path}: there is no home folder of that name") from error


def _from_here(path: Path) -> Path:
    return _expanded(path).absolute()


def load(env_file: Path | None = Path(".env")) -> Settings:
    """Return the current settings; another call may return changed ones."""
    files = [file for file in (_home_env_file(), env_file) if file] if env_file else []
    try:
        Path.cwd()
    except FileNotFoundError as gone:
        raise _settings_error(
            ["the folder you are in was removed; change to another one"]
        ) from gone
    for file in files:
        _refuse_readable(file)
    values, bad = read_env_files(files, Settings.model_fields)
    if limiting := [line for line in bad if line.setting.lower() in _RESTRICTIVE_SETTINGS]:
        raise _settings_error(map(str, limiting))
    there = {name.lower() for name in os.environ}
    try:
        # plain strings, as in the environment: the model converts them
        given = Settings(**{name: values[name] for name in values.keys() - there})  # pyright: ignore[reportArgumentType]
    except ValidationError as wrong:
        raise _settings_error(_described(wrong)) from wrong
    return given.without(bad)


def _home_env_file() -> Path:
    """Return the .env for all repositories. The one in the start folder takes precedence."""
    try:
        return _expanded(Path(os.environ.get("GWT_HOME") or "~/.gwt")) / ".env"
    except ValueError as wrong:
        raise _settings_error([f"GWT_HOME: {wrong}"]) from wrong


def _refuse_readable(env_file: Path) -> None:
    """Raise SettingsError if others can read the file and its keys."""
    try:
        mode = env_file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _settings_error([f"{env_file} cannot be read: {error.strerror}"]) from error
    if stat.S_ISREG(mode) and mode & 0o077:
        raise SettingsError(f"{env_file} can be read by others: chmod 600 {env_file}")


def _settings_error(problems: Iterable[str]) -> SettingsError:
    lines = ["The settings do not allow a start:", *problems]
    return SettingsError("\n  ".join(lines))


def _described(wrong: ValidationError) -> list[str]:
    """Return each problem on a line, without the value: it could be a secret in the wrong place."""
    lines: list[str] = []
    for problem in wrong.errors(include_url=False, include_input=False):
        name = ".".join(map(str, problem["loc"]))
        why = _number_hint(name.lower(), problem["type"]) or problem["msg"]
        about = f"{name.upper()}: " if name else ""
        lines.append(about + why.removeprefix("Value error, "))
    return lines


def _number_hint(name: str, type: str) -> str:
    """Return which numbers are allowed; empty if the problem is another one."""
    field = Settings.model_fields.get(name)
    if field is None or not type.startswith(("int_", "float_", "finite", "greater", "less")):
        return ""
    kinds = ("ge", "gt", "le")
    bounds = {
        kind: getattr(one, kind) for one in field.metadata for kind in kinds if hasattr(one, kind)
    }
    least = f"at least {bounds['ge']:,}" if "ge" in bounds else f"more than {bounds['gt']:,}"
    kind = "a whole number" if field.annotation is int else "a number"
    return f"must be {kind}, {least} and at most {bounds['le']:,}"


def pane_environment() -> dict[str, str]:
    """Return the allow-listed part of the bot's environment that programs in panes may see."""
    allowed = (
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "USER",
        "LOGNAME",
        "SHELL",
        "TMPDIR",
    )
    chosen = {name: os.environ[name] for name in allowed if name in os.environ}
    chosen.setdefault("LANG", "C.UTF-8")
    chosen["TERM"] = "xterm-256color"
    return chosen
