"""Answers what the model wants to see of a repository, from the objects of one commit only.

A path is looked up in the list of the commit's regular files and never resolved; files of secrets are not shown; what is
searched for is a fixed text. Nothing is fetched, and no program of the repository is run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from adapters.git.commits import readable
from adapters.git.context import (
    files_about,
    partner_tests,
    read_history,
    read_texts,
)
from adapters.git.layout import GitCheckout
from adapters.git.run import Git
from adapters.git.scan import FileListing, list_files
from adapters.git.sources import is_secret
from bot.core.errors import Refused, Unavailable
from bot.core.looks import (
    MOST_HITS,
    Look,
    LookTool,
    excerpt,
    hits_found,
    listed,
    masked_lines,
    missing,
    outlined,
)

SECONDS = 20.0
SEARCH_BYTES = 256 * 1024
HITS_IN_A_FILE = 5
MOST_SEEN = 2_000
"""Lines of output that are read."""
MOST_COMMITS = 15
RELATED = 10
MOST_NAMES = 100
"""Names that are looked up at once."""
NAMES_BYTES = 4 * 1024 * 1024


class Looks:
    """Looks at one commit. `mask`: what is read of a file is masked as a whole, before any part of it is chosen."""

    def __init__(
        self, git: Git, place: GitCheckout, commit: str, index: Path, mask: Callable[[str], str]
    ) -> None:
        self._git, self._place, self._commit = git, place, commit
        self._index, self._mask = index, mask

    async def answer(self, look: Look) -> str:
        """Return what the model gets to see. Raises Unavailable if it takes too long."""
        try:
            async with asyncio.timeout(SECONDS):
                return self._mask(await self._answer(look))
        except Refused as refusal:
            return f"That cannot be read: {refusal.reason}."
        except TimeoutError as error:
            raise Unavailable(f"reading the repository took more than {SECONDS:g} s") from error

    async def _answer(self, look: Look) -> str:
        listing = await self._listing()
        match look.tool:
            case LookTool.LIST:
                return await asyncio.to_thread(listed, look.path, listing.blobs)
            case LookTool.SEARCH:
                return await self._searched(look, listing)
            case LookTool.HISTORY:
                return await self._history(look)
            case LookTool.OUTLINE | LookTool.READ | LookTool.TESTS:
                if look.path not in listing.blobs:
                    return await asyncio.to_thread(missing, look.path, listing.blobs)
                return await self._of_file(look, listing)

    async def _of_file(self, look: Look, listing: FileListing) -> str:
        if look.tool is LookTool.TESTS:
            history = await read_history(self._git, self._place, self._commit, self._index)
            tests = partner_tests([look.path], listing.blobs, history)
            return "\n".join(tests) or f"No test is known to change together with {look.path}."
        found = await read_texts(self._git, self._place, {look.path: listing.blobs[look.path]})
        if not found or "\ufffd" in found[look.path][:8_000]:
            return f"{look.path} is too large, or is no text."
        text = await asyncio.to_thread(masked_lines, found[look.path], self._mask)
        return outlined(look.path, text) if look.tool is LookTool.OUTLINE else excerpt(look, text)

    async def _listing(self) -> FileListing:
        listing = await list_files(self._git, self._place, self._commit)
        shown = {readable(path): blob for path, blob in listing.blobs.items()}
        return FileListing(
            {path: blob for path, blob in shown.items() if not is_secret(path)}, listing.cut
        )

    async def _searched(self, look: Look, listing: FileListing) -> str:
        text = look.text.strip()
        if not text or "\n" in text:
            return "Search for one line of text."
        hits = await self._lines_with(text, look.path, listing.blobs)
        about = await files_about(self._git, self._place, text, listing.blobs, self._index)
        below = f"{look.path}/" if look.path else ""
        related = [path for path in about if path.startswith(below)][:RELATED]
        return hits_found(text, hits, related)

    async def _lines_with(self, text: str, path: str, blobs: Mapping[str, str]) -> list[str]:
        found = await self._git.read(
            *("grep", "-n", "-I", "-F", "-z", "--full-name", "--no-textconv"),
            *("-e", text, self._commit, *(("--", path) if path else ())),
            at=self._place,
            ok=(0, 1),
            limit=SEARCH_BYTES,
        )
        hits: dict[str, list[int]] = {}
        for line in found.out.decode("utf-8", "replace").split("\n")[:MOST_SEEN]:
            name, _, rest = line.removeprefix(f"{self._commit}:").partition("\0")
            number = rest.partition("\0")[0]
            # a link's text is a blob, too: only regular files that may be shown are in the listing
            if name in blobs and number.isdigit() and len(hits) <= MOST_HITS:
                hits.setdefault(name, []).append(int(number))
        # each file is read and masked as a whole: a line may be the middle of a key
        texts = await read_texts(self._git, self._place, {name: blobs[name] for name in hits})
        return await asyncio.to_thread(self._shown_lines, text, hits, texts)

    def _shown_lines(
        self, text: str, hits: Mapping[str, Sequence[int]], texts: Mapping[str, str]
    ) -> list[str]:
        shown: list[str] = []
        for name in (name for name in hits if name in texts):
            lines = masked_lines(texts[name], self._mask).split("\n")
            there = [number for number in hits[name][:HITS_IN_A_FILE] if number <= len(lines)]
            shown += [
                f"{name}:{number}: {lines[number - 1].strip()}"
                for number in there
                if text in lines[number - 1]
            ]
        return shown

    async def _history(self, look: Look) -> str:
        about = (
            ("--fixed-strings", "-i", f"--grep={look.text.strip()}") if look.text.strip() else ()
        )
        found = await self._git.read(
            *(
                "log",
                f"--max-count={MOST_COMMITS}",
                "--no-merges",
                "--no-ext-diff",
                "--no-textconv",
            ),
            *("--format=%h %as %s", *about, self._commit),
            *(("--", look.path) if look.path else ()),
            at=self._place,
        )
        return readable(found.text) or "No commit was found."

    async def names_known(self, names: Collection[str]) -> frozenset[str]:
        """Return those of the names that occur as a word in some file."""
        asked = [*names][:MOST_NAMES]
        if not asked:
            return frozenset()
        patterns = [part for name in asked for part in ("-e", name)]
        found = await self._git.read(
            *("grep", "-h", "-o", "-I", "-F", "-w", "--no-textconv", *patterns, self._commit),
            at=self._place,
            ok=(0, 1),
            limit=NAMES_BYTES,
        )
        if found.truncated:  # some name is everywhere: nothing can be said of the others
            return frozenset(asked)
        return frozenset(asked) & {*found.out.decode("utf-8", "replace").split("\n")}
