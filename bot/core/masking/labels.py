"""Finds secrets by the label before them: assignments in any language, configuration, tables, sentences.

Labels are searched first, and the patterns of what may stand between a label and its value are tried only after one.
All patterns are bounded, so the time stays linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from bot.core.masking import values
from bot.core.masking.known import Span
from bot.core.masking.values import Value


class LabelStrength(Enum):
    """How strongly a label suggests a secret. The weaker it is, the more the value itself must look like one."""

    PASSWORD = auto()
    SECRET = auto()
    WEAK = auto()


class Label(NamedTuple):
    start: int
    end: int
    name: str
    """In lower case, with its qualifiers: `db.password`."""
    sort: LabelStrength
    capitals: bool


_LATIN = (
    r"kennw[oö]rt(?:er)?|passw[oö]rt(?:er)?|mots? de passe|contrase[nñ]as?|senhas?|parola d['’]ordine|wachtwoord(?:en)?"
    r"|has[lł]o|l[öo]senord|adgangskode|salasana|sifre|şifre"
)
_OTHER = "парол[ья]|пароль|パスワード|パスフレーズ|暗証番号|秘密鍵|アクセストークン|密码|密碼|口令|密钥|密鑰|비밀번호|암호"
_WORDS = rf"""(?:pass(?:words?|wds?|phrases?|codes?)?|pwd|pw|psk|secrets?|tokens?|credentials?|keys?|auth|mnemonic|seed[ _-]?phrase
    |pin|codes?|requirepass|masterauth|storepass|keypass|sess(?:ion)?_?id|samlresponse|assertion|verifier|{_LATIN})(?![a-z])"""
_LABEL = re.compile(re.sub(r"\n\s+", "", _WORDS))
_ANY_LABEL = re.compile(re.sub(r"\n\s+", "", f"{_WORDS}|{_OTHER}"))
_TAIL = re.compile(
    r"(?:[_.-]?(?:[0-9]{1,3}|base|prod|staging|dev|test|live|value|plain|text|maps?|b64|hex)){0,2}(?: [0-9]{1,2})?(?![a-z0-9_])"
)
_NAME = "abcdefghijklmnopqrstuvwxyz0123456789_.-"
_LONGEST_NAME = 48
_STRETCH = 64 * 1024

_PASSWORD = re.compile(
    rf"pass|pwd|pw|psk|mnemonic|seed|pin|requirepass|masterauth|storepass|keypass|{_LATIN}|{_OTHER}"
)
_SECRET = re.compile(r"secrets?|tokens?|credentials?|samlresponse|assertion")
_LABEL_SUFFIX = re.compile(r"pass(?:word|wd|phrase)|secret|token|credential|sess|storepass|keypass")
"""These count as a label also at the end of a longer word; many ordinary words end in the others."""
_KIND_OF_KEY = re.compile(
    r"""(?: api | app | access | private | secret | auth | sign(?:ing)? | encrypt(?:ion)? | master | account | shared | preshared
        | webhook | deploy | hmac | jwt | cipher | crypto | session | licen[cs]e | storage | service | aes | rsa | tls | ssl
        | subscription | unseal | certificate | admin | totp | recovery | wallet | fernet )[_.\- ]?keys?\Z""",
    re.VERBOSE,
)


def labelled_secrets(text: str, low: str) -> Iterator[Span]:
    """Yield the secrets that follow a label. `low` is the text in lower case."""
    done = 0
    for label in _labels(text, low):
        if label.start < done:
            continue
        for span in _values_behind(text, low, label):
            done = max(done, span.end)
            yield span


def _labels(text: str, low: str) -> Iterator[Label]:
    words = _LABEL if low.isascii() else _ANY_LABEL
    for start in range(0, len(low), _STRETCH):
        for word in words.finditer(low, start, start + _STRETCH + _LONGEST_NAME):
            if word.start() >= start + _STRETCH:
                break
            tail = _TAIL.match(low, word.end())
            if tail and (sort := _label_strength(text, low, word)):
                before = low[max(0, word.start() - _LONGEST_NAME) : word.start()]
                first = word.start() - len(before) + len(before.rstrip(_NAME))
                name = low[first : word.end()]
                yield Label(first, tail.end(), name, sort, text[first : word.end()].isupper())


def _label_strength(text: str, low: str, word: re.Match[str]) -> LabelStrength | None:
    start, called = word.start(), word[0]
    if called[:3] == "key":
        if _KIND_OF_KEY.search(low[max(0, start - 16) : word.end()]):
            return LabelStrength.SECRET
        if "public" in low[max(0, start - 7) : start]:
            return None
    elif _LABEL_SUFFIX.match(called) or not called.isascii():
        if _PASSWORD.match(called):
            return LabelStrength.PASSWORD
        return LabelStrength.SECRET if _SECRET.match(called) else LabelStrength.WEAK
    inside = start > 0 and low[start - 1].isalpha()
    if inside and not (text[start].isupper() and text[start - 1].islower()):
        return None
    return LabelStrength.PASSWORD if _PASSWORD.match(called) else LabelStrength.WEAK


_BEFORE_VALUE = re.compile(
    r"""\\{0,7}["'`*\])}]{0,3}[ \t\n\r]{0,8}[=:,(|│┃>：＝→—–?!{\["'`“-]|[ \t]|%|&quot;|は|</|\n"""
)
"""What may come before a value. A cheap first test after a label: most labels are just a word."""
_ASSIGN = re.compile(
    r"""
    (?P<close> \\{0,7}["'`] | %22 | &quot; )? [\])]{0,2} \*{0,2} [ \t\u3000]{0,8}
    (?: : [ ]? [&'\w.\[\]|<> ]{2,40}? [ ]? (?= = [^=>] ) )?
    (?P<op> \|\|=? | \?\?=? | := | => | ={1,3} | !==? | [:=：＝] | %3[AaDd] | (?:->|[→—–]) (?=[ ]) )
    \*{0,2} (?P<gap> [ \t\u3000]{0,8} )""",
    re.VERBOSE,
)
_CALL = re.compile(r"""(?:["'`][ ]?,\s{0,8}|\([ ]?)(?=[rbfuN@$]{0,2}\\{0,3}["'`])""")
_PAIR = re.compile(
    r"""(?: ["']? [ ]?,? \s{1,20} (?:-[ ])? | ["'] [ ]?,? [ ]? | ["'] [^<>\n{}]{0,60} [ ] )
        ["']? value ["']? \s{0,4} [=:] \s{0,4} (?=\S)
      | ["'] [ ]{0,4} :? [ ]? \{ [^{}]{0,200}? (?: default | ["']value["'] ) [ ]{0,8} [=:] [ ]{0,4} (?=["'])""",
    re.VERBOSE | re.IGNORECASE,
)
_ELEMENT = re.compile(
    r"""(?: ["']? [ ]? | [ ][^<>\n]{0,100} | </[\w:]{1,30}>\s{0,40}<[\w:]{1,30} ) > \s{0,40} (?:<!\[CDATA\[)?
        (?P<value> [^<>\n\]]{4,200} ) (?: \]\]> )? \s{0,40} </""",
    re.VERBOSE,
)
_FIELD = re.compile(r"""["']\r?\n\r?\n""")
_BLANK = re.compile(r"""[ \t]{1,4}(?:0[ ]|5[ ]|7[ ])?(?=[^\s|;&<>=])""")
_IS = re.compile(r"""[ ](?:is|was|are|lautet|ist|est|es|é|to)(?:[ ]now)?:?[ ](?=\S)|は""")
_CELL = re.compile(r"[ \t`*]{0,40}[|│┃][ \t`*]{0,40}(?=\S)")
_LATER = re.compile(r"[ ][^\n:]{2,60}:[ ]?(?:\r?\n[ \t]*){0,2}(?=\S)")
_NEXT_ITEM = re.compile(
    r"""\\{0,7}["'][ ]?,\s{0,20}(?=\\{0,7}["'])|["'][ ]?->[ ]?(?=["'])|-\]\{\+"""
)
_WORD = re.compile(r"[^\s|│]{1,80}")
_LIST = re.compile(r"""\s{0,4}\[\s{0,20}(?=\\{0,7}["'])""")
_BLOCK = re.compile(r"[ \t]*(?P<mark>[|>][+-]?[0-9]?)?[ \t]*\r?\n")
_LINE = re.compile(
    r"(?P<indent>[+-]?[ \t]*)(?P<item>(?:-|[0-9]{1,2}[.)])[ \t]+)?(?P<value>[^\s#][^\r\n]{0,200})"
)
_MOST_ITEMS = 50
_PHRASE = re.compile(r"phrase|mnemonic")
_QUOTES = {'"', "'", "`", "%22", "&quot;"}
_ARROWS = {"->", "→", "—", "–"}
_FALLBACK = {"||", "??"}
_COMPARED = {"==", "===", "!=", "!=="}


def _values_behind(text: str, low: str, label: Label) -> Iterator[Span]:
    if not _BEFORE_VALUE.match(text, label.end):
        return
    if match := _ASSIGN.match(text, label.end):
        found = list(_assigned(text, label, match))
        if found:
            yield from found
            return
    for value in _unassigned_values(text, low, label):
        if value:
            yield Span(value.start, value.end, "GENERIC_SECRET")
            return


def _assigned(text: str, label: Label, match: re.Match[str]) -> Iterator[Span]:
    close, op, at = match["close"] or "", match["op"], match.end()
    if (
        op == ":"
        and (block := _BLOCK.match(text, at))
        and not (close and _next_line_is_quoted(text, at))
    ):
        yield from _block_values(text, label, block)
        return
    if close and op == ":":
        at += len(text[at : at + 8]) - len(text[at : at + 8].lstrip())
    if items := _LIST.match(text, at):
        yield from _list_values(text, label, items.end())
        return
    env = label.capitals and op == "=" and not match["gap"] and not close
    value = values.read(text, at, env=env)
    if value is None:
        return
    phrase = _PHRASE.search(label.name) and not value.quote
    words = values.passphrase_end(text, value.start) if phrase else value.start
    if words > value.start:
        value = value._replace(end=words)
    elif _is_secret(text, label, value, op, env=env, close=close):
        value = values.extended_to_end(text, value, env=env)
    else:
        return
    name = "GENERIC_SECRET"
    if label.sort is not LabelStrength.WEAK:
        quoted = close and op == ":" and value.quote
        name = "JSON_CREDENTIAL" if quoted else "ENV_CREDENTIAL" if env else name
    yield Span(value.start, value.end, name)
    if following := _NEXT_ITEM.match(text, value.end):
        again = values.read(text, following.end())
        if again and "," not in following[0] and again.head:
            yield Span(again.start, again.end, name)


def _next_line_is_quoted(text: str, at: int) -> bool:
    # Whether a quoted value follows on the next line.
    rest = text[at : at + 9].lstrip()
    return rest[:1] in {'"', "'", "["}


def _is_secret(text: str, label: Label, value: Value, op: str, *, env: bool, close: str) -> bool:
    head = value.head
    if len(head) < 2 or values.is_placeholder(head) or (op in _COMPARED and not value.quote):
        return False
    if op in _ARROWS:
        return values.looks_random(head)
    if label.sort is not LabelStrength.WEAK:
        if close and op == ":" and value.quote.lstrip("\\") in _QUOTES:
            return True
        if env and not values.is_location(head):
            short = head.isdigit() and len(head) < 4
            return bool(value.quote) or not (values.looks_like_code(head) or short)
    return _is_likely_secret(text, label, value, op)


def _is_likely_secret(text: str, label: Label, value: Value, op: str) -> bool:
    # The weaker the label, the more the value must look like a secret.
    head, quoted = value.head, value.quote not in {"", "{"}
    if len(head) < 4 or values.is_location(head):
        return False
    called = text.startswith(("(", "[", "{"), value.end)
    if not quoted and (called or values.looks_like_code(head) or op in _FALLBACK):
        return False
    if label.sort is LabelStrength.WEAK:
        return values.looks_like_token(head)
    if value.quote == "{":
        return values.looks_random(head)
    if " " in head:
        return values.looks_like_passphrase(head)
    if label.sort is LabelStrength.PASSWORD:
        return (quoted and op not in _COMPARED) or values.looks_like_password(head)
    return values.looks_like_secret(head)


def _block_values(text: str, label: Label, block: re.Match[str]) -> Iterator[Span]:
    """Yield values on the lines below a label that are indented further than it or are list items."""
    begin = text.rfind("\n", max(0, label.start - 200), label.start) + 1
    first = _LINE.match(text, max(begin, label.start - 200))
    own = len(first["indent"]) if first else 0
    at, quiet = block.end(), 0
    for _ in range(_MOST_ITEMS):
        line = _LINE.match(text, at)
        if line is None:
            # in prose an empty line may separate a label from its values
            if quiet or not text.startswith("\n", at):
                return
            quiet, at = 1, at + 1
            continue
        inner = len(line["indent"]) > own or line["item"] or label.name.endswith("codes")
        value = values.read(text, line.start("value"))
        if not inner or value is None or ("=" in line["value"] and ": " in line["value"]):
            return
        held = line["value"].rstrip(" \t|│")
        if block["mark"]:
            good = values.looks_like_password(held) or values.looks_like_secret(held)
            good = good and not values.is_placeholder(held)
        elif label.name.endswith("codes"):
            good = values.mixed(held) and " " not in held and 8 <= len(held) <= 40
        else:
            held = value.head.rstrip("\r")
            good = values.looks_random(held) and (
                bool(value.quote) or held == line["value"].rstrip()
            )
        if not good or values.looks_like_code(held):
            return
        start = text.index(held, line.start("value"))
        yield Span(start, start + len(held), "GENERIC_SECRET")
        at = line.end() + 1 if text.startswith("\n", line.end()) else line.end() + 2


def _list_values(text: str, label: Label, at: int) -> Iterator[Span]:
    """Yield the secrets in a list."""
    for _ in range(_MOST_ITEMS):
        value = values.read(text, at)
        if value is None:
            return
        good = (
            values.mixed(value.head)
            if label.name.endswith("codes")
            else values.looks_random(value.head)
        )
        if good and not values.is_placeholder(value.head):
            yield Span(value.start, value.end, "GENERIC_SECRET")
        following = _NEXT_ITEM.match(text, value.end)
        if not following:
            return
        at = following.end()


def _unassigned_values(text: str, low: str, label: Label) -> Iterator[Value | None]:
    """Yield values that are connected with their label without an assignment."""
    yield _element_value(text, low, label)
    yield _paired_value(text, label)
    if label.sort is LabelStrength.WEAK:
        return
    yield _argument_value(text, label)
    yield _flag_value(text, low, label)
    yield _prose_value(text, label)


def _element_value(text: str, low: str, label: Label) -> Value | None:
    """Match `<password>…</password>`, `<property name="password">…</`, `<key>Password</key><string>…</`."""
    match = (
        _ELEMENT.match(text, label.end) if text.find(">", label.end, label.end + 110) >= 0 else None
    )
    if match is None:
        return None
    value = match["value"].rstrip()
    if values.is_placeholder(value) or values.is_location(value) or values.looks_like_code(value):
        return None
    good = (
        values.looks_like_token(value)
        if label.sort is LabelStrength.WEAK
        else values.looks_like_password(value)
    )
    return _found(match.start("value"), value) if good else None


def _paired_value(text: str, label: Label) -> Value | None:
    """Match `name: DB_PASSWORD` with `value: …` beside it."""
    match = _PAIR.match(text, label.end) or _FIELD.match(text, label.end)
    value = values.read(text, match.end()) if match else None
    if value is None or values.is_placeholder(value.head) or values.is_location(value.head):
        return None
    good = (
        values.looks_like_token if label.sort is LabelStrength.WEAK else values.looks_like_password
    )
    bare = not value.quote and (
        values.looks_like_code(value.head) or not values.looks_random(value.head)
    )
    return values.extended_to_end(text, value) if good(value.head) and not bare else None


def _argument_value(text: str, label: Label) -> Value | None:
    """Match `put("DB_PASSWORD", "…")`, `setPassword("…")`."""
    match = _CALL.match(text, label.end)
    value = values.read(text, match.end()) if match else None
    return values.extended_to_end(text, value) if value and _looks_secret(value) else None


def _looks_secret(value: Value) -> bool:
    return not (values.is_placeholder(value.head) or values.looks_like_code(value.head)) and (
        values.looks_random(value.head)
        or (bool(value.quote) and values.looks_like_passphrase(value.head))
    )


def _flag_value(text: str, low: str, label: Label) -> Value | None:
    """Match `--password …`, `setenv DB_PASSWORD …`, `requirepass …`, `PASSWORD '…'`: only a blank in between."""
    match = _BLANK.match(text, label.end)
    value = values.read(text, match.end(), env=True) if match else None
    if value is None or values.is_placeholder(value.head) or value.head[:1] in "-&/\\":
        return None
    option = low[max(0, label.start - 2) : label.start].endswith("-") or label.name[:1] == "-"
    head = value.head
    if value.quote in {'"', "'", "`", "“", "‘"}:
        good = (
            values.looks_like_password(head)
            if label.sort is LabelStrength.PASSWORD
            else values.looks_like_secret(head)
        )
        good = good if label.name != "pass" else values.looks_random(head)
        good = good and len(head) >= 6 and (" " not in head or values.looks_like_passphrase(head))
    elif option:
        good = len(head) >= 4 and (
            values.looks_like_password(head) or values.looks_like_secret(head)
        )
        good = good and not values.is_location(head) and not values.looks_like_code(head)
    else:
        good = values.looks_random(head.rstrip(".,:"))
    return values.extended_to_end(text, value, env=True) if good else None


def _prose_value(text: str, label: Label) -> Value | None:
    """Match `the password is …`, `| DB_PASSWORD | … |`, `use the following password to log in: …`."""
    for way in (_IS, _CELL, _LATER):
        match = way.match(text, label.end)
        value = values.read(text, match.end(), env=True) if match else None
        if match is None or value is None:
            continue
        if not value.quote:
            phrase = values.passphrase_end(text, value.start)
            if way is _LATER and phrase > value.start and _PHRASE.search(label.name):
                return _found(value.start, text[value.start : phrase])
            word = _WORD.match(text, match.end())
            value = _found(value.start, word[0].rstrip(".,;:")) if word else value
        if _looks_secret(value):
            return value
    return None


def _found(start: int, value: str) -> Value:
    return Value(start, start + len(value), "", value)
