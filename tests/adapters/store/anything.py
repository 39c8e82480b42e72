"""Anything a model can be: a strategy made from its fields, so that new fields are tested the day they appear."""

from __future__ import annotations

import types
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from pydantic import AwareDatetime, BaseModel

M = TypeVar("M", bound=BaseModel)

THOROUGH = settings(
    deadline=None,
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
