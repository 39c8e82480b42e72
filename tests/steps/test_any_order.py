"""The decisions as a machine: whatever comes in whatever order, they depend on what is saved alone, and the same again changes nothing.

What must hold after each step stands in test_anything_goes; here the shortest way to break it is looked for.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.core.choices import Command, Verb
from bot.core.events import Commanded, Event, Pressed, Result, RunStopped, Said
from bot.core.projections.records import Record
from bot.core.session import Session
from bot.steps.decisions import decide, due, is_held_back
from tests.steps.scenes import ANN
from tests.steps.test_anything_goes import BEA, COMMANDS, WORDS, Life, Spoken

PLACES = st.integers(0, 30)
PEOPLE = st.sampled_from([ANN, BEA])


class AnyOrder(RuleBasedStateMachine):
    """`PLACES` choose among whatever there is at that moment."""

    life: Life

    @initialize(seed=st.integers(0, 1_000))
    def begins(self, seed: int) -> None:
        self.life = Life(seed)
        self._hears(Said(**self.life.answers.mark(), by=ANN, text="Add discounts"))

    @rule(place=PLACES)
    def the_world_answers(self, place: int) -> None:
        orders = [*due(self.life.session)]
        if orders:
            order = orders[place % len(orders)]
            self._hears(self.life.answers.to(self.life.session, order))

    @rule(place=PLACES)
    def the_world_refuses(self, place: int) -> None:
        orders = [*due(self.life.session)]
        if orders:
            self._hears(self.life.failed(orders[place % len(orders)]))

    @rule(place=PLACES)
    def it_is_told_again(self, place: int) -> None:
        """Late, of an earlier order: nothing moves."""
        past = [event for event in self.life.past if not isinstance(event, RunStopped)]
        if not past:
            return
        event = past[place % len(past)]
        session = self.life.session
        waited_for = isinstance(event, Result) and any(o.key == event.answers for o in due(session))
        if waited_for or is_held_back(session, event):
            return
        before = [order.key for order in due(session)], session.status, session.phase
        self._hears(event)
        assert before == ([order.key for order in due(session)], session.status, session.phase)

    @precondition(lambda self: bool(self.life.offered))
    @rule(place=PLACES, by=PEOPLE)
    def somebody_presses(self, place: int, by: object) -> None:
        verb, about = self.life.offered[-1 - place % len(self.life.offered[-8:])]
        verb = Verb.RETRY if verb is Verb.DISCARD else verb
        self._hears(Pressed(**self._by(by), verb=verb, about=about, text="wider"))

    @rule(text=st.sampled_from(WORDS), mention=st.booleans(), by=PEOPLE)
    def somebody_speaks(self, text: str, mention: bool, by: object) -> None:
        self._hears(Said(**self._by(by), text=text, mention=mention))

    @rule(word=st.sampled_from(COMMANDS), by=PEOPLE)
    def somebody_commands(self, word: object, by: object) -> None:
        command = Command.model_validate({"word": word, "argument": "D1"})
        self._hears(Commanded(**self._by(by), command=command))

    @rule()
    def the_bot_looks_around(self) -> None:
        self._hears(self.life.of_the_bot())

    @invariant()
    def all_is_as_it_must_be(self) -> None:
        self.life.check()

    @invariant()
    def what_is_saved_is_all_there_is(self) -> None:
        """Read again after a crash it demands the same."""
        saved = Record(session=self.life.session, inbox=self.life.inbox).model_dump_json()
        read = Record.model_validate_json(saved).session
        assert [*due(read)] == [*due(self.life.session)]
        assert read == self.life.session

    def _hears(self, event: Event) -> None:
        if not is_held_back(self.life.session, event):
            one, other = _decided(self.life.session, event), _decided(self.life.session, event)
            assert one == other
        self.life.hear(event)

    def _by(self, person: object) -> Spoken:
        by = BEA if person is BEA else ANN
        return Spoken(**self.life.answers.mark(), by=by)


def _decided(session: Session, event: Event) -> tuple[str, str]:
    """On a copy: what became of it, and what is to be done. The original stays as it is."""
    before = session.model_dump_json()
    copy = session.copied()
    deeds = decide(copy, event)
    assert session.model_dump_json() == before
    return copy.model_dump_json(), repr(deeds)


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(derandomize=True, max_examples=40, stateful_step_count=40)
