"""The models that the settings name: who is asked in which role, and who stands in while somebody is away."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

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
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.llm import AI_SETTINGS_REQUIRED, ModelRole, Reply, Tool, Turn, Usage
from bot.core.masking import LearningMasker
from bot.core.text import sentences
from bot.ports import Llm
from bot.settings import Provider, Settings

log = logging.getLogger("bot.llm")

# The settings are read again at every question: they may change while the bot runs.

_CLIS = {Provider.CLAUDE_CODE: CLAUDE_CODE, Provider.CODEX: CODEX}
_CLI_MODELS = {Provider.CLAUDE_CODE: "claude", Provider.CODEX: "gpt-5"}
"""The model family a CLI uses when no model is named. The smallest window of the family counts."""
_ANTHROPIC = "https://api.anthropic.com/v1"
_OPENAI = "https://api.openai.com/v1"
_CHOICES = ", ".join(one for one in Provider if one is not Provider.CUSTOM)
_MAIN_NAMES = {"PROVIDER": "LLM_PROVIDER", "BASE_URL": "OPENAI_BASE_URL", "MODEL": "OPENAI_MODEL"}
FALLBACK = "fallback"


@dataclass(frozen=True)
class ChosenModel:
    """One model that the settings name."""

    name: str
    """A role, or `FALLBACK`."""
    provider: Provider
    base_url: str
    model: str
    key: str = field(repr=False)
    key_setting: str
    window: int
    """As the settings say; 0 if they do not."""

    @property
    def is_cli(self) -> bool:
        return self.provider in _CLIS

    @property
    def id(self) -> tuple[str, str]:
        """What is learned about a model is kept by this."""
        return (self.base_url or self.provider, self.model)

    @property
    def missing(self) -> list[str]:
        """Return the settings that are missing before it can be asked."""
        if self.is_cli:
            return []
        wanted = (
            (self.setting("BASE_URL"), self.base_url),
            (self.setting("MODEL"), self.model),
            (self.key_setting, self.key or self.provider is Provider.CUSTOM),
        )
        return [name for name, there in wanted if not there]

    def setting(self, what: str) -> str:
        """Return the name of the setting that holds its PROVIDER, BASE_URL or MODEL."""
        return (
            _MAIN_NAMES[what] if self.name == ModelRole.MAIN else f"LLM_{self.name.upper()}_{what}"
        )

    @property
    def access(self) -> LlmAccess:
        """Return the access to its endpoint. Raises Unavailable, with what is missing, until that is complete."""
        if missing := self.missing:
            raise Unavailable(AI_SETTINGS_REQUIRED, self._remedy(missing))
        return LlmAccess(self.base_url, self.model, self.key, self.key_setting)

    def _remedy(self, missing: list[str]) -> str:
        names = " and ".join(missing)
        if self.provider is not Provider.CUSTOM:
            return (
                f"{self.setting('PROVIDER')} is {self.provider}: set {names}, too; "
                "the bot goes on as soon as they are there."
            )
        key = "" if self.key else f", and {self.key_setting} where the endpoint wants a key"
        return (
            f"Set {names}{key}; or choose a {self.setting('PROVIDER')} ({_CHOICES}). "
            "The bot goes on as soon as they are there."
        )

    def in_its_words(self, error: PortError) -> PortError:
        """Return an error of an adapter with the settings of this model in place of those of the main one."""
        reason, remedy = error.reason, error.remedy
        for what, main in _MAIN_NAMES.items():
            reason = reason.replace(main, self.setting(what))
            remedy = remedy.replace(main, self.setting(what))
        if isinstance(error, Unavailable):
            if self.name == ModelRole.JUDGE:
                remedy = sentences(remedy, ONLY_THE_JUDGE)
            return Unavailable(reason, remedy, error.retry_after)
        return Refused(reason, remedy)


def main_model(settings: Settings) -> ChosenModel:
    provider = settings.llm_provider
    anthropic = provider is Provider.ANTHROPIC
    # Each provider has its own key: a key must never be sent to another provider.
    key = settings.anthropic_api_key if anthropic else settings.openai_api_key
    return ChosenModel(
        ModelRole.MAIN,
        provider,
        _address(provider, settings.openai_base_url),
        settings.openai_model,
        key.get_secret_value(),
        "ANTHROPIC_API_KEY" if anthropic else "OPENAI_API_KEY",
        settings.llm_context_window,
    )


def other_model(settings: Settings, name: str) -> ChosenModel | None:
    """Return the model that the settings name for a role, or as the fallback, beside the main one."""
    chosen: dict[str, object] = {
        what: getattr(settings, f"llm_{name}_{what}")
        for what in ("provider", "base_url", "model", "key", "context_window")
    }
    if not (chosen["provider"] or chosen["base_url"] or chosen["model"]):
        return None
    main = main_model(settings)
    provider = (
        settings.llm_provider if chosen["provider"] is None else Provider(str(chosen["provider"]))
    )
    own_url, url = str(chosen["base_url"]), main.base_url
    same = provider is main.provider and not own_url
    if not same:
        url = _address(provider, own_url)
    key, setting = _key_of(settings, name, provider, same=same)
    window = int(str(chosen["context_window"]))
    return ChosenModel(name, provider, url, str(chosen["model"]), key, setting, window)


def _key_of(settings: Settings, name: str, provider: Provider, *, same: bool) -> tuple[str, str]:
    """Return the key and its setting. Without a key of its own a model gets one that belongs to the same address only."""
    own = getattr(settings, f"llm_{name}_key").get_secret_value()
    main = main_model(settings)
    if not own and same:
        return main.key, main.key_setting
    if not own and provider is Provider.ANTHROPIC:
        return settings.anthropic_api_key.get_secret_value(), "ANTHROPIC_API_KEY"
    return own, f"LLM_{name.upper()}_KEY"


def _address(provider: Provider, base_url: str) -> str:
    match provider:
        case Provider.ANTHROPIC:
            # Always Anthropic's own address: a base URL left over from another provider must not receive this key.
            return _ANTHROPIC
        case Provider.OPENAI:
            return base_url or _OPENAI
        case Provider.CLAUDE_CODE | Provider.CODEX:
            return ""
        case _:
            return base_url


def chosen_models(settings: Settings) -> Iterator[ChosenModel]:
    """Yield all models that the settings name, the main one first."""
    yield main_model(settings)
    for name in (ModelRole.JUDGE, ModelRole.SMALL, FALLBACK):
        if found := other_model(settings, name):
            yield found


def model_for(settings: Settings, role: ModelRole) -> ChosenModel:
    return (role is not ModelRole.MAIN and other_model(settings, role)) or main_model(settings)


def stand_in(settings: Settings, chosen: ChosenModel) -> ChosenModel | None:
    """Return the model that answers while this one is away. The main one never judges in the place of a named judge."""
    small = chosen.name == ModelRole.SMALL
    return other_model(settings, FALLBACK) or (main_model(settings) if small else None)


def what_is_missing(settings: Settings) -> str:
    """Return what the main model lacks, in a sentence; empty if it can be asked."""
    main = main_model(settings)
    if main.is_cli:
        return ""
    try:
        _ = main.access
    except Unavailable as wanting:
        return wanting.remedy
    return ""


LONGEST_REPORTED_WAIT = 60.0
"""Seconds. Settings are read again at least this often, however long an endpoint asks to wait."""
ONLY_THE_JUDGE = (
    "Judging waits for it: no other model takes its place unnamed. "
    "Name one in LLM_FALLBACK_MODEL, or empty LLM_JUDGE_MODEL to let the main one judge."
)
FALLBACK_SECONDS = 60.0
"""After a failure the fallback is asked for this long, before the model in question is tried again."""


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
        self._away: dict[tuple[str, ...], tuple[float, Unavailable]] = {}
        """Models that failed: the time until when they are not asked, and the error they gave."""

    async def complete(
        self,
        system: str,
        data: str,
        *,
        schema: dict[str, object] | None,
        turns: Sequence[Turn] = (),
        tools: Sequence[Tool] = (),
        role: ModelRole = ModelRole.MAIN,
    ) -> Reply:
        settings = self._current()
        chosen = model_for(settings, role)
        instead = stand_in(settings, chosen)

        async def ask(one: ChosenModel) -> Reply:
            return await self.ask(one, system, data, schema=schema, turns=turns, tools=tools)

        try:
            self._raise_if_away(chosen)
            return await ask(chosen)
        except Unavailable as trouble:
            if self._is_away(chosen) is None and not chosen.missing:
                self._note_failure(chosen, trouble, with_fallback=instead is not None)
            if instead is None or chosen.missing:
                self._raise_if_away(chosen)
                raise
            log.warning("fallback", extra={"data": {"away": chosen.model, "why": trouble.reason}})
            try:
                return await ask(instead)
            except PortError as second:
                log.warning("fallback failed", extra={"data": {"why": second.reason}})
                raise trouble from second

    async def ask(
        self,
        model: ChosenModel,
        system: str,
        data: str,
        *,
        schema: dict[str, object] | None = None,
        turns: Sequence[Turn] = (),
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """Ask this model, and no other."""
        settings = self._current()
        self._masker.learn(settings.secrets)
        began = self._clock()
        try:
            llm = self._create_llm(model, settings.llm_timeout)
            reply = await llm.complete(system, data, schema=schema, turns=turns, tools=tools)
        except PortError as error:
            if model.name == ModelRole.MAIN:
                raise
            raise model.in_its_words(error) from error
        self._windows.learn(model.id, reply.context_window)
        asked = Usage(
            provider=model.provider,
            model=reply.model or model.model,
            milliseconds=int((self._clock() - began) * 1000),
            stood_in=int(model.name == FALLBACK),
            setting=model.name,
        )
        return reply.model_copy(update={"usage": reply.usage + asked})

    async def window(self, role: ModelRole = ModelRole.MAIN) -> int:
        """Return how many tokens the model accepts that would be asked now: by the setting, else as its endpoint or CLI
        reports, else by a table.
        """
        chosen = self._now(role)
        if chosen.window:
            return chosen.window
        if chosen.is_cli:
            named = chosen.model or _CLI_MODELS[chosen.provider]
            return self._windows.learnt(chosen.id) or window_in_table(named)
        if chosen.missing:
            return window_in_table(chosen.model)
        return await self._windows.of(chosen.access)

    def asked(self, role: ModelRole) -> str:
        """Return the name of the model that would be asked now: of a role, or of the fallback."""
        return self._now(role).name

    def _now(self, role: ModelRole) -> ChosenModel:
        settings = self._current()
        chosen = model_for(settings, role)
        instead = stand_in(settings, chosen)
        return instead if instead and self._is_away(chosen) else chosen

    def _note_failure(
        self, model: ChosenModel, trouble: Unavailable, *, with_fallback: bool
    ) -> None:
        wait = trouble.retry_after or 0
        if wait > LONGEST_REPORTED_WAIT or with_fallback:
            until = self._clock() + max(wait, FALLBACK_SECONDS if with_fallback else 0)
            self._away[_whom(model)] = (until, trouble)

    def _is_away(self, model: ChosenModel) -> Unavailable | None:
        until, trouble = self._away.get(_whom(model), (0.0, None))
        return trouble if until > self._clock() else None

    def _raise_if_away(self, model: ChosenModel) -> None:
        """Raise Unavailable while a model is left alone, for all sessions.

        The reported wait is at most LONGEST_REPORTED_WAIT, so that changed settings take effect soon.
        """
        if trouble := self._is_away(model):
            left = self._away[_whom(model)][0] - self._clock()
            wait = min(left, LONGEST_REPORTED_WAIT)
            raise Unavailable(trouble.reason, trouble.remedy, wait) from trouble

    def _create_llm(self, model: ChosenModel, timeout: float) -> Llm:
        mask = self._masker.mask
        if cli := _CLIS.get(model.provider):
            return CliLlm(cli, self._environ, mask=mask, model=model.model, timeout=timeout)
        return OpenAiLlm(
            model.access,
            mask=mask,
            timeout=timeout,
            capabilities=self._capabilities,
            windows=self._windows,
        )


def _whom(model: ChosenModel) -> tuple[str, ...]:
    return (model.provider, model.base_url, model.model, model.key)
