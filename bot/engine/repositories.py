"""Which repository a request is about: the one it names, the one its channel is bound to, or the usual one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bot.domain.choices import Command
from bot.domain.people import Thread
from bot.domain.sheets import Element, Fields, Table, Text
from bot.engine.world import World

_NAMED = re.compile(
    r"(?:^|(?<=\s))repo[:\uff1a]([^\s,;`]{1,100})[,;]?(?=\s|$)[ \t]*", re.IGNORECASE
)
"""Also what cannot be a name: it is better told than taken for the usual one."""


@dataclass(frozen=True)
class Wanted:
    """What a request says about it, and the request without those words."""

    text: str
    name: str = ""


def wanted(text: str) -> Wanted:
    """`repo:web-app` anywhere in a request names one; the first counts."""
    found = _NAMED.search(text)
    if not found:
        return Wanted(text)
    rest = (text[: found.start()] + text[found.end() :]).strip()
    return Wanted(rest, found[1].rstrip(".!?)\u3002"))


@dataclass(frozen=True)
class Repositories:
    world: World

    def path_for(self, thread: Thread, name: str = "") -> str:
        """Where it lies. `name` wins over what the channel is bound to; empty: no repository has that name."""
        if name:
            return self._named(name)
        bound = self.world.bindings.of(self._place(thread))
        return self.world.rules.known_repositories.get(bound, self.world.rules.repository)

    def test_command_for(self, path: str) -> str:
        """The one that is set is the usual repository's; any other is looked for.

        Where a session has looked, its path is the whole repository's: a part of it, or a link to it, may be set.
        """
        usual, here = Path(self.world.rules.repository).resolve(), Path(path).resolve()
        others = self._others()
        is_usual = here == usual or (here not in others and usual.is_relative_to(here))
        return self.world.rules.test_command if is_usual else ""

    def set_up_for(self, path: str) -> tuple[str, ...]:
        """`api: make deps` is for that repository alone; what names none is for all but those others that have a name."""
        told = [self._of_one(command) for command in self.world.rules.set_up]
        here, others = Path(path).resolve(), self._others()
        return tuple(
            command
            for owner, command in told
            if (_lies_in(owner, here) if owner else here not in others)
        )

    def _others(self) -> set[Path]:
        """All that have a name, but for the usual one."""
        known = self.world.rules.known_repositories.values()
        return {Path(other).resolve() for other in known} - {
            Path(self.world.rules.repository).resolve()
        }

    def _of_one(self, command: str) -> tuple[str, str]:
        """Where the repository lies that it names, and the command itself."""
        name, colon, rest = command.partition(":")
        owner = self._named(name.strip()) if colon else ""
        return (owner, rest.strip()) if owner else ("", command)

    def problem(self, thread: Thread, name: str = "") -> str:
        """Why nothing can be begun there, in a sentence: never is another one taken instead."""
        bound = self.world.bindings.of(self._place(thread))
        if name:
            return "" if self._named(name) else self.unknown(name)
        if not bound or self._named(bound):
            return ""
        return (
            f"Requests here are about {bound}. {self.unknown(bound)} Write repo and one of these."
        )

    def unknown(self, name: str) -> str:
        return f"I know no repository {name}. There is {', '.join(self._names())}."

    def answer(self, thread: Thread, command: Command) -> tuple[str, tuple[Element, ...]]:
        """`repo` tells, `repo <name>` binds this channel to one."""
        if not command.argument:
            return "Repositories", tuple(self._listed(thread))
        if not self._named(command.argument):
            return self.unknown(command.argument), ()
        if thread.home:
            return "Write that in the channel whose requests are meant.", ()
        name = next(n for n in self._names() if n.lower() == command.argument.lower())
        self.world.bindings.bind(self._place(thread), name)
        return f"Requests here are now about {name}", (
            Text(text="Sessions that are under way stay where they are."),
        )

    def _listed(self, thread: Thread) -> list[Element]:
        here = self.path_for(thread)
        rows = tuple(
            (name, path, "here" if path == here else "")
            for name, path in self.world.rules.known_repositories.items()
        )
        if len(rows) == 1:
            return [Fields(pairs=((rows[0][0], rows[0][1]),))]
        hint = "repo <name> binds this channel to one; repo:<name> in a request names another."
        return [Table(head=("Name", "Where", "Requests"), rows=rows), Text(text=hint)]

    def _names(self) -> tuple[str, ...]:
        return tuple(self.world.rules.known_repositories)

    def _named(self, name: str) -> str:
        known = self.world.rules.known_repositories
        return next((path for one, path in known.items() if one.lower() == name.lower()), "")

    @staticmethod
    def _place(thread: Thread) -> str:
        return f"{thread.platform}:{thread.place}"


def _lies_in(configured: str, top: Path) -> bool:
    """Where a session has looked, its path is the whole repository's: a part of it, or a link to it, may be configured."""
    return Path(configured).resolve().is_relative_to(top)
