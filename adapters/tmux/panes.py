"""The panes port on tmux: starts runs, finds them again, ends them.

A run is never started twice, and its end is read from its folder, not from tmux.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from weakref import WeakValueDictionary

from adapters.descendants import KnownProcess, end_marked
from adapters.tmux.dialog_watcher import DialogWatcher, ScreenTiming
from adapters.tmux.screens import ListedPane, PaneListing, PaneScreens, attach_command, run_name
from adapters.tmux.server import SIZE, TERM, TmuxRejected, TmuxServer
from adapters.tmux.spool import (
    LARGEST_NOTEBOOK,
    LARGEST_REPORT,
    NOTEBOOK,
    REPORT,
    Spool,
    disk_errors,
    read_regular_file,
    recorded_end,
    with_report,
)
from adapters.tmux.terminal import Keyboard, NotRunning, OutputPipes, PaneOutput
from adapters.tmux.watch import Watch
from bot.core.errors import Lost, Refused, Unavailable
from bot.core.runs import CompletionSource, Dialog, Launch, Pane, RunEnd
from bot.core.screens import PaneScreen
from bot.core.states import Outcome


class TmuxPanes:
    """Runs agents as commands of panes, on a tmux server of the bot's own."""

    def __init__(
        self,
        socket_name: str,
        home: Path,
        *,
        mask: Callable[[str], str],
        environment: Mapping[str, str],
        grace: float = 5.0,
        patience: float = 10.0,
        watch: Watch | None = None,
        pace: ScreenTiming = ScreenTiming(),  # noqa: B008 - it is frozen
    ) -> None:
        """`environment`: the complete environment of the server and every pane; `patience`: seconds a program may take
        to enable bracketed paste before it counts as one that reads lines.
        """
        self._root = home / "spool"
        self._environment = dict(environment)
        self._watch = watch or Watch()
        self._server = TmuxServer(
            socket_name,
            self._root,
            environment,
            on_notification=self._on_notification,
            on_lost=self._on_change,
        )
        self._listing = PaneListing(self._server, self._watch.sweep)
        self._pipe = OutputPipes(self._server)
        self._screens = PaneScreens(self._server, home, mask)
        self._keyboard = Keyboard(self._server, self._watch, patience)
        self._teardown = PaneTeardown(self._server, self._listing, self._screens, grace)
        self._dialogs = DialogWatcher(
            self._listing, self._screens, self._keyboard, self._server, self._watch, mask, pace
        )
        self._attach = attach_command(socket_name, environment)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def require(self) -> None:
        """Raise Unavailable, with how to install it, if there is no usable tmux."""
        await self._server.require()

    async def start(self, name: str, cwd: str, launch: Launch, prompt: str) -> Pane:
        """Start the agent, or return what became of the run: with pid 0 if it has ended."""
        spool = self._spool(name)
        async with self._run_lock(name):
            if pane := await self.find(name):
                return pane
            if spool.was_started:
                return Pane(name=name, pane_id="", pid=0)
            await asyncio.to_thread(self._prepare, spool, cwd, launch, prompt)
            return await self._open(name, spool)

    async def find(self, name: str) -> Pane | None:
        """Return the run's pane, with pid 0 if only the screen is left, or None."""
        listed = (await self._listing.refresh()).get(run_name(name))
        if listed is None:
            return None
        return Pane(
            name=name,
            pane_id=listed.pane_id,
            pid=listed.pid,
            boot_time=KnownProcess(listed.pid).started_at,
        )

    async def names(self) -> tuple[str, ...]:
        return tuple(sorted(await self._listing.refresh()))

    async def ended(self, name: str) -> RunEnd:
        """Wait for the end of the run; return at once if it has ended or does not exist.

        Works for runs of an earlier bot process, too.
        """
        spool = self._spool(name)
        async with self._run_lock(name):
            listed = (await self._listing.refresh()).get(name)
        if not spool.path.is_dir():
            return RunEnd(outcome=Outcome.VANISHED, source=CompletionSource.STATUS_QUERY)
        process = KnownProcess(listed.pid if listed else 0)
        output = PaneOutput(spool.output, spool.kept.marker, spool.output_begins)
        source = CompletionSource.PROCESS_EXIT
        with self._watch.watch_run(spool.path, listed.pid if listed else 0) as wake:
            while (end := await self._look(spool, listed, process, output, source)) is None:
                happened = await wake.wait()
                source = CompletionSource.PROCESS_EXIT if happened else CompletionSource.SWEEP
            return end

    async def stop(self, name: str) -> tuple[int, ...]:
        """End everything that belongs to the run and prevent it from being started later.

        Return the pids that are still alive.
        """
        spool = self._spool(name)
        async with self._run_lock(name):
            try:
                with disk_errors("That the run is stopped cannot be written down"):
                    over = recorded_end(spool, process_gone=True, source=CompletionSource.STOPPED)
                    if over is None:
                        spool.mark_stopped()
            finally:
                # neither a full disk nor an agent that has damaged its folder keeps processes alive
                left = await self._teardown.tear_down(spool)
            return left

    async def tail(self, name: str, lines: int) -> str:
        """Return the last lines on its screen, or of its transcript if the pane is gone."""
        listed = (await self._listing.refresh()).get(run_name(name))
        if listed is None:
            return self._screens.last_of_transcript(name, lines)
        return await self._screens.tail(name, listed.pane_id, lines)

    async def screen(self, name: str) -> PaneScreen:
        """Return what the pane shows with its colours, masked, or the end of its transcript if it is gone."""
        listed = (await self._listing.recent()).get(run_name(name))
        listed = listed or (await self._listing.refresh()).get(name)
        screen = await self._screens.coloured(name, listed.pane_id) if listed else PaneScreen()
        if screen.live:
            return screen
        return await asyncio.to_thread(self._screens.end_of_transcript, name)

    async def paste(self, name: str, text: str) -> None:
        """Type text into the pane byte for byte once the program there is ready, then Enter."""
        spool = self._spool(name)
        listed = (await self._listing.refresh()).get(name)
        if listed is None or not KnownProcess(listed.pid).is_alive:
            raise NotRunning
        await self._keyboard.wait_until_ready(spool, text)
        if await self._dialogs.current_dialog(spool) is not None:
            raise Refused("The program in the pane asks something.", "Answer it first.")
        await self._keyboard.paste(listed.pane_id, spool, text)

    def dialogs(self, name: str) -> AsyncGenerator[Dialog | None]:
        """Yield what the program in the pane asks, and None once it no longer asks, without end."""
        return self._dialogs.watch(self._spool(name))

    async def answer(self, name: str, dialog: Dialog, option: str) -> bool:
        """Type the answer if that dialog is still shown; return whether the screen has changed since."""
        return await self._dialogs.answer(self._spool(name), dialog, option)

    def attach(self, name: str) -> str:
        """Return the command with which a person attaches to the pane."""
        return self._attach + f"'={run_name(name)}'"

    async def watched(self, name: str) -> bool:
        """Whether a person is attached to the session."""
        return await self._dialogs.is_watched(run_name(name))

    def notebook(self, name: str) -> str:
        return str(self._spool(run_name(name)).path / NOTEBOOK)

    async def noticed(self, name: str) -> str:
        return await self._left(name, NOTEBOOK, LARGEST_NOTEBOOK)

    def report(self, name: str) -> str:
        return str(self._spool(run_name(name)).path / REPORT)

    async def read_report(self, name: str) -> str:
        return await self._left(name, REPORT, LARGEST_REPORT)

    async def _left(self, name: str, file: str, most: int) -> str:
        content = await asyncio.to_thread(
            read_regular_file, self._spool(run_name(name)).path / file
        )
        return (content or b"")[:most].decode("utf-8", "replace")

    async def keep_transcript(self, name: str) -> str:
        """Save what the pane has shown, close it, and end whatever the agent left running; return the transcript's
        path.
        """
        path = self._screens.transcript(run_name(name))
        async with self._run_lock(name):
            await self._teardown.tear_down(self._spool(name))
            if not path.exists():
                await asyncio.to_thread(self._screens.write, name, "")
        return str(path)

    async def close(self) -> None:
        """Disconnect from tmux. The server and all agents in it go on."""
        await self._server.close()
        self._watch.close()

    async def kill_server(self) -> None:
        """End the server and everything in it."""
        await self._server.kill()

    def _spool(self, name: str) -> Spool:
        return Spool(self._root, run_name(name))

    def _run_lock(self, name: str) -> asyncio.Lock:
        # Starting and ending a run never overlap, so a stop finds everything a start has created.
        return self._locks.setdefault(name, asyncio.Lock())

    def _prepare(self, spool: Spool, cwd: str, launch: Launch, prompt: str) -> None:
        if not Path(cwd).is_dir():
            raise Lost(
                f"The worktree {cwd} is not there.",
                "Make the worktree again, then start the task again.",
            )
        with disk_errors("The run cannot be prepared"):
            spool.begin(
                cwd,
                launch,
                prompt,
                {**self._environment, "TERM": TERM, **launch.env, **spool.marks},
            )

    async def _open(self, name: str, spool: Spool) -> Pane:
        # Passed as several words, so that tmux starts them without a shell; the wrapper begins with an empty
        # environment.
        named = (f"{key}={value}" for key, value in spool.marks.items())
        clean = ("env", "-i", *named, "/bin/sh", str(spool.path / "run.sh"))
        opened = self._server.run("new-session", "-d", "-s", name, *SIZE, *clean)
        try:
            await self._pipe.open_with(opened, name, spool)
        except TmuxRejected as error:
            if not error.reason.startswith("duplicate session"):
                raise Unavailable(f"tmux could not open a pane: {error.reason}") from error
        pane = await self.find(name)
        if pane is None:
            raise Unavailable("The pane was gone as soon as it was opened.")
        return pane

    async def _look(
        self,
        spool: Spool,
        listed: ListedPane | None,
        process: KnownProcess,
        output: PaneOutput,
        source: CompletionSource,
    ) -> RunEnd | None:
        # The process is checked before its files: what it wrote before its end is then there to be read.
        gone = not process.is_alive
        name = spool.path.name
        here = listed is not None and name in await self._listing.recent()
        await self._pipe.process_output(spool, output, listed)
        with disk_errors("How the run stands cannot be read"):
            end = recorded_end(spool, process_gone=gone, source=source)
        if end is not None or not (gone or not here):
            return end
        left_its_screen = name in await self._listing.refresh()
        outcome = Outcome.KILLED if left_its_screen else Outcome.VANISHED
        return with_report(spool, RunEnd(outcome=outcome, source=source))

    def _on_notification(self, news: str) -> None:
        self._dialogs.handle_notification(news)
        if news.startswith("%unlinked-window-close"):
            self._on_change()

    def _on_change(self) -> None:
        # A pane was closed, or the server died: all waiters look again, at a new list.
        self._listing.forget()
        self._watch.wake_all()


# The end of a run: its processes are ended, its output is saved, its pane is closed; with or without tmux.

TMUX_SECONDS = 1.0
"""Seconds before a stop goes on without tmux."""


class PaneTeardown:
    """Ends runs and closes their panes."""

    def __init__(
        self, server: TmuxServer, listing: PaneListing, screens: PaneScreens, grace: float
    ) -> None:
        self._server = server
        self._listing = listing
        self._screens = screens
        self._grace = grace

    async def tear_down(self, spool: Spool) -> tuple[int, ...]:
        """End the processes, save the larger of the screens before and after (a full-screen program clears its own),
        and close the pane.

        Return the pids that are still alive.
        """
        name, root, before = spool.path.name, 0, ""
        # without tmux the processes are found, too, and must be ended
        with contextlib.suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(TMUX_SECONDS):
                root, before = await self._before_the_end(name)
        left = await end_marked(spool.marks, root, grace=self._grace)
        listed = (await self._listing.refresh()).get(name)
        if listed is not None:
            self._server.reap_children()
            await self._screens.keep(name, listed.pane_id, before)
            await self._server.close_session(name)
            self._listing.forget()
        elif before:
            # the pane was closed with its processes, by somebody or because tmux died meanwhile
            await asyncio.to_thread(self._screens.write, name, before)
        return left

    async def _before_the_end(self, name: str) -> tuple[int, str]:
        listed = (await self._listing.refresh()).get(name)
        if listed is None or not listed.pid:
            return 0, ""
        return listed.pid, await self._screens.read_scrollback(name, listed.pane_id)
