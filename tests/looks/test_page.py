"""The page shows what Slack shows, and what stands on a card never becomes part of the page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.beds.slack.names import Json
from tests.looks import gallery
from tests.looks.catalogue import VARIANTS, Variant
from tests.looks.page import UNKNOWN, Post, blocks, document, message, modal, mrkdwn
from tests.looks.page.markdown import markdown

_OURS = {
    "a", "blockquote", "br", "button", "code", "details", "div", "em", "h1", "h2", "h3", "h4", "hr",
    "input", "label", "li", "ol", "option", "p", "pre", "s", "select", "span", "strong", "summary",
    "table", "tbody", "td", "textarea", "th", "thead", "tr", "ul",
}  # fmt: skip


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: set[str] = set()
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links |= {value or "" for name, value in attrs if name == "href"}

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def reads(self) -> str:
        return "".join(self.words)


def section(text: str, **more: object) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


@pytest.mark.parametrize("rich", [False, True], ids=["plain", "rich"])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.name)
def test_every_block_that_is_used_can_be_drawn_and_none_becomes_part_of_the_page(
    variant: Variant, rich: bool
) -> None:
    for page in gallery.pages(variant, rich=rich):
        tags = Tags(page.inner)
        assert UNKNOWN not in tags.reads, page.name
        assert tags.tags <= _OURS, page.name
        assert all(link.startswith(("http", "mailto:", "#")) for link in tags.links), page.name


@pytest.mark.parametrize(
    ("words", "html"),
    [
        ("*a* _b_ ~c~", "<strong>a</strong> <em>b</em> <s>c</s>"),
        ("2*3*4 snake_case_name", "2*3*4 snake_case_name"),
        ("* a * b", "* a * b"),
        ("`*a*` &lt;b&gt;", "<code>*a*</code> &lt;b&gt;"),
        ("a\nb", "a<br>b"),
        (":tada: :nothing-of-this-name:", "🎉 :nothing-of-this-name:"),
        ("<@U1|Mika>", '<span class="mention">@Mika</span>'),
        ("<!here>", '<span class="mention loud">@here</span>'),
        ("&gt; quoted", '<div class="quote">quoted</div>'),
        ("```\na\n *b*\n```", '<pre class="code">a\n *b*</pre>'),
    ],
)
def test_markup_is_read_as_slack_reads_it(words: str, html: str) -> None:
    assert mrkdwn(words) == html


def test_a_link_shows_its_words_and_leads_only_to_the_web() -> None:
    assert re.fullmatch(r'<a href="https://a\.b/c"[^>]*>see</a>', mrkdwn("<https://a.b/c|see>"))
    assert 'href="#"' in mrkdwn("<javascript:alert(1)|see>")
    assert "<a" not in mrkdwn("https://a.b")
    assert "<a" in mrkdwn("https://a.b", links=True)


def test_a_document_has_headings_lists_check_boxes_tables_and_code() -> None:
    html = markdown(
        "# T\n\n- [x] a\n- [ ] b\n\n|c|d|\n|-|-|\n|1|2|\n\n```\n<x>\n```\n\n![p](http://x/y)"
    )
    assert {"h1", "li", "table", "th", "pre", "code"} <= Tags(html).tags
    assert "☑ a" in Tags(html).reads
    assert "<x>" in Tags(html).reads
    assert "img" not in Tags(html).tags


def test_a_long_section_is_folded_unless_it_shall_not_be() -> None:
    long = "word " * 300
    assert "See more" in blocks([section(long)])
    assert "See more" not in blocks([section(long, expand=True)])


def test_a_block_of_no_known_type_says_so() -> None:
    assert UNKNOWN in blocks([{"type": "hologram"}])


def test_what_is_pressed_carries_the_ids_an_app_is_told() -> None:
    button = {
        "type": "button",
        "action_id": "stop:0",
        "text": {"type": "plain_text", "text": "Stop"},
    }
    html = blocks([{"type": "actions", "block_id": "b1", "elements": [button]}])
    assert 'data-block="b1"' in html
    assert 'data-action="stop:0"' in html


def test_a_message_says_who_wrote_it_and_that_it_is_an_app() -> None:
    html = message(Post(name="gwt", text="hello", app=True, private=True))
    assert "APP" in html
    assert "Only visible to you" in html
    assert "APP" not in message(Post(name="Mika", text="hello"))


def test_a_form_has_its_fields_and_two_ways_out() -> None:
    field = {"type": "plain_text_input", "action_id": "a", "multiline": True}
    label = {"type": "plain_text", "text": "Why?"}
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Tell"},
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": [{"type": "input", "block_id": "b", "label": label, "element": field}],
    }
    html = modal(view)
    assert {"textarea", "h2"} <= Tags(html).tags
    assert "data-submit" in html
    assert "data-close" in html


def test_a_page_is_as_wide_and_as_dark_as_wanted() -> None:
    page = document("x", dark=True, width=360)
    assert 'class="dark"' in page
    assert "width:360px" in page
