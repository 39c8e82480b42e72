"""The played agent, which first writes its run into a file: `counted_agent.py FILE …`. Nobody can start it unseen."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> int:
    with Path(sys.argv[1]).open("a") as starts:
        starts.write(f"{os.environ['GWT_RUN']}\n")
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from adapters.demo.agent import main as play

    return play(sys.argv[2:], os.environ, Path.cwd())


if __name__ == "__main__":
    raise SystemExit(main())
