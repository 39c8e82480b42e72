"""Sessions that a session opens: a root message of their own in the channel, and the first word in their thread."""

from __future__ import annotations

from bot.domain.actions import OpenSession, PassOn
from bot.domain.cards import RootCard
from bot.domain.events import Begun, Continued, PassedOn, SessionOpened
from bot.domain.naming import derived_id
from bot.domain.parts import Part
from bot.domain.session import Session, Speaker
from bot.engine.perform.telling import chat_of
from bot.engine.world import World
from bot.errors import Refused


async def open_session(world: World, session: Session, order: OpenSession) -> SessionOpened:
    """Safe to do twice: the root message is known by its key, and the session by its id."""
    part = next((part for part in session.parts if part.session == order.session), None)
    if part is None:
        raise Refused("that session is no longer wanted")
    # parts of a large wish were asked for once, with it
    if not part.child and (why_not := world.nursery.one_more(part.by, part.session)):
        raise Refused(why_not)
    chat = chat_of(world, session.thread.platform)
    thread = await chat.open(session.thread, _root(session, part))
    world.nursery.begin(thread, part.session, _first_word(world, session, part))
    return SessionOpened(**world.mark(), answers=order.key, session=part.session, thread=thread)


def _root(session: Session, part: Part) -> RootCard:
    return RootCard(
        key=f"root:{part.session}",
        session=part.session.replace("-", "")[:8],
        title=part.title,
        request=part.body,
        by=str(part.by),
        origin=session.thread,
        origin_title=session.title,
    )


def _first_word(world: World, session: Session, part: Part) -> Begun:
    return Begun(
        id=derived_id(part.session, "begun"),
        at=world.clock.now(),
        by=part.by,
        text=_with(part.body, _besides(session)) if part.child else part.body,
        title=part.title if part.child else "",
        parent=session.intent.id if part.child else None,
        origin=session.thread,
        origin_title=session.title,
    )


def _besides(session: Session) -> list[str]:
    """What people said behind the request until it was settled where it is carried out: they were told that it counts."""
    body = session.intent.body
    said = [one.content for one in session.conversation if one.role is Speaker.USER]
    asked = max((at for at, text in enumerate(said) if body.startswith(text)), default=-1)
    return [text for text in said[asked + 1 :] if text.strip() not in body]


def _with(body: str, besides: list[str]) -> str:
    return "\n\n".join([body, *besides])


async def pass_on(world: World, session: Session, order: PassOn) -> PassedOn:
    """Safe to do twice: the word has an id of its own, and is heard once."""
    record = world.store.find(order.session)
    if record is None:
        raise Refused(f"the session {order.session[:8]} is no longer there")
    event = Continued(
        id=derived_id(session.id, "passed on"),
        at=world.clock.now(),
        by=session.owner,
        text=_with(session.intent.body, _besides(session)),
    )
    if why_not := world.nursery.pass_on(record.session.thread, event):
        raise Refused(why_not, "Ask there, or have it planned here.")
    return PassedOn(**world.mark(), answers=order.key, session=order.session)
