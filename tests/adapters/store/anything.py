"""Anything a model can be, and one with nothing left out: made from its fields, so that new fields are tested the day they appear."""

from __future__ import annotations

import types
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import Enum
from itertools import count
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from pydantic import AwareDatetime, BaseModel

M = TypeVar("M", bound=BaseModel)

THOROUGH = settings(
    database=None,
    phases=[Phase.generate],  # shrinking something this large takes minutes, and names no culprit
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)

_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=6),
    int: st.integers(0, 2**31),
    bool: st.booleans(),
    float: st.floats(0, 1e6),
    types.NoneType: st.none(),
    datetime: st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
}
_PLAIN[AwareDatetime] = _PLAIN[datetime]


def any_of(model: type[M]) -> st.SearchStrategy[M]:
    """Deferred, for its description would fill pages."""
    fields = {name: _any(field.annotation) for name, field in model.model_fields.items()}
    return st.deferred(lambda: st.builds(model, **fields))


def _any(annotation: Any) -> st.SearchStrategy[Any]:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return st.one_of([_any(part) for part in arguments])
    if origin is Annotated:
        return _any(arguments[0])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return st.lists(_any(arguments[0]), max_size=3)
    if origin is tuple and Ellipsis not in arguments:
        return st.tuples(*[_any(part) for part in arguments])
    if origin is tuple:
        return st.lists(_any(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(_any(arguments[0]), _any(arguments[1]), max_size=2)
    if issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    return st.deferred(lambda: any_of(annotation))


class Filled:
    """Makes models in which no field has its default and no list is empty; every text and number stands there once."""

    def __init__(self) -> None:
        self._numbers = count(100)

    def one(self, model: type[M], **given: object) -> M:
        values = {
            name: self._value(field.annotation, field.get_default(call_default_factory=True))
            for name, field in model.model_fields.items()
            if name not in given
        }
        return model(**(values | given))

    def _value(self, annotation: Any, default: object) -> object:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is list or (origin is tuple and Ellipsis in arguments):
            items = [self._value(kind, None) for kind in _kinds(arguments[0])]
            return items if origin is list else tuple(items)
        if origin is tuple:
            return tuple(self._value(part, None) for part in arguments)
        if origin is dict:
            return {self._value(arguments[0], None): self._value(arguments[1], None)}
        if origin is Literal:
            return next((value for value in arguments if value != default), arguments[0])
        kind, *_ = _kinds(annotation)
        if kind is not annotation:
            return self._value(kind, default)
        if issubclass(kind, Enum):
            return next(value for value in kind if value is not default)
        return self.one(kind) if issubclass(kind, BaseModel) else self._plain(kind, default)

    def _plain(self, kind: type, default: object) -> object:
        number = next(self._numbers)
        if kind is bool:
            return not default
        if kind in (datetime, AwareDatetime):
            return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
        return f"text {number}" if kind is str else kind(number) + (0.5 if kind is float else 0)


def _kinds(annotation: Any) -> list[Any]:
    """What something can be but nothing: of a union every part."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kinds(arguments[0])
    if origin in (Union, types.UnionType):
        return [kind for part in arguments for kind in _kinds(part) if kind is not types.NoneType]
    return [annotation]


def left_out(model: BaseModel, place: str = "") -> Iterator[str]:
    """Which fields have their default, or nothing in them. A kind can be nothing else."""
    for name, field in type(model).model_fields.items():
        value, inner = getattr(model, name), f"{place}.{name}"
        default = field.get_default(call_default_factory=True)
        if (value == default and get_origin(field.annotation) is not Literal) or value in ((), []):
            yield inner
        several = isinstance(value, (list, tuple))
        for item in cast("list[object]", value) if several else [value]:
            if isinstance(item, BaseModel):
                yield from left_out(item, inner)
