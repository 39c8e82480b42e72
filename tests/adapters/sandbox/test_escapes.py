"""Who works in the sandbox breaks out in none of these ways. Each of them works without it, or it would prove nothing."""

from __future__ import annotations

import shutil
import subprocess

import psutil
import pytest

from tests.adapters.sandbox.jail import CANARY, Jail, bot_of, peopled
from tests.adapters.tmux.own_server import until

GIT = '"$TOP/.git"'
CONNECT = '"$PYTHON" -c \'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(os.environ["SOCKET"]); s.recv(1)\''


ATTACKS = {
    # sockets
    "the tmux server runs it": 'tmux -S "$TMUX_SOCKET" run-shell "touch $MARK"',
    "another service is spoken to": CONNECT,
    # processes
    "the bot's environment is read": "tr '\\0' '\\n' < /proc/$BOT/environ",
    "the bot is killed": "kill -9 $BOT",
    "the bot is stopped": "kill -STOP $BOT",
    "the bot's root is walked through": 'cat "/proc/$BOT/root$BOT_HOME/.env"',
    # what is not there to be read
    "the bot's .env is read": 'cat "$BOT_HOME/.env"',
    "the bot's sessions are read": 'cat "$BOT_HOME"/sessions/*',
    "another run's prompt is read": 'cat "$BOT_HOME/spool/run-2/prompt.md"',
    "the main checkout's .env is read": 'cat "$TOP/.env"',
    "another worktree is read": 'cat "$OTHER/notes.txt"',
    "it is read through a link": 'ln -s "$OTHER" there && cat there/notes.txt',
    "the user's key is read": 'cat "$USER_HOME/.ssh/id_ed25519"',
    "the user's git settings are read": "git config --file ~/.gitconfig github.token",
    "another user's home is read": 'cat "$USER_HOME/../somebody/.netrc"',
    # what is not there to be written
    "the main checkout is written": 'echo 2 > "$TOP/code.py"',
    "another worktree is written": 'echo 2 > "$OTHER/code.py"',
    "the user's shell is set up": 'echo "touch $MARK" >> "$USER_HOME/.bashrc"',
    "the user's agent is set up": 'echo "{1}" > "$USER_HOME/.claude/settings.json"',
    "another run's end is told": 'echo 0 > "$BOT_HOME/spool/run-2/exit"',
    # git
    "a hook is planted": f"echo evil > {GIT}/hooks/pre-commit",
    "the hooks are moved": f"mv {GIT}/hooks {GIT}/hooks-2",
    "the configuration is changed": "git config filter.x.clean evil",
    "the configuration is replaced": f"echo x > {GIT}/new && mv {GIT}/new {GIT}/config",
    "attributes are planted": f"mkdir -p {GIT}/info; echo '* filter=x' > {GIT}/info/attributes",
    "commondir leads elsewhere": 'echo /tmp > "$(git rev-parse --git-dir)/commondir"',
    "gitdir leads elsewhere": 'echo /tmp > "$(git rev-parse --git-dir)/gitdir"',
    "the pointer file leads elsewhere": "echo gitdir: /tmp > .git",
    "the pointer file is replaced": "echo gitdir: /tmp > new && mv -f new .git",
    "the pointer file becomes a link": "rm -f .git && ln -s /tmp .git",
    "the worktree's git folder is moved": f"mv {GIT}/worktrees/agent-work {GIT}/worktrees/x",
    "another worktree's is removed": f"rm -rf {GIT}/worktrees/agent-other",
    "main is moved": 'git update-ref refs/heads/main "$(git commit-tree -m x HEAD^{tree})"',
    "main is packed away": "git pack-refs --all && git update-ref -d refs/heads/main",
    "a tag is made": "git tag evil",
    "what is stored is destroyed": f"chmod -R u+w {GIT}/objects/pack; rm -rf {GIT}/objects/pack/*",
    "objects are borrowed": f"mkdir -p {GIT}/objects/info; echo /tmp > {GIT}/objects/info/alternates",
    "the main checkout is reset": 'git -C "$TOP" rm -q -f code.py',
    # out of the namespace
    "the namespaces of the bot are entered": 'nsenter -t $BOT -m touch "$MARK"',
}  # fmt: skip
OF_ROOT = ["the namespaces of the bot are entered"]
"""What an ordinary user cannot do anyhow."""


@pytest.mark.covers("G-RULE-TRUST-1")
@pytest.mark.tmux
async def test_nobody_gets_out(jail: Jail) -> None:
    got_out: list[str] = []
    async with peopled(jail):
        before = jail.outside()
        for attack, script in ATTACKS.items():
            said = await jail.run(script)
            if CANARY in said.text or jail.mark.exists() or _seen(jail) != before:
                got_out.append(f"{attack}: {said.text}")
    assert got_out == []


async def test_no_folder_can_be_made_that_says_what_the_next_one_sees(jail: Jail) -> None:
    """A store that somebody has moved, or made by other means than git, may lack it."""
    info = jail.top / ".git" / "objects" / "info"
    shutil.rmtree(info)
    await jail.run(ATTACKS["objects are borrowed"])
    assert not (info / "alternates").exists()


@pytest.mark.covers("G-RULE-TRUST-1")
@pytest.mark.tmux
async def test_without_the_sandbox_each_of_them_works(jail: Jail) -> None:
    """On one machine after the other, so that none of them stands in another's way."""
    plain = shutil.copytree(jail.folder, jail.folder.with_name("plain"), symlinks=True)
    powerless: list[str] = []
    async with peopled(jail):
        for attack, script in ATTACKS.items():
            shutil.rmtree(jail.folder)
            shutil.copytree(plain, jail.folder, symlinks=True)
            jail.mark.unlink(missing_ok=True)
            async with bot_of(jail):
                before = jail.outside()
                said = await jail.run(script, sandboxed=False)
                got_out = CANARY in said.text or jail.mark.exists() or _seen(jail) != before
                if not got_out and attack not in OF_ROOT:
                    powerless.append(f"{attack}: {said.text}")
    assert powerless == []


def _seen(jail: Jail) -> object:
    """None: so broken that git does not know the repository any more."""
    try:
        return jail.outside()
    except (OSError, subprocess.CalledProcessError):
        return None


ROOT_IN_THERE = (
    "unshare -Ur true && echo NESTED; "
    'unshare -Urm sh -c \'umount -l "$USER_HOME"; umount -l "$TOP/.git"; mount -o remount,rw,bind "$TOP/.git"; '
    'echo evil > "$TOP/.git/hooks/pre-commit"; cat "$USER_HOME/.ssh/id_ed25519" "$BOT_HOME/.env"\'; '
    'mount -o remount,rw,bind "$TOP/.git"; umount "$TOP/.git"; echo evil >> "$TOP/.git/config"'
)


async def test_mounts_cannot_be_undone_from_within(jail: Jail) -> None:
    before = jail.outside()
    said = await jail.run(ROOT_IN_THERE)
    assert CANARY not in said.text
    assert jail.outside() == before


async def test_nothing_outlives_the_program_it_was_put_around(jail: Jail) -> None:
    """Not even what has left its session, its terminal and its environment."""
    script = 'env -i setsid nohup sh -c "sleep 86398; touch $MARK" >/dev/null 2>&1 & sleep 0.1'
    said = await jail.run(
        f"{script}; env -i setsid sh -c 'exec sleep 86399' >/dev/null 2>&1 & exit 7"
    )
    assert said.code == 7
    await until(lambda: not _sleeping("86399") and not _sleeping("86398"))
    assert not jail.mark.exists()


def _sleeping(seconds: str) -> list[int]:
    found = psutil.process_iter(["pid", "cmdline"])
    return [one.pid for one in found if (one.info["cmdline"] or [])[-2:] == ["sleep", seconds]]
