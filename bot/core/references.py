"""What a document says of the repository, so that it can be checked: paths, lines and names, each at one commit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

OWN_FOLDER = "specs/"
"""Where the documents themselves are written."""
MOST_CHECKED = 100
"""Paths, and names, that are looked up for one document."""
_SUFFIX = (
    r"(?:py|pyi|pyx|rs|go|js|mjs|cjs|ts|mts|cts|tsx|jsx|java|kts?|scala|c|h|cc|cpp|hpp|cs|fs|rb|php|swift|vue|svelte|exs?|erl"
    r"|lua|sh|ps1|sql|mm?|dart|hs|ml|clj|groovy|gradle|html?|css|scss|less|graphql|proto|tf|zig|toml|ya?ml|json|md|rst|txt"
    r"|cfg|ini|xml|lock|mk|cmake)"
)
_PATH = re.compile(
    rf"(?<![\w/.:@~-])((?:[\w.@+-]{{1,80}}/){{0,20}}[\w.@+-]{{1,80}}\.{_SUFFIX})\b(?![\w/(])(?::(\d{{1,7}})(?:\s?[-–]\s?(\d{{1,7}}))?)?"
)
_SPAN = re.compile(r"`([^`\n]{2,200})`")
_NAME = re.compile(r"(?:[A-Za-z_]\w{2,80}(?:\.|::))*([A-Za-z_]\w{2,80})(\(\))?")
_NEW = re.compile(
    r"\b(?:new|add(?:s|ed)?|create[sd]?|neue?[rsn]?|nouveau|nouvelle|nuev[oa]|nov[oa])\b|\u65b0|\u8ffd\u52a0|\u4f5c\u6210|\ucd94\uac00|\uc0c8",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reference:
    """A path that a document names, with the lines if it names any."""

    path: str
    first: int = 0
    last: int = 0
    new: bool = False
    """It is said to be new."""

    def __str__(self) -> str:
        lines = f":{self.first}" if self.first else ""
        return f"{self.path}{lines}" + (f"-{self.last}" if self.last > self.first else "")


@dataclass(frozen=True)
class References:
    paths: tuple[Reference, ...]
    names: tuple[str, ...]
    """Functions, classes and the like that are named as code beside a cited line."""

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.path for one in self.paths))


def references_in(markdown: str, *, lines_only: bool = False) -> References:
    """Return the paths and names in a document. What is said to be new once is new everywhere in it.

    `lines_only`: only what is cited with a line, for a document whose other paths may be those of files to be made.
    """
    lines = markdown.splitlines()
    named = [one for line in lines for one in _paths(line)]
    # a bare name such as `views.py` may be any file of that name, and the bot's own folder is not there yet
    found = [
        one
        for one in named
        if (one.first or "/" in one.path) and not one.path.startswith(OWN_FOLDER)
    ]
    if lines_only:
        return References(
            tuple([*dict.fromkeys(one for one in found if one.first)][:MOST_CHECKED]), ()
        )
    # in a drawn tree a new file stands without its folder
    new = {one.path for one in named if one.new}
    kept = dict.fromkeys(
        one for one in found if one.first or not {one.path, one.path.rpartition("/")[2]} & new
    )
    # a plan names much that does not exist yet: a name is held to exist where it stands beside a line of code
    placed = (
        line for line in lines if not _NEW.search(line) and any(p.first for p in _paths(line))
    )
    names = dict.fromkeys(name for line in placed for name in _names(line))
    return References(tuple([*kept][:MOST_CHECKED]), tuple([*names][:MOST_CHECKED]))


def _paths(line: str) -> Iterator[Reference]:
    new = bool(_NEW.search(line))
    for match in _PATH.finditer(line):
        first, last = int(match[2] or 0), int(match[3] or 0)
        if "://" in line[max(0, match.start() - 300) : match.start()].rpartition(" ")[2]:
            continue  # a part of a web address
        yield Reference(match[1].removeprefix("./"), first, max(first, last), new)


def _names(line: str) -> Iterator[str]:
    """Yield names written as code that only a program can mean: `apply_discount`, `OrderTotal`, `total()`."""
    for span in _SPAN.findall(line):
        match = _NAME.fullmatch(span)
        if match and not _PATH.fullmatch(span) and (match[2] or _is_compound(match[1])):
            yield match[1]


def _is_compound(name: str) -> bool:
    inner = name[1:]
    return "_" in name.strip("_") or (inner != inner.lower() and not name.isupper())


def wrong_references(
    found: References, texts: Mapping[str, str], names: Collection[str]
) -> tuple[str, ...]:
    """Return what is wrong, a sentence each. `texts`: the files that exist; `names`: the names that occur somewhere."""
    wrong: list[str] = []
    for one in found.paths:
        text = texts.get(one.path)
        if text is None:
            if not one.new:
                wrong.append(f"there is no file {one.path}")
        elif one.first and one.last > (lines := len(text.splitlines())):
            wrong.append(f"{one} does not exist: the file has {lines} lines")
    wrong += [f"nothing is called {name}" for name in found.names if name not in names]
    return tuple(dict.fromkeys(wrong))
