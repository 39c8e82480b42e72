"""The files that the page ships to browsers."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from adapters.local.page import server
from tests.test_house import ROOT

STATIC = Path(server.__file__).parent / "static"


def test_the_browser_libraries_are_the_files_their_makers_ship() -> None:
    told = json.loads((STATIC / "vendor" / "shipped.json").read_text())
    there = {path.name for path in (STATIC / "vendor").iterdir()} - {"shipped.json"}
    assert there == set(told["files"]) | {one["licence"] for one in told["libraries"]}
    for name, digest in told["files"].items():
        assert hashlib.sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() == digest


def test_the_scripts_of_the_page_use_nothing_that_its_policy_forbids() -> None:
    forbidden = re.compile(
        r"\binnerHTML\b *=|\beval\(|new Function|insertAdjacentHTML|document\.write"
    )
    scripts = list(STATIC.glob("*.js"))
    assert scripts
    assert [path.name for path in scripts if forbidden.search(path.read_text())] == []


def test_a_bot_whose_page_nobody_has_opened_loads_nothing_of_it() -> None:
    says = "import sys, bot.cli.serve, bot.cli.console; print(sorted({'aiohttp', 'jinja2'} & set(sys.modules)))"
    told = subprocess.run(
        [sys.executable, "-c", says], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "[]"
