"""The master model that the settings name, looked up at every question: they may change while the bot is at work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic

from adapters.llm import CLAUDE_CODE, CODEX, CliLlm, Formats, LlmAccess, OpenAiLlm
from bot.domain.world import AI_SETTINGS, Reply, Usage
from bot.errors import Unavailable
from bot.ports import Llm
from bot.program.secrets import LearningMasker
from bot.settings import Provider, Settings

_CLIS = {Provider.CLAUDE_CODE: CLAUDE_CODE, Provider.CODEX: CODEX}
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
        asked = Usage(
            provider=settings.llm_provider,
            model=reply.model or settings.openai_model,
            milliseconds=int((self._clock() - began) * 1000),
        )
        return reply.model_copy(update={"usage": reply.usage + asked})

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
        return OpenAiLlm(access(settings), mask=mask, timeout=timeout, formats=self._formats)


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
