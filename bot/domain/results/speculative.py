"""Words that guess where a report should know: «should work», «たぶん». Found in English and Japanese, and only flagged."""

from __future__ import annotations

import re
import unicodedata

_LONGEST = 50_000
"""Characters that are read of one report."""
_MOST = 20
_CODE = re.compile(r"```.{0,20000}?(?:```|\Z)|`[^`\n]{1,400}`", re.DOTALL)
_SURE = r"(?:(?:also|now|all|still|just|really|probably|hopefully|then)\ ){0,2}"
_ENGLISH = rf"""
    \b(?: probably | presumably | hopefully | supposedly | perhaps | possibly
      | i\ (?:think|believe|guess|assume|suppose|suspect|expect|hope)
      | i(?:'m|\ am)\ (?:not\ (?:entirely\ |quite\ |completely\ )?(?:sure|certain)|fairly\ (?:sure|certain|confident)|guessing)
      | should\ {_SURE}(?: work | pass | do\ (?:it|the\ trick) | fix | compile | build | succeed
          | be\ {_SURE}(?:fine|ok|okay|good|enough|fixed|working|correct|safe|resolved|done|complete) )
      | (?:seems?|appears?)\ (?:to\ (?:work|be|pass|have)|fine|ok|okay|correct)
      | looks?\ like\ (?:it|this|that|everything)
      | (?:might|may)\ (?:work|be|have|need|not) | could\ be\ that
      | most\ likely | very\ likely | in\ all\ likelihood )\b"""
_JAPANESE = r"""
      たぶん | 多分 | おそらく | 恐らく | きっと | もしかする | もしかし
    | はず(?!れ|す|し|み|か|さ|せ|そ|む|ん) | 筈
    | かもしれ(?:ない|ません) | かも知れ(?:ない|ません)
    | でしょう | だろう | (?:と|に|かと)思(?:い|う|われ) | と考えられ | と推測 | 推測(?:です|で|し) | 見込みです
    | ように見え | (?:よう|みたい)です | 可能性(?:が|も)(?:あり|ある|高)
"""
_GUESS = re.compile(f"{_ENGLISH}|{_JAPANESE}", re.VERBOSE | re.IGNORECASE)


def speculative(text: str) -> tuple[str, ...]:
    """The guessing words of a report, each once; what stands in code is not said by anybody."""
    plain = unicodedata.normalize("NFKC", text[:_LONGEST]).replace("’", "'")
    words = " ".join(_CODE.sub(" ", plain).split())
    found = dict.fromkeys(match[0].lower() for match in _GUESS.finditer(words))
    return tuple(found)[:_MOST]
