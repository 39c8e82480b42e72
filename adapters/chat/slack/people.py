"""Who somebody in Slack is, and whether they belong here. Whoever is not known for certain is an outsider."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.access import asking, code_behind
from bot.domain.people import Person
from bot.errors import Refused

PLATFORM = "slack"
_ALIEN = ("is_bot", "is_app_user", "is_restricted", "is_ultra_restricted", "is_stranger", "deleted")
_UNKNOWN = frozenset({"user_not_found", "user_not_visible", "users_not_found"})


@dataclass(frozen=True)
class _Asked:
    answer: asyncio.Task[Person]
    until: float


class People:
    """An answer holds for some minutes, and is shared by all who ask meanwhile."""

    def __init__(
        self,
        client: AsyncWebClient,
        team: str,
        *,
        monotonic: Callable[[], float],
        holds: float = 300.0,
        patience: float = 2.5,
    ) -> None:
        self._client = client
        self._team = team
        self._monotonic = monotonic
        self._holds = holds
        self._patience = patience
        self._asked: dict[str, _Asked] = {}

    async def person(self, user: str, home: str = "") -> Person:
        """Unavailable when Slack cannot be asked. `home`: the workspace the event says they come from."""
        person = await self._known(user)
        if home and home != self._team:
            return person.model_copy(update={"id": f"{home}:{user}", "outsider": True})
        return person

    async def close(self) -> None:
        """Nobody is waiting for an answer any more."""
        tasks = [asked.answer for asked in self._asked.values()]
        self._asked.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _known(self, user: str) -> Person:
        asked = self._asked.get(user)
        if asked is None or asked.until < self._monotonic() or _failed(asked.answer):
            self._forget_old()
            answer = asyncio.create_task(self._ask(user), name=f"who is {user}")
            asked = _Asked(answer, self._monotonic() + self._holds)
            self._asked[user] = asked
        # one of those who ask may be cancelled: the others still want to know
        return await asyncio.shield(asked.answer)

    async def _ask(self, user: str) -> Person:
        try:
            with asking(f"who {user} is"):
                async with asyncio.timeout(self._patience):
                    told = await self._client.users_info(user=user)
        except Refused as refused:
            if code_behind(refused) not in _UNKNOWN:
                raise
            return Person(platform=PLATFORM, id=f"{self._team}:{user}", outsider=True)
        return person_from(cast("Mapping[str, object]", told.get("user", {})), user, self._team)

    def _forget_old(self) -> None:
        now = self._monotonic()
        old = [user for user, asked in self._asked.items() if asked.until < now]
        for user in old:
            if self._asked[user].answer.done():
                del self._asked[user]


def person_from(told: Mapping[str, object], user: str, team: str) -> Person:
    """A member of the workspace, or an outsider. Pure."""
    profile = told.get("profile")
    names = cast("Mapping[str, object]", profile) if isinstance(profile, Mapping) else {}
    name = names.get("display_name") or told.get("real_name") or told.get("name") or ""
    alien = told.get("id") != user or told.get("team_id") != team
    outsider = alien or any(told.get(sign) for sign in _ALIEN)
    return Person(platform=PLATFORM, id=f"{team}:{user}", name=str(name), outsider=outsider)


def _failed(answer: asyncio.Task[Person]) -> bool:
    return answer.done() and (answer.cancelled() or answer.exception() is not None)
