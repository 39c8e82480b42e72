"""The least that can be behind a local socket: it says back what it hears. It remembers nothing.

python -m benchmarks.chats.echo <home>
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from benchmarks.chats.work import Syncs, until_asked_to_end


async def main(home: Path) -> None:
    syncs = Syncs()
    server = await asyncio.start_unix_server(said_back, home / "socket")
    async with server:
        await until_asked_to_end(syncs, server.serve_forever())


async def said_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line)
    writer.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
