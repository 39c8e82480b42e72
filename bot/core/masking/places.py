"""Finds secrets by their place: an option of a command, a line of a known file format, a header, a URL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from bot.core.masking import values
from bot.core.masking.known import Span
from bot.core.masking.values import HEAD, is_placeholder, looks_like_token, mixed

# Options of commands, calls, lines of files. Every rule has an anchor, a string that is quick to search for; its
# pattern is tried only where the anchor was found.


def _argument(value: str) -> bool:
    # Where a command takes a password, everything counts but a variable, an option or a placeholder.
    return len(value) >= 4 and value[0] not in "-$<{|&%" and not values.is_placeholder(value)


def _plausible(value: str) -> bool:
    return _argument(value) and (
        values.looks_like_password(value) or values.looks_like_passphrase(value)
    )


def _jumbled(value: str) -> bool:
    return values.looks_random(value) and not values.is_placeholder(value)


class CommandRule(NamedTuple):
    word: str
    """Letters and digits, usually from the anchor.

    All words of a text are collected at once, while each anchor needs a search.
    """
    anchor: str
    pattern: re.Pattern[str]
    """Matched at the anchor. The group that has matched is the candidate."""
    secret: Callable[[str], bool]


_ARGUMENT = r"""(?:"([^"\n]{1,400})"|'([^'\n]{1,400})'|([^\s"'|;&<>`]{1,400}))"""
_AFTER_USER = r"""(?:"[^\s:"$]{1,80}:([^"\n]{1,400})"|'[^\s:'$]{1,80}:([^'\n]{1,400})'|[^\s:"'$]{1,80}:(?!//)([^\s"'|;&<>]{1,400}))"""
_OPTIONS = r"[^\n|;&]{0,300}?[ \t]"


def _rule(anchor: str, pattern: str, secret: Callable[[str], bool] = _argument) -> CommandRule:
    word = max(re.findall("[A-Za-z0-9]+", anchor), key=len)
    return CommandRule(word, anchor, re.compile(pattern), secret)


_RULES = (
    # commands
    *(
        _rule(
            name,
            rf"{name.rstrip()}{_OPTIONS}(?:-u|--user|--proxy-user|-U|-a|--auth)(?:=|[ ]?){_AFTER_USER}",
        )
        for name in ("curl ", "http ", "https ", "xh ", "wget ")
    ),
    _rule(
        "curl ",
        rf"curl{_OPTIONS}(?:-b|--cookie)[ =]?(?:'[^\s='\n]{{1,60}}=([^'\n]{{8,4000}})'|\"[^\s=\"\n]{{1,60}}=([^\"\n]{{8,4000}})\")",
    ),
    _rule("creds", rf"creds[ =]{_AFTER_USER}"),
    *(
        _rule(
            name,
            rf"{name.rstrip()}{_OPTIONS}-p(?=[^\s-])(?!ort|roto)(?!assword){_ARGUMENT}",
            _argument,
        )
        for name in (
            "mysql ",
            "mysqldump ",
            "mariadb ",
            "mariadb-dump ",
            "mysqlshow ",
            "7z ",
            "7za ",
        )
    ),
    *(
        _rule(name, rf"{name.rstrip()}{_OPTIONS}-p[ ]{_ARGUMENT}", _plausible)
        for name in (
            "docker login",
            "podman login",
            "buildah login",
            "registry login",
            "az login",
            "twine ",
            "mongosh ",
            "mongo ",
            "mongodump ",
            "mongorestore ",
            "useradd ",
            "usermod ",
        )
    ),
    _rule("sshpass ", rf"sshpass[ ]+-p[ ]?{_ARGUMENT}"),
    _rule("mysqladmin", rf"mysqladmin{_OPTIONS}password[ ]{_ARGUMENT}"),
    _rule("openssl ", r"openssl [^\n|;&]{0,300}?[ ]-pass(?:in|out)?[ ]pass:([^\s\"'|;&<>]{1,400})"),
    _rule("openssl ", rf"openssl enc {_OPTIONS}-[kK][ ]{_ARGUMENT}"),
    _rule("aws ssm", rf"aws ssm put-parameter{_OPTIONS}--value[ =]{_ARGUMENT}", _plausible),
    _rule("--secret-string", rf"--secret-string[ =]{_ARGUMENT}"),
    _rule(
        "secret set ", rf"secret set [A-Z0-9_]{{1,80}}{_OPTIONS}(?:--body[ =]|-b[ =]?){_ARGUMENT}"
    ),
    _rule("--from-literal", rf"--from-literal[ =][\w.-]{{1,60}}={_ARGUMENT}", _plausible),
    _rule(
        "htpasswd ",
        rf"htpasswd -[a-zA-Z]*b[a-zA-Z]* (?:-[^\s]+ )*(?:[^\s|;&]+ )?[^\s|;&]+ {_ARGUMENT}",
    ),
    *(
        _rule(name, rf"{name.rstrip()}{_OPTIONS}-P[ ]{_ARGUMENT}", _plausible)
        for name in ("zip ", "sqlcmd ", "bcp ")
    ),
    _rule("ssh-keygen ", rf"ssh-keygen{_OPTIONS}-N[ ]{_ARGUMENT}"),
    _rule("vault login", rf"vault login (?:-[^\s]+ )*{_ARGUMENT}", _jumbled),
    _rule("operator unseal", rf"operator unseal (?:-[^\s]+ )*{_ARGUMENT}", _jumbled),
    _rule("redis-cli ", rf"redis-cli{_OPTIONS}-a[ ]{_ARGUMENT}"),
    _rule("AUTH ", rf"AUTH (?:[\w-]{{1,40}} )?{_ARGUMENT}(?=\s|$)", _jumbled),
    *(
        _rule(name, rf"{name.rstrip()}{_OPTIONS}-w[ ]{_ARGUMENT}", _plausible)
        for name in (
            "ldapsearch ",
            "ldapmodify ",
            "ldapadd ",
            "generic-password ",
            "internet-password ",
        )
    ),
    _rule("net use", rf"net use [^\s]+ \\\\[^\s]+ {_ARGUMENT}", _plausible),
    _rule("net user", rf"net user [^\s]+ {_ARGUMENT}", _plausible),
    _rule(
        "smbclient ", rf"smbclient{_OPTIONS}-U[ ]?[\"']?[^\s%\"']{{1,60}}%([^\s\"'|;&<>]{{1,400}})"
    ),
    _rule("xfreerdp", rf"xfreerdp{_OPTIONS}/p:{_ARGUMENT}"),
    _rule("lftp ", rf"lftp{_OPTIONS}-u[ ][^\s,]{{1,60}},{_ARGUMENT}"),
    _rule("oathtool ", rf"oathtool {_OPTIONS}-b[ ]{_ARGUMENT}"),
    _rule("send", r'send (?:-- )?"([^"\n\\]{4,200})\\r"', _jumbled),
    *(
        _rule(
            name,
            rf"(?:{name})(?:-n |-e |-ne |'%s' |'%s\\n' )?(?:\"([^\"\n]{{4,400}})\"|'([^'\n]{{4,400}})'|([^\s\"'|;&<>]{{4,400}}))"
            r"[ ]?\|[ ]?(?:sudo (?:[\w-]+ )?)?(?:sudo|-S|docker|podman|helm|passwd|chpasswd|wrangler|cryptsetup|gh|vault|[\w-]{1,30} login|[^\n|]{1,100}--?(?:password-)?stdin)\b",
            _plausible,
        )
        for name in ("echo ", "printf ")
    ),
    _rule("sudo ", rf"sudo {_OPTIONS}<<< {_ARGUMENT}"),
    _rule("sudo ", rf"sudo -S [^\n|;&]{{0,200}}?<<<[ ]?{_ARGUMENT}"),
    # calls
    *(
        _rule(
            name,
            rf"{name}[ ]?\(\s?(?:[\w.]{{1,40}}, ?)?[rbf@]?[\"'][^\"'\n]{{1,80}}[\"'], ?[rbf@]?{_ARGUMENT}",
            _plausible,
        )
        for name in (
            "NetworkCredential",
            "HTTPBasicAuth",
            "HTTPDigestAuth",
            "BasicAuth",
            "SetBasicAuth",
            "auth=",
            ".login",
            "getConnection",
            "basic_auth",
            "UsernamePasswordCredentials",
            "PasswordAuthentication",
        )
    ),
    _rule("SecretStr(", rf"SecretStr\([ ]?{_ARGUMENT}", _plausible),
    _rule(
        "ConvertTo-SecureString", rf"ConvertTo-SecureString (?:-String )?{_ARGUMENT}", _plausible
    ),
    # databases
    _rule(
        "identified",
        rf"identified (?:with [\w']{{1,40}} )?by (?:values |password )?{_ARGUMENT}",
        _plausible,
    ),
    _rule(
        "IDENTIFIED",
        rf"IDENTIFIED (?:WITH [\w']{{1,40}} )?BY (?:VALUES |PASSWORD )?{_ARGUMENT}",
        _plausible,
    ),
    _rule(
        "pgp_sym_encrypt", rf"pgp_sym_encrypt(?:_bytea)?\([^'\n]{{1,200}}, ?{_ARGUMENT}", _plausible
    ),
    # files
    _rule("user ", r"user [^\s]{1,60} on [^\n>]{0,60}>([^\s]{4,200})", _jumbled),
    _rule("community ", rf"community {_ARGUMENT} R[OW]\b", _plausible),
    _rule("BUNDLE_", r"BUNDLE_[A-Z0-9_]{1,80}: [\"']?[^\s:\"']{1,60}:([^\s\"']{4,200})"),
    _rule("\tTRUE\t", r"\tTRUE\t[0-9]{1,12}\t[^\t\n]{1,80}\t([^\s]{8,4000})"),
    _rule("\tFALSE\t", r"\tFALSE\t[0-9]{1,12}\t[^\t\n]{1,80}\t([^\s]{8,4000})"),
    # sentences
    *(
        _rule(word, rf"{word}[^\n/]{{0,40}}[ ][\w@.-]{{2,40}} / {_ARGUMENT}", _jumbled)
        for word in ("Login", "login", "Log in", "log in", "Credentials", "credentials")
    ),
    _rule(
        "verification code",
        r"verification code(?: is|:)(?: now|:)? ([0-9]{4,8})(?![0-9])",
        str.isdigit,
    ),
    _rule("PIN: ", r"PIN: ([0-9]{4,8})(?![0-9.])", str.isdigit),
)

_BY_WORD: dict[str, list[CommandRule]] = {}
for _each in _RULES:
    _BY_WORD.setdefault(_each.word, []).append(_each)

_BEFORE = (
    ("@tcp(", re.compile(r"(?:^|[^\w.-])[\w.-]{1,60}:([^\s:/\"'<>]{4,120})\Z"), _plausible),
    ("@unix(", re.compile(r"(?:^|[^\w.-])[\w.-]{1,60}:([^\s:/\"'<>]{4,120})\Z"), _plausible),
    ("@//", re.compile(r"(?:^|[^\w.-])[\w.-]{1,60}/([^\s:/\"'<>]{4,120})\Z"), _plausible),
)
"""Passwords before an anchor, in database URLs: `user:…@tcp(host)`, `user/…@//host`."""
_REACH = 200
_PGPASS = re.compile(
    r"[^\s:]{1,100}:(?:[0-9]{2,5}|\*):[^\s:]{1,80}:[^\s:]{1,80}:(\S{4,200})[ \t]*$", re.MULTILINE
)
_VALUE_FIRST = re.compile(
    r"""["']value["'][ ]?:[ ]?["']([^"'\n]{4,400})["'],\s{0,20}["'](?:name|key)["'][ ]?:[ ]?["'][\w.-]{0,60}(?:pass|pwd|secret|token|key)""",
    re.IGNORECASE,
)
_KUBERNETES = re.compile(
    r"^(?:data|stringData):[ ]*\n((?:[ ]+[^\n]*(?:\n|\Z)){1,100})", re.MULTILINE
)
_ENTRY = re.compile(r"^[ ]+[\w.-]{1,100}:[ ]+[\"']?([^\s\"'|>]{6,4000})", re.MULTILINE)
_COLUMN = re.compile(
    r",(?:password|passwd|secret|token)(?=[,\r\n])|(?:password|passwd|secret|token),"
)
_COLUMN_NAMES = {"password", "passwd", "secret", "token"}
_COLUMNS = re.compile(r"[\w .-]{1,40}(?:,[\w .-]{1,40}){1,20}\r?$", re.MULTILINE)
_LONGEST_ROW = 1_000
_ROW = re.compile(r"[^\n]{1,1000}$", re.MULTILINE)
_HASHED = re.compile(r"\$(?:[156y]|apr1|2[abxy]|argon2id?)\$([A-Za-z0-9./$,=+-]{20,200})")
_WORDS = bytes(code if chr(code).isalnum() else 0x20 for code in range(128)) + b" " * 128


def secrets_in_commands(text: str) -> Iterator[Span]:
    words = set(text.encode("ascii", "replace").translate(_WORDS).decode("ascii").split())
    for word in _BY_WORD.keys() & words:
        for rule in _BY_WORD[word]:
            yield from _ruled(rule, text)
    yield from _in_connection_strings(text)
    yield from _in_files(text, words)


def _ruled(rule: CommandRule, text: str) -> Iterator[Span]:
    at = text.find(rule.anchor)
    while at >= 0:
        end = at + len(rule.anchor)
        match = rule.pattern.match(text, at)
        if match and match.lastindex and rule.secret(match[match.lastindex]):
            span = match.span(match.lastindex)
            yield Span(*span, "GENERIC_SECRET")
            end = max(end, span[1])
        at = text.find(rule.anchor, end)


def _in_connection_strings(text: str) -> Iterator[Span]:
    for anchor, pattern, secret in _BEFORE:
        at = text.find(anchor)
        while at >= 0:
            begin = max(0, at - _REACH)
            match = pattern.search(text[begin:at])
            if match and secret(match[1]):
                yield Span(begin + match.start(1), at, "GENERIC_SECRET")
            at = text.find(anchor, at + 1)


def _in_files(text: str, words: set[str]) -> Iterator[Span]:
    if ":5432:" in text or "*:*:" in text:
        yield from _groups(_PGPASS, text, _jumbled)
    if '"value"' in text or "'value'" in text:
        yield from _groups(_VALUE_FIRST, text, _jumbled)
    if "$" in text:
        yield from _groups(_HASHED, text, _argument)
    if "Secret" in words and "kind: Secret\n" in text:
        for block in _KUBERNETES.finditer(text):
            yield from _groups(_ENTRY, text, _jumbled, *block.span(1))
    if words & _COLUMN_NAMES:
        yield from _in_columns(text)


def _groups(
    pattern: re.Pattern[str],
    text: str,
    secret: Callable[[str], bool],
    start: int = 0,
    end: int = 1 << 62,
) -> Iterator[Span]:
    for match in pattern.finditer(text, start, end):
        if secret(match[1]):
            yield Span(*match.span(1), "GENERIC_SECRET")


def _in_columns(text: str) -> Iterator[Span]:
    """Yield the values in password columns of CSV tables."""
    done = 0
    for named in _COLUMN.finditer(text):
        begin = text.rfind("\n", max(done, named.start() - _LONGEST_ROW), named.start()) + 1
        columns = _COLUMNS.match(text, begin) if begin or named.start() < _LONGEST_ROW else None
        if columns is None or named.start() < done:
            continue
        names = columns[0].lower().split(",")
        done = columns.end() + 1
        for row in _ROW.finditer(text, done):
            cells = row[0].split(",")
            if row.start() != done or len(cells) != len(names):
                break
            at, done = row.start(), row.end() + 1
            for name, cell in zip(names, cells, strict=True):
                if re.search("pass|secret|token", name) and _jumbled(cell.strip()):
                    yield Span(at, at + len(cell), "GENERIC_SECRET")
                at += len(cell) + 1


# Headers and URLs: credentials, cookies, users' passwords, signatures.

SecretBounds = tuple[int, int]

_CREDENTIALS = re.compile(
    r"""(?: (?i:digest|aws4-hmac-sha256|oauth|hawk|signature)[ ]
              (?: [^\r\n"'\\] | (?<==)(?P<quote>\\?")[^"\\\r\n]{0,2000}(?P=quote) ){1,4000}+
          | (?i:bearer|basic|token|api-?key|negotiate|ntlm|ssws|splunk|bot)[ \t]{1,4} (?P<value>[^\s"'\\]{1,1000000}+)
          | (?P<bare>[^\s"'\\,;]{8,1000000}+) )""",
    re.VERBOSE,
)
_PAIR = r"""[^\s=;,"'\\]{1,128}+ = (?: "[^"\r\n]{0,4000}+" | [^;\r\n"'\\]{0,4000}+ )"""
_COOKIES = re.compile(
    rf"{_PAIR} (?: ; [ ]? (?: {_PAIR} | [A-Za-z-]{{1,40}} ) ){{0,100}}", re.VERBOSE
)
_BEARER = re.compile(r"[A-Za-z0-9._~+/=-]{6,1000000}+")
_USERINFO = re.compile(r"""[^\s/"'<>]{1,640}(?=@)""")
_USER = re.compile(r"(?:\[MASKED:[A-Z0-9_]{1,100}\]|[^:]){0,640}+:")
_SIGNATURE = re.compile(r"[A-Za-z0-9._~+/=%-]{16,4000}+")


def _credentials(text: str, at: int) -> SecretBounds | None:
    head = _CREDENTIALS.match(text, at, at + HEAD)
    if head is None or (head["value"] and is_placeholder(head["value"])):
        return None
    bare = head["bare"]
    if bare and (is_placeholder(bare) or not mixed(bare) or "(" in bare or "[" in bare):
        return None
    found = _CREDENTIALS.match(text, at)
    return found.span() if found else None


def _cookies(text: str, at: int) -> SecretBounds | None:
    head = _COOKIES.match(text, at, at + HEAD)
    if head is None or is_placeholder(head[0]):
        return None
    found = _COOKIES.match(text, at)
    return found.span() if found else None


def _bearer(text: str, at: int) -> SecretBounds | None:
    match = _BEARER.match(text, at)
    if match is None or is_placeholder(match[0]):
        return None
    return match.span() if len(match[0]) >= 20 or re.search("[0-9]", match[0]) else None


def _userinfo(text: str, at: int) -> SecretBounds | None:
    match = _USERINFO.match(text, at)
    if match is None:
        return None
    user = _USER.match(match[0])
    start = match.start() + (user.end() if user else 0)
    password = text[start : match.end()]
    if user is None and (len(password) < 20 or not mixed(password)):
        return None
    return None if not password or is_placeholder(password) else (start, match.end())


def _signature(text: str, at: int) -> SecretBounds | None:
    match = _SIGNATURE.match(text, at)
    return match.span() if match and looks_like_token(match[0][:HEAD]) else None


_HEADER_RULES: tuple[
    tuple[str, str, re.Pattern[str], Callable[[str, int], SecretBounds | None]], ...
] = (
    (
        "AUTH_HEADER",
        "authorization",
        re.compile(
            r"""\\{0,7}["']?(?:[ \t]{0,4}[:=][ \t]{0,4}|,[ ]?(?=["'](?:bearer|basic|token)[ ])|[ ](?=["']))\\{0,7}["'`]?"""
        ),
        _credentials,
    ),
    (
        "SET_COOKIE",
        "set-cookie",
        re.compile(r"""\\{0,7}["']?[ \t]{0,4}:[ \t]{0,4}\\{0,7}["']?"""),
        _cookies,
    ),
    (
        "COOKIE",
        "cookie",
        re.compile(
            r"""(?<!set-cookie)(?:\\{0,7}["']?[ \t]{0,4}:[ \t]{0,4}|[ ](?=["']))\\{0,7}["']?"""
        ),
        _cookies,
    ),
    ("BEARER_TOKEN", "bearer", re.compile(r"(?<![a-z]bearer)[ \t]{1,4}"), _bearer),
    ("URL_PASSWORD", "://", re.compile(r"""(?=[^\s/"'<>]{1,640}@)"""), _userinfo),
    ("GENERIC_SECRET", "signature=", re.compile(""), _signature),
    ("GENERIC_SECRET", "sig=", re.compile("(?<=[?&;]sig=)"), _signature),
    ("GENERIC_SECRET", "key=", re.compile("(?<=[?&;]key=)"), _signature),
    ("GENERIC_SECRET", "code=", re.compile("(?<=[?&;]code=)"), _signature),
)
"""The mask's name, the anchor, the pattern between it and the value, and the function that finds the value's end."""


def secrets_in_headers(text: str, low: str) -> Iterator[Span]:
    for name, anchor, between, bounds in _HEADER_RULES:
        at = low.find(anchor)
        while at >= 0:
            match = between.match(low, at + len(anchor))
            found = bounds(text, match.end()) if match else None
            if found:
                yield Span(*found, name)
            at = low.find(anchor, found[1] if found else at + len(anchor))
