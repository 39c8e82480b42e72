"""Each way out of the bot is one function, and masks: a module that goes around it is found here.

| way out | the one function | what it does |
|---|---|---|
| chats | `steps.chat.MaskedChat` | masks every card |
| the model | `adapters.llm.answers.Calls` | masks what is sent and what is logged; a patch is masked before it is cut |
| agents | `steps.execute.work.start_run` | masks the instruction |
| pull requests | `steps.ship.work` | masks title and text |
| the registry | `core.projections.registry_writer` | masks what is written to `.forge` |
| logs of tasks, evidence, audit log | `adapters.store` | mask, personal data too |
| transcripts, output of commands | `adapters.tmux.screens`, `adapters.commands.shell` | mask what a program says before they cut and write it |
| the local page | `adapters.local.page.render` | masks every text that a template writes |
| programs that ask | `desk.tell`, `cli.status`, `cli.archives` | mask |
| the log | `adapters.log.LogFile`, on the root | masks every line; before it there is `EarlyLog` |
| the terminal | `cli.process.say`, `doctor`, the console's screen | mask |
| files | `adapters.files` | whole or not at all, on disk, private, through no link |
| programs | `adapters.processes` | bounded, in a session of its own; nothing of the bot's environment is inherited |
"""

from __future__ import annotations

import ast
import logging
import os
import re

import pytest

from bot.cli.process import EarlyLog, say
from tests.test_only_way_in import calls, trees

pytestmark = pytest.mark.covers("R-PROPERTY-24")

STARTING_ALONE = {
    "adapters.agents.screen.run": "runs inside the pane, with the standard library only",
    "adapters.demo.agent": "is itself the program in the pane",
}
"""Modules that start programs by themselves, with the environment they were given."""

PLAIN = {
    "bot.cli.console": "the path of the project, for other programs",
    "bot.cli.status": "what is saved, and was masked before it was, for other programs",
    "bot.cli.archives": "the archive's name, and a title that was masked before it was saved",
    "bot.cli.arguments": "its version",
    "bot.cli.context": "the context of a request, which is masked as a whole",
    "bot.cli.evaluate": "what came of trying the model, which is masked as a whole, and what it will cost",
    "bot.cli.demo": "where it is",
    "bot.cli.page": "the address of the page, which works once",
}
"""Modules that say on the terminal what must not be changed."""

WRITING_ALONE = {
    "adapters.agents.screen.events": "runs inside the pane, with the standard library only",
    "bot.cli.doctor": "tries whether the disk takes a file, which has no name",
    "adapters.sandbox.bubblewrap": "gives itself the right to remove folders, through no link",
}
"""Modules that sync files, lock them or refuse links by themselves."""
MOVING = {
    "adapters.store.disk": "journals, between unfinished and finished; and broken ones",
    "adapters.store.audit": "what is left of a log that somebody has shortened",
    "adapters.tmux.spool": "a paste counts: its file gets another name",
    "adapters.github.mirror": "a repository that was made beside its place",
    "adapters.commands.test_reports": "a plugin gets a name that no test can guess",
    "adapters.registry.folder": "a draft, to a name that is free",
    "adapters.git.worktree_files": "copies of gigabytes, which the kernel makes",
    "adapters.agents.screen.events": "the report of a run, inside the pane",
}
"""Modules that give another name to something that is there already, which is whole."""


def moves(called: ast.expr, call: ast.Call) -> bool:
    """`path.replace(other)` has one argument; of a text or a date it has two, or names."""
    if not isinstance(called, ast.Attribute):
        return False
    on_os = ast.unparse(called.value) in {"os", "shutil"}
    one_argument = len(call.args) == 1 and not call.keywords
    return (
        called.attr in {"rename", "link_to", "hardlink_to"}
        or (called.attr == "replace" and (on_os or one_argument))
        or (called.attr in {"link", "renames", "move"} and on_os)
    )


def test_files_are_written_whole_locked_and_opened_safely_in_one_place() -> None:
    careful = {"fsync", "fdatasync", "flock", "lockf", "mkstemp", "NamedTemporaryFile"}
    careful |= {"TemporaryFile", "O_NOFOLLOW", "O_EXCL", "O_TRUNC"}
    alone = {
        name
        for name, tree in trees("bot", "adapters")
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in careful)
        or (isinstance(node, ast.Name) and node.id in careful)
    }
    assert alone == {"adapters.files", *WRITING_ALONE}


def test_no_file_is_put_in_the_place_of_another_but_by_the_one_atomic_write() -> None:
    moving = {name for name, _, call in calls("bot", "adapters") if moves(call.func, call)}
    assert moving == {"adapters.files", *MOVING}


def test_nothing_is_shown_in_a_chat_but_through_the_one_way_out() -> None:
    saying = {
        name
        for name, called, call in calls("bot/core", "bot/steps")
        if called in {"show", "open", "whisper"}
        and isinstance(call.func, ast.Attribute)
        and ast.unparse(call.func.value).endswith((".chat", ".chats"))
    }
    assert saying == {"bot.steps.chat"}


def test_nobody_in_the_engine_takes_a_chat_past_it() -> None:
    taking = {
        name
        for name, tree in trees("bot/core", "bot/steps")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "chats"
    }
    # the desk looks whether there is one
    assert taking == {"bot.steps.chat", "bot.core.desk"}


def test_the_model_is_asked_in_one_place() -> None:
    asking = {
        name
        for name, called, call in calls("bot", "adapters")
        if called in {"complete", "ask"} and "llm" in ast.unparse(call.func).lower()
    }
    # doctor asks for one word, and says nothing of a repository; models hands a question to the chosen model; recordings
    # hands it on if no answer is kept
    assert asking == {"bot.steps.asking", "bot.cli.doctor", "bot.cli.models", "bot.cli.recordings"}


def test_programs_are_started_in_one_place() -> None:
    starting = {
        name
        for name, tree in trees("bot", "adapters")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name)
        and re.fullmatch(
            r"(asyncio|subprocess|os|pty)\.(create_subprocess_\w+|run|Popen|call|check_\w+|get\w*output"
            r"|system|popen|fork\w*|spawn|spawn[lv]\w*|posix_spawn\w*|exec[lv]\w*)|.*\.subprocess_(exec|shell)",
            ast.unparse(node),
        )
        and ast.unparse(node) != "asyncio.run"
    }
    assert starting == {"adapters.processes", *STARTING_ALONE}


def test_every_program_is_started_with_an_environment_that_was_chosen_and_through_no_shell() -> (
    None
):
    """Checks and set-up commands are an operator's own shell lines, and name the shell themselves."""
    starters = [
        call
        for name, last, call in calls("adapters")
        if name == "adapters.processes"
        and last in {"subprocess_exec", "create_subprocess_exec", "Popen"}
    ]
    assert len(starters) == 3
    assert all("env" in {keyword.arg for keyword in call.keywords} for call in starters)
    assert not any("shell" in {keyword.arg for keyword in call.keywords} for call in starters)


def test_one_log_takes_everything_and_none_stands_beside_it() -> None:
    handlers = {
        name
        for name, last, _ in calls("bot", "adapters")
        if last in {"addHandler", "basicConfig", "StreamHandler", "FileHandler"}
    }
    assert handlers == {"adapters.log"}


def test_the_terminal_is_written_to_in_few_places() -> None:
    writing = {
        name
        for name, last, call in calls("bot", "adapters")
        if not name.startswith(("adapters.agents.screen", "adapters.demo", "adapters.console"))
        and (last == "print" or ast.unparse(call.func) in {"sys.stdout.write", "sys.stderr.write"})
    }
    assert writing == {"bot.cli.process", "bot.cli.doctor", *PLAIN}


def test_what_the_program_says_of_its_end_is_masked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "correct-horse-battery-staple")
    say("gwt-bot: refused: correct-horse-battery-staple", "  change xoxb-123456789012-abcdefghijkl")
    EarlyLog().handle(
        logging.LogRecord("x", logging.WARNING, "", 0, "no: %s", (os.environ["SHOP_TOKEN"],), None)
    )
    said = capsys.readouterr().err
    assert said.splitlines() == [
        "gwt-bot: refused: [MASKED:SHOP_TOKEN]",
        "  change [MASKED:SLACK_TOKEN]",
        "gwt-bot: no: [MASKED:SHOP_TOKEN]",
    ]
