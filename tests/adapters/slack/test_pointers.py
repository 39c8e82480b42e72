"""What leads to another thread: a link made of ids, and never of what somebody wrote."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings

from adapters.slack.blocks.cards import draw_card
from adapters.slack.blocks.kit import Site, SlackMessage
from adapters.slack.blocks.text import ZERO_WIDTH_SPACE
from bot.core.cards import AnswerCard
from bot.core.people import Thread
from bot.core.sheets import Pointer, Text
from tests.adapters.slack import content
from tests.adapters.slack.office import Office
from tests.beds.slack import PUBLIC, TEAM
from tests.fakes import cards

SITE = Site(TEAM, "https://played.slack.com/")
THREAD = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root="1794988193.000100")
LINK = f"https://played.slack.com/archives/{PUBLIC}/p1794988193000100"
_any = settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
_LINKED = re.compile(r"<([^<>|]*)[^<>]*>")


def pointing(text: str, thread: Thread = THREAD, site: Site | None = SITE) -> SlackMessage:
    card = AnswerCard(key="a", title="", body=(Pointer(text=text, thread=thread),))
    (message,) = draw_card(card, site)
    return message


def said(message: SlackMessage) -> str:
    (block,) = message.blocks
    return str(block["text"]["text"])


def test_a_pointer_is_a_link_to_the_first_message_of_the_thread() -> None:
    assert said(pointing("Payments")) == f"→ <{LINK}|Payments>"


def test_a_thread_of_another_platform_or_workspace_is_mere_words() -> None:
    elsewhere = (
        THREAD.model_copy(update={"platform": "matrix"}),
        THREAD.model_copy(update={"workspace": "T0999"}),
        THREAD.model_copy(update={"root": ""}),
        THREAD.model_copy(update={"root": "1.1|you> <!channel>"}),
        THREAD.model_copy(update={"channel": "../../evil"}),
    )
    for thread in elsewhere:
        assert said(pointing("Payments", thread)) == "→ Payments"
    assert said(pointing("Payments", site=None)) == "→ Payments"
    assert said(pointing("Payments", site=Site(TEAM, "javascript:alert(1)/"))) == "→ Payments"


@pytest.mark.parametrize("text", content.HOSTILE, ids=lambda text: ascii(text[:12]))
def test_words_cannot_change_where_a_link_leads(text: str) -> None:
    message = pointing(text)
    assert content.wrong_in(message) == []
    assert _LINKED.findall(said(message)) == [LINK]
    assert said(message).count("<") == said(message).count(">") == 1
    assert "<!" not in said(message)


def test_a_pointer_without_words_still_leads_somewhere() -> None:
    assert said(pointing(f" \n{ZERO_WIDTH_SPACE}")) == f"→ <{LINK}|there>"


@_any
@given(content.answer_cards)
def test_slack_takes_any_card_with_pointers_on_it(card: AnswerCard) -> None:
    (message,) = draw_card(card, SITE)
    assert content.wrong_in(message) == []
    for part in content.parts_of(message.blocks, "mrkdwn"):
        assert set(_LINKED.findall(part["text"])) <= {LINK}


async def test_slack_is_asked_for_the_address_of_the_workspace_once_and_only_when_needed(
    at: Office,
) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    assert at.count("auth.test") == 0
    for title in ("one", "two"):
        body = (Text(text="See:"), Pointer(text=title, thread=thread))
        await at.gateway.show(thread, AnswerCard(key=title, title=title, body=body))
    assert at.count("auth.test") == 1
    link = f"https://played.slack.com/archives/{PUBLIC}/p{thread.root.replace('.', '')}"
    assert [link in text for text in at.reads(thread)] == [False, True, True]


async def test_a_link_is_not_unfurled(at: Office) -> None:
    thread = await at.ask()
    body = (Pointer(text="there", thread=thread),)
    await at.gateway.show(thread, AnswerCard(key="a", title="A", body=body))
    args = at.bed.called("chat.postMessage")[-1].args
    assert (args["unfurl_links"], args["unfurl_media"]) == (False, False)
