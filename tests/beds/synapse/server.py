"""A Synapse process of its own, in a folder and on a port of the loopback. It never outlives the tests.

Synapse is a program here like any other: started, asked over HTTP, ended. Nothing imports it.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import IO, Self, cast

from tests.beds.synapse import config

Json = dict[str, object]

_MODULE = "synapse.app.homeserver"
_PASSWORD = "pw"  # noqa: S105 - of users that live as long as a test
_PATIENCE = 120.0
"""Seconds to come up, or to go."""
_FIRST_PORT, _PORTS = 20_000, 12_000
"""Below those the kernel gives to outgoing connections: a client that knocks at a closed port could else meet itself."""
_CLAIMS = Path(tempfile.gettempdir(), "gwt-bot-tests-ports")
_claimed: list[IO[str]] = []
_MORTAL = """
import ctypes, os, sys
prctl = getattr(ctypes.CDLL(None), "prctl", None)
if prctl is not None:
    prctl(1, 15)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Asks the kernel for SIGTERM when the thread that started it dies, then becomes the program."""


@dataclass(frozen=True)
class Login:
    """An account, and the one device it is logged in on."""

    user_id: str
    device_id: str
    access_token: str = field(repr=False)
    password: str = field(repr=False)

    @property
    def name(self) -> str:
        """The part of the id before the server's name; Synapse shows it as the name of a new user."""
        return self.user_id[1:].split(":", 1)[0]


class Homeserver:
    """One Synapse. Its calls block for some milliseconds, start and stop for up to a second or two."""

    def __init__(self, folder: Path, extra: config.Settings | None = None) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._extra = extra or {}
        self._secret = secrets.token_hex(16)
        self._process: subprocess.Popen[bytes] | None = None
        # The kernel watches the thread that started a process. This one lives as long as the server is wanted.
        self._starter = ThreadPoolExecutor(1, "synapse")
        self._admin = ""

    def __enter__(self) -> Self:
        self._write_settings()
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        self._starter.shutdown()

    @property
    def pid(self) -> int:
        assert self._process, "it is not running"
        return self._process.pid

    def start(self) -> None:
        """Start it where it was, and wait until it answers."""
        self._process = self._starter.submit(self._spawn).result()
        deadline = time.monotonic() + _PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"Synapse did not come up:\n{self._said()}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it in good order. Rooms, users and tokens are there again after the next start."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def register(self, name: str, password: str = _PASSWORD, *, admin: bool = False) -> Login:
        """A new user, logged in on a new device."""
        nonce = str(self.call("GET", "/_synapse/admin/v1/register")["nonce"])
        words = (nonce, name, password, "admin" if admin else "notadmin")
        proof = hmac.new(self._secret.encode(), "\0".join(words).encode(), hashlib.sha1)
        body: Json = {
            "nonce": nonce,
            "username": name,
            "password": password,
            "admin": admin,
            "mac": proof.hexdigest(),
        }
        return _login(self.call("POST", "/_synapse/admin/v1/register", body), password)

    def login(self, user_id: str, password: str = _PASSWORD, device_id: str | None = None) -> Login:
        """The same user on another device, or on a known one again with another token."""
        body: Json = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": user_id},
            "password": password,
            **({"device_id": device_id} if device_id else {}),
        }
        return _login(self.call("POST", "/_matrix/client/v3/login", body), password)

    def revoke(self, login: Login) -> None:
        """From now on its access token counts for nothing."""
        self.call("POST", "/_matrix/client/v3/logout", {}, token=login.access_token)

    def admin(self, method: str, path: str, body: Json | None = None) -> Json:
        """Call the admin API; `path` follows `/_synapse/admin/`."""
        if not self._admin:
            name = f"admin-{secrets.token_hex(3)}"
            self._admin = self.register(name, admin=True).access_token
        return self.call(method, f"/_synapse/admin/{path}", body, token=self._admin)

    def override_ratelimit(self, user_id: str, per_second: int = 0, burst: int = 0) -> None:
        """Other limits on messages for one user; 0 and 0 are none at all."""
        body: Json = {"messages_per_second": per_second, "burst_count": burst}
        self.admin("POST", f"v1/users/{user_id}/override_ratelimit", body)

    def call(self, method: str, path: str, body: Json | None = None, *, token: str = "") -> Json:
        """One request, its answer as JSON. Anything but success raises, with what Synapse said."""
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:  # noqa: S310
                return cast("Json", json.load(answer))
        except urllib.error.HTTPError as error:
            with error:
                told = error.read().decode()[:500]
            raise RuntimeError(f"{method} {path}: {error.code} {told}") from None

    def _write_settings(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        told = config.settings(self.folder, self.port, self._secret, self._extra)
        # JSON is YAML, too.
        self._file.write_text(json.dumps(told), encoding="utf-8")
        log = json.dumps(config.logging(self.folder))
        (self.folder / "log.yaml").write_text(log, encoding="utf-8")
        # Written here, because having Synapse make it costs as much as starting it.
        seed = base64.b64encode(secrets.token_bytes(32)).decode().rstrip("=")
        (self.folder / "signing.key").write_text(f"ed25519 a_test {seed}\n", encoding="utf-8")

    @property
    def _file(self) -> Path:
        return self.folder / "homeserver.yaml"

    def _spawn(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", _MORTAL, "-m", _MODULE, "-c", str(self._file)]
        with (self.folder / "output").open("ab") as output:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], "HOME": str(self.folder)},
            )

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:  # noqa: S310
                return answer.status == HTTPStatus.OK
        except OSError:
            return False

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _said(self) -> str:
        files = (self.folder / "output", self.folder / "homeserver.log")
        return "\n".join(file.read_text()[-2000:] for file in files if file.exists())


def free_port() -> int:
    """A port nobody listens on, that no outgoing connection will be given, and that no other test on this machine takes.

    A server needs seconds until it listens. So the port is claimed by a lock on a file that this process keeps open:
    without it two runs of the tests met, now and then, at the homeserver of one of them ("HMAC incorrect").
    """
    while True:
        port = _FIRST_PORT + secrets.randbelow(_PORTS)
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(("127.0.0.1", port))
                _claim(port)
            except OSError:
                continue
            return port


def _claim(port: int) -> None:
    """Raise OSError if another process holds the port; the lock ends with this process."""
    _CLAIMS.mkdir(exist_ok=True)
    file = (_CLAIMS / str(port)).open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    _claimed.append(file)


def _login(answer: Json, password: str) -> Login:
    user_id, device, token = (str(answer[k]) for k in ("user_id", "device_id", "access_token"))
    return Login(user_id, device, token, password)
