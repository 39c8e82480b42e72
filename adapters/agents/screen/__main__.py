"""`python -I …/screen EVENTS REPORT COMMAND…` runs the command, shows its events as lines, and writes a report of them.

`python -I -S …/screen used HOOK STARTED REPORT` is called by a hook and writes the usage of the run into its report.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    # inserted first, because another package of that name may be installed
    sys.path.insert(0, str(Path(__file__).parents[3]))
    if arguments[0] == "used":
        # an agent waits for this, so nothing else is loaded
        from adapters.agents.screen.claude import write_usage_report

        hook, started, report = map(Path, arguments[1:])
        write_usage_report(hook, started, report)
        return 0
    from adapters.agents.screen.run import run

    return run(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
