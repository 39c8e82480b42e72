"""What all HTTP clients of the bot agree on: what `Retry-After` means, how much is read, and that nothing is sent on."""

from __future__ import annotations

import gzip
import tracemalloc

import aiohttp
import pytest
from aiohttp import ClientTimeout

from adapters.bounded_http import MAX_ANSWER_BYTES, new_session
from adapters.http import retry_after
from tests.fakes.llm_server import Behaviour, LlmServer, answers, endless, says

SENT = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(("told", "seconds"), [
    *(("0", 0), ("7", 7), (" 7 ", 7), ("0.25", 0.25), ("3600", 3600), ("86400", 3600)),
    ("Wed, 21 Oct 2015 07:29:30 GMT", 90),
    ("Wed, 21 Oct 2015 09:29:30 +0200", 90),
    ("Thu, 22 Oct 2015 07:28:00 GMT", 3600),
    ("Wed, 21 Oct 2015 07:00:00 GMT", 0),
    *((text, None) for text in ("", "soon", "-3", "+3", "1e3", "nan", "inf", "1_0", "٣", "7;")),
    *((text, None) for text in ("9" * 400, "21 Oct", "Wed, 99 Oct 2015 99:99:99 GMT")),
    ("Wed, 21 Oct 99999999999999 07:28:00 GMT", None),
    ("Wed, 21 Oct 2015 07:28:00 +99999999999999", None),
])  # fmt: skip
def test_retry_after_is_a_number_or_a_date_and_at_most_an_hour(
    told: str, seconds: float | None
) -> None:
    assert retry_after(told, SENT) == seconds


@pytest.mark.parametrize("date", ["", "now"])
def test_without_a_date_of_the_server_ours_counts(date: str) -> None:
    assert retry_after("Fri, 31 Dec 2600 23:59:59 GMT", date) == 3600
    assert retry_after(SENT, date) == 0


BOMB = gzip.compress(bytes(3 * MAX_ANSWER_BYTES))


@pytest.mark.parametrize(
    "behaviour",
    [endless(), answers(BOMB, headers={"Content-Encoding": "gzip"})],
    ids=["without end", "a bomb"],
)
async def test_a_chat_answer_is_read_to_a_bound(behaviour: Behaviour) -> None:
    async with LlmServer(behaviour) as server:
        session = new_session(server.url, ClientTimeout(total=30))
        tracemalloc.start()
        async with session, session.get(server.url) as answer:
            with pytest.raises(aiohttp.ClientError):
                await answer.read()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 2.5 * MAX_ANSWER_BYTES


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_what_is_said_to_a_chat_is_not_sent_on_to_where_a_redirect_leads(status: int) -> None:
    async with LlmServer() as server, LlmServer(says("stolen")) as other:
        server.then(answers(b"", status=status, headers={"Location": other.url}))
        async with new_session(server.url, ClientTimeout(total=30)) as session:
            with pytest.raises(aiohttp.ClientError, match="redirect"):
                await session.post(server.url, json={"text": "what people say"})
            async with session.get(other.url, allow_redirects=False) as elsewhere:
                assert elsewhere.status == 200, "other places are asked as before"
        assert [asked.body for asked in other.asked] == [{}]
