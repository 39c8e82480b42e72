"""Cards as messages of Matrix: the same in plain text and in HTML, in full, and with nothing in them that acts."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.matrix.cards import (
    MESSAGE_BYTES,
    DrawnMessage,
    causes_notification,
    draw_card,
    mention_person,
)
from adapters.matrix.markdown import markdown_html, split_markdown
from adapters.matrix.sending import edit_content, file_content, message_content
from bot.core.cards import AnswerCard, Card, NewsCard, QuestionsCard
from bot.core.choices import Choice, Verb
from bot.core.intent import Question
from bot.core.people import Person
from bot.core.sheets import Bullets, Code, Fields, Table, Text, Tone
from tests.fakes import cards

pytestmark = pytest.mark.covers("O-C17")

_SPANS = {"a", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "s", "span"}
ALLOWED = _SPANS | {"strong", "ul", *(f"h{level}" for level in range(1, 7))}
HOSTILE = """---
owner: <script>alert(1)</script>
---
# @room <b>Hi</b>

@anna:hs.org and #room:hs.org, [you](https://matrix.to/#/@anna:hs.org) https://matrix.to/#/@anna:hs.org
<a href="https://matrix.to/#/@anna:hs.org">Anna</a> [her](https://app.element.io/#/user/@anna:hs.org)
[x](javascript:alert(1)) [y](data:text/html,x) ![pixel](https://evil.org/p.png) [z](//evil.org)
[https://good.org](https://evil.org) [up](HTTPS://MATRIX.TO./#/%40anna:hs.org) matrix:u/anna:hs.org
[mail](mailto:a@b.org) [fine](https://good.org/a?b=c "title") &#64;room &#x202e;txt &lt;img&gt;

[hidden]: https://evil.org "nobody sees this"

<!-- nor this --> <details><summary>s</summary></details>
"""


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def links(self) -> list[str | None]:
        return [attrs.get("href") for tag, attrs in self.tags if tag == "a"]

    @property
    def text(self) -> str:
        return "".join(self.texts)


def document(text: str) -> tuple[DrawnMessage, ...]:
    return draw_card(cards.DOCUMENT.model_copy(update={"text": text}))


def only(card: Card) -> DrawnMessage:
    (message,) = draw_card(card)
    return message


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def event_size(message: DrawnMessage) -> int:
    sent = (message_content(message, "$root", "@a:b"), edit_content(message, "$event"))
    return max(len(json.dumps(content, ensure_ascii=False).encode()) for content in sent)


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_plain_text_and_html_say_the_same_with_allowed_tags_only(card: Card) -> None:
    for message in draw_card(card):
        seen = Tags(message.html.replace("<br>", " ").replace("</", " </"))
        assert words(seen.text) == words(message.body)
        assert {tag for tag, _ in seen.tags} <= ALLOWED
        assert {name for _, attrs in seen.tags for name in attrs} <= {"href", "class", "start"}


@given(st.text(max_size=300))
@settings(max_examples=100)
def test_no_text_becomes_a_tag_or_a_mention(text: str) -> None:
    for html in (markdown_html(text), only(NewsCard(key="n", title=text, lines=(text,))).html):
        seen = Tags(html)
        assert {tag for tag, _ in seen.tags} <= ALLOWED
        assert not any("matrix.to" in (link or "") for link in seen.links)


def test_hostile_markdown_is_inert() -> None:
    html = markdown_html(HOSTILE)
    seen = Tags(html)
    assert {tag for tag, _ in seen.tags} <= ALLOWED
    assert seen.links == ["https://evil.org", "mailto:a@b.org", "https://good.org/a?b=c"]
    outside_code = re.sub(r"<pre>.*?</pre>", "", html, flags=re.DOTALL)
    texts = Tags(re.sub(r"<(?!/?span)[^>]*>", "", outside_code)).texts
    for what in ("@room", "@anna:", "#room:", "matrix.to", "matrix:u"):
        assert not any(what in text for text in texts), what
        assert what in seen.text, "and it can still be read"


@pytest.mark.parametrize(
    "address",
    ["https://matrix.to", "https://www.matrix.to./x", "//matrix.to/", "docs/x.md", "tel:1", "#a"],
)
def test_an_address_nobody_should_click_on_is_shown_as_text(address: str) -> None:
    seen = Tags(markdown_html(f"[label]({address})"))
    assert seen.links == []
    assert seen.text == f"label ({address})"


def test_nothing_that_was_written_is_hidden() -> None:
    seen = Tags(markdown_html(HOSTILE)).text
    for shown in (
        "nobody sees this",
        "nor this",
        "javascript:alert(1)",
        "pixel (https://evil.org/p.png)",
        "https://good.org (https://evil.org)",
        "<script>alert(1)</script>",
        "z (//evil.org)",
    ):
        assert shown in seen
    assert "\u202e" not in seen


def test_what_lies_too_deep_is_shown_letter_for_letter() -> None:
    text = "> " * 150 + "deep"
    assert markdown_html(text) == f"<pre><code>{text.replace('>', '&gt;')}</code></pre>"


def test_a_table_becomes_a_list_that_loses_no_cell() -> None:
    html = markdown_html("| Id | What |\n|---|---|\n| **1** | `a` | more |\n| 2 | |\n\nafter\n")
    assert "<table" not in html
    assert "<li>Id: <strong>1</strong> · What: <code>a</code> · | **1** | `a` | more |</li>" in html
    assert "<li>Id: 2</li>" in html
    assert "<p>after</p>" in html
    assert "<li>Id · What" in markdown_html("| Id | What |\n|---|---|\n")


def test_code_and_lists_of_a_document_stay_what_they_are() -> None:
    html = markdown_html(
        "```python title\na < b  # @room\n```\n\n```python\nx\n```\n\n3. three\n4. four\n"
    )
    assert "<pre><code>a &lt; b  # @room\n</code></pre>" in html
    assert '<pre><code class="language-python">x\n</code></pre>' in html
    assert '<ol start="3">' in html


def test_rows_of_a_table_name_what_is_not_clear_by_itself() -> None:
    message = only(cards.APPROVAL)
    assert "• T001 — Set up the theme module · Agent: claude" in message.body
    assert (
        "<li><strong>T001</strong> — Set up the theme module · Agent: claude</li>" in message.html
    )


def test_options_are_numbered_as_answers_count_them() -> None:
    question = Question(number=1, text="Which?", options=("a", "b"), default="c")
    body = only(QuestionsCard(key="q", questions=(question,))).body
    assert "D1  Which?\n\n1. a\n2. b\nDefault: c" in body
    assert "1. In the browser (default)\n2. In the user's" in only(cards.QUESTIONS).body
    answered = question.model_copy(update={"answer": "b"})
    assert "→ b" in only(QuestionsCard(key="q", questions=(answered,))).body


def test_a_choice_says_how_it_is_made() -> None:
    body, html = only(cards.APPROVAL).body, only(cards.APPROVAL).html
    assert "✅ Approve — react, or write `approve`" in body
    assert "✏ Request changes — react, or write in this thread what should be different" in body
    assert "❌ Discard — react, or write `discard`" in body
    assert "✅ <strong>Approve</strong> — react, or write <code>approve</code>" in html
    assert "🛑 Stop — react, or write `stop`" in only(cards.STATUS).body
    assert "🔁 Retry — react\n" in only(cards.NEEDS_YOU).body


def test_more_choices_than_chips_name_the_other_ways() -> None:
    choices = tuple(
        Choice(label=f"Stop {n}", verb=Verb.STOP, about=f"{n}bcdef01-2345") for n in range(6)
    )
    lines = only(AnswerCard(key="a", title="Which session?", choices=choices)).body.splitlines()
    assert lines[2] == "🛑 Stop 0 — react, or write `stop 0bcdef01`"
    assert lines[-1] == "🛑 Stop 5 — write `stop 5bcdef01`"


def test_what_needs_a_person_is_text_and_what_only_tells_is_a_notice() -> None:
    kinds = {card.kind: draw_card(card)[0].kind for card in cards.EVERY_KIND}
    notices = {kind for kind, message in kinds.items() if message == "m.notice"}
    assert notices == {"received", "status", "news"}


def test_only_what_needs_a_person_or_is_over_may_ping() -> None:
    pinging = {card.kind for card in cards.EVERY_KIND if causes_notification(card)}
    assert pinging == {
        "questions",
        "approval",
        "parts",
        "earlier",
        "needs_you",
        "offer",
        "pulls",
        "stopped",
        "problem",
        "summary",
    }
    assert not causes_notification(cards.APPROVED)


def test_the_tone_is_seen() -> None:
    titles = {tone: AnswerCard(key="a", title="Title", tone=tone) for tone in Tone}
    heads = {tone: only(card).body for tone, card in titles.items()}
    assert heads[Tone.PLAIN] == "Title"
    assert len(set(heads.values())) == len(Tone)


def test_a_long_document_is_split_at_headings_and_nothing_is_lost() -> None:
    sections = [f"## Section {n}\n\nWords of {n}. {'More of them. ' * 40}\n\n" for n in range(120)]
    text = "# Spec\n\n" + "".join(sections)
    messages = document(text)
    assert len(messages) > 5
    for number, message in enumerate(messages):
        assert message.part == number
        assert event_size(message) < 50_000
        assert len(json.dumps([message.body, message.html]).encode()) <= MESSAGE_BYTES
        assert f"spec.md · revision 1 ({number + 1}/{len(messages)})" in message.body
    bodies = [message.body.split("\n\n", 1)[1] for message in messages]
    assert "\n\n".join(bodies).split() == text.split()
    assert all(body.startswith("## Section") for body in bodies[1:])
    assert [message.file is not None for message in messages] == [False] * (len(messages) - 1) + [
        True
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```py\n" + "value = 'a < b'\n" * 3000 + "```\n",
        "~~~\n" + "never closed\n" * 3000,
        "- [ ] T001 do it\n" * 3000,
        "| Id | What |\n|---|---|\n" + "| 1 | two |\n" * 3000,
        "word " * 12_000,
        "x" * 60_000,
        '"\\' * 20_000,
        "> quoted\n" * 4000,
        "語" * 20_000,
    ],
    ids=["code", "open", "list", "table", "words", "line", "escapes", "quote", "wide"],
)
def test_what_has_no_headings_is_cut_where_it_can_be(text: str) -> None:
    messages = document(text)
    assert len(messages) > 1
    assert all(event_size(message) < 60_000 for message in messages)
    bodies = "".join(message.body.split("\n\n", 1)[1] for message in messages)
    sample = {
        "```py": "value",
        "~~~\nn": "never",
        "- [ ]": "T001",
        "| Id ": "two",
        "> quo": "quoted",
    }.get(text[:5])
    whole = sample or text[0]
    assert bodies.count(whole) == text.count(whole)
    assert sum(unescape(message.html).count(whole) for message in messages) >= text.count(whole)


def test_code_that_is_cut_stays_code_and_a_table_keeps_its_head() -> None:
    for message in document("```py\n" + "value = 'a < b'\n" * 3000 + "```\n"):
        assert message.html.count('<pre><code class="language-py">value') == 1
    for message in document("| Id | What |\n|---|---|\n" + "| 1 | two |\n" * 3000):
        assert "<li>Id: 1 · What: two</li>" in message.html


@pytest.mark.parametrize(
    "element",
    [
        Text(text="A sentence of many.\n" * 3000),
        Text(text="y" * 60_000),
        Code(text="a < b & c\n" * 5000),
        Bullets(items=("an item & more",) * 4000),
        Fields(pairs=(("Name", "value"),) * 4000),
        Table(head=("Id", "What", "State"), rows=(("T001", "Do it", "Running"),) * 2000),
    ],
    ids=lambda element: element.kind,
)
def test_any_card_that_is_too_long_becomes_several_messages(element: Text) -> None:
    card = AnswerCard(key="a", title="T" * 1000, body=(element,))
    messages = draw_card(card)
    assert len(messages) > 1
    assert all(event_size(message) < 50_000 for message in messages)
    assert [m.part for m in messages] == list(range(len(messages)))
    for word, times in {"sentence": 3000, "item": 4000, "value": 4000, "T001": 2000}.items():
        found = sum(message.html.count(word) for message in messages)
        assert found in (0, times)


def test_choices_stand_on_the_last_message() -> None:
    card = cards.NEEDS_YOU.model_copy(update={"output": "x\n" * 20_000})
    *others, last = draw_card(card)
    assert others
    assert "🔁" in last.body
    assert not any("🔁" in message.body for message in others)


def test_a_document_comes_as_a_file_with_its_exact_size() -> None:
    message = only(cards.DOCUMENT)
    assert message.file is not None
    assert message.file.data == cards.DOCUMENT.text.encode()
    content = file_content(message.file, {"url": "mxc://hs/1"}, "$root")
    assert content["info"]["size"] == len(message.file.data)
    assert content["m.relates_to"]["event_id"] == "$root"
    assert all(m.file is None for card in cards.EVERY_KIND[:2] for m in draw_card(card))


def test_every_event_says_whom_it_mentions_and_an_edit_mentions_nobody() -> None:
    message = only(cards.QUESTIONS)
    assert message_content(message, "$root")["m.mentions"] == {}
    assert message_content(message, "$root", "@a:b")["m.mentions"] == {"user_ids": ["@a:b"]}
    edit = edit_content(message, "$event")
    assert edit["m.mentions"] == edit["m.new_content"]["m.mentions"] == {}
    assert "m.relates_to" not in message_content(message, "")


def test_no_event_holds_a_fraction() -> None:
    """Homeservers refuse them."""
    contents = [
        message_content(one, "$root") for card in cards.EVERY_KIND for one in draw_card(card)
    ]
    contents += [
        edit_content(one, "$event") for card in cards.EVERY_KIND for one in draw_card(card)
    ]
    file = only(cards.DOCUMENT).file
    assert file
    contents.append(file_content(file, {"url": "mxc://hs/1"}, "$root"))
    json.loads(json.dumps(contents), parse_float=refused)


def refused(fraction: str) -> None:
    raise AssertionError(fraction)


def test_a_name_cannot_leave_its_pill() -> None:
    person = Person(platform="matrix", id='@a"><b>:hs', name="</a><b>x")
    message = mention_person(only(cards.ANSWER), person)
    tags = Tags(message.html).tags
    assert [tag for tag, _ in tags][:2] == ["a", "p"]
    assert message.kind == "m.notice"


def test_a_line_full_of_dashes_is_gone_through_once() -> None:
    """Again and again it would take hours."""
    assert len(list(split_markdown(f"a | b\n{'-' * 120_000}x\n", len, 100_000))) > 1
