"""The master model: any endpoint that speaks OpenAI's chat completions. One question, one answer, no retries here."""

from adapters.llm.endpoint import LlmAccess, OpenAiLlm

__all__ = ["LlmAccess", "OpenAiLlm"]
