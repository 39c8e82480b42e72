"""What a test asserts, line by line, and how much that says."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from bot.domain.tampering import languages
from bot.domain.tampering.code import Spoken, code, same, spoken
from bot.domain.tampering.declared import Region
from bot.domain.tampering.languages import Language

_ASSERT = re.compile(
    r"\b(?:debug_)?[aA]ssert\w*\b|\bXCT(?:Assert\w*|Fail)\b|#(?:expect|require)\(|\b(?:EXPECT|ASSERT|REQUIRE|CHECK)(?:_\w+)?\s*\("
    r"|\bexpect\w*\s*[({]|\brequire\.\w+\(|\b[tb]\.(?:Error|Fatal|Fail)\w*\(|\bpytest\.(?:raises|warns|fail)\b"
    r"|\.[sS]hould\b|\bshould\w+\(|\brefute\w*\b|\.must_\w+|\.wont_\w+|\bverify(?:[A-Z_]\w*)?\(|\bpanic!\(|\bshould_panic\b"
)
_NO_ASSERT = re.compile(
    r"^\s*(?:import|from|use|using|#include|const\s*\{?.*require|@import|require|export|def|class|function|fn|func|fun|package)\b"
)
_EMPTY = re.compile(
    r"\bassert\s+(?:True|1|not\s+False|not\s+None|\"\"|\w+)\s*(?:,|$)"
    r"|\b[aA]ssert\w*!?[.\w]*\(\s*(?:t,\s*)?(?:[tT]rue|1|\w+\s*(?:==|is)\s*\w+\s+or\s+[tT]rue)\s*[,)]"
    r"|\bexpect\(\s*(?:true|1|\"\")\s*\)|\bor\s+True\b|\|\|\s*true\b"
    r"|\bassert(?:!|\.ok|True)?\(\s*\w+\s*[,)]|\bassert\.True\(t,\s*\w+\s*[,)]"
    r"|\bis\s+not\s+None\b|!==?\s*(?:null|undefined|nil|None)\b|\bnot\.?(?:toBeNull|toBeUndefined|\.to\.be\.null)"
    r"|\bnot_to\s+be_nil|\btoBe(?:Truthy|Defined)\(|\.to\.exist\b|\.to\.be\.ok\b|\bbe_truthy\b|\btoBeInstanceOf\("
    r"|\b[aA]?ssert\w*\.?(?:IsNotNone|NotNull|IsNotNull|NotNil|NoError|NotEmpty)\(|(?:assertNotNull|XCTAssertNotNil|refute_nil)\b"
    r"|\.is_(?:some|ok)\(\)|\bisinstance\(|\bassertIsInstance\(|\bInstanceOf\(|\bmock\.ANY\b|\bexpect\.anything\("
    r"|\bassert_instance_of\b|\bASSERT_(?:NE|TRUE)\(.*(?:nullptr|true)\s*[,)]|\bnot\.toThrow\(\s*\)|\bNotThrow\("
)
"""True of nearly everything."""
_LOOSE = re.compile(
    r"[^=!<>\-]>=?(?![=>])|[^=!<>]<=?(?![=<])|!==?|\b(?:toBe)?(?:GreaterThan|LessThan)\w*\("
    r"|\bassert(?:Greater|Less|NotEqual)\w*\(|\b(?:Greater|Less|NotEqual)\w*\(|\b(?:EXPECT|ASSERT)_(?:G|L|N)[TE]\("
    r"|\bassert_ne!|\bbe\s*[<>]=?|\bnot_to\s+eq\b|\bnot\.to(?:Be|Equal)\("
)
_EXACT = re.compile(r"(?<![=!<>])===?(?!=)")
"""Whatever else is compared within it."""
_ARROWS = re.compile(r"=>|->|<\w[\w:<>, &']*>(?=[(>:.])|::<")


class Strength(IntEnum):
    EMPTY = 0
    LOOSE = 1
    EXACT = 2


class Claim(NamedTuple):
    """An assertion."""

    text: str
    strength: Strength
    about: Spoken


def claims(region: Region) -> list[Claim]:
    found: list[Claim] = []
    for line in region.touched:
        plain = code(line.text, region.language)
        strength = _strength(plain, region.language)
        if strength is not None:
            found.append(Claim(same(line.text), strength, spoken(line.text, region.language)))
    return found


def _strength(plain: str, language: Language) -> Strength | None:
    """How much a line asserts; none: it is no assertion."""
    if language is languages.GO and (plain.lstrip().startswith("if ")):
        # who finds a difference there lets the test fail
        return Strength.LOOSE if re.search(r"[<>]|[!=]= nil", plain) else Strength.EXACT
    if not _ASSERT.search(plain) or _NO_ASSERT.match(plain):
        return None
    if _EMPTY.search(plain):
        return Strength.EMPTY
    loose = _LOOSE.search(_ARROWS.sub("", plain)) and not _EXACT.search(plain)
    return Strength.LOOSE if loose else Strength.EXACT
