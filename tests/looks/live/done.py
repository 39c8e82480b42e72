"""What somebody does in the browser, done in the played Slack. What its screen would not let them do, they are told."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from tests.beds.slack import SlackBed
from tests.beds.slack.names import CannotDo, Json


async def do(bed: SlackBed, act: Json) -> str:
    """Why it could not be done; empty: it was."""
    doing = _ACTS.get(str(act.get("do")))
    if doing is None:
        return f"nobody can do {act.get('do')!r}"
    try:
        await doing(bed, act)
    except CannotDo as why:
        return str(why)
    return ""


async def _say(bed: SlackBed, act: Json) -> None:
    words, thread = str(act["text"]).strip(), act.get("thread") or None
    user, channel = act["user"], act["channel"]
    if words.startswith("/"):
        command, _, rest = words.partition(" ")
        await bed.slash(user, channel, command, rest, thread=thread)
    elif words:
        await bed.say(user, channel, _typed(bed, words), thread)


def _typed(bed: SlackBed, words: str) -> str:
    """As a client sends it: people who are named are mentioned."""
    wire = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for user in bed.world.users.values():
        wire = re.sub(
            rf"(?<!\w)@{re.escape(user.name)}\b", f"<@{user.id}>", wire, flags=re.IGNORECASE
        )
    return wire


async def _press(bed: SlackBed, act: Json) -> None:
    try:
        await bed.click(act["user"], act["where"], _element(act))
    except CannotDo:
        # the card was edited under their hands: its blocks have other names now, what is pressed has not
        await bed.click(act["user"], act["where"], act["action"])


async def _choose(bed: SlackBed, act: Json) -> None:
    await bed.choose(act["user"], act["where"], _element(act), act["value"])


def _element(act: Json) -> str:
    return f"{act['block']}/{act['action']}"


async def _submit(bed: SlackBed, act: Json) -> None:
    view = next((one for one in bed.views if one.id == act["where"]), None)
    if view is None:
        raise CannotDo("this form is no longer open")
    values: dict[str, Any] = {key: value for key, value in act["values"].items() if value}
    await bed.submit(view, values)


async def _close(bed: SlackBed, act: Json) -> None:
    for view in bed.views:
        if view.id == act["where"]:
            await bed.close(view)


async def _home(bed: SlackBed, act: Json) -> None:
    await bed.open_home(act["user"])


async def _stop(bed: SlackBed, act: Json) -> None:
    await bed.native_stop(act["user"], act["channel"], act["thread"])


async def _shortcut(bed: SlackBed, act: Json) -> None:
    await bed.message_shortcut(act["user"], act["where"], act["name"])


_ACTS: dict[str, Callable[[SlackBed, Json], Awaitable[None]]] = {
    "say": _say,
    "press": _press,
    "choose": _choose,
    "submit": _submit,
    "close": _close,
    "home": _home,
    "stop": _stop,
    "shortcut": _shortcut,
}
