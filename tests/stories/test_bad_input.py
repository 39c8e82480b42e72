"""What people and machines get wrong: a clear message with what to do, and nothing lost. The real program in a pipe."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from adapters.demo.model import PlayedModel
from adapters.demo.sample import make_sample
from adapters.store import InstanceLock, JournalStore
from bot.cli.assemble import create_panes
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.settings import Settings
from tests.fakes.llm_server import LlmServer, says
from tests.steps.scenes import awaiting_approval

PROGRAM = str(Path(sys.executable).with_name("gwt-bot"))
STAGE = {"GWT_BOT_STAGE": "tests"}
NOBODY = "http://127.0.0.1:9/v1"
PATIENCE = 120.0
WAITS = 2
"""The exit code of a script whose work waits for somebody."""
NEEDED = ("git", "tmux", "python3", "sh", "env", "cat")


class Console:
    """`gwt-bot console` in the sample repository, with a home of its own and no other program than it needs."""

    def __init__(self, folder: Path) -> None:
        self.repository = folder / "shop"
        self.home = folder / "home"
        self.bin = folder / "bin"
        self.environ = {
            "PATH": str(self.bin),
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "GWT_HOME": str(self.home),
            "GWT_AGENT": "played",
            "GWT_BOT_STAGE": "tests",
        }
        self.shown = ""
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self.bin.mkdir()
        self.repository.mkdir()
        for program in NEEDED:
            self.install(program)

    def install(self, program: str) -> None:
        found = shutil.which(program)
        assert found, f"{program} is needed for this test"
        (self.bin / program).symlink_to(found)

    def uninstall(self, program: str) -> None:
        (self.bin / program).unlink()

    def uses(self, model: PlayedModel) -> None:
        self.environ |= {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_MODEL": model.name,
            "OPENAI_API_KEY": model.key,
        }

    async def start(self) -> None:
        await self._begin("console", "--project-mode", "fixed", "--project-root", self.repository)

    async def runs(self, command: str) -> int:
        """Another command, to its end. The exit code."""
        await self._begin(command)
        return await self._code()

    async def _begin(self, *arguments: str | Path) -> None:
        self.shown = ""
        self._process = await asyncio.create_subprocess_exec(
            *(PROGRAM, *arguments),
            cwd=self.repository,
            env=self.environ,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        self._reading = asyncio.create_task(self._read(self._process))

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout
        while chunk := await process.stdout.read(65536):
            self.shown += chunk.decode()

    async def is_asked(self, line: str, *answers: str) -> None:
        """A line is typed, and all of this is shown."""
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n".encode())
        await self.shows(*answers)

    async def shows(self, *texts: str) -> None:
        await self._until(lambda: all(text in self._words for text in texts), str(texts))

    async def until_there(self, path: Path) -> None:
        await self._until(path.exists, str(path))

    async def ends(self) -> int:
        """The pipe is closed. The exit code."""
        assert self._process
        assert self._process.stdin
        self._process.stdin.close()
        return await self._code()

    async def terminated(self) -> int:
        """SIGTERM, as a system that shuts down sends it. The exit code."""
        assert self._process
        self._process.terminate()
        return await self._code()

    async def _code(self) -> int:
        assert self._process
        assert self._reading
        async with asyncio.timeout(PATIENCE):
            await self._reading
            return await self._process.wait()

    @property
    def _words(self) -> str:
        """What is shown, wherever lines were broken."""
        return re.sub(r"\s+", " ", self.shown)

    async def _until(self, reached: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not reached():
            over = self._reading is None or self._reading.done()
            assert not over, f"ended without {what}:\n{self.shown}"
            assert time.monotonic() < deadline, f"never came: {what}\n{self.shown}"
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        if self._process and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._code()
        settings = Settings.model_construct(gwt_home=self.home)
        panes = create_panes(settings, str, STAGE)
        await panes.kill_server()
        await panes.close()

    def git(self, *arguments: str) -> None:
        subprocess.run(
            ["git", "-C", str(self.repository), *arguments], check=True, capture_output=True
        )

    def requests_kept(self) -> list[str]:
        """What was asked for, in every session that is on disk."""
        store = JournalStore(self.home)
        records = [store.find(listed.id) for listed in store.sessions()]
        store.close()
        return [record.session.intent.body for record in records if record]


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    made = Console(tmp_path)
    yield made
    await made.close()


@pytest.fixture
async def model() -> AsyncIterator[PlayedModel]:
    async with PlayedModel({**os.environ, **STAGE}, delay=0) as played:
        yield played


@pytest.fixture
async def sample(console: Console) -> Console:
    """The console in a repository in which all is well."""
    make_sample(console.repository)
    return console


REQUEST = "Add discount codes"
QUESTIONS = "A few questions before I plan"


async def test_without_a_repository_it_says_so_and_tries_again_when_asked(
    console: Console, model: PlayedModel
) -> None:
    console.uses(model)
    await console.start()
    await console.is_asked(REQUEST, "I cannot work here yet", "is not inside a git repository")
    assert "git init" in console.shown
    make_sample(console.repository)
    await console.is_asked("1", QUESTIONS)
    assert await console.ends() == WAITS
    assert console.requests_kept() == [REQUEST]


async def test_a_repository_without_a_commit_is_told(console: Console) -> None:
    console.git("init", "--quiet")
    await console.start()
    await console.is_asked(REQUEST, "The repository has no commits yet", "Make a first commit.")
    assert await console.ends() == 1
    assert console.requests_kept() == [REQUEST]


async def test_a_detached_head_is_told(sample: Console) -> None:
    sample.git("checkout", "--quiet", "--detach")
    await sample.start()
    await sample.is_asked(REQUEST, "on no branch (detached HEAD)", "git switch")
    assert await sample.ends() == 1


async def test_a_branch_that_stands_in_the_way_is_told(sample: Console) -> None:
    sample.git("branch", "agent")
    await sample.start()
    await sample.is_asked(REQUEST, "has a branch named agent", "git branch -m agent")
    assert await sample.ends() == 1


async def test_uncommitted_changes_are_told_and_left_alone(
    sample: Console, model: PlayedModel
) -> None:
    (sample.repository / "README.md").write_text("mine\n")
    sample.uses(model)
    await sample.start()
    await sample.is_asked(REQUEST, QUESTIONS)
    assert "uncommitted" in sample.shown
    await sample.is_asked("1", "Shall I build")
    assert (sample.repository / "README.md").read_text() == "mine\n"
    assert await sample.ends() == WAITS


@pytest.mark.covers("G-RULE-TMUX-1", "G-RULE-TMUX-2", "G-LIMIT-1", "G-ASSUME-3")
@pytest.mark.parametrize("program", ["tmux", "git"])
async def test_a_missing_program_is_told_and_awaited(
    sample: Console, model: PlayedModel, program: str
) -> None:
    sample.uses(model)
    sample.uninstall(program)
    await sample.start()
    await sample.is_asked(REQUEST, f"{program} is required", f"Install {program}")
    sample.install(program)
    await sample.shows(QUESTIONS)
    assert await sample.ends() == WAITS


@pytest.mark.covers("G-US1.3", "G-RULE-AI-2", "G-RULE-AI-3", "G-RULE-AI-5", "G-ASSUME-1")
async def test_without_ai_settings_it_waits_and_goes_on_when_they_are_there(
    sample: Console, model: PlayedModel
) -> None:
    await sample.start()
    await sample.is_asked(REQUEST, "AI settings are required", "OPENAI_BASE_URL", "OPENAI_MODEL")
    env = sample.repository / ".env"
    env.touch(mode=0o600)
    env.write_text(
        f"OPENAI_BASE_URL={model.base_url}\nOPENAI_MODEL={model.name}\nOPENAI_API_KEY={model.key}\n"
    )
    await sample.shows(QUESTIONS)
    assert await sample.ends() == WAITS
    assert sample.requests_kept() == [REQUEST]


async def test_a_model_that_is_down_is_told_once_and_the_request_is_kept(sample: Console) -> None:
    sample.environ |= {"OPENAI_BASE_URL": NOBODY, "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
    await sample.start()
    await sample.is_asked(REQUEST, "The LLM endpoint cannot be reached", "Check OPENAI_BASE_URL")
    assert await sample.terminated() == 0
    assert sample.shown.count("cannot be reached") == 1
    assert sample.requests_kept() == [REQUEST]


async def test_a_model_that_talks_nonsense_leaves_a_plan_of_one_task(sample: Console) -> None:
    async with LlmServer(says("I like turtles.")) as server:
        sample.environ |= {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m"}
        await sample.start()
        await sample.is_asked(REQUEST, "Shall I build", "T001")
        assert "T002" not in sample.shown
        assert await sample.ends() == WAITS
    assert sample.requests_kept() == [REQUEST]


async def test_a_home_that_another_bot_holds_is_refused(sample: Console) -> None:
    with InstanceLock(sample.home):
        await sample.start()
        assert await sample.ends() == 1
    assert re.search(r"another gwt-bot \(process \d+\) already uses", sample.shown)
    assert "GWT_HOME" in sample.shown


async def test_a_second_console_on_the_same_home_joins_the_first(
    sample: Console, tmp_path: Path
) -> None:
    await sample.start()
    await sample.is_asked("help", "Commands")
    holder = (sample.home / "lock").read_text()
    (tmp_path / "second").mkdir()
    second = Console(tmp_path / "second")
    second.environ["GWT_HOME"] = str(sample.home)
    await second.start()
    await second.is_asked("help", "Commands")
    assert await second.ends() == 0
    assert (sample.home / "lock").read_text() == holder
    assert sample.shown.count("Commands") == 1, "each is answered alone"
    assert await sample.ends() == 0


async def test_a_broken_session_file_is_kept_and_told_and_hurts_no_other(sample: Console) -> None:
    broken, whole = "1111aaaa", "2222bbbb"
    store = JournalStore(sample.home)
    for short in (broken, whole):
        session = awaiting_approval()
        session.id = f"{short}-0000-4000-8000-000000000000"
        session.thread = Thread(platform="console", channel="terminal", root=short)
        session.intent = session.intent.model_copy(update={"body": f"Request {short}"})
        store.save(Record(session=session))
    store.close()
    unfinished = sample.home / "sessions" / "unfinished"
    (journal,) = unfinished.glob(f"{broken}*.journal")
    content = bytearray(journal.read_bytes())
    content[len(content) // 3] ^= 0xFF
    journal.write_bytes(content)

    await sample.start()
    await sample.is_asked("sessions", "is broken", "all other sessions are unaffected", whole)
    assert await sample.ends() == 0
    (kept,) = unfinished.glob(f"{broken}*.broken-*")
    assert kept.read_bytes() == bytes(content)
    assert sample.requests_kept() == [f"Request {whole}"]


async def test_settings_that_others_can_read_are_refused(sample: Console) -> None:
    env = sample.repository / ".env"
    env.write_text("OPENAI_API_KEY=very-secret\n")
    env.chmod(0o644)
    await sample.start()
    assert await sample.ends() == 1
    assert "chmod 600 .env" in sample.shown
    assert "very-secret" not in sample.shown


async def test_settings_that_came_with_the_repository_are_not_taken(sample: Console) -> None:
    env = sample.repository / ".env"
    env.write_text("OPENAI_BASE_URL=http://evil.invalid/v1\n")
    env.chmod(0o600)
    add = ["git", "add", "--force", ".env"]
    await asyncio.to_thread(subprocess.run, add, cwd=sample.repository, check=True)
    await sample.start()
    assert await sample.ends() == 1
    assert ".env is part of the repository" in sample.shown


async def test_an_unknown_agent_is_told_with_those_there_are_and_can_be_mended(
    sample: Console, model: PlayedModel
) -> None:
    sample.uses(model)
    sample.environ["GWT_AGENT"] = "nobody"
    await sample.start()
    await sample.is_asked(REQUEST, "There is no agent called “nobody”", "Choose one of: claude")
    assert await sample.ends() == 1
    sample.environ["GWT_AGENT"] = "played"
    await sample.start()
    await sample.is_asked("1", QUESTIONS)
    assert await sample.ends() == WAITS
    assert sample.requests_kept() == [REQUEST]


WRAPPER = """\
#!/bin/sh
echo "$0 in $PWD" >> "{notes}"
git commit --quiet --allow-empty -m "Whatever I was asked for"
"""
"""A program that does its work whatever its arguments say: `--version`, too."""


@pytest.mark.covers("O-X20")
async def test_nothing_of_the_users_is_started_before_approval(
    sample: Console, model: PlayedModel, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    (tools := sample.repository / "tools").mkdir()
    for program in (wrapper := tools / "agent", tools / "git", tools / "gh", tools / "tmux"):
        program.write_text(WRAPPER.format(notes=notes))
        program.chmod(0o755)
    sample.uses(model)
    sample.environ |= {
        "PATH": f"./tools:tools:{sample.bin}",
        "GWT_AGENT": "other",
        "GWT_AGENT_COMMAND": str(wrapper),
    }
    await sample.runs("doctor")
    assert "tried whether `agent` starts" in sample.shown
    await sample.start()
    await sample.is_asked(REQUEST, "tried whether `agent` starts", QUESTIONS)
    await sample.is_asked("1", "Shall I build")
    assert not notes.exists()
    await sample.is_asked("1")
    await sample.until_there(notes)
    assert f"{wrapper} in {sample.repository}/.worktrees/" in notes.read_text()
    await sample.terminated()


async def test_wrong_settings_are_all_told_at_once(sample: Console) -> None:
    sample.environ |= {"LLM_TIMEOUT": "soon", "ON_RESTART": "maybe", "OPENAI_BASE_URL": "nowhere"}
    await sample.start()
    assert await sample.ends() == 1
    for name in ("LLM_TIMEOUT", "ON_RESTART", "OPENAI_BASE_URL"):
        assert name in sample.shown
    assert "Traceback" not in sample.shown
