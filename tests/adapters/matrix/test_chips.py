"""Reactions as buttons: which chips a card has, what a reaction means, and what is asked before it counts."""

from __future__ import annotations

import pytest

from adapters.matrix.reactions import (
    EMOJI,
    MAX_BUTTONS,
    MAX_KEY_LENGTH,
    button_keys,
    choice_for,
    confirmed_card,
    follow_up_card,
    key_for_person,
    original_key,
    seeded_keys,
)
from adapters.posting import PlacedCard
from bot.core.choices import Choice, Style, Verb, parse_command, typed_equivalent
from bot.core.layout import lay_out
from bot.core.people import Thread
from bot.steps.approve.rules import is_yes
from tests.fakes import cards

THREAD = Thread(platform="matrix", channel="!room", root="$root")
APPROVE, CHANGE, DISCARD = lay_out(cards.APPROVAL).choices


def placed(*choices: Choice, key: str = "card", thread: Thread = THREAD) -> PlacedCard:
    return PlacedCard(thread=thread, key=key, revision=1, digest="d", choices=choices)


def test_every_verb_has_one_emoji_without_a_variant() -> None:
    assert set(EMOJI) == set(Verb)
    assert not any("\ufe0f" in emoji for emoji in EMOJI.values())


def test_chips_say_what_they_do_in_a_few_letters() -> None:
    assert seeded_keys(lay_out(cards.APPROVAL).choices) == (
        "✅ Approve",
        "✏ Request changes",
        "❌ Discard",
    )
    long = [
        Choice(label=f"Resume 1a2b3c4d {'a title ' * 9}", verb=Verb.RESUME, about=str(n))
        for n in range(7)
    ]
    found = button_keys(long)
    assert len(set(found)) == 7
    assert all(len(key) <= MAX_KEY_LENGTH for key in found)
    assert seeded_keys(long) == found[:MAX_BUTTONS]


@pytest.mark.parametrize(
    ("key", "verb"),
    [
        ("✅ Approve", Verb.APPROVE),
        ("✅\ufe0f Approve", Verb.APPROVE),
        ("✅", Verb.APPROVE),
        ("👍", Verb.APPROVE),
        ("👍🏽", Verb.APPROVE),
        ("✏\ufe0f", Verb.CHANGE),
        ("✏️ Request changes", Verb.CHANGE),
        ("❌", Verb.DISCARD),
        ("🛑", Verb.STOP),
        ("✋🏻", Verb.STOP),
    ],
)
def test_a_reaction_chooses_as_its_chip_says(key: str, verb: Verb) -> None:
    choice = choice_for(placed(APPROVE, CHANGE, DISCARD), key)
    assert choice is not None
    assert choice.verb is verb


@pytest.mark.parametrize("key", ["🎉", "👎", "", "Approve", "✅ approve everything", "❤\ufe0f"])
def test_any_other_reaction_means_nothing(key: str) -> None:
    assert choice_for(placed(APPROVE, CHANGE, DISCARD), key) is None


def test_a_reaction_that_could_mean_two_things_means_nothing() -> None:
    one, two = (
        Choice(label=f"Stop {n}", verb=Verb.STOP, about=n, style=Style.DANGER) for n in "ab"
    )
    picker = placed(one, two)
    assert choice_for(picker, "🛑") is None
    assert choice_for(picker, "👍") is None
    assert choice_for(picker, "🛑 Stop b") == two


def test_a_raised_hand_stops_from_any_card_of_a_session() -> None:
    stop = choice_for(placed(key="status"), "🛑")
    assert stop is not None
    assert stop.verb is Verb.STOP
    outside = Thread(platform="matrix", channel="!room", root="")
    assert choice_for(placed(thread=outside), "🛑") is None


def test_on_a_card_that_is_decided_nothing_can_be_chosen() -> None:
    decided = placed().model_copy(update={"former": (APPROVE, CHANGE, DISCARD)})
    assert choice_for(decided, "✅ Approve") is None


def test_the_word_beside_a_choice_does_the_same() -> None:
    assert is_yes(typed_equivalent(APPROVE))
    for verb in (Verb.STOP, Verb.RESUME, Verb.DISCARD):
        choice = Choice(label="x", verb=verb)
        command = parse_command(typed_equivalent(choice))
        assert command is not None
        assert command.word == verb
        one = choice.model_copy(update={"about": "1a2b3c4d-0000-4000-8000-000000000000"})
        command = parse_command(typed_equivalent(one))
        assert command is not None
        assert command.argument == "1a2b3c4d"


def test_a_choice_that_asks_wants_words_in_the_thread() -> None:
    card = follow_up_card(CHANGE, "$1")
    assert card is not None
    assert card.title == "Write in this thread what should be different."
    assert card.choices == ()
    other = follow_up_card(Choice(label="x", verb=Verb.RETRY, asks="What else?"), "$1")
    assert other is not None
    assert other.title == "What else?"


def test_a_choice_that_cannot_be_undone_wants_to_be_chosen_once_more() -> None:
    card = follow_up_card(DISCARD, "$1")
    assert card is not None
    assert card.title == DISCARD.confirm
    (sure,) = card.choices
    assert (sure.verb, sure.about, sure.confirm) == (Verb.DISCARD, DISCARD.about, "")
    assert follow_up_card(sure, "$2") is None
    assert card == follow_up_card(DISCARD, "$1"), "heard twice, it asks once"
    asked = placed(sure, key=key_for_person(card.key, "@a:b"))
    done = confirmed_card(asked, sure)
    assert done is not None
    assert (done.key, done.choices) == (card.key, ())
    assert confirmed_card(placed(sure, key="approval:1"), sure) is None


def test_a_plain_choice_counts_at_once() -> None:
    assert follow_up_card(APPROVE, "$1") is None


def test_the_key_of_what_was_shown_to_somebody_is_found_again() -> None:
    assert original_key(placed(key=key_for_person("answer:$1", "@a to b:hs"))) == "answer:$1"
