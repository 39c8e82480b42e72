"""How soon does the bot hear what an agent's hook tells, beside a small C program that sends a datagram?

    python -m benchmarks.stop_hook [trials]

Claude Code calls its hooks by a shell, with JSON on their input; so is it done here. Each is timed from that call to where
the bot goes on.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

from adapters.agents.clis import HOOK_SCRIPT, claude_hooks
from adapters.tmux import TmuxPanes
from adapters.tmux.watch import Watch
from benchmarks.ground import own_panes
from benchmarks.table import Row, all_of, beside, hand_in, lacking
from bot.core.runs import CompletionSource, Launch

SENDER = """\
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char told[65536]; struct sockaddr_un to = { .sun_family = AF_UNIX };
  strncpy(to.sun_path, argv[1], sizeof to.sun_path - 1);
  ssize_t length = read(0, told, sizeof told);
  return sendto(socket(AF_UNIX, SOCK_DGRAM, 0), told, length, 0, (void *)&to, sizeof to) != length;
}
"""
WORD = {"hook_event_name": "Notification", "message": "Claude is waiting for your input"}
END = {"hook_event_name": "Stop", "last_assistant_message": "It is done."}
TWO = "a shell and two short programs, where the other is one; in return nothing is lost while the bot is away"
SLOWER = (
    "the hook adds up what the turn has used before it tells of its end, in a Python of its own: who sees the end finds"
    " the figures, also after a crash"
)


async def main(trials: int) -> None:
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
        home = Path(folder)
        (home / "told").write_text(json.dumps(END))
        (home / "word").write_text(json.dumps(WORD))
        ends, words, late = list[float](), list[float](), 0
        async with own_panes(home) as panes:
            for trial in range(trials):
                words.append(await word(home, f"run-word-{trial}"))
                ends.append(await end(panes, home, f"run-end-{trial}"))
                late += await told_while_away(panes, home, f"run-late-{trial}")
        sent = await datagrams(home, trials)
    hand_in(
        against("what a hook tells, heard by the bot", words, sent, TWO),
        against("the end of a turn, heard with what it used", ends, sent, SLOWER),
        all_of("15", "ends told while the bot was away", late, trials),
    )


def against(what: str, ours: list[float], sent: list[float], because: str) -> Row:
    if not sent:
        return lacking("15", what, "there is no C compiler for the program beside it.")
    floor = median(sent)
    return beside("15", what, median(ours), floor, of="C, datagram", most=3, because=because)


async def word(home: Path, run: str) -> float:
    """Until its file is found in the run's folder, whoever looks there."""
    spool, watch = home / "spool" / run, Watch()
    prepare(spool)
    with watch.watch_run(spool, 0) as wake:
        begun = call(hook(spool, "Notification"), home / "word")
        while not any(spool.glob("[0-9]*.json")):
            await wake.wait()
        heard = time.perf_counter()
    watch.close()
    return heard - begun


async def end(panes: TmuxPanes, home: Path, run: str) -> float:
    await start(panes, home, run)
    waiting = asyncio.create_task(panes.ended(run))
    await asyncio.sleep(0.05)
    begun = call(hook(home / "spool" / run, "Stop"), home / "told")
    ended = await waiting
    heard = time.perf_counter()
    assert ended.source is CompletionSource.HOOK
    await panes.stop(run)
    return heard - begun


async def told_while_away(panes: TmuxPanes, home: Path, run: str) -> bool:
    """Nobody listens when it is called; who comes after hears of it at once."""
    await start(panes, home, run)
    call(hook(home / "spool" / run, "Stop"), home / "told")
    await asyncio.to_thread(CALLED[-1].wait)
    heard = await panes.ended(run)
    await panes.stop(run)
    return heard.source is CompletionSource.HOOK and heard.message == END["last_assistant_message"]


async def start(panes: TmuxPanes, home: Path, run: str) -> None:
    files = claude_hooks(str(home / "spool" / run))
    launch = Launch(argv=("sleep", "100000"), stdin="nothing", files=dict(files))
    await panes.start(run, str(home), launch, "")


def prepare(spool: Path) -> None:
    spool.mkdir(parents=True)
    script = spool / HOOK_SCRIPT
    script.write_text(claude_hooks(str(spool))[HOOK_SCRIPT])
    script.chmod(0o700)


def hook(spool: Path, event: str) -> str:
    return f"{spool / HOOK_SCRIPT} {event}"


def call(command: str, told: Path) -> float:
    """Begin it, and do not wait. When that was."""
    begun = time.perf_counter()
    with told.open() as given:
        CALLED.append(subprocess.Popen(["sh", "-c", command], stdin=given))
    return begun


CALLED = list[subprocess.Popen[bytes]]()
"""Kept until the end: nobody may be asked for while others are timed."""


async def datagrams(home: Path, trials: int) -> list[float]:
    """Nothing where nobody can compile the sender."""
    if not compiled(home / "sender"):
        return []
    loop, address = asyncio.get_running_loop(), str(home / "datagrams")
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as ear:
        ear.bind(address)
        ear.setblocking(False)
        seconds = list[float]()
        for _ in range(trials):
            begun = call(f"{home / 'sender'} {address}", home / "told")
            assert json.loads(await loop.sock_recv(ear, 65536)) == END
            seconds.append(time.perf_counter() - begun)
    return seconds


def compiled(sender: Path) -> bool:
    source, compiler = sender.with_suffix(".c"), shutil.which("cc")
    source.write_text(SENDER)
    return compiler is not None and not subprocess.call([compiler, "-O2", "-o", sender, source])


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 30))
