"""The patch between two commits. Its rule: text is shown, whatever the repository says it is.

An attribute or a setting can call any file binary, and who reads the patch would see nothing of what was done to it.
"""

from __future__ import annotations

from adapters.git.place import Place
from adapters.git.run import Git

MOST_HIDDEN = 200
"""Files that are called binary and are looked into. Real ones cost a look, too."""
_PLAIN = (
    *("diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color"),
    *("--submodule=short", "--ignore-submodules=dirty"),
)


class Patches:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def patch(self, at: Place, old: str, new: str, limit: int) -> str:
        """At most `limit` characters: first what git shows by itself, then what was hidden."""
        # a character is four bytes at most
        room = max(limit, 0) * 4 + 1
        shown = (await self._git.read(*_PLAIN, old, new, at=at, limit=room)).out
        for path in await self._called_binary(at, old, new) if len(shown) < room else ():
            shown += await self._as_text(at, old, new, path, room - len(shown))
            if len(shown) >= room:
                break
        return shown.decode("utf-8", "replace")[: max(limit, 0)]

    async def _called_binary(self, at: Place, old: str, new: str) -> list[str]:
        answer = await self._git.read(
            *("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff"),
            *("--no-textconv", "--ignore-submodules=dirty", old, new),
            at=at,
        )
        counted = (entry.split("\t", 2) for entry in answer.fields)
        return [one[2] for one in counted if one[:2] == ["-", "-"]][:MOST_HIDDEN]

    async def _as_text(self, at: Place, old: str, new: str, path: str, room: int) -> bytes:
        """Empty where it is no text indeed."""
        answer = await self._git.read(*_PLAIN, "--text", old, new, "--", path, at=at, limit=room)
        return b"" if b"\0" in answer.out else answer.out
