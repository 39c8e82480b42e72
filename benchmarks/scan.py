"""How long does the bot look at a repository, beside the least: git's own list of the files of that commit?

    python -m benchmarks.scan

Both list one commit of a repository made for it, in turns; the middle of all rounds is shown. The bot also reads the
conventions, the manifests and the specs, and draws what a model is told.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from adapters.git import GitRepository
from benchmarks.ground import GIT, git, on_this_disk, seconds_of
from benchmarks.table import Row, beside, hand_in

SIZES = (1_000, 50_000)
ROUNDS = 9
PER_FOLDER = 40
KINDS = (".py", "_test.py", ".ts", ".test.ts", ".go", ".md", ".json", ".css")
MANIFESTS = {
    "CLAUDE.md": "# Rules\n" + "Keep it simple, and test it first.\n" * 100,
    "README.md": "# Shop\n" + "It sells things to people who want them.\n" * 200,
    "backend/pyproject.toml": "[project]\nname = 'shop'\n[tool.pytest.ini_options]\n",
    "web/package.json": '{"name": "web", "scripts": {"test": "vitest"}}\n',
    "worker/go.mod": "module worker\n",
}


def names(count: int) -> Iterator[str]:
    """Files of several languages, forty in a folder, most of them six folders deep."""
    for number in range(count):
        folder = number // PER_FOLDER
        top = ("backend", "web", "worker")[folder % 3]
        yield f"{top}/part{folder % 11}/src/a{folder % 7}/b{folder}/file{number}{KINDS[number % len(KINDS)]}"


def stream(count: int) -> bytes:
    """One commit for `git fast-import`."""
    texts = {**MANIFESTS, **{f"specs/SPEC-{n:08x}/spec.md": f"# Part {n}\n" for n in range(20)}}
    texts |= {name: f"{name}\n" for name in names(count - len(texts))}
    head = b"commit refs/heads/main\ncommitter Person <person@localhost> 1767225600 +0000\ndata 5\nfirst\n"
    files = (
        b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(text.encode()), text.encode())
        for name, text in texts.items()
    )
    return head + b"".join(files) + b"\n"


def made(top: Path, count: int) -> str:
    """A repository with `count` files and no checkout; its only commit."""
    top.mkdir()
    git(top, "init", "--quiet", "--initial-branch=main")
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=top,
        env=GIT,
        input=stream(count),
        check=True,
    )
    return git(top, "rev-parse", "refs/heads/main")


def seconds_of_the_list(top: Path, commit: str) -> float:
    return seconds_of(lambda: git(top, "ls-tree", "-r", "-z", commit))


async def seconds_of_a_scan(repository: GitRepository, top: Path, commit: str, files: int) -> float:
    start = time.perf_counter()
    scan = await repository.scan(str(top), commit)
    seconds = time.perf_counter() - start
    assert (scan.files, scan.truncated) == (files, False)
    return seconds


async def main() -> None:
    rows = list[Row]()
    with on_this_disk() as folder:
        for size in SIZES:
            top = folder / str(size)
            commit = made(top, size)
            repository = GitRepository(folder / "home")
            scans, lists = list[float](), list[float]()
            for _ in range(ROUNDS):
                scans.append(await seconds_of_a_scan(repository, top, commit, size))
                lists.append(seconds_of_the_list(top, commit))
            what = f"a repository of {size:,} files looked at"
            most = 8 if size == SIZES[-1] else 20
            rows.append(beside("", what, median(scans), median(lists), of="git ls-tree", most=most))
    hand_in(*rows)


if __name__ == "__main__":
    asyncio.run(main())
