"""Finds the repository of a request: the one it names, its channel's, or the default."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

from bot.core.choices import Command
from bot.core.errors import Unavailable
from bot.core.evidence import CommandSource
from bot.core.people import Thread
from bot.core.session import Session
from bot.core.sheets import Element, Fields, Table, Text
from bot.core.world import Rules, World

NO_SET_UP = "none"
"""What a user writes as the set-up command if nothing shall be run."""
log = logging.getLogger("bot.repositories")

_NAMED = re.compile(
    r"(?:^|(?<=\s))repo[:\uff1a]([^\s,;`]{1,100})[,;]?(?=\s|$)[ \t]*", re.IGNORECASE
)
"""Also matches invalid names: they are reported, instead of silently using the default."""


@dataclass(frozen=True)
class RepositoryRequest:
    """The repository that a request names, and the request's text without it."""

    text: str
    name: str = ""


def repository_request(text: str) -> RepositoryRequest:
    """Parse `repo:web-app` anywhere in a request; the first one counts."""
    found = _NAMED.search(text)
    if not found:
        return RepositoryRequest(text)
    rest = (text[: found.start()] + text[found.end() :]).strip()
    return RepositoryRequest(rest, found[1].rstrip(".!?)\u3002"))


@dataclass(frozen=True)
class Repositories:
    world: World

    def path_for(self, thread: Thread, name: str = "") -> str:
        """Return the path of the repository.

        `name` takes precedence over the channel's. Empty if no repository has that name.
        """
        if name:
            return self._named(name)
        bound = self.world.bindings.of(self._channel_key(thread))
        return self.world.rules.known_repositories.get(bound, self.world.rules.repository)

    def test_command_for(self, path: str) -> str:
        """Return the configured test command, or an empty string.

        `api: make test` applies to that repository, one without a name to the default one. `path` may be the top of a
        repository whose configured path is a subfolder or a link.
        """
        return test_command_of(self.world.rules, path)

    def test_command_and_source(self, path: str) -> tuple[str, CommandSource | None]:
        """Return the operator's test command, or else the one a person set in an earlier session.

        Empty if the bot has to find one.
        """
        if command := self.test_command_for(path):
            return command, CommandSource.SETTINGS
        here = Path(path).resolve()
        said = (self.world.bindings.of(_tests_key(one)) for one in (here, *here.parents))
        command = next(filter(None, said), "")
        return command, CommandSource.EARLIER if command else None

    def set_up_for(self, path: str) -> tuple[str, ...]:
        """Return the set-up commands.

        `api: make deps` applies to that repository only; one without a name to every repository that has none of its
        own.
        """
        return tuple(one for one in self._configured_set_up(path) if one.lower() != NO_SET_UP)

    def is_set_up_configured(self, path: str) -> bool:
        """Whether the operator has set a command, or `none`; then detected commands do not count."""
        return bool(self._configured_set_up(path))

    def _configured_set_up(self, path: str) -> tuple[str, ...]:
        told = [
            _owner_and_command(self.world.rules, command) for command in self.world.rules.set_up
        ]
        here, others = Path(path).resolve(), _other_repositories(self.world.rules)
        return tuple(
            command
            for owner, command in told
            if (_is_within(owner, here) if owner else here not in others)
        )

    def problem(self, thread: Thread, name: str = "") -> str:
        """Return why no session can start here, in a sentence.

        The default is never used in place of an unknown repository.
        """
        bound = self.world.bindings.of(self._channel_key(thread))
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
        """Answer `repo`, or bind this channel to the repository of `repo <name>`."""
        if not command.argument:
            return "Repositories", tuple(self._listed(thread))
        if not self._named(command.argument):
            return self.unknown(command.argument), ()
        if thread.home:
            return "Write that in the channel whose requests are meant.", ()
        name = next(n for n in self._names() if n.lower() == command.argument.lower())
        self.world.bindings.bind(self._channel_key(thread), name)
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
        return _named(self.world.rules, name)

    @staticmethod
    def _channel_key(thread: Thread) -> str:
        return f"{thread.platform}:{thread.place}"


def remember_tests(world: World, before: Session, after: Session) -> None:
    """Save a test command that a person has set for later sessions of the repository.

    `none` is not kept: it counts for this session only.
    """
    if after.tests.times_set == before.tests.times_set:
        return
    try:
        world.bindings.bind(_tests_key(Path(after.repository.path).resolve()), after.tests.command)
    except Unavailable as problem:  # this session has its command all the same
        log.warning("test command not kept", extra={"data": {"why": problem.reason}})


def _tests_key(repository: Path) -> str:
    return f"tests:{repository}"


def test_command_of(rules: Rules, path: str) -> str:
    """Return the command configured for the repository at this path; empty if there is none."""
    usual, here = Path(rules.repository).resolve(), Path(path).resolve()
    is_usual = here == usual or (
        here not in _other_repositories(rules) and usual.is_relative_to(here)
    )
    told = [_owner_and_command(rules, command) for command in rules.test_commands]
    own = [command for owner, command in told if (_is_within(owner, here) if owner else is_usual)]
    return own[0] if len(own) == 1 else " && ".join(f"({command})" for command in own)


def _other_repositories(rules: Rules) -> set[Path]:
    """Return all named repositories but the default one."""
    known = rules.known_repositories.values()
    return {Path(other).resolve() for other in known} - {Path(rules.repository).resolve()}


def _owner_and_command(rules: Rules, command: str) -> tuple[str, str]:
    """Return the path of the repository that the setting names (empty if none), and the command itself."""
    name, colon, rest = command.partition(":")
    owner = _named(rules, name.strip()) if colon else ""
    return (owner, rest.strip()) if owner else ("", command)


def _named(rules: Rules, name: str) -> str:
    known = rules.known_repositories
    return next((path for one, path in known.items() if one.lower() == name.lower()), "")


def _is_within(configured: str, top: Path) -> bool:
    # A session's path is the top of its repository, while the settings may name a part of it or a link to it.
    return Path(configured).resolve().is_relative_to(top)
