"""What opens GitHub, and where it is. Its rule: nothing here shows a secret, and a token goes to its own host only."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bot.errors import SettingsError

API_URL = "https://api.github.com"
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")


@dataclass(frozen=True)
class Access:
    """A token, or a GitHub App, or what the environment and the `gh` program of this machine know."""

    token: str = field(default="", repr=False)
    api_url: str = API_URL
    app_id: str = ""
    app_key_file: str = ""
    installation: str = ""
    """The installation's number; empty: GitHub is asked which one the repository has."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def names_app(self) -> bool:
        """Whether a GitHub App is configured, if only in part."""
        return bool(self.app_id or self.app_key_file or self.installation)


@dataclass(frozen=True)
class Pace:
    """How long is waited, in seconds."""

    call: float = 15.0
    """For each part of an answer."""
    whole: float = 60.0
    """For a whole answer, however slowly it trickles."""
    between_writes: float = 1.0
    """GitHub asks for it."""
    again: float = 1.0
    """Before the same is asked again: GitHub computes some answers only when asked."""
    git: float = 600.0
    """For one transfer of a branch."""


@dataclass(frozen=True)
class Address:
    """Where the API is, and where the repositories of the same host are."""

    api: str
    web: str
    """Scheme, host and port, no path."""
    host: str
    port: int | None

    @property
    def plain(self) -> bool:
        """Not encrypted: only ever on this machine."""
        return self.web.startswith("http://")

    def clone_url(self, slug: str) -> str:
        return f"{self.web}/{slug}.git"

    def page(self, slug: str) -> str:
        return f"{self.web}/{slug}"


def address_of(api_url: str) -> Address:
    """Read the setting. An address that would send the token in clear text over a network is refused."""
    parts = urlsplit(api_url.strip().rstrip("/"))
    host, port = _host_and_port(api_url)
    if parts.scheme not in {"http", "https"} or parts.username is not None or parts.query:
        raise _wrong(api_url, "it must look like https://host/api/v3")
    if parts.scheme == "http" and not _is_loopback(host):
        raise _wrong(api_url, "a token may travel over https only")
    web_host = host.removeprefix("api.") if not parts.path else host
    shown = f"[{web_host}]" if ":" in web_host else web_host
    at = f":{port}" if port is not None else ""
    return Address(
        api=f"{parts.scheme}://{parts.netloc}{parts.path}",
        web=f"{parts.scheme}://{shown}{at}",
        host=web_host,
        port=port,
    )


def _host_and_port(api_url: str) -> tuple[str, int | None]:
    parts = urlsplit(api_url.strip())
    try:
        port = parts.port
    except ValueError as error:
        raise _wrong(api_url, "its port is no number") from error
    host = (parts.hostname or "").lower()
    if not _HOST.fullmatch(host) and ":" not in host:
        raise _wrong(api_url, "it names no host")
    return host, port


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _wrong(api_url: str, why: str) -> SettingsError:
    # a password in the address shall not be shown
    shown = re.sub(r"//[^/@]*@", "//", api_url)
    return SettingsError(
        f"GITHUB_API_URL is {shown}: {why}. "
        f"Leave it at {API_URL}, or set it to that of your GitHub Enterprise Server."
    )
