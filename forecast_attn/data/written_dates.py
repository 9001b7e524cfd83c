"""Time stamps as people and offices write them, made plain before they are parsed.

Names of weekdays and of months in twenty-one languages, names of zones, spans of two stamps, fiscal years and seasons
such as 1975/76, and what programs write: logs, SAS, EViews, JSON. A column without letters or spans passes as it is.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from forecast_attn.data.date_forms import FIRST_SHORT_YEAR, matches
from forecast_attn.data.zone_names import has_zone_name, name_of_zone, with_offset, without_zone_name

_LONG_MONTHS = "January February March April May June July August September October November December"
_LANGUAGES = (
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januar februar marts april maj juni juli august september oktober november december",
    "januar februar mars april mai juni juli august september oktober november desember",
    "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu",
    "tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu",
    "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec",
    "ledna února března dubna května června července srpna září října listopadu prosince",
    "január február marec apríl máj jún júl august september október november december",
    "január február március április május június július augusztus szeptember október november december",
    "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "янв фев мар апр май июн июл авг сен окт ноя дек",
    "січень лютий березень квітень травень червень липень серпень вересень жовтень листопад грудень",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "januari februari maret april mei juni juli agustus september oktober november desember",
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "ιανουάριος φεβρουάριος μάρτιος απρίλιος μάιος ιούνιος "
    "ιούλιος αύγουστος σεπτέμβριος οκτώβριος νοέμβριος δεκέμβριος",
    "ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου "
    "ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου",
)
"""Months in German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Norwegian, Finnish, Polish, Czech,
Slovak, Hungarian, Romanian, Russian, Ukrainian, Indonesian, Turkish and Greek, a line each, or two where those of a
day differ or months have short names of their own.
"""
_MONTHS = {
    "Jan": "jänner jaenner jän janv ene gen sty",
    "Feb": "fevrier févr fevr fév fev lut",
    "Mar": "maerz mrz mär marco mrt márc",
    "Apr": "avr abr kwi ápr",
    "May": "mag",
    "Jun": "giu cze",
    "Jul": "juil lug lip",
    "Aug": "aout ago sie",
    "Sep": "sept setiembre set wrz szept сент",
    "Oct": "okt ott out paź",
    "Nov": "lis нояб",
    "Dec": "dez decembre déc dic gru",
}
"""English month -> its short names, and other spellings of long ones, in these languages."""
_SEASONS = {"DJFMAMJJASONDJ"[month : month + 3]: month + 1 for month in range(12)}
"""Initials of three months in a row -> the one in the middle."""
_NAMES = (*_MONTHS, *_LONG_MONTHS.split())
_ENGLISH = {name: month for names in _LANGUAGES for name, month in zip(names.split(), _MONTHS, strict=True)}
_ENGLISH |= {name: month for month, names in _MONTHS.items() for name in names.split()}
_WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun "
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so "
    "lundi mardi mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim "
    "lunes martes miércoles miercoles jueves viernes sábado sabado domingo mié mie jue vie sáb sab dom "
    "lunedì martedì mercoledì giovedì venerdì sabato domenica gio "
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma wo vr za zo "
    "måndag tisdag onsdag torsdag fredag lördag söndag mån tis ons tors fre lör sön "
    "mandag tirsdag lørdag søndag man tir tor lør søn ti ke to pe la su "
    "poniedziałek wtorek środa czwartek piątek sobota niedziela pon wt śr czw pt sob niedz "
    "понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс"
)
"""`mar` is March rather than mardi, martes or martedì."""
_ENGLISH_WORDS = ("set", "out", "ago", "gen", "mag", "lip", "lis", "sie", "mart")
"""Months of a language and words of another: `set 12` is no September."""
_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_WORD = re.compile(r"[^\W\d_]+\.?")
_WEEKDAY = re.compile(rf"(?:{_WEEKDAYS.replace(' ', '|')})\b\.?,?\s+(?=\S*\d|[^\W\d_]+\.? \d)", re.IGNORECASE)
_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.(?= ?[^\W\d_]))(?![^\W\d_])", re.IGNORECASE)
_OF = re.compile(r"\s+(?:de|del|of)\s+", re.IGNORECASE)
_FISCAL = re.compile(r"(?:fiscal year|fy)[ .-]?(?=\d{4})", re.IGNORECASE)
_SPAN = re.compile(r"(.{8,}?)(?: - | – | to | bis |/)(.{8,})")
_TIME_OF_DAY = r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm])?"
_CLOCKS = re.compile(rf"(.*{_TIME_OF_DAY}) ?(?: - | – ){_TIME_OF_DAY}")
_NUMBERED_MONTH = re.compile(r"(?:m|p|mon|mo|month|monat|mois|mes|mês|mese)?[ ._-]?(0?[1-9]|1[0-2])", re.IGNORECASE)
_YEARS = re.compile(r"(\d{4}) ?[-/–] ?(\d{4}|\d{2})")
_SHORT_MONTHS = re.compile(r"(0?[1-9]|1[0-2])[/-](\d{2})")
_SHORT_YEARS = re.compile(r"(\d{2})[ -]([A-Z][a-z]{2,8})")
_WEEKS = re.compile(r"(\d{2})[/-](\d{4})|(\d{4})[/-](\d{2})")
_COMMA_SECONDS = re.compile(r"(\d:\d{2}:\d{2}),(\d+)$")
_REPUBLIC = re.compile(r"1[0-4]\d/\d{1,2}/\d{1,2}(?!\d)")
_REPUBLIC_SHORT = re.compile(r"^(\d{2,3})(/\d{1,2}/\d{1,2}(?!\d))")
"""Dates of Taiwan: 113/01/31 is one of 2024, and in a column with such years 99/12/31 is of 2010."""
_BUDDHIST = re.compile(r"^(\d{1,2}[/.-]\d{1,2}[/.-])(25[4-9]\d)(?!\d)")
"""Dates of Thailand: 31/01/2567 is one of 2024."""
_JALALI = re.compile(r"^(13[4-9]\d|140\d|141[01])([/-])(\d{1,2})\2(\d{1,2})(?!\d)")
"""Dates of Iran: 1402/10/11 is 1 January 2024. No stamp is as old as such a year of ours."""
_JALALI_YEAR, _FIRST_OF_JALALI_YEAR = 1400, datetime.date(2021, 3, 21)
_YEAR = r"((?:1[6-9]|2[0-2])\d{2})"
_CLOCK = r"(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)"
_MONTH = rf"({'|'.join(sorted(_NAMES, key=len, reverse=True))})"
_NAME = r"([^\W\d_]{3,})\.?"
_TO = "(?:[-–]|to|thru|through)"
_ORDINALS = (
    ("first", "erst", "primer", "prem", "prim"),
    ("second", "zweit", "segund", "deux", "sec"),
    ("third", "dritt", "tercer", "trois", "terz"),
    ("fourth", "viert", "cuart", "quatr", "quart"),
)
_ORDINAL_NUMBER = rf"([1-4]|{'|'.join(word for words in _ORDINALS for word in words)})(?:\.|º|[a-zè]{{0,4}})"
"""1st, 2nd quarter; 3., drittes Quartal; 4e, quatrième trimestre."""
_ROMAN = ("I", "II", "III", "IV")
_BLANK = re.compile("[\u00a0\u202f]")
"""As Windows puts before `a. m.`."""
_MARK = re.compile(r"(?<=[\w.])\s*(?:\[[a-z]\]|\([a-z]\)|[*†]+)$")
"""Behind what is provisional, revised, or has a footnote: `Jan 2024 [r]`, `2002-03*`."""
_DOTS = re.compile(r"^\.{2,} ?")
"""Before the months below each year, as health statistics of Brazil have them: `..Janeiro/2010`."""
_HAS_BLANK_OR_MARK = "[\u00a0\u202f]|[])*†]$|^[.][.]"
"""Any of these, found in all cells at once, as in few columns."""
_Plain = str | Callable[[re.Match[str]], str]
_PLAIN_FORMS: tuple[tuple[str, _Plain], ...] = (
    (r"[QTK]([1-4])[ /_-]?['’]?(\d{4}|\d{2})", lambda date: f"{full_year(date[2])}Q{date[1]}"),  # Q42010 is no X4201
    (r"""(?:=?['"]|[A-Z]|(?:year|anul|año|ano|jahr) )(\d{4}.*?)"?""", r"\1"),  # '2024-01-31, X2024.01.31, year 2024
    (rf"(?:luna|month(?: of)?|mes de|mois de|monat) (.*{_YEAR})", r"\1"),
    (rf"trim\w*\.? (I|II|III|IV) {_YEAR}", lambda date: f"{date[2]}Q{_ROMAN.index(date[1].upper()) + 1}"),
    (rf"(0?[1-9]|1[0-2])[/.-]{_YEAR}", lambda date: f"{date[2]}-{date[1]:0>2}"),  # 1/2024
    (rf"{_YEAR}[:_](0[1-9]|1[0-2])", r"\1-\2"),
    (r"(\d{1,4}) / (\d{1,2})(?: / (\d{1,4}))?", lambda date: _filled("/", date)),  # 2024 / 01
    (rf"(\d{{1,2}}([/.-])\d{{1,2}}\2(?:{_YEAR}|\d{{2}})) ([01]\d|2[0-4])", r"\1 \4:00"),  # 31/01/24 13
    (rf"M(0[1-9]|1[0-2])[ /-]{_YEAR}", r"\2-\1"),
    (rf"{_YEAR}\. ?(\d{{1,2}})\. ?(\d{{1,2}})\.( \d.*)?", lambda date: f"{date[1]}-{date[2]}-{date[3]}{date[4] or ''}"),
    (rf"{_YEAR}:([1-4])", r"\1Q\2"),
    (rf"(\d\d):(\d\d):{_YEAR}", r"\1/\2/\3"),  # 31:01:2024
    (rf"(\d{{1,2}})\. (\d{{1,2}})\. {_YEAR}( \d.*)?", lambda date: f"{date[1]}.{date[2]}.{date[3]}{date[4] or ''}"),
    (rf"{_YEAR}MM(0[1-9]|1[0-2])", r"\1-\2"),  # of Statistics Netherlands, as the next two
    (rf"{_YEAR}KW0([1-4])", r"\1Q\2"),
    (rf"{_YEAR}JJ00", r"\1"),
    (rf"{_YEAR}[ /_:,-]*{_NAME}", r"\2 \1"),  # 2024, Jan; 2024jan
    (rf"{_NAME}(?:[ /_,-]+|(?<=\w)){_YEAR}", r"\1 \2"),
    (rf"{_NAME}[ -]?['’/]?(\d{{2}})", r"\1 \2"),  # Jan'24, jan/24
    (rf"{_YEAR}? ?{_MONTH} ?{_TO} ?{_MONTH} ?{_YEAR}?", lambda span: f"{span[2]} {span[1] or span[4]}"),  # Jan-Mar 2024
    (rf"{_MONTH}\. ?(\d.*)", r"\1 \2"),  # Jan. 2024, Jan. 5, 2024
    (rf"(\d{{1,2}} {_MONTH}), ?(\d.*)", r"\1 \3"),
    (
        rf"(\d{{1,2}})([/._]){_NAME}\2(\d{{4}}|\d{{2}})( \d.*)?",
        lambda date: f"{date[1]}-{date[3]}-{date[4]}{date[5] or ''}",
    ),
    (r"FY ?['’]?(\d{2})(?:[/-]\d{2})?", lambda date: full_year(date[1])),
    (r"FY ?['’]?(\d{4}|\d{2})[ /_-]*[QT]([1-4])", lambda date: f"{full_year(date[1])}Q{date[2]}"),
    (r"[QT]([1-4])[ /_-]*FY ?['’]?(\d{4}|\d{2})", lambda date: f"{full_year(date[2])}Q{date[1]}"),
    (r"(\d{1,4})([ _])(\d{1,2})\2(\d{4}|\d{2})( \d.*)?", lambda date: f"{date[1]}-{date[3]}-{date[4]}{date[5] or ''}"),
    (rf"(\d{{1,2}})(\d\d){_YEAR} {_CLOCK}", r"\1/\2/\3 \4"),  # 1012005 1:00
    (r"(\d{4}-\d\d-\d\d)(\.\d{2,})", lambda date: _of_fraction(date[1], float(date[2]))),  # of astronomers
    (r"(\d{4}([/-])\d{2}\2\d{2}) -\d{1,4}", r"\1"),  # 2023/01/02 -1, the first slip of that day
    (r"([1-4])Q[ -]?['’]?(\d{4}|\d{2})", lambda date: f"{full_year(date[2])}Q{date[1]}"),
    (rf"{_YEAR}[ /.:-]?[QTK]0?([1-4])", r"\1Q\2"),  # K in Danish
    (rf"{_ORDINAL_NUMBER} ?(?:quart|trim)\w*\.?(?: of)? {_YEAR}", lambda date: f"{date[2]}Q{_ordinal(date[1])}"),
    (rf"{_YEAR} {_ORDINAL_NUMBER} ?(?:quart|trim)\w*\.?", lambda date: f"{date[1]}Q{_ordinal(date[2])}"),
    (rf"{_YEAR}[ /.:-](I|II|III|IV)", lambda date: f"{date[1]}Q{_ROMAN.index(date[2].upper()) + 1}"),
    (rf"(I|II|III|IV)[ /.:-]{_YEAR}", lambda date: f"{date[2]}Q{_ROMAN.index(date[1].upper()) + 1}"),
    (rf"{_YEAR}[ -]?[HS]([12])", lambda date: f"{date[1]}-{'07' if date[2] == '2' else '01'}"),
    (rf"[HS]([12])[ /-]?{_YEAR}", lambda date: f"{date[2]}-{'07' if date[1] == '2' else '01'}"),
    (rf"(?:FY ?)?{_YEAR}[ /,_-]*P(0?[1-9]|1[0-2])", r"\1-\2"),  # periods of accountants
    (rf"0(0[1-9]|1[0-2])[./]{_YEAR}", r"\2-\1"),  # periods of SAP
    (rf"{_YEAR}[ -]?(?:W|WK|WEEK|KW|U)[ .-]?(\d{{1,2}})", lambda week: f"{week[1]}-W{week[2]:0>2}"),
    (rf"(?:W|WK|WEEK|KW)[ .-]?(\d{{1,2}})[ /,-]+{_YEAR}", lambda week: f"{week[2]}-W{week[1]:0>2}"),
    (rf"(\d{{1,2}})\.? ?(?:WK|WEEK|KW)[ /,-]+{_YEAR}", lambda week: f"{week[2]}-W{week[1]:0>2}"),
    (r"(?:\d+ )?(?:w/[ec]|(?:week|wk) [a-z]+):? (.*\d.*)", r"\1"),  # week ending 7 Jan 2024, 1 W/E 01/08/22
    (rf"(\d.*\d) \(?(?:{_WEEKDAYS.replace(' ', '|')})\.?\)?", r"\1"),
    (r"(.*\d),? (?:at|um) (\d.*?)(?: Uhr)?", r"\1 \2"),
    (r"(.*\d:\d{2}) Uhr", r"\1"),
    (r"(.*\d)[ T](\d{1,2}) ?h ?(\d{2})?", lambda date: f"{date[1]} {date[2]}:{date[3] or '00'}"),  # 31/01/2024 13h05
    (r"(\d{4}-\d\d-\d\d) (\d{1,2})-([AP]M)", r"\1 \2:00 \3"),  # 2019-10-17 09-AM
    (r"(.*\d:.* [+-]\d{2}:?\d{2}) \(?[A-Z]{3,5}\)?", r"\1"),  # 2024-01-31 13:05:07 +0000 UTC
    (r"(\d{4}-\d{2}-\d{2})(?:T|Z|[+-]\d{2}:\d{2})", r"\1"),  # days of XML
    (  # Mon Jan  1 13:00:00 UTC 2024
        rf"(?:[A-Z]{{3}},? )?{_MONTH} +(\d{{1,2}}) {_CLOCK}( [A-Z]{{3,4}}| [+-]\d{{4}})? {_YEAR}",
        lambda date: f"{date[2]} {date[1]} {date[5]} {date[3]}{date[4] or ''}",
    ),
    (rf"\[?(\d{{1,2}})/{_MONTH}/{_YEAR}:{_CLOCK}( [+-]\d{{4}})?\]?", r"\1 \2 \3 \4\5"),  # of a web server
    (  # 02JAN2015 of SAS, 02Ene15
        rf"(\d{{1,2}})([^\W\d_]{{3,10}})\.?(\d{{4}}|\d{{2}})(?:[: ]{_CLOCK})?",
        lambda date: _joined(*date.groups()),
    ),
    (  # of Oracle
        rf"(\d{{1,2}}-{_MONTH}-\d{{2,4}} \d{{1,2}})\.(\d{{2}})\.(\d{{2}})(?:\.0+)?( [AP]M)?( [+-]\d{{2}}:\d{{2}})?",
        lambda date: f"{date[1]}:{date[3]}:{date[4]}{date[5] or ''}{date[6] or ''}",
    ),
    (rf"(\d{{4}}([-/.])\d{{2}}\2\d{{2}})[-_ ](\d{{2}}|{_CLOCK})", lambda date: f"{date[1]} {date[3]}"),
    (r"(\d{8})[-_ ](\d{4}|\d{6})(?:\d{3})?", r"\1\2"),
    (r"(\d{1,2}\.\d{1,2}\.\d{4}|\d{4}-\d{2}-\d{2})[T ](\d{1,2})\.(\d{2})(?:\.(\d{2}))?", lambda date: _dotted(date)),
    (rf"{_CLOCK},? +(\d{{1,2}}[/.-]\d{{1,2}}[/.-]\d{{2,4}}|\d{{4}}-\d{{2}}-\d{{2}})", r"\2 \1"),
    (r"/Date\((-?\d+)(?:[+-]\d{4})?\)/", lambda date: _of_milliseconds(int(date[1]))),
    (r"(\d{4})\. (\d{1,2})\. (\d{1,2})\.?(.*)", r"\1-\2-\3\4"),  # of Korea
    (  # 2024_01_31_13_05
        r"(\d{4})([-_])(\d\d)\2(\d\d)[-_ ](\d\d)([-_])(\d\d)(?:\6(\d\d))?",
        lambda date: f"{date[1]}-{date[3]}-{date[4]} {date[5]}:{date[7]}:{date[8] or '00'}",
    ),
    (r"(\d{1,2}([/.-])\d{1,2}\2\d{4}|\d{4}([/.-])\d\d\3\d\d) ([01]\d|2[0-4])([0-5]\d)", r"\1 \4:\5"),
    (  # 310124 1305, be it day first or year first
        r"(\d\d)(\d\d)(\d\d)[-_ ]([01]\d|2[0-3]):?([0-5]\d)(?::?([0-5]\d))?",
        lambda date: f"{date[1]}-{date[2]}-{date[3]} {date[4]}:{date[5]}:{date[6] or '00'}",
    ),
    (rf"(\d{{1,2}}) ?[-–] ?\d{{1,2}} ({_MONTH},? {_YEAR})", r"\1 \2"),  # 1-7 January 2024
    (rf"{_MONTH} (\d{{1,2}}) ?[-–] ?(?:{_MONTH} )?\d{{1,2}},? {_YEAR}", lambda days: _first_day(*days.groups())),
    (r"(.*\d{1,2}:\d{2}(?::\d{2})?) ?(?:hs?|hrs|uhr|uur)\.?", r"\1"),  # 20:40 hs.
)
"""Forms of whole cells -> the same as a plainer one."""
_PLAINER = [(re.compile(form, re.IGNORECASE), plain) for form, plain in _PLAIN_FORMS]


_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
"""Japanese era -> the year before its first one."""
_ASIAN_FORMS: tuple[tuple[str, _Plain], ...] = (
    (r"(?:民[國国] ?(\d{2,3})|(?<!\d)(1[0-4]\d))年", lambda year: f"{int(year[1] or year[2]) + 1911}年"),
    (r"(令和|平成|昭和)(\d{1,2}|元)年", lambda era: f"{_ERAS[era[1]] + int(era[2].replace('元', '1'))}年"),
    (r" ?(?:[(（][月火水木金土日일월화수목금토][)）]|(?:星期|周)[一二三四五六日])", ""),
    (r"(\d{4})[年년] ?第?([1-4一二三四])(?:季度?|四半期|분기)", lambda date: f"{date[1]}Q{_digit(date[2])}"),
    (r"(\d{4})[年년](?: ?(\d{1,2})[月월](?: ?(\d{1,2})[日일])?)?", lambda date: _filled("-", date)),
    (r" ?(\d{1,2})[时時点點시](?: ?(\d{1,2})[分분](?: ?(\d{1,2})[秒초])?)?", lambda clock: f" {_clock(clock)}"),
    (r" ?(?:上午|午前|오전) ?(\d.*)", r" \1 AM"),
    (r" ?(?:下午|午後|오후) ?(\d.*)", r" \1 PM"),
)
"""Parts of Chinese, Japanese and Korean cells -> plainer ones: years of Taiwan, eras, weekdays, quarters, dates, …"""
_ASIAN_PARTS = [(re.compile(form), plain) for form, plain in _ASIAN_FORMS]


def _western(cell: str) -> str:
    for form, plain in _ASIAN_PARTS:
        cell = form.sub(plain, cell)
    return cell.strip()


def _digit(number: str) -> str:
    return str("一二三四".find(number) + 1 or number)


def _filled(mark: str, parts: re.Match[str]) -> str:
    return mark.join(part.zfill(2) for part in parts.groups() if part)


def _clock(parts: re.Match[str]) -> str:
    return _filled(":", parts) + ("" if parts[2] else ":00")


def plain_dates(text: pd.Series) -> pd.Series:
    """The cells with English months, numbers for zones, and one stamp where there were two (num_cells,).

    Args:
        text: stripped cells, each once. A cell of another form than the first one is changed alike, or stays.
    """
    if matches(text, _HAS_BLANK_OR_MARK).any():
        text = text.str.replace(_BLANK, " ", regex=True).str.replace(_MARK, "", regex=True)
        text = _months_without_years(text.str.replace(_DOTS, "", regex=True), text)
    first = next((cell for cell in text.head(100) if isinstance(cell, str) and cell), "")
    if not first.isascii() and any(form.search(first) for form, _ in _ASIAN_PARTS):
        text, first = text.map(_western, na_action="ignore").astype("string"), _western(first)
    known = next(((form, plain) for form, plain in _PLAINER if form.fullmatch(first)), None)
    if known is not None:
        text = text.map(lambda cell: _plain_cell(cell, *known), na_action="ignore").astype("string")
        first = _plain_cell(first, *known)
    for change in _changes(first):
        text, first = text.map(change, na_action="ignore").astype("string"), change(first)
    if _HAS_WORD.search(first) and _has_other_words(text):
        words = {word for cell in text.head(100).dropna() for word in re.findall(r"[^\W\d_]+", cell.lower())}
        has_months = any(word in _ENGLISH and word not in _ENGLISH_WORDS for word in words)
        text = text.map(lambda cell: _in_english(cell, has_months), na_action="ignore").astype("string")
    if _SHORT_MONTHS.fullmatch(first):
        return _months_of_short_years(text)
    if _SHORT_YEARS.fullmatch(first):
        return _years_before_months(text)
    text = _first_years(text) if _YEARS.fullmatch(first) else text
    return _weeks(text) if _WEEKS.fullmatch(first) else text


def _months_without_years(text: pd.Series, dotted: pd.Series) -> pd.Series:
    """The cells whose dots were taken off, and nothing in others, which are sums of years above them (num_cells,)."""
    are_dotted = dotted.str.startswith("..").fillna(False)
    return text.mask(~are_dotted & text.str.fullmatch(_YEAR), "") if are_dotted.any() else text


def _changes(first: str) -> Iterator[Callable[[str], str]]:
    """The changes that make cells plain, judged by the first one."""
    if _REPUBLIC.match(first):
        yield lambda cell: _REPUBLIC_SHORT.sub(lambda date: f"{int(date[1]) + 1911}{date[2]}", cell)
    if _BUDDHIST.match(first):
        yield lambda cell: _BUDDHIST.sub(lambda date: f"{date[1]}{int(date[2]) - 543}", cell)
    if _JALALI.match(first):
        yield lambda cell: _JALALI.sub(_of_jalali, cell)
    if _starts_span(first):
        yield _start_of_span
    if _COMMA_SECONDS.search(first):
        yield lambda cell: _COMMA_SECONDS.sub(r"\1.\2", cell)
    if has_zone_name(first):
        yield with_offset
    if _FISCAL.search(first):
        yield lambda cell: _FISCAL.sub("", cell)


def _plain_cell(cell: str, form: re.Pattern[str], plain: _Plain) -> str:
    match = form.fullmatch(cell)
    return cell if match is None else match.expand(plain) if isinstance(plain, str) else plain(match)


def _ordinal(number: str) -> int:
    """1 to 4 of a digit, or of the beginning of a word for first to fourth."""
    words = (at for at, words in enumerate(_ORDINALS, 1) if number.lower() in words)
    return int(number) if number.isdecimal() else next(words)


def full_year(year: str) -> str:
    """Years of two digits with their century: 50 to 99 are of the last one, as `in_form` reads them."""
    return year if len(year) == 4 else f"{19 if int(year) >= FIRST_SHORT_YEAR else 20}{year}"


def _joined(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)


def _first_day(month: str, day: str, last_month: str | None, year: str) -> str:
    """The first of two days of which the year is that of the second: `Dec 30 - Jan 5, 2024` begins in 2023."""
    months = [list(_MONTHS).index(name.title()[:3]) for name in (month, last_month or month)]
    return f"{month} {day} {int(year) - (months[0] > months[1])}"


def _dotted(date: re.Match[str]) -> str:
    """A stamp whose clock has points: `31.01.2024 13.05`."""
    return f"{date[1]} {':'.join(part for part in date.groups()[1:] if part)}"


def _of_jalali(date: re.Match[str]) -> str:
    """The day that a date of the Persian calendar names; the cell as it is where that has no such day.

    Its months have 31 days, from the seventh on 30, and the last one 29, or 30 in eight of 33 years.
    """
    year, month, day = int(date[1]), int(date[3]), int(date[4])

    def days_before(year: int) -> int:
        return 365 * year + (8 * year + 21) // 33

    start = (month - 1) * 31 - max(month - 7, 0)
    length = 31 if month <= 6 else 30 if month < 12 else days_before(year + 1) - days_before(year) - start
    if not (1 <= month <= 12 and 1 <= day <= length):
        return date[0]
    of_era = days_before(year) - days_before(_JALALI_YEAR) + start + day - 1
    return (_FIRST_OF_JALALI_YEAR + datetime.timedelta(of_era)).isoformat()


def _of_fraction(day: str, fraction: float) -> str:
    """The stamp at a part of a day: `2014-05-23.5` is noon."""
    return f"{pd.Timestamp(day) + pd.Timedelta(round(fraction * 86_400_000), 'ms')}"


def _of_milliseconds(number: int) -> str:
    """The instant that `/Date(1706706000000)/` of JSON names."""
    try:
        return (datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=number)).isoformat() + "Z"
    except OverflowError:
        return ""


def _has_other_words(text: pd.Series) -> bool:
    """Return whether any cell holds letters besides English months and halves of the day; by Arrow, for all cells."""
    cells = pa.array(text, pa.string(), from_pandas=True)
    left = pc.replace_substring_regex(cells, rf"(?i)\b({'|'.join(_NAMES)}|am|pm)\b", "")
    return bool(pc.any(pc.match_substring_regex(left, r"\pL{2}")).as_py())


def _starts_span(cell: str) -> bool:
    return _start_of_span(cell) != cell


def _start_of_span(cell: str) -> str:
    """The first of two stamps of one form: `01.01.2023 00:00 - 01.01.2023 01:00`, `2023-01-02/2023-01-08`."""
    match = _SPAN.fullmatch(cell)
    zone = name_of_zone(cell)
    if match is not None and re.sub(r"\d+", "0", match[1]) == re.sub(r"\d+", "0", without_zone_name(match[2])):
        return match[1] + (f" {zone}" if zone is not None else "")
    clocks = _CLOCKS.fullmatch(cell)
    return cell if clocks is None else clocks[1]


def _in_english(cell: str, has_months: bool) -> str:
    """`Montag, 3. März 2021` as `3 Mar 2021`; `ago 12` too where other cells have months that are not English words."""
    cell = _WEEKDAY.sub("", cell, count=1) if _WEEKDAY.match(cell) else cell
    cell = _OF.sub(" ", _ORDINAL.sub(r"\1", cell))
    return _WORD.sub(lambda word: _english_month(word, has_months), cell)


def _english_month(word: re.Match[str], has_months: bool) -> str:
    bare = word[0].rstrip(".").lower()
    is_word = not has_months and bare in _ENGLISH_WORDS and not re.search(r"\d{4}", word.string)
    if bare in _ENGLISH and not is_word:
        return _ENGLISH[bare]
    is_english = len(bare) >= 3 and bare[:3].title() in _MONTHS
    return word[0].rstrip(".") if is_english else word[0]


def month_of_name(name: str) -> int | None:
    """The month that a word names in any of the languages, in full or short: `März`, `sept.`; None for others."""
    bare = name.strip().rstrip(".").lower()
    longer = (month for month in _LONG_MONTHS.split() if len(bare) >= 3 and month.lower().startswith(bare))
    month = _ENGLISH.get(bare) or next(longer, None)
    return _SEASONS.get(name.strip()) if month is None else list(_MONTHS).index(month[:3]) + 1


def month_number(text: str) -> int | None:
    """The month that a cell names: 3, 03, Mar, March, März, M3, MONAT03, the middle one of DJF; None for others."""
    match = _NUMBERED_MONTH.fullmatch(text.strip())
    return month_of_name(text) if match is None else int(match[1])


def _months_of_short_years(text: pd.Series) -> pd.Series:
    """Months such as `1/86`, with the year in full; cells as they are where no number is too large for a day."""
    matches = [_SHORT_MONTHS.fullmatch(cell) for cell in text.dropna()]
    if not all(matches) or all(int(match[2]) <= DAYS_OF_MONTH for match in matches if match is not None):
        return text
    return text.str.replace(_SHORT_MONTHS, lambda month: f"{full_year(month[2])}-{month[1]:0>2}", regex=True)


def _years_before_months(text: pd.Series) -> pd.Series:
    """Months such as `24-Jan`, with the year in full; cells as they are where those are rather days of months."""
    parts = text.dropna().str.extract(_SHORT_YEARS)
    months = parts[1].map(lambda name: month_of_name(name), na_action="ignore")
    numbers = np.sort(parts[0].map(lambda year: int(full_year(year)), na_action="ignore") * 12 + months)
    if parts.isna().any(axis=None) or len(numbers) < 3 or np.mean(np.diff(numbers) == 1) < _MOSTLY_NEXT:
        return text
    return text.str.replace(_SHORT_YEARS, lambda month: f"{month[2]} {full_year(month[1])}", regex=True)


def _weeks(text: pd.Series) -> pd.Series:
    """Weeks such as `2024-40` and `40/2024`; cells as they are where all may be months, or one has no such week."""
    matches = [_WEEKS.fullmatch(cell) for cell in text.dropna()]
    if (
        not matches
        or not all(matches)
        or not 12 < max(int(match[1] or match[4]) for match in matches if match is not None) <= 53
    ):
        return text
    return text.str.replace(_WEEKS, lambda week: f"{week[2] or week[3]}-W{week[1] or week[4]}", regex=True)


DAYS_OF_MONTH = 31
_MOSTLY_NEXT = 0.9
"""Share of months that must be the next one, so that `24-Jan` is no day."""


def _first_years(text: pd.Series) -> pd.Series:
    """Seasons of two years, each the year after the other, as their first year; all cells as they are if few are.

    Among many of them, another one, such as 1999-01 for 2000-01, is a mistake: no stamp, and no month.
    """
    matches = [_YEARS.fullmatch(cell) for cell in text.dropna()]
    pairs = [(int(match[1]), match[2]) for match in matches if match is not None]
    follow = [int(second) == (first + 1) % 10 ** len(second) for first, second in pairs]
    is_no_month = any(len(second) == 4 or not 1 <= int(second) <= 12 for _, second in pairs)
    if len(pairs) < len(matches) or sum(follow) < _MOSTLY_NEXT * len(pairs) or not is_no_month:
        return text
    kept = [cell for cell, is_next in zip(text.dropna(), follow, strict=True) if is_next]
    return text.str[:4].where(text.isin(kept))
