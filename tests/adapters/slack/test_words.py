"""Words between people and Slack, both ways."""

from __future__ import annotations

import html
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.blocks.text import (
    ZERO_WIDTH_SPACE,
    PlainMessage,
    escaped,
    escaped_code,
    harmless_markdown,
    plain_message,
)
from bot.core.text import clean
from tests.adapters.slack.content import words

pytestmark = pytest.mark.covers("O-C17")

BOT = "U0BOT"
_LIVE = re.compile(r"<[@!#a-zA-Z][^>]*>|(?i:@(?:here|channel|everyone)\b)")


def heard(text: str) -> str:
    return plain_message(text, BOT).text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<@U0BOT> add a dark mode", "add a dark mode"),
        ("<@U0BOT>: add a dark mode", "add a dark mode"),
        ("<@U0BOT|gwt> <@U0BOT> add it", "add it"),
        ("please <@U0BOT> add it", "please add it"),
        ("add it <@U0BOT>", "add it"),
        ("thanks <@U0BOT>!", "thanks!"),
        ("one\n<@U0BOT> two\nthree", "one\ntwo\nthree"),
        ("<@U0BOT>\nadd it", "add it"),
        ("<@U0BOT>", ""),
    ],
)
def test_the_bots_own_name_is_taken_out_wherever_it_stands(written: str, read: str) -> None:
    assert plain_message(written, BOT) == PlainMessage(read, mentions_bot=True)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<@U2> and <@U3|aki>", "@U2 and @aki"),
        ("in <#C1|general> or <#C2>", "in #general or #C2"),
        ("<!here> <!channel|channel>", "@here @channel"),
        ("<!subteam^S1|@backend> <!subteam^S2>", "@backend @S2"),
        ("on <!date^1794988193^{date}|2026-11-18>", "on 2026-11-18"),
        ("see <http://x.example|the page>", "see the page (http://x.example)"),
        ("see <http://x.example>", "see http://x.example"),
        ("see <http://x.example|http://x.example>", "see http://x.example"),
        ("see <http://x.example|x.example>", "see x.example"),
        ("<mailto:a@x.example|a@x.example>", "a@x.example"),
        ("<http://x.example/?a=1&amp;b=2>", "http://x.example/?a=1&b=2"),
        ("a &lt;b&gt; &amp;&amp; c", "a <b> && c"),
        ("日本語の依頼", "日本語の依頼"),
        ("", ""),
    ],
)
def test_a_message_reads_as_the_one_who_wrote_it_saw_it(written: str, read: str) -> None:
    assert heard(written) == read


def test_what_people_escaped_is_unescaped_once() -> None:
    assert heard("&amp;lt;!channel&amp;gt;") == "&lt;!channel&gt;"
    assert plain_message("&lt;@U0BOT&gt;", BOT) == PlainMessage("<@U0BOT>")


def test_it_is_known_who_was_spoken_to_first() -> None:
    assert plain_message("<@U2> what do you think?", BOT).mentions_first_other
    assert plain_message("<!subteam^S1> what do you think?", BOT).mentions_first_other
    both = plain_message("<@U0BOT> ask <@U2>", BOT)
    assert both.mentions_bot
    assert not both.mentions_first_other
    assert plain_message("<@U2> ask <@U0BOT>", BOT) == PlainMessage(
        "@U2 ask", mentions_bot=True, mentions_first_other=True
    )
    assert not plain_message("<!here> all", BOT).mentions_first_other


def test_without_an_id_of_its_own_the_bot_is_never_mentioned() -> None:
    assert plain_message("<@U2> and <http://x.example>", "") == PlainMessage(
        "@U2 and http://x.example", mentions_first_other=True
    )


@given(st.text().map(clean))
def test_what_was_escaped_for_slack_is_heard_as_it_was(text: str) -> None:
    written = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert heard(written) == text.strip()


@given(words)
def test_escaped_text_has_no_tokens_and_reads_the_same(text: str) -> None:
    safe = escaped(text)
    assert not _LIVE.search(safe)
    assert "<" not in safe
    assert ">" not in safe
    assert unescape(re.sub(r"&(?!(?:lt|gt|amp);)", "&amp;", safe)).replace(
        ZERO_WIDTH_SPACE, ""
    ) == clean(text)


@pytest.mark.parametrize("marker", ["*", "_", "~", "`"])
def test_markup_in_foreign_text_touches_no_word(marker: str) -> None:
    safe = escaped(f"{marker}not this{marker} and {marker}{marker}that{marker}{marker}")
    assert not re.search(rf"{re.escape(marker)}\w|\w{re.escape(marker)}", safe)
    assert not re.search(re.escape(marker) * 2, safe)


def test_names_stay_as_they_are_so_that_they_can_be_copied() -> None:
    assert escaped("src/a_b/my_file.py 2*3 at 10:30:00") == "src/a_b/my_file.py 2*3 at 10:30:00"


def test_a_line_cannot_become_a_quote_or_an_emoji() -> None:
    assert escaped("> so") == f"{ZERO_WIDTH_SPACE}&gt; so"
    assert ":tada:" not in escaped("done :tada:")


@given(words, st.integers(10, 300))
def test_a_cut_escaped_text_fits_and_ends_with_no_half_of_an_entity(text: str, limit: int) -> None:
    safe = escaped(text, limit)
    assert len(safe) <= limit
    assert not re.search(r"&(?!(?:lt|gt|amp);)", safe)


def test_no_cut_goes_through_an_entity() -> None:
    for limit in range(10, 30):
        assert re.fullmatch(
            "(?:&lt;|&gt;|&amp;)+…", escaped("<>&" * 20, limit).replace(ZERO_WIDTH_SPACE, "")
        )


@given(words)
def test_code_cannot_end_its_fence_nor_mention_anybody(text: str) -> None:
    safe = escaped_code(text)
    assert "```" not in safe
    assert "<" not in safe
    assert unescape(re.sub(r"&(?!(?:lt|gt|amp);)", "&amp;", safe)).replace(
        ZERO_WIDTH_SPACE, ""
    ) == clean(text)


def test_code_with_single_backticks_is_copied_letter_for_letter() -> None:
    assert escaped_code("echo `date` *_~") == "echo `date` *_~"


@given(words)
def test_markdown_mentions_nobody_and_reads_the_same(text: str) -> None:
    safe = harmless_markdown(text)
    assert safe.replace(ZERO_WIDTH_SPACE, "") == clean(text)
    assert not re.search(r"<[@#]\w|<!\w", safe)


@pytest.mark.parametrize(
    "token", ["<@U1>", "<!channel>", "<!subteam^S1|x>", "<#C1>", "<http://x.example|y z>", "@here"]
)
def test_a_token_of_slacks_own_becomes_mere_text_in_markdown(token: str) -> None:
    assert token not in harmless_markdown(f"before {token} after")


@pytest.mark.parametrize("opening", ["<", "\\<", "&lt;", "&#60;", "&#x3C;", "&#0060;"])
@pytest.mark.parametrize(
    "sigil", ["@U1", "\\@U1", "!here", "\\!here", "#C1", "&#64;U1", "&commat;U1"]
)
def test_not_even_what_markdown_would_make_a_token_is_one(opening: str, sigil: str) -> None:
    safe = harmless_markdown(f"before {opening}{sigil}> after")
    assert html.unescape(safe).replace("\\", "").partition("<")[2].startswith(ZERO_WIDTH_SPACE)
    assert safe.replace(ZERO_WIDTH_SPACE, "") == f"before {opening}{sigil}> after"


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\n**bold** _it_ `List<String>` [a](http://x.example) <http://x.example>",
        "| a | b |\n|---|---|\n| <http://x.example> | 2 |",
        "<!-- a remark --> a < b | c > d",
        "```java\nList<Map<String, Integer>> x;\n```",
    ],
)
def test_ordinary_markdown_stays_letter_for_letter(text: str) -> None:
    assert harmless_markdown(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("_" * 100_000, "a_" * 50_000, "<a:" * 30_000, "`" * 100_000),
        *(f"x{' ' * 300_000}x", f"x{chr(9) * 300_000}x"),
    ],
)
def test_even_a_monstrous_text_is_read_once_only(text: str) -> None:
    # read again and again it would take hours
    for work in (escaped, escaped_code, harmless_markdown, heard):
        assert work(text).replace(ZERO_WIDTH_SPACE, "")[:1] in (text[0], "&")
