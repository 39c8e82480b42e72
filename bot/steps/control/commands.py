"""Answers commands about one session: status, tasks, decisions, what was missed, and the card that waits for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import AwareDatetime

from bot.core import approval
from bot.core.actions import Deed, Show, ShowLogs, Whisper
from bot.core.cards import AnswerCard, CardDecision, StoppedCard
from bot.core.choices import Word
from bot.core.events import Commanded
from bot.core.evidence import CommandSource
from bot.core.intent import Question
from bot.core.layout import lay_out
from bot.core.layout.phrases import shortened_in_words, state_in_words, usage_in_words
from bot.core.looks import SeenLook
from bot.core.session import Session, Speaker
from bot.core.sheets import Bullets, Element, Fields, Table, Text, Tone
from bot.core.states import Phase, Status, TaskState
from bot.core.talk import ChangeStage, Spoken
from bot.core.task import Task
from bot.core.text import ago, counted, date_time, duration, first_few
from bot.steps import messages, plan
from bot.steps.approve import rules as approve
from bot.steps.blocked import limits
from bot.steps.blocked import rules as blocked
from bot.steps.change import effects as change_effects
from bot.steps.change import rules as change
from bot.steps.clarify import rules as clarify
from bot.steps.dialogs import cards as dialog_cards
from bot.steps.pull_requests import cards as pull_cards
from bot.steps.ship import rules as ship
from bot.steps.talk import rules as talk
from bot.steps.verify import rules as verify
from bot.steps.verify import test_command

MOST_SHOWN = 20
"""Files, and looks, that `context` lists."""


def answer(session: Session, event: Commanded) -> Iterator[Deed]:
    match event.command.word:
        case Word.STATUS:
            yield Show(card=messages.status_card(session, event.at, {}, key=f"answer:{event.id}"))
        case Word.TASKS:
            yield messages.answer(event, "Tasks", *_tasks(session, event))
        case Word.USAGE:
            yield messages.answer(event, "Usage", _usage(session))
        case Word.INFO:
            yield messages.answer(event, session.title, _info(session))
        case Word.DECISIONS | Word.CONTEXT as word:
            decisions = word is Word.DECISIONS
            title = "Decisions" if decisions else "What was read of the repository"
            told = decisions_table(session) if decisions else _context(session)
            yield messages.answer(event, title, *told)
        case Word.CATCH_UP:
            yield from catch_up_digest(session, event)
        case Word.VERBOSITY:
            yield from talk.set_verbosity(session, event)
        case Word.TESTS | Word.SET_UP as word:
            yield from (_tests if word is Word.TESTS else _set_up)(session, event)
        case Word.LOGS:
            command = event.command
            yield ShowLogs(about=event.id, task=command.argument, level=command.text)
        case _:
            yield messages.private_reply(event, "I cannot do that here. help lists the commands.")


def _tests(session: Session, event: Commanded) -> Iterator[Deed]:
    """Show the test command, or set it for the future (approvers only)."""
    said = event.command.text
    if not said:
        how = "tests: <command> sets another one for this and later sessions, tests: none runs none in this one."
        yield messages.answer(event, "Tests", test_command.as_fields(session), Text(text=how))
    elif session.over:
        yield messages.private_reply(
            event, "This session is over: nothing of it is tested any more."
        )
    else:
        operators = session.tests.source is CommandSource.SETTINGS
        test_command.set_by_person(session, said)
        yield from _test_command_set(session, event, operators=operators)


def _test_command_set(session: Session, event: Commanded, *, operators: bool) -> Iterator[Deed]:
    """Confirm the new test command.

    `operators`: it replaces GWT_TEST_COMMAND, which applies again in the next session.
    """
    command = session.tests.command
    what = f"The tests of this session run with `{command}`" if command else "No tests are run"
    done = bool(session.in_state(TaskState.COMPLETED))
    said = ["What is done already is not tested again."] if done else []
    if command and not operators:
        said.append(
            "Later sessions of this repository begin with it; their approval card names it."
        )
    yield messages.answer(event, f"{what} from now on.", *(Text(text=one) for one in said))
    yield from _show_plan_again(session, event)
    yield from verify.recheck_tasks(session, messages.decided(what, event))


def _set_up(session: Session, event: Commanded) -> Iterator[Deed]:
    """Show the set-up command, or set it for the future (approvers only)."""
    said = event.command.text
    if not said:
        known = session.repository.set_up or (
            "nothing" if session.repository.set_up_by_person else "as GWT_SET_UP says"
        )
        how = "setup: <command> runs another one in this session, setup: none runs nothing."
        pairs = (("In each new worktree", known),)
        yield messages.answer(event, "Set-up", Fields(pairs=pairs), Text(text=how))
    elif session.over:
        yield messages.private_reply(event, "This session is over: nothing is set up any more.")
    else:
        test_command.set_up_by_person(session, said)
        runs = (
            f"`{session.repository.set_up}` is run"
            if session.repository.set_up
            else "Nothing is run"
        )
        yield messages.answer(event, f"{runs} in each new worktree of this session from now on.")
        yield from _show_plan_again(session, event)


def _show_plan_again(session: Session, event: Commanded) -> Iterator[Deed]:
    # An approver must see the new command, so the plan is shown again.
    if session.phase is Phase.APPROVING:
        session.plan.shown_at, session.approval.given = event.at, ()
        yield messages.approval_wanted(session)


def _tasks(session: Session, event: Commanded) -> Iterator[Element]:
    if not session.tasks:
        yield Text(text="There is no plan yet.")
        return
    rows = tuple(_task_row(session, task, event) for task in session.tasks)
    yield Table(head=("Task", "What", "State", "After", "Time", "Branch"), rows=rows)


def _task_row(session: Session, task: Task, event: Commanded) -> tuple[str, ...]:
    after = ", ".join(p.key for p in map(session.task, task.dependencies) if p)
    branch = task.workspace.branch if task.workspace else ""
    time = duration(messages.seconds_worked_on(task, event.at))
    return (task.key, task.name, task.state, after, time, branch)


def _context(session: Session) -> Iterator[Element]:
    """List the files that the model was shown, and what it looked at by itself."""
    scan = session.repository.scan
    context, looks = (scan.context if scan else None), session.repository.looks
    shortened = shortened_in_words(session.usage)
    if not (context or looks or shortened):
        yield Text(text="Nothing yet: it is read when planning begins.")
        return
    if context:
        told = f"{context.tokens:,} tokens of {context.searched:,} source files at {context.commit[:12]}"
        yield Text(text=f"Found for the request, best first: {told}.")
        best = context.files[:MOST_SHOWN]
        rows = tuple((one.path, _lines(one.ranges), one.why) for one in best)
        yield Table(head=("File", "Lines shown", "Why"), rows=rows)
        if more := len(context.files) - len(best):
            yield Text(text=f"{more} more files were named to the model without their code.")
        if context.left_out:
            yield Text(text=f"Not complete: {context.left_out}.")
    if looks:
        last = looks[-MOST_SHOWN:]
        yield Text(
            text=f"Looked at by the model itself, {counted(len(looks), 'look')}:", strong=True
        )
        base = session.repository.base_commit
        yield Bullets(items=tuple(_look(one, base) for one in last))
    if scan and scan.truncated:
        yield Text(text="The repository was too large to be described to the model completely.")
    if shortened:
        yield Text(text="Shortened or left out so that it fits, by question:", strong=True)
        yield Bullets(
            items=tuple(f"{name}: {', '.join(parts)}" for name, parts in shortened.items())
        )


def _look(seen: SeenLook, base: str) -> str:
    # the judge looks at the work, not at what it began from
    return str(seen.look) if seen.commit == base else f"{seen.look} at {seen.commit[:12]}"


def _lines(ranges: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{first}-{last}" for first, last in ranges) or "–"


def _usage(session: Session) -> Fields:
    usage, runs = session.usage, sum(len(task.runs) for task in session.tasks)
    return Fields(
        pairs=(
            ("Model calls", str(usage.calls)),
            ("Tokens", f"about {usage.prompt_tokens:,} in, {usage.reply_tokens:,} out"),
            ("Agent runs", str(runs)),
            (
                "Agents' own use",
                ", ".join(usage_in_words(messages.agents_usage(session))) or "they do not say",
            ),
        )
    )


def _info(session: Session) -> Fields:
    spec = (
        f"{session.plan.spec.id}, revision {session.plan.spec.revision}"
        if session.plan.spec
        else "none yet"
    )
    pairs = [
        ("Session", session.id),
        ("Status", state_in_words(session.status, session.phase)),
        ("Repository", session.repository.path),
        ("Base", messages.base_of(session)),
        ("Spec", spec),
        ("Asked by", str(session.owner)),
        ("Since", date_time(session.created_at)),
    ]
    if session.control.failure:
        pairs.append(("Problem", session.control.failure))
    return Fields(pairs=tuple(pairs))


# The numbered decisions of a session. Each can be reopened at any time.


def decisions_table(session: Session) -> Iterator[Element]:
    if not session.intent.clarifications:
        yield Text(text="There are none yet.")
        return
    rows = tuple(
        (q.decision, q.text, q.answer or "still open", q.answered_by or "–")
        for q in session.intent.clarifications
    )
    yield Table(head=("No.", "Question", "Answer", "By"), rows=rows)
    yield Text(text="reopen D1 and a new answer decides anew; reopen D1 alone asks again.")


def reopen_decision(session: Session, event: Commanded) -> Iterator[Deed]:
    """Reopen a decision: with a new answer it is changed, without one it is asked again.

    The consequences depend on the phase.
    """
    question = _decision_named(session, event.command.argument)
    if question is None:
        name = event.command.argument
        yield messages.private_reply(event, f"There is no decision {name}. decisions lists them.")
        return
    text = event.command.text.strip()
    if session.phase is Phase.EXECUTING and not text:
        wanted = f"Write the new answer behind it: reopen {question.decision} …"
        yield messages.private_reply(event, wanted)
        return
    match session.phase:
        case Phase.CLARIFYING:
            yield from _reopen_while_clarifying(session, event, question, text)
        case Phase.SPECIFYING | Phase.APPROVING:
            yield from _reopen_while_planning(session, event, question, text)
        case Phase.EXECUTING if session.change is None:
            wish, decision = _new_answer(question, text), _with_answer(event, question, text)
            yield from change.begin(session, talk.words_of(event, wish), decision)
        case Phase.EXECUTING:
            yield messages.private_reply(
                event, "Settle the change that waits first, then reopen this."
            )
        case _:
            yield messages.private_reply(
                event, "Nothing is planned now. Say what you would like instead."
            )


def _decision_named(session: Session, name: str) -> Question | None:
    number = name.lstrip("dD")
    return next((q for q in session.intent.clarifications if str(q.number) == number), None)


def _reopen_while_clarifying(
    session: Session, event: Commanded, question: Question, text: str
) -> Iterator[Deed]:
    _reopen_question(session, question)
    if text:
        yield from clarify.answer(session, event, {question.number: text})
    else:
        yield messages.questions(session)


def _reopen_while_planning(
    session: Session, event: Commanded, question: Question, text: str
) -> Iterator[Deed]:
    if approve.spec_is_over(session):
        approve.reopen_spec(session)
    if session.phase is Phase.APPROVING:
        yield messages.approval_wanted(session, messages.decided("Planned again", event))
        session.enter(Phase.SPECIFYING)
    session.say(Speaker.USER, _new_answer(question, text or "open again"), event.at)
    if text:
        session.intent = session.intent.with_question(_with_answer(event, question, text))
        test_command.take_answer(session)
        plan.revise(session, _new_answer(question, text))
        yield messages.news(
            f"revising:{messages.revision(session)}",
            f"{question.decision} has a new answer, and I am planning again with it.",
        )
    else:
        # a new plan is made when it is answered
        _reopen_question(session, question)
        session.enter(Phase.CLARIFYING)
        yield messages.questions(session)


def _new_answer(question: Question, text: str) -> str:
    before = f" instead of “{question.answer}”" if question.answer else ""
    return f"Decision {question.decision} ({question.text}) is now: {text}{before}"


def _reopen_question(session: Session, question: Question) -> None:
    asked = {"answer": None, "answered_by": "", "answered_at": None}
    session.intent = session.intent.with_question(question.model_copy(update=asked))


def _with_answer(event: Commanded, question: Question, text: str) -> Question:
    decided = {"answer": text, "answered_by": str(event.by), "answered_at": event.at}
    return question.model_copy(update=decided)


# What happened in a session since somebody last wrote: from the session alone, without asking a model.

MOST_LINES = 15
"""Lines under one heading."""


def catch_up_digest(session: Session, event: Commanded) -> Iterator[Deed]:
    """Show the digest to the person who asked, and to nobody else."""
    last = session.talk.last_spoken.get(event.by.id)
    since = last.at if last else session.created_at
    title = f"Since {'you spoke last' if last else 'this began'}, {ago(since, event.at)}"
    body = tuple(_body(session, since, last, event.at))
    card = AnswerCard(key=f"answer:{event.id}", title=title, body=body)
    yield Whisper(to=event.by, card=card)


def _body(
    session: Session, since: AwareDatetime, last: Spoken | None, at: AwareDatetime
) -> Iterator[Element]:
    sections = (
        ("Waits for somebody", tuple(waiting_titles(session))),
        ("Decided", tuple(_decided_since(session, since))),
        ("Finished", tuple(_finished_since(session, since))),
        ("Failed", tuple(_failed_since(session, since))),
        ("Pull requests", tuple(_pulls(session))),
    )
    news = [(title, lines) for title, lines in sections if lines]
    if not any(title != "Pull requests" for title, _ in news):
        yield Text(text="Nothing was decided, finished or lost, and nothing waits for anybody.")
    for title, lines in news:
        yield from (Text(text=title, strong=True), Bullets(items=first_few(lines, MOST_LINES)))
    yield Fields(pairs=tuple(_figures(session, last)))


def waiting_titles(session: Session) -> Iterator[str]:
    """Yield the title of each card that waits for a person."""
    if session.status is Status.FAILED:
        yield f"It failed: {session.control.failure}"
    for deed in waiting_cards(session):
        if isinstance(deed, Show) and (laid := lay_out(deed.card)).tone is Tone.NEEDS_YOU:
            yield laid.title


def _decided_since(session: Session, since: AwareDatetime) -> Iterator[str]:
    for question in session.intent.clarifications:
        if question.answer is not None and question.answered_at and question.answered_at > since:
            by = f" ({question.answered_by})" if question.answered_by else ""
            yield f"{question.decision} {question.text} → {question.answer}{by}"
    given = session.approval.granted
    if given and given.at > since:
        yield f"The plan, revision {given.revision}, was approved by {given.by}"


def _finished_since(session: Session, since: AwareDatetime) -> Iterator[str]:
    for task in session.in_state(TaskState.COMPLETED):
        if task.completed_at and task.completed_at > since:
            tests = " · tests pass" if task.checks and task.checks[-1].passed else ""
            yield f"{task.key} {task.name}{tests}"


def _failed_since(session: Session, since: AwareDatetime) -> Iterator[str]:
    for task in session.tasks:
        if task.state in (TaskState.FAILED, TaskState.BLOCKED):
            yield f"{task.key} {task.name}: {task.blocked}"
        elif failures := _failed_checks(task, since):
            yield f"{task.key} {task.name}: {counted(failures, 'failed check')}, being mended"


def _failed_checks(task: Task, since: AwareDatetime) -> int:
    if task.state is TaskState.COMPLETED:
        return 0
    return sum(not check.passed and check.at > since for check in task.checks)


def _pulls(session: Session) -> Iterator[str]:
    for task in session.tasks:
        if pull := task.pull_request:
            yield f"#{pull.number} {task.key} {task.name}{': merged' if pull.merged else ''}"


def _figures(session: Session, last: Spoken | None) -> Iterator[tuple[str, str]]:
    done = len(session.in_state(TaskState.COMPLETED))
    yield "Now", state_in_words(session.status, session.phase)
    if session.tasks:
        yield "Tasks", f"{done} of {len(session.tasks)} done"
    before = last or Spoken(at=session.created_at)
    calls = session.usage.calls - before.usage.calls
    tokens = session.usage.tokens - before.usage.tokens
    yield "Model", f"{counted(calls, 'call')}, about {tokens:,} tokens since"
    if agents := usage_in_words(messages.agents_usage(session)):
        yield "Agents so far", ", ".join(agents)


# The cards that wait for a person: made from the session alone, so that they can be shown again.


def waiting_cards(session: Session, decided: CardDecision | None = None) -> Iterator[Deed]:
    """Yield the cards that wait for a person, again (they may have been lost) or with the decision."""
    if session.over:
        return
    if session.status is Status.PAUSED and not decided:
        yield stopped_card(session)
    elif session.phase is Phase.INTAKE:
        yield from _intake_cards(session, decided)
    elif session.phase is Phase.CLARIFYING and session.request.questions_asked:
        yield messages.questions(session, decided)
    elif session.phase is Phase.EXECUTING:
        yield from _at_work(session, decided)
    elif session.phase is Phase.APPROVING and not approval.is_complete(session):
        yield messages.approval_wanted(session, decided)
    elif session.phase is Phase.FINISHING and session.ending.choice is None:
        yield from _at_the_end(session, decided)


def _at_work(session: Session, decided: CardDecision | None) -> Iterator[Deed]:
    yield from blocked.waiting_task_cards(session, decided)
    yield from dialog_cards.open_dialog_cards(session, decided)
    yield from dialog_cards.open_quiet_cards(session, decided)
    yield from ship.not_shipped_cards(session, decided)
    yield from limits.account_cards(session, decided)
    if session.pulls.problem:
        yield pull_cards.watch_problem_card(session, decided)
    yield from pull_cards.pulls_card(session, decided)
    if session.change and session.change.stage is ChangeStage.AWAITING:
        yield change_effects.approval_card(session, session.change, decided)


def _at_the_end(session: Session, decided: CardDecision | None) -> Iterator[Deed]:
    if session.pulls.problem:
        yield pull_cards.watch_problem_card(session, decided)
    if pull_cards.tasks_with_pull(session):
        yield from pull_cards.pulls_card(session, decided)
    else:
        yield messages.merge_offer(session, decided)


def _intake_cards(session: Session, decided: CardDecision | None) -> Iterator[Deed]:
    """Yield the card of the intake: where to carry the request out, or what it means at all."""
    if session.request.earlier:
        yield messages.earlier_session(session, decided)
    elif session.request.parts:
        yield messages.parts(session, decided)
    elif session.request.vague:
        yield messages.questions(session, decided)


def stopped_card(session: Session, decided: CardDecision | None = None) -> Show:
    """Return the card of the last stop; its key is the same each time it is shown."""
    return Show(
        card=StoppedCard(
            key=f"stopped:{session.control.stops}",
            by=session.control.stopped_by,
            reason=session.control.repository_missing,
            stopped_runs=session.control.stopped_runs,
            session=session.short,
            decided=decided,
        )
    )
