"""A stand-in for `claude --print`: it keeps conversations, tells of its end in an event, and plays: `claude.py FOLDER …`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.stories.asking import agent

VERSION = "2.1.200 (Claude Code)"


def main(folder: Path, arguments: Sequence[str]) -> int:
    if "--version" in arguments:
        agent.say(VERSION)
        return 0
    option = next(one for one in ("--session-id", "--resume") if one in arguments)
    conversation = arguments[arguments.index(option) + 1]
    _keep(conversation)
    prompt = folder / f"prompt-{os.getpid()}.md"
    prompt.write_text(sys.stdin.read(), encoding="utf-8")
    told = ["agent", str(folder), "--prompt-file", str(prompt), "--conversation", conversation]
    sys.argv = [*told, *(("--resume",) if option == "--resume" else ())]
    code = agent.main()
    if code == 0:
        agent.say(json.dumps({"type": "result", "is_error": False, "result": "Done."}))
    return code


def _keep(conversation: str) -> None:
    place = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{conversation}.jsonl").touch()


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
