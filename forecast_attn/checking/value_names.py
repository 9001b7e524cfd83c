"""The meaning of a column of values by its name: an amount, a price, a share, weather, a property of a person.

Each meaning has one list, of words in lower case. A word of another language belongs into the list of its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from forecast_attn.data.column_names import FORECAST_WORDS, TARGET_NAMES, ends_in, words_of

LIKELY_TARGETS = (
    *(*TARGET_NAMES, "values", "count", "cnt", "total", "close", "adj close", "adj_close", "prc", "bid", "load"),
    *("consumption", "passengers", "traffic_volume", "level", "glucose"),
    *("wert", "valeur", "valore", "waarde", "värde", "verdi", "værdi", "wartość", "hodnota", "érték", "значение"),
    *("значення", "değer", "arvo", "τιμή"),
)
_COMPUTED_WORDS = {
    *("expected", "setpoint", "theoretical", "clear", "clearsky", "extraterrestrial", "etr", "etrn"),
    *("err", "stderr", "std", "stdev", "stddev", "sd", "sem", "variance"),
}
"""Words of what was computed rather than measured, such as the radiation of a clear sky, or the spread of a value."""
_CLOSE_WORDS = {
    *("close", "closing", "cierre", "schluss", "schlusskurs", "dernier", "último", "ultimo", "clôture", "cloture"),
    *("chiusura", "fechamento", "settle", "settlement"),
    *("zamknięcie", "zamkniecie", "закрытие", "kapanış", "slutkurs"),
    *("收盘", "收盘价", "收盤", "收盤價", "終値", "종가"),
}
"""Words of the last price of a day, which is forecast rather than the first, the highest or the lowest."""
_OPENING_WORDS = {
    *("opening", "starting", "initial", "anfangsbestand", "eröffnungsbestand", "apertura", "abertura", "ouverture"),
    *("öffnung", "inicial", "iniziale", "otwarcie"),
    *("początkowy", "počáteční", "nyitó", "начальный", "açılış", "开盘", "开盘价", "開盤", "開盤價", "始値", "시가"),
}
"""Words of what there was at the beginning of a step, which the step before has brought about."""
_DURATIONS = {"duration", "dauer", "durée", "duración", "duração", "durata"}
_OUTCOMES = (
    *("inflow", "qo", "qobs", "mpg", "conversions", "shipments", "occupied", "ocupados"),
    *("cases", "deaths", "fatalities", "accidents", "incidents", "orders", "admissions", "visitors", "ridership"),
    *("numdeaths", "casos", "muertes", "óbitos", "obitos", "décès", "fälle", "todesfälle", "emission", "emissions"),
)
"""Last words of names of what weather, plans and prices bring about."""
_OF_WEATHER = {"discharge", "streamflow", "runoff", "groundwater", "flux"}
"""Words of what the weather of a catchment or a soil brings about: `discharge_spec`, `flux_umol_m2_s`."""
_FLOW = r"q(mm|ls|obs)?"
"""Names of the flow of a river in the letters of hydrologists, beside the rain `P` and the temperature `T`."""
_MEASURED_WORDS = {"observed", "actual"}
"""First or last words of names of what came true, beside what drives it or was expected."""
PRICE = "price"
"""What is forecast where nothing is sold in the table."""
_AMOUNTS = (
    *("sales", "demand", "consumption", "cons", "usage", "load", "generation", "production", "quantity", "units"),
    *("power", "pwr", "leistung", "puissance", "potencia", "potência", "potenza", "vermogen", "effekt", "moc", "výkon"),
    *("verbrauch", "menge", "absatz", "erzeugung", "consommation", "quantité", "consumo", "cantidad", "quantidade"),
    *("quantità", "verbruik", "aantal", "antal", "antall", "förbrukning", "zużycie", "produkcja", "sprzedaż", "ilość"),
    *("spotřeba", "množství", "počet", "fogyasztás", "mennyiség", "eladás", "количество", "продажи", "объем"),
    *("потребление", "объём", "tüketim", "üretim", "satış", "miktar", "adet"),
)
"""Last words of names of amounts: `Zone 1 Power Consumption`."""
_DEMANDS = ("demand", "load", "verbrauch", "consommation")
"""Those of them that bring about the others."""
_EXTREMES = {
    *("min", "max", "minimum", "maximum", "mindest", "höchste", "kleinste", "größte", "mínimo", "máximo"),
}
"""Words of the smallest or largest number of a while, which is no amount of it."""
_OPEN_INTEREST = r"open[ _]interest"
"""Contracts of a market that are neither fulfilled nor closed."""
_FEWEST_INPUTS, _FEWEST_LETTERS = 10, 3
"""Columns with numbers for names that are inputs of a task, and the letters before these numbers."""
_WAYS = {"distance", "mileage", "strecke", "distancia", "distância", "distanza", "afstand"}
"""Words of how far something went, which adds up over trips, and says little of its own."""
_ENERGY = r"[kmg]wh?\)?$|\b[kmg]wh?\b|[(\[]wh?[)\]]$"
"""Units of energy and power in a name: `reskwh`, `Solar (MW)`, `kW sys`."""
_NO_ENERGY = {"reactive", "apparent", "blindleistung", "scheinleistung"}
"""Words of power that does no work."""
_DEVICE_WORDS = {"batt", "battery", "rssi", "snr", "uptime", "fwhm", "limit"}
"""Words of how a device is doing, beside what it measures."""
_PIECES = {"size", "volume", "qty", "quantity", "shares", "pieces", "menge", "cantidad", "quantité"}
"""Words of how much was sold at a price."""
_WEATHER_WORDS = {
    *("temperature", "temp", "atemp", "humidity", "hum", "wind", "windspeed", "precipitation", "rain", "rainfall"),
    *("snow", "snowfall", "cloud", "cloudcover", "gust", "visibility", "dewpoint", "dew", "irradiance", "radiation"),
    *("sunshine", "pressure", "pres", "press", "wspm", "hmdx"),
}
"""Words of weather, which drives counts and amounts; a table of nothing but weather is about it."""
_WIND_SPEED = r"(?<![a-z])ws(?![a-z])"
"""Wind speed in letters: `WS10M`."""
_MEAN_TEMPERATURES = {"tg": {"tn", "tx"}, "tmk": {"tnk", "txk"}}
"""The mean temperature of a day, in the codes of a weather service -> the lowest and the highest one beside it."""
_LEVELS = {"level", "index"}
"""Words of levels, which are forecast as often as amounts are."""
_BASES = {"samplesize", "sample", "population", "pop", "staffed"}
"""Words of the number of persons that counts and shares are of, or who answer the calls."""
_EXAMINED = {
    *("patients", "respondents", "providers", "tests", "tested", "surveyed", "sampled"),
    *("pesquisados", "encuestados", "befragte", "enquêtés"),
}
"""Last words of the number of those of whom shares or prices beside it are: they had the flu."""
_EXPOSURES = {"exposure", "experience", "exper", "tenure", "games", "played"}
"""Last words of how much or how long something was done for a result: games played, years of experience."""
_PAST_WORDS = {"lag", "lagged", "shifted", "rolling", "change", "previous", "prev"}
"""Words in names of columns that hold what another one held before, or what has changed since."""
_STEPS_AGO = r"(?<![A-Za-z])t ?- ?\d+\)?$"
"""The end of such a name, as `var1(t-1)`."""
_OF_STEPS_BEFORE = r"\b\d+[ _-]?(d|days?|weeks?|months?|hours?)[ _-](average|avg|mean|ma)\b|\bmoving\b"
"""Names of means over the steps before: `7 Days Average [kg]`."""
_RAIN_WORDS = {"rain", "rainfall", "precip", "precipitation", "regen", "niederschlag", "pluie", "lluvia", "chuva"}
_WATER_LEVELS = {"lvl", "level", "stage", "pegel", "wasserstand", "waterlevel", "gauge"}
"""Words of how high water stands, which rain brings about."""
_RANK_WORDS = {"position", "pos", "rank", "place", "rang", "platz"}
"""Last words of names of places in an order, which go up by one as times do."""
_DIRECTIONS = (
    *("direction", "heading", "bearing", "azimuth", "track", "orientation", "wdir", "mwd", "ddvec"),
    *("windrichtung", "dirección"),
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
    *("geschlecht", "geburtsdatum", "vorname", "gehalt", "sexe", "naissance", "prénom", "sexo", "nacimiento"),
    "apellidos",
    *("salario", "birthdate", "surname", "płeć", "nazwisko"),
}
"""Words of what is asked of a person."""
_PAY_WORDS = {"wage", "lwage", "wages", "earnings", "ahe", "pay", "salary"}
"""Words of what persons earn, which is asked for the sake of it."""
_END_WORDS = {"event", "death", "dead", "died", "censor", "censored", "cens", "delta", "fustat"}
"""Last words of marks of those whose time had ended when it was measured, as of patients who died."""
_COUNT_WORDS = {
    *("count", "cnt", "quantity", "qty", "passengers", "litres", "liters", "litros", "gallons"),
    *("deaths", "fatalities", "killed", "injured", "casualties", "victims"),
}
_TURNOVER_WORDS = {
    *("amount", "payment", "revenue", "sales", "spend", "spent", "income", "turnover", "money"),
    *("betrag", "umsatz", "brutto", "netto", "montant", "importe", "bedrag", "omzet", "importo", "incasso"),
    "fatturato",
    *("金额", "金額", "销售额", "売上", "매출"),
    *("receita", "faturamento", "beløb", "omsetning", "kwota", "obrót", "částka", "tržby", "сумма", "выручка", "tutar"),
}
"""Words of amounts of money that add up, as prices do not."""
_MONEY_WORDS = {
    *_TURNOVER_WORDS,
    *("price", "cost", "costs", "fee", "fees", "fare", "tip", "paid", "expense", "expenses"),
    *("preis", "kosten", "prix", "precio", "preço", "valor", "prezzo"),
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
_CURRENCY = r"[$€£¥₹]|Währ|\b(EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|RON|RUB|UAH|CNY|INR|BRL|MXN|ARS|CLP|ZAR)\b"
_INTENSITY_WORDS = {
    *("share", "rate", "ratio", "pct", "percent", "percentage", "score", "rating", "temperature", "temp", "speed"),
    *("age", "level", "index", "priority", "rank", "mpg"),
    *("velocidade", "velocidad", "vitesse", "velocità", "geschwindigkeit", "snelheid"),
    *("temperatur", "température", "temperatura", "temperatuur", "taxa", "tasa", "taux", "quote", "anteil"),
}
"""Words of numbers that are averaged, never summed."""
_MEAN_WORDS = {"mean", "avg", "average", "median", "modal"}
_SPREAD_WORDS = {"std", "sd", "stdev", "stddev", "min", "max", "qtl", "quantile", "var"}
"""Words of other statistics of what a mean is of."""


# --------------------------------------------------------------------------- what names mean


def is_called_money(name: str) -> bool:
    """Return whether a column is an amount of money by its name: `total_amount`, `Umsatz in €`."""
    is_sum = re.search(r"(total|sum)$", name.lower()) is not None  # and no `total_of_requests`
    return is_sum or not _MONEY_WORDS.isdisjoint(words_of(name)) or re.search(_CURRENCY, name) is not None


def is_called_extra(name: str) -> bool:
    """Return whether a column is by its name money that is paid beside something else: `Fee`."""
    return not _EXTRAS.isdisjoint(words_of(name)[-1:])


def is_called_total(name: str) -> bool:
    """Return whether a column holds by its name the whole of which others are parts: `total`, or the gross pay."""
    return not _TOTALS.isdisjoint(words_of(name)) or ("gross" in words_of(name) and is_called_pay(name))


def is_called_turnover(name: str) -> bool:
    """Return whether a column is by its name an amount of money that adds up: `Gross Sales`, and no `Time Spent`."""
    words = words_of(name)
    return not _TURNOVER_WORDS.isdisjoint(words) and "time" not in words


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
        or (words[-1:] == ["sold"] and PRICE not in words)
        or (words[:1] in (["number"], ["num"], ["no"]) and words[1:2] == ["of"])
    )


def is_count_of_record(name: str) -> bool:
    """Return whether a column counts by its name how often something was done to a row: `reassignment_count`."""
    words = words_of(name)
    return len(words) > 1 and words[-1] == "count"


def is_called_intensity(name: str) -> bool:
    """Return whether a column is averaged, never summed, by its name: `share_of_votes`, `Moisture [%]`."""
    is_share = re.search(r"(?<!\d)%", name) is not None  # and no `gross (23%)`
    is_per = re.search(r"\bper\b(?! (day|week|month|year)\b)", " ".join(words_of(name))) is not None
    return not _INTENSITY_WORDS.isdisjoint(words_of(name)) or is_share or is_per


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


def extremes_beside_means(names: Iterable[str]) -> set[str]:
    """The columns of the smallest or largest of what another one holds itself, or the mean of: `Min Price`."""
    words = {name: {*words_of(name)} for name in names}
    extremes = _EXTREMES | {"low", "high"}  # which may also be tariffs
    subjects = {name: frozenset(each - extremes - _MEAN_WORDS) for name, each in words.items()}
    usual = {subjects[name] for name, each in words.items() if subjects[name] and not each & extremes}
    return {name for name, each in words.items() if each & extremes and subjects[name] in usual}


def is_called_forecast(name: str) -> bool:
    """Return whether a column holds by its name what somebody forecast, or computed: `expected_orders`, `ghi_clear`."""
    return not (FORECAST_WORDS | _COMPUTED_WORDS).isdisjoint(words_of(name))


def is_called_past(name: str) -> bool:
    """Return whether a column is by its name what another one was before, or its change: `sales_lag1`, `y(t-1)`."""
    is_of_before = re.search(_STEPS_AGO, name) or re.search(_OF_STEPS_BEFORE, name.lower())
    return not _PAST_WORDS.isdisjoint(words_of(name)) or is_of_before is not None


def is_called_close(name: str) -> bool:
    """Return whether a column is the last price of a day by its name: `precio_cierre`, `Closing Price`, `EndPrice`."""
    words = words_of(name)
    return not _CLOSE_WORDS.isdisjoint(words) or words == ["end", PRICE]


def last_prices(names: Iterable[str]) -> set[str]:
    """The columns of the last price of a day by their names, beside the highest and the lowest one: `Close Price`."""
    words = {name: {*words_of(name)} for name in names}
    are_of_day = {"high", "low"} <= set().union(*words.values())
    return {name for name in words if are_of_day and words[name] and words[name] <= {*_CLOSE_WORDS, PRICE}}


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
    words = words_of(name)
    is_measured = not _MEASURED_WORDS.isdisjoint([*words[:1], *words[-1:]])
    is_of_weather = not _OF_WEATHER.isdisjoint(words)
    return is_measured or is_of_weather or ends_in(re.sub(r"\s*[(\[].*$", "", name), _OUTCOMES)


def is_called_output(name: str) -> bool:
    """Return whether a column tells by its name what a process makes: `Stage1.Output.Measurement0.U.Actual`."""
    words = words_of(name)
    return "output" in words and len(words) > 1  # and no index of an economy


def ends_in_amount(name: str) -> bool:
    """Return whether a name ends in an amount, before its unit, or has a unit of energy: and no `max. Power`."""
    if not (_NO_ENERGY | _EXTREMES).isdisjoint(words_of(name)):
        return False
    subject = _without_unit(name)
    is_interest = re.fullmatch(_OPEN_INTEREST, subject.lower()) is not None
    return is_interest or ends_in(subject, _AMOUNTS) or re.search(_ENERGY, name.lower()) is not None


def is_called_demand(name: str) -> bool:
    """Return whether a name ends in a demand, which generation follows, before its unit: and no smallest load."""
    return ends_in(_without_unit(name), _DEMANDS) and ends_in_amount(name)


def _without_unit(name: str) -> str:
    return re.sub(r"(\s*[(\[][^)\]]*[)\]]|[ _]actual|([ _]\d+)?[ _](?i:avg|mean))\s*$", "", name)


def numbered_inputs(names: Iterable[str]) -> set[str]:
    """The columns with a letter and a number for a name, where many have such names, of three letters: `E12`, `V3`."""
    numbered = {name for name in names if re.fullmatch(r"[A-Za-z]\d{1,3}", name)}
    are_inputs = len(numbered) >= _FEWEST_INPUTS and len({name[0] for name in numbered}) >= _FEWEST_LETTERS
    return numbered if are_inputs else set()


def is_called_way(name: str) -> bool:
    """Return whether a column tells by its name how far something went: `Distance (km)`."""
    return not _WAYS.isdisjoint(words_of(name))


def is_called_unit_price(name: str) -> bool:
    """Return whether a name is that of the price of one piece, whose sum means nothing."""
    words = words_of(name)
    is_of_one = not _OF_ONE.isdisjoint(words) and is_called_money(name)
    return (name.lower().endswith(PRICE) and "total" not in words) or is_of_one


def is_price_of_pieces(name: str, names: Iterable[str]) -> bool:
    """Return whether a column is by its name the price of what another one says how much was sold of."""
    return is_called_unit_price(name) and any(_PIECES.intersection(words_of(str(other))) for other in names)


def is_called_weather(name: str) -> bool:
    """Return whether a column is a measure of the weather by its name: `temp_max`, `WS10M`, and no `WSCentral`."""
    return not _WEATHER_WORDS.isdisjoint(words_of(name)) or re.search(_WIND_SPEED, name.lower()) is not None


def mean_temperatures(names: Iterable[str]) -> set[str]:
    """The columns of a weather service that are the mean temperature of a day: `TG` beside `TN` and `TX`."""
    codes = {name.lower(): name for name in names}
    return {codes[mean] for mean, others in _MEAN_TEMPERATURES.items() if {mean, *others} <= codes.keys()}


def flows_of_rain(names: Iterable[str]) -> set[str]:
    """The level of water beside rain, or a river's flow in the letters of hydrologists: `Q` beside `P` and `T`."""
    letters = {name: name.lower() for name in names}
    if {"p", "t"} <= {*letters.values()}:
        return {name for name, letter in letters.items() if re.fullmatch(_FLOW, letter)}
    words = {name: {*words_of(name)} for name in letters}
    rain = {name for name, each in words.items() if _RAIN_WORDS & each}
    levels = {name for name, each in words.items() if _WATER_LEVELS & each and not _SPREAD_WORDS & each} - rain
    return levels if rain and len(levels) == 1 else set()


def net_weights(names: Iterable[str]) -> set[str]:
    """The columns of what a lorry carries, beside what it weighs empty: `Neto kg` beside `Tara kg`."""
    words = {name: {*words_of(name)} for name in names}
    have_tare = any({"tare", "tara"} & each for each in words.values())
    return {name for name, each in words.items() if have_tare and {"net", "neto", "netto", "nett"} & each}


def active_powers(names: Iterable[str]) -> set[str]:
    """The columns of active power in the letters of electricians, beside the reactive and the apparent one: `P_avg`."""
    words = {name: words_of(name) for name in names}
    powers = {name: each[1:] for name, each in words.items() if each[:1] == ["p"]}
    return {name for name, rest in powers.items() if ["q", *rest] in words.values() and ["s", *rest] in words.values()}


def is_called_level(name: str) -> bool:
    """Return whether a column is a level or an index by its name."""
    return not _LEVELS.isdisjoint(words_of(name))


def is_called_base(name: str) -> bool:
    """Return whether a column holds by its name the number that counts and shares are of: `population`."""
    return not _BASES.isdisjoint(words_of(name)) and "/" not in name  # and no `cases/100k pop`


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


def is_called_direction(name: str) -> bool:
    """Return whether a column holds by its name the direction of a wind or a course, of which no mean makes sense."""
    return ends_in(name, _DIRECTIONS)


def are_called_of_persons(names: Iterable[str]) -> bool:
    """Return whether rows are persons who were asked, by two columns or more: an age and a sex, and no death."""
    names = list(names)
    answers = [name for name in names if not _PERSON_WORDS.isdisjoint(words_of(name))]
    return len(answers) >= 2 and not any(is_called_end(name, may_be_status=False) for name in names)


def is_called_pay(name: str) -> bool:
    """Return whether a column tells by its name what somebody earns."""
    return not _PAY_WORDS.isdisjoint(words_of(name))


def is_called_property(name: str) -> bool:
    """Return whether a column is a property of a person by its name: the age, or the weight in a survey, `dweight`.

    So is how sure a recognition is, and no confidence of consumers.
    """
    is_weight = re.fullmatch(_SURVEY_WEIGHT, name.lower()) is not None
    return ends_in(name, _SUBJECT_PROPERTIES) or is_weight or name.lower() == "confidence"
