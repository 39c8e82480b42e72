"""A project's copy below the folder for temporary files: whatever is done there, the project itself is not touched."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from adapters.git.run import Git
from bot.errors import Unavailable

_OWN = ("user.name", "user.email")


async def temporary_copy(project: Path, environment: Mapping[str, str]) -> Path:
    """At the commit that is checked out there, without what is not committed; of a folder without git, an empty one."""
    try:
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="gwt-bot-"))
    except OSError as error:
        where = tempfile.gettempdir()
        reason = f"No temporary folder can be made in {where}: {error.strerror}."
        raise Unavailable(reason, "Say by TMPDIR where one can.") from error
    git = Git(environment)
    top = await git.read("rev-parse", "--show-toplevel", at=project, ok=(0, 128))
    begun = await git.read("rev-parse", "--verify", "--quiet", "HEAD", at=project, ok=(0, 1, 128))
    if top.code or begun.code:
        await git.make("init", "--quiet", "--template=", "--initial-branch=main", at=folder)
        await git.make("commit", "--quiet", "--allow-empty", "-m", "Begin", at=folder)
        return folder
    options = ("--quiet", "--no-hardlinks", "--template=", "--no-recurse-submodules")
    await git.make("clone", *options, "--", top.text, str(folder), at=folder)
    for name in _OWN:
        if value := (await git.read("config", name, at=project, ok=(0, 1))).text:
            await git.make("config", name, value, at=folder)
    return folder
