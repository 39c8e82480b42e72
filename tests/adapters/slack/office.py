"""A gateway at work in a played Slack, which can be killed and started anew on the same folder."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import aiohttp

from adapters.posting import PlacedCard, PostingLedger, Turns
from adapters.slack.blocks.cards import draw_card
from adapters.slack.blocks.kit import Block, BlockKind, Site, plain_text, section
from adapters.slack.blocks.kit import SlackMessage as Drawn
from adapters.slack.client import SlackAccess, new_client
from adapters.slack.messages import SupportedBlocks
from adapters.slack.outgoing import Draw, SlackGateway
from bot.core.cards import Card, NewsCard
from bot.core.choices import Choice
from bot.core.people import Person, Thread
from tests.beds.slack import BOT_TOKEN, MIKA, PUBLIC, TEAM, Grants, Message, SlackBed, invariants
from tests.fakes import cards

DEADLINE = 30
POST, UPDATE, REPLIES = "chat.postMessage", "chat.update", "conversations.replies"
SET_STATUS = "agents.sessions.setStatus"
CHANGED = cards.NEWS.model_copy(update={"lines": ("It is mended.",)})
LATER = cards.STATUS.model_copy(update={"at": cards.AT.replace(hour=13)})
LATEST = cards.STATUS.model_copy(update={"at": cards.AT.replace(hour=14)})
SPEC = cards.DOCUMENT.model_copy(
    update={
        "text": "".join(f"# Part {n}\n\n{'利用者は切り替えられる. ' * 300}\n\n" for n in range(6))
    }
)
PERSON = Person(platform="slack", id=f"{TEAM}:{MIKA}", name="Mika")


class Killed(Exception):  # noqa: N818 - what happened, not an error
    """The program has ended here."""


class Fate:
    """Ends the program before a step: a call, or a line of the ledger. After the one is before the next."""

    def __init__(self, at: int = -1) -> None:
        self.at = at
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.at:
            raise Killed


class MortalLedger(PostingLedger):
    def __init__(self, path: Path, fate: Fate) -> None:
        super().__init__(path)
        self._fate = fate

    def wanted(self, thread: Thread, card: Card, choices: tuple[Choice, ...] = ()) -> PlacedCard:
        self._fate.step()
        return super().wanted(thread, card, choices)

    def begun(self, placed: PlacedCard, *messages: str) -> PlacedCard:
        self._fate.step()
        return super().begun(placed, *messages)

    def posted(self, placed: PlacedCard, *messages: str) -> PlacedCard:
        self._fate.step()
        return super().posted(placed, *messages)


class Office:
    def __init__(self, bed: SlackBed, folder: Path, seconds: float) -> None:
        self.bed = bed
        self.session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=seconds), trace_configs=[self._trace()]
        )
        self.folder = folder
        self.path = folder / "cards.jsonl"
        self.clock = 0.0
        self.forgiven: Collection[str] = ()
        """Refusals that a test provokes."""
        self.roots: set[str] = set()
        """What the bot may say outside of threads."""
        self._open: list[SlackGateway] = []
        self.gateway = self.start()

    def start(
        self,
        fate: Fate | None = None,
        *,
        draw: Draw = draw_card,
        path: Path | None = None,
        between_edits: float = 0,
    ) -> SlackGateway:
        """The program begins again: nothing is remembered but what is on disk."""
        self.fate = fate or Fate()
        access = SlackAccess(bot_token=BOT_TOKEN, api_url=self.bed.api_url)
        client = new_client(access, self.session)
        ledger = MortalLedger(path or self.path, self.fate)
        self.gateway = SlackGateway(
            client,
            ledger,
            Turns(),
            draw=draw,
            takes=SupportedBlocks(self.folder / "refused.json", wall=lambda: self.clock),
            between_edits=between_edits,
            now=lambda: self.clock,
        )
        self._open.append(self.gateway)
        return self.gateway

    async def ask(self, channel: str = PUBLIC) -> Thread:
        """Somebody mentions the bot: a thread begins."""
        root = await self.bed.mention(MIKA, channel, "Add a dark mode")
        return Thread(platform="slack", workspace=TEAM, channel=channel, root=root.ts)

    def cards(self, thread: Thread) -> list[Message]:
        """What the bot has said in a thread, from top to bottom, files left out."""
        said = self.bed.thread(thread.channel, thread.root)
        return [one for one in said if one.by_our_bot and not one.files]

    def reads(self, thread: Thread) -> list[str]:
        return [one.reads for one in self.cards(thread)]

    def files(self, thread: Thread) -> list[str]:
        """The names of the files that stand in the thread."""
        return [file.name for file in self.bed.files if file.thread == thread.root]

    def count(self, method: str) -> int:
        return len(self.bed.called(method))

    async def close(self) -> None:
        for gateway in self._open:
            await gateway.close()
        await self.session.close()

    def _trace(self) -> aiohttp.TraceConfig:
        async def step(
            _session: aiohttp.ClientSession,
            _context: SimpleNamespace,
            request: aiohttp.TraceRequestStartParams,
        ) -> None:
            if request.url.name.startswith(("chat.", "conversations.", "files.")):
                self.fate.step()

        trace = aiohttp.TraceConfig()
        trace.on_request_start.append(step)
        return trace


@asynccontextmanager
async def office(
    folder: Path, grants: Grants | None = None, seconds: float = 20
) -> AsyncGenerator[Office, None]:
    """`seconds`: how long an answer is waited for. At the end nothing may be wrong in the played Slack."""
    quiet = frozenset({"agent_session_stopped"})  # nobody listens here: no message events
    granted = grants or dataclasses.replace(Grants.of_manifest(), events=quiet)
    async with SlackBed(grants=granted) as bed:
        at_work = Office(bed, folder, seconds)
        try:
            yield at_work
        finally:
            await at_work.close()
        invariants.check(bed, roots=at_work.roots, forgiven=at_work.forgiven)


def news(text: str) -> NewsCard:
    return NewsCard(key=text, title=text)


def in_parts(sizes: dict[str, int]) -> Draw:
    """Draws a card in as many messages as are wanted of its title."""

    def draw(card: Card, site: Site | None, rich: frozenset[BlockKind]) -> Sequence[Drawn]:
        assert isinstance(card, NewsCard)
        parts = range(sizes[card.title])
        return [Drawn(f"{card.title} {n}", [section(plain_text(f"part {n}"))]) for n in parts]

    return draw


def actions(blocks: list[Block]) -> list[tuple[str, str]]:
    """The buttons of a message."""
    return [
        (element["action_id"], element["value"])
        for block in blocks
        if block["type"] == "actions"
        for element in block["elements"]
    ]
