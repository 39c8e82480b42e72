"""What a repository looks like at one commit. Its rule: from git objects, bounded in files, bytes and seconds, and never through a symbolic link."""

from __future__ import annotations

import asyncio

from adapters.git.build_systems import (
    ENVIRONMENTS,
    MANIFESTS,
    command_of_all,
    is_test,
    projects_of,
    set_up_of_all,
)
from adapters.git.place import Place, is_there
from adapters.git.run import Git
from adapters.git.scan.contents import Wanted, contents
from adapters.git.scan.listing import Listing, listed
from adapters.git.scan.telling import conventions, folders_of, overview, sections, specs, tree
from bot.domain.world import BuildSystem, Project, Scan

__all__ = ["SECONDS", "scanned"]

SECONDS = 20.0
META = 8_000
EXCERPT = 2_000


async def scanned(git: Git, place: Place, commit: str, deadline: float) -> Scan:
    """`deadline` is a time of the running loop. TimeoutError: not even the list of files was there by then."""
    async with asyncio.timeout_at(deadline):
        listing = await listed(git, place, commit)
    # tens of thousands of paths take long enough to keep others waiting
    wanted = await asyncio.to_thread(Wanted.of, listing)
    texts, whole = await contents(git, place, listing, wanted, deadline)
    environments = await asyncio.to_thread(_environments, place, ["", *wanted.projects])
    return await asyncio.to_thread(_told, commit, listing, wanted, texts, environments, whole)


def _environments(place: Place, folders: list[str]) -> list[str]:
    """Git ignores these, so they are in no commit: that they are there is all that is looked at."""
    names = [f"{folder}/{name}".lstrip("/") for folder in folders for name in ENVIRONMENTS]
    return [name for name in names if is_there(place.top / name)]


def _told(
    commit: str,
    listing: Listing,
    wanted: Wanted,
    texts: dict[str, str],
    environments: list[str],
    whole: bool,
) -> Scan:
    paths = list(listing.blobs)
    projects = projects_of([*paths, *environments], texts, wanted.projects)
    folders = folders_of(paths)
    command = command_of_all(projects, listing.blobs.keys(), texts)
    rules, all_rules = conventions(listing.blobs.keys(), texts)
    return Scan(
        commit=commit,
        conventions=rules,
        directory_tree=tree(paths, folders),
        build_system=_main_system(projects),
        test_command=command,
        set_up=set_up_of_all(projects),
        has_tests=bool(command) or any(map(is_test, paths)),
        projects=projects,
        project_meta=_meta(projects, texts),
        specs_summary=specs(listing.blobs.keys(), texts),
        source_overview=overview(paths, folders, texts),
        files=len(paths),
        truncated=listing.cut or not whole or not all_rules,
    )


def _main_system(projects: tuple[Project, ...]) -> BuildSystem:
    """The top's; where the top has none, that of the first project."""
    return next(
        (one.build_system for one in projects if one.build_system is not BuildSystem.OTHER),
        BuildSystem.OTHER,
    )


def _meta(projects: tuple[Project, ...], texts: dict[str, str]) -> str:
    folders = ["" if one.path == "." else f"{one.path}/" for one in projects]
    names = [folder + name for folder in folders for name in MANIFESTS]
    return sections(names, {key: text[:EXCERPT] for key, text in texts.items()})[:META]
