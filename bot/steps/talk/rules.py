"""Messages while something is under way, attached files, and the people in the thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bot.core.actions import Deed, JudgeWords, Order, Show, SummariseTalk
from bot.core.cards import NewsCard
from bot.core.choices import Verb
from bot.core.commands import COMMANDS
from bot.core.events import (
    Attached,
    Commanded,
    Event,
    FromPerson,
    OrderFailed,
    Overheard,
    Pressed,
    Said,
    TalkSummarised,
    WordsJudged,
)
from bot.core.people import Verbosity
from bot.core.session import Message, Session, Speaker, messages_to_summarise
from bot.core.sheets import Text, Tone
from bot.core.states import Phase, TaskState
from bot.core.talk import ChangeStage, Feedback, Spoken, WordKind, Words
from bot.core.text import clean, sentences
from bot.steps import messages

# Messages wait for the model's judgement. Then they are answered, acted on, or ignored.

MOST_WAITING = 20
"""Messages that may wait, e.g. while the model cannot be reached."""
MOST_OVERHEARD = 10
NOT_UNDERSTOOD = (
    "I could not tell what that asks of me; nothing was changed. Please put it differently."
)
"""Shown if the model's reply has no reason, i.e. was not valid."""


def note_for_plan(session: Session, event: Said, text: str) -> Iterator[Deed]:
    """Record a message before the plan is made: it goes into the plan without being judged."""
    session.say(Speaker.USER, text, event.at)
    yield messages.private_reply(event, "Noted. I will take it into account in the plan.")


def message_heard(session: Session, event: Said, text: str) -> Iterator[Deed]:
    session.say(Speaker.USER, text, event.at)
    yield from queue_words(session, event, text)


def queue_words(session: Session, event: Said, text: str) -> Iterator[Deed]:
    """Queue a message for the model's judgement."""
    if len(session.talk.waiting) >= MOST_WAITING:
        yield messages.private_reply(
            event, "I am still reading earlier messages. Please say that again later."
        )
        return
    session.talk.waiting = (*session.talk.waiting, words_of(event, text, mention=event.mention))


def words_of(event: FromPerson, text: str, *, mention: bool = True) -> Words:
    return Words(
        id=event.id,
        by=event.by,
        at=event.at,
        text=text,
        mention=mention,
        may_stop=event.may_stop,
    )


def keep_overheard(session: Session, event: Overheard) -> None:
    """Keep the latest messages of others: context for the model, without any effect."""
    words = Words(id=event.id, by=event.by, at=event.at, text=event.text)
    session.talk.overheard = (*session.talk.overheard, words)[-MOST_OVERHEARD:]


def next_words(session: Session) -> Words | None:
    """Return the next message to judge: those that mention the bot first, otherwise in order."""
    return min(session.talk.waiting, key=lambda words: not words.mention, default=None)


def take_words(session: Session, words_id: str) -> Words | None:
    """Remove a message from the queue and return it."""
    found = next((words for words in session.talk.waiting if words.id == words_id), None)
    session.talk.waiting = tuple(words for words in session.talk.waiting if words.id != words_id)
    return found


def words_not_judged(session: Session, event: OrderFailed) -> Iterator[Deed]:
    """Tell the author that the model refused for good. Nothing under way ends because of that."""
    words = take_words(session, event.answers.partition(":")[2])
    if words:
        told = sentences(f"I could not read that: {event.reason}", event.remedy)
        yield messages.whisper_to(words.by, words.id, told)


def answer_words(session: Session, event: WordsJudged, words: Words) -> Iterator[Deed]:
    """Answer a question or a mention. Talk among people needs no answer."""
    if event.what is WordKind.QUESTION:
        reply = event.reply or "I do not know. status tells how things stand."
        session.say(Speaker.ASSISTANT, reply, event.at)
        yield messages.answer_card(f"reply:{words.id}", f"To {words.by}", Text(text=reply))
    elif not event.reason:
        yield messages.whisper_to(words.by, words.id, NOT_UNDERSTOOD)
    elif words.mention and event.reply:
        yield messages.whisper_to(words.by, words.id, event.reply)


def summarised(session: Session, event: TalkSummarised | OrderFailed) -> None:
    """Replace the oldest messages by the summary; later ones stay word for word."""
    if isinstance(event, TalkSummarised):
        messages, told = event.messages, event.summary
    else:
        messages = messages_to_summarise(session, session.llm.context_window)
        told = f"{messages} earlier messages are left out."
    last = session.conversation[messages - 1].timestamp
    summary = Message(role=Speaker.SYSTEM, content=told, timestamp=last)
    session.conversation[:messages] = [summary]
    session.talk.summaries += 1


# The people in a thread: how much is posted for them, when they last wrote, and their feedback on the result.

MOST_LISTENERS = 50
"""People whose last message is remembered."""
VERBOSITY_SET = {
    Verbosity.QUIET: "Quiet: you hear of what waits for somebody, what failed, and how it ends.",
    Verbosity.NORMAL: "As usual: you also hear what was finished and what changed.",
    Verbosity.FULL: "In full: you hear of every task whenever it is in another state.",
}
_CALM = (Tone.PLAIN, Tone.PROGRESS, Tone.SUCCESS)


def note_speaker(session: Session, event: Event) -> None:
    """Record when somebody wrote. Asking what was missed does not count, so that it can be asked twice."""
    if not isinstance(event, FromPerson) or _is_read_only(event):
        return
    last = session.talk.last_spoken.get(event.by.id)
    if last and last.at > event.at:
        return  # an earlier message that arrived late
    spoken = {id: one for id, one in session.talk.last_spoken.items() if id != event.by.id}
    spoken[event.by.id] = Spoken(at=event.at, usage=session.usage)
    session.talk.last_spoken = dict(list(spoken.items())[-MOST_LISTENERS:])


def _is_read_only(event: FromPerson) -> bool:
    match event:
        case Commanded(command=command):
            return COMMANDS[command.word].only_looks
        case Pressed(verb=verb):
            return verb is Verb.LOG
        case Overheard():  # they may not ask what they missed
            return True
        case _:
            return False


def filter_by_verbosity(
    session: Session, deeds: Iterable[Deed], before: Mapping[str, TaskState], event: Event
) -> Iterator[Deed]:
    """Return the messages that the thread's verbosity allows."""
    if session.talk.verbosity is Verbosity.FULL:
        yield from _state_changes(session, before, event)
    for deed in deeds:
        if session.talk.verbosity is not Verbosity.QUIET or not _is_calm_news(deed):
            yield deed


def _is_calm_news(deed: Deed) -> bool:
    return isinstance(deed, Show) and isinstance(deed.card, NewsCard) and deed.card.tone in _CALM


def _state_changes(
    session: Session, before: Mapping[str, TaskState], event: Event
) -> Iterator[Deed]:
    moved = [
        f"{task.key} {task.name}: {before[task.id]} → {task.state}"
        for task in session.tasks
        if before.get(task.id, task.state) is not task.state
    ]
    if moved:
        first, *others = moved
        yield messages.news(f"moved:{event.id}", first, *others, tone=Tone.PLAIN)


def set_verbosity(session: Session, event: Commanded) -> Iterator[Deed]:
    wanted = event.command.argument.lower()
    if wanted not in set(Verbosity):
        yield messages.private_reply(
            event,
            f"This thread is {session.talk.verbosity}. verbosity quiet, normal or full changes that.",
        )
        return
    session.talk.verbosity = Verbosity(wanted)
    yield messages.private_reply(event, VERBOSITY_SET[session.talk.verbosity])


def take_feedback(session: Session, event: Pressed) -> Iterator[Deed]:
    """Record feedback; the last one of each person counts."""
    helpful = event.verb is Verb.HELPFUL
    others = tuple(one for one in session.talk.feedback if one.by != event.by.id)
    session.talk.feedback = (
        *others[-MOST_LISTENERS:],
        Feedback(by=event.by.id, helpful=helpful, at=event.at),
    )
    if helpful:
        yield messages.private_reply(event, "Thank you, noted.")
    else:
        yield messages.private_reply(
            event, "Noted. Say in this thread what should be different, and I go on with it."
        )


# Attached files: their text becomes part of the message, and the sender learns what could not be read.

MOST_ATTACHED = 20_000
"""Characters of all files together: a model reads the request again and again."""
LONGEST_FILE_NAME = 80
"""Characters of a file's name."""


def with_attachments(event: Event) -> Event:
    """Return the event with the text of its files appended to its message."""
    if not isinstance(event, Said) or not event.files:
        return event
    return event.model_copy(update={"text": _text_with_files(event.text, event.files), "files": ()})


def attachment_problems(event: Event) -> Iterator[Deed]:
    """Tell the sender what could not be read."""
    if not isinstance(event, Said):
        return
    if told := (*unread_attachments(event.files), *_shortened(event.files)):
        yield messages.private_reply(event, "Of what you attached: " + "; ".join(told))


def unread_attachments(files: tuple[Attached, ...]) -> tuple[str, ...]:
    """Return what could not be read, and why."""
    return tuple(f"{_name(file)}: {file.problem}" for file in files if file.problem)


def _text_with_files(text: str, files: tuple[Attached, ...]) -> str:
    parts = [text]
    for file, read in _readable_parts(files):
        if read:
            fence = "`" * max(3, _longest_backticks(read) + 1)
            parts.append(f"Attached, {_name(file)}:\n{fence}\n{read}\n{fence}")
    return "\n\n".join(part for part in parts if part)


def _shortened(files: tuple[Attached, ...]) -> Iterator[str]:
    for file, read in _readable_parts(files):
        if len(read) < len(file.text):
            how = "I read only the beginning of it" if read else "there was no room left for it"
            yield f"{_name(file)}: {how}"


def _readable_parts(files: tuple[Attached, ...]) -> Iterator[tuple[Attached, str]]:
    """Yield each file with as much of its text as there is room for."""
    room = MOST_ATTACHED
    for file in files:
        read = file.text[:room]
        room -= len(read)
        yield file, read


def _name(file: Attached) -> str:
    # A file's name must not be able to inject anything into the request.
    return " ".join(clean(file.name).split())[:LONGEST_FILE_NAME] or "a file"


def _longest_backticks(text: str) -> int:
    # The quote needs more backticks than the text contains, so that the text cannot end it.
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest


# Orders for messages, and for a conversation that grows too long for the model.


def due(session: Session) -> Iterator[Order]:
    """Yield the orders that judge messages and summarise a conversation that grows too long for the model."""
    judged = (Phase.SPECIFYING, Phase.APPROVING, Phase.EXECUTING, Phase.FINISHING)
    words = next_words(session)
    if (
        words
        and session.phase in judged
        and session.ending.choice is None
        and may_be_judged(session, words)
    ):
        yield JudgeWords(words_id=words.id)
    if messages := messages_to_summarise(session, session.llm.context_window):
        yield SummariseTalk(number=session.talk.summaries + 1, messages=messages)


def may_be_judged(session: Session, words: Words) -> bool:
    """Whether the message may be judged now: at once if it mentions the bot; others wait until a pending change has
    been shown.
    """
    change = session.change
    return words.mention or change is None or change.stage is ChangeStage.AWAITING
