"""Test docs/report.md: its numbers, formulas and pictures, and that docs/report.pdf is of today's text."""

import json
import re
import tomllib

import numpy as np
import pytest
import yaml

from benchmarks import report_runs, two_stages
from scripts import report, report_numbers, report_pictures
from scripts.started import ROOT

TEXT = report.SOURCE.read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
STALE = "run `make report`"


def without_nearly(text: str) -> str:
    """Return the text without the tables whose last digits another processor may turn."""
    return report.TABLE.sub(lambda match: "" if match[1] in report_numbers.NEARLY else match[0], text)


def numbers(table: str) -> list[float]:
    return [float(each.replace(",", "")) for each in NUMBER.findall(table)]


def test_its_tables_are_of_what_is_stored():
    assert without_nearly(report.filled(TEXT)) == without_nearly(TEXT), STALE
    assert {match[1] for match in report.TABLE.finditer(TEXT)} == set(report_numbers.TABLES)


def test_a_changed_number_in_a_table_is_seen():
    assert TEXT.count("| 8,700 |") == 1
    assert without_nearly(report.filled(TEXT.replace("| 8,700 |", "| 8,800 |"))) == without_nearly(TEXT)


@pytest.mark.parametrize("name", sorted(report_numbers.NEARLY))
def test_its_predictions_are_those_of_the_closed_forms(name):
    """A chance is of 64 runs at least, of which one may turn with rounding."""
    (shown,) = (match[2] for match in report.TABLE.finditer(TEXT) if match[1] == name)
    expected = numbers(report_numbers.TABLES[name]())
    assert numbers(shown) == pytest.approx(expected, rel=0.03, abs=0.02), STALE


def test_its_sentences_say_what_their_sources_give():
    assert [words for words in report_numbers.statements() if words not in WORDS] == []
    missing = [
        words
        for words, path in report_numbers.QUOTED
        if words not in WORDS or words not in " ".join(path.read_text(encoding="utf-8").split())
    ]
    assert missing == []


def test_its_figures_are_of_what_is_stored():
    for path, picture in report_pictures.pictures().items():
        assert path.read_text(encoding="utf-8") == picture, STALE


def test_stored_runs_are_those_of_the_benchmark():
    stored = json.loads(report_runs.FILE.read_text(encoding="utf-8"))
    assert set(stored) == set(report_runs.PARTS)
    assert all(part["command"].endswith(f"report_runs {name}") for name, part in stored.items())
    assert [row["words"] for row in stored["steps"]["records"]] == [
        words for words, _, _ in report_runs.STEPS
    ]
    assert [row["n"] for row in stored["cases"]["records"]] == [case.n for case in two_stages.CASES]
    assert [row["spike"] for row in stored["weak"]["records"]] == [*report_runs.SPIKES]


def test_a_part_gives_what_is_stored_when_it_runs_again():
    """Twelve digits would depend on the processor; a wrong seed changes the second."""
    for again, before in zip(report_runs.skewed(), report_numbers.part("skewed"), strict=True):
        for kind in ("unit", "plain"):
            np.testing.assert_allclose(again[kind], before[kind], rtol=1e-6)


def test_every_formula_becomes_mathml():
    page = report.html(TEXT)
    inline = re.sub(r"```.*?```|`[^`\n]*`", "", TEXT, flags=re.DOTALL).count("$") / 2
    displayed = len(re.findall(r"^```math$", TEXT, re.MULTILINE))
    assert displayed > 8 and page.count('display="block"') == displayed
    assert page.count("<math ") == inline + displayed > 200
    assert "$" not in re.sub(r"<math .*?</math>|<pre>.*?</pre>", "", page, flags=re.DOTALL)


def test_a_formula_with_an_unknown_command_is_refused():
    with pytest.raises(ValueError, match=r"\\nothing does not"):
        report.mathml(r"\frac{1}{2} \nothing x", {"display_mode": False})


def test_the_page_needs_nothing_from_outside():
    page = report.html(TEXT)
    assert not re.search(r"<(?:script|link|img|iframe)\b|\bsrc=|url\(|@import", page)
    assert page.count("<svg ") == 2
    assert set(re.findall(r'href="(\w+:)', page)) == {"https:"}


def test_the_pdf_is_of_todays_text():
    pdf = report.PDF.read_bytes()
    assert report.digest_in(pdf) == report.digest(TEXT), STALE
    assert 11 <= report.pages(pdf) <= 13
    assert len(pdf) < 600_000


def test_a_pdf_of_another_text_is_seen():
    assert report.digest(TEXT) != report.digest(TEXT + " ")
    assert report.digest_in(b"%PDF-1.4\n%%EOF\n") is None


def test_one_version_is_stated_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == cited["preferred-citation"]["version"] == version
    assert cited["preferred-citation"]["title"] == report.title_of(TEXT)
    assert cited["preferred-citation"]["type"] == "report" and len(cited["references"]) == 4
    assert f"\nTechnical report, version {version}, {cited['date-released']:%-d %B %Y}\n" in TEXT
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {version} ({cited['date-released']})\n" in changes
