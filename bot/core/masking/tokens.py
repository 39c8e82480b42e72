"""Finds tokens by their shape, and private keys: secrets that need no label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.core.masking.known import RewrittenText, Span, windows_around

_SHAPES = {
    "ANTHROPIC_KEY": r"sk-ant-[A-Za-z0-9_-]{20}",
    "OPENAI_KEY": r"""
        sk-(?: (?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16}
             | [A-Za-z0-9]{20}
             | (?!ssh-|ecdsa-)[a-z0-9]{2,12}-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20} )""",
    "JWT": r"""
        (?<![A-Za-z0-9][_-]) eyJ[A-Za-z0-9_-]{8,4000}+
        \.(?: eyJ[A-Za-z0-9_-]{4,16000}+ (?: \.[A-Za-z0-9_-]{0,16000}+ ){0,3}
            | [A-Za-z0-9_-]{0,4000}+ (?: \.[A-Za-z0-9_-]{1,16000}+ ){1,3} )""",
    "GITHUB_TOKEN": r"""
        github_pat_[A-Za-z0-9_]{20}
      | gh[pousr]_[A-Za-z0-9_]{20,600}+ (?: \.[A-Za-z0-9_-]{10,4000}+ ){0,2}""",
    "SLACK_TOKEN": r"""
        xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10} | xapp-[0-9]-[A-Za-z0-9-]{10}
      | hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{20,200}+""",
    "AWS_KEY": r"""
        (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9]) | ABSK[A-Za-z0-9+/]{100,400}+=*
      | amzn\.mws\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}""",
    "GOOGLE_KEY": r"""
        AIza[A-Za-z0-9_-]{30} | ya29\.[A-Za-z0-9_.-]{20,2000}+ | GOCSPX-[A-Za-z0-9_-]{20}
      | 1//0[A-Za-z0-9_-]{40}""",
    "MATRIX_TOKEN": r"""
        sy[rt]_[A-Za-z0-9+/=_-]{20,400}+ | m(?:at|cr|ct)_[A-Za-z0-9]{20,64}_[A-Za-z0-9]{6}""",
    "STRIPE_KEY": r"[prs]k_(?:live|test)_[A-Za-z0-9]{10} | whsec_[A-Za-z0-9+/=]{20,100}+",
    "GITLAB_TOKEN": r"""
        gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|ffct|oas)-[A-Za-z0-9_-]{16,300}+
        (?: \.[A-Za-z0-9_-]{2,60} ){0,2} | GR1348941[A-Za-z0-9_-]{20}""",
    "NPM_TOKEN": r"npm_[A-Za-z0-9]{30}",
    "PYPI_TOKEN": r"pypi-[A-Za-z0-9_-]{40}",
    # Kinds with a prefix of their own, followed by a long random string: see `_random`.
    "SERVICE_TOKEN": r"""
        # code, packages, builds
        sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40} | ATBB[A-Za-z0-9]{32}(?![A-Za-z0-9]) | rubygems_[0-9a-f]{48}
      | cio[A-Za-z0-9]{32}(?![A-Za-z0-9]) | CLOJARS_[0-9a-f]{60} | oy2[a-p][a-z0-9]{42}(?![A-Za-z0-9])
      | dckr_[po]at_[A-Za-z0-9_-]{20} | AKCp[A-Za-z0-9]{60} | cmVmdGtu[A-Za-z0-9]{50} | [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{50}
      | pul-[0-9a-f]{40} | CCI(?:PAT|PRJ)_[A-Za-z0-9]{15,30}_[0-9a-f]{40} | bk(?:ua|pt|et)_[0-9a-f]{40}
      | pat\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20} | API-[A-Z0-9]{26}(?![A-Za-z0-9]) | pn[ub]_[A-Za-z0-9]{36}
      | sha256~[A-Za-z0-9_-]{40} | snyk_[us]at\.[0-9a-f]{8}\.[A-Za-z0-9_-]{60} | sq[upa]_[0-9a-f]{40} | ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])
        # clouds
      | [A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,36} | [A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{18}AZDO[A-Za-z0-9]{4}
      | [A-Za-z0-9+/]{76}(?:\+ASt|ACDb)[A-Za-z0-9+/]{6}== | [A-Za-z0-9+/]{42}(?:\+ACR|AzSe)[A-Za-z0-9]{6}(?![A-Za-z0-9])
      | LTAI[A-Za-z0-9]{12,30} | AKID[A-Za-z0-9]{32} | AQVN[A-Za-z0-9_-]{35} | do[opr]_v1_[a-f0-9]{64} | DO(?:00|801)[A-Z0-9]{15}
      | tk-us-[A-Za-z0-9_-]{48} | cf(?:ut|at|k)_[A-Za-z0-9]{40} | v1\.0-[0-9a-f]{24}-[0-9a-f]{146} | fo1_[A-Za-z0-9_-]{40}
      | fm[12][ar]?_[A-Za-z0-9+/]{80,2000}+=* | HRKU-[A-Za-z0-9_-]{40} | rnd_[A-Za-z0-9]{28} | vc[pikar]_[A-Za-z0-9]{40}
      | vercel_blob_rw_[A-Za-z0-9]{16} | nf[pcoub]_[A-Za-z0-9]{36} | dd[pow]_[A-Za-z0-9]{36} | sbp_(?:v0_)?[a-f0-9]{40}
      | sb_secret_[A-Za-z0-9_-]{22} | pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32} | napi_[a-z0-9]{50} | npg_[A-Za-z0-9]{12}(?![A-Za-z0-9_])
      | AVNS_[A-Za-z0-9_-]{18} | dapi[a-f0-9]{32} | tskey-[a-z]{3,10}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{20}
        # models
      | hf_[A-Za-z0-9]{30} | api_org_[A-Za-z]{34} | gsk_[A-Za-z0-9]{40} | xai-[A-Za-z0-9]{40} | pplx-[A-Za-z0-9]{40} | r8_[A-Za-z0-9]{37}
      | fw_[A-Za-z0-9]{22,24}(?![A-Za-z0-9_]) | csk-[a-z0-9]{40} | nvapi-[A-Za-z0-9_-]{60} | lsv2_[ps][tk]_[0-9a-f]{32}
      | pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50} | tvly-(?:dev-)?[A-Za-z0-9]{30} | jina_[A-Za-z0-9]{50} | sk_[0-9a-f]{48} | wandb_v1_[A-Za-z0-9_]{60}
        # money
      | sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22} | EAAA[A-Za-z0-9_-]{60}(?![A-Za-z0-9_-]) | EAA[A-Za-z0-9]{90}
      | access-(?:production|sandbox|development)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
      | access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32} | rzp_(?:live|test)_[A-Za-z0-9]{14} | FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12}
      | EZ[AT]K[A-Za-z0-9]{54} | duffel_(?:live|test)_[A-Za-z0-9_-]{43} | shippo_(?:live|test)_[0-9a-f]{40} | pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}
        # mail
      | (?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9]) | SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16} | key-[0-9a-f]{32}(?![A-Za-z0-9])
      | [0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9]) | md-[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-]) | xkeysib-[0-9a-f]{64}
      | re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20} | dG9rO[A-Za-z0-9+/]{54}=* | pat-(?:na|eu|ap)[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
        # chat
      | bot[0-9]{8,10}:[A-Za-z0-9_-]{30} | [0-9]{8,10}:AA[A-Za-z0-9_-]{32} | [MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}
      | discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{16,20}/[A-Za-z0-9_-]{60}
      | [a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/[0-9a-f@-]{60,80}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}
        # watching
      | sntrys_[A-Za-z0-9+/=_]{60,400}+ | sntryu_[0-9a-f]{64} | NRAK-[A-Z0-9]{27} | NRII-[A-Za-z0-9_-]{32} | NRJS-[0-9a-f]{19}
      | [0-9a-f]{36}NRAL(?![A-Za-z0-9]) | glsa_[A-Za-z0-9]{32} | glc_[A-Za-z0-9+/]{40,400}+=* | hca?[imn][kc]_[a-z0-9]{50} | dt0[a-z][0-9]{2}\.[A-Z2-7]{24}\.[A-Z2-7]{60}
      | ph[xcs]_[A-Za-z0-9]{40} | pylf_v[0-9]_[a-z]{2}_[A-Za-z0-9]{40} | rootly_[0-9a-f]{64}
      | (?:sdk|api|mob)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![A-Za-z0-9])
        # work
      | fig[dopur]{1,2}_[A-Za-z0-9_-]{40} | PMAK-[0-9a-f]{24}-[0-9a-f]{34} | lin_(?:api|oauth)_[A-Za-z0-9]{30} | ntn_[A-Za-z0-9]{30}
      | secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]) | pat[A-Za-z0-9]{14}\.[0-9a-f]{64} | ATATT3[A-Za-z0-9_=-]{40,400}+ | ATTA[0-9a-f]{64}
      | 1/[0-9]{13,20}:[0-9a-f]{32} | tfp_[A-Za-z0-9_-]{40} | CFPAT-[A-Za-z0-9_-]{40} | rdme_[a-z0-9]{60} | sl\.(?:u\.)?[A-Za-z0-9_-]{120}
      | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32} | [sp]k\.eyJ[A-Za-z0-9_-]{20,400}\.[A-Za-z0-9_-]{20} | p8e-[A-Za-z0-9_-]{32}
        # keepers of secrets
      | hv[sbr]\.[A-Za-z0-9_-]{20} | dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40}
      | st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32} | ops_eyJ[A-Za-z0-9_-]{60,4000}+ | A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}
      | AGE-SECRET-KEY-1[A-Z0-9]{40} | dnkey-[A-Z2-7]{26}-[A-Z2-7]{52}""",
}
# Tokens of any other maker: a short prefix followed by a long run of letters and digits.
_UNNAMED = r"""(?!sha[0-9]|md5|blake|base64|crc)[a-z][a-z0-9]{1,9}[_-](?:(?:live|test|prod|v[0-9]|api|pat|key|secret|token)[_-]){0,2}
    (?=[a-z0-9]{0,20}[A-Z])(?=[A-Z0-9]{0,20}[a-z])(?=(?:[A-Za-z]{0,20}[0-9]){3})[A-Za-z0-9]{32}"""


# For finding candidates the beginning suffices: a long token need not be complete.
_ANY = "|".join(
    ["eyJ[A-Za-z0-9_-]{8}", *(_SHAPES[name] for name in _SHAPES if name != "JWT"), _UNNAMED]
)
_NAMED = {name: re.compile(shape, re.VERBOSE) for name, shape in _SHAPES.items()}
_OTHER = re.compile(_UNNAMED, re.VERBOSE)
# No token is shorter than sixteen characters: this lookahead rejects almost every position cheaply.
_LOOK = rf"(?=[A-Za-z0-9_.:/$+=~@-]{{16}})(?={_ANY})"
_CANDIDATES = (
    re.compile(rf"[^A-Za-z0-9]{_LOOK}", re.VERBOSE),
    re.compile(
        rf"(?: %[0-9A-Fa-f]{{2}} | \\(?:[nrtbf]|x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}) ){_LOOK}",
        re.VERBOSE,
    ),
)
"""Where a token may begin: after a character that no token contains, or after an escaped one."""
_CHARS_PER_SEARCH = 64 * 1024
"""Characters per search: a regex search blocks everything else in the program while it runs."""
_REACH = 1024
"""How far a candidate may extend beyond the end of its stretch."""
_REST = re.compile(r"[A-Za-z0-9_-]*")
_MIN_DISTINCT_CHARS = 6
"""Fewest different characters in a token; `ghp_xxxxxxxxxxxxxxxxxxxxxxxx` is a placeholder."""

_BREAK = re.compile(
    r"""(?: \n (?<=[A-Za-z0-9_.+/=~-]\n) | [=\\]\n (?<=[A-Za-z0-9_.+/=~-][=\\]\n) | <wbr[ ]?/?> )
        (?: [>|+\u2502][ ]? ){0,4}
        (?= [A-Za-z0-9_.+/=~-] )""",
    re.VERBOSE,
)
"""A line break that may split a token: between the halves there are only markers of a quotation, a diff or a box."""
_LONGEST_HALF = 320
_BEFORE = re.compile(r"[0-9][A-Za-z_.+/=~-]{0,40}\Z")
_BEHIND = re.compile(r"[A-Za-z_.+/=~-]{0,40}[0-9]")
_ENCODED = re.compile(r"%(?:25)?(2[0-9A-Fa-f]|3[A-Fa-f])")
"""Percent-encoded punctuation in URLs."""

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_LONGEST_KEY = 64 * 1024
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/=]{16}")
_CUT_KEY = re.compile(
    r"""
    (?: (?: \s | \\[nr] ){0,8} [A-Z][A-Za-z-]{1,20}:[ ] [^\n\\]{0,120} ){0,4}
    (?: [^A-Za-z0-9\n.]{0,16}+ (?: \n [^\n]{0,64}? )? (?: \\{1,4}[nr] )? [A-Za-z0-9+/]{40,128}+ ){0,1000}+
    (?: [\s\\"'`,|>+\u2502]{0,16} (?: (?<=\\)[nr] )? [A-Za-z0-9+/=]{1,128}+ (?= \W | \Z ) )?""",
    re.VERBOSE,
)
"""The lines of a key whose end is missing: Base64, after whatever a log, a diff or an editor puts before each line."""
_LONGEST_LINE = 256
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{8,128}")


def tokens(text: str) -> Iterator[Span]:
    """Yield the tokens that are in one piece, percent-encoded in a URL, or split by a line break."""
    whole = list(_whole_tokens(text))
    yield from whole
    if "%2" in text or "%3" in text:
        decoded = RewrittenText(text, _ENCODED, lambda code: chr(int(code[1], 16)))
        yield from map(decoded.origin, _whole_tokens(decoded.text))
    known = {span.start: span for span in whole}
    for start, end in windows_around(_splitting_line_breaks(text), _LONGEST_HALF):
        joined = RewrittenText(text[start:end], _BREAK, lambda _: "")
        for span in _whole_tokens(joined.text):
            found = joined.origin(span, start)
            if found.end - found.start > span.end - span.start:
                yield from _cut_token(text, found, known.get(found.start))


def _splitting_line_breaks(text: str) -> Iterator[int]:
    """Yield the line breaks that may split a token: almost any part of a token contains a digit."""
    for gap in _BREAK.finditer(text):
        before = text[max(0, gap.start() - 41) : gap.start()]
        if _BEHIND.match(text, gap.end()) or _BEFORE.search(before):
            yield gap.start()


def _cut_token(text: str, found: Span, whole: Span | None) -> Iterator[Span]:
    """Yield the parts of a token over several lines.

    If its first line is a complete token, the next ones count only if they look random, too.
    """
    pieces = [(found.start, found.end)]
    for gap in _BREAK.finditer(text, found.start, found.end):
        start, end = pieces.pop()
        pieces += [(start, gap.start()), (gap.end(), end)]
    end = pieces[0][1]
    for start, stop in pieces[1:]:
        if whole and whole.end <= end and not _random(text[start:stop]):
            break
        end = stop
    yield Span(found.start, end, found.name)


def _random(piece: str) -> bool:
    return any(sign.isdigit() for sign in piece) and any(sign.isalpha() for sign in piece)


def _whole_tokens(text: str) -> Iterator[Span]:
    done = other_done = 0
    for at in _candidates(text):
        if at < done:
            continue
        if token := _token_at(text, at):
            done = token.end
            if len(set(text[at:done])) >= _MIN_DISTINCT_CHARS:
                yield token
        elif at >= other_done and (other := _OTHER.match(text, at)):
            # no known maker; a known prefix further on takes precedence and names the mask
            token = _span_to_end(text, other, "SERVICE_TOKEN")
            other_done = token.end
            yield token


def _candidates(text: str) -> list[int]:
    found = [0]
    for start in range(0, len(text), _CHARS_PER_SEARCH):
        for candidate in _CANDIDATES:
            matches = candidate.finditer(text, start, start + _CHARS_PER_SEARCH + _REACH)
            found += [match.end() for match in matches]
    return sorted(set(found))


def _token_at(text: str, at: int) -> Span | None:
    for name, shape in _NAMED.items():
        if match := shape.match(text, at):
            return _span_to_end(text, match, name)
    return None


def _span_to_end(text: str, match: re.Match[str], name: str) -> Span:
    # The shapes are bounded; the rest of a longer token must be masked, too.
    rest = _REST.match(text, match.end())
    return Span(match.start(), rest.end() if rest else match.end(), name)


def private_keys(text: str) -> Iterator[Span]:
    """Yield the private keys, complete or cut off at either end."""
    at = text.find("-----BEGIN ")
    while at >= 0:
        following = text.find("-----BEGIN ", at + 11)
        if begin := _BEGIN.match(text, at):
            end = _key_end(text, begin.end(), following)
            if _KEY_TEXT.search(text, begin.end(), end):  # the marker alone is no secret
                yield Span(at, end, "PRIVATE_KEY")
        at = following
    yield from _key_tails(text)


def _key_end(text: str, at: int, following: int) -> int:
    reach = min(at + _LONGEST_KEY, following if following >= 0 else len(text))
    end = _END.search(text, at, reach)
    if end and _KEY_TEXT.search(text, at, min(at + 400, end.start())):
        return end.end()
    cut = _CUT_KEY.match(text, at, reach)
    return cut.end() if cut else at


def _key_tails(text: str) -> Iterator[Span]:
    """Yield private keys of which only the end is there, as in the last lines of an output."""
    done = 0
    at = text.find("-----END ")
    while at >= 0:
        if end := _END.match(text, at):
            start = _first_key_line(text, done, at)
            if start < at:
                yield Span(start, end.end(), "PRIVATE_KEY")
            done = end.end()
        at = text.find("-----END ", at + 9)


def _first_key_line(text: str, floor: int, end: int) -> int:
    """Return where the Base64 lines above `end` begin; `end` itself if there are none or the key is complete."""
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
