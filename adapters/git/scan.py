"""What a repository looks like at one commit. Its rule: from git objects, bounded, and never through a symbolic link."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from adapters.git.build_systems import MANIFESTS, recognised
from adapters.git.place import Place
from adapters.git.run import Git
from bot.domain.world import Scan

FILE_LIMIT = 64 * 1024
TOTAL_LIMIT = 512 * 1024
LARGEST = 1024 * 1024
"""A file larger than this is not even begun."""
ENTRIES = 50_000
LISTING_LIMIT = 16 * 1024 * 1024
TREE_LINES = 400
TREE_DEPTH = 3
EXCERPT = 2_000

CONVENTIONS = ("CLAUDE.md", "AGENTS.md", "CONTRIBUTING.md", ".specify/memory/constitution.md")
READMES = ("README.md", "README.rst", "README.txt", "README")
_SPEC = re.compile(r"specs/([^/]+)/spec\.md")
_ENTRY_POINT = re.compile(
    r"(?:^|/)(?:main|index|app|server|cli|lib|mod|__main__|manage)\."
    r"(?:py|rs|go|js|mjs|ts|tsx|rb|java|kt|c|cc|cpp|cs)$"
)
_REGULAR = ("100644", "100755")


@dataclass(frozen=True)
class Listed:
    """A regular file of the commit."""

    path: str
    blob: str
    size: int


async def scanned(git: Git, place: Place, commit: str) -> Scan:
    files, cut = await _listing(git, place, commit)
    texts, shortened = await _texts(git, place, files)
    paths = [file.path for file in files]
    manifests = {name: texts[name] for name in MANIFESTS if name in texts}
    system, test_command = recognised(frozenset(paths), manifests)
    return Scan(
        commit=commit,
        conventions=_sections(CONVENTIONS, texts),
        directory_tree=_tree(paths),
        build_system=system,
        test_command=test_command,
        project_meta=_sections(MANIFESTS, {key: text[:EXCERPT] for key, text in manifests.items()}),
        specs_summary=_specs(texts),
        source_overview=_overview(paths, texts),
        files=len(files),
        truncated=cut or shortened,
    )


async def _listing(git: Git, place: Place, commit: str) -> tuple[list[Listed], bool]:
    """The regular files, and whether there are more. Symbolic links and submodules are left out."""
    answer = await git.read(
        *("ls-tree", "-r", "-l", "-z", "--full-tree", commit), at=place, limit=LISTING_LIMIT
    )
    entries = answer.out.split(b"\0")[:-1]
    files: list[Listed] = []
    for entry in entries[:ENTRIES]:
        facts, _, path = entry.decode("utf-8", "replace").partition("\t")
        mode, _, blob, size = facts.split()
        if mode in _REGULAR:
            files.append(Listed(path, blob, int(size)))
    return files, answer.truncated or len(entries) > ENTRIES


async def _texts(git: Git, place: Place, files: list[Listed]) -> tuple[dict[str, str], bool]:
    """The contents of the files that matter, most important first, until the limit is reached."""
    chosen: list[Listed] = []
    room, shortened = TOTAL_LIMIT, False
    for file in _wanted(files):
        shortened = shortened or file.size > FILE_LIMIT
        needed = min(file.size, FILE_LIMIT)
        if file.size > LARGEST or needed > room:
            shortened = True
            continue
        room -= needed
        chosen.append(file)
    blobs = await _contents(git, place, [file.blob for file in chosen])
    texts = {file.path: _text(blobs[file.blob]) for file in chosen if file.blob in blobs}
    return texts, shortened


def _wanted(files: list[Listed]) -> list[Listed]:
    by_path = {file.path: file for file in files}
    names = [*CONVENTIONS, *MANIFESTS, *READMES]
    specs = [file.path for file in files if _SPEC.fullmatch(file.path)]
    return [by_path[name] for name in (*names, *specs) if name in by_path]


async def _contents(git: Git, place: Place, blobs: list[str]) -> dict[str, bytes]:
    if not blobs:
        return {}
    answer = await git.read(
        *("cat-file", "--batch"), at=place, stdin="".join(f"{blob}\n" for blob in blobs).encode()
    )
    contents: dict[str, bytes] = {}
    rest = answer.out
    while rest:
        header, _, rest = rest.partition(b"\n")
        blob, kind, *size = header.decode().split()
        if kind != "blob":  # "<id> missing": a damaged repository
            continue
        length = int(size[0])
        contents[blob], rest = rest[:length], rest[length + 1 :]
    return contents


def _text(content: bytes) -> str:
    return content[:FILE_LIMIT].decode("utf-8", "replace").replace("\0", "\ufffd")


def _sections(names: Iterable[str], texts: Mapping[str, str]) -> str:
    return "\n\n".join(f"## {name}\n{texts[name].strip()}" for name in names if name in texts)


def _tree(paths: list[str]) -> str:
    """Directories down to TREE_DEPTH with their files; what lies deeper is counted."""
    shown: dict[str, int] = {}
    for path in paths:
        parts = PurePosixPath(path).parts
        if len(parts) <= TREE_DEPTH:
            shown[path] = 0
        else:
            deep = "/".join(parts[:TREE_DEPTH]) + "/"
            shown[deep] = shown.get(deep, 0) + 1
    lines = [f"{path} ({count} files)" if count else path for path, count in sorted(shown.items())]
    if len(lines) > TREE_LINES:
        lines = [*lines[:TREE_LINES], f"… and {len(lines) - TREE_LINES} more"]
    return "\n".join(lines)


def _specs(texts: Mapping[str, str]) -> str:
    lines: list[str] = []
    for path, text in sorted(texts.items()):
        if spec := _SPEC.fullmatch(path):
            heading = next((line for line in text.splitlines() if line.startswith("# ")), "")
            lines.append(f"- {spec[1]}: {heading.removeprefix('# ').strip()[:200]}")
    return "\n".join(lines)


def _overview(paths: list[str], texts: Mapping[str, str]) -> str:
    """Entry points, modules by size, kinds of files, and how the README begins."""
    entries = [path for path in paths if _ENTRY_POINT.search(path)][:30]
    modules = Counter(path.partition("/")[0] + "/" for path in paths if "/" in path)
    kinds = Counter(PurePosixPath(path).suffix for path in paths)
    readme = next((texts[name] for name in READMES if name in texts), "")
    parts = {
        "Entry points": "\n".join(entries),
        "Directories": _counted(modules),
        "Kinds of files": _counted(kinds),
        "README": readme.strip()[:EXCERPT],
    }
    return "\n\n".join(f"## {title}\n{text}" for title, text in parts.items() if text)


def _counted(counter: Counter[str]) -> str:
    return "\n".join(f"{name} {count}" for name, count in counter.most_common(20) if name)
