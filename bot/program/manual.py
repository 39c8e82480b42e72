"""What the help of each command tells, line by line as it is written here."""

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

RUN_EXAMPLES = """\
examples:
  gwt-bot run "Add a dark mode to the settings page"
  gwt-bot run --detach "Add a health check"; gwt-bot status"""
