"""Before there is a plan: the request was heard, questions are asked, the wish may belong elsewhere."""

from __future__ import annotations

from bot.core.cards import RootCard
from bot.core.forge import Hosted
from bot.core.intent import Question, Vague, fixed_question
from bot.core.languages import ENGLISH
from bot.core.people import ChosenDestination, Destination, Earlier, Part
from bot.steps import messages
from tests.looks.catalogue.entry import Entry, entry
from tests.looks.catalogue.sample import MIKA, NOW, THREAD, asked, heard, looked

PLACE = Question(
    number=1,
    text="Where shall the choice be kept?",
    why="It decides whether it follows people to their other machines.",
    options=("In the browser", "In the user's profile on the server"),
    default="In the browser",
)
START = Question(
    number=2,
    text="What shall be shown to somebody who has chosen nothing yet?",
    options=("What their system prefers", "Light", "Dark"),
    default="What their system prefers",
)
CONTRAST = Question(
    number=3,
    text="Which contrast is wanted at least?",
    why="The design has none written down.",
    default="WCAG AA (4.5 : 1)",
)
ONLY_YOU = Question(
    number=4,
    text="Which colours does the brand allow on dark ground?",
    why="They stand nowhere in the repository.",
)
LONG_OPTIONS = Question(
    number=5,
    text="How shall pages that are rendered on the server know of the choice?",
    options=(
        "By a cookie that is written beside the entry in the browser's storage, and read before the page is drawn",
        "Not at all: they are drawn light and change as soon as the script runs, which can be seen for a moment",
    ),
    default="By a cookie that is written beside the entry in the browser's storage, and read before the page is drawn",
)
ALL = (PLACE, START, CONTRAST)


def entries() -> tuple[Entry, ...]:
    return (*_received(), *_questions(), *_elsewhere(), *_root())


def _received() -> tuple[Entry, ...]:
    nowhere = Hosted(
        slug="acme/webshop",
        problem="no token is set.",
        remedy="Set GITHUB_TOKEN, or log in with gh auth login.",
    )
    warned = looked(
        repository__uncommitted=3,
        pulls__host=None,
        repository__warnings=(
            "claude runs with --permission-mode bypassPermissions: it asks nobody before it acts.",
            "The repository's .claude/settings.json runs commands of its own.",
        ),
    )
    return (
        entry("received/at once", messages.received(heard())),
        entry("received/repository read", messages.received(looked())),
        entry("received/with warnings", messages.received(warned)),
        entry(
            "received/no token for pull requests", messages.received(looked(pulls__host=nowhere))
        ),
    )


def _questions() -> tuple[Entry, ...]:
    by_default = messages.decided_by("All answered by their defaults", MIKA, NOW)
    return (
        entry("questions/three", messages.questions(asked(*ALL))),
        entry("questions/one", messages.questions(asked(PLACE))),
        entry("questions/only a person can know", messages.questions(asked(PLACE, ONLY_YOU))),
        entry("questions/long options", messages.questions(asked(LONG_OPTIONS))),
        entry(
            "questions/too vague to plan",
            messages.questions(asked(fixed_question(Vague.CREATE, ENGLISH))),
        ),
        entry("questions/partly answered", messages.questions(asked(_answered(PLACE), START))),
        entry("questions/answered", messages.questions(asked(*map(_answered, ALL)), by_default)),
        entry("questions/many", messages.questions(asked(*_many(12)))),
    )


def _answered(question: Question) -> Question:
    return question.model_copy(update={"answer": question.default, "answered_by": "Mika"})


def _many(count: int) -> tuple[Question, ...]:
    return tuple(ALL[n % 3].model_copy(update={"number": n + 1}) for n in range(count))


def _elsewhere() -> tuple[Entry, ...]:
    parts = looked(request__parts=_parts(opened=False))
    opened = looked(
        request__parts=_parts(opened=True),
        request__destination=ChosenDestination(where=Destination.SPLIT, by="Mika", at=NOW),
    )
    earlier = looked(request__earlier=_earlier())
    here = looked(
        request__earlier=_earlier(),
        request__destination=ChosenDestination(where=Destination.HERE, by="Aki", at=NOW),
    )
    return (
        entry("parts/offered", messages.parts(parts)),
        entry("parts/opened", messages.parts(opened)),
        entry("earlier/offered", messages.earlier_session(earlier)),
        entry("earlier/planned here", messages.earlier_session(here)),
    )


def _earlier() -> Earlier:
    return Earlier(
        session="5e6f7a8b-0000-4000-8000-000000000000",
        title="Add a settings page",
        reason="It asks for one more setting on the page that was made there.",
    )


def _parts(*, opened: bool) -> tuple[Part, ...]:
    wishes = (
        ("Take payments", "Cards and bank transfers, with receipts by mail."),
        ("Refunds", "In full and in part, by the staff; the customer is told."),
        ("Monthly reports", "For the book-keepers, as CSV and PDF."),
    )
    return tuple(
        Part(
            session=f"{n}c8d7e6f-0000-4000-8000-000000000000",
            title=title,
            body=body,
            by=MIKA,
            thread=THREAD.model_copy(update={"root": f"1794988900.00010{n}"}) if opened else None,
        )
        for n, (title, body) in enumerate(wishes)
    )


def _root() -> tuple[Entry, ...]:
    card = RootCard(
        key="root:0c8d7e6f",
        session="0c8d7e6f",
        title="Take payments",
        request="Cards and bank transfers, with receipts by mail.",
        by="Aki",
        origin=THREAD,
        origin_title="A shop that takes money",
    )
    return (Entry("root/of a part", card),)
