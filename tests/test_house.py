"""The rules of the house that no tool checks: what is written down about the program is true of it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from pydantic import AliasChoices
from pydantic_settings import SettingsConfigDict

from bot.core.states import Phase
from bot.settings import Settings
from bot.steps.decisions import STEPS

ROOT = Path(__file__).resolve().parents[1]
LONGEST_FUNCTION = 40
READS_JAPANESE = (
    "core/languages.py",
    "steps/approve/rules",
    "steps/clarify/rules",
    "core/choices",
    "core/masking/labels",
    "core/results",
    "core/intent",
    "core/spec_kit/",
)
"""Modules that know Japanese words, because they read what people and models write."""
SHELL = {
    f"bot.core.{one}"
    for one in (
        "actor",
        "desk",
        "gate",
        "live_sessions",
        "overview",
        "projections.console_state_writer",
        "projections.registry_writer",
        "projections.task_log_writer",
        "repositories",
        "repository_queue",
        "retry",
        "rounds",
        "session_commands",
        "session_factory",
        "status_data",
        "world",
    )
} | {
    f"bot.steps.{one}"
    for one in (
        "asking",
        "looking",
        "chat",
        "intents.answers",
        "intents.knowledge",
        "judging",
        "perform",
        "prompt_data",
        "repository_state",
        "specify.breakdown",
        "suite_trials",
        "talk.evidence",
        "trials",
        "workspaces",
    )
}
"""Modules of the core and of the steps that may wait, and use ports; so may each step's `work` and `questions`."""


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def variables() -> set[str]:
    """Every environment variable that is a setting, by the name people write."""
    return {
        _name(name, field.validation_alias).upper() for name, field in Settings.model_fields.items()
    }


def _name(name: str, alias: object) -> str:
    first = alias.choices[0] if isinstance(alias, AliasChoices) else alias
    return first if isinstance(first, str) else name


def sources(*tops: str) -> Iterator[Path]:
    for top in tops:
        yield from sorted((ROOT / top).rglob("*.py"))


def is_module(name: str) -> bool:
    """Whether there is such a module; where a name has a `*`, there must be some."""
    if "*" in name:
        return any(ROOT.glob(name.replace(".", "/") + ".py"))
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def imported(path: Path) -> Iterator[str]:
    """The names of all modules a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_example_settings_name_every_variable_once_and_no_other() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    named = re.findall(r"^(?:# )?([A-Z][A-Z0-9_]+)=", text, re.MULTILINE)
    assert sorted(named) == sorted(variables())


def test_the_example_settings_say_what_each_is_for() -> None:
    blocks = (ROOT / ".env.example").read_text(encoding="utf-8").split("\n\n")
    for block in blocks:
        assert block.lstrip().startswith("# ")


def test_the_example_settings_can_be_used_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in variables():
        monkeypatch.delenv(name, raising=False)
    copy = tmp_path / ".env"
    copy.write_text((ROOT / ".env.example").read_text(encoding="utf-8"), encoding="utf-8")

    class FromCopy(Settings):
        model_config = SettingsConfigDict(env_file=copy)

    example, default = FromCopy().model_dump(), Settings().model_dump()
    assert example == default, "an example shows the defaults"


def test_the_import_rule_names_modules_that_exist() -> None:
    named: list[str] = []
    for contract in project()["tool"]["importlinter"]["contracts"]:
        for layer in contract.get("layers", []):
            named += [name.strip() for name in layer.split("|")]
        named += contract.get("modules", []) + contract.get("source_modules", [])
    assert len(named) > 5
    assert [name for name in named if not is_module(name)] == []


def test_every_adapter_is_in_the_rule_that_keeps_them_apart() -> None:
    rule = next(
        contract
        for contract in project()["tool"]["importlinter"]["contracts"]
        if contract["type"] == "independence"
    )
    ours = {"adapters." + one.stem for one in (ROOT / "adapters").iterdir() if one.name[0] != "_"}
    ours -= {
        "adapters.posting",
        "adapters.bounded_http",
        "adapters.http",
        "adapters.files",
        "adapters.processes",
        "adapters.descendants",
        "adapters.state_files",
    }  # what chats, what HTTP clients, and what all share
    assert sorted(ours) == sorted({name.removesuffix(".*") for name in rule["modules"]})


@pytest.mark.covers("B-LAYOUT")
def test_every_phase_is_decided_in_a_module_of_its_own() -> None:
    assert set(STEPS) == set(Phase)
    modules = [decide.__module__ for decide in STEPS.values()]
    assert len(set(modules)) == len(modules)
    assert all(module.startswith("bot.steps.") for module in modules)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.covers("G-MODULE-5", "B-LAYOUT")
def test_nouns_and_rules_touch_nothing_of_the_world() -> None:
    """They import each other only, so none of them reaches the world through another either."""
    shell = {one for one in map(module_of, sources("bot/core", "bot/steps")) if in_shell(one)}
    touching = ("adapters", "bot.ports", "bot.cli", "bot.settings", *shell)
    touching += ("asyncio", "os", "pathlib.Path", "subprocess", "socket", "time", "random")
    reaching = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources("bot/core", "bot/steps")
        if module_of(path) not in shell
        for name in imported(path)
        if name in touching or name.startswith(tuple(f"{one}." for one in touching))
    ]
    assert reaching == []


def in_shell(module: str) -> bool:
    """Whether a module of the core or of a step may wait, and use ports."""
    return module in SHELL or module.endswith((".work", ".questions"))


@pytest.mark.covers(
    "G-RULE-SPECKIT-1", "G-RULE-SPECKIT-2", "G-RULE-SPECKIT-3", "G-RULE-SPECKIT-4", "G-FR-017"
)
def test_prompts_are_packaged_and_each_is_asked() -> None:
    files = {one.stem for one in (ROOT / "bot" / "prompts").glob("*.md")}
    packaged = {
        one.name.removesuffix(".md")
        for one in resources.files("bot.prompts").iterdir()
        if one.name.endswith(".md")
    }
    wheel = project()["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert files
    assert packaged == files
    assert "bot" in wheel["packages"]
    assert "exclude" not in wheel
    asking = "".join(path.read_text(encoding="utf-8") for path in sources("bot/steps"))
    assert [name for name in sorted(files) if f'"{name}"' not in asking] == []


@pytest.mark.covers("O-C16")
def test_fixed_texts_are_english() -> None:
    japanese = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
    found = [
        str(path.relative_to(ROOT))
        for path in sources("bot")
        if not str(path.relative_to(ROOT / "bot")).startswith(READS_JAPANESE)
        and japanese.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_a_file_opens_with_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources("bot", "adapters", "tests", "benchmarks")
        if (text := path.read_text(encoding="utf-8")).strip()
        and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in sources("bot", "adapters", "tests", "benchmarks")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]
    assert long == []


def test_every_command_that_is_described_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile"]
    pages += sorted((ROOT / "docs").glob("*.md"))
    for page in pages:
        commands = re.findall(
            r"(?:^|[`#] *)make ([a-z]+)", page.read_text(encoding="utf-8"), re.MULTILINE
        )
        assert [name for name in commands if name not in targets] == [], page.name


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {aim}"
        for page in pages
        for aim in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if "://" not in aim and not (page.parent / aim).exists()
    ]
    assert broken == []


PATH_IN_TEXT = re.compile(
    r"(?<![\w/.~:-])(?:bot|adapters|tests|benchmarks|docs)/(?:[\w./-]|<name>|<step>)*(?:[\w/]|<name>|<step>)"
)
FILE_IN_TEXT = re.compile(r"`(\w+\.py)`")
WALK_LINE = re.compile(r"^\| \d+ \| `([\w/]+\.py)` \| ([^|]+) \|", re.MULTILINE)


def pages() -> list[Path]:
    """What is written for readers of the code. The history in CHANGELOG.md is not: it names what was there then."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def is_there(path: str) -> bool:
    """A file, a folder, or a module without its ending; `<name>` and `<step>` stand for any name."""
    if "<" in path:
        return any(ROOT.glob(re.sub(r"<\w+>", "*", path.rstrip("/"))))
    return (ROOT / path).exists() or (ROOT / f"{path}.py").exists()


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_path_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [path for path in PATH_IN_TEXT.findall(text) if not is_there(path)] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/adding.md"])
def test_every_file_that_is_named_without_its_folder_is_there(page: str) -> None:
    known = {path.name for path in sources("bot", "adapters", "tests", "benchmarks")}
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [name for name in FILE_IN_TEXT.findall(text) if name not in known] == []


def test_the_walk_in_the_architecture_names_functions_that_are_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = WALK_LINE.findall(text)
    assert len(lines) > 30
    missing = [
        f"{file}: {name}"
        for file, names in lines
        for name in re.findall(r"`(\w+)`", names)
        if name not in defined_in(ROOT / file)
    ]
    assert missing == []


def defined_in(path: Path) -> set[str]:
    """The names of all functions and methods of a file."""
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_what_doctor_says_in_the_readme_is_what_it_says() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    table = page.partition("| doctor says | do |")[2].partition("\n\n")[0]
    told = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    said = "".join(path.read_text(encoding="utf-8") for path in sources("bot", "adapters"))
    assert told
    assert [one for one in told if one not in said] == []
