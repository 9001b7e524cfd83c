"""Tells code pages of one byte per letter from each other, by the alphabets of the languages written in them.

A word fits a language if all its letters are of the alphabet and no capital stands behind a small letter. Text read in
a wrong page has letters of several alphabets, signs within words, or capitals there: `Pocz¹tek`, `Äàòà`, `K”ln`.
"""

from __future__ import annotations

import functools
import re

from forecast_attn.data.reading.east_asian import MOST_WORDS

WESTERN = "cp1252"
"""The Windows code page of Western Europe, called ANSI there: Latin-1 with quotation marks and the euro sign."""
NAMES = {
    "cp1250": "Central European",
    "cp1251": "Cyrillic",
    WESTERN: "Latin-1",
    "cp1253": "Greek",
    "cp1254": "Turkish",
    "cp1255": "Hebrew",
    "cp1256": "Arabic",
    "cp1257": "Baltic",
    "iso8859-2": "Latin-2",
    "koi8_u": "KOI8",
    "cp850": "Western letters of DOS",
    "cp852": "Central European letters of DOS",
    "cp866": "Cyrillic letters of DOS",
    "mac_roman": "Western letters of Macintosh",
}
"""Codec -> what it is called."""

_WESTERN = (
    "äöüß",
    "àâçéèêëîïôœùûüÿ",
    "áéíñóúü",
    "áàâãçéêíóôúü",
    "àèéìòóù",
    "äëïöüéèêáóíú",
    "æøåéèêóòôü",
    "åäöé",
    "àçéèíïóòúü",
)
_CENTRAL = ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîşţ")
_CYRILLIC = ("абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", "абвгдђежзијклљмнњопрстћуфхцчџш")
_ALPHABETS = {
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
    "cp1250": _CENTRAL,
    "cp1251": _CYRILLIC,
    "cp1253": ("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",),
    "cp1254": ("çğı\u0307öşüâîû",),
    "cp1255": ("אבגדהוזחטיךכלםמןנסעףפץצקרשת",),
    "cp1256": ("ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگـ",),
    "iso8859-2": _CENTRAL,
    "koi8_u": _CYRILLIC,
    "mac_roman": _WESTERN,
    "cp850": _WESTERN,
    "cp852": _CENTRAL,
    "cp866": _CYRILLIC,
    WESTERN: ("áéíóúýþæðö",),
}
"""Codec -> letters beyond ASCII of each language that is written in it; the first of equals is taken, so Icelandic is
last, whose letters stand where Turkish ones do.
"""
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_COMMON = set("оеаинтсрвлкαοιετνσηρיוהלאמרתבםاليمنترةوبدع")
"""Letters of which the half of a text consists that is not Latin, and hardly of one that is read in a wrong page."""
_SHARE = 0.8
"""Share of words that fit a language in which a text is written."""
_SHORT = 3
"""Letters of units of measurement, in which a capital may stand anywhere."""
_SIGNS = re.compile(r"^[\W\d_ªºµ²³¹¼½¾]+|[\W\d_ªºµ²³¹¼½¾]+$")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")


@functools.lru_cache(maxsize=4)
def code_page(text: bytes) -> str | None:
    """Return the codec of text of one byte per letter; None where no language fits it.

    Text is Western where as many of its words fit the languages of the West, of which it may mix several, as fit
    another one. Cached, since `check` reads a file with every option it tries.

    Args:
        text: whole lines.
    """
    words = [word for word in dict.fromkeys(_WORD.findall(text)) if len(word) > 1][:MOST_WORDS]
    western = [_decoded(word, WESTERN) for word in words]
    most = sum(any(_fits(word, alphabet) for alphabet in _WESTERN) for word in western)
    likeliest = WESTERN if most or not words else None
    for codec, alphabets in _ALPHABETS.items():
        decoded = [_decoded(word, codec) for word in words]
        fitting = max(sum(_fits(word, alphabet) for word in decoded) for alphabet in alphabets)
        if fitting > most and fitting >= _SHARE * len(words) and _is_usual("".join(decoded)):
            most, likeliest = fitting, codec
    return likeliest


def _decoded(word: bytes, codec: str) -> str:
    return word.decode(codec, errors="replace")


def _fits(word: str, alphabet: str) -> bool:
    """Return whether a word is made of letters of a language, with few signs around them: `m³`, `“año”`, `l’été`."""
    return all(_is_word(part, alphabet) for part in re.split("[·’]", word) if part)


def _is_word(text: str, alphabet: str) -> bool:
    letters = _SIGNS.sub("", text.replace("õe", "oe").replace("ÕE", "OE"))  # of Portuguese, which has no other õ
    has_form = len(letters) <= _SHORT or letters in (letters.lower(), letters.upper(), letters.capitalize())
    known = alphabet + _LATIN if alphabet < "α" else alphabet
    return has_form and len(letters) >= len(text) / 2 and set(letters.lower()) <= set(known)


def _is_usual(text: str) -> bool:
    """Return whether the common letters of a text that is not Latin are the half of it; other text is usual."""
    letters = [letter for letter in text.lower() if "α" <= letter <= "я" or "א" <= letter <= "ی"]
    return not letters or sum(letter in _COMMON for letter in letters) >= len(letters) / 2
