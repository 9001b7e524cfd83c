"""Tells the encodings of Chinese, Japanese and Korean text from each other and from those of one byte per letter.

Each of these standards orders its letters in two levels, the common ones first, so that no table of frequencies is
needed: a text is likely in the encoding in which all its letters are common, and the likelier the fewer common letters
that has. Text of one byte per letter, read in pairs, is of rare letters, or mixes them with ASCII ones.
"""

from __future__ import annotations

import codecs
import functools
import math
import re
from collections.abc import Callable
from typing import NamedTuple

MOST_WORDS = 2000
"""Distinct words that are looked at."""
_FACTOR = math.log(1000)
"""Logarithm of the times by which one reading must be likelier than another."""
_KNOWN_WORD = math.log(100_000)
"""The same, by which a known word makes a reading likelier."""
_WORD = re.compile(rb"[\x40-\xff]+")
"""Bytes in a row of which no letter is split: none has a second byte below 0x40, but for those of GB18030's four."""

_COMMON, _SYMBOL, _RARE = 0.98, 0.02 / 500, 0.02 / 8000
_KANA, _KANJI = _COMMON / 170, _COMMON / 2965
_OPEN, _CLOSED = 0.5 / 399, 0.48 / 1951
"""Korean syllables without a consonant at the end are half of a text and a sixth of the letters."""
_LATIN, _MIXED = 1 / 40, 1 / 400
"""An ASCII letter among others like it, and one in a word with letters of two bytes."""
_ACCENTED = 1 / 400
"""A letter of one byte beyond ASCII in a Western text."""
_ALPHABETS = ((0xC0, 0xFF), (0xC0, 0xDF), (0x80, 0xF1), (0x80, 0x9F), (0xA1, 0xFB))
"""First and last byte of letters: Cyrillic, Greek, Arabic and Hebrew ones, their capitals; those of DOS; Thai ones."""
_OUTSIDE = 1 / 1000


def _japanese(first: int, second: int) -> float:
    """Likelihood of a letter of EUC-JP, in the rows of JIS X 0208."""
    if first in (0xA4, 0xA5) or (first, second) == (0xA1, 0xBC):
        return _KANA
    return _KANJI if 0xB0 <= first <= 0xCF else _SYMBOL if 0xA1 <= first <= 0xA8 else _RARE


def _shift_jis(first: int, second: int) -> float:
    if (0x82, 0x9F) <= (first, second) <= (0x83, 0x96) or (first, second) == (0x81, 0x5B):
        return _KANA
    return _KANJI if (0x88, 0x9F) <= (first, second) <= (0x98, 0x72) else _SYMBOL if first <= 0x87 else _RARE


def _big5(first: int, second: int) -> float:
    return _COMMON / 5401 if 0xA4 <= first <= 0xC6 else _SYMBOL if 0xA1 <= first <= 0xA3 else _RARE


def _chinese(first: int, second: int) -> float:
    """Likelihood of a letter of GB 2312; the others of GB18030 are rare."""
    if second < 0xA1:
        return _RARE
    return _COMMON / 3755 if 0xB0 <= first <= 0xD7 else _SYMBOL if 0xA1 <= first <= 0xA3 else _RARE


def _korean(first: int, second: int) -> float:
    if second < 0xA1:
        return _RARE
    if 0xB0 <= first <= 0xC8:
        is_open = (ord(bytes((first, second)).decode("cp949")) - ord("가")) % 28 == 0
        return _OPEN if is_open else _CLOSED
    return _SYMBOL if 0xA1 <= first <= 0xA3 else _RARE


class _Encoding(NamedTuple):
    likelihood: Callable[[int, int], float]
    """Function of the two bytes of a letter."""
    words: str
    """Names of columns in its language, with blanks between them."""
    prior: float = 0.0
    """Logarithm of how much more often it is met than the others."""


_WORDS = {
    "ja": "年月日 日付 日時 年月 時刻 時間 気温 売上 数量 金額 価格 地域 合計 実績 予測",
    "zh_Hant": "日期 時間 年月 月份 年度 數量 金額 價格 地區 合計 收盤價 成交量 名稱 氣溫 溫度 銷售",
    "zh": "日期 时间 年月 月份 年份 数量 金额 价格 地区 合计 收盘 销量 销售 名称 气温 温度",
    "ko": "날짜 일시 일자 시간 기간 년월 연도 수량 금액 가격 매출 판매 지역 지점 기온 합계",
}
"""Language -> names of columns that are in many tables."""
_ENCODINGS = {
    "cp932": _Encoding(_shift_jis, _WORDS["ja"]),
    "cp950": _Encoding(_big5, _WORDS["zh_Hant"]),
    "gb18030": _Encoding(_chinese, _WORDS["zh"]),
    "cp949": _Encoding(_korean, _WORDS["ko"]),
    "euc_jp": _Encoding(_japanese, _WORDS["ja"], prior=-_FACTOR),
}
"""Codec -> evidence for it. Those of Windows hold the standards that they are named after."""
NAMES = {"cp932": "Shift-JIS", "cp950": "Big5", "gb18030": "GB18030", "cp949": "EUC-KR", "euc_jp": "EUC-JP"}


@functools.lru_cache(maxsize=4)
def east_asian_encodings(text: bytes) -> tuple[str, ...]:
    """Return the codecs of Chinese, Japanese and Korean that text which is not UTF-8 may be in, the likeliest first.

    Several are those that it does not tell apart; none for text of one byte per letter. Cached, since `check` reads a
    file with every option it tries.

    Args:
        text: whole lines.
    """
    words = _words(text)
    others = max(_western(words), *(_of_alphabet(words, *alphabet) for alphabet in _ALPHABETS))
    scores = {codec: _score(words, codec) for codec in readable_encodings(text)}
    likely = [codec for codec, score in scores.items() if score > max(others, *scores.values()) - _FACTOR]
    are_certain = max(scores.values(), default=others) > others + _FACTOR
    return tuple(sorted(likely, key=lambda codec: -scores[codec])) if are_certain else ()


def readable_encodings(text: bytes) -> list[str]:
    """Return the codecs of Chinese, Japanese and Korean that read all letters, where there are some."""
    return [] if text.isascii() else [codec for codec in _ENCODINGS if _decodes(text, codec)]


def _words(text: bytes) -> list[bytes]:
    return list(dict.fromkeys(word for word in _WORD.findall(text) if not word.isascii()))[:MOST_WORDS]


def first_word(text: bytes, codec: str) -> str:
    """The first letters of a text beyond ASCII, as an encoding reads them."""
    word = re.search(r"[^\W\d_]*[^\x00-\x7f]+[^\W\d_]*", text.decode(codec, errors="replace"))
    return "" if word is None else word[0]


def _decodes(text: bytes, codec: str) -> bool:
    try:
        codecs.getincrementaldecoder(codec)().decode(text)
    except UnicodeDecodeError:
        return False
    return True


# --------------------------------------------------------------------------- logarithms of likelihoods


def _score(words: list[bytes], codec: str) -> float:
    encoding = _ENCODINGS[codec]
    texts = [word.decode(codec, errors="replace") for word in words]
    known = sum(any(name in text for name in encoding.words.split()) for text in texts)
    letters = sum(_of_letter(letter, codec) for text in texts for letter in text)
    return letters + known * _KNOWN_WORD + encoding.prior


@functools.lru_cache(maxsize=1 << 15)
def _of_letter(letter: str, codec: str) -> float:
    if letter.isascii():
        return math.log(_MIXED)
    code = letter.encode(codec, errors="replace")
    if len(code) == 2:
        return math.log(_ENCODINGS[codec].likelihood(code[0], code[1]))
    is_narrow_kana = "｡" <= letter <= "ﾟ"  # of one byte
    return math.log(_ACCENTED if is_narrow_kana else _OUTSIDE)


def _western(words: list[bytes]) -> float:
    return sum(math.log(_LATIN if byte < 0x80 else _ACCENTED) for word in words for byte in word)


def _of_alphabet(words: list[bytes], first: int, last: int) -> float:
    """Score of words of letters from one byte to another, and of no ASCII ones."""
    letter, other, ascii_letter = math.log(1 / (last - first + 1)), math.log(_OUTSIDE), math.log(_MIXED)
    return sum(
        letter if first <= byte <= last else ascii_letter if byte < 0x80 else other for word in words for byte in word
    )
