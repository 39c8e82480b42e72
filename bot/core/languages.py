"""The language of a text: by its script, and where several languages share one, by their most frequent words.

Only prose counts: no code, headings, identifiers, URLs or English labels. What cannot be told is left open.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

JAPANESE, CHINESE, ENGLISH = "Japanese", "Chinese", "English"
LEAST_LETTERS = 12
"""With fewer letters there is no telling: a name, a command, `OK`."""
OTHER_SCRIPT_PART = 0.2
"""Low, because a text in another script may be full of foreign names, while an English one quotes only a word or two."""
LATIN_PART = 0.8
_MOST_CHARACTERS = 20_000
"""More of a text tells nothing new."""
_LEAST_SCORE = 2.0
"""Two words of its own, or one and a letter of its own: a single foreign word stands in many texts."""
_CLEARLY = 2.0
"""An answer is in another language if that one scores so many times what the wanted one does."""

_NOT_PROSE = re.compile(
    r"""
      ^[ ]{0,3}(?:```|~~~).*?(?:^[ ]{0,3}(?:```|~~~)[ \t]*$|\Z)  # code
    | ^[ ]{0,3}\#{1,6}[ \t].*?$                                   # headings
    | `[^`\n]*`
    | \*\*[\x00-\x29\x2b-\x7f]{1,60}\*\*                          # **Given**, **Independent Test**
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_ASCII_WORD = re.compile(r"[\x21-\x7e]+")
_IDENTIFIER = re.compile(
    r"[/\\_@]|\w[.:]\w|[a-z][A-Z]|\b[A-Z]{1,4}-?[0-9]"  # paths, URLs, file names, camelCase, FR-001
)
_WORD = re.compile(r"""[^\s\d.,;:!?()\[\]{}<>"'’«»“”„`*_/|#।،؛؟-]+""")
"""Not `\\w`, which vowel signs of Hindi are none of."""

_SCRIPTS = {
    "HIRAGANA": "kana",
    "KATAKANA": "kana",
    "HALFWIDTH KATAKANA": "kana",
    "CJK": "han",
    "LATIN": "latin",
    "FULLWIDTH LATIN": "latin",
    "CYRILLIC": "cyrillic",
    "ARABIC": "arabic",
    "DEVANAGARI": "devanagari",
}
"""Scripts that several languages share, by the beginnings of the names that Unicode gives their letters."""
_ONE_LANGUAGE = {
    "HANGUL": "Korean",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "THAI": "Thai",
    "LAO": "Lao",
    "GEORGIAN": "Georgian",
    "ARMENIAN": "Armenian",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "TELUGU": "Telugu",
    "GUJARATI": "Gujarati",
    "KANNADA": "Kannada",
    "MALAYALAM": "Malayalam",
    "GURMUKHI": "Punjabi",
    "SINHALA": "Sinhala",
    "KHMER": "Khmer",
    "MYANMAR": "Burmese",
    "ETHIOPIC": "Amharic",
}
"""Scripts of one language, or nearly so."""

_CHINESE_ONLY = frozenset("请这们时说对发后实现为个吗把您它哪们嗎說這")
"""Characters that Japanese does not use or hardly ever: kanji without kana may be a Japanese title."""

_WORDS = {
    "latin": {
        ENGLISH: "the and to of is are in for with it on that this please should must when be as can add make fix a an "
        "not or from by we i you use all new has have which there their will if",
        "German": "der die das und nicht ein eine einen mit für ist auf den dem zu bitte soll sollen wenn werden wird von "
        "auch sich bei oder nach wie im als aus sind kann muss",
        "French": "le la les des une un et est pour dans avec que qui sur du au ne pas plus par sont il elle cette ce aux "
        "être doit peut afin de",
        "Spanish": "el los las la por con una un del como más para que es y en se no al su sin cuando debe este esta son "
        "desde de",
        "Italian": "il gli che di per non della del una un con alla sono nel dei delle più è e la le i quando deve questo "
        "essere come",
        "Portuguese": "o os as um uma não com para que dos das do da em no na é e se por ao quando deve mais como ser são "
        "pelo de",
        "Dutch": "het een van voor niet met de en is dat die op te zijn wordt worden moet als bij ook naar aan deze of "
        "kan uit",
        "Swedish": "och att det som en på är av för med till den inte ett om ska när kan från har eller ska vi",
        "Danish": "og at det som en på er af for med til den ikke et om skal når kan fra har eller vi bliver hvis",
        "Norwegian": "og at det som en på er av for med til den ikke et om skal når kan fra har eller vi blir hvis",
        "Finnish": "ja on ei että se kun tai joka myös ovat voi niin kuin jos pitää tämä ole kanssa lisää sekä",
        "Polish": "i w na z do się nie jest że to dla po przez od jak oraz przy można gdy które który są dodaj proszę",
        "Czech": "a v na se je že to pro s z do by nebo při jako který když má podle musí být jsou přidej také",
        "Slovak": "a v na sa je že to pre s z do by alebo pri ako ktorý keď má podľa musí byť sú pridaj tiež",
        "Hungarian": "a az és hogy nem egy is van vagy ha kell meg amely csak lehet mint ez legyen minden után",
        "Romanian": "și să în nu de la cu pe este care pentru un o din sau când trebuie mai sunt că ale prin",
        "Turkish": "ve bir bu için ile de da olarak gibi olan daha çok veya değil ne kadar sonra her lütfen ekle",
        "Vietnamese": "và là của có cho không được một các trong khi này với người để thì cần khách thêm nếu",
        "Indonesian": "dan yang di untuk dengan ini itu pada dari tidak ke akan atau jika dapat harus ada oleh saat",
        "Croatian": "i u na je se da za od su s kao koji ili ne iz kada treba što biti može ako prema",
    },
    "cyrillic": {
        "Russian": "и в не на что с для при это по как из от за к или если должен быть добавь нужно чтобы также",
        "Ukrainian": "і в не на що з для при це по як із від за до або якщо має бути додай треба щоб також та у",
        "Bulgarian": "и в не на че с за при това по как от към или ако трябва да се бъде добави също са е ще",
        "Serbian": "и у не на што са за при то по како из од ка или ако треба да се буде додај такође је су",
    },
    "arabic": {
        "Arabic": "في من على إلى أن هذا هذه التي الذي لا ما عند مع أو كل يجب عن بعد قبل",
        "Persian": "و در به از که این را با است برای آن یک باید تا هر می شود اگر یا",
        "Urdu": "کے کی میں ہے اور کو سے کا نہیں پر یہ ہیں کہ جب ایک کریں",
    },
    "devanagari": {
        "Hindi": "है का की के में और को से पर नहीं यह हैं कि जब एक करें लिए या",
        "Marathi": "आहे आणि मध्ये नाही हे की ला चा ची चे साठी करा किंवा एक",
        "Nepali": "छ र मा को लाई हो छन् गर्न यो पनि भने गर्नुहोस् एक",
    },
}
"""Frequent words. A word of several languages counts for each of them less."""
_LETTERS = {
    "ß": "German",
    "ñ": "Spanish",
    "¿": "Spanish",
    "¡": "Spanish",
    "œ": "French",
    "ã": "Portuguese",
    "õ": "Portuguese",
    "ł": "Polish",
    "ś": "Polish",
    "ż": "Polish",
    "ř": "Czech",
    "ě": "Czech",
    "ů": "Czech",
    "ľ": "Slovak",
    "ŕ": "Slovak",
    "ĺ": "Slovak",
    "ő": "Hungarian",
    "ű": "Hungarian",
    "ș": "Romanian",
    "ț": "Romanian",
    "ı": "Turkish",
    "ğ": "Turkish",
    "ơ": "Vietnamese",
    "ư": "Vietnamese",
    "ế": "Vietnamese",
    "ạ": "Vietnamese",
    "ộ": "Vietnamese",
    "ы": "Russian",
    "э": "Russian",
    "ё": "Russian",
    "ї": "Ukrainian",
    "є": "Ukrainian",
    "ґ": "Ukrainian",
    "ђ": "Serbian",
    "љ": "Serbian",
    "њ": "Serbian",
    "ћ": "Serbian",
    "џ": "Serbian",
    "پ": "Persian",
    "چ": "Persian",
    "گ": "Persian",
    "ے": "Urdu",
    "ہ": "Urdu",
    "ں": "Urdu",
}
"""Letters of one language. They count like words."""
_MOST_FOR_LETTERS = 3


def language_of(text: str) -> str:
    """Return the English name of a text's language, or an empty string if it is unclear."""
    prose = _prose(text)
    letters = _letters(prose)
    total = letters.total()
    if not total:
        return ""
    if (letters["kana"] or letters["han"]) and _east_asian(letters) >= OTHER_SCRIPT_PART * total:
        return JAPANESE if letters["kana"] else _chinese(prose)
    if letters["latin"] >= LATIN_PART * total:
        return _language_in("latin", prose)
    script, count = max(letters.items(), key=lambda one: (one[0] != "latin", one[1]))
    if count < OTHER_SCRIPT_PART * total:
        return ""
    return (
        _language_in(script, prose) if script in _WORDS else script if script[:1].isupper() else ""
    )


def is_in_language(text: str, wanted: str) -> bool:
    """Whether a text is in the wanted language. Also true if none is wanted or there is no telling."""
    prose = _prose(text)
    letters = _letters(prose)
    total = letters.total()
    script = _script_of(wanted)
    if not script or total < LEAST_LETTERS:
        return True
    if wanted == JAPANESE:
        return bool(letters["kana"]) and _east_asian(letters) >= OTHER_SCRIPT_PART * total
    if wanted == CHINESE:
        few_kana = letters["kana"] < OTHER_SCRIPT_PART * max(1, letters["han"])
        return few_kana and letters["han"] >= OTHER_SCRIPT_PART * total
    if letters[script] < (LATIN_PART if script == "latin" else OTHER_SCRIPT_PART) * total:
        return False
    if script not in _WORDS:
        return True
    found = _language_in(script, prose)
    scores = _scores(script, prose)
    return found in ("", wanted) or scores[found] < _CLEARLY * max(scores[wanted], _LEAST_SCORE)


def _language_in(script: str, prose: str) -> str:
    scores = _scores(script, prose)
    (best, most), (_, next_most) = [*scores.most_common(2), ("", 0.0), ("", 0.0)][:2]
    if script == "latin" and scores[ENGLISH] >= most and (most or prose.isascii()):
        return ENGLISH
    # an English text without its small words is told from others by having none of theirs
    return best if most >= _LEAST_SCORE and most > next_most + 0.5 else ""


def _scores(script: str, prose: str) -> Counter[str]:
    known, plain = _languages_by_word(script), prose[:_MOST_CHARACTERS].casefold()
    scores: Counter[str] = Counter()
    for word in _WORD.findall(plain):
        languages = known.get(word, ())
        for language in languages:
            scores[language] += 1 / len(languages)  # pyright: ignore[reportArgumentType]
    signs = Counter(_LETTERS[sign] for sign in plain if sign in _LETTERS)
    for language, count in signs.items():
        if language in _WORDS[script]:
            scores[language] += min(count, _MOST_FOR_LETTERS)
    return scores


@cache
def _languages_by_word(script: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for language, words in _WORDS[script].items():
        for word in dict.fromkeys(words.split()):
            found[word] = (*found.get(word, ()), language)
    return found


def _script_of(language: str) -> str:
    """Return the script of a language, as it is counted by `_letters`; empty if the language is not known here."""
    if language in (JAPANESE, CHINESE) or language in _ONE_LANGUAGE.values():
        return language
    return next((script for script, words in _WORDS.items() if language in words), "")


def _prose(text: str) -> str:
    rest = _NOT_PROSE.sub(" ", text)
    return _ASCII_WORD.sub(lambda word: " " if _IDENTIFIER.search(word[0]) else word[0], rest)


def _letters(text: str) -> Counter[str]:
    """Count the letters by script; those of a script with one language, by that language."""
    return Counter(_writing(sign) for sign in text if sign.isalpha())


@cache
def _writing(letter: str) -> str:
    if letter.isascii():
        return "latin"
    name = unicodedata.name(letter, "")
    known = (*_SCRIPTS.items(), *_ONE_LANGUAGE.items())
    return next((script for begins, script in known if name.startswith(begins)), "other")


def _east_asian(letters: Counter[str]) -> int:
    return letters["kana"] + letters["han"]


def _chinese(prose: str) -> str:
    return CHINESE if _CHINESE_ONLY & set(prose) else ""
