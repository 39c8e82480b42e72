"""Where the keys of the bot's device lie: a database of nio's, for the owner only, sealed with a random key beside it.

It lies in the bot's home, whose lock lets one process in: two on one device would spoil its keys for good.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from nio import AsyncClient
from nio.store import SqliteStore

from adapters.chat.matrix.private import create, make_folder, unwritten
from adapters.chat.matrix.private import replace as write

log = logging.getLogger(__name__)

_KEY = "store.key"


def load(client: AsyncClient, folder: Path) -> None:
    """Give the client, which is logged in, the keys of its device; new ones where none can be read."""
    path = folder / database(client.user_id, client.device_id or "")
    try:
        make_folder(folder)
        key = _key(folder / _KEY)
        try:
            _open(client, path, key)
        except (ValueError, sqlite3.DatabaseError) as error:
            close(client)
            put_aside(path)
            log.warning("the keys cannot be read", extra={"data": {"why": str(error)}})
            _open(client, path, key)
    except OSError as error:
        raise unwritten(path, error) from error


def close(client: AsyncClient) -> None:
    if client.store is not None:
        client.store.database.close()
        client.store = client.olm = None


def put_aside(path: Path) -> None:
    """Whoever has it open still has."""
    path.replace(path.with_suffix(".broken"))


def database(user_id: str, device_id: str) -> str:
    """A name for the file. Ids may hold anything."""
    return f"{hashlib.sha256(f'{user_id} {device_id}'.encode()).hexdigest()[:16]}.db"


def _open(client: AsyncClient, path: Path, key: str) -> None:
    _prepare(path)
    client.store_path = str(path.parent)
    client.config = replace(
        client.config,
        encryption_enabled=True,
        store=SqliteStore,
        store_name=path.name,
        pickle_key=key,
    )
    client.load_store()


def _prepare(path: Path) -> None:
    """SQLite makes files that others can read, and gives those beside one its mode."""
    with suppress(FileExistsError):
        os.close(create(path))
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA schema_version").fetchone()


def _key(path: Path) -> str:
    try:
        key = path.read_text().strip()
    except FileNotFoundError:
        key = ""
    if not key:
        key = secrets.token_urlsafe(32)
        write(path, key.encode())
    return key
