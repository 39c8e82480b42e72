"""`gwt-bot doctor`: checks everything the bot needs, one thing after the other, and says how to fix what fails.

It changes nothing.
"""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from adapters.agents.launch import AgentClis
from adapters.commands.shell import ShellCommands
from adapters.git import GitRepository
from adapters.store.audit import check_audit, describe_problems
from adapters.store.disk import disk_error
from bot import settings
from bot.cli.assemble import create_forge, create_panes, create_sandbox, split_list
from bot.cli.chats import configured_chats, is_any_chat_configured
from bot.cli.models import FALLBACK, ChosenLlm, ChosenModel, chosen_models
from bot.cli.process import require_private_home, secrets_in
from bot.cli.read_settings import refuse_tracked_env_file
from bot.core.errors import BotError, PortError, Refused
from bot.core.llm import ModelRole
from bot.core.masking import LearningMasker, Masker
from bot.core.repositories import test_command_of
from bot.core.world import Rules
from bot.settings import Settings, pane_environment

OTHER_AGENTS = ("claude", "codex", "gemini", "opencode")
"""Agent CLIs that are checked in addition to the configured one, as alternatives."""
CHECK_TIMEOUT = 20.0
"""Time-out of each check. Longer than the time-outs within, so that a check that hangs is reported like the others."""
MODEL_TIMEOUT = 60.0
"""A local model may have to be loaded first."""
PROBE_BYTES = 64 * 1024
"""Size in bytes of the test file that is written and removed."""


@dataclass(frozen=True)
class CheckResult:
    """`needed`: the bot cannot build anything without it, or it is configured and does not work."""

    what: str
    ok: bool
    says: str
    remedy: str = ""
    needed: bool = True


async def run(*, as_json: bool = False, ask_model: bool = True) -> int:
    """Run all checks. Return exit code 1 if something needed fails."""
    await asyncio.to_thread(refuse_tracked_env_file, Path(".env"))
    current = settings.load()
    masker = LearningMasker({**secrets_in(os.environ), **current.secrets})
    all_found: list[CheckResult] = []
    async for found in run_checks(current, masker, ask_model=ask_model):
        all_found.append(found)
        if not as_json:
            sys.stdout.write(masker.mask(as_line(found)))
            sys.stdout.flush()
    lacking = sum(found.needed and not found.ok for found in all_found)
    if as_json:
        sys.stdout.write(masker.mask(as_json_values(all_found, lacking)) + "\n")
    elif lacking:
        raise BotError(
            f"{lacking} of the things that are needed are not as they must be; see above."
        )
    return 1 if lacking else 0


def as_json_values(found: list[CheckResult], lacking: int) -> str:
    told = {"ok": not lacking, "checks": [asdict(one) for one in found]}
    return json.dumps(told, ensure_ascii=False, indent=2)


def as_line(found: CheckResult) -> str:
    mark = "✓" if found.ok else "✗" if found.needed else "–"
    remedy = f"    → {found.remedy}\n" if found.remedy else ""
    return f"{mark} {found.what}: {found.says}\n{remedy}"


async def run_checks(
    current: Settings, masker: LearningMasker, *, ask_model: bool = True
) -> AsyncGenerator[CheckResult]:
    """Yield one result per check. `ask_model` sends the model one question, which may cost money."""
    for line in current.bad_lines:
        yield CheckResult("settings", False, str(line), "The line is not used.")
    yield await _run_check("home", lambda: asyncio.to_thread(_home, current))
    yield await _run_check("tmux", lambda: _tmux(current, masker))
    for name, path in current.repositories.items():
        what = "repository" if len(current.repositories) == 1 else f"repository {name}"
        yield await _run_check(what, partial(_repository, current, path))
        for row, look_at in (("tests", _tests), ("programs", _programs)):
            yield await _run_check(
                what.replace("repository", row, 1), partial(look_at, current, path)
            )
    yield await _run_check("sandbox", lambda: _sandbox(current))
    for model in chosen_models(current):
        main = model.name == ModelRole.MAIN
        names = ", ".join(map(model.setting, ("BASE_URL", "MODEL")))
        yield await _run_check(
            "model" if main else f"model {model.name}",
            partial(_model, current, model, masker, ask=ask_model),
            hint=f"Look at {names} and {model.key_setting}, or {model.setting('PROVIDER')}.",
            seconds=MODEL_TIMEOUT,
            needed=model.name != FALLBACK,
        )
    async for found in _agents(current):
        yield found
    yield await _run_check(
        "pull requests", lambda: _forge(current, masker), needed=_is_github_configured(current)
    )
    async for found in _chats(current):
        yield found
    yield await _run_check("audit log", lambda: asyncio.to_thread(_audit, current))


async def _run_check(
    what: str,
    check: Callable[[], Awaitable[str]],
    *,
    needed: bool = True,
    hint: str = "",
    seconds: float = CHECK_TIMEOUT,
) -> CheckResult:
    """Run one check and turn its errors into a result. `hint`: the remedy if the error itself has none."""
    try:
        async with asyncio.timeout(seconds):
            return CheckResult(what, True, await check(), needed=needed)
    except TimeoutError:
        says, remedy = f"no answer within {seconds:.0f} seconds", ""
    except PortError as problem:
        says, remedy = problem.reason, problem.remedy
    except BotError as problem:
        says, remedy = str(problem), ""
    return CheckResult(what, False, says, remedy or hint, needed)


def _home(current: Settings) -> str:
    """Check that files can be written. The test files are removed, and a missing home is not created."""
    require_private_home(current.gwt_home)
    there = (one for one in (current.gwt_home, *current.gwt_home.parents) if one.exists())
    folder = next(there)
    inside = folder.iterdir() if folder == current.gwt_home else ()
    for one in (folder, *(each for each in inside if each.is_dir())):
        _probe_write(one)
    begun = "" if folder == current.gwt_home else ", made at the first start"
    return f"{current.gwt_home}{begun}, {_free_space(folder)}"


def _probe_write(folder: Path) -> None:
    """Write and remove a test file. Raises Unavailable if that fails."""
    try:
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise disk_error(error, folder) from error


def _free_space(folder: Path) -> str:
    return f"{shutil.disk_usage(folder).free / 1e9:,.1f} GB free"


async def _tmux(current: Settings, masker: Masker) -> str:
    panes = create_panes(current, masker.mask, {})
    try:
        await panes.require()
    finally:
        await panes.close()
    return "is there, and new enough"


async def _repository(current: Settings, path: str) -> str:
    repository = GitRepository(current.gwt_home, pane_environment())
    base = await repository.base(path)
    await asyncio.to_thread(_probe_write, Path(base.repository))
    changed = f", {base.uncommitted} files with changes of yours" if base.uncommitted else ""
    room = _free_space(Path(base.repository))
    return f"{base.repository}, {base.branch} at {base.commit[:10]}{changed}, {room}"


async def _tests(current: Settings, path: str) -> str:
    """Find the test command: the configured one, or else a detected one. Nothing is started."""
    rules = Rules(
        repository=str(current.gwt_repository),
        repositories=current.repositories,
        agent=current.gwt_agent,
        test_commands=split_list(current.gwt_test_command, "&&&"),
    )
    wanted, top = test_command_of(rules, path), path
    if not wanted:
        try:
            repository = GitRepository(current.gwt_home, pane_environment())
            base = await repository.base(path)
            scan, top = await repository.scan(base.repository, base.commit), base.repository
        except PortError:
            return "looked for as soon as the repository can be read"
        if not scan.test_command:
            return "none was found; you are asked for it with each plan (GWT_TEST_COMMAND)"
        wanted = scan.test_command
    commands = ShellCommands(os.environ, str)
    if why := await commands.problem(top, wanted):
        raise Refused(f"`{wanted}` cannot be run: {why}", "Install it, or set GWT_TEST_COMMAND.")
    return f"`{wanted}`"


async def _programs(current: Settings, path: str) -> str:
    """Return the programs that git would start in this repository (filters, merge drivers). Nothing is started."""
    repository = GitRepository(current.gwt_home, pane_environment())
    try:
        told = await repository.programs((await repository.base(path)).repository)
    except PortError:
        return "looked for as soon as the repository can be read"
    return " ".join(told) or "git has no filter or merge driver to run there"


async def _sandbox(current: Settings) -> str:
    sandbox = create_sandbox(current, pane_environment())
    if sandbox is None:
        return f"none (SANDBOX): agents may do what {getpass.getuser()} may do"
    await sandbox.require()
    return "bubblewrap works"


async def _model(
    current: Settings, model: ChosenModel, masker: LearningMasker, *, ask: bool
) -> str:
    # Asks one short question: only an answer proves that address, model name and key belong together.
    named = model.model or ("its own model" if model.is_cli else "no model is named")
    if not model.is_cli:
        _ = model.access
    if not ask:
        return f"{named} ({model.provider}), not asked"
    llm = ChosenLlm(lambda: current, masker, os.environ)
    reply = await llm.ask(model, "Answer with the single word: ready", "Are you there?")
    answered, took = reply.model or named, reply.usage.milliseconds / 1000
    return f"{answered} ({model.provider}) answered in {took:.1f} s"


async def _agents(current: Settings) -> AsyncGenerator[CheckResult]:
    try:
        clis = AgentClis(
            dict(os.environ),
            other_command=current.gwt_agent_command or None,
            extra_variables=split_list(current.gwt_agent_env),
            sandbox=create_sandbox(current, pane_environment()),
        )
    except PortError as problem:
        yield CheckResult("agent other", False, problem.reason, problem.remedy)
        return
    wanted = (current.gwt_agent, *split_list(current.gwt_other_agents))
    names = dict.fromkeys((*wanted, *OTHER_AGENTS))
    for name in names:
        ready = await clis.ready(name, str(current.gwt_repository))
        says = f"{ready.version or 'is there'}" if ready.ok else ready.problem
        needed = name == current.gwt_agent
        yield CheckResult(f"agent {name}", ready.ok, says, ready.remedy, needed)
        told = (
            *ready.warnings,
            *(await _agent_settings_notes(current, clis, name) if ready.ok else ()),
        )
        for warning in told:
            yield CheckResult(f"agent {name}", True, warning)


async def _agent_settings_notes(current: Settings, clis: AgentClis, name: str) -> tuple[str, ...]:
    # A missing repository is reported by its own check.
    repository = GitRepository(current.gwt_home, pane_environment())
    try:
        base = await repository.base(str(current.gwt_repository))
        files = await repository.read(base.repository, base.commit, clis.settings(name))
    except PortError:
        return ()
    return clis.brought(name, files)


def _is_github_configured(current: Settings) -> bool:
    # The login of the `gh` CLI does not count: it is not meant for the bot.
    app = (current.github_app_id, current.github_app_key_file, current.github_app_installation)
    return current.gwt_pull_requests and any((current.github_token, *app))


async def _forge(current: Settings, masker: LearningMasker) -> str:
    forge = create_forge(current, os.environ, masker.learn)
    if forge is None:
        return "switched off (GWT_PULL_REQUESTS)"
    forge.require()
    hosted = await forge.find(str(current.gwt_repository))
    if hosted is None:
        return "no GitHub token, or no remote there: work stays on its branches"
    if hosted.problem:
        raise Refused(f"{hosted.slug}: {hosted.problem}", hosted.remedy)
    return f"they go to {hosted.slug}"


def _audit(current: Settings) -> str:
    found = check_audit(current.gwt_home)
    if found.problems:
        raise Refused(*describe_problems(current.gwt_home, found.problems))
    return found.told


async def _chats(current: Settings) -> AsyncGenerator[CheckResult]:
    """Ask each platform whether it accepts the bot. Nothing is posted and nothing is received."""
    try:
        platforms = configured_chats(current)
    except BotError as wrong:
        why = "; ".join(line.strip() for line in str(wrong).splitlines()[1:])
        half = is_any_chat_configured(current)
        remedy = "Set what is missing." if half else "The console needs none: gwt-bot console."
        yield CheckResult("chats", False, why, remedy, half)
        return
    for platform in platforms:
        hint = "Look at the network, at a proxy in between, and at the address in the settings."
        yield await _run_check(platform.name, platform.tried, hint=hint)
