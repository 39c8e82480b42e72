"""`gwt-bot serve` as an operator starts it, on an empty repository: for what it says when it ends."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.stories.serving import PATIENCE, ROOT

SECRETS = ("xoxb-", "xapp-", "syt_")


@asynccontextmanager
async def program(
    folder: Path, environ: Mapping[str, str]
) -> AsyncGenerator[subprocess.Popen[bytes], None]:
    """It is at work, or tries to be."""
    process = _start(folder, environ)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


async def last_words(process: subprocess.Popen[bytes]) -> str:
    """All it has said, once it has ended as what cannot go on does: clearly, and without a word that is secret."""
    told, _ = await asyncio.to_thread(process.communicate, None, PATIENCE)
    said = told.decode()
    assert process.returncode == 1, said
    assert "Traceback" not in said, said
    assert not any(secret in said for secret in SECRETS), said
    return said


def _start(folder: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    here = folder / "shop"
    here.mkdir()
    return subprocess.Popen(
        [sys.executable, "-m", "bot", "serve"],
        cwd=here,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "error",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "GWT_HOME": str(folder / "home"),
            **environ,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
