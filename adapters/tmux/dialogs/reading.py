"""A screen → what is asked on it, if anything: only what stands at its end counts, whatever has scrolled by."""

from __future__ import annotations

from adapters.tmux.dialogs.hints import Hint
from adapters.tmux.dialogs.lines import line
from adapters.tmux.dialogs.menus import menu
from adapters.tmux.dialogs.page import Page, Shown
from adapters.tmux.dialogs.wording import LONGEST_TITLE, digest, shortened
from bot.domain.dialogs import Dialog, DialogKind


def read(shown: Shown) -> Dialog | None:
    """The dialog that stands there."""
    page = Page(shown)
    return menu(page) or line(page)


def unseen(hint: Hint) -> Dialog:
    """What a hook says is asked, for a screen on which no question can be made out."""
    return Dialog(
        id=digest("hook", hint.name),
        kind=DialogKind.WORDS,
        title=shortened(hint.says or "The agent waits for a person.", LONGEST_TITLE),
        topic=f"Allow {hint.tool}" if hint.tool else "",
    )


__all__ = ["Shown", "read", "unseen"]
