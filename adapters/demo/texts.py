"""The request the demo proposes, its questions, and the kinds of text there are in each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# The request, and the questions the played model asks about it.

REQUEST = "Add discount codes and a printable receipt to the basket"
TITLE = "Discount codes and a printable receipt"
NOTICE = (
    "This plan is played. No model has thought about it: the demo's played model answers every "
    "request with tasks for its sample repository."
)


@dataclass(frozen=True)
class PlayedQuestion:
    text: str
    why: str
    options: tuple[str, ...]
    """The first one is the default, and the one the played agent builds."""
    cues: tuple[tuple[str, ...], ...]
    """Of each option: the words that mean it, whoever writes them."""
    piece: str
    """It is asked only where this is built."""

    def as_reply(self) -> dict[str, object]:
        return {
            "text": self.text,
            "why": self.why,
            "options": list(self.options),
            "default": self.options[0],
        }


SEVERAL = (
    ("one code", "only one", "a single code", "not combined", "1つだけ", "一つだけ", "ひとつだけ"),
    ("one after the other", "several", "combine", "併用", "複数", "順に"),
)
FRACTION = (
    ("dropped", "drop it", "round down", "rounded down", "切り捨て", "切捨て"),
    ("rounded half", "half up", "rounded", "round it", "四捨五入"),
)
UNKNOWN = (
    ("stops", "stop it", "names the code", "止ま", "止め", "エラー"),
    ("no discount", "without a discount", "goes on", "go on", "割引なし", "続け"),
)
QUESTIONS = (
    PlayedQuestion(
        "May several discount codes be combined in one basket?",
        "It decides how much a shop can lose on one order.",
        ("No, one code per basket", "Yes, one after the other"),
        SEVERAL,
        "checkout",
    ),
    PlayedQuestion(
        "What happens to a fraction of a cent that a percentage leaves?",
        "Prices are whole cents here, so it has to go somewhere.",
        ("It is dropped, in the shop's favour", "It is rounded half up"),
        FRACTION,
        "discount",
    ),
    PlayedQuestion(
        "What does the checkout do with a code nobody has issued?",
        "Customers mistype codes; silence would look like a wrong price.",
        ("It stops and names the code", "It goes on without a discount"),
        UNKNOWN,
        "checkout",
    ),
)


# The kinds of text. The texts themselves are in `languages`.


@dataclass(frozen=True)
class PieceText:
    """What is written about one piece of work. `{width}` and the decisions are filled in."""

    title: str
    """With English words in it: branches are named after it."""
    description: str
    module: str
    """What its module does, after the module's name."""
    acceptance: tuple[str, ...]
    story: str
    why: str
    trial: str
    scenarios: tuple[str, ...]
    requirements: tuple[str, ...]
    edges: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True)
class PartText:
    """A part of a request that is too large for one plan."""

    title: str
    body: str
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class DocumentPhrases:
    """Sentences in documents and tasks. `{wish}` is what a person wants different."""

    wish: str
    """How a line of the assumptions begins that keeps a wish for the next revision."""
    held: str
    scenario: str
    revised: str
    follow_up: str
    defaults_built: str
    conventions: str
    settled: str
    """A line of the assumptions of a specification whose findings were repaired."""


@dataclass(frozen=True)
class ReplyPhrases:
    """Sentences in other replies."""

    risk: str
    continues: str
    finding: str
    advice: str
    contradiction: str
    contradiction_advice: str
    no_acceptance: str
    played: str
    nobody_at_work: str
    states: str
    welcome: str
    change: str
    question: str
    talk: str
    touched: str
    """Why a task is affected."""
    named: str
    untouched: str
    next_step: str
    goes_on: str
    starts_new: str
    judged: str
    failed: str
    unmet: str
    doubtful: str
    oversized: str
    suspicious: str
    take_back: str
    reportless: str
    report_wanted: str
    part: str
    """What a part of a task that was cut too large is called."""
    whole: str
    unserved: str
    unplanned: str
    told: str
    """How a summary of old talk begins."""
    finished: str
    pull: str
    sums: str
    branch: str


@dataclass(frozen=True)
class Texts:
    language: str
    title: str
    notice: str
    questions: tuple[PlayedQuestion, ...]
    pieces: Mapping[str, PieceText]
    parts: tuple[PartText, ...]
    documents: DocumentPhrases
    replies: ReplyPhrases
