"""Photographs the catalogue: `python -m tests.looks [folder] [--all]`. With --all also every variant of its words, with
--docs the few of docs/pictures instead."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from tests.looks import gallery
from tests.looks.catalogue import VARIANTS
from tests.looks.chromium import Tab, tab
from tests.looks.page import document

WIDTHS = {"desktop": 720, "narrow": 360}
THEMES = ("light", "dark")
DOCS = Path("docs/pictures")


async def _take(folder: Path, *, all_words: bool) -> int:
    taken = 0
    async with tab() as browser:
        for variant in VARIANTS if all_words else VARIANTS[:1]:
            for rich in (False, True):
                for page in gallery.pages(variant, rich=rich):
                    name = f"{variant.name}-{'rich' if rich else 'plain'}"
                    taken += await _in_every_light(browser, folder / name, page.name, page.inner)
        for name, inner in (
            ("modals", gallery.modals()),
            ("thread", "".join(gallery.thread(rich=True))),
        ):
            taken += await _in_every_light(browser, folder, name, inner)
    return taken


async def _take_for_docs(folder: Path) -> int:
    pictures = {name: gallery.single(state, rich=True) for name, state in gallery.MAIN.items()}
    pictures |= {f"thread-{n}": part for n, part in enumerate(gallery.thread(rich=True), 1)}
    pictures["form"] = gallery.form()
    async with tab() as browser:
        for name, inner in pictures.items():
            scale = 1 if name.startswith("thread") else 1.25
            await browser.size(WIDTHS["desktop"], height=100, scale=scale)
            await browser.show(document(inner, width=WIDTHS["desktop"]))
            await browser.picture(folder / f"{name}.png")
    return len(pictures)


async def _in_every_light(browser: Tab, folder: Path, name: str, inner: str) -> int:
    for screen, width in WIDTHS.items():
        await browser.size(width)
        for theme in THEMES:
            page = document(inner, dark=theme == "dark", width=width)
            await browser.show(page)
            file = f"{name.replace(' ', '-')}.{screen}.{theme}.png"
            await browser.picture(folder / file)
    return len(WIDTHS) * len(THEMES)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", nargs="?", type=Path, default=Path("build/pictures"))
    words.add_argument("--all", action="store_true", help="every variant of the words, too")
    words.add_argument("--docs", action="store_true", help="those of the documentation")
    given = words.parse_args()
    folder = DOCS if given.docs else given.folder
    taking = _take_for_docs(folder) if given.docs else _take(folder, all_words=given.all)
    print(f"{asyncio.run(taking)} pictures in {folder}")  # noqa: T201 - it is a program


if __name__ == "__main__":
    main()
