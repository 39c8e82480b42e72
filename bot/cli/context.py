"""`gwt-bot context`: what the model would be shown of a repository for a request, and why."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from adapters.git import GitRepository
from bot.cli.models import ChosenLlm
from bot.cli.process import secrets_in
from bot.cli.read_settings import read_settings
from bot.core.context.excerpts import RequestContext
from bot.core.errors import SettingsError
from bot.core.llm import ModelRole, context_tokens
from bot.core.masking import LearningMasker, Masker

SHOWN = 30
"""Files that are listed for people with the reasons for their rank. Programs get all of them."""
MOST_TOKENS = 200_000


async def run(request: str, *, repository: str, at: str, tokens: int, as_json: bool) -> None:
    """Print the context of a request. Nothing is changed but the index in the bot's home."""
    if not 0 <= tokens <= MOST_TOKENS:
        raise SettingsError(f"--tokens: a number up to {MOST_TOKENS:,}, or leave it out.")
    current = await read_settings()
    masker = LearningMasker({**secrets_in(os.environ), **current.secrets})
    git = GitRepository(current.gwt_home, mask=masker.mask)
    top = await git.top(folder(repository or current.gwt_repository))
    commit = await git.commit_of(top, at)
    window = await ChosenLlm(lambda: current, masker, os.environ).window(ModelRole.MAIN)
    budget = tokens or context_tokens(window)
    found = await git.find_context(top, commit, request, budget)
    out = _as_json(found, masker) if as_json else _for_people(found, masker)
    sys.stdout.write(out + "\n")


def folder(repository: str | Path) -> str:
    return str(Path(repository).expanduser().absolute())


def _as_json(found: RequestContext, masker: Masker) -> str:
    shown = masker.mask_model(found).model_dump(mode="json")
    return json.dumps(shown, ensure_ascii=False, indent=2)


def _for_people(found: RequestContext, masker: Masker) -> str:
    parts = [found.text] if found.text else ["Nothing in this repository matches the request."]
    if found.left_out:
        parts.append(f"Not complete: {found.left_out}.")
    parts.append(
        f"{found.tokens:,} tokens from {found.searched:,} source files at {found.commit[:12]}, "
        f"found in {found.seconds:.2f} s."
    )
    return masker.mask("\n\n".join(parts))
