"""The pages that are photographed: the catalogue kind by kind, its forms, and one thread as a whole. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adapters.slack.blocks import forms
from adapters.slack.blocks.cards import draw_card
from adapters.slack.blocks.kit import EVERY_BLOCK_KIND, BlockKind, Site
from adapters.slack.blocks.surfaces import home_view as drawn_home
from bot.core.cards import Card, HomeCard
from bot.core.choices import Verb
from tests.looks.catalogue import Entry, Variant, entries
from tests.looks.catalogue.beginning import ALL, LONG_OPTIONS, ONLY_YOU
from tests.looks.catalogue.sample import MIKA, REQUEST, THREAD
from tests.looks.page import Post, home, message, modal
from tests.looks.page.frame import column

SITE = Site("T0001", "https://acme.slack.example/")
THREAD_OF = (
    ("received/repository read", "questions/answered", "document/tasks", "approval/approved"),
    (
        "status/running, with screens",
        "news/tests failed, once more",
        "needs you/decided",
        "pulls/three, one a draft",
    ),
    ("summary/merged by pull requests", "answer/in short"),
)
"""The states of one thread, in the order in which they come to stand in it, in parts that can be looked at at once."""
MAIN = {
    "questions": "questions/three",
    "document": "document/spec",
    "approval": "approval/first revision",
    "status": "status/running, with screens",
    "needs-you": "needs you/tests fail after three repairs",
    "dialog": "needs you/dialog with options",
    "pull-requests": "pulls/three, one a draft",
    "summary": "summary/merged by pull requests",
    "home": "home/busy",
}
"""The pictures of the documentation, and the states they show."""


@dataclass(frozen=True)
class Page:
    name: str
    inner: str


def pages(variant: Variant, *, rich: bool) -> Iterator[Page]:
    """One for every kind of card."""
    found = entries()
    for group in dict.fromkeys(one.group for one in found):
        shown = [
            (one.name, _posted(one, variant, rich=rich)) for one in found if one.group == group
        ]
        yield Page(group, column(shown))


def single(name: str, *, rich: bool) -> str:
    """One card alone."""
    one = next(one for one in entries() if one.name == name)
    return _messages(one.card, private=one.private, rich=rich)


def thread(*, rich: bool) -> tuple[str, ...]:
    """What a thread looks like when all is done, part by part."""
    asked = Post(name=str(MIKA), text=f"<@U0BOT|gwt> {REQUEST}", at="11:58", reactions={"eyes": 1})
    parts = ["".join(single(name, rich=rich) for name in part) for part in THREAD_OF]
    return (message(asked) + parts[0], *parts[1:])


def form() -> str:
    """The one in which questions are answered."""
    purpose = forms.FormPurpose(thread=THREAD, verb=Verb.ANSWER, key="questions")
    return modal(forms.questions_form([*ALL, ONLY_YOU], purpose))


def modals() -> str:
    purpose = forms.FormPurpose(thread=THREAD, verb=Verb.CHANGE, about="a", key="k")
    views = (
        ("form/changes", forms.ask_form("Request changes", "What should be different?", purpose)),
        ("form/answers", forms.questions_form([*ALL, ONLY_YOU, LONG_OPTIONS], purpose)),
        ("form/nothing to answer", forms.notice_form("I do not know these questions any more.")),
    )
    return column([(name, modal(view)) for name, view in views])


def _posted(one: Entry, variant: Variant, *, rich: bool) -> str:
    return _messages(variant.of(one.card), private=one.private, rich=rich)


def _messages(card: Card, *, private: bool, rich: bool) -> str:
    if isinstance(card, HomeCard):
        return home(drawn_home(card, site=SITE))
    kinds = EVERY_BLOCK_KIND if rich else frozenset[BlockKind]()
    return "".join(
        message(Post(name="gwt", text=one.text, blocks=one.blocks, app=True, private=private))
        for one in draw_card(card, SITE, kinds)
    )
