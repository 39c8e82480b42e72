"""What people say while something is under way: it waits for the model's judgement, and is answered, taken in or let be."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import tokens
from bot.domain.actions import Deed
from bot.domain.events import FromPerson, OrderFailed, Overheard, Said, TalkSummarised, WordsJudged
from bot.domain.sentences import sentences
from bot.domain.session import Message, Session, Speaker
from bot.domain.sheets import Text
from bot.domain.words import WordKind, Words
from bot.flow import telling

MOST = 20
"""Words that wait. More than this nobody says while the model is away."""
CONTEXT = 10
NOT_UNDERSTOOD = (
    "I could not tell what that asks of me; nothing was changed. Please put it differently."
)
"""What is understood comes with a reason."""


def noted(session: Session, event: Said, text: str) -> Iterator[Deed]:
    """Before the plan is made nothing has to be judged: it goes into the plan."""
    session.say(Speaker.USER, text, event.at)
    yield telling.privately(event, "Noted. I will take it into account in the plan.")


def heard(session: Session, event: Said, text: str) -> Iterator[Deed]:
    session.say(Speaker.USER, text, event.at)
    yield from wait(session, event, text)


def wait(session: Session, event: Said, text: str) -> Iterator[Deed]:
    """Until the model has judged it."""
    if len(session.words) >= MOST:
        yield telling.privately(
            event, "I am still reading earlier messages. Please say that again later."
        )
        return
    session.words = (*session.words, words_of(event, text, mention=event.mention))


def words_of(event: FromPerson, text: str, *, mention: bool = True) -> Words:
    return Words(
        id=event.id,
        by=event.by,
        at=event.at,
        text=text,
        mention=mention,
        may_stop=event.may_stop,
    )


def overheard(session: Session, event: Overheard) -> None:
    """The last of what others said: the model may know it, and nothing follows from it."""
    words = Words(id=event.id, by=event.by, at=event.at, text=event.text)
    session.overheard = (*session.overheard, words)[-CONTEXT:]


def next_words(session: Session) -> Words | None:
    """Who named the bot is heard first; otherwise first come, first served."""
    return min(session.words, key=lambda words: not words.mention, default=None)


def judged(session: Session, words_id: str) -> Words | None:
    """The words, which wait no longer."""
    found = next((words for words in session.words if words.id == words_id), None)
    session.words = tuple(words for words in session.words if words.id != words_id)
    return found


def not_judged(session: Session, event: OrderFailed) -> Iterator[Deed]:
    """The model refuses for good. Nothing under way ends over that; the one who spoke is told."""
    words = judged(session, event.answers.partition(":")[2])
    if words:
        told = sentences(f"I could not read that: {event.reason}", event.remedy)
        yield telling.to(words.by, words.id, told)


def answered(session: Session, event: WordsJudged, words: Words) -> Iterator[Deed]:
    """Talk and questions. Talk among people needs no answer."""
    if event.what is WordKind.QUESTION:
        reply = event.reply or "I do not know. status tells how things stand."
        session.say(Speaker.ASSISTANT, reply, event.at)
        yield telling.answered(f"reply:{words.id}", f"To {words.by}", Text(text=reply))
    elif not event.reason:
        yield telling.to(words.by, words.id, NOT_UNDERSTOOD)
    elif words.mention and event.reply:
        yield telling.to(words.by, words.id, event.reply)


def summarised(session: Session, event: TalkSummarised | OrderFailed) -> None:
    """One message stands for the oldest; what came since stays word for word."""
    if isinstance(event, TalkSummarised):
        messages, told = event.messages, event.summary
    else:
        messages = tokens.talk_to_summarise(session, session.context_window)
        told = f"{messages} earlier messages are left out."
    last = session.conversation[messages - 1].timestamp
    summary = Message(role=Speaker.SYSTEM, content=told, timestamp=last)
    session.conversation[:messages] = [summary]
    session.summarised += 1
