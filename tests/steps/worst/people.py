"""People who work with the worst model: mostly they do what is plausible, often enough what is not."""

from __future__ import annotations

from bot.core import approval
from bot.core.choices import Command, Verb, Word
from bot.core.events import Commanded, Pressed, Said
from bot.core.people import Person, Thread
from bot.core.session import Session
from bot.core.states import Phase, Status, TaskState
from bot.core.talk import ChangeStage
from bot.core.task import Task
from tests.fakes.chat import ANNA, THREAD
from tests.steps.worst.answers import INJECTION, TITLE
from tests.steps.worst.around import Around
from tests.steps.worst.scene import BEN, MALLORY, Scene

REQUESTS = ("Add discounts", "割引コードを追加してください", "fix it", "Add a receipt, plan only")
WORDS = (
    *(
        "yes",
        "ok",
        "LGTM!",
        "no",
        "はい",
        "run it",
        "承認",
        "defaults",
        "D1: no, D2: down",
        "D1: b",
    ),
    *(
        "Why is it so slow?",
        "Leave T002 out",
        "Rather use cents everywhere",
        "T001 in blue, please",
    ),
    *("hm", "D9: x", "the rest as you like", INJECTION, TITLE, "x" * 9000, "\x00\u202e", "{}"),
)
MOST_SESSIONS = 9


class People:
    def __init__(self, scene: Scene) -> None:
        self._scene, self._chance = scene, scene.chance
        self._around = Around(scene)
        self._threads = 0
        self.did = ""
        """In a few words."""

    async def turn(self) -> None:
        """A second passes, one thing is done, and all that follows from it happens."""
        await self._around.begins()
        deeds = (self._plausible, self._talk, self._wild_press, self._command, self._new_request)
        act = self._chance.choices(
            [*deeds, self._around.agents, self._around.time_or_world], (40, 8, 10, 6, 1, 28, 7)
        )[0]
        self.did = act.__name__
        await act()
        await self._scene.settle()

    async def _plausible(self) -> None:
        """What the one would do who reads the cards."""
        thread = self._thread()
        session = self._session(thread)
        if session is None:
            await self._says(thread, self._chance.choice(REQUESTS))
        elif session.status is Status.PAUSED:
            await self._presses(thread, Verb.RESUME)
        elif session.status is Status.FAILED:
            await self._presses(thread, self._chance.choice([Verb.TRY_AGAIN] * 5 + [Verb.DISCARD]))
        elif session.over:
            await self._says(thread, "And now in colour, too")
        else:
            await self._in_phase(thread, session)

    async def _in_phase(self, thread: Thread, session: Session) -> None:
        match session.phase:
            case Phase.INTAKE if session.request.earlier:
                await self._presses(thread, self._chance.choice([Verb.THERE, Verb.HERE]))
            case Phase.INTAKE if session.request.parts:
                await self._presses(thread, self._chance.choice([Verb.SPLIT, Verb.WHOLE]))
            case Phase.CLARIFYING:
                await self._answers(thread, session)
            case Phase.APPROVING:
                await self._approves_or_changes(thread, approval.offer(session))
            case Phase.EXECUTING:
                await self._while_they_work(thread, session)
            case Phase.FINISHING:
                ending = self._chance.choice([Verb.MERGE, Verb.MERGE, Verb.KEEP, None])
                if ending:
                    await self._presses(thread, ending)
                else:
                    await self._says(thread, "One more thing: make it blue")
            case _:
                await self._says(thread, self._chance.choice(WORDS))

    async def _answers(self, thread: Thread, session: Session) -> None:
        questions = session.intent.open_questions
        open_ones = {question.number: question.default or "so" for question in questions}
        if self._chance.random() < 0.5:
            await self._presses(thread, Verb.ANSWER, answers=open_ones)
        else:
            await self._presses(thread, Verb.DEFAULTS)

    async def _approves_or_changes(self, thread: Thread, offer: str) -> None:
        draw = self._chance.random()
        if draw < 0.6:
            await self._presses(thread, Verb.APPROVE, offer)
        elif draw < 0.8:
            await self._says(thread, "yes")
        elif draw < 0.9:
            await self._presses(thread, Verb.CHANGE, offer, "Use cents")
        else:
            await self._says(thread, self._chance.choice(WORDS))

    async def _while_they_work(self, thread: Thread, session: Session) -> None:
        held = session.in_state(TaskState.FAILED, TaskState.BLOCKED)
        change = session.change
        if change and change.stage is ChangeStage.AWAITING and self._chance.random() < 0.7:
            offer = approval.offer_of_change(session, change)
            verb = self._chance.choice([Verb.APPROVE, Verb.APPROVE, Verb.DROP, Verb.CHANGE])
            await self._presses(thread, verb, offer, "No: in green")
        elif held and self._chance.random() < 0.7:
            verb = self._chance.choice([Verb.RETRY, Verb.RETRY, Verb.SKIP, Verb.GIVE_UP])
            await self._presses(thread, verb, _about(self._chance.choice(held)))
        else:
            key = self._chance.choice(session.tasks).key
            await self._says(thread, f"Please do {key} in another way")

    async def _talk(self) -> None:
        await self._says(self._thread(), self._chance.choice(WORDS))

    async def _wild_press(self) -> None:
        """Any button that ever was, also of cards that are long dead, by anybody."""
        thread = self._thread()
        session = self._session(thread)
        abouts = ["", "nonsense", *(card.offer for _, _, card in self._scene.ledger.plans[-4:])]
        if session:
            abouts += [approval.offer(session), *map(_about, session.tasks[-3:])]
        about, by = self._chance.choice(abouts), self._chance.choice([ANNA, BEN, MALLORY])
        answers = {1: "x", 77: "y"} if self._chance.random() < 0.5 else {}
        rare = (Verb.DISCARD, Verb.STOP)
        verb = self._chance.choice([verb for verb in Verb if verb not in rare] * 3 + [*rare])
        # an id there would be the id of a session
        about = "" if verb in (Verb.STOP, Verb.RESUME, Verb.DISCARD) else about
        await self._presses(thread, verb, about, "Otherwise", answers, by)

    async def _command(self) -> None:
        words = (Word.STOP, Word.RESUME, Word.STATUS, Word.TASKS, Word.DECISIONS, Word.REOPEN)
        word = self._chance.choice([*words, Word.RESUME, Word.REOPEN, Word.REOPEN])
        number = f"D{self._chance.randint(1, 4)}" if word is Word.REOPEN else ""
        text = self._chance.choice(["", "rather yes"]) if number else ""
        command = Command(word=word, argument=number, text=text)
        await self._does(
            self._thread(), Commanded.model_validate({**self._mark(), "command": command})
        )

    async def _new_request(self) -> None:
        if len(self._scene.records) < MOST_SESSIONS:
            self._threads += 1
            thread = THREAD.model_copy(update={"root": f"{self._threads + 1}"})
            await self._says(thread, self._chance.choice(REQUESTS))

    def _thread(self) -> Thread:
        """Mostly of a session that is not over. What is over is left alone once there are many."""
        sessions = self._scene.sessions
        alive = [one for one in sessions if not one.over or one.status is Status.FAILED]
        if len(sessions) >= MOST_SESSIONS:
            sessions = alive or sessions
        if not sessions or (not alive and len(sessions) < MOST_SESSIONS):
            self._threads += 1
            return THREAD.model_copy(update={"root": f"{self._threads + 1}"})
        ended = [one for one in sessions if one.status is Status.COMPLETED and one.tasks]
        pick = alive if alive and self._chance.random() < 0.8 else ended or sessions
        return self._chance.choice(pick).thread

    def _session(self, thread: Thread) -> Session | None:
        return next((one for one in self._scene.sessions if one.thread == thread), None)

    def _mark(self) -> dict[str, object]:
        self._scene.heard += 1
        by = self._chance.choice([ANNA, ANNA, BEN])
        return {"id": f"heard-{self._scene.heard}", "at": self._scene.clock.now(), "by": by}

    async def _says(self, thread: Thread, text: str) -> None:
        known = self._session(thread) is not None
        mention = not known or self._chance.random() < 0.7
        await self._does(
            thread, Said.model_validate({**self._mark(), "text": text, "mention": mention})
        )

    async def _presses(
        self,
        thread: Thread,
        verb: Verb,
        about: str = "",
        text: str = "",
        answers: dict[int, str] | None = None,
        by: Person | None = None,
    ) -> None:
        more = {"verb": verb, "about": about, "text": text, "answers": answers or {}}
        mark = self._mark() | ({"by": by} if by else {})
        await self._does(thread, Pressed.model_validate({**mark, **more}))

    async def _does(self, thread: Thread, event: Said | Pressed | Commanded) -> None:
        what = event.model_dump(exclude={"id", "at", "by"}, exclude_defaults=True, mode="json")
        self.did = f"{event.by.name} in {thread.root}: {event.kind} {str(what)[:200]}"
        await self._scene.does(thread, event)


def _about(task: Task) -> str:
    return f"{task.id}:{len(task.runs)}"
