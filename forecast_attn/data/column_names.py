"""The meaning of a column by its name: a time, a unit of it, an identifier, a counter, a place.

Each meaning has one list, of words in lower case. A word of another language belongs into the list of its meaning.
Those of values, which only `check` looks at, are in `checking/value_names`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

# --------------------------------------------------------------------------- time

# In order of preference; the loose ones count only when they hold dates, because "month" is often a feature.
TIME_NAMES = ("timestamp", "datetime", "date_time", "date", "ds", "time")
LOOSE_TIME_NAMES = ("month", "week", "day", "hour", "quarter", "year", "period")
STEP_WORDS = (
    *("step", "t", "time_idx", "time_id", "date_id", "timestep", "time_step", "timepoint", "time_point"),
    *("matchday", "matchweek", "gameweek", "spieltag", "episode", "congress"),
)
"""Names of whole numbers that count the steps of a series."""
STEP_NAMES = (*STEP_WORDS, "index", "year", "unnamed: 0")
"""Names of whole numbers that are the time where there are no dates."""
_DATE_WORDS = {"date", "datum", "fecha", "datetime", "timestamp"}
UNITS_OF_TIME = {
    "year": (
        *("year", "yr", "year4", "yyyy", "yy", "y", "jahr", "année", "annee", "an", "año", "ano", "anio", "anno"),
        *("rok", "év", "год", "рік", "yıl", "år", "jaar", "vuosi", "έτος", "tahun", "年", "年份", "年度", "연도", "년"),
    ),
    "half": ("half", "halfyear", "half_year", "halbjahr", "semestre"),
    "quarter": (
        *("quarter", "qtr", "q", "quartal", "trimestre", "kvartal", "kwartaal", "kwartał", "čtvrtletí", "ctvrtleti"),
        *("negyedév", "квартал", "çeyrek", "季度", "四半期", "분기"),
    ),
    "month": (
        *("month", "mon", "mo", "mth", "mnth", "mm", "m", "monat", "mois", "mes", "mês", "mese", "maand", "månad"),
        *("måned", "miesiąc", "měsíc", "mesiac", "mesic", "hónap", "месяц", "місяць", "ay", "kuukausi", "μήνας"),
        *("bulan", "月", "月份", "월"),
    ),
    "week": (
        *("week", "wk", "isoweek", "woche", "semaine", "semana", "settimana", "vecka", "uke", "uge", "tydzień"),
        *("týden", "týždeň", "hét", "неделя", "тиждень", "hafta", "viikko", "周", "週", "주"),
        *("weekofyear", "week_of_year", "weeknumber", "week_number", "weekno", "week_no", "weeknum", "week_num"),
        *("epiweek", "epi_week", "mmwrweek", "mmwr_week", "kw", "kalenderwoche"),
    ),
    "day": (
        *("day", "dd", "dy", "d", "mday", "dayofmonth", "day_of_month", "tag", "jour", "dia", "día", "giorno", "dag"),
        *("dzień", "den", "deň", "nap", "день", "gün", "päivä", "日", "일"),
    ),
    "hour": (
        *("hour", "hr", "hh", "h", "stunde", "heure", "hora", "ora", "uur", "timme", "godzina", "hodina", "óra", "час"),
        *("saat", "tunti", "時", "时", "小時", "小时", "시", "時段", "时段", "時間帯", "hh.h", "hh._m"),
    ),
    "minute": ("minute", "min", "minuto", "minut", "minuta", "perc", "минута", "dakika", "分", "分鐘", "分钟", "분"),
    "second": ("second", "sec", "sekunde", "seconde", "segundo", "secondo", "секунда", "saniye", "秒", "초"),
}
"""Unit of time -> names of columns that count it: European, Chinese, Japanese and Korean ones."""
PERIOD_NAMES = ("period", "per", "subperiod", "periode", "période", "periodo", "período")
CALENDAR_NAMES = (
    *("weekday", "dayofweek", "day_of_week", "dow", "wday", "weekofyear", "week_of_year", "dayofyear", "yday", "doy"),
    *("season", "holiday", "workingday", "weekend", "time_idx"),
)
"""Names of what follows from the time of a row."""
_TIME_WORDS = {*TIME_NAMES, "age", "millisecond", "msec", "microsecond", "nanosecond"}
"""Last words of names of times."""
_SINCE_WORDS = ("after", "since", "from", "post", "nach", "seit", "depuis", "desde")
_RECORD_WORDS = {
    *("added", "changed", "edited", "modified", "updated", "status", "lastchanged", "lastupdated", "lastmodified"),
    *("geändert", "aktualisiert", "modifié", "modificado", "maj"),
}
"""Words in names of dates on which somebody wrote a row, rather than of what happened then."""
_BEGINNING_WORDS = {
    *("signup", "hire", "hired", "install", "installed", "installation", "commissioned", "commissioning"),
    *("enrolled", "enrolment", "enrollment", "registered", "registration", "joined", "onboarded", "einstellungsdatum"),
}
"""Words in names of dates since when somebody or something is there, with all that its row tells about it."""
_EVENT_WORDS = {
    *("loss", "incident", "accident", "crash", "occurrence", "occurred", "unfall", "schaden", "sinistre", "sinistro"),
    *("siniestro", "ocorrência", "ocorrencia", "ocurrencia"),
}
"""Words in names of dates on which something happened, whenever the contract about it had begun."""
_TERM_WORDS = {
    *("maturity", "expiry", "expiration", "expires", "vencimento", "vencimiento", "vervaldatum", "verfall"),
    *("fälligkeit", "échéance", "scadenza", "förfallodag", "zapadalność", "到期日", "到期月份", "満期日"),
}
"""Words in names of dates at which a bond or a contract ends."""
_BIRTH_WORDS = ("birth", "birthdate", "birthday", "born", "dob")

# --------------------------------------------------------------------------- series and rows

ITEM_ID_NAMES = ("item_id", "unique_id", "series_id")
ID_NAMES = (*ITEM_ID_NAMES, "id", "series")
ROW_NAMES = ("rownames", "row.names", "row_names", "rowname")
"""Names that R gives to the numbers of rows."""
COUNTERS = (*ROW_NAMES, "row-number", "no", "no.", "nr", "obs", "row", "n", "number", "instant", "index")
"""Names of columns that number the rows."""
_NAMING_WORDS = (
    *("id", "no", "nr", "nbr", "num", "number", "code", "zip", "zipcode", "postcode", "phone", "fips", "sku"),
    "account",
    *("flight", "customer", "invoice", "name", "country", "region", "city", "channel", "category", "type", "class"),
    *("label", "idno", "idnum", "ean", "gtin", "upc", "barcode", "isbn", "docket"),
)
"""Last word of a column of whole numbers that are names: `InvoiceNo`, `Postal Code`."""
_NAMING_ENDS = ("code", "号", "號", "编码", "編號", "コード", "번호", "코드")
"""Ends of such a last word, in languages that leave no blank before it too."""
_SOURCE_WORDS = {"device", "sensor", "station", "site", "meter", "gauge", "well", "probe", "node", "point"}
"""Words of what measures, or of where it does."""
_SUBJECT_WORDS = {
    *("store", "shop", "branch", "outlet", "warehouse", "whse", "plant", "factory", "machine", "line", "lane", "room"),
    *("item", "product", "article", "sku", "geo", "area", "zone", "district", "county", "state", "location", "feeder"),
    *("team", "player", "user", "client", "household", "house", "building", "dept", "department", "ward", "unit"),
    *("filiale", "markt", "artikel", "magasin", "tienda", "producto", "loja", "negozio", "sucursal", "winkel"),
}
"""Words of what a series is about, which may be numbered from 1 to 24 as hours are."""

# --------------------------------------------------------------------------- values

TARGET_NAMES = ("target", "y", "value", "ot", "demand", "sales")
"""In order of preference."""
FORECAST_WORDS = {
    *("forecast", "forecasted", "predicted", "prediction", "pred", "yhat"),
    *("prognose", "prévision", "previsión", "previsione", "previsto", "previsão", "prognoza", "prognóza", "předpověď"),
    *("prognos", "voorspelling", "előrejelzés", "прогноз", "tahmin", "ennuste"),
    *("planned", "scheduled", "budget", "geplant", "prévu", "prévue", "prévus", "prévues", "programado", "planowane"),
}
"""Words in the name of a column that holds somebody's forecasts or plans."""
_COORDINATES = ("lat", "latitude", "lon", "lng", "long", "longitude", "xlong", "ylat")


# --------------------------------------------------------------------------- what names mean


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case: `TotalAmount` and `total_amount` have two."""
    cases = "".join("A" if letter.isupper() else "a" if letter.isalpha() else " " for letter in name)
    return [name[word.start() : word.end()].lower() for word in re.finditer("A+(?!a)|A?a+", cases)]


def unit_of(name: str) -> str | None:
    """Return the unit of time that a column of this name counts."""
    plain = name.strip(" #-").lower().replace(" ", "_")
    return next((unit for unit, names in UNITS_OF_TIME.items() if plain in names), None)


def unit_of_last_word(name: str) -> str | None:
    """Return the unit of time that is the last word of a name, `pan_day`, `Weeks`; None for letters, `width, mm`."""
    last = "".join(words_of(name)[-1:])
    return unit_of(last.removesuffix("s")) if len(last) > 1 and last != "mm" else None


def is_called_year(name: str) -> bool:
    """Return whether the word year is in a name: `iyear`, `year of sale`."""
    return unit_of(name) == "year" or "year" in name.lower()


def is_called_time(name: str) -> bool:
    """Return whether a name ends in a time, an age or a unit of it, `pan_day`, or says since when: `DaysSinceDose`.

    A unit may stand behind it: `Time (s)`.
    """
    plain = re.sub(r"\s*[(\[].*[)\]]\s*$", "", name)
    last = [word.removesuffix("s") for word in words_of(plain)[-1:]]
    return is_called_since(plain) or not _TIME_WORDS.isdisjoint(last) or unit_of_last_word(plain) is not None


def is_called_since(name: str) -> bool:
    """Return whether a name says how long ago something was: `DaysSinceDose`, `years.after.birth`."""
    pairs = itertools.pairwise(words_of(name))
    return any(word in _SINCE_WORDS and unit_of_last_word(unit) is not None for unit, word in pairs)


def is_called_date(name: str) -> bool:
    """Return whether a word of a name is a date or day."""
    return not {*_DATE_WORDS, "day"}.isdisjoint(words_of(name))


def is_named_date(name: str) -> bool:
    """Return whether a name ends or begins with a date, be it a number: `julian.date`, `TIMESTAMP_END`."""
    words = words_of(name)
    return not _DATE_WORDS.isdisjoint([*words[-1:], *words[:1]])


def is_called_age(name: str) -> bool:
    """Return whether a column is the age of somebody by its name, and no `gas age` of ice."""
    return words_of(name) == ["age"]


def is_called_birth(name: str) -> bool:
    """Return whether a column tells when somebody was born by its name."""
    return not set(_BIRTH_WORDS).isdisjoint(words_of(name))


def is_called_of_record(name: str) -> bool:
    """Return whether a date tells by its name when a row was written: `changed`, `last_updated`."""
    words = words_of(name)
    return not _RECORD_WORDS.isdisjoint(words) or words[:2] == ["last", "change"]


def is_called_beginning(name: str) -> bool:
    """Return whether a date tells by its name since when the subject of a row is there: `signup_date`, `HireDate`."""
    return not _BEGINNING_WORDS.isdisjoint(words_of(name)) or "sign_up" in "_".join(words_of(name))


def is_called_event(name: str) -> bool:
    """Return whether a date tells by its name when something happened: `dateOfLoss`, `incident_date`."""
    return not _EVENT_WORDS.isdisjoint(words_of(name))


def is_called_term(name: str) -> bool:
    """Return whether a date tells by its name when a bond or a contract ends: `Data Vencimento`, `expiry_date`."""
    return not _TERM_WORDS.isdisjoint(words_of(name))


def is_part_of_birth(name: str) -> bool:
    """Return whether a column counts by its name the year, month or day of a birth: `birth_mo`, and no `birth_rate`."""
    return is_called_birth(name) and unit_of("".join(words_of(name)[-1:])) is not None


def is_unnamed_counter(name: str) -> bool:
    """Return whether a column has no name, as the numbers of the rows that pandas writes."""
    return name.lower().startswith("unnamed: ")


def counts_rows(name: str) -> bool:
    """Return whether a column is the number of the row, counted here or in the file."""
    plain = name.lower().strip("# ")
    return plain in COUNTERS or not plain or is_unnamed_counter(name)


def may_number_rows(name: str) -> bool:
    """Return whether a first column may number the rows itself: as a counter, an identifier or a step."""
    return counts_rows(name) or name.lower() in (*ID_NAMES, *STEP_WORDS, "idx")


def columns_of_id(item_id: str | None) -> tuple[str, ...]:
    """The column that --id names, and those that it joins."""
    return () if item_id is None else (item_id, *map(str.strip, item_id.split(",")))


def names_series(name: str, item_id: str | None) -> bool:
    """Return whether the cells of a column are names of series, as --id or its own name says."""
    return name in columns_of_id(item_id) or name.lower() in ID_NAMES


def is_called_id(name: str) -> bool:
    """Return whether a column is an identifier of something by its name: `customer_id`, `storeId`."""
    return words_of(name)[-1:] in (["id"], ["ids"])


def is_called_a_name(name: str) -> bool:
    """Return whether numbers are names of something by the name of their column: `flight`, `InvoiceNo`, `ccode`."""
    words = words_of(name)
    last = words[-2:-1] if words[-1:] in (["index"], ["idx"]) else words[-1:]  # `model_type_index`
    return not set(_NAMING_WORDS).isdisjoint(last) or "".join(last).endswith(_NAMING_ENDS)


def is_called_source(name: str) -> bool:
    """Return whether a column says by its name what measured, or where: `device.id`, `Sampling point`."""
    words = words_of(name)
    named = words[:-1] if is_called_a_name(name) else words
    return not _SOURCE_WORDS.isdisjoint(named[-1:])


def is_called_subject(name: str) -> bool:
    """Return whether numbers are by the name of their column those of shops, articles or instruments: `Store`."""
    words = words_of(name)
    named = words[:-1] if is_called_a_name(name) else words
    return not (_SOURCE_WORDS | _SUBJECT_WORDS).isdisjoint(named[-1:])


def is_plan(name: str, names: Iterable[str]) -> bool:
    """Return whether a column called `target` holds a plan, as beside one called `Actual`, or `Actual (kg)`."""
    has_actual = any(re.fullmatch(r"actuals?\s*([(\[].*)?", other.strip().lower()) for other in names)
    return name.lower() == "target" and has_actual


def is_one_of_letters(name: str, names: list[str]) -> bool:
    """Return whether many columns are called by a letter, as shares of an exchange are: `Y` is no target there."""
    letters = [each for each in names if len(each) == 1 and each.isalpha()]
    return name in letters and sum(each.isupper() == name.isupper() for each in letters) > 8


def is_called_coordinate(name: str) -> bool:
    """Return whether a column says by its name where something is: `start_lat`, `latitude_deg`."""
    return ends_in(name, _COORDINATES) or not {"latitude", "longitude"}.isdisjoint(words_of(name))


def ends_in(name: str, words: tuple[str, ...]) -> bool:
    """Return whether the last part of a name is one of some words, `start_lat` of `lat`."""
    return re.split(r"[ _.-]", name.lower())[-1] in words
