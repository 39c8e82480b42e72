"""Tries the model on the requests of a suite: does it ask what is open, plan what is wanted, and see which changes are right?"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from bot.core.approval import sha256
from bot.core.evidence import Check, Judgement
from bot.core.intent import Question
from bot.core.languages import is_in_language, language_of
from bot.core.llm import Usage, context_tokens
from bot.core.plan import Document, DocumentKind
from bot.core.references import references_in
from bot.core.session import Session
from bot.core.session_parts import Spec
from bot.core.spec_kit.drafts import TaskDraft, breakdown_issues
from bot.core.spec_kit.spec import sections
from bot.core.suites import Label, SuiteRepository, SuiteRequest, covered, patch_of
from bot.core.task import Workspace
from bot.core.trials import TrialCase, TrialResult, recall
from bot.steps.asking import ask, session_tokens
from bot.steps.clarify.questions import ClarifyPrompt
from bot.steps.judging import PatchReading, ReadFiles
from bot.steps.specify.questions import WrittenDocument, draft_document
from bot.steps.trials import DAY, JUDGE, Trials, result, trial_session, trial_task

QUESTIONS, PLAN = "questions", "plan"
SUITES = ("small",)
FIRST = (3, 5)
"""Of some ten files."""


def load_suite(name: str) -> list[SuiteRepository]:
    """Return the repositories of a suite that is shipped."""
    files = sorted((resources.files("bot.suites") / name).iterdir(), key=lambda one: one.name)
    return [
        SuiteRepository.model_validate(tomllib.loads(one.read_text(encoding="utf-8")))
        for one in files
        if one.name.endswith(".toml")
    ]


@dataclass(frozen=True)
class SuiteTrials:
    """Trials on one repository of a suite, as it was made at that commit."""

    trials: Trials
    suite: SuiteRepository
    commit: str

    def case(self, request: SuiteRequest) -> TrialCase:
        id = f"{self.suite.name}/{request.id}"
        return TrialCase(
            id=id, parent=self.commit, request=request.text, touched=self.suite.touched(request)
        )

    async def find(self, request: SuiteRequest) -> list[TrialResult]:
        return await self.trials.find(self.case(request), FIRST)

    async def locate(self, request: SuiteRequest) -> list[TrialResult]:
        return await self.trials.locate(self.case(request))

    async def questions(self, request: SuiteRequest) -> list[TrialResult]:
        """Is asked what is open, and nothing else?"""
        case, session = self.case(request), await self._session(request)
        question = ClarifyPrompt(session, (), self.trials.looker(self.commit))
        found, usage = await ask(self.trials.llm, question, session_tokens(session))
        asked = found.asked(session)
        texts = [one.text for one in asked]
        with_options = ["\n".join((one.text, *one.options)) for one in asked]
        needless = covered(request.settled, texts)
        good = 1 - len(needless) / len(request.settled)
        if asked and not request.open:
            good = 0.0
        detail = " / ".join(texts) or "nothing was asked"
        results = [
            result(f"{QUESTIONS}, none needless", case.id, good, usage, detail, asked=len(asked))
        ]
        if request.open:
            seen = covered(request.open, with_options)
            missed = [one.about for one in request.open if one not in seen]
            detail = f"not asked: {'; '.join(missed)}" if missed else detail
            score = len(seen) / len(request.open)
            results.append(result(f"{QUESTIONS}, what is open", case.id, score, Usage(), detail))
        return [*results, _language(QUESTIONS, request, case, question.prose(found))]

    async def plan(self, request: SuiteRequest) -> list[TrialResult]:
        """Are the documents valid and complete, and do they cover the request and cite what is there?"""
        case, session = self.case(request), await self._session(request)
        session.request.unattended = True  # it was asked enough
        _decide(session, request)
        written, usage = await self._documents(session)
        spec, tasks = written[DocumentKind.SPEC].text, written[DocumentKind.TASKS].drafts
        # the bot itself has put the decisions there
        own = [one.body for one in sections(spec) if one.title != "Clarifications"]
        texts = ["\n".join(own), written[DocumentKind.PLAN].text]
        texts += ["\n".join((one.title, one.description, *one.acceptance)) for one in tasks]
        invalid = [kind.file for kind, one in written.items() if one.plain]
        issues = breakdown_issues(tasks, spec, has_tests=True)
        missed = [one for one in request.must if one not in covered(request.must, texts)]
        named = [path for task in tasks for path in task.files]
        cited, wrong = await self._citations(texts[:2], tasks)
        complete = float(not issues and DocumentKind.TASKS.file not in invalid)
        scores = {
            "valid": (1 - len(invalid) / len(written), invalid),
            "complete": (complete, issues),
            "covering": (1 - len(missed) / len(request.must), [one.about for one in missed]),
            "files": (recall(named, case.touched), named),
            "cited": (1 - len(wrong) / cited if cited else 0.0, wrong),
        }
        # the cost is counted once
        results = [
            result(
                f"{PLAN}, {name}",
                case.id,
                score,
                usage if name == "valid" else Usage(),
                "; ".join(details),
            )
            for name, (score, details) in scores.items()
        ]
        return [*results, _language(PLAN, request, case, "\n".join(texts))]

    async def judge(self, request: SuiteRequest) -> list[TrialResult]:
        """Is the right change found to be done, and each of the others not? All of them pass the tests."""
        case, results = self.case(request), list[TrialResult]()
        before = self.suite.trees[-1][1]
        for number, (label, why, after) in enumerate(self.suite.changes(request)):
            session = trial_session(case, self.trials.path, self.trials.judge_window)
            _decide(session, request)
            task = trial_task(request.text, request.criteria)
            task.checks = [self._passed()]
            session.tasks = [task]
            patch = PatchReading(session, patch_of(before, after), read=_reader(after))
            verdict, usage = await self.trials.verdict(session, patch)
            criteria = {one.id: one.text for one in task.acceptance}
            if len(verdict.criteria) == len(criteria):
                verdict = await patch.settled(verdict, criteria)
            right = (verdict.outcome is Judgement.DONE) == (label is Label.RIGHT)
            detail = f"{why} {verdict.outcome}: {'; '.join(verdict.reasons)[:300]}".strip()
            id = f"{case.id}/{number}"
            results.append(result(f"{JUDGE}, {label}", id, float(right), usage, detail))
        return results

    async def _session(self, request: SuiteRequest) -> Session:
        """Return a session that has read the repository and knows the request."""
        trials = self.trials
        session = trial_session(self.case(request), trials.path, trials.window)
        scan = await trials.repository.scan(trials.path, self.commit)
        context = await trials.repository.find_context(
            trials.path, self.commit, request.text, context_tokens(trials.window)
        )
        session.repository.scan = scan.model_copy(update={"context": context})
        session.tests.command = " ".join(self.suite.tests)
        place = Workspace(branch="agent/spec-001", path="", created_at=DAY)
        session.plan.spec = Spec(id="001", workspace=place)
        return session

    async def _documents(
        self, session: Session
    ) -> tuple[dict[DocumentKind, WrittenDocument], Usage]:
        written: dict[DocumentKind, WrittenDocument] = {}
        usage = Usage()
        for kind in DocumentKind:
            looker = self.trials.looker(self.commit)
            one, cost = await draft_document(self.trials.llm, session, kind, DAY.date(), looker)
            written[kind], usage = one, usage + cost
            document = Document(kind=kind, revision=1, text=one.text, sha256=sha256(one.text))
            session.plan.documents = (*session.plan.documents, document)
        return written, usage

    async def _citations(
        self, documents: list[str], tasks: tuple[TaskDraft, ...]
    ) -> tuple[int, list[str]]:
        """Return how much is cited of the repository, and what of it is not so. Without a line it counts as nothing."""
        looker = self.trials.looker(self.commit)
        places = "\n".join(place for task in tasks for place in task.read_first)
        to_be_made = {f"there is no file {path}" for task in tasks for path in task.files}
        found = [references_in(one) for one in documents]
        found.append(references_in(places, lines_only=True))
        if not any(path.first for one in found for path in one.paths):
            return 0, []
        wrong = [problem for one in documents for problem in await looker.doubts(one)]
        wrong += await looker.doubts(places, lines_only=True)
        cited = sum(len(one.paths) + len(one.names) for one in found)
        return cited, [one for one in wrong if one not in to_be_made]

    def _passed(self) -> Check:
        command = " ".join(self.suite.tests)
        return Check(
            number=1, command=command, commit=self.commit, exit_code=0, seconds=1.0, at=DAY
        )


def _decide(session: Session, request: SuiteRequest) -> None:
    """Answer what the request leaves open."""
    answered = tuple(
        Question(number=number, text=one.about, answer=one.answer)
        for number, one in enumerate(request.open, 1)
    )
    session.intent = session.intent.model_copy(update={"clarifications": answered})


def _language(part: str, request: SuiteRequest, case: TrialCase, prose: str) -> TrialResult:
    """Is it written in the language of the request?"""
    wanted = language_of(request.text)
    score = float(is_in_language(prose, wanted))
    return result(f"language, {part}", case.id, score, Usage(), wanted)


def _reader(tree: Mapping[str, str]) -> ReadFiles:
    async def read(paths: tuple[str, ...]) -> Mapping[str, str]:
        return {path: tree[path] for path in paths if path in tree}

    return read
