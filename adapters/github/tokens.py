"""Where the token comes from. Its rule: the first source that has one; whoever hides secrets learns it before it is used."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
from collections.abc import Callable, Mapping

from adapters.github.access import Access, Address, Pace
from adapters.github.app import App
from bot.errors import Refused

FROM_THE_ENVIRONMENT = ("GITHUB_TOKEN", "GH_TOKEN")
USER = "x-access-token"
"""What git is told beside the token; GitHub looks at the token alone."""
_TOKEN = re.compile(r"[!-~]{1,2000}")
_NAMES = 50
"""An app has a new token every hour; those of two days ago are worth nothing."""
_GH_SECONDS = 10.0
_GH_NEEDS = (
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_CONFIG_DIR",
)

Learned = Callable[[str, str], None]


class Tokens:
    def __init__(self, access: Access, address: Address, pace: Pace, learned: Learned) -> None:
        self._access = access
        self._host = address.host
        self._app = App(access, address, pace)
        self._learned = learned
        self._announced: set[str] = set()
        self._of_gh: str | None = None
        """None: it was not asked yet."""

    async def token(self, slug: str) -> str:
        """The token for a repository; empty: nobody has given one."""
        found = self._given()
        if not found:
            if self._of_gh is None:
                self._of_gh = await asked_of_gh(self._host, self._access.environ)
            found = self._of_gh
        if not found and self._access.names_app:
            self._app.require()
            found = await self._app.token(slug)
        return self._checked(found) if found else ""

    def require(self) -> None:
        """Raise Refused where what is configured cannot be used, whether it is needed or not. Nobody is asked."""
        if self._access.names_app:
            self._app.require()

    def forget(self) -> None:
        """It was refused: a newer one may be there by now."""
        self._of_gh = None
        self._app.forget()

    def tells_rights(self, token: str) -> bool:
        """Whether GitHub says truly what its bearer may do: of an app's token it does not."""
        return not token.startswith("ghs_") and not (self._access.app_id and not self._given())

    def _given(self) -> str:
        given = (self._access.token, *map(self._from_environment, FROM_THE_ENVIRONMENT))
        return next((one.strip() for one in given if one.strip()), "")

    def _from_environment(self, name: str) -> str:
        return self._access.environ.get(name, "")

    def _checked(self, token: str) -> str:
        if token not in self._announced:
            self._announce(token)
        if not _TOKEN.fullmatch(token):
            # it would end up in the error of whoever tries to send it
            raise Refused(
                "the token for GitHub holds characters that no token has",
                "Set GITHUB_TOKEN anew, without spaces and line breaks in it.",
            )
        return token

    def _announce(self, token: str) -> None:
        """Each under a name of its own: a value takes the place of another one of the same name."""
        turn = len(self._announced) % _NAMES
        name = f"GITHUB_TOKEN_{turn}" if turn else "GITHUB_TOKEN"
        self._announced.add(token)
        self._learned(name, token)
        self._learned(f"{name}_FOR_GIT", for_git(token))


def for_git(token: str) -> str:
    """User and token as they travel in a header."""
    return base64.b64encode(f"{USER}:{token}".encode()).decode()


async def asked_of_gh(host: str, environ: Mapping[str, str]) -> str:
    """What the `gh` program has for that host; it asks no network for it. No such program, no token."""
    environment = {name: environ[name] for name in _GH_NEEDS if name in environ}
    try:
        process = await asyncio.create_subprocess_exec(
            "gh",
            "auth",
            "token",
            "--hostname",
            host,
            cwd="/",
            env=environment | {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return ""
    try:
        async with asyncio.timeout(_GH_SECONDS):
            out, _ = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    found = out.decode("ascii", "ignore").strip()
    return found if process.returncode == 0 and _TOKEN.fullmatch(found) else ""
