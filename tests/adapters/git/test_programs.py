"""Programs of the repository that a person's own configuration names: an agent's copy of one never runs in the bot's git."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.git import GitRepository, GitWorktrees
from bot.cli.process import absolute_search_path
from bot.core.errors import PortError, Refused
from tests.adapters.git.hostile import Scene, every_call
from tests.adapters.git.worlds import PEOPLE, git, write
from tests.faults.figures import every_day

TOOLS = ("clean.sh", "merge.sh", "show.sh", "process.sh", "hooks/post-checkout", "hooks/pre-commit")
MODULE = "helper.py"
NO_FILTER = (
    "#!/bin/sh\nprintf '0016git-filter-server\\n000eversion=2\\n00000000'; exec cat >/dev/null\n"
)
"""Speaks git's protocol, and says that it can do nothing."""
PLAIN = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "commit.gpgSign=false"),
)
MERGE = '#!/bin/sh\ngit merge-file --union -q -- "$2" "$1" "$3"\n'


@dataclass(frozen=True)
class Way:
    """Settings that are harmless as long as what they name is the person's."""

    name: str
    settings: dict[str, str]
    by_hand: bool = True
    """Whether a person's plain git runs it in an agent's worktree: what nothing runs would prove nothing."""


def both(command: str) -> dict[str, str]:
    return {"filter.z.clean": command, "filter.z.smudge": command}


def driver(command: str) -> dict[str, str]:
    return {"merge.z.driver": command}


WAYS = [
    Way("a script", both("tools/clean.sh")),
    Way("a script by a dot", both("./tools/clean.sh %f")),
    Way("a script by a shell", both("sh tools/clean.sh")),
    Way("a script that must not fail", {**both("tools/clean.sh"), "filter.z.required": "true"}),
    Way("a script in its folder", both("cd tools && ./clean.sh")),
    Way("a script that is sourced", both(". tools/clean.sh")),
    Way("a script at the top", both('"$(git rev-parse --show-toplevel)"/tools/clean.sh')),
    Way("a script of the work tree", both('"${GIT_WORK_TREE:-.}/tools/clean.sh"')),
    Way("a script in a pipe", both("cat | tools/clean.sh")),
    Way("a script by the search path", both("clean.sh 2>/dev/null || cat")),
    Way("a module", both("python3 -m helper")),
    Way("a module that is imported", both("python3 -c 'import helper'")),
    Way("a filter that goes on", {"filter.z.process": "tools/process.sh"}),
    Way("a filter with an odd name", {"filter.a=b.clean": "tools/clean.sh"}),
    Way("a filter in small and capital letters", {"Filter.z.CLEAN": "tools/clean.sh"}),
    Way("a filter while merging", {**both("tools/clean.sh"), "merge.renormalize": "true"}),
    Way("a driver", driver("tools/merge.sh %O %A %B")),
    Way("a driver by a shell", driver("sh tools/merge.sh %O %A %B")),
    Way("a driver by the search path", driver("merge.sh %O %A %B")),
    Way("a driver in a line of a shell", driver("cd tools && ./merge.sh ../%O ../%A ../%B")),
    Way("a driver at the top", driver("$(git rev-parse --show-toplevel)/tools/merge.sh %O %A %B")),
    Way("a driver as a module", driver("python3 -m helper %O %A %B")),
    Way("a driver for everything", {**driver("tools/merge.sh %O %A %B"), "merge.default": "z"}),
    Way("a diff", {"diff.external": "tools/show.sh"}),
    Way("a diff of some files", {"diff.z.command": "tools/show.sh"}),
    Way("a text of some files", {"diff.z.textconv": "tools/show.sh"}),
    Way("hooks", {"core.hooksPath": "tools/hooks"}),
    Way("a monitor", {"core.fsmonitor": "tools/show.sh"}),
    Way("a signature", {"gpg.program": "tools/show.sh", "commit.gpgSign": "true"}),
    Way("an editor", {"core.editor": "tools/show.sh", "sequence.editor": "tools/show.sh"}, False),
    Way("a pager", {"core.pager": "tools/show.sh", "pager.log": "tools/show.sh"}, False),
    Way("a key", {"credential.helper": "!tools/show.sh", "core.askPass": "tools/show.sh"}, False),
    Way("a connection", {"core.sshCommand": "tools/show.sh", "core.gitProxy": "tools/show.sh"}, False),
    Way("other objects", {"core.alternateRefsCommand": "tools/show.sh"}, False),
    Way("an alias", {"alias.status": "!tools/show.sh", "alias.merge": "!tools/show.sh"}, False),
    Way("a trailer", {"trailer.z.command": "tools/show.sh", "trailer.z.key": "Z"}, False),
]  # fmt: skip


EVERY_DAY = (
    *("a script", "a script by the search path", "a module", "a filter that goes on", "a driver"),
    *("a filter while merging", "a diff of some files", "hooks", "a pager"),
)
"""One for each thing that git runs; the many ways to write its command are tried by `make faults`."""


def some_ways(ways: Sequence[Way]) -> list[object]:
    chosen = [way for way in ways if way.name in EVERY_DAY]
    return every_day(chosen, [way for way in ways if way.name not in EVERY_DAY])


def program(path: Path, text: str) -> None:
    write(path.parent, {path.name: text})
    path.chmod(0o755)


class Home(Scene):
    """A person's repository with programs of its own. `change` is what an agent does to them."""

    def __init__(self, directory: Path, settings: dict[str, str], also: Path | None = None) -> None:
        """`also`: where programs are looked for, too."""
        directory.mkdir(exist_ok=True)
        super().__init__(directory)
        self._program("clean.sh", "#!/bin/sh\ncat\n")
        for name in ("show.sh", "hooks/post-checkout", "hooks/pre-commit"):
            self._program(name, "#!/bin/sh\nexit 0\n")
        self._program("merge.sh", MERGE)
        self._program("process.sh", NO_FILTER)
        names = {f"{name}.txt": f"{name}\n" for name in "abz"}
        marks = "*.txt filter=z diff=z merge=z\nb.txt filter=a=b\n"
        write(self.top, {MODULE: "import sys\n", ".gitattributes": marks, **names})
        git(self.top, "add", "--all")
        git(self.top, "commit", "--quiet", "-m", "tools")
        self.first = git(self.top, "rev-parse", "HEAD")
        search = absolute_search_path(f".:tools:{PEOPLE['PATH']}:{also or ''}")
        environment = {"PATH": search, "HOME": str(directory)}
        self.worktrees = GitWorktrees(directory / "home", environment)
        self.repository = GitRepository(directory / "home", environment)
        for key, value in settings.items():
            self.config(key, value)

    def change(self) -> None:
        """Each program, committed and not; files that the settings are for; and the same on main."""
        evil = f"#!/bin/sh\n/usr/bin/touch {self.marker}\nexec /bin/cat\n"
        for name in TOOLS:
            (self.path / "tools" / name).write_text(evil)
        for name in ("git", "sh", "clean.sh", "merge.sh", "mktemp", "cat"):
            (self.path / name).write_text(evil)
            (self.path / name).chmod(0o755)
        module = f"import pathlib\npathlib.Path({str(self.marker)!r}).touch()\n"
        write(self.path, {MODULE: module, "a.txt": "agent\n", "b.txt": "agent\n"})
        for where, what in ((self.path, "work"), (self.top, "theirs")):
            write(where, {"z.txt": f"{what}\n"})
            git(where, *PLAIN, "add", "--all")
            git(where, *PLAIN, "commit", "--quiet", "-m", what)
        write(self.path, {"a.txt": "agent, once more\n"})
        self.marker.unlink(missing_ok=True)

    def commit_the_rest(self) -> None:
        """And two branches more: one for a merge beside the tree, one that main can be moved to."""
        git(self.path, *PLAIN, "checkout", "--quiet", "--force", "HEAD", "--", ".")
        work, theirs = git(self.path, "rev-parse", "HEAD"), git(self.top, "rev-parse", "main")
        git(self.top, "branch", "agent/before", work)
        tree = git(self.path, "rev-parse", "HEAD^{tree}")
        ahead = git(self.top, "commit-tree", "-m", "both", "-p", theirs, "-p", work, tree)
        git(self.top, "branch", "agent/ahead", ahead)
        self.tips = work, theirs
        self.marker.unlink(missing_ok=True)

    def _program(self, name: str, text: str) -> None:
        program(self.top / "tools" / name, text)


async def changed(directory: Path, way: Way) -> Home:
    home = Home(directory, way.settings)
    await home.prepare()
    home.change()
    return home


def calls_on_a_clean_tree(home: Home) -> list[Callable[[], Awaitable[object]]]:
    """What is refused as long as something is not committed: merging there, beside it, and into the base."""
    top, path, here = str(home.top), str(home.path), home.worktrees
    work, theirs = home.tips
    scratch, other = (str(home.path.with_name(name)) for name in ("scratch", "agent-other-2"))
    return [
        lambda: here.merge(path, "main", "merge"),
        lambda: here.merge_all(top, "main", {"agent/before": work}, scratch),
        lambda: here.remove_scratch(top, scratch),
        lambda: here.prepare(top, "agent/other-2", other, work),
        lambda: here.work(other, theirs),
        lambda: here.remove(top, other, "agent/other-2", None),
        # the last one: from here on it is the person's, who has confirmed it
        lambda: here.move_base(top, "main", "agent/ahead"),
    ]


@pytest.mark.covers("O-X19")
@pytest.mark.parametrize("way", some_ways(WAYS), ids=lambda way: way.name)
async def test_what_an_agent_made_of_a_program_is_run_by_no_call(tmp_path: Path, way: Way) -> None:
    home = await changed(tmp_path, way)
    for number, call in enumerate(every_call(home)):
        with contextlib.suppress(PortError):
            await call()
        assert not home.marker.exists(), f"call {number}"
    home = await changed(tmp_path / "clean", way)
    home.commit_the_rest()
    for number, call in enumerate(calls_on_a_clean_tree(home)):
        with contextlib.suppress(PortError):
            await call()
        assert not home.marker.exists(), f"call {number} on a clean tree"
    assert git(home.top, "rev-parse", "main") == git(home.top, "rev-parse", "agent/ahead")


@pytest.mark.parametrize(
    "way", some_ways([way for way in WAYS if way.by_hand]), ids=lambda way: way.name
)
def test_a_persons_plain_git_would_run_it_there(tmp_path: Path, way: Way) -> None:
    home = asyncio.run(changed(tmp_path, way))
    environment = PEOPLE | {"PATH": f".:tools:{PEOPLE['PATH']}"}
    plain = (
        "g=/usr/bin/git; $g status; $g diff HEAD~1; $g add --all; $g commit -q -m more; "
        "$g diff HEAD~1 -- a.txt; $g merge -q -m m main; rm -f a.txt; $g checkout -f HEAD -- ."
    )
    subprocess.run(
        ["/bin/sh", "-c", plain],
        cwd=home.path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert home.marker.exists()


SMALL, LARGE = "exec tr A-Z a-z", "exec tr a-z A-Z"


@pytest.mark.parametrize("where", ["of the repository", "outside of it", "by the search path"])
async def test_a_filter_gives_what_the_persons_own_would(tmp_path: Path, where: str) -> None:
    top = tmp_path / "50%f of it"
    folder = top / "repository" / "tools" if where == "of the repository" else tmp_path / "bin"
    programs = "tools" if where == "of the repository" else str(folder)
    programs = "" if where == "by the search path" else f"{programs}/"
    home = Home(
        top,
        {"filter.z.clean": f"{programs}small.sh", "filter.z.smudge": f"{programs}large.sh"},
        folder,
    )
    for name, text in (("small.sh", SMALL), ("large.sh", LARGE)):
        program(folder / name, f"#!/bin/sh\n{text}\n")
    git(home.top, *PLAIN, "-c", "filter.z.clean=cat", "add", "--all")
    git(home.top, *PLAIN, "commit", "--quiet", "--allow-empty", "-m", "filters")
    home.first = git(home.top, "rev-parse", "HEAD")
    await home.prepare()
    assert (home.path / "z.txt").read_text() == "Z\n"
    program(home.path / "tools" / "small.sh", "#!/bin/sh\necho evil\n")
    write(home.path, {"z.txt": "ZZ\n"})
    (home.path / "a.txt").touch()
    work = await home.worktrees.work(str(home.path), home.first)
    assert set(work.uncommitted) - {"tools/small.sh"} == {"z.txt"}
    commit = await home.worktrees.commit_files(str(home.path), {"new.txt": "NEW\n"}, "docs: new")
    assert git(home.top, "cat-file", "blob", f"{commit}:new.txt") == "new"


@pytest.mark.parametrize(("command", "merges"), [
    ("tools/merge.sh %O %A %B", True),
    ('"tools/merge.sh" "%O" "%A" "%B"', True),
    ("sh tools/merge.sh %O %A %B", True),
    ("{machine}/merge.sh %O %A %B %P", True),
    ("git merge-file -q --union --marker-size=%L %A %O %B", True),
    ("true", True),
    ("npx merge-lock %O %A %B %P", False),
    ("cd tools && ./merge.sh ../%O ../%A ../%B", False),
    ("tools/not-there.sh %O %A %B", False),
    ("'tools/merge.sh %O %A %B", False),
])  # fmt: skip
async def test_a_driver_merges_from_the_persons_checkout_or_the_files_collide(
    tmp_path: Path, command: str, merges: bool
) -> None:
    machine = tmp_path / "bin"
    program(machine / "merge.sh", MERGE)
    home = Home(tmp_path / "it's 50%O", {"merge.z.driver": command.format(machine=machine)})
    await home.prepare()
    program(home.path / "tools" / "merge.sh", "#!/bin/sh\necho evil > $2\n")
    for where, line in ((home.path, "agent"), (home.top, "person")):
        write(where, {"z.txt": f"{line}\n"})
        git(where, *PLAIN, "commit", "--quiet", "--all", "-m", line)
    before = git(home.top, "status", "--porcelain")
    merged = await home.worktrees.merge(str(home.path), "main", "merge")
    assert merged.conflicts == (() if merges else ("z.txt",))
    wanted = {"true": "agent\n"}.get(command, "agent\nperson\n") if merges else "agent\n"
    assert (home.path / "z.txt").read_text() == wanted
    assert git(home.top, "status", "--porcelain") == before


async def test_a_filter_that_is_not_in_the_persons_checkout_is_told_and_nothing_is_stored(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path, {"filter.z.clean": "tools/clean.sh"})
    await home.prepare()
    (home.top / "tools" / "clean.sh").unlink()
    with pytest.raises(Refused, match=r"`tools/clean\.sh` is not there in") as refused:
        await home.worktrees.commit_files(str(home.path), {"new.txt": "NEW\n"}, "docs: new")
    assert refused.value.remedy
    assert git(home.path, "rev-parse", "HEAD") == home.first


@pytest.mark.covers("O-X19")
async def test_it_is_told_which_programs_of_the_repository_run_where(tmp_path: Path) -> None:
    drivers = {"merge.y.driver": "npx merge-lock %A", "merge.z.driver": "tools/merge.sh %O %A %B"}
    filters = {"filter.z.clean": "tools/clean.sh --key=secret", "filter.u.clean": "tr a-z A-Z"}
    home = Home(tmp_path, {**filters, **drivers})
    own = "I run the copy in your own checkout, outside of the sandbox, never an agent's."
    collide = "where it would be needed, the files count as a collision."
    assert await home.repository.programs(str(home.top)) == (
        f"The git filter z runs `tools/clean.sh` of the repository: {own}",
        f"The git merge driver y depends on the folder it runs in, so I do not run it: {collide}",
        f"The git merge driver z runs `tools/merge.sh` of the repository: {own}",
    )


async def test_a_repository_without_programs_tells_of_none(tmp_path: Path) -> None:
    home = Home(tmp_path, {})
    assert await home.repository.programs(str(home.top)) == ()
