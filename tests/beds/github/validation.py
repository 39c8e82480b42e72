"""Whether an answer is one GitHub could give: GitHub's own description of its API as JSON schemas."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from tests.beds.github.names import Json

_DESCRIPTION = Path(__file__).parent / "schemas" / "github-openapi-subset.json"
_REALLY_NULL = (
    ("pull-request-review-comment", "line"),
    ("pull-request-review-comment", "position"),
)
"""What GitHub answers although its description does not say so: an outdated comment has no place."""
_ERRORS = {422: "validation-error"}
"""What a refusal looks like where the description does not say."""


def wrong_in_answer(method: str, path: str, shape: str, status: int, answer: object) -> list[str]:
    """What is wrong with an answer to this path of the description, or of the shape that a route names."""
    pointer = _of_path(method, path, status)
    if pointer is None and status >= 400:
        pointer = _component(_ERRORS.get(status, "basic-error"))
    if pointer is None and shape:
        pointer = _component(shape)
    if pointer is None:
        return [f"{method} {path} {status}: nobody has described this answer"]
    return [f"{method} {path} {status}: {one}" for one in _against(pointer, answer)]


def wrong_in_request(method: str, path: str, body: object) -> list[str]:
    """What is wrong with a request, as GitHub words it."""
    operation = _description()["paths"].get(path, {}).get(method.lower(), {})
    if "requestBody" not in operation:
        return []
    pointer = f"#/paths/{_escaped(path)}/{method.lower()}/requestBody/content/application~1json"
    return [_worded(error) for error in _errors(pointer + "/schema", body)]


def _of_path(method: str, path: str, status: int) -> str | None:
    """Where the description says what such an answer looks like."""
    responses = _description()["paths"].get(path, {}).get(method.lower(), {}).get("responses", {})
    response = responses.get(str(status))
    if response is None:
        return None
    where = f"#/paths/{_escaped(path)}/{method.lower()}/responses/{status}"
    if "$ref" in response:
        where = response["$ref"]
        response = _description()["components"]["responses"][where.rpartition("/")[2]]
    if "application/json" not in response.get("content", {}):
        return None
    return f"{where}/content/application~1json/schema"


def _component(shape: str) -> str:
    """`label`, or `[]label` for a list of them."""
    return f"#/components/schemas/{shape}" if not shape.startswith("[]") else shape


def _against(pointer: str, answer: object) -> Iterator[str]:
    if pointer.startswith("[]"):
        for one in cast("list[object]", answer):
            yield from _against(_component(pointer[2:]), one)
        return
    for error in _errors(pointer, answer):
        path = "".join(f"/{step}" for step in error.absolute_path)
        yield f"{path or '/'}: {error.message[:300]}"


def _errors(pointer: str, value: object) -> Iterator[ValidationError]:
    errors: Callable[[object], Iterator[ValidationError]] = attrgetter("iter_errors")(
        _validator(pointer)
    )
    return errors(value)


def _worded(error: ValidationError) -> str:
    if error.validator == "required":
        return error.message.replace("'", '"').replace(
            " is a required property", " wasn't supplied."
        )
    path = "/".join(str(step) for step in error.absolute_path)
    return f"For '{path or 'links/0/schema'}', {error.message[:200]}."


@functools.cache
def _validator(pointer: str) -> Draft202012Validator:
    whole = _description()
    schema = {"$ref": pointer, "paths": whole["paths"], "components": whole["components"]}
    return Draft202012Validator(schema, format_checker=_formats())


@functools.cache
def _description() -> Json:
    found = json.loads(_DESCRIPTION.read_text(encoding="utf-8"))
    for shape, name in _REALLY_NULL:
        found["components"]["schemas"][shape]["properties"][name]["nullable"] = True
    return _with_null(found)


@functools.cache
def _formats() -> FormatChecker:
    checker = FormatChecker(formats=())
    checker.checks("date-time", ValueError)(_is_time)
    checker.checks("uri")(_is_address)
    return checker


def _is_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


def _is_address(value: object) -> bool:
    return not isinstance(value, str) or bool(urlsplit(value).scheme)


def _with_null(value: Any) -> Any:
    """OpenAPI's `nullable` in the words of JSON schema."""
    if isinstance(value, list):
        return [_with_null(one) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    old = cast("Json", value)
    made: Json = {name: _with_null(one) for name, one in old.items()}
    if old.get("nullable") is not True:
        return made
    del made["nullable"]
    if not isinstance(made.get("type"), str):
        return {"anyOf": [made, {"type": "null"}]}
    made["type"] = [made["type"], "null"]
    if "enum" in made:
        made["enum"] = [*made["enum"], None]
    return made


def _escaped(path: str) -> str:
    return path.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")
