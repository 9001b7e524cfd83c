"""The meaning of a column by its name: a time, a unit of it, an identifier, a counter, an amount of money.

Each meaning has one list, of words in lower case. A word of another language belongs into the list of its meaning.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

# --------------------------------------------------------------------------- time

# In order of preference; the loose ones count only when they hold dates, because "month" is often a feature.
TIME_NAMES = ("timestamp", "datetime", "date_time", "date", "ds", "time")
LOOSE_TIME_NAMES = ("month", "week", "day", "hour", "quarter", "year", "period")
STEP_WORDS = ("step", "t", "time_idx", "matchday", "matchweek", "gameweek", "spieltag", "episode", "congress")
"""Names of whole numbers that count the steps of a series."""
STEP_NAMES = (*STEP_WORDS, "index", "year", "unnamed: 0")
"""Names of whole numbers that are the time where there are no dates."""
_DATE_WORDS = {"date", "datum", "fecha", "datetime", "timestamp"}
UNITS_OF_TIME = {
    "year": (
        *("year", "yr", "year4", "yyyy", "yy", "y", "jahr", "année", "annee", "año", "ano", "anio", "anno"),
        *("rok", "év", "год", "рік", "yıl", "år", "jaar", "vuosi", "έτος", "年", "年份", "年度", "연도", "년"),
    ),
    "half": ("half", "halfyear", "half_year", "halbjahr", "semestre"),
    "quarter": (
        *("quarter", "qtr", "q", "quartal", "trimestre", "kvartal", "kwartaal", "kwartał", "čtvrtletí", "ctvrtleti"),
        *("negyedév", "квартал", "çeyrek", "季度", "四半期", "분기"),
    ),
    "month": (
        *("month", "mon", "mo", "mth", "mnth", "mm", "m", "monat", "mois", "mes", "mês", "mese", "maand", "månad"),
        *("måned", "miesiąc", "měsíc", "mesiac", "mesic", "hónap", "месяц", "місяць", "ay", "kuukausi", "μήνας"),
        *("月", "月份", "월"),
    ),
    "week": (
        *("week", "wk", "isoweek", "woche", "semaine", "semana", "settimana", "vecka", "uke", "uge", "tydzień"),
        *("týden", "týždeň", "hét", "неделя", "тиждень", "hafta", "viikko", "周", "週", "주"),
    ),
    "day": (
        *("day", "dd", "dy", "d", "mday", "dayofmonth", "day_of_month", "tag", "jour", "dia", "día", "giorno", "dag"),
        *("dzień", "den", "deň", "nap", "день", "gün", "päivä", "日", "일"),
    ),
    "hour": (
        *("hour", "hr", "hh", "h", "stunde", "heure", "hora", "ora", "uur", "timme", "godzina", "hodina", "óra", "час"),
        *("saat", "tunti", "時", "时", "小時", "小时", "시"),
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
    *("added", "changed", "edited", "modified", "updated"),
    *("geändert", "aktualisiert", "modifié", "modificado"),
}
"""Words in names of dates on which somebody wrote a row, rather than of what happened then."""
_BIRTH_WORDS = ("birth", "birthdate", "birthday", "born", "dob")

# --------------------------------------------------------------------------- series and rows

ITEM_ID_NAMES = ("item_id", "unique_id", "series_id")
ID_NAMES = (*ITEM_ID_NAMES, "id", "series")
ROW_NAMES = ("rownames", "row.names", "row_names", "rowname")
"""Names that R gives to the numbers of rows."""
COUNTERS = (*ROW_NAMES, "row-number", "no", "no.", "nr", "obs", "row", "n", "number", "instant", "index")
"""Names of columns that number the rows."""
_NAMING_WORDS = (
    *("id", "no", "nr", "num", "number", "code", "zip", "zipcode", "postcode", "phone", "fips", "sku", "account"),
    *("flight", "customer", "invoice", "name", "country", "region", "city", "channel", "category", "type", "class"),
    *("label", "idno", "idnum"),
)
"""Last word of a column of whole numbers that are names: `InvoiceNo`, `Postal Code`."""
_SOURCE_WORDS = {"device", "sensor", "station", "site", "meter", "gauge", "well", "probe", "node", "point"}
"""Words of what measures, or of where it does."""

# --------------------------------------------------------------------------- values

TARGET_NAMES = ("target", "y", "value", "ot", "demand", "sales")
"""In order of preference."""
LIKELY_TARGETS = (
    *(*TARGET_NAMES, "values", "count", "cnt", "total", "close", "adj close", "adj_close", "prc", "bid", "load"),
    *("consumption", "passengers", "traffic_volume", "level", "glucose"),
    *("wert", "valeur", "valore", "waarde", "värde", "verdi", "værdi", "wartość", "hodnota", "érték", "значение"),
    *("значення", "değer", "arvo", "τιμή"),
)
FORECAST_WORDS = {
    *("forecast", "forecasted", "predicted", "prediction", "pred", "yhat"),
    *("prognose", "prévision", "previsión", "previsione", "previsto", "previsão", "prognoza", "prognóza", "předpověď"),
    *("prognos", "voorspelling", "előrejelzés", "прогноз", "tahmin", "ennuste"),
}
"""Words in the name of a column that holds somebody's forecasts."""
_COMPUTED_WORDS = {
    *("expected", "theoretical", "clear", "clearsky", "extraterrestrial", "etr", "etrn"),
    *("err", "stderr", "std", "stdev", "stddev", "sd", "sem", "variance"),
}
"""Words of what was computed rather than measured, such as the radiation of a clear sky, or the spread of a value."""
_CLOSE_WORDS = {
    *("close", "closing", "cierre", "schluss", "schlusskurs", "clôture", "cloture", "chiusura", "fechamento"),
    *("zamknięcie", "zamkniecie", "закрытие", "kapanış", "slutkurs"),
}
"""Words of the last price of a day, which is forecast rather than the first, the highest or the lowest."""
_OPENING_WORDS = {
    *("opening", "initial", "anfangsbestand", "eröffnungsbestand", "apertura", "inicial", "iniziale", "otwarcie"),
    *("początkowy", "počáteční", "nyitó", "начальный", "açılış"),
}
"""Words of what there was at the beginning of a step, which the step before has brought about."""
_DURATIONS = {"duration", "dauer", "durée", "duración", "duração", "durata"}
_OUTCOMES = (
    *("discharge", "streamflow", "runoff", "inflow", "qo", "qobs", "mpg"),
    *("cases", "deaths", "fatalities", "accidents", "incidents", "orders", "admissions", "visitors", "ridership"),
)
"""Last words of names of what weather, plans and prices bring about."""
_MEASURED_WORDS = {"observed", "actual"}
"""First words of names of what came true, beside what drives it or was expected."""
PRICE = "price"
"""What is forecast where nothing is sold in the table."""
_AMOUNTS = (
    *("sales", "demand", "consumption", "cons", "usage", "load", "generation", "production", "quantity", "units"),
    *("power", "leistung", "puissance", "potencia", "potência", "potenza", "vermogen", "effekt", "moc", "výkon"),
    *("verbrauch", "menge", "absatz", "erzeugung", "consommation", "quantité", "consumo", "cantidad", "quantidade"),
    *("quantità", "verbruik", "aantal", "antal", "antall", "förbrukning", "zużycie", "produkcja", "sprzedaż", "ilość"),
    *("spotřeba", "množství", "počet", "fogyasztás", "mennyiség", "eladás", "количество", "продажи", "объем"),
    *("потребление", "объём", "tüketim", "üretim", "satış", "miktar", "adet"),
)
"""Last words of names of amounts: `Zone 1 Power Consumption`."""
_ENERGY = r"[kmg]wh?\)?$|\b[kmg]wh?\b"
"""Units of energy and power in a name: `reskwh`, `Solar (MW)`, `kW sys`."""
_DEVICE_WORDS = {"batt", "battery", "rssi", "snr", "uptime", "fwhm", "limit"}
"""Words of how a device is doing, beside what it measures."""
_WEATHER_WORDS = {
    *("temperature", "temp", "atemp", "humidity", "hum", "wind", "windspeed", "precipitation", "rain", "rainfall"),
    *("snow", "snowfall", "cloud", "cloudcover", "gust", "visibility", "dewpoint", "irradiance", "radiation"),
    *("sunshine", "pressure", "pres"),
}
"""Words of weather, which drives counts and amounts; a table of nothing but weather is about it."""
_LEVELS = {"level", "index"}
"""Words of levels, which are forecast as often as amounts are."""
_BASES = {"samplesize", "sample", "population", "pop", "staffed"}
"""Words of the number of persons that counts and shares are of, or who answer the calls."""
_EXAMINED = {"patients", "respondents", "providers", "tests", "tested"}
"""Last words of the number of those of whom shares beside it are: they had the flu."""
_EXPOSURES = {"exposure", "experience", "exper", "tenure", "games", "played"}
"""Last words of how much or how long something was done for a result: games played, years of experience."""
_PAST_WORDS = {"lag", "lagged", "shifted", "rolling", "change", "previous", "prev"}
"""Words in names of columns that hold what another one held before, or what has changed since."""
_STEPS_AGO = r"(?<![A-Za-z])t ?- ?\d+\)?$"
"""The end of such a name, as `var1(t-1)`."""
_RANK_WORDS = {"position", "pos", "rank", "place", "rang", "platz"}
"""Last words of names of places in an order, which go up by one as times do."""
_COORDINATES = ("lat", "latitude", "lon", "lng", "long", "longitude")
_DIRECTIONS = (
    "direction",
    "heading",
    "bearing",
    "azimuth",
    "track",
    "wdir",
    "mwd",
    "ddvec",
    "windrichtung",
    "dirección",
)
"""Last words of names of degrees of a circle."""
_SUBJECT_PROPERTIES = (
    *("age", "alter", "âge", "edad", "età", "prestige", "educ", "babies", "preteen", "teens", "childs"),
    "displacement",
)
"""Last words of names of properties of the person or the car that a row is about, rarely a target."""
_SURVEY_WEIGHT = r"(samp|sample|survey|person|pers|psp|an|d|p|post)[_.]?(weight|wght|wgt|wt)s?"
"""Names of the number of persons that an answer of a survey stands for."""
_PERSON_WORDS = {
    *("age", "agea", "sex", "gender", "gndr", "female", "race", "ethnicity", "marital", "maritalcat"),
    *("educ", "education", "educat", "educcat", "income", "earnings", "wage", "ahe"),
    *(
        "geschlecht",
        "geburtsdatum",
        "vorname",
        "gehalt",
        "sexe",
        "naissance",
        "prénom",
        "sexo",
        "nacimiento",
        "apellidos",
    ),
    *("salario", "birthdate", "surname", "płeć", "nazwisko"),
}
"""Words of what is asked of a person."""
_PAY_WORDS = {"wage", "lwage", "wages", "earnings", "ahe"}
"""Words of what persons earn, which is asked for the sake of it."""
_END_WORDS = {"event", "death", "dead", "died", "censor", "censored", "cens", "delta", "fustat"}
"""Last words of marks of those whose time had ended when it was measured, as of patients who died."""
_COUNT_WORDS = {
    *("count", "cnt", "quantity", "qty"),
    *("deaths", "fatalities", "killed", "injured", "casualties", "victims"),
}
_TURNOVER_WORDS = {
    *("amount", "payment", "revenue", "sales", "spend", "spent", "income", "turnover"),
    *(
        "betrag",
        "umsatz",
        "brutto",
        "netto",
        "montant",
        "importe",
        "bedrag",
        "omzet",
        "importo",
        "incasso",
        "fatturato",
    ),
    *("receita", "faturamento", "beløb", "omsetning", "kwota", "obrót", "částka", "tržby", "сумма", "выручка", "tutar"),
}
"""Words of amounts of money that add up, as prices do not."""
_MONEY_WORDS = {
    *_TURNOVER_WORDS,
    *("price", "cost", "costs", "fee", "fees", "fare", "tip", "paid", "expense", "expenses"),
    *("preis", "kosten", "prix", "precio", "valor", "prezzo"),
}
_TOTALS = {
    *("total", "sum", "sys", "overall", "gesamt", "insgesamt", "totalt", "suma", "summe", "soma"),
    *("totale", "итого", "razem", "celkem", "toplam"),
}
"""Words of what others are parts of."""
_OF_ONE = {"unit", "unitario", "unitaria", "unitário", "unitaire", "jednostkowa", "einzelpreis", "stückpreis"}
"""Words of the price of one piece."""
_EXTRAS = {"fee", "fees", "tip", "tax", "discount", "shipping"}
"""Last words of money that is paid beside the amount of a sale."""
_CURRENCY = r"[$€£¥₹]|\b(EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|RON|RUB|UAH|CNY|INR|BRL|MXN|ARS|CLP|ZAR)\b"
_INTENSITY_WORDS = {
    *("share", "rate", "ratio", "pct", "percent", "percentage", "score", "rating", "temperature", "temp", "speed"),
    *("age", "level", "index", "priority", "rank", "mpg"),
}
"""Words of numbers that are averaged, never summed."""
_MEAN_WORDS = {"mean", "avg", "average", "median"}
_SPREAD_WORDS = {"std", "sd", "stdev", "stddev", "min", "max", "qtl", "quantile", "var"}
"""Words of other statistics of what a mean is of."""


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
    return not _RECORD_WORDS.isdisjoint(words_of(name))


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


def is_called_id(name: str) -> bool:
    """Return whether a column is an identifier of something by its name: `customer_id`, `storeId`."""
    return words_of(name)[-1:] in (["id"], ["ids"])


def is_called_a_name(name: str) -> bool:
    """Return whether numbers are names of something by the name of their column: `flight`, `InvoiceNo`, `ccode`."""
    words = words_of(name)
    last = words[-2:-1] if words[-1:] in (["index"], ["idx"]) else words[-1:]  # `model_type_index`
    return not set(_NAMING_WORDS).isdisjoint(last) or "".join(last).endswith("code")


def is_called_source(name: str) -> bool:
    """Return whether a column says by its name what measured, or where: `device.id`, `Sampling point`."""
    words = words_of(name)
    named = words[:-1] if is_called_a_name(name) else words
    return not _SOURCE_WORDS.isdisjoint(named[-1:])


def is_called_money(name: str) -> bool:
    """Return whether a column is an amount of money by its name: `total_amount`, `Umsatz in €`."""
    is_sum = re.search(r"(total|sum)$", name.lower()) is not None  # and no `total_of_requests`
    return is_sum or not _MONEY_WORDS.isdisjoint(words_of(name)) or re.search(_CURRENCY, name) is not None


def is_called_extra(name: str) -> bool:
    """Return whether a column is by its name money that is paid beside something else: `Fee`."""
    return not _EXTRAS.isdisjoint(words_of(name)[-1:])


def is_called_total(name: str) -> bool:
    """Return whether a column holds by its name the whole of which others are parts."""
    return not _TOTALS.isdisjoint(words_of(name))


def is_called_turnover(name: str) -> bool:
    """Return whether a column is by its name an amount of money that adds up: `Gross Sales`, `Umsatz in €`."""
    return not _TURNOVER_WORDS.isdisjoint(words_of(name))


def is_called_end(name: str, *, may_be_status: bool) -> bool:
    """Return whether a column marks by its name what had ended; a status may be that of a machine, too."""
    words = _END_WORDS | ({"status"} if may_be_status else set())
    return not words.isdisjoint(words_of(name)[-1:])


def is_called_count(name: str) -> bool:
    """Return whether a column counts something by its name: `qty`, `number_of_discs`, `candidatevotes`."""
    words = words_of(name)
    return (
        name.lower().endswith("votes")
        or not _COUNT_WORDS.isdisjoint(words)
        or (words[:1] in (["number"], ["num"], ["no"]) and words[1:2] == ["of"])
    )


def is_count_of_record(name: str) -> bool:
    """Return whether a column counts by its name how often something was done to a row: `reassignment_count`."""
    words = words_of(name)
    return len(words) > 1 and words[-1] == "count"


def is_called_intensity(name: str) -> bool:
    """Return whether a column is averaged, never summed, by its name: `share_of_votes`, `Moisture [%]`."""
    is_share = re.search(r"(?<!\d)%", name) is not None  # and no `gross (23%)`
    return not _INTENSITY_WORDS.isdisjoint(words_of(name)) or is_share or "per" in words_of(name)


def is_called_mean(name: str) -> bool:
    """Return whether a column holds means of something by its name: `ir_mean`, `meanTICKS`."""
    return not _MEAN_WORDS.isdisjoint(words_of(name))


def is_mean_beside_spread(name: str, names: Iterable[str]) -> bool:
    """Return whether a column holds by its name the mean of what two others hold the spread of: `ir_mean`, `ir_std`."""
    subject = [word for word in words_of(name) if word not in _MEAN_WORDS]
    if not subject or not is_called_mean(name):
        return False
    of_subject = (words for words in map(words_of, names) if [w for w in words if w not in _SPREAD_WORDS] == subject)
    return len({word for words in of_subject for word in words if word in _SPREAD_WORDS}) >= 2


def is_called_forecast(name: str) -> bool:
    """Return whether a column holds by its name what somebody forecast, or computed: `expected_orders`, `ghi_clear`."""
    return not (FORECAST_WORDS | _COMPUTED_WORDS).isdisjoint(words_of(name))


def is_called_past(name: str) -> bool:
    """Return whether a column is by its name what another one was before, or its change: `sales_lag1`, `y(t-1)`."""
    return not _PAST_WORDS.isdisjoint(words_of(name)) or re.search(_STEPS_AGO, name) is not None


def is_called_close(name: str) -> bool:
    """Return whether a column is the last price of a day by its name: `precio_cierre`, `Closing Price`."""
    return not _CLOSE_WORDS.isdisjoint(words_of(name))


def is_called_opening(name: str) -> bool:
    """Return whether a column holds by its name what there was at the beginning of each step: `Opening stock`."""
    return not _OPENING_WORDS.isdisjoint(words_of(name))


def is_called_duration(name: str) -> bool:
    """Return whether a column says by its name how long something took."""
    return not _DURATIONS.isdisjoint(words_of(name))


def is_called_pollutant(name: str) -> bool:
    """Return whether a column measures by its name what is in the air and should not be: `pm2.5_atm`, `NO2`."""
    return re.match(r"(pm ?_?(10|1|2[._]?5|25)|no[2x]|o3|ozone|so2|co2?)(?![a-z])", name.strip().lower()) is not None


def is_called_outcome(name: str) -> bool:
    """Return whether a name ends in what others bring about, before its unit, or is measured: `Discharge[ls-1]`."""
    return not _MEASURED_WORDS.isdisjoint(words_of(name)[:1]) or _ends_in(re.sub(r"\s*[(\[].*$", "", name), _OUTCOMES)


def ends_in_amount(name: str) -> bool:
    """Return whether a name ends in an amount, before its unit, or has a unit of energy."""
    without_unit = re.sub(r"\s*[(\[][^)\]]*[)\]]\s*$", "", name)
    return _ends_in(without_unit, _AMOUNTS) or re.search(_ENERGY, name.lower()) is not None


def is_called_unit_price(name: str) -> bool:
    """Return whether a name is that of the price of one piece, whose sum means nothing."""
    words = words_of(name)
    is_of_one = not _OF_ONE.isdisjoint(words) and is_called_money(name)
    return (name.lower().endswith(PRICE) and "total" not in words) or is_of_one


def is_called_weather(name: str) -> bool:
    """Return whether a column is a measure of the weather by its name."""
    return not _WEATHER_WORDS.isdisjoint(words_of(name))


def is_called_level(name: str) -> bool:
    """Return whether a column is a level or an index by its name."""
    return not _LEVELS.isdisjoint(words_of(name))


def is_one_of_letters(name: str, names: list[str]) -> bool:
    """Return whether many columns are called by a letter, as shares of an exchange are: `Y` is no target there."""
    letters = [each for each in names if len(each) == 1 and each.isalpha()]
    return name in letters and sum(each.isupper() == name.isupper() for each in letters) > 8


def is_called_base(name: str) -> bool:
    """Return whether a column holds by its name the number that counts and shares are of: `population`."""
    return not _BASES.isdisjoint(words_of(name))


def is_called_of_examined(name: str) -> bool:
    """Return whether a column counts by its name who was examined or asked, or by whom: `TOTAL PATIENTS`."""
    return not _EXAMINED.isdisjoint(words_of(name)[-1:])


def is_called_rank(name: str) -> bool:
    """Return whether a column holds by its name the place of its row in an order."""
    return not _RANK_WORDS.isdisjoint(words_of(name)[-1:])


def is_called_of_device(name: str) -> bool:
    """Return whether a column tells by its name how a device is doing: `BattV_Min`, `PTemp_C`."""
    return not _DEVICE_WORDS.isdisjoint(words_of(name)) or name.lower().startswith("ptemp")


def is_called_exposure(name: str) -> bool:
    """Return whether a column tells by its name how much was done for a result: `games_played`, `exper`."""
    return not _EXPOSURES.isdisjoint(words_of(name)[-1:])


def is_called_coordinate(name: str) -> bool:
    """Return whether a column says by its name where something is: `start_lat`, `latitude_deg`."""
    return _ends_in(name, _COORDINATES) or not {"latitude", "longitude"}.isdisjoint(words_of(name))


def is_called_direction(name: str) -> bool:
    """Return whether a column holds by its name the direction of a wind or a course, of which no mean makes sense."""
    return _ends_in(name, _DIRECTIONS)


def are_called_of_persons(names: Iterable[str]) -> bool:
    """Return whether rows are persons who were asked, by two columns or more: an age and a sex, and no death."""
    names = list(names)
    answers = [name for name in names if not _PERSON_WORDS.isdisjoint(words_of(name))]
    return len(answers) >= 2 and not any(is_called_end(name, may_be_status=False) for name in names)


def is_called_pay(name: str) -> bool:
    """Return whether a column tells by its name what somebody earns."""
    return not _PAY_WORDS.isdisjoint(words_of(name))


def is_called_property(name: str) -> bool:
    """Return whether a column is a property of a person by its name: the age, or the weight in a survey, `dweight`."""
    return _ends_in(name, _SUBJECT_PROPERTIES) or re.fullmatch(_SURVEY_WEIGHT, name.lower()) is not None


def _ends_in(name: str, words: tuple[str, ...]) -> bool:
    return re.split(r"[ _.-]", name.lower())[-1] in words
