"""Interpret each kind of payload, with one function per Slack name: message events, slash commands, block_actions,
shortcuts, view_submission.

No I/O. A payload without a function here is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from adapters.slack.access import PLATFORM, Identity
from adapters.slack.blocks import forms, kit
from adapters.slack.blocks.forms import SettingsFacts
from adapters.slack.blocks.questions import Values, matched_selections
from adapters.slack.blocks.surfaces import requested_page
from adapters.slack.blocks.text import PlainMessage, on_one_line, plain_message
from adapters.slack.deliveries import (
    Delivery,
    FormOpening,
    FormRequest,
    IncompleteForm,
    MessageEdit,
    ModelSettings,
    NotForBot,
    OfferedFile,
    PageTurned,
    Payload,
    PayloadMeaning,
    PressedButton,
    SlackCommand,
    Talk,
    get_object,
    get_text,
    is_direct_message,
    offered_files,
    parse_timestamp,
)
from bot.core.choices import Command, Verb, Word, parse_command
from bot.core.intent import Question
from bot.core.people import Thread
from bot.core.text import cut

# Messages, and Slack's own stop button: which of them are for the bot, and in which thread.

_PERSON_SUBTYPES = frozenset({"", "file_share", "thread_broadcast"})
"""Subtypes of messages written by a person. All others report something or repeat a message."""


def message_event(event: Payload, us: Identity, now: datetime) -> PayloadMeaning:
    # A mention arrives as two events and is read once more from the history; all three get the same id.
    channel, ts, user = get_text(event, "channel"), get_text(event, "ts"), get_text(event, "user")
    if get_text(event, "subtype") == "message_changed":
        return _message_changed(event, us, now)
    if not (channel and is_from_person(event, us)):
        return NotForBot("not said by a person")
    direct = is_direct_message(channel, get_text(event, "channel_type"))
    heard = plain_message(get_text(event, "text"), us.user)
    root = get_text(event, "thread_ts")
    where = slack_thread(us, channel, root or ts, direct=direct)
    mention = direct or heard.mentions_bot or get_text(event, "type") == "app_mention"
    files = offered_files(event, us.team)
    nothing = not (heard.text or files)
    if not mention and (not root or heard.mentions_first_other or nothing):
        return NotForBot("people talk to each other", talked=where)
    return Delivery(
        id=_message_id(us, channel, ts),
        at=parse_timestamp(ts, now),
        thread=where,
        user=user,
        what=_interpret_text(heard, mention, ts, files),
        home=home_workspace(event),
    )


def _message_changed(event: Payload, us: Identity, now: datetime) -> PayloadMeaning:
    # Slack sends the same event when it unfurls a link; only edits by a person count.
    channel, changed, before = (
        get_text(event, "channel"),
        get_object(event, "message"),
        get_object(event, "previous_message"),
    )
    ts, edit = get_text(changed, "ts"), get_object(changed, "edited")
    same = get_text(changed, "text") == get_text(before, "text")
    if same or not (channel and ts and get_text(edit, "ts")) or not is_from_person(changed, us):
        return NotForBot("no message was edited by its author")
    if get_text(edit, "user") != get_text(changed, "user"):
        return NotForBot("edited by somebody else")
    of = _message_id(us, channel, ts)
    return Delivery(
        id=f"{of}:edited:{get_text(edit, 'ts')}",
        at=parse_timestamp(get_text(edit, "ts"), now),
        thread=slack_thread(
            us, channel, get_text(changed, "thread_ts") or ts, direct=is_direct_message(channel)
        ),
        user=get_text(changed, "user"),
        what=MessageEdit(of, plain_message(get_text(changed, "text"), us.user).text),
        home=home_workspace(changed),
    )


def _message_id(us: Identity, channel: str, ts: str) -> str:
    return f"{PLATFORM}:{us.team}:{channel}:{ts}"


def is_from_person(event: Payload, us: Identity) -> bool:
    """Whether the message was written by a person."""
    if get_text(event, "subtype") not in _PERSON_SUBTYPES or event.get("hidden"):
        return False
    user = get_text(event, "user")
    return bool(get_text(event, "ts") and user) and not (
        event.get("bot_id") or user in {us.user, "USLACKBOT"}
    )


def _interpret_text(
    heard: PlainMessage, mention: bool, ts: str, files: tuple[OfferedFile, ...]
) -> Talk | SlackCommand:
    # A message with nothing but a mention of the bot is a request for help.
    if not (heard.text or files):
        return SlackCommand(Command(word=Word.HELP), mention)
    command = parse_command(heard.text)
    return SlackCommand(command, mention) if command else Talk(heard.text, mention, ts, files)


def agent_session_stopped(
    body: Payload, event: Payload, us: Identity, now: datetime
) -> PayloadMeaning:
    """Interpret a press of Slack's own stop button in a thread."""
    channel, root, user = (
        get_text(event, "channel"),
        get_text(event, "thread_ts"),
        get_text(event, "user"),
    )
    once = get_text(body, "event_id") or get_text(event, "event_ts")
    if not (channel and root and user and once):
        return NotForBot("not a whole stop")
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{channel}:{root}:stopped:{once}",
        at=parse_timestamp(get_text(event, "event_ts"), now),
        thread=slack_thread(us, channel, root, direct=is_direct_message(channel)),
        user=user,
        what=SlackCommand(Command(word=Word.STOP)),
        home=home_workspace(event),
    )


def slack_thread(us: Identity, channel: str, root: str, *, direct: bool) -> Thread:
    return Thread(platform=PLATFORM, workspace=us.team, channel=channel, root=root, direct=direct)


def home_workspace(event: Payload) -> str:
    """Return the user's own workspace; empty unless the event names one."""
    profile = get_object(event, "user_profile")
    names = ("user_team", "source_team")
    told = [get_text(event, name) for name in names] + [get_text(profile, "team")]
    return next((team for team in told if team), "")


# Slash commands, in a channel or in direct messages: Slack has none in threads.


class SlashCommand(StrEnum):
    """The slash commands in Slack's menu; the manifest names them."""

    ANYTHING = "/gwt"
    """Takes everything that could also follow a mention of the bot."""
    INTERRUPT = "/interrupt"
    SESSIONS = "/sessions"


NEW_FEATURE_WORDS = frozenset({"new", "start"})
"""These words after `/gwt` open the form for a new feature."""
_LONGEST_SHOWN = 60


def slash_command(
    body: Payload, us: Identity, now: datetime, known: PayloadContext
) -> PayloadMeaning:
    channel, trigger = get_text(body, "channel_id"), get_text(body, "trigger_id")
    user = get_text(body, "user_id")
    if not (channel and user and trigger):
        return NotForBot("not a whole command")
    where = slack_thread(us, channel, "", direct=is_direct_message(channel))
    text = get_text(body, "text")
    if verb := _form_wanted(get_text(body, "command"), text):
        purpose = forms.FormPurpose(thread=where, verb=verb)
        draw = forms.spec_form if verb is Verb.SPEC else forms.feature_form
        form = draw(
            purpose, known.channel_for(channel), choose_repository=known.several_repositories
        )
        what = FormOpening(verb, trigger, form)
    else:
        said = _command_text(get_text(body, "command"), text)
        unknown = Command(word=Word.HELP, text=cut(on_one_line(said), _LONGEST_SHOWN))
        what = SlackCommand(parse_command(said) or unknown)
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{trigger}",
        at=now,
        thread=where,
        user=user,
        what=what,
        home=get_text(body, "team_id"),
    )


def _form_wanted(slash: str, text: str) -> Verb | None:
    said = text.strip().lower()
    if slash in (SlashCommand.INTERRUPT, SlashCommand.SESSIONS):
        return None
    return Verb.BEGIN if said in NEW_FEATURE_WORDS else Verb.SPEC if said == Word.SPEC else None


def _command_text(slash: str, text: str) -> str:
    # An app may have registered `/gwt` under another name, so an unknown command means the same.
    match slash:
        case SlashCommand.INTERRUPT:
            return f"{Word.STOP} {text}"
        case SlashCommand.SESSIONS:
            return Word.SESSIONS.value if text.strip().lower() in {"", "list"} else text
        case _:
            return text


# Buttons in messages, on the home tab and in windows (block_actions), and shortcuts. Values that are not the bot's are
# ignored.

SHORTCUTS = {"session_interrupt": Word.STOP, "session_status": Word.STATUS}
"""Shortcuts in the menu of every message; the manifest names them."""
NEW_FEATURE_SHORTCUT = "session_new"
"""The global shortcut."""


def block_actions(
    body: Payload, us: Identity, now: datetime, known: PayloadContext
) -> PayloadMeaning:
    """Interpret a press of a button or menu option.

    A choice in a select is ignored here: its value arrives with the next press.
    """
    action = _first_action(body.get("actions"))
    if (page := requested_page(action)) is not None:
        return PageTurned(get_text(get_object(body, "view"), "id"), page)
    pressed = kit.ButtonValue.from_action(action)
    if pressed is None:
        return NotForBot("no button of ours")
    where, place = _press_location(body, us)
    user, stamp = get_object(body, "user"), get_text(action, "action_ts")
    if where is None or not (place and stamp and get_text(user, "id")):
        return NotForBot("not a whole press")
    return Delivery(
        id=f"{PLATFORM}:{where.place}:{place}:{stamp}:{get_text(user, 'id')}",
        at=parse_timestamp(stamp, now),
        thread=where,
        user=get_text(user, "id"),
        what=_meant_by_press(body, pressed, where, known),
        home=get_text(user, "team_id"),
    )


def message_action(body: Payload, us: Identity, now: datetime) -> PayloadMeaning:
    """Interpret a shortcut in the menu of a message; it is about the thread of that message."""
    means = SHORTCUTS.get(get_text(body, "callback_id"))
    message, user = get_object(body, "message"), get_object(body, "user")
    channel = get_text(get_object(body, "channel"), "id")
    root = get_text(message, "thread_ts") or get_text(message, "ts")
    if means is None or not (channel and root and get_text(user, "id")):
        return NotForBot("no shortcut of ours")
    once = get_text(body, "trigger_id") or get_text(body, "action_ts")
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{channel}:{root}:{once}",
        at=now,
        thread=slack_thread(us, channel, root, direct=is_direct_message(channel)),
        user=get_text(user, "id"),
        what=SlackCommand(Command(word=means)),
        home=get_text(user, "team_id"),
    )


def global_shortcut(
    body: Payload, us: Identity, now: datetime, known: PayloadContext
) -> PayloadMeaning:
    """Interpret a global shortcut, which carries no channel."""
    user, trigger = get_object(body, "user"), get_text(body, "trigger_id")
    if get_text(body, "callback_id") != NEW_FEATURE_SHORTCUT or not (
        trigger and get_text(user, "id")
    ):
        return NotForBot("no shortcut of ours")
    home = slack_thread(us, "", "", direct=False)
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{trigger}",
        at=now,
        thread=home,
        user=get_text(user, "id"),
        what=_begin_form(home, trigger, known),
        home=get_text(user, "team_id"),
    )


def _meant_by_press(
    body: Payload, pressed: kit.ButtonValue, where: Thread, known: PayloadContext
) -> PressedButton | FormOpening:
    verb, about = pressed.verb, pressed.about
    trigger = get_text(body, "trigger_id")
    if verb in (Verb.BEGIN, Verb.SPEC):
        return _begin_form(where, trigger, known, verb)
    purpose = forms.FormPurpose(thread=where, verb=verb, about=about, key=pressed.key)
    if verb is Verb.SETTINGS:
        facts = known.settings(get_text(get_object(body, "user"), "id"))
        return FormOpening(verb, trigger, forms.settings_form(purpose, facts))
    if pressed.form:
        asked = known.questions(where, pressed.key)
        form = (
            forms.questions_form(asked, purpose) if asked else forms.notice_form(QUESTIONS_EXPIRED)
        )
        return FormOpening(verb, trigger, form)
    if pressed.asks:
        label = kit.pressed_label(_first_action(body.get("actions")))
        return FormOpening(verb, trigger, forms.ask_form(label, pressed.question, purpose))
    if verb is Verb.ANSWER:
        answers = matched_selections(
            state_values(get_object(body, "state")), known.questions(where, pressed.key)
        )
        if answers is None:
            return FormOpening(verb, trigger, forms.notice_form(QUESTIONS_EXPIRED))
        return PressedButton(verb, about, answers=answers)
    return PressedButton(verb, about, trigger=trigger if verb is Verb.LOG else "")


def _begin_form(
    where: Thread, trigger: str, known: PayloadContext, verb: Verb = Verb.BEGIN
) -> FormOpening:
    purpose = forms.FormPurpose(thread=where, verb=verb)
    draw = forms.spec_form if verb is Verb.SPEC else forms.feature_form
    form = draw(
        purpose, known.channel_for(where.channel), choose_repository=known.several_repositories
    )
    return FormOpening(verb, trigger, form)


def _press_location(body: Payload, us: Identity) -> tuple[Thread | None, str]:
    """Return the thread a press is about, and an id of what was pressed on.

    A private message may be in the channel itself, a home tab has no thread, and a window knows where it was opened.
    """
    message, container = get_object(body, "message"), get_object(body, "container")
    if get_text(container, "type") == "view":
        return _view_location(get_object(body, "view"), us)
    channel = get_text(get_object(body, "channel"), "id") or get_text(container, "channel_id")
    if not channel:
        return None, ""
    root = (
        get_text(message, "thread_ts")
        or get_text(container, "thread_ts")
        or get_text(message, "ts")
    )
    ts = get_text(container, "message_ts")
    return slack_thread(us, channel, root, direct=is_direct_message(channel)), ts


def _view_location(view: Payload, us: Identity) -> tuple[Thread | None, str]:
    if get_text(view, "type") == "home":
        return slack_thread(us, "", "", direct=False), "home"
    purpose = forms.FormPurpose.parse(get_text(view, "private_metadata"))
    if purpose is None or not is_in_workspace(purpose.thread, us):
        return None, ""
    return purpose.thread, get_text(view, "id")


def _first_action(actions: object) -> Payload:
    first: object = actions[0] if isinstance(actions, list) and actions else None
    return first if isinstance(first, dict) else {}


# Submitted forms (view_submission): what each was opened for, and its input.

QUESTIONS_EXPIRED = (
    "I no longer have these questions. "
    "Please answer in the thread, for instance: D1: yes, D2: the second one."
)
_CHANNEL = re.compile(r"[CG][A-Z0-9]{1,40}")
_FORM_VERBS = {
    forms.FEATURE_FORM: Verb.BEGIN,
    forms.SPEC_FORM: Verb.SPEC,
    forms.SETTINGS_FORM: Verb.SETTINGS,
}
"""The verb of each form that has only one."""


def view_submission(
    body: Payload, us: Identity, now: datetime, known: PayloadContext
) -> PayloadMeaning:
    view, user = get_object(body, "view"), get_object(body, "user")
    purpose = forms.FormPurpose.parse(get_text(view, "private_metadata"))
    if purpose is None or not is_in_workspace(purpose.thread, us):
        return NotForBot("no form of ours")
    if not (get_text(view, "id") and get_text(user, "id")):
        return NotForBot("not a whole form")
    if _FORM_VERBS.get(get_text(view, "callback_id"), purpose.verb) is not purpose.verb:
        return NotForBot("a form for something else")
    what = _filled_in(view, purpose, known)
    if isinstance(what, IncompleteForm | NotForBot):
        return what
    return Delivery(
        id=_delivery_id(view, us, what),
        at=now,
        thread=_thread_of_form(view, us, purpose, what),
        user=get_text(user, "id"),
        what=what,
        home=get_text(user, "team_id"),
    )


def is_in_workspace(thread: Thread, us: Identity) -> bool:
    return (thread.platform, thread.workspace) == (PLATFORM, us.team)


def state_values(state: Payload) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the part of `state.values` that has the expected shape."""
    return {
        block: {
            name: dict(element) for name, element in fields.items() if isinstance(element, dict)
        }
        for block, fields in get_object(state, "values").items()
        if isinstance(fields, dict)
    }


def _filled_in(
    view: Payload, purpose: forms.FormPurpose, known: PayloadContext
) -> PressedButton | ModelSettings | FormRequest | IncompleteForm | NotForBot:
    values = state_values(get_object(view, "state"))
    match get_text(view, "callback_id"):
        case forms.QUESTIONS_FORM:
            return _answers_given(values, purpose, known.questions(purpose.thread, purpose.key))
        case forms.FEATURE_FORM | forms.SPEC_FORM as kind:
            return _request_of(get_text(view, "id"), values, spec=kind == forms.SPEC_FORM)
        case forms.SETTINGS_FORM:
            errors = forms.settings_errors(values)
            return (
                IncompleteForm(errors)
                if errors
                else ModelSettings(*forms.submitted_settings(values))
            )
        case _:
            errors = forms.text_errors(values)
            text = forms.submitted_text(values)
            return (
                IncompleteForm(errors)
                if errors
                else PressedButton(purpose.verb, purpose.about, text)
            )


def _answers_given(
    values: Values, purpose: forms.FormPurpose, questions: Sequence[Question]
) -> PressedButton | IncompleteForm:
    answers = forms.submitted_answers(values, questions)
    if not answers and matched_selections(values, questions) is None:
        return IncompleteForm(dict.fromkeys(list(values)[:1], QUESTIONS_EXPIRED))
    return PressedButton(purpose.verb, purpose.about, answers=answers)


def _request_of(
    view: str, values: Values, *, spec: bool
) -> FormRequest | IncompleteForm | NotForBot:
    if errors := forms.request_errors(values):
        return IncompleteForm(errors)
    asked = forms.requested_feature(values)
    if not _CHANNEL.fullmatch(asked.channel):
        return IncompleteForm({forms.CHANNEL: "Please choose a channel."})
    return FormRequest(form=view, text=asked.text, spec=spec)


def _thread_of_form(
    view: Payload, us: Identity, purpose: forms.FormPurpose, what: object
) -> Thread:
    if not isinstance(what, FormRequest):
        return purpose.thread
    chosen = forms.requested_feature(state_values(get_object(view, "state"))).channel
    return slack_thread(us, chosen, "", direct=False)


def _delivery_id(view: Payload, us: Identity, what: object) -> str:
    # A form returned with errors may be submitted again with other input; a feature request keeps its id, so that it
    # starts only once.
    own = f"{PLATFORM}:{us.team}:{get_text(view, 'id')}"
    return own if isinstance(what, FormRequest) else f"{own}:{get_text(view, 'hash')}"


# What the bot knows that a press or a command does not carry.

QuestionsOf = Callable[[Thread, str], Sequence[Question]]
"""Returns the questions on a card, by its thread and key; a select sends only the number of an option."""
SettingsOf = Callable[[str], SettingsFacts]
"""Returns the settings shown on a user's home tab."""


def _no_questions(thread: Thread, key: str) -> Sequence[Question]:
    return ()


def _no_settings(user: str) -> SettingsFacts:
    return ()


def _never_at_work(thread: Thread) -> bool:
    return False


def _no_unseen_cards(thread: Thread, ts: str) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class PayloadContext:
    questions: QuestionsOf = _no_questions
    settings: SettingsOf = _no_settings
    at_work_in: Callable[[Thread], bool] = _never_at_work
    """Whether the bot has ever posted in a thread."""
    unseen: Callable[[Thread, str], tuple[str, ...]] = _no_unseen_cards
    """Returns the cards with buttons that come after a message, by thread and timestamp."""
    channels: tuple[str, ...] = ()
    """Channels in which people may request something."""
    several_repositories: bool = True
    """With a single repository nobody is asked which one is meant."""

    def channel_for(self, here: str) -> str:
        """Return the channel a form preselects; empty if the user has to choose."""
        if here in self.channels:
            return here
        return self.channels[0] if len(self.channels) == 1 else ""
