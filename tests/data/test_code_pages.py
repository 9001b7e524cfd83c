"""Code pages of one byte per letter, told by the alphabets of languages; Western text is never taken for another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.reading import read_beside, read_table
from forecast_attn.data.reading.code_pages import code_page
from forecast_attn.errors import DataError

from .test_east_asian import WESTERN

Write = Callable[[str | bytes], Path]

POLISH = "Początek|Zużycie|Województwo|Wartość|Ilość|Łódzkie|Śląskie|ŻYWNOŚĆ|Średnia prędkość|Miesiąc|ŁÓDŹ|Złoty"
CZECH = "Období|Množství|Měsíc|Průměr|Spotřeba|Jihočeský|Hodnota (Kč)|Začátek|Celková|výkon|PRŮMĚR|Příkon"
HUNGARIAN = "Időpont|Hőmérséklet|ÉRTÉK|Fogyasztás|Győr|Békés|Mennyiség|Áramfogyasztás|Szélerősség|Dátum"
RUSSIAN = "Дата|Цена|Объём продаж|ДАТА|ЦЕНА|КОЛИЧЕСТВО|Температура|Выручка, руб.|Магазин|Потребление, кВт"
GREEK = "Ημερομηνία|Τιμή|ΗΜΕΡΟΜΗΝΙΑ|ΤΙΜΗ|Ποσότητα|Θερμοκρασία|ΠΩΛΗΣΕΙΣ|Κατανάλωση|Περιοχή"
TURKISH = "Değer|Satış|Şehir|Ağırlık|Ölçüm|SICAKLIK ÖLÇÜMÜ|Gün|Çarşamba|İstanbul|Açılış|Kapanış"
HEBREW = "תאריך|מחיר|כמות|מכירות|אזור|טמפרטורה|צריכה|חודש|שנה|מוצר"
ARABIC = "التاريخ|السعر|الكمية|المبيعات|المنطقة|درجة الحرارة|الاستهلاك|الشهر|السنة|الصنف"
LITHUANIAN = "Mėnuo|Šilumos kiekis|Data ir laikas|Suvartojimas, m³|Žemės ūkis|Įmonė|Kaina už vienetą"
GERMAN = "Größe|Straße|Verkäufe|Änderung|Köln|Zürich|GESCHÄFTSJAHR|Übersicht|Menge in Stück"
SPANISH = "Población|Año|Índice|Señal|Cádiz|León|Consumo eléctrico|Energía|Málaga"

WORDS = {
    ("cp1250", "Polish"): POLISH,
    ("iso8859-2", "Polish"): POLISH,
    ("cp852", "Polish"): POLISH,
    ("cp1250", "Czech"): CZECH,
    ("iso8859-2", "Czech"): CZECH,
    ("cp1250", "Hungarian"): HUNGARIAN,
    ("cp1251", "Russian"): RUSSIAN,
    ("koi8-r", "Russian"): RUSSIAN,
    ("cp866", "Russian"): RUSSIAN,
    ("cp1251", "Ukrainian"): "Місяць|КІЛЬКІСТЬ|Потужність|Дата|Область|Середня ціна|Київ|Запоріжжя",
    ("cp1253", "Greek"): GREEK,
    ("cp1254", "Turkish"): TURKISH,
    ("cp1255", "Hebrew"): HEBREW,
    ("cp1256", "Arabic"): ARABIC,
    ("cp1257", "Lithuanian"): LITHUANIAN,
    ("mac_roman", "German"): GERMAN,
    ("cp850", "German"): GERMAN,
    ("mac_roman", "Spanish"): SPANISH,
}


def table_of(names: list[str]) -> str:
    return ";".join(names) + "\n" + "\n".join(";".join("1" for _ in names) for _ in range(3)) + "\n"


@pytest.mark.parametrize(("encoding", "language"), WORDS)
def test_six_words_of_a_language_tell_its_code_page(encoding: str, language: str) -> None:
    names = WORDS[encoding, language].split("|")
    tables = [table_of(Random(seed).sample(names, 6)).encode(encoding, "ignore") for seed in range(100)]
    read = [table.decode(code_page(table) or "cp1252") == table.decode(encoding) for table in tables]
    assert read.count(True) >= 97


@pytest.mark.parametrize("more", ["", "m³;°C;µm", "½h;§4", "£m;€;…", "Nº;1ª", "Tromsø;Cádiz;Genève", "Dvořák;Wien"])
def test_western_text_of_any_languages_is_western(more: str) -> None:
    names = WESTERN["cp1252"].split("|")
    for seed in range(100):
        header = [*Random(seed).choices(names, k=1 + seed % 12), *more.split(";")]
        assert code_page(table_of(header).encode("cp1252", "replace")) in (None, "cp1252"), header
    assert code_page(more.encode("cp1252", "replace")) in (None, "cp1252")


def test_letters_at_one_place_of_icelandic_and_turkish_tell_them_apart() -> None:
    assert code_page("Ísafjörður;Akureyri;Þingeyri;Suðurland".encode("cp1252")) == "cp1252"
    assert code_page("Satış;Şehir;Sıcaklık;Yağış".encode("cp1254")) == "cp1254"


def test_a_table_is_read_in_the_code_page_that_is_told(write_csv: Write) -> None:
    notes: list[Finding] = []
    text = "Дата;Объём продаж\n" + "".join(f"2024-01-{day:02};{day}\n" for day in range(1, 29))
    frame = read_table(write_csv(text.encode("cp866")), DataConfig(), report=notes.append)
    assert list(frame.columns) == ["Дата", "Объём продаж"]
    assert [note.message.partition("; ")[2] for note in notes] == ["it is read as Cyrillic letters of DOS (cp866)"]


@pytest.mark.parametrize("encoding", ["cp1250", "cp852", "utf-8"])
def test_a_few_words_are_those_of_the_table_that_they_accompany(write_csv: Write, encoding: str) -> None:
    """By themselves they may be Spanish: `Dzieñ`."""
    path = write_csv("Dzień;Święto\n2024-01-01;1\n2024-01-02;0\n".encode(encoding))
    frame = read_beside(path, DataConfig(), time="Dzień", names=("Dzień", "Sprzedaż", "Święto"))
    assert list(frame.columns) == ["Dzień", "Święto"]


def test_a_table_with_none_of_the_names_is_read_as_by_itself(write_csv: Write) -> None:
    frame = read_beside(write_csv("Año;País\n2024;1\n".encode("cp1252")), DataConfig(), names=("Dzień",))
    assert list(frame.columns) == ["Año", "País"]


def test_a_few_letters_of_two_bytes_are_those_of_the_table_that_they_accompany(write_csv: Write) -> None:
    """By itself, the file is refused: they may be of several encodings."""
    path = write_csv("DATE,最大\n2024-01-01,1\n2024-01-02,0\n".encode("cp932"))
    with pytest.raises(DataError, match="may be in"):
        read_table(path, DataConfig())
    assert list(read_beside(path, DataConfig(), names=("DATE", "最大")).columns) == ["DATE", "最大"]
