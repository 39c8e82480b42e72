"""The form that says which model is asked, and where. A key is never asked for, and never shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from adapters.chat.slack.drawing.limits import (
    Block,
    aside,
    cut,
    cut_saying,
    plain_text,
    section,
)
from adapters.chat.slack.drawing.picking import Values
from adapters.chat.slack.forms.fields import View, field, form, writing, written
from adapters.chat.slack.forms.purpose import Purpose
from adapters.chat.slack.words import on_one_line
from bot.domain.masking import clean

SETTINGS = "settings"
Facts = Sequence[tuple[str, str]]
"""What is set, a name and a value each, as it stands on somebody's home."""

_URL, _MODEL = "base_url", "model"
_NAMES = {_URL: ("base url", "endpoint", "address"), _MODEL: ("model",)}
_KEY = "The key stays where it is: set OPENAI_API_KEY in .env, on the machine the bot runs on. It goes where the address points."
_SHOWN = 2_900
_LONGEST = 500


def settings(purpose: Purpose, facts: Facts = ()) -> View:
    known = {name.lower(): value for name, value in facts}
    now = [f"{on_one_line(name)}: {on_one_line(value)}" for name, value in facts]
    blocks: list[Block] = []
    if now:
        blocks.append(section(plain_text(cut_saying("\n".join(now), _SHOWN) or "…")))
    blocks += [
        field(
            _URL,
            "Base URL of the endpoint",
            writing(_URL, "https://api.openai.com/v1", initial=_value(known, _URL)),
            hint="It speaks OpenAI's chat completions. Empty: it stays as it is.",
        ),
        field(
            _MODEL,
            "Model",
            writing(_MODEL, initial=_value(known, _MODEL)),
            hint="As the endpoint calls it. Empty: it stays as it is.",
        ),
        aside(_KEY),
    ]
    return form(SETTINGS, "Model and endpoint", blocks, purpose, send="Set")


def configured(values: Values) -> tuple[str, str]:
    """Base URL and model; look for `unfit` first."""
    return written(values, _URL), written(values, _MODEL)


def unfit(values: Values) -> Mapping[str, str]:
    """What must be mended before it is taken, by block."""
    url, model = configured(values)
    found: dict[str, str] = {}
    if not url and not model:
        found[_MODEL] = "Please write a base URL or a model, or cancel."
    if url and (problem := _problem(url)):
        found[_URL] = problem
    if len(model) > _LONGEST or len(model.split()) > 1:
        found[_MODEL] = "The name of a model is one word."
    return found


def _problem(url: str) -> str:
    """Why this is no address to ask a model at; empty: it is one."""
    if len(url) > _LONGEST or len(url.split()) > 1 or not _leads_somewhere(url):
        return "This is no address: it begins with https:// or http://."
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        return "Only the address, please: nothing secret, and nothing behind its path."
    return ""


def _leads_somewhere(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _value(known: Mapping[str, str], field: str) -> str:
    value = next((known[name] for name in _NAMES[field] if known.get(name)), "")
    fits = len(value.split()) == 1 and not (field == _URL and _problem(value))
    return cut(clean(value).strip(), _LONGEST) if fits else ""
