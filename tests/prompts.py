"""Every question to the model, and the plainest reply to each: what nobody has written a better answer for."""

from __future__ import annotations

from typing import Any, cast

from adapters.demo.answers import plainest
from bot.core import desk
from bot.steps.asking import PROMPTS, ModelReply

assert desk, "it imports every module that has a question"
REPLIES: dict[str, type[ModelReply]] = {
    name: question.reply for name, question in PROMPTS.items() if question.reply
}
"""The models of all replies in JSON."""


def plain_reply(name: str) -> dict[str, Any]:
    schema = REPLIES[name].model_json_schema()
    return cast("dict[str, Any]", plainest(schema, schema, "It is so."))
