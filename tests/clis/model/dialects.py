"""The four dialects: who asks for work, and how words, a command and an error are said in each."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any, Protocol

from tests.clis.model.script import Fail, Say, Shell

Json = dict[str, Any]
IN, OUT = 100, 20
"""Tokens of every answer."""
_ids = itertools.count(1)


class Dialect(Protocol):
    def at_work(self, body: Json) -> bool:
        """Whether the agent itself asks: it offers its tools then."""
        ...

    def streamed(self, path: str, body: Json) -> bool: ...

    def events(self, step: Say | Shell) -> Iterator[Json | str]: ...

    def whole(self, step: Say | Shell) -> Json: ...

    def error(self, fail: Fail) -> Json: ...


def of(path: str) -> Dialect | None:
    if path.endswith("/messages"):
        return Messages()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return Completions()
    if ":generateContent" in path or ":streamGenerateContent" in path:
        return Gemini()
    return None


class Messages:
    """Anthropic's."""

    def at_work(self, body: Json) -> bool:
        return any(tool.get("name") == "Bash" for tool in body.get("tools") or ())

    def streamed(self, path: str, body: Json) -> bool:
        return bool(body.get("stream"))

    def whole(self, step: Say | Shell) -> Json:
        return {
            **self._message(),
            "content": [self._block(step)],
            "stop_reason": self._reason(step),
        }

    def events(self, step: Say | Shell) -> Iterator[Json | str]:
        block = self._block(step)
        yield {"type": "message_start", "message": self._message()}
        if isinstance(step, Say):
            yield {"type": "content_block_start", "index": 0, "content_block": block | {"text": ""}}
            delta = {"type": "text_delta", "text": step.text}
        else:
            yield {
                "type": "content_block_start",
                "index": 0,
                "content_block": block | {"input": {}},
            }
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": self._reason(step), "stop_sequence": None},
            "usage": {"output_tokens": OUT},
        }
        yield {"type": "message_stop"}

    def error(self, fail: Fail) -> Json:
        return {"type": "error", "error": {"type": fail.kind, "message": fail.message}}

    def _message(self) -> Json:
        return {
            "id": f"msg_{next(_ids)}",
            "type": "message",
            "role": "assistant",
            "model": "claude-played",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": IN, "output_tokens": 1},
        }

    def _block(self, step: Say | Shell) -> Json:
        if isinstance(step, Say):
            return {"type": "text", "text": step.text}
        given: Json = {"command": step.command, "description": "Work"}
        if step.background:
            given["run_in_background"] = True
        return {"type": "tool_use", "id": f"toolu_{next(_ids)}", "name": "Bash", "input": given}

    def _reason(self, step: Say | Shell) -> str:
        return "end_turn" if isinstance(step, Say) else "tool_use"


class Responses:
    """OpenAI's newer one."""

    def at_work(self, body: Json) -> bool:
        return bool(body.get("tools"))

    def streamed(self, path: str, body: Json) -> bool:
        return bool(body.get("stream"))

    def whole(self, step: Say | Shell) -> Json:
        return {
            "id": f"resp_{next(_ids)}",
            "object": "response",
            "status": "completed",
            "output": [self._item(step)],
            "usage": {
                "input_tokens": IN,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": OUT,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": IN + OUT,
            },
        }

    def events(self, step: Say | Shell) -> Iterator[Json | str]:
        response = self.whole(step)
        item = response["output"][0]
        yield {
            "type": "response.created",
            "response": {**response, "status": "in_progress", "output": []},
        }
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": response}

    def error(self, fail: Fail) -> Json:
        said = {"message": fail.message, "type": fail.kind, "code": fail.kind}
        return {"error": said | dict(fail.more)}

    def _item(self, step: Say | Shell) -> Json:
        if isinstance(step, Say):
            return {
                "type": "message",
                "id": f"msg_{next(_ids)}",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": step.text, "annotations": []}],
            }
        return {
            "type": "function_call",
            "id": f"fc_{next(_ids)}",
            "call_id": f"call_{next(_ids)}",
            "name": "exec_command",
            "arguments": json.dumps({"cmd": step.command}),
            "status": "completed",
        }


class Gemini:
    """Google's."""

    def at_work(self, body: Json) -> bool:
        return bool(body.get("tools"))

    def streamed(self, path: str, body: Json) -> bool:
        return ":streamGenerateContent" in path

    def whole(self, step: Say | Shell) -> Json:
        if isinstance(step, Say):
            part: Json = {"text": step.text}
        else:
            given = {"command": step.command, "description": "Work"}
            part = {"functionCall": {"name": "run_shell_command", "args": given}}
        return {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": IN,
                "candidatesTokenCount": OUT,
                "totalTokenCount": IN + OUT,
            },
            "modelVersion": "gemini-played",
        }

    def events(self, step: Say | Shell) -> Iterator[Json | str]:
        yield self.whole(step)

    def error(self, fail: Fail) -> Json:
        said = {"code": fail.status, "message": fail.message, "status": fail.kind}
        return {"error": said | dict(fail.more)}


class Completions:
    """OpenAI's chat completions, which everybody speaks."""

    def at_work(self, body: Json) -> bool:
        return bool(body.get("tools"))

    def streamed(self, path: str, body: Json) -> bool:
        return bool(body.get("stream"))

    def whole(self, step: Say | Shell) -> Json:
        return self._answer(message=self._said(step), reason=self._reason(step)) | {
            "usage": self._usage()
        }

    def events(self, step: Say | Shell) -> Iterator[Json | str]:
        yield self._answer(delta=self._said(step), reason=None)
        yield self._answer(delta={}, reason=self._reason(step))
        yield self._answer(delta=None, reason=None) | {"choices": [], "usage": self._usage()}
        yield "[DONE]"

    def error(self, fail: Fail) -> Json:
        return {"error": {"message": fail.message, "type": fail.kind}}

    def _answer(
        self, *, reason: str | None, message: Json | None = None, delta: Json | None = None
    ) -> Json:
        said = {"message": message} if message is not None else {"delta": delta}
        return {
            "id": f"chatcmpl-{next(_ids)}",
            "object": "chat.completion" if message is not None else "chat.completion.chunk",
            "created": 0,
            "model": "gpt-played",
            "choices": [{"index": 0, "finish_reason": reason, **said}],
        }

    def _said(self, step: Say | Shell) -> Json:
        if isinstance(step, Say):
            return {"role": "assistant", "content": step.text}
        given = json.dumps({"command": step.command, "description": "Work"})
        call = {
            "index": 0,
            "id": f"call_{next(_ids)}",
            "type": "function",
            "function": {"name": "bash", "arguments": given},
        }
        return {"role": "assistant", "content": "", "tool_calls": [call]}

    def _reason(self, step: Say | Shell) -> str:
        return "stop" if isinstance(step, Say) else "tool_calls"

    def _usage(self) -> Json:
        return {"prompt_tokens": IN, "completion_tokens": OUT, "total_tokens": IN + OUT}
