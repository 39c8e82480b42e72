"""The arguments of `gwt-bot` and their help."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

    from bot.core.console import ReplOptions

    Commands = argparse._SubParsersAction["_Parser"]  # pyright: ignore[reportPrivateUsage]


SCREENS = ("thread", "plan", "tasks", "panes", "changes", "result", "log")
"""The screens of a session on the local page."""
PROJECT_MODES = ("temp", "fixed")
"""The values of ProjectMode, repeated here: importing its module would take half of the time of `--help`."""
USAGE_ERROR_CODE = 1
"""Exit code for wrong arguments. Not argparse's 2: a script would read that as "the work is incomplete"."""
_UNKNOWN = re.compile(r"argument COMMAND: invalid choice: '?([^']*)'? \(choose from (.*)\)")


class _Parser(argparse.ArgumentParser):
    """Reports wrong arguments together with a pointer to the help."""

    def error(self, message: str) -> NoReturn:
        if unknown := _UNKNOWN.match(message):
            close = get_close_matches(unknown[1], re.findall(r"[a-z]+", unknown[2]), 1)
            message = f"there is no command {unknown[1]}" + (f"; {close[0]}?" if close else "")
        told = f"{self.prog}: {message}\n  {self.prog} --help tells what can be written.\n"
        self.exit(USAGE_ERROR_CODE, told)


class _Version(argparse.Action):
    """Looks the version up only when it is asked for: that reads the metadata of every installed package."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> NoReturn:
        from importlib.metadata import version

        sys.stdout.write(f"{version('gwt-bot')}\n")
        parser.exit()


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    return _parser().parse_args(arguments)


def repl_options(chosen: argparse.Namespace) -> ReplOptions:
    from bot.core.console import ProjectMode, ReplOptions

    mode = ProjectMode(chosen.project_mode) if chosen.project_mode else None
    return ReplOptions(
        project=chosen.project,
        project_mode=mode,
        project_root=chosen.project_root,
        print_project_path=chosen.print_project_path,
        non_interactive=chosen.non_interactive,
        exit_on_eof=chosen.exit_on_eof,
        wait=chosen.wait,
    )


def _parser() -> _Parser:
    parser = _Parser(prog="gwt-bot", **_help(ABOUT, BEGIN))
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and end")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser(
        "serve",
        help="listen in Slack and Matrix, whichever is configured",
        **_help(
            "Listens in every chat that is configured, until it is told to end (Ctrl-C, SIGTERM)."
        ),
    )
    _add_web(commands)
    _add_console(commands)
    _add_single(commands)
    _add_intent(commands)
    _add_read_only_commands(commands)
    _add_archives(commands)
    _add_context(commands)
    _add_eval(commands)
    _add_doctor(commands)
    played = commands.add_parser(
        "demo",
        help="see the whole story on a sample repository, no account needed",
        **_help(
            "The whole story in ./.demo: the model and the agents are played, everything else is real."
        ),
    )
    played.add_argument("--auto", action="store_true", help="let the demo play you, too")
    played.add_argument("--web", action="store_true", help="play it in the local page")
    played.add_argument("--fresh", action="store_true", help="forget the last demo and start anew")
    return parser


def _add_web(commands: Commands) -> None:
    web = commands.add_parser(
        "web",
        help="look at it in a browser on this machine",
        **_help(WEB),
    )
    web.add_argument(
        "session", nargs="?", default="", type=_id, help="open this one: its id, or the beginning"
    )
    web.add_argument(
        "screen", nargs="?", choices=SCREENS, metavar="screen", help=f"{', '.join(SCREENS)}"
    )
    web.add_argument(
        "--no-open", dest="opens", action="store_false", help="print the address instead"
    )
    web.add_argument("--demo", action="store_true", help="play the demo in it, no account needed")
    web.add_argument("--fresh", action="store_true", help="with --demo: start it anew")
    web.add_argument(
        "--port", type=_port, default=0, metavar="N", help="a port that stays, for ssh -L"
    )


def _port(text: str) -> int:
    if not (text.isdigit() and 1024 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text} is no port from 1024 to 65535")
    return int(text)


def _add_context(commands: Commands) -> None:
    context = commands.add_parser(
        "context",
        help="what the model would be shown of a repository for a request",
        **_help(
            "Prints the files, definitions, tests and pieces of code that a request seems to be about, exactly as the\n"
            "model would read them, and why. It only reads git objects of one commit; nothing is asked of the model.",
            CONTEXT_EXAMPLES,
        ),
    )
    context.add_argument("request", type=_checked_text, help="what you would like to have built")
    context.add_argument(
        "--repository", metavar="PATH", default="", help="the repository; GWT_REPOSITORY otherwise"
    )
    context.add_argument(
        "--at", metavar="COMMIT", default="HEAD", help="a branch, a tag or a commit; HEAD otherwise"
    )
    context.add_argument(
        "--tokens", type=int, default=0, metavar="N", help="how much the model would be shown"
    )
    _add_json(context)


def _add_eval(commands: Commands) -> None:
    trial = commands.add_parser(
        "eval",
        help="try the model on a shipped suite or a repository's commits, with your own key",
        **_help(EVAL, EVAL_EXAMPLES),
    )
    trial.add_argument("--suite", metavar="NAME", default="", help="a shipped suite: small")
    trial.add_argument(
        "--repository", metavar="PATH", default="", help="the repository; GWT_REPOSITORY otherwise"
    )
    trial.add_argument(
        "--parts", default="", help="which parts, separated by commas; all otherwise"
    )
    trial.add_argument(
        "--cases",
        type=int,
        default=0,
        metavar="N",
        help="how many commits, 10 otherwise; of a suite, how many requests for each repository",
    )
    _add_answers(trial)
    trial.add_argument("--yes", action="store_true", help="do not ask whether it may cost that")
    _add_json(trial)


def _add_answers(trial: _Parser) -> None:
    trial.add_argument(
        "--most", type=int, default=0, metavar="TOKENS", help="stop when so many are spent"
    )
    trial.add_argument(
        "--answers",
        metavar="FILE",
        default="",
        help="where answers are kept; in the home otherwise",
    )
    trial.add_argument(
        "--replay", metavar="FILE", default="", help="take all answers from there; asks no model"
    )
    trial.add_argument(
        "--compare",
        metavar="RESULTS",
        nargs="+",
        default=[],
        help="what --json wrote earlier, also of other models; the first one is what counts",
    )


def _add_doctor(commands: Commands) -> None:
    doctor = commands.add_parser(
        "doctor",
        help="look at everything that is needed, and how to mend it",
        **_help(
            "Looks at everything that is needed, and asks the model for one word. It changes nothing; exit code 1 if "
            "something lacks."
        ),
    )
    _add_json(doctor)
    doctor.add_argument(
        "--no-model",
        dest="ask_model",
        action="store_false",
        help="do not ask the model anything: its one short answer may cost something",
    )


def _add_console(commands: Commands) -> None:
    console = commands.add_parser(
        "console",
        help="talk to the bot here, or let a script do so",
        **_help(CONSOLE, CONSOLE_EXAMPLES),
    )
    where = console.add_argument_group("where the work is done")
    where.add_argument(
        "--project", metavar="PATH", help="the repository; the one you stand in otherwise"
    )
    where.add_argument(
        "--project-mode",
        choices=PROJECT_MODES,
        help="temp: in a fresh copy of the project, the default of scripts; fixed: in --project-root itself",
    )
    where.add_argument(
        "--project-root", metavar="PATH", help="absolute, and there already: it is never made"
    )
    where.add_argument(
        "--print-project-path", action="store_true", help="print PROJECT_PATH=… at the beginning"
    )
    script = console.add_argument_group("scripts")
    script.add_argument(
        "--non-interactive", action="store_true", help="a script, even at a terminal"
    )
    yes_or_no = argparse.BooleanOptionalAction
    script.add_argument(
        "--exit-on-eof", action=yes_or_no, help="end with the last line (default of scripts)"
    )
    script.add_argument(
        "--wait",
        action=yes_or_no,
        help="read the next line when what the last one began is finished (default of scripts)",
    )


def _add_single(commands: Commands) -> None:
    run = commands.add_parser(
        "run",
        help="ask for something, and see it through",
        **_help(SINGLE, RUN_EXAMPLES),
    )
    run.add_argument("instruction", type=_checked_text, help="what you would like to have built")
    run.add_argument("--project", metavar="PATH", default="", help="the repository it is about")
    run.add_argument(
        "--detach", action="store_true", help="hand it to the bot at work, and end at once"
    )
    more = commands.add_parser(
        "continue",
        help="do what the final judgement found missing",
        **_help(
            f"Goes on with a session that has ended, the last one if none is named.\n\n{SINGLE}"
        ),
    )
    more.add_argument("session", nargs="?", default="", type=_id, help="its id, or the beginning")
    resume = commands.add_parser(
        "resume",
        help="go on with a session that was stopped",
        **_help(f"Goes on with a session that was stopped, or lists all.\n\n{SINGLE}"),
    )
    which = resume.add_mutually_exclusive_group()
    which.add_argument("session", nargs="?", default="", type=_id, help="its id, or the beginning")
    which.add_argument("--list", action="store_true", help="list the sessions there are")
    _add_json(resume, "with --list: JSON")
    stop = commands.add_parser(
        "stop",
        help="end all agents of a session at once; nothing is lost",
        **_help(STOP),
    )
    which = stop.add_mutually_exclusive_group()
    which.add_argument("session", nargs="?", default="", type=_id, help="its id, or the beginning")
    which.add_argument("--all", action="store_true", help="every session at work")


def _add_intent(commands: Commands) -> None:
    intent = commands.add_parser(
        "intent",
        help="what is wished for in this repository: list, show, approve, reject, run",
        **_help(f"Lists intents, or does something with one.\n\n{SINGLE}"),
    )
    what = intent.add_subparsers(dest="what", metavar="WHAT")
    what.add_parser("list", help="all there are, those that wait for you first")
    for word, told in (
        ("show", "one of them, whole"),
        ("approve", "it may be run"),
        ("reject", "it stays as a file, and nothing comes of it"),
        ("run", "begin its session, and see it through"),
    ):
        what.add_parser(word, help=told).add_argument("name", help="its name, or the beginning")
    intent.set_defaults(what="list", name="")


def _add_archives(commands: Commands) -> None:
    export = commands.add_parser(
        "export",
        help="write an archive of one session, to show it to somebody",
        **_help(
            "Writes gwt-session-ID.tar.gz: what the session has heard, its logs and its evidence.\n"
            "Secrets, mail addresses and telephone numbers are masked."
        ),
    )
    export.add_argument("session", type=_id, help="its id, or the beginning of it")
    export.add_argument("--to", type=_path, metavar="FILE", help="what to write; never over a file")
    replay = commands.add_parser(
        "replay",
        help="hear an archive once more: does the same come of it?",
        **_help("Nothing is done. Exit code 1 where it differs, and the step that does."),
    )
    replay.add_argument("archive", type=_path, help="what export has written")


def _add_read_only_commands(commands: Commands) -> None:
    for name, told in (
        ("status", "what is under way, and what it waits for"),
        ("sessions", "all sessions there are"),
        ("inbox", "everything that waits for you"),
        ("usage", "what the model has cost, session by session"),
    ):
        _add_json(commands.add_parser(name, help=told, **_help(f"Tells {told}. {LOOKING}")))
    info = commands.add_parser(
        "info", help="one session in detail", **_help(f"Tells about one session. {LOOKING}")
    )
    info.add_argument("session", type=_id, help="its id, or the beginning of it")
    _add_json(info)
    logs = commands.add_parser(
        "logs",
        help="what happened to the tasks of a session",
        **_help(
            f"Tells what happened to each task, or to one of them. {LOOKING}",
            LOGS_EXAMPLES,
        ),
    )
    logs.add_argument(
        "session", nargs="?", default="", type=_id, help="its id, or the beginning; else the last"
    )
    logs.add_argument("task", nargs="?", default="", help="such as T001")
    logs.add_argument("--full", action="store_true", help="every event of the task")
    _add_json(logs)


def _add_json(parser: argparse.ArgumentParser, help_text: str = "JSON, for programs") -> None:
    parser.add_argument("--json", action="store_true", dest="as_json", help=help_text)


class _HelpTexts(TypedDict):
    description: str
    epilog: str
    formatter_class: type[argparse.HelpFormatter]


def _help(description: str, epilog: str = "") -> _HelpTexts:
    """Keep the line breaks of a help text as they are written in this file."""
    formatter = argparse.RawDescriptionHelpFormatter
    return {"description": description, "epilog": epilog, "formatter_class": formatter}


def _checked_text(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("say what you would like to have built")
    # bytes that are not UTF-8 could not be sent to any chat; piped input is read the same way
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def _id(text: str) -> str:
    from bot.core.choices import is_handle

    if text and not is_handle(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no id of a session; gwt-bot sessions lists them"
        )
    return text


# The help texts of the commands, line by line as they are printed.

ABOUT = """\
Turns a feature request into tested, reviewed pull requests: it asks back, plans, lets
coding agents build side by side in git worktrees, runs the tests itself, and merges."""

BEGIN = """\
Begin here:
  gwt-bot demo                  the whole story on a sample repository, no account needed
  gwt-bot doctor                what is needed, and how it is mended
  gwt-bot console               talk about the repository you stand in
  gwt-bot serve                 the same in Slack and Matrix, for a team

gwt-bot COMMAND --help tells more about each."""

WEB = """\
Opens the local page: the board, plans to comment on, running tasks, results. It belongs to the bot at work on this home;
if there is none, this is the bot, until Ctrl-C. Only this user's browser on this machine gets in."""
CONSOLE = """\
At a terminal: type what you want built. Enter takes all defaults and approves what was
just shown, arrow keys choose, Esc stops, Tab leads to the branches and back, / lists the
commands, Ctrl-D leaves (agents go on).

Through a pipe, or with --non-interactive, every line is one step of a script: the next is
read when what it began is finished or waits for somebody. Nobody is asked in between: an
agent that asks something is ended, and its task says so. Unless told otherwise a script
works on a temporary copy of the project; Claude Code asks whether it is trusted in each
new folder, so name the agent claude-print there, or work in the project itself (fixed).

exit codes of a script:  0 complete   1 error   2 not complete, or it waits for you"""

CONSOLE_EXAMPLES = """\
examples:
  gwt-bot console
  gwt-bot console --project ~/src/shop
  printf 'add a health check\\ndefaults\\napprove\\n' | \\
    gwt-bot console --project-mode fixed --project-root /srv/shop"""

SINGLE = """\
Spoken to the bot at work on this home (serve, or a console), or done by itself when there
is none. At a terminal it stays, so that you can answer; in a script it ends when the work
is finished or waits for you.

exit codes:  0 complete   1 error   2 not complete, or it waits for you"""

STOP = """\
Ends all agents of a session at once, of whatever chat it is. What they did stays; resume
goes on. Without an id the only session at work is meant; where there are several you are
asked, and a script is told to name one."""

LOOKING = "It only looks: nothing is begun, whether a bot is at work or not."

LOGS_EXAMPLES = """\
examples:
  gwt-bot logs                  the tasks of the session that moved last
  gwt-bot logs 1a2b3c4d T001    what happened to one of them
  gwt-bot logs T001 --full"""

CONTEXT_EXAMPLES = """\
examples:
  gwt-bot context "Discounts must not apply to gift cards"
  gwt-bot context "Retry failed uploads" --repository ~/src/shop --at v2.1 --json"""

EVAL = """\
Tries how well the model reads requests, and says first what it will cost. On a repository its own
commits are the cases; a suite is three small repositories that are shipped (Python, JavaScript,
shell), with fifteen requests and sixty changes that are known to be right or not.

  find       are the files found that a change touches? (asks no model)
  locate     does the model name them?
  questions  suite only: does it ask what is open, and not what the request or the code answers?
  plan       suite only: are spec, plan and tasks valid and complete, do they cover the request and
             cite what is there?
  judge      does it see that a change is done, and that one is not that lacks a part, is subtly
             wrong, or only makes the tests pass?

Every answer is kept as it comes: after Ctrl-C the same command goes on where it was."""

EVAL_EXAMPLES = """\
examples:
  gwt-bot eval --parts find                              costs nothing
  gwt-bot eval --suite small --cases 1                   a first look, a fifth of the price
  gwt-bot eval --suite small --yes --json > before.json
  gwt-bot eval --suite small --compare before.json       after another model was chosen

exit codes:  0 tried   1 error   2 the model did not answer everything   3 worse than before"""

RUN_EXAMPLES = """\
examples:
  gwt-bot run "Add a dark mode to the settings page"
  gwt-bot run --detach "Add a health check"; gwt-bot status"""
