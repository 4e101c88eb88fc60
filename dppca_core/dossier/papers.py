"""The papers of the dossier as Markdown, CSV and YAML, and all of them as one archive.

Every number is one that the decision or the core computes. What only the hospital knows stands there by name
(`agreement.blank`). Nothing is claimed about law.
"""

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence

from dppca_core.dossier import data_flow, evidence, registry
from dppca_core.dossier.agreement import YEARS, Agreement, blank
from dppca_core.dossier.evidence import NOT_CHECKED
from dppca_core.experiments.decision.decision import ShareBar
from dppca_core.experiments.decision.rule import MARGIN, USEFUL
from dppca_core.release.registry_record import BLANK, IN_WORDS

FALSE_ALARMS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5)
A_YEAR = (1, 2, 4, 12)
_DATE = (1980, 1, 1, 0, 0, 0)  # of every file: the same archive has the same bytes
_ASKED_OF_THE_HOSPITAL = (
    "lawful basis",
    "necessity",
    "where records are stored",
    "retention",
    "costs",
    "staff days",
)


def dossier(agreement: Agreement) -> dict[str, str]:
    """Return the papers by the names of their files, first a list of them."""
    papers = {
        "registry-record.yaml": registry.to_yaml(agreement),
        "privacy-label.md": label(agreement),
        "nist-sp-800-226.md": pyramid(agreement),
        "iso-iec-27559-annex.md": annex(agreement),
        "data-flow.csv": flow_as_csv(agreement),
        "data-flow.md": flow(agreement),
        "protocol.md": protocol(agreement),
    }
    return {"read-me.md": _contents(agreement, papers)} | papers


def archive(papers: Mapping[str, str]) -> bytes:
    """Return files by name as one zip archive, the same bytes for the same files."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archived:
        for name, text in papers.items():
            archived.writestr(zipfile.ZipInfo(name, _DATE), text.encode(), zipfile.ZIP_DEFLATED)
    return whole.getvalue()


def label(agreement: Agreement) -> str:
    """Return the privacy label: one table of what a reader needs to compare releases."""
    budget, yearly = agreement.budget, agreement.over_years(1)
    rows = (
        ("Who is protected", "one patient's record in one hospital"),
        ("Privacy loss ε", f"{budget.epsilon:g}"),
        ("Failure chance δ", f"{budget.delta:g}; 1/n = {1 / agreement.setting.n:.3g}"),
        ("μ of Gaussian differential privacy", f"{agreement.mu:.4g}: ε follows at every δ"),
        ("Odds", odds(agreement.guess)),
        ("Whom the hospitals trust", IN_WORDS[agreement.noise_by].trusted),
        ("Noise", f"Gaussian, multiplier {agreement.multiplier:.4g}"),
        ("Method", agreement.method.title),
        (
            "What is released",
            f"{agreement.setting.k} patterns of {agreement.setting.experiment.d} measurements",
        ),
        (
            "What is public without noise",
            "the dictionary, printed ranges, the hospitals, and how many patients each has",
        ),
        ("Releases", f"one; one a year for {YEARS} years: ε = {yearly.epsilon:.4g}"),
        ("What it is for", blank("purpose")),
        ("Whom to ask", blank("contact")),
    )
    return f"# Privacy label\n\n{_table(('', ''), rows)}"


def odds(guess: float) -> str:
    return (
        "whoever knows all other patients, and starts from 50:50, tells which of two records was used "
        f"at most {_of_hundred(guess)} times in 100"
    )


def _of_hundred(chance: float) -> str:
    return f"{100 * chance:.1f}" if chance < 0.9995 else "100"  # no less than the bound


def pyramid(agreement: Agreement) -> str:
    """Return the lines on NIST SP 800-226."""
    rows = [
        (line.level, line.topic, line.says, f"`{line.link}`" if "/" in line.link else line.link)
        for line in evidence.lines(agreement)
    ]
    return (
        "# Lines for NIST SP 800-226\n\n"
        "NIST SP 800-226 (March 2025, doi 10.6028/NIST.SP.800-226) is a framework, not a form. Levels are "
        "those of its pyramid; topics are in our words. Links are files and tests of the program.\n\n"
        + _table(("level", "topic", "here", "proof or test"), rows)
    )


def annex(agreement: Agreement) -> str:
    """Return the annex on clauses 8.2.2 and 8.2.3 of ISO/IEC 27559:2022."""
    curves = (curve.misses(FALSE_ALARMS) for curve in (agreement.promised, agreement.trade_off))
    curve = [
        (f"{alarms:g}", f"{least:.6f}", f"{best:.6f}")
        for alarms, least, best in zip(FALSE_ALARMS, *curves, strict=True)
    ]
    years = [
        (f"{account.a_year}", f"{account.epsilon:.4g}", _of_hundred(account.guess), f"{account.each:.4g}")
        for account in map(agreement.over_years, A_YEAR)
    ]
    tests = [(line.topic, f"`{line.link}`") for line in evidence.lines(agreement) if line.is_attack]
    tests += [
        ("the attack lies on the exact curve", f"`tests/core/auditing/test_tradeoff.py::{_ON_CURVE}`"),
        ("what an audit can see", "`tests/core/auditing/test_audit.py::test_what_an_audit_can_see`"),
    ]
    return (
        "# Annex to ISO/IEC 27559:2022: numbers for 8.2.2 and 8.2.3\n\n"
        "No statement that a requirement is met.\n\n"
        "## 8.2.2 Quantifying identifiability\n\n"
        f"An attacker sees the release; {odds(agreement.guess)}. The noise alone allows "
        f"{100 * agreement.trade_off.best_guess():.1f} times.\n\n"
        f"As Gaussian differential privacy it is μ = {agreement.mu:.4g}, from which ε follows at every δ. "
        "Least share of misses at each share of false alarms, as (ε, δ) and as this noise allow it:\n\n"
        + _table(("false alarms", "misses, (ε, δ)", "misses, this noise"), curve)
        + f"\nThe same patient in every release for {YEARS} years, at the same δ:\n\n"
        + _table(("releases a year", "ε in all", "right in 100", "ε of each, where all cost one"), years)
        + "\n## 8.2.3 Adversarial testing\n\n"
        "Attacks on simulated neighbouring tables. None was on this hospital's records: "
        f"{NOT_CHECKED}.\n\n" + _table(("what", "test"), tests)
    )


_ON_CURVE = "test_the_attack_lands_on_the_exact_curve_and_with_half_the_noise_off_it"


def flow_as_csv(agreement: Agreement) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(
        ("direction", "what", "from our patients", "times", "numbers each time", "bytes in all", "protection")
    )
    writer.writerows(_flow_rows(agreement))
    return written.getvalue()


def flow(agreement: Agreement) -> str:
    messages = data_flow.messages_sent(agreement)
    head = ("direction", "what", "from our patients", "times", "numbers", "bytes", "protection")
    return (
        "# Data flow of one run, for an impact assessment\n\n"
        f"Our hospital sends at most {data_flow.bytes_sent(agreement):,} bytes in "
        f"{messages} message{'s' if messages > 1 else ''}. Numbers have 64 bits. What a network or an "
        "encryption adds is not counted: `docs/federated.md` has it as measured.\n\n"
        + _table(head, _flow_rows(agreement))
        + "\nNo record and no name is in any message.\n\n"
        f"- Residual risk: {odds(agreement.guess)}.\n"
        + "".join(f"- {blank(what)}\n" for what in _ASKED_OF_THE_HOSPITAL)
    )


def _flow_rows(agreement: Agreement) -> list[tuple[str, ...]]:
    return [
        (
            "sent" if field.sent else "received",
            field.what,
            "yes" if field.personal else "no",
            f"{field.times}",
            f"{field.numbers}",
            f"{field.total_bytes}",
            field.protection,
        )
        for field in data_flow.data_flow(agreement)
    ]


def protocol(agreement: Agreement) -> str:
    setting, budget = agreement.setting, agreement.budget
    gain, ours = agreement.decision.evidence[agreement.trust], agreement.ours
    together, alone = agreement.bars["together"], agreement.bars["alone"]
    whose = "our own pattern" if setting.differing else "the pattern"
    use = "for use in-house" if setting.use == "in-house" else "to be published"
    sentences = (
        f"{len(setting.hospitals):,} hospitals with {setting.n:,} patients, {ours.patients:,} of them ours "
        f"({ours.name}), look for {setting.k} principal components of {setting.experiment.d} measurements, "
        f"{use}.",
        f"Method: {agreement.method.title}; trusted: {IN_WORDS[agreement.noise_by].trusted}.",
        f"Differential privacy for one patient's record, replaced: ε = {budget.epsilon:g}, "
        f"δ = {budget.delta:g}, noise multiplier {agreement.multiplier:.4g}, μ = {agreement.mu:.4g}.",
        f"Before any release, {setting.repeats} paired runs on {agreement.patients} recovered in the median "
        f"{_shares(alone)} of {whose} alone and {_shares(together)} together.",
        f"The median gain is {gain.median:.1f} points ({gain.lower:.1f} to {gain.upper:.1f}).",
        f"By the rule (a gain above {MARGIN:g} points, and {USEFUL:g} % of the pattern in nine of ten runs) "
        f"the answer is: {agreement.decision.in_words}.",
        f"{blank('purpose, population, and who approved')}.",
    )
    return f"# Paragraph for a study protocol\n\n{' '.join(sentences)}\n"


def _shares(bar: ShareBar) -> str:
    return f"{bar.median:.1f} % (99 % interval {bar.lower:.1f} to {bar.upper:.1f})"


def _contents(agreement: Agreement, papers: Mapping[str, str]) -> str:
    """Return the list of files, each with how often the hospital has to fill something in."""
    # YAML may break a line within the words that mark a blank.
    rows = [(name, str(" ".join(text.split()).count(BLANK))) for name, text in papers.items()]
    joined = "" if agreement.joins else " These papers say what would hold if the hospital joined."
    return (
        "# Dossier: should we join?\n\n"
        f"The answer is: {agreement.decision.in_words}.{joined} Papers behind the page to sign. Numbers "
        "are computed; nothing here is a legal opinion. What only the hospital knows is marked "
        f'"{BLANK}", with its name.\n\n' + _table(("file", "blanks"), rows)
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
