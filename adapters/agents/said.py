"""How each CLI says that its account has nothing left for now. What tells when it ends has a name in the pattern."""

from __future__ import annotations

from adapters.agents.limits import CLOCK, DAY, LASTS, LimitWords

_UNTIL = rf"{DAY}{CLOCK}(?:\s*\((?P<zone>[A-Za-z0-9_+\-/: ]{{2,40}})\))?"

CLAUDE = (
    LimitWords(r"usage limit reached\s*\|\s*(?P<epoch>\d{10,13})"),
    LimitWords(
        r"(?:you[’']ve (?:hit|reached) your|you[’']re out of|(?:usage|session|weekly|5-hour|opus|sonnet) limit"
        rf" reached)[^\n]{{0,160}}?\bresets?(?: at)? {_UNTIL}"
    ),
    LimitWords(
        r"you[’']ve (?:hit|reached) your (?:[\w’']+ ){0,5}(?:limit|allocation)|you[’']re out of (?:usage|extra usage|credits)"
        r"|(?:usage|session|weekly|5-hour|opus|sonnet) limit reached|credit balance is too low"
    ),
)
CODEX = (
    LimitWords(rf"usage limit[^\n]{{0,240}}?try again in {LASTS}"),
    LimitWords(rf"usage limit[^\n]{{0,240}}?try again at {DAY}{CLOCK}"),
    LimitWords(r"you[’']ve hit your usage limit|usage limit has been reached|out of credits"),
    LimitWords(rf"rate limit reached[^\n]{{0,200}}?try again in {LASTS}"),
    LimitWords(r"exceeded your current quota|insufficient_quota|\b429 Too Many Requests"),
)
GEMINI = (
    LimitWords(rf"quota[^\n]{{0,200}}?resets? (?:after|in) {LASTS}"),
    LimitWords(
        rf"access resets at {DAY}{CLOCK}(?:\s*(?P<zone>(?:GMT|UTC)(?:[+-][0-9:]{{1,5}})?|[A-Z]{{2,5}}))?"
    ),
    LimitWords(rf"quota[^\n]{{0,400}}?(?:retry|try again) (?:in|after) {LASTS}"),
    LimitWords(
        r"exhausted your (?:daily )?(?:quota|capacity)|quota exceeded|exceeded your current quota"
        r"|usage limit reached|RESOURCE_EXHAUSTED"
    ),
)
OPENCODE = (
    LimitWords(rf"^HTTP 429\b[^\n]*?(?:retry|try again|resets?) (?:after|in) {LASTS}"),
    LimitWords(rf"usage limit[^\n]{{0,200}}?(?:resets?|try again|retry) (?:after|in) {LASTS}"),
    LimitWords(
        r"^HTTP 429\b|usage limit (?:reached|exceeded)|too many requests|insufficient_quota"
    ),
)
