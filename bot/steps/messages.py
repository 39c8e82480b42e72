"""Cards and short messages that several steps send, made from the session alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import AwareDatetime

from bot.core import approval, looks
from bot.core.actions import Show, Whisper
from bot.core.cards import (
    AnswerCard,
    ApprovalCard,
    CardDecision,
    DocumentCard,
    EarlierCard,
    NewsCard,
    OfferCard,
    PartsCard,
    PlannedTask,
    ProblemCard,
    QuestionsCard,
    ReceivedCard,
    StatusCard,
    TaskLine,
    WherePart,
)
from bot.core.checks import recognised_runners
from bot.core.choices import Choice, Style, Verb
from bot.core.events import FromPerson, Pressed
from bot.core.evidence import CommandSource
from bot.core.people import Destination, Person
from bot.core.runs import AgentUsage
from bot.core.session import Session
from bot.core.session_parts import Ending
from bot.core.sheets import Element, Tone
from bot.core.states import Phase, RunState, Status, TaskState
from bot.core.task import Task
from bot.core.text import counted, date_time, sentences, shortened, time_of_day
from bot.steps import plan

MAX_REQUEST_CHARS = 2000
"""Characters of a request on the first card: fits into one Slack block, including the note of what is left out."""
MAX_QUOTED_CHARS = 600
"""Characters of a message that a card quotes."""


def request_cards(session: Session) -> Iterator[Show]:
    """Yield the first card, and the whole request if the card can show only a part of it."""
    yield received(session)
    body = session.intent.body
    # attached files are in the thread already
    if len(body.partition("\n\nAttached, ")[0]) > MAX_REQUEST_CHARS:
        title = "The request in full"
        yield Show(card=DocumentCard(key="request", title=title, name="request.md", text=body))


def received(session: Session) -> Show:
    spec_branch = session.plan.spec.workspace.branch if session.plan.spec else ""
    notes = (f"Spec, plan and tasks go to the branch {spec_branch}.",) if spec_branch else ()
    if session.repository.base_commit:
        notes = (*notes, *_upstream_notes(session), _pull_request_note(session))
        notes = (*notes, *session.repository.warnings, *session.repository.agent_settings)
    return Show(
        card=ReceivedCard(
            key="received",
            session=session.short,
            request=shortened(session.intent.body, MAX_REQUEST_CHARS),
            repository=session.repository.path if session.repository.base_commit else "",
            branch=branch_of(session),
            commit=session.repository.base_commit,
            uncommitted=session.repository.uncommitted,
            agent=session.agents.default,
            sandboxed=session.agents.sandboxed,
            user=session.agents.runs_as,
            notes=notes,
        )
    )


def branch_of(session: Session) -> str:
    """Return the base branch with its host, if the host's is used."""
    upstream = session.repository.upstream
    return session.repository.base_branch + (
        f" on {upstream.host}" if upstream and upstream.used else ""
    )


def base_of(session: Session) -> str:
    return f"{branch_of(session)} at {session.repository.base_commit[:10]}"


def _upstream_notes(session: Session) -> tuple[str, ...]:
    """Return how the base branch on its host differs from the local one."""
    if (there := session.repository.upstream) is None:
        return ()
    branch, host = session.repository.base_branch, there.host
    if there.problem:
        reason = f"I could not see where {branch} stands on {host}: {there.problem}"
        return (sentences(reason, "I plan from yours, and look again before work begins"),)
    if there.missing:
        return (
            f"{branch} is not on {host}. I build on yours; push it, as pull requests need it there.",
        )
    if not there.used:
        ahead = f"is {counted(there.ahead, 'commit')} ahead" if there.ahead else "is ahead"
        return (
            f"{branch} at {host} {ahead} of yours. I build on yours: pull first if it matters.",
        )
    unpushed = counted(there.unpushed, "commit")
    if there.ahead and there.unpushed:
        ahead = counted(there.ahead, "commit")
        apart = f"{branch} on {host} and yours have parted: {ahead} there, {unpushed} here."
        return (f"{apart} I build on {host}'s. Push yours if they should be part of this.",)
    if there.unpushed:
        return (
            f"Your {branch} has {unpushed} that {host} lacks: not part of this unless you push.",
        )
    if there.ahead:
        ahead = counted(there.ahead, "commit")
        return (f"{branch} on {host} is {ahead} ahead of yours: I build on {host}'s.",)
    return ()


def _pull_request_note(session: Session) -> str:
    hosted = session.pulls.host
    if hosted is None:
        return (
            "No GitHub is configured: the work stays on its branches, and I offer to merge it here."
        )
    if hosted.problem:
        return sentences(
            f"Pull requests would go to {hosted.slug}, but: {hosted.problem}", hosted.remedy
        )
    return f"Pull requests go to {hosted.slug}."


def questions(session: Session, decided: CardDecision | None = None) -> Show:
    """Return the card of the questions.

    Questions about an existing plan belong to the next revision and get a new card.
    """
    planned = bool(session.plan.documents or session.plan.previous_documents)
    return Show(
        card=QuestionsCard(
            key=_key_of("questions", revision(session) + planned),
            questions=session.intent.clarifications,
            while_planning=session.request.rounds_while_planning > 0,
            decided=decided,
        )
    )


def revision_key(session: Session, name: str) -> str:
    """Return a card's key for this revision: the next revision gets a new message, below what was written meanwhile."""
    return _key_of(name, revision(session))


def _key_of(name: str, plan: int) -> str:
    return name if plan <= 1 else f"{name}:{plan}"


def parts(session: Session, decided: CardDecision | None = None) -> Show:
    """Return the card of the parts, with links to those that are opened."""
    where = tuple(
        WherePart(title=p.title, body=p.body, thread=p.thread) for p in session.request.parts
    )
    return Show(
        card=PartsCard(key="parts", parts=where, decided=decided or _where_it_goes_on(session))
    )


def earlier_session(session: Session, decided: CardDecision | None = None) -> Show:
    found = session.request.earlier
    return Show(
        card=EarlierCard(
            key="earlier",
            session=found.session[:8] if found else "",
            title=found.title if found else "",
            reason=found.reason if found else "",
            decided=decided or _where_it_goes_on(session),
        )
    )


_GOING_TO = {
    Destination.SPLIT: "Opened as sessions of their own",
    Destination.ELSEWHERE: "Goes on there",
    Destination.HERE: "Planned here",
}


def _where_it_goes_on(session: Session) -> CardDecision | None:
    going = session.request.destination
    return CardDecision(what=_GOING_TO[going.where], by=going.by, at=going.at) if going else None


def revision(session: Session) -> int:
    return session.plan.spec.revision if session.plan.spec else 0


def approval_wanted(session: Session, decided: CardDecision | None = None) -> Show:
    return Show(
        card=ApprovalCard(
            key=f"{approval.APPROVAL_KEY}:{revision(session)}",
            spec_id=session.plan.spec.id if session.plan.spec else "",
            revision=revision(session),
            digest=approval.digest(session),
            offer=approval.offer(session),
            base=base_of(session),
            tasks=tuple(
                _planned(session, task) for task in session.tasks if task.state not in plan.GONE
            ),
            parallelism=session.plan.parallelism,
            agent_flags=session.agents.flags,
            test_command=session.tests.command,
            test_source=test_command_source(session),
            set_up=session.repository.set_up,
            test_problem=session.tests.problem,
            test_unseen=unseen_tests_warning(session),
            usage=session.usage,
            read=len(files_read(session)),
            risk=session.intent.risk or "",
            risk_reasons=session.intent.risk_reasons,
            brought=session.repository.agent_settings,
            analysis=session.plan.analysis,
            forecast=session.plan.forecast,
            difference=session.plan.difference,
            dry_run=session.request.dry_run,
            kept=_where_documents_are(session) if session.request.spec_only else "",
            approvers=session.approval.required,
            asker=excluded_approver(session),
            approved_by=tuple(str(given.by) for given in session.approval.given),
            expires=session.plan.shown_at and session.plan.shown_at + approval.VALID_FOR,
            decided=decided,
        )
    )


def files_read(session: Session) -> frozenset[str]:
    """Return the files whose code the model has seen."""
    scan = session.repository.scan
    shown = scan.context.files if scan and scan.context else ()
    return frozenset(looks.files_read(session.repository.looks)) | {
        one.path for one in shown if one.ranges
    }


def excluded_approver(session: Session) -> str:
    """Return the person whose approval does not count; empty if there is none."""
    return str(session.owner) if session.approval.others_only else ""


def _where_documents_are(session: Session) -> str:
    spec = session.plan.spec
    return f"{spec.directory} on the branch {spec.workspace.branch}" if spec else ""


def _planned(session: Session, task: Task) -> PlannedTask:
    after = tuple(p.key for p in map(session.task, task.dependencies) if p)
    return PlannedTask(
        key=task.key,
        name=task.name,
        after=after,
        agent=task.agent or session.agents.default,
        done=task.state is TaskState.COMPLETED,
    )


def merge_offer(session: Session, decided: CardDecision | None = None) -> Show:
    return Show(
        card=OfferCard(
            key=revision_key(session, "offer"),
            base=session.repository.base_branch,
            branches=tuple(
                f"{task.key} {task.name}: {task.workspace.branch}{_pull_title(task)}"
                for task in session.in_state(TaskState.COMPLETED)
                if task.workspace
            ),
            problem=session.ending.problem,
            decided=decided,
        )
    )


def _pull_title(task: Task) -> str:
    return f" — {task.pull_text.title}" if task.pull_text else ""


def news(key: str, title: str, *lines: str, tone: Tone = Tone.PROGRESS, output: str = "") -> Show:
    return Show(card=NewsCard(key=key, title=title, tone=tone, lines=lines, output=output))


def planning_again(session: Session, title: str, wish: str) -> Show:
    """Return the message that a new revision is being written, with what is wanted."""
    return news(
        f"revising:{revision(session)}", title, f"“{shortened(wish.strip(), MAX_QUOTED_CHARS)}”"
    )


def problem(key: str, title: str, reason: str, remedy: str, *choices: Choice) -> Show:
    card = ProblemCard(key=key, title=title, reason=reason, remedy=remedy, choices=choices)
    return Show(card=card)


def private_reply(event: FromPerson, text: str) -> Whisper:
    """Return a private answer to somebody's event, e.g. one that has no effect."""
    return whisper_to(event.by, event.id, text)


def whisper_to(person: Person, about: str, text: str) -> Whisper:
    """Return a message to one person about something they wrote or pressed."""
    return Whisper(to=person, card=AnswerCard(key=f"private:{about}", title=text))


def answer(event: FromPerson, title: str, *body: Element) -> Show:
    return answer_card(f"answer:{event.id}", title, *body)


def answer_card(key: str, title: str, *body: Element, tone: Tone = Tone.PLAIN) -> Show:
    return Show(card=AnswerCard(key=key, title=title, tone=tone, body=body))


def stale_press(session: Session, event: Pressed) -> Whisper:
    """Return a message why a press had no effect."""
    if event.verb is Verb.APPROVE and session.approval.granted:
        given = session.approval.granted
        return private_reply(event, f"Already approved by {given.by}, {date_time(given.at)}.")
    if event.verb in (Verb.MERGE, Verb.KEEP) and session.ending.choice and session.ending.chosen_by:
        done = "a merge" if session.ending.choice is Ending.MERGE else "to keep the branches"
        return private_reply(event, f"{session.ending.chosen_by} has already chosen {done}.")
    return private_reply(event, "That button is no longer current; nothing was changed.")


def decided(what: str, event: FromPerson) -> CardDecision:
    return decided_by(what, event.by, event.at)


def decided_by(what: str, by: Person, at: AwareDatetime) -> CardDecision:
    return CardDecision(what=what, by=str(by), at=at)


# The live status of a session.

SILENT_MINUTES = 10
"""Minutes without a change on its screen before the status mentions it."""
STOP = Choice(label="Stop", verb=Verb.STOP, style=Style.DANGER)
LOG = Choice(label="Show the log", verb=Verb.LOG)


def status(
    session: Session,
    at: AwareDatetime,
    tails: Mapping[str, str] | None = None,
    *,
    anew: bool = False,
) -> Show:
    card = status_card(session, at, tails or {})
    return Show(card=card.model_copy(update={"anew": True}) if anew else card)


def status_card(
    session: Session, at: AwareDatetime, tails: Mapping[str, str], key: str = "status"
) -> StatusCard:
    return StatusCard(
        key=key,
        title=session.title,
        session=session.short,
        status=session.status,
        phase=session.phase,
        queue_position=session.queue.position or None,
        waiting=session.queue.waiting,
        tasks=tuple(task_line(task, at, tails) for task in session.tasks),
        usage=session.usage,
        agent_usage=agents_usage(session),
        trouble=session.control.trouble,
        at=at,
        choices=(STOP, LOG) if key == "status" and stoppable(session) else (),
    )


def agents_usage(session: Session) -> AgentUsage:
    """Return the usage of all its agents, as far as they report it."""
    return sum((task.usage for task in session.tasks), AgentUsage())


def stoppable(session: Session) -> bool:
    return session.phase is Phase.EXECUTING and session.status in (Status.ACTIVE, Status.QUEUED)


def task_line(task: Task, at: AwareDatetime, tails: Mapping[str, str]) -> TaskLine:
    run = task.run
    tail = tails.get(run.id, "") if run and run.alive else ""
    return TaskLine(
        key=task.key,
        name=task.name,
        state=task.state,
        note=_task_note(task, at),
        seconds=seconds_worked_on(task, at),
        tail=tail,
    )


def _task_note(task: Task, at: AwareDatetime) -> str:
    if task.blocked:
        return task.blocked
    if task.pull_problem:
        return f"no pull request: {task.pull_problem}"
    if waits := _waits_for(task):
        return waits
    if quiet := _silent_for(task, at):
        return f"silent for {quiet} min"
    if (
        task.state in (TaskState.RUNNING, TaskState.NEEDS_CONTINUATION)
        and task.counters.failed_checks
    ):
        return f"tests failed {task.counters.failed_checks}×, being mended"
    if task.pull_request:
        return f"#{task.pull_request.number}{' merged' if task.pull_request.merged else ''}"
    if task.state is TaskState.COMPLETED and task.workspace:
        return task.workspace.branch
    return ""


def _silent_for(task: Task, at: AwareDatetime) -> int:
    """Return for how many minutes the screen has not changed; 0 below SILENT_MINUTES."""
    run = task.run
    if run is None or not run.alive or run.silent_since is None:
        return 0
    minutes = int((at - run.silent_since).total_seconds() // 60)
    return minutes if minutes >= SILENT_MINUTES else 0


def _waits_for(task: Task) -> str:
    """Return what the task waits for: a person in its pane, an answer, or time to pass."""
    if task.taken_by:
        return f"{task.taken_by} works in its pane"
    if task.run and task.run.state is RunState.WAITING_INPUT and task.run.dialog:
        return f"asks: {task.run.dialog.title}"
    if task.next_run.not_before:
        return f"its account's limit is reached; goes on at {time_of_day(task.next_run.not_before)}"
    return ""


def seconds_worked_on(task: Task, at: AwareDatetime) -> int | None:
    """Return the seconds that agents and the bot have worked on it. Waiting time does not count."""
    if task.started_at is None:
        return None
    now = task.idle_since or task.completed_at or at
    return max(0, int((now - task.started_at).total_seconds() - task.idle_seconds))


UNSEEN = "I cannot see which tests this command runs: only its exit code counts."
PERHAPS_UNSEEN = "I do not know what this command starts: perhaps only its exit code counts."
_SOURCES = {
    CommandSource.FOUND: "found in the repository",
    CommandSource.SETTINGS: "set by the operator (GWT_TEST_COMMAND)",
    CommandSource.PERSON: "said in this thread",
    CommandSource.EARLIER: "said in an earlier session of this repository",
}


def unseen_tests_warning(session: Session) -> str:
    """Return a warning if the runner does not report which tests ran, as seen at the base or expected from the command;
    empty if it does.
    """
    command, known = session.tests.command, session.tests.base_check
    if known and known.command == command:
        return "" if known.tests and known.tests.seen else UNSEEN
    # package scripts are in the manifests
    manifests = session.repository.scan.project_meta if session.repository.scan else ""
    return PERHAPS_UNSEEN if command and not recognised_runners(command, manifests) else ""


def test_command_source(session: Session) -> str:
    """Return where the test command comes from, in a few words."""
    known = session.tests.command and session.tests.source
    return _SOURCES[session.tests.source] if known and session.tests.source else ""
