"""What may go wrong with any call to the world, by seed: the bot dies, the call fails, or its answer is lost after the deed.

A life is one run of the bot's program. Once it is over nothing of it reaches the world any more.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from types import GeneratorType
from typing import Any

from bot.core.errors import Unavailable

Called = Callable[[str, Callable[..., object], tuple[object, ...], dict[str, object]], None]
"""The port, its method, and the arguments."""
LATENCY = 0.4
"""Of all calls take a while; the others answer at once."""


class DiedError(BaseException):
    """The bot was killed."""


@dataclass(frozen=True)
class Weather:
    """Shares of all calls that go wrong, each in its way."""

    crash: float = 0.0
    failure: float = 0.0
    lost: float = 0.0
    full: float = 0.0
    """Of all saves: the disk is full just then."""
    nonsense: float = 0.0
    """Of all answers of the model."""


CALM = Weather()


@dataclass(eq=False)
class Life:
    number: int
    alive: bool = True


@dataclass(eq=False)
class Nature:
    stream: Callable[[str], Random]
    """Where the chance comes from for one port."""
    weather: Weather
    kill: Callable[[], None]
    """Ends the life that is being lived."""
    called: Called
    """Whoever wants to follow a schedule is told of each call of a port before it is made."""
    out: set[str] = field(default_factory=set[str])
    """Names of ports that answer nothing just now."""
    struck: Counter[str] = field(default_factory=Counter[str])
    """What went wrong, and how often."""
    crashes: int = 0
    most_crashes: int = 8
    calls: int = 0
    at_call: dict[int, str] = field(default_factory=dict[int, str])
    """Crashes at chosen calls: their number, before or after."""

    def before(self, port: str) -> None:
        self.calls += 1
        self._maybe_die("before", port)
        if port in self.out or self._strikes(port, self.weather.failure):
            self.struck[f"{port} fails"] += 1
            raise Unavailable(f"the {port} does not answer", "Wait.")

    def after(self, port: str) -> None:
        self._maybe_die("after", port)
        if self._strikes(port, self.weather.lost):
            self.struck[f"{port} loses an answer"] += 1
            raise Unavailable(f"the answer of the {port} was lost", "Wait.")

    def before_saving(self) -> None:
        self.calls += 1
        self._maybe_die("before", "save")
        if "disk" in self.out or self._strikes("save", self.weather.full):
            self.struck["disk full"] += 1
            raise Unavailable("the disk is full, so nothing can be kept", "Free some space.")

    def after_saving(self) -> None:
        self._maybe_die("after", "save")

    def _strikes(self, port: str, share: float) -> bool:
        return share > 0 and self.stream(port).random() < share

    def _maybe_die(self, when: str, where: str) -> None:
        chosen = self.at_call.get(self.calls) == when
        struck = self.crashes < self.most_crashes and self._strikes(where, self.weather.crash)
        if chosen or struck:
            self.crashes += 1
            self.struck[f"crash {when} {where}"] += 1
            self.kill()
            raise DiedError


def _whole(args: tuple[object, ...]) -> tuple[object, ...]:
    """What can be read once only is read here: several want to know it."""
    return tuple(tuple(one) if isinstance(one, GeneratorType) else one for one in args)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


class Mortal:
    """A port as one life sees it: it takes a while, may fail, and any call may be the last."""

    def __init__(self, name: str, port: object, life: Life, nature: Nature) -> None:
        self._name, self._port, self._life, self._nature = name, port, life, nature

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._port, name)
        if inspect.iscoroutinefunction(attribute):
            attribute = self._awaited(attribute)
        elif inspect.ismethod(attribute):
            on_disk = name in ("save", "note")
            attribute = self._saved(attribute) if on_disk else self._called(attribute)
        else:
            return attribute
        self.__dict__[name] = attribute
        return attribute

    def _awaited(self, call: Callable[..., Awaitable[object]]) -> Any:
        nature, name = self._nature, self._name

        async def mortal(*args: object, **kwargs: object) -> object:
            self._must_live()
            args = _whole(args)
            nature.called(name, call, args, kwargs)
            nature.before(name)
            late = nature.stream(name).random()
            await asyncio.sleep(late * 3 if late < LATENCY else 0)
            self._must_live()
            result = await call(*args, **kwargs)
            nature.after(name)
            return result

        return mortal

    def _called(self, call: Callable[..., object]) -> Any:
        def mortal(*args: object, **kwargs: object) -> object:
            self._must_live()
            self._nature.called(self._name, call, args, kwargs)
            return call(*args, **kwargs)

        return mortal

    def _saved(self, call: Callable[..., object]) -> Any:
        def mortal(*args: object, **kwargs: object) -> object:
            self._must_live()
            self._nature.called(self._name, call, args, kwargs)
            self._nature.before_saving()
            result = call(*args, **kwargs)
            self._nature.after_saving()
            return result

        return mortal

    def _must_live(self) -> None:
        if not self._life.alive:
            raise DiedError
