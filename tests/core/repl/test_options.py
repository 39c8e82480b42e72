"""The console's options, settled: what follows from what was written, from the terminal, and from what is there."""

from __future__ import annotations

import pytest

from bot.core.console import (
    OptionProblem,
    ProjectMode,
    ReplConfig,
    ReplExecutionMode,
    ReplOptions,
    resolve_options,
)

HERE = "/srv/shop"
FOLDERS = {HERE, "/srv/web", "/srv/shop/api"}


def settled(*, terminal: bool = True, **options: object) -> ReplConfig:
    chosen = ReplOptions.model_validate(options)
    return resolve_options(chosen, HERE, terminal=terminal, is_folder=FOLDERS.__contains__)


@pytest.mark.covers("R-REPL-MODE-1", "R-REPL-OPTION-non-interactive")
def test_the_option_decides_before_the_terminal() -> None:
    assert settled(terminal=True, non_interactive=True).non_interactive
    assert not settled(terminal=True).non_interactive


@pytest.mark.covers("R-ENUM-ReplExecutionMode", "R-REPL-MODE-2")
def test_input_that_is_no_terminal_is_a_script() -> None:
    assert settled(terminal=False).execution_mode is ReplExecutionMode.NON_INTERACTIVE


@pytest.mark.covers("R-ENUM-ReplExecutionMode", "R-REPL-MODE-3")
def test_at_a_terminal_it_is_interactive() -> None:
    assert settled(terminal=True).execution_mode is ReplExecutionMode.INTERACTIVE


@pytest.mark.covers(
    "R-ENTITY-ReplConfig",
    "R-REPL-MODE-9",
    "R-REPL-OPTION-exit-on-eof",
    "R-REPL-OPTION-wait",
    "R-REPL-CONFIG-7",
)
@pytest.mark.parametrize("scripted", [True, False])
def test_only_a_script_waits_for_each_line_and_ends_with_the_last(scripted: bool) -> None:
    config = settled(terminal=not scripted)
    assert (config.wait, config.exit_on_eof) == (scripted, scripted)
    other = settled(terminal=not scripted, wait=not scripted, exit_on_eof=not scripted)
    assert (other.wait, other.exit_on_eof) == (not scripted, not scripted)


@pytest.mark.covers("R-ENUM-ProjectMode", "R-REPL-OPTION-project-mode")
def test_a_script_works_in_a_temporary_copy_unless_it_says_otherwise() -> None:
    config = settled(terminal=False)
    assert (config.project_mode, config.project_root) == (ProjectMode.TEMP, None)
    assert (config.project, config.named) == (HERE, True)


@pytest.mark.covers("R-REPL-OPTION-project")
def test_by_hand_it_works_on_the_repository_one_stands_in() -> None:
    config = settled()
    assert (config.project_mode, config.project_root) == (ProjectMode.FIXED, HERE)
    assert not config.named


@pytest.mark.covers("R-REPL-OPTION-project")
@pytest.mark.parametrize(("project", "path"), [("/srv/web", "/srv/web"), ("api", "/srv/shop/api")])
def test_a_project_can_be_named(project: str, path: str) -> None:
    config = settled(project=project)
    assert (config.project_root, config.named) == (path, True)
    assert settled(terminal=False, project=project).project == path


@pytest.mark.covers("R-ENUM-ProjectMode", "R-REPL-OPTION-project-root")
def test_fixed_mode_works_in_its_root() -> None:
    config = settled(terminal=False, project_mode="fixed", project_root="/srv/web")
    assert (config.project_root, config.named) == ("/srv/web", True)


@pytest.mark.covers("R-ENTITY-ReplConfig", "R-REPL-CONFIG-1", "R-REPL-CONFIG-2", "R-REPL-CONFIG-3")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"project_mode": "fixed"}, "needs --project-root"),
        ({"project_mode": "fixed", "project_root": "srv/web"}, "absolute"),
        ({"project_mode": "fixed", "project_root": "/srv/none"}, "none is made"),
        ({"project": "/srv/none"}, "no folder /srv/none"),
    ],
)
def test_what_cannot_be_is_told_with_what_to_do(options: dict[str, object], told: str) -> None:
    with pytest.raises(OptionProblem, match=told):
        settled(terminal=False, **options)


@pytest.mark.covers("R-REPL-CONFIG-4")
def test_in_temporary_mode_a_root_is_ignored_with_a_warning() -> None:
    config = settled(terminal=False, project_root="/srv/none")
    assert config.project_root is None
    assert "ignored" in config.warnings[0]
    assert settled(terminal=False).warnings == ()
