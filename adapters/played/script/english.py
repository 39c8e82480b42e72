"""What the played model writes in English."""

from __future__ import annotations

from adapters.played.script.request import NOTICE, QUESTIONS, TITLE
from adapters.played.script.texts import (
    DocumentPhrases,
    PartText,
    PieceText,
    ReplyPhrases,
    Texts,
)

_PIECES = {
    "discount": PieceText(
        title="Discount codes",
        description="Write a module that knows the issued codes and what each takes off a total. "
        "Money stays whole cents. Tests first.",
        module="knows the codes",
        acceptance=(
            "WELCOME10 takes 200 off a total of 2000",
            "A fraction of a cent is dropped",
            "An unknown code is refused, and the refusal names it",
        ),
        story="A customer has a code from a newsletter and wants to pay less with it.",
        why="Codes are already printed; every day without them disappoints customers.",
        trial="Ask what a code takes off a total, and compare with the percentage.",
        scenarios=(
            "**Given** a total of 20.00, **When** the code WELCOME10 is used, **Then** 2.00 are taken off.",
            "**Given** a total of 9.99, **When** ten per cent are taken off, **Then** the fraction of a cent is treated as decided.",
            "**Given** a code nobody has issued, **When** it is used, **Then** it is refused by name.",
        ),
        requirements=(
            "The shop MUST take the percentage of an issued code off a total.",
            "A fraction of a cent MUST be treated as decided: {fraction}.",
            "The shop MUST refuse a code nobody has issued, and name it.",
        ),
        edges=("A code in small letters or with spaces around it: it counts.",),
        entities=("**Discount code**: a word and the percentage it takes off.",),
        criteria=(
            "Every issued code takes exactly its percentage off, on every total from 0.00 to 100.00.",
        ),
    ),
    "receipt": PieceText(
        title="Printable receipt",
        description="Write a module that prints a basket as a receipt of {width} columns: an item a "
        "line, the total below. Tests first.",
        module="prints a basket",
        acceptance=(
            "Every line is exactly {width} columns wide",
            "An amount of 205 cents is printed as 2.05",
            "The total stands on the last line",
        ),
        story="The till prints what was bought, on paper of {width} columns.",
        why="It is useful with or without codes, but nobody waits for it.",
        trial="Print a basket and hold it against the paper's width.",
        scenarios=(
            "**Given** a basket, **When** its receipt is printed, **Then** every line is exactly {width} columns wide.",
            "**Given** an item for 2.05, **When** its receipt is printed, **Then** it says 2.05.",
        ),
        requirements=(
            "A receipt MUST show name, quantity, price and amount of every item, and the total.",
            "Every line of a receipt MUST be exactly {width} columns wide, with two digits for cents.",
        ),
        edges=(
            "A name too long for the receipt: it is cut.",
            "An empty basket: it costs nothing and prints only its total.",
        ),
        criteria=("No line of a receipt is wider than the paper.",),
    ),
    "checkout": PieceText(
        title="Checkout with discounts",
        description="Write the checkout: the bill of a basket, with at most one discount code taken "
        "off by the module of {discount}. Tests first.",
        module="makes the bill and asks for the reduction",
        acceptance=(
            "Without a code the whole total is due",
            "With a code the bill shows total, reduction and what is due",
            "An unknown code stops the checkout",
        ),
        story="A customer sees the total, what the code took off, and what is left to pay.",
        why="It brings codes to the till, and needs them first.",
        trial="Check a basket out with a code and without.",
        scenarios=(
            "**Given** a basket without a code, **When** it is checked out, **Then** the whole total is due.",
            "**Given** a basket with a code, **When** it is checked out, **Then** the bill shows total, reduction and what is due.",
        ),
        requirements=(
            "The checkout MUST show total, reduction and what is due. Several codes in one basket: {several}. An unknown code: {unknown}.",
        ),
        entities=("**Bill**: what a basket costs, what a code takes off, what is due.",),
        criteria=("What is due plus what was taken off is always the total.",),
    ),
    "export": PieceText(
        title="CSV export of the basket",
        description="Write a module that gives a basket as CSV: a row for every item, the reduction "
        "of a code by the module of {discount}, then the total. Money stays whole cents. Tests first.",
        module="writes a basket as CSV",
        acceptance=(
            "Every item is a row of name, quantity, price and amount, in whole cents",
            "With a code the reduction is a row of its own",
            "A name with a comma in it is quoted",
        ),
        story="The shop's owner opens a basket in a spreadsheet.",
        why="It was asked for after the rest was planned.",
        trial="Read an export with any CSV reader and add the amounts up.",
        scenarios=(
            "**Given** a basket, **When** it is exported, **Then** every item is a row and the last row is the total.",
        ),
        requirements=(
            "An export MUST hold a row for every item, with its amount in whole cents.",
            "An export MUST end with what is due, after the reduction of a code.",
        ),
        edges=("A name with a comma or a quotation mark: it is quoted.",),
        criteria=("The amounts of an export add up to its last row.",),
    ),
    "history": PieceText(
        title="Order history",
        description="Write a module that remembers what was ordered and what was due each time. "
        "Tests first.",
        module="remembers orders",
        acceptance=(
            "Orders are numbered from 1 in the order in which they came",
            "What all orders came to is a sum in whole cents",
        ),
        story="A customer looks up what was ordered before.",
        why="Nothing else waits for it.",
        trial="Place two orders and look at the history.",
        scenarios=(
            "**Given** two orders, **When** the history is shown, **Then** both stand there with their numbers.",
        ),
        requirements=("The shop MUST remember every order with its number and what was due.",),
        entities=("**Order**: a number and what was due.",),
        criteria=("No order is missing from the history.",),
    ),
}
_PARTS = (
    PartText(
        "Discount codes at the checkout",
        "Only the discount codes, and the checkout that takes them.",
        ("discount", "checkout"),
    ),
    PartText(
        "Printable receipt", "Only the printable receipt, whatever else is planned.", ("receipt",)
    ),
    PartText("Order history", "Only the history of a customer's orders.", ("history",)),
)
_DOCUMENTS = DocumentPhrases(
    wish="A change was asked for:",
    held="The work is held against the wish “{wish}”",
    scenario="**Given** the wish “{wish}”, **When** the work is shown, **Then** it is held against it.",
    revised="Revised for this wish: “{wish}”",
    follow_up="Revision: {title}",
    defaults_built="The played agent builds the default answers, whatever was decided above.",
    conventions="The conventions of CLAUDE.md hold: money is whole cents, and tests come first.",
    settled="What contradicted itself was settled: what the request says last counts.",
)
_REPLIES = ReplyPhrases(
    risk="It only adds modules; nothing that is there changes.",
    continues="The request names “{title}”.",
    finding="The codes stand in the module, so a new code needs a new release.",
    advice="Say in the documents that this is accepted for now.",
    contradiction="The specification holds a contradiction.",
    contradiction_advice="Say which of the two counts.",
    no_acceptance="{key} does not say when it is done",
    played="(Played: no model has thought about this.)",
    nobody_at_work="There are no tasks yet.",
    states="{key} {name}: {state}.",
    welcome="You are welcome.",
    change="Something else is wanted than before.",
    question="Something is asked, nothing is wanted changed.",
    talk="Nothing is asked of the bot.",
    touched="“{name}” is about what the change names: {cues}.",
    named="{key} is named in the change.",
    untouched="No task is about it.",
    next_step="It is the usual next step.",
    goes_on="It asks for more of what was built here.",
    starts_new="It has nothing to do with what was built here.",
    judged="The work is there and the checks say what they say; the diff was not read.",
    failed="The tests fail.",
    unmet="Something of the task is left out, as the request wants it played.",
    doubtful="Only a person can say whether this is what was meant.",
    oversized="The task is too large for one agent, as the request wants it played.",
    suspicious="Tests were changed in a way nobody asked for.",
    take_back="Take this back: {says}",
    reportless="There is no report.",
    report_wanted="Write down what was found, and where.",
    part="Part {number} of: {name}",
    whole="Every requirement is served by a completed task.",
    unserved="{id} is served by no completed task.",
    unplanned="More is wanted than was planned: {title}.",
    told="What was said before, in short:",
    finished="Finished by then: {tasks}.",
    pull="## What\n\n{what}\n\n## Impact\n\nIt touches {files} and nothing else.\n\n## Tests\n\n{tests}\n\n{played}\n",
    sums="{done} of {all} tasks are completed. {decisions} decisions were taken, and {checks} checks were run. {played}",
    branch="{commits} commits change {files} files, the newest: {subject}. Look at the diff before it is merged. {played}",
)
ENGLISH = Texts("English", TITLE, NOTICE, QUESTIONS, _PIECES, _PARTS, _DOCUMENTS, _REPLIES)
