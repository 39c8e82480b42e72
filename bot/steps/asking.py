"""Asks the model one question: the answer is checked, asked for again at most twice with what was wrong, then done without.

A prompt file is the system message. Everything that comes from outside travels as data in a message of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from typing import TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.core.llm import Usage, estimate_tokens
from bot.core.text import is_in_language
from bot.ports import Llm

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
MAX_REASKS = 2
LONGEST = 400_000
"""Characters of an answer. What is longer is a model that does not come to its end, and nobody could read it."""
LONGEST_ECHO = 4000
"""Of a wrong answer that much is shown to the model again."""


class Answer(BaseModel):
    """What the model sends: strict about what is needed, deaf to what is not."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


async def ask(
    llm: Llm,
    name: str,
    data: dict[str, object],
    parse: Callable[[str], T],
    fallback: Callable[[], T],
    schema: type[BaseModel] | None,
    prose: Callable[[T], str] | None = None,
) -> tuple[T, Usage]:
    """Ask; say what was wrong and ask again, twice at most; then do without.

    `prose` is what of an answer people read: in another language than `data["language"]` it is asked for once more,
    and then taken as it is.
    """
    system, wanted = prompt(name), _json_schema(schema) if schema else None
    asked, usage = data, Usage()
    said: str | None = None
    foreign: list[T] = []
    for _ in range(1 + MAX_REASKS):
        sent = json.dumps(asked, ensure_ascii=False)
        reply = await llm.complete(system, sent, schema=wanted)
        usage += reply.usage + Usage(estimated=estimate_tokens(system + sent))
        text = _valid_unicode(reply.text)
        try:
            found = parse(_bounded(text))
        except (ValueError, RecursionError) as wrong:
            if text == said or foreign:
                break  # it does not listen, or there is an answer already
            said, problem = text, _described(wrong)
        else:
            problem = _wrong_language(found, prose, data) if not foreign else ""
            if not problem:
                return found, usage
            foreign.append(found)
        asked = {**data, "your_last_answer": text[:LONGEST_ECHO], "what_was_wrong": problem}
    return (foreign[0] if foreign else fallback()), usage


def _valid_unicode(text: str) -> str:
    """Without halves of surrogate pairs: neither a file nor a request takes them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _bounded(text: str) -> str:
    if len(text) > LONGEST:
        raise ValueError(f"the answer has {len(text)} characters; at most {LONGEST} are read")
    return text


def _wrong_language(found: T, prose: Callable[[T], str] | None, data: dict[str, object]) -> str:
    language = str(data.get("language", ""))
    if prose is None or is_in_language(prose(found), language):
        return ""
    return f"everything that people read must be written in {language}, the language of the request"


def _described(wrong: Exception) -> str:
    if isinstance(wrong, ValidationError):
        problems = wrong.errors(include_url=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in problems[:10])
    return str(wrong)[:1000] or type(wrong).__name__


def parsed(model: type[M]) -> Callable[[str], M]:
    """Reads an answer that is one JSON object."""

    def parse(text: str) -> M:
        found = json_object_in(unfenced(text))
        _refuse_schema(found, model)
        return model.model_validate(found)

    return parse


def _refuse_schema(found: dict[str, object], model: type[BaseModel]) -> None:
    """Some models send back the JSON schema they were given: where every field has a default it would pass."""
    known = set(model.model_fields)
    described = isinstance(found.get("properties"), dict) and "properties" not in known
    if described or {"$schema", "$defs", "$ref"} & set(found) - known:
        raise ValueError("that is the JSON schema itself; answer with an object that follows it")


def unfenced(text: str) -> str:
    """Without the code fence some models wrap a whole answer in."""
    body = text.strip()
    if body.startswith("```") and body.endswith("```") and "\n" in body:
        body = body[body.index("\n") + 1 : -3].strip()
    return body


def prompt(name: str) -> str:
    return (resources.files("bot.prompts") / f"{name}.md").read_text(encoding="utf-8")


@cache
def _json_schema(model: type[BaseModel]) -> dict[str, object]:
    """Making it takes longer than all else a question costs here."""
    return model.model_json_schema()


# The JSON object in an answer, whatever stands around it. A broken object is never mended: it
# might mean anything.

_OPENING = re.compile(r'\{(?=\s*["}])')
"""What can begin an object; a brace in prose hardly does."""


def json_object_in(text: str) -> dict[str, object]:
    """The outermost object, of several the largest. What looks like one and cannot be read is a ValueError."""
    found = max(_objects(text), key=lambda one: one[0], default=None)
    if found is None:
        raise ValueError("the answer holds no JSON object")
    return found[1]


def _objects(text: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Each object that is in no other, with its length.

    The search never looks inside one that is broken: a part of an answer that breaks off is not the answer.
    """
    decoder = json.JSONDecoder()
    at = _OPENING.search(text)
    while at:
        try:
            found, end = decoder.raw_decode(text, at.start())
        except json.JSONDecodeError as broken:
            where = f"line {broken.lineno} column {broken.colno}"
            raise ValueError(f"the JSON is broken at {where}: {broken.msg}") from broken
        yield end - at.start(), cast("dict[str, object]", found)
        at = _OPENING.search(text, end)
