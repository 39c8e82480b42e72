"""Secrets told by their looks: tokens by their shape, values by the label in front of them. One pass, linear in time.

Every quantifier is bounded, and none can be tried again from inside what it has matched.
"""

from __future__ import annotations

import re
from functools import lru_cache

from bot.domain.masking.known import MASK
from bot.domain.masking.values import VALUES

_SHAPES = {
    "PRIVATE_KEY": r"""
        -----BEGIN [A-Z0-9 ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----
        (?: (?: \s | \\[nr] ){0,8} [A-Z][A-Za-z-]{1,20}:[ ] [^\n\\]{0,120} ){0,4}
        (?: [A-Za-z0-9/=]{1,128} | [\s+\\"'`,|>\#*\u2500-\u259f] | -(?!---) ){0,16000}+
        (?: -{0,3} -----END [A-Z0-9 ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?----- )?""",
    "ANTHROPIC_KEY": r"sk-ant-[A-Za-z0-9_-]{20,300}",
    "OPENAI_KEY": r"""
        sk-(?: (?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,300}
             | [A-Za-z0-9]{20,300}
             | [a-z0-9]{2,12}-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,300} )""",
    "JWT": r"""
        (?<![_-]) eyJ[A-Za-z0-9_-]{8,4000}+
        \.(?: eyJ[A-Za-z0-9_-]{4,16000}+ (?: \.[A-Za-z0-9_-]{0,16000}+ ){0,3}
            | [A-Za-z0-9_-]{0,4000}+ (?: \.[A-Za-z0-9_-]{1,16000}+ ){1,3} )""",
    "GITHUB_TOKEN": r"""
        (?: github_pat_[A-Za-z0-9_]{20,255}
          | gh[pousr]_[A-Za-z0-9_]{20,600} (?: \.[A-Za-z0-9_-]{10,4000}+ ){0,2} )""",
    "SLACK_TOKEN": r"""
        (?: xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,400} | xapp-[0-9]-[A-Za-z0-9-]{10,400}
          | hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{20,200} )""",
    "AWS_KEY": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "GOOGLE_KEY": r"""
        (?: AIza[A-Za-z0-9_-]{30,60} | ya29\.[A-Za-z0-9_-]{20,2000} | GOCSPX-[A-Za-z0-9_-]{20,60} )""",
    "MATRIX_TOKEN": r"""
        (?: sy[rt]_[A-Za-z0-9+/=_-]{20,400} | m(?:at|cr|ct)_[A-Za-z0-9]{20,64}_[A-Za-z0-9]{6} )""",
    "STRIPE_KEY": r"(?: [prs]k_(?:live|test)_[A-Za-z0-9]{10,255} | whsec_[A-Za-z0-9+/=]{20,100} )",
    "GITLAB_TOKEN": r"""
        gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|ffct|oas)-[A-Za-z0-9_-]{16,300}
        (?: \.[A-Za-z0-9_-]{2,60} ){0,2}""",
    "NPM_TOKEN": r"npm_[A-Za-z0-9]{30,80}",
    "PYPI_TOKEN": r"pypi-[A-Za-z0-9_-]{40,600}",
    "SERVICE_TOKEN": r"""
        (?: hf_[A-Za-z0-9]{30,60} | gsk_[A-Za-z0-9]{40,80} | xai-[A-Za-z0-9]{40,120}
          | do[opr]_v1_[a-f0-9]{64} | SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}
          | [0-9]{8,10}:AA[A-Za-z0-9_-]{32,36} | dckr_pat_[A-Za-z0-9_-]{20,60}
          | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32} | glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}
          | hvs\.[A-Za-z0-9_-]{20,300} | lin_api_[A-Za-z0-9]{30,60} | ntn_[A-Za-z0-9]{30,60}
          | pplx-[A-Za-z0-9]{40,60} | dapi[a-f0-9]{32} | sbp_[a-f0-9]{40} | ATATT3[A-Za-z0-9_=-]{40,300}
          | AGE-SECRET-KEY-1[A-Z0-9]{40,70} )""",
}

_WORD = r"""(?: pass(?:word|wd|phrase)s? | secrets? | token | credentials?
    | (?:api|access|private|secret|auth|signing|encryption|master|account|shared|webhook|deploy)[_.-]?key
    | secret[_.-]?access[_.-]?key )"""

_LABELS = {
    "AUTH_HEADER": r"""(?i:authorization) \\{0,3}["']? [ \t]{0,4} [:=] [ \t]{0,4} \\{0,3}["']?""",
    "SET_COOKIE": r"""(?i:set-cookie) \\{0,3}["']? [ \t]{0,4} : [ \t]{0,4} \\{0,3}["']?""",
    "COOKIE": r"""(?i:cookie) (?: \\{0,3}["']? [ \t]{0,4} : [ \t]{0,4} | [ ] (?=["']) ) \\{0,3}["']?""",
    "JSON_CREDENTIAL": rf"""
        \\{{0,3}}["'] (?= [A-Za-z0-9_.-]{{2,64}} \\{{0,3}} ["'] \s{{0,8}} : )
        [A-Za-z0-9_.-]{{0,48}}? (?i:{_WORD} | pwd) \\{{0,3}}["'] \s{{0,8}} : \s{{0,8}} \\{{0,3}}["']""",
    "ENV_CREDENTIAL": r"""
        (?: PASSWORD | PASSWD | PASSPHRASE | (?<=_)PWD | SECRET | TOKEN | CREDENTIALS?
          | (?:API|ACCESS|PRIVATE|SECRET|AUTH|SIGNING|ENCRYPTION|MASTER|ACCOUNT)_?KEY )
        (?: _(?:[0-9]{1,3}|BASE|PROD|STAGING|DEV|TEST|LIVE) )? = (?! = ) \\{0,3}["']?""",
    "BEARER_TOKEN": r"(?<![A-Za-z]) (?i:bearer) [ \t]{1,4}",
    "URL_PASSWORD": r"""://(?= [^\s/"'<>]{1,640} @ )""",
    "GENERIC_SECRET": rf"""
        (?: (?i: --{_WORD} ) [ ]
          | (?i: {_WORD} | (?<![A-Za-z])(?:key|pwd) ) \\{{0,3}}["'`]? \]?
            (?: [ ]?:[ ]? (?:str|string|String|&str)(?:[ ]?\|[ ]?None)? (?=[ ]?=) )?
            [ \t]{{0,3}} (?: => | := | [:=](?!=) ) [ \t]{{0,3}} )
        (?: [rbfu]{{0,2}} \\{{0,3}}["'`] )?""",
}


def _combined(patterns: dict[str, str]) -> str:
    return "|".join(f"(?P<{name}>{pattern})" for name, pattern in patterns.items())


_BOUNDARY = r"(?: (?<![A-Za-z0-9]) | (?<=\\[nrt]) )"
_SHAPE = re.compile(f"{_BOUNDARY}(?:{_combined(_SHAPES)})", re.VERBOSE)
_SECRET = re.compile(
    f"(?P<MASK>{MASK.pattern}) | {_BOUNDARY}(?:{_combined(_SHAPES)}) | {_combined(_LABELS)}",
    re.VERBOSE,
)
_REST = re.compile(r"[A-Za-z0-9_-]*")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----")
_LONGEST_LINE = 256
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{8,128}")

_PASSES = 4
_SHORT = 512
"""Characters of a text that is worth remembering: titles, names and states come again with every card."""
_MOST_REMEMBERED = 1_024
"""Such texts: a session has some ninety."""
_STRETCH = 64 * 1024
"""Characters searched at once: as long as one search takes, nothing else in this program goes on."""
_REACH = 12 * 1024
"""Of these, from the end, those in which a secret is left to the next stretch: no pattern needs more to know one."""


def mask_patterns(text: str) -> str:
    """Replace what looks like a secret; a label stays in front of its value."""
    return _remembered(text) if len(text) <= _SHORT else _masked(text)


@lru_cache(maxsize=_MOST_REMEMBERED)
def _remembered(text: str) -> str:
    return _masked(text)


def _masked(text: str) -> str:
    # A mask may let the words around it be read differently, so it is looked at again: masking twice is masking once.
    for _ in range(_PASSES):
        masked = _masked_once(_mask_key_tails(text))
        if masked == text:
            break
        text = masked
    return text


def _masked_once(text: str) -> str:
    parts: list[str] = []
    done = at = 0
    while match := _next(text, at):
        name, span = _span(text, match)
        if span is None:
            at = match.end()
            continue
        parts += [text[done : span[0]], f"[MASKED:{name}]"]
        done = at = span[1]
    return "".join([*parts, text[done:]])


def _next(text: str, at: int) -> re.Match[str] | None:
    """The first one from there on. One that ends near the end of its stretch is looked at again without that end."""
    while len(text) - at > _STRETCH:
        sure = at + _STRETCH - _REACH
        match = _SECRET.search(text, at, at + _STRETCH)
        if match and match.start() < sure:
            return match if match.end() < sure else _SECRET.search(text, match.start())
        at = sure
    return _SECRET.search(text, at)


def _span(text: str, match: re.Match[str]) -> tuple[str, tuple[int, int] | None]:
    name = match.lastgroup or ""
    if name == "MASK":
        return name, None
    if name == "PRIVATE_KEY":
        return name, match.span()
    if name in _SHAPES:
        # The bounds of a shape must not leave the rest of an overlong token standing.
        rest = _REST.match(text, match.end())
        return name, (match.start(), rest.end() if rest else match.end())
    span = VALUES[name](text, match)
    if span is None:
        return name, None
    # The sharper name wins: API_KEY="sk-…" is a key of OpenAI.
    shape = _SHAPE.search(text, *span)
    return (shape.lastgroup or name if shape else name), span


def _mask_key_tails(text: str) -> str:
    """Private keys of which only the end is there, as in the last lines of an output."""
    parts: list[str] = []
    done = 0
    for end in _KEY_END.finditer(text):
        start = _first_key_line(text, done, end.start())
        if start < end.start():
            parts += [text[done:start], "[MASKED:PRIVATE_KEY]"]
            done = end.end()
    return "".join([*parts, text[done:]])


def _first_key_line(text: str, floor: int, end: int) -> int:
    """Where the lines of Base64 above `end` begin; `end` itself, where there is none or the whole key is there."""
    first = start = end
    while start > floor:
        reach = max(floor, start - _LONGEST_LINE)
        start = text.rfind("\n", reach, start - 1) + 1 or reach
        line = text[start:first].strip(" \t\n\r|\"'\\,>│┃+-")
        if "BEGIN" in line and line.endswith("PRIVATE KEY"):
            return end
        if _KEY_LINE.fullmatch(line):
            first = start
        elif line or "\n" in text[start:end]:
            break
    return first
