"""The fixtures of the homeserver. One serves all tests of a process; every test has its own people and rooms."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from tests.beds.synapse.people import People
from tests.beds.synapse.proxy import Proxy
from tests.beds.synapse.server import Homeserver


@pytest.fixture(scope="session")
def homeserver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Homeserver]:
    """A running Synapse. Who stops it starts it again."""
    if importlib.util.find_spec("synapse") is None:
        pytest.skip("matrix-synapse is not installed")
    with Homeserver(tmp_path_factory.mktemp("synapse")) as server:
        yield server


@pytest.fixture
async def people(homeserver: Homeserver) -> AsyncIterator[People]:
    """`people("anna")` is somebody new."""
    async with ClientSession() as session:
        people = People(homeserver, session)
        yield people
        await people.close()


@pytest.fixture
async def proxy(homeserver: Homeserver) -> AsyncIterator[Proxy]:
    """A way to the homeserver that can be spoiled."""
    async with Proxy(homeserver.url) as proxy:
        yield proxy
