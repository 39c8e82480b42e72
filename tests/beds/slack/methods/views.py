"""views.*: modals on somebody's screen and their home tab; a trigger opens one modal, once."""

from __future__ import annotations

import json
from typing import Any, cast

from tests.beds.slack.methods.arguments import Arguments
from tests.beds.slack.names import Json, Refusal
from tests.beds.slack.validation import LARGEST_VIEW, wrong_in_view
from tests.beds.slack.workspace import View, Workspace

DEEPEST = 3


def open_(world: Workspace, args: Arguments) -> Json:
    told = checked_view(world, args.object("view"))
    trigger = world.pull(args.needed("trigger_id"))
    return _opened(world, View(world.new_id("V"), trigger.user, told, world.new_id("h")))


def push(world: Workspace, args: Arguments) -> Json:
    told = checked_view(world, args.object("view"))
    trigger = world.pull(args.needed("trigger_id"))
    if trigger.view is None:
        raise Refusal("not_found")
    view = View(world.new_id("V"), trigger.user, told, world.new_id("h"), previous=trigger.view)
    if depth(view) > DEEPEST:
        raise Refusal("push_limit_reached")
    return _opened(world, view)


def update(world: Workspace, args: Arguments) -> Json:
    told = checked_view(world, args.object("view"))
    view = _find(world, args)
    if args.text("hash") not in ("", view.hash):
        raise Refusal("hash_conflict")
    replace(world, view, told)
    return {"view": view.json()}


def publish(world: Workspace, args: Arguments) -> Json:
    user = world.user(args.needed("user_id"))
    told = checked_view(world, args.object("view"), "home")
    old = world.homes.get(user.id)
    if old and args.text("hash") not in ("", old.hash):
        raise Refusal("hash_conflict")
    view = View(world.new_id("V"), user.id, told, world.new_id("h"))
    world.homes[user.id] = view
    return {"view": view.json()}


def replace(world: Workspace, view: View, told: Json) -> None:
    view.told, view.hash = told, world.new_id("h")
    view.edits += 1
    view.errors = {}


def depth(view: View) -> int:
    return 1 + (depth(view.previous) if view.previous else 0)


def checked_view(world: Workspace, view: Any, kind: str = "modal") -> Json:
    if not isinstance(view, dict):
        raise Refusal("invalid_arguments")
    told = cast("Json", view)
    wrong = wrong_in_view(told)
    if told.get("type") != kind:
        wrong.append(f"[ERROR] must be `{kind}` [json-pointer:/view/type]")
    if wrong:
        raise Refusal("invalid_arguments", response_metadata={"messages": wrong})
    if len(json.dumps(told)) > LARGEST_VIEW:
        raise Refusal("view_too_large")
    return {**told, "blocks": world.messages.stored(told["blocks"])}


def _opened(world: Workspace, view: View) -> Json:
    world.views[view.id] = view
    return {"view": view.json()}


def _find(world: Workspace, args: Arguments) -> View:
    by_name = (one for one in world.views.values() if one.told.get("external_id"))
    external = args.text("external_id")
    named = next((one for one in by_name if one.told["external_id"] == external), None)
    found = world.views.get(args.text("view_id")) or named
    if found is None:
        raise Refusal("not_found")
    return found
