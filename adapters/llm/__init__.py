"""The master model: an endpoint with OpenAI's chat completions API, or an agent CLI.

One question, one answer, no retries here.
"""

from adapters.llm.capabilities import Capabilities
from adapters.llm.client import LlmAccess
from adapters.llm.clis import CLAUDE_CODE, CODEX, MasterCli
from adapters.llm.endpoint import OpenAiLlm
from adapters.llm.headless import CliLlm
from adapters.llm.windows import Windows, limit_in, window_in_table

__all__ = [
    "CLAUDE_CODE",
    "CODEX",
    "Capabilities",
    "CliLlm",
    "LlmAccess",
    "MasterCli",
    "OpenAiLlm",
    "Windows",
    "limit_in",
    "window_in_table",
]
