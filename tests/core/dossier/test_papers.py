"""Test the papers of the dossier: form, words, blanks, links, and numbers that are computed again."""

import ast
import csv
import io
import re
import zipfile
from pathlib import Path

import pytest
import yaml

from dppca_core.accounting.trade_off import TradeOff
from dppca_core.dossier import data_flow, evidence, papers
from dppca_core.experiments.decision.rule import Answer
from dppca_core.populations.differing import DifferingHospitals
from dppca_core.release.registry_record import BLANK
from tests.core.dossier.agreements import BARS, EVIDENCE, SETTINGS, TRUSTS, agreement
from tests.core.experiments.decision.settings import differing, joining
from tests.core.release.test_registry_record import ENUMS, FIELDS

ROOT = Path(__file__).resolve().parents[3]
FORBIDDEN = re.compile(r"\b(anonym\w*|pseudonym\w*|gdpr|hipaa|complian\w*|safe)\b", re.IGNORECASE)
EVERY = [(setting, trust) for setting in SETTINGS.values() for trust in TRUSTS]


@pytest.fixture(params=EVERY, ids=[f"{name}, {trust}" for name in SETTINGS for trust in TRUSTS])
def signed(request):
    return agreement(*request.param)


def test_nothing_is_claimed_that_nobody_knows(signed):
    for name, text in papers.dossier(signed).items():
        assert not FORBIDDEN.search(text), name
    assert FORBIDDEN.search("It is anonymous.") and FORBIDDEN.search("GDPR-compliant")


def test_the_record_has_the_registrys_fields_and_words(signed):
    record = yaml.safe_load(papers.dossier(signed)["registry-record.yaml"])
    assert set(record) == {"url_slug", "status", "tier", "deployment"}
    assert (record["status"], record["tier"]) == ("Draft", 3)
    deployment = record["deployment"]
    assert set(deployment) == set(FIELDS)
    for section, names in FIELDS.items():
        assert set(deployment[section]) <= set(names.split())
    for (section, name), allowed in ENUMS.items():
        assert deployment[section][name] in allowed
    rho = sum(event.steps / event.noise_multiplier**2 for event in signed.events) / 2  # zCDP adds up
    parameters = {
        "epsilon": signed.budget.epsilon,
        "delta": signed.budget.delta,
        "rho": pytest.approx(rho, rel=1e-6),
    }
    assert deployment["privacy_loss"]["privacy_parameters"] == parameters
    central = signed.noise_by == "central"
    assert deployment["deployment_model"]["model_name"] == ("Central" if central else "Federated")


def test_blanks_have_names(signed):
    texts = [" ".join(text.split()) for text in papers.dossier(signed).values()]
    marks = [mark for text in texts[1:] for mark in re.findall(rf"{BLANK}(.?.?.?)", text)]
    assert len(marks) > 20
    assert all(re.fullmatch(r": \w", mark) for mark in marks)
    listed = [int(number) for number in re.findall(r"\| (\d+) \|", texts[0])]
    assert sum(listed) == len(marks)


def test_links_lead_to_files_and_tests(signed):
    lines = evidence.lines(signed)
    assert {line.level for line in lines} == {evidence.TOP, evidence.MIDDLE, evidence.BOTTOM}
    links = {line.link for line in lines}
    assert {evidence.NOT_CHECKED, evidence.ONLY_THERE} < links
    papers_of_links = papers.annex(signed) + papers.pyramid(signed)
    links |= set(re.findall(r"`([^`]*)`", papers_of_links))
    for link in links - {evidence.NOT_CHECKED, evidence.ONLY_THERE}:
        path, _, test = link.partition("::")
        source = (ROOT / path).read_text(encoding="utf-8")
        assert not test or test in {getattr(node, "name", "") for node in ast.parse(source).body}, link


def test_the_annex_has_the_curves(signed):
    text = papers.annex(signed)
    epsilon, delta = signed.budget.epsilon, signed.budget.delta
    for alarms in papers.FALSE_ALARMS:
        least = float(TradeOff.allowed(epsilon, delta).misses(alarms))
        best = float(TradeOff.gaussian(signed.mu).misses(alarms))
        assert f"| {alarms:g} | {least:.6f} | {best:.6f} |" in text
        assert least <= best
    for a_year in papers.A_YEAR:
        account = signed.over_years(a_year)
        assert re.search(rf"\| {a_year} \| {account.epsilon:.4g} \| [\d.]+ \| {account.each:.4g} \|", text)


def test_papers_state_one_mu(signed):
    mu = f"{signed.mu:.4g}"
    assert f"| μ of Gaussian differential privacy | {mu}: ε follows at every δ |" in papers.label(signed)
    for text in (papers.annex(signed), papers.protocol(signed)):
        assert f"μ = {mu}" in text


def test_bytes_are_those_of_the_data_flow(signed):
    rows = list(csv.DictReader(io.StringIO(papers.flow_as_csv(signed))))
    sent = sum(int(row["bytes in all"]) for row in rows if row["direction"] == "sent")
    assert sent == data_flow.bytes_sent(signed)
    assert f"{sent:,} bytes in {data_flow.messages_sent(signed)} message" in papers.flow(signed)


def test_the_protocol_says_whose_patients_and_pattern():
    texts = {
        data: papers.protocol(agreement(differing(DifferingHospitals(data))))
        for data in ("clinical", "heart")
    }
    assert "paired runs on simulated patients" in texts["clinical"]
    assert "paired runs on the public records of real hospitals" in texts["heart"]
    assert all(" of our own pattern alone and" in text for text in texts.values())
    assert "our own pattern" not in papers.protocol(agreement(SETTINGS["stages"]))


def test_the_protocol_has_the_decisions_numbers(signed):
    text = papers.protocol(signed)
    for bar in (BARS["alone"], BARS["together"]):
        assert f"{bar.median:.1f} % (99 % interval {bar.lower:.1f} to {bar.upper:.1f})" in text
    assert f"{EVIDENCE.median:.1f} points ({EVIDENCE.lower:.1f} to {EVIDENCE.upper:.1f})" in text
    assert f"ε = {signed.budget.epsilon:g}, δ = {signed.budget.delta:g}" in text


def test_who_does_not_join_reads_so():
    setting = joining(200, 500)
    assert "if the hospital joined" in papers.dossier(agreement(setting, answer=Answer.STAY))["read-me.md"]
    assert "if the hospital joined" not in papers.dossier(agreement(setting))["read-me.md"]


def test_the_archive_is_the_same_for_the_same_papers():
    files = papers.dossier(agreement(SETTINGS["stages"]))
    whole = papers.archive(files)
    assert whole == papers.archive(dict(files))
    with zipfile.ZipFile(io.BytesIO(whole)) as opened:
        assert {name: opened.read(name).decode() for name in opened.namelist()} == files
