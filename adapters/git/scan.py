"""Describes a repository at one commit for the model: its conventions, tree, specs, sources and test command.

It reads git objects only, within limits of files, bytes and seconds, and never follows a symbolic link.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.git.build_systems import ENVIRONMENTS
from adapters.git.layout import GitCheckout, path_exists
from adapters.git.projects import (
    MANIFESTS,
    combined_set_up,
    combined_test_command,
    find_projects,
    is_test,
    project_manifests,
)
from adapters.git.run import Git
from bot.core.git import BuildSystem, Project, Scan

SCAN_SECONDS = 20.0
LONGEST_MANIFESTS = 8_000
MANIFEST_EXCERPT = 2_000


async def scan_commit(git: Git, checkout: GitCheckout, commit: str, deadline: float) -> Scan:
    """Scan a commit.

    `deadline`: a time of the running loop. Raises TimeoutError if not even the list of files was read by then.
    """
    async with asyncio.timeout_at(deadline):
        listing = await list_files(git, checkout, commit)
    # with tens of thousands of paths this would block the event loop
    wanted = await asyncio.to_thread(WantedFiles.of, listing)
    texts, whole = await read_contents(git, checkout, listing, wanted, deadline)
    environments = await asyncio.to_thread(_environments, checkout, ["", *wanted.projects])
    return await asyncio.to_thread(
        _compose_scan, commit, listing, wanted, texts, environments, whole
    )


def _environments(place: GitCheckout, folders: list[str]) -> list[str]:
    # Git ignores virtual environments, so no commit contains them; only their existence in the checkout is checked.
    names = [f"{folder}/{name}".lstrip("/") for folder in folders for name in ENVIRONMENTS]
    return [name for name in names if path_exists(place.top / name)]


def _compose_scan(
    commit: str,
    listing: FileListing,
    wanted: WantedFiles,
    texts: dict[str, str],
    environments: list[str],
    whole: bool,
) -> Scan:
    paths = list(listing.blobs)
    projects = find_projects([*paths, *environments], texts, wanted.projects)
    folders = files_per_folder(paths)
    command = combined_test_command(projects, listing.blobs.keys(), texts)
    rules, all_rules = conventions(listing.blobs.keys(), texts)
    return Scan(
        commit=commit,
        conventions=rules,
        directory_tree=tree_lines(paths, folders),
        build_system=_main_system(projects),
        test_command=command,
        set_up=combined_set_up(projects),
        has_tests=bool(command) or any(map(is_test, paths)),
        projects=projects,
        project_meta=_meta(projects, texts),
        specs_summary=spec_list(listing.blobs.keys(), texts),
        source_overview=overview(paths, folders, texts),
        files=len(paths),
        truncated=listing.cut or not whole or not all_rules,
    )


def _main_system(projects: tuple[Project, ...]) -> BuildSystem:
    """Return the build system of the top or, if it has none, that of the first project."""
    return next(
        (one.build_system for one in projects if one.build_system is not BuildSystem.OTHER),
        BuildSystem.OTHER,
    )


def _meta(projects: tuple[Project, ...], texts: dict[str, str]) -> str:
    folders = ["" if one.path == "." else f"{one.path}/" for one in projects]
    names = [folder + name for folder in folders for name in MANIFESTS]
    return sections(names, {key: text[:MANIFEST_EXCERPT] for key, text in texts.items()})[
        :LONGEST_MANIFESTS
    ]


# The list of a commit's files: regular files only, so that nothing read later leads anywhere else.

MAX_ENTRIES = 50_000
LISTING_LIMIT = 16 * 1024 * 1024
_REGULAR_FILE_MODE = "100"
"""Beginning of the mode of regular files, unlike symbolic links and submodules."""
_BLOB = len("100644 blob ")


@dataclass(frozen=True)
class FileListing:
    blobs: dict[str, str]
    """Path → blob, in git's order."""
    cut: bool
    """Whether the list was truncated."""


async def list_files(git: Git, place: GitCheckout | Path, commit: str) -> FileListing:
    # without -l, which looks up the size of every blob and takes three times as long
    answer = await git.read(
        *("ls-tree", "-r", "-z", "--full-tree", commit), at=place, limit=LISTING_LIMIT
    )
    return await asyncio.to_thread(_read_listing, answer.out, answer.truncated)


def _read_listing(out: bytes, truncated: bool) -> FileListing:
    entries = out.decode("utf-8", "replace").split("\0")[:-1]
    parts = (
        entry.partition("\t")
        for entry in entries[:MAX_ENTRIES]
        if entry.startswith(_REGULAR_FILE_MODE)
    )
    blobs = {path: facts[_BLOB:] for facts, _, path in parts}
    return FileListing(blobs, truncated or len(entries) > MAX_ENTRIES)


# The parts of the description as text, short enough for every prompt.

CONVENTION_FILES = ("CLAUDE.md", "AGENTS.md", "CONTRIBUTING.md", ".specify/memory/constitution.md")
READMES = ("README.md", "README.rst", "README.txt", "README")
SPEC_PATH = re.compile(r"specs/([^/]+)/spec\.md")

MAX_CONVENTION_LENGTH = 8_000
MAX_CONVENTIONS_LENGTH = 16_000
"""Characters of all conventions together: they are part of every agent's prompt."""
TREE_LINES = 400
TREE_DEPTH = 3
MAX_LINE_LENGTH = 240
"""The most characters per line: git accepts names of any length."""
README_EXCERPT = 2_000
MAX_ENTRY_POINTS = 30
MAX_SPEC_LINES = 200
MOST_COUNTED = 20

_KIND = re.compile(r"\.[^/]+")
_ENTRY_NAMES = frozenset(
    {"main", "index", "app", "server", "cli", "lib", "mod", "__main__", "manage"}
)
_ENTRY_KINDS = frozenset(
    {*("py", "rs", "go", "js", "mjs", "ts", "tsx"), *("rb", "java", "kt", "c", "cc", "cpp", "cs")}
)


def conventions(paths: Collection[str], texts: Mapping[str, str]) -> tuple[str, bool]:
    """Return the conventions and whether they are complete. Missing parts are marked in the text."""
    parts: list[str] = []
    room, whole = MAX_CONVENTIONS_LENGTH, True
    for name in CONVENTION_FILES:
        if name not in paths:
            continue
        text = texts.get(name, "").strip()
        kept = text[: min(MAX_CONVENTION_LENGTH, room)]
        room -= len(kept)
        if name not in texts or len(kept) < len(text):
            whole = False
            kept = f"{kept}\n[… shortened: read the file {name} itself before you begin]".strip()
        parts.append(f"## {name}\n{kept}")
    return "\n\n".join(parts), whole


def sections(names: Iterable[str], texts: Mapping[str, str]) -> str:
    return "\n\n".join(f"## {name}\n{texts[name].strip()}" for name in names if name in texts)


def tree_lines(paths: Iterable[str], folders: Mapping[str, int]) -> str:
    """Return directories down to TREE_DEPTH with their files; deeper ones are counted."""
    shown = Counter({path: 0 for path in paths if path.count("/") < TREE_DEPTH})
    for folder, count in folders.items():
        if folder.count("/") >= TREE_DEPTH:
            shown["/".join(folder.split("/", TREE_DEPTH)[:TREE_DEPTH]) + "/"] += count
    lines = [
        _printable(f"{path} ({count} files)" if count else path)
        for path, count in sorted(shown.items())[:TREE_LINES]
    ]
    if len(shown) > TREE_LINES:
        lines.append(f"… and {len(shown) - TREE_LINES} more")
    return "\n".join(lines)


def files_per_folder(paths: Iterable[str]) -> Mapping[str, int]:
    """Return the number of files per directory; names end with /, that of the top is empty."""
    return Counter(path[: path.rfind("/") + 1] for path in paths)


def spec_list(paths: Iterable[str], texts: Mapping[str, str]) -> str:
    """Return id and title of each spec; one that was not read has no title."""
    found = sorted(
        path for path in paths if path.startswith("specs/") and SPEC_PATH.fullmatch(path)
    )
    lines = [_spec_line(path, texts.get(path, "")) for path in found[:MAX_SPEC_LINES]]
    if len(found) > MAX_SPEC_LINES:
        lines.append(f"… and {len(found) - MAX_SPEC_LINES} more")
    return "\n".join(lines)


def overview(paths: Collection[str], folders: Mapping[str, int], texts: Mapping[str, str]) -> str:
    """Return entry points, modules by size, kinds of files, and the beginning of the README."""
    modules: Counter[str] = Counter()
    for folder, count in folders.items():
        modules[folder[: folder.find("/") + 1]] += count
    kinds = Counter(path[path.rfind(".") :] for path in paths)
    readme = next((texts[name] for name in READMES if name in texts), "")
    parts = {
        "Entry points": "\n".join(map(_printable, _entry_points(paths))),
        "Directories": _counted(modules),
        "Kinds of files": _counted({kind: kinds[kind] for kind in kinds if _KIND.fullmatch(kind)}),
        "README": readme.strip()[:README_EXCERPT],
    }
    return "\n\n".join(f"## {title}\n{text}" for title, text in parts.items() if text)


def _spec_line(path: str, text: str) -> str:
    name = path.split("/")[1]
    heading = next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), "")
    title = heading.removeprefix("Feature Specification:").strip()[:200]
    return _printable(f"- {name}: {title}" if title else f"- {name}")


def _entry_points(paths: Iterable[str]) -> list[str]:
    """Return the entry points nearest to the top."""
    named = [
        path for path in paths if path[path.rfind("/") + 1 :].partition(".")[0] in _ENTRY_NAMES
    ]
    found = [path for path in named if path.rpartition("/")[2].partition(".")[2] in _ENTRY_KINDS]
    return sorted(found, key=lambda path: path.count("/"))[:MAX_ENTRY_POINTS]


def _counted(counts: Mapping[str, int]) -> str:
    most = Counter(counts).most_common(MOST_COUNTED)
    return "\n".join(f"{_printable(name)} {count}" for name, count in most if name)


def _printable(line: str) -> str:
    # A file name may contain anything but / and NUL and have any length, so it must not form lines of its own.
    if len(line) > MAX_LINE_LENGTH:
        line = f"{line[: MAX_LINE_LENGTH // 2]}…{line[-MAX_LINE_LENGTH // 2 :]}"
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in line)


# The contents of relevant files, the most important first, until the room or the time is used up.

FILE_LIMIT = 64 * 1024
TOTAL_LIMIT = 512 * 1024
MAX_FILE_BYTES = 1024 * 1024
"""Larger files are not read at all."""
MOST_SPECS = 100


@dataclass(frozen=True)
class WantedFiles:
    """The listed files that are read."""

    first: list[str]
    then: list[str]
    projects: list[str]
    """The directories below the top that look like projects."""

    @classmethod
    def of(cls, listing: FileListing) -> WantedFiles:
        first = [
            name for name in (*CONVENTION_FILES, *MANIFESTS, *READMES) if name in listing.blobs
        ]
        below = project_manifests(listing.blobs)
        manifests = [path for paths in below.values() for path in paths]
        specs = [path for path in listing.blobs if path.startswith("specs/")]
        specs = [path for path in specs if re.fullmatch(SPEC_PATH, path)][:MOST_SPECS]
        return cls(first, manifests + specs, list(below))


async def read_contents(
    git: Git, place: GitCheckout, listing: FileListing, wanted: WantedFiles, deadline: float
) -> tuple[dict[str, str], bool]:
    """Return the texts by path, and whether none was truncated or left out."""
    texts: dict[str, str] = {}
    try:
        async with asyncio.timeout_at(deadline):
            paths = wanted.first + wanted.then
            sizes = await _sizes(git, place, [listing.blobs[path] for path in paths])
            chosen, whole = _choose_files(paths, listing, sizes)
            # in two steps, so that the most important files are read when the time is up
            for step in (wanted.first, wanted.then):
                texts |= await _texts(
                    git, place, {path: listing.blobs[path] for path in step if path in chosen}
                )
    except TimeoutError:
        whole = False
    return texts, whole


def _choose_files(
    paths: Sequence[str], listing: FileListing, sizes: dict[str, int]
) -> tuple[frozenset[str], bool]:
    chosen: list[str] = []
    room, whole = TOTAL_LIMIT, True
    for path in paths:
        size = sizes.get(listing.blobs[path], MAX_FILE_BYTES + 1)
        needed = min(size, FILE_LIMIT)
        whole = whole and size <= FILE_LIMIT
        if size > MAX_FILE_BYTES or needed > room:
            whole = False
            continue
        room -= needed
        chosen.append(path)
    return frozenset(chosen), whole


async def _sizes(git: Git, place: GitCheckout, blobs: list[str]) -> dict[str, int]:
    # Blobs missing in a damaged repository are left out.
    if not blobs:
        return {}
    answer = await git.read("cat-file", "--batch-check", at=place, stdin=_lines(blobs))
    told = [line.split() for line in answer.text.splitlines()]
    return {facts[0]: int(facts[2]) for facts in told if facts[1] == "blob"}


async def _texts(git: Git, place: GitCheckout, files: dict[str, str]) -> dict[str, str]:
    if not files:
        return {}
    blobs = [*files.values()]
    answer = await git.read("cat-file", "--batch", at=place, stdin=_lines(blobs))
    found = _split(answer.out)
    return {path: _text(found[blob]) for path, blob in files.items() if blob in found}


def _split(out: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        blob, kind, *size = out[at:end].decode().split()
        at = end + 1
        if kind == "blob":
            found[blob] = out[at : at + min(int(size[0]), FILE_LIMIT)]
            at += int(size[0]) + 1
    return found


def _lines(blobs: Sequence[str]) -> bytes:
    return "".join(f"{blob}\n" for blob in blobs).encode()


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\0", "\ufffd")
