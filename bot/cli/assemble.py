"""The composition root: builds every adapter once and hands them to the desk."""

from __future__ import annotations

import asyncio
import getpass
import hashlib
import logging
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from pydantic import JsonValue

from adapters.agents.launch import AgentClis
from adapters.clock import SystemClock
from adapters.commands.shell import ShellCommands
from adapters.git import GitRepository, GitWorktrees
from adapters.github import Access, GitHub
from adapters.log import start_logging
from adapters.registry import ForgeRegistry
from adapters.sandbox import Bubblewrap
from adapters.store import (
    AuditFile,
    BindingsFile,
    EvidenceFiles,
    InstanceLock,
    JournalStore,
    QuestionsFile,
    ReplFile,
    TaskLogFiles,
)
from adapters.tmux import TmuxPanes
from bot.cli.models import ChosenLlm
from bot.cli.preferences import EnvPreferences
from bot.cli.process import canary_in_environment, require_private_home, secrets_in
from bot.core.desk import Desk
from bot.core.errors import PortError, SettingsError, Unavailable
from bot.core.gate import Gate
from bot.core.masking import LearningMasker
from bot.core.projections.console_state_writer import ConsoleState
from bot.core.projections.registry_writer import RegistryWriter
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.projections.task_logs import LoggedRunner
from bot.core.repository_queue import RepositoryQueue
from bot.core.rounds import OBSERVE_SECONDS, observe, run_periodically, take_up, tick
from bot.core.world import Rules, World
from bot.ports import Chat, Sandbox
from bot.settings import (
    OnRestart,
    Progress,
    Provider,
    SandboxKind,
    Settings,
    pane_environment,
    paths_in,
)

log = logging.getLogger("bot.program")


@dataclass(frozen=True)
class AssemblyOptions:
    """What to assemble. `current` is called again whenever settings may have changed."""

    current: Callable[[], Settings]
    chats: Mapping[str, Chat]
    gate: Gate
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    unattended: bool = False
    """Requests come through a pipe: nobody can answer a question in between."""
    example: str = ""
    """A request that fits the repository, for those who see the bot for the first time."""
    only: frozenset[str] | None = None
    """Ids of the sessions to restore; `None` restores all. The others stay untouched on disk."""
    stage: Mapping[str, str] = field(default_factory=dict[str, str])
    """Extra environment variables for the scripted agent; only the demo and tests set them."""
    umask: int = 0o022
    """The operator's umask, for files in users' repositories. The bot's own files use a stricter one."""
    through: Callable[[World], World] = lambda world: world
    """Wraps the world. Fault tests use it to put themselves between the bot and its ports."""


def socket_name(home: Path) -> str:
    """Return the name of the tmux server's socket, unique for this home."""
    return f"gwt-{hashlib.sha256(str(home).encode()).hexdigest()[:10]}"


@asynccontextmanager
async def running_desk(plan: AssemblyOptions) -> AsyncGenerator[Desk, None]:
    """Run the bot: take the lock, start logging, restore the sessions, and start the periodic tasks."""
    settings = plan.current()
    require_private_home(settings.gwt_home)
    with InstanceLock(settings.gwt_home), canary_in_environment(plan.environ) as environ:
        plan = replace(plan, environ=environ)
        masker = LearningMasker({**secrets_in(plan.environ), **settings.secrets})
        start_logging(settings.gwt_home, settings.gwt_repository, masker.mask_personal)
        panes = create_panes(settings, masker.mask, plan.stage)
        store = JournalStore(settings.gwt_home)
        world = plan.through(_world(plan, settings, masker, panes, store))
        desk = Desk(world, plan.gate)
        try:
            await desk.open(plan.only)
            async with asyncio.TaskGroup() as group:
                rounds = [
                    group.create_task(
                        run_periodically(world, world.rules.progress_seconds, tick, desk.actors)
                    ),
                    *(
                        group.create_task(
                            run_periodically(world, OBSERVE_SECONDS, what, desk.actors)
                        )
                        for what in (observe, take_up)
                    ),
                ]
                yield desk
                for task in rounds:
                    task.cancel()
        finally:
            await desk.close()
            await _close_panes(panes)
            store.close()


async def _close_panes(panes: TmuxPanes) -> None:
    """Close the connection to tmux. The server is killed only if no agent works in it."""
    try:
        if not await panes.names():
            await panes.kill_server()
    except PortError as trouble:
        log.warning("tmux was left as it is", extra={"data": {"why": str(trouble)}})
    await panes.close()


def create_panes(
    settings: Settings, mask: Callable[[str], str], stage: Mapping[str, str]
) -> TmuxPanes:
    return TmuxPanes(
        socket_name(settings.gwt_home),
        settings.gwt_home,
        mask=mask,
        environment={**pane_environment(), **stage},
    )


def _repository(
    plan: AssemblyOptions,
    settings: Settings,
    environment: Mapping[str, str],
    masker: LearningMasker,
) -> GitRepository:
    return GitRepository(settings.gwt_home, environment, umask=plan.umask, mask=masker.mask)


def _world(
    plan: AssemblyOptions,
    settings: Settings,
    masker: LearningMasker,
    panes: TmuxPanes,
    store: JournalStore,
) -> World:
    environment = pane_environment()
    sandbox = create_sandbox(settings, environment)
    worktrees = _worktrees(plan, settings, environment, sandbox)
    registry = ForgeRegistry(umask=plan.umask) if settings.gwt_intents else None
    llm = ChosenLlm(lambda: _current_settings(plan.current), masker, plan.environ)
    # the demo never talks to GitHub, whatever credentials the machine has
    demo = plan.stage.get("GWT_BOT_STAGE") == "demo"
    return World(
        chats=plan.chats,
        llm=llm,
        agents=_agents(plan, settings, sandbox),
        panes=panes,
        repository=_repository(plan, settings, environment, masker),
        worktrees=worktrees,
        registrar=RegistryWriter(registry, worktrees.hide, masker),
        commands=ShellCommands(environment, masker.mask, umask=plan.umask, sandbox=sandbox),
        forge=None if demo else create_forge(settings, plan.environ, masker.learn),
        store=store,
        clock=SystemClock(),
        rules=_rules(plan, settings, llm),
        masker=masker,
        home=str(settings.gwt_home),
        archive=EvidenceFiles(settings.gwt_home, masker),
        audit=AuditFile(settings.gwt_home, masker),
        places=RepositoryQueue(settings.gwt_most_repositories),
        logbook=TaskLogWriter(
            TaskLogFiles(settings.gwt_home, masker, runner=_logged_runner(settings))
        ),
        bindings=BindingsFile(settings.gwt_home),
        questions=QuestionsFile(settings.gwt_home),
        preferences=EnvPreferences(plan.current, plan.environ),
        recall=ConsoleState(ReplFile(settings.gwt_home), lambda: _selected_model(plan.current)),
    )


def _agents(plan: AssemblyOptions, settings: Settings, sandbox: Sandbox | None) -> AgentClis:
    return AgentClis(
        {**plan.environ, **plan.stage},
        other_command=settings.gwt_agent_command or None,
        extra_variables=split_list(settings.gwt_agent_env),
        sandbox=sandbox,
    )


def _worktrees(
    plan: AssemblyOptions,
    settings: Settings,
    environment: Mapping[str, str],
    sandbox: Sandbox | None,
) -> GitWorktrees:
    let_go = sandbox.let_go if sandbox else None
    return GitWorktrees(settings.gwt_home, environment, umask=plan.umask, on_removed=let_go)


def create_sandbox(settings: Settings, environment: Mapping[str, str]) -> Sandbox | None:
    """Return the sandbox, or `None` if agents and commands may do whatever the bot's user may do."""
    if settings.sandbox is SandboxKind.NONE:
        return None
    key_file = settings.github_app_key_file
    return Bubblewrap(
        settings.gwt_home,
        environment,
        reads=paths_in(settings.sandbox_read),
        writes=paths_in(settings.sandbox_write),
        hides=(
            *map(Path, settings.repositories.values()),
            Path(".env").absolute(),
            *((key_file.absolute(),) if key_file else ()),
        ),
    )


def create_forge(
    settings: Settings,
    environ: Mapping[str, str],
    learn: Callable[[Mapping[str, str]], None],
) -> GitHub | None:
    """Return the GitHub adapter, or `None` without pull requests.

    `learn` is called with each token that is found, so that it is masked from then on.
    """
    if not settings.gwt_pull_requests:
        return None
    access = Access(
        token=settings.github_token.get_secret_value(),
        api_url=settings.github_api_url,
        app_id=settings.github_app_id,
        app_key_file=str(settings.github_app_key_file or ""),
        installation=settings.github_app_installation,
        environ=environ,
    )
    return GitHub(
        settings.gwt_home,
        access,
        on_token=lambda name, value: learn({name: value}),
        merge_method=settings.github_merge_method or "",
        repository=settings.github_repository,
    )


def split_list(text: str, separator: str = ",") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _rules(plan: AssemblyOptions, settings: Settings, llm: ChosenLlm) -> Rules:
    return Rules(
        repository=str(settings.gwt_repository),
        repositories=settings.repositories,
        agent=settings.gwt_agent,
        test_commands=split_list(settings.gwt_test_command, "&&&"),
        check_seconds=settings.gwt_check_seconds,
        progress_seconds=settings.progress_seconds,
        progress_posted=settings.progress is Progress.POST,
        unattended=plan.unattended,
        hold_on_restart=settings.on_restart is OnRestart.ASK,
        most_at_once=settings.gwt_parallel,
        set_up=split_list(settings.gwt_set_up, "&&&"),
        copied_files=split_list(settings.gwt_copy_files),
        other_agents=split_list(settings.gwt_other_agents),
        poll_seconds=settings.github_poll_seconds,
        checks_seconds=settings.github_checks_seconds,
        limits=settings.limits,
        sandboxed=settings.sandbox is SandboxKind.BWRAP,
        user=getpass.getuser(),
        low_risk_alone=settings.gwt_low_risk_alone,
        low_risk_sources=settings.low_risk_sources,
        reflect_after=settings.gwt_reflect_after,
        high_risk_approvers=settings.gwt_high_risk_approvers,
        asker_counts=settings.gwt_high_risk_asker_counts,
        most_in_a_minute=settings.gwt_most_in_a_minute,
        most_in_an_hour=settings.gwt_most_in_an_hour,
        most_sessions=settings.gwt_most_sessions,
        context_window=llm.window,
        asked_model=llm.asked,
        keys=lambda: _current_settings(plan.current).keys(),
    )


def _logged_runner(settings: Settings) -> LoggedRunner:
    return LoggedRunner(version=version("gwt-bot"), configuration=settings.told())


def _selected_model(current: Callable[[], Settings]) -> dict[str, JsonValue]:
    """Return the selected model in the terms of repl.json. A provider that repl.json has no name for becomes `None`."""
    settings = _current_settings(current)
    named = settings.llm_provider in (Provider.CLAUDE_CODE, Provider.OPENAI, Provider.ANTHROPIC)
    return {
        "selected_provider": settings.llm_provider.value if named else None,
        "selected_model": settings.openai_model or None,
    }


def _current_settings(current: Callable[[], Settings]) -> Settings:
    # Somebody may be editing .env at this moment; that must not end the bot.
    try:
        return current()
    except SettingsError as wrong:
        raise Unavailable("the settings cannot be read", str(wrong), retry_after=2) from wrong
