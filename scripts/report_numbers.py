"""Compute what docs/report.md states: its tables, as Markdown, and the numbers in its sentences.

Sources are the stored results of the papers, data/report.json (`benchmarks.report_runs`), the tables of
docs/fitted-bound.md, and closed forms. `scripts.report` writes the tables; a test holds all of it.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import pandas as pd

from dppca_core import Budget, Setting, SpikedModel
from dppca_core.accounting import gaussian
from dppca_core.bounds import BOUNDS, gaussian_floor
from dppca_core.experiments.papers import ge, results
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.mechanisms import normalised_product, two_stage
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.paths import DATA
from scripts.started import ROOT

TARGET = 0.2
BUDGET = Budget(1.0, 1e-5)
PUBLIC, TWO = "needed-patients-public", "two-stage-patients"
ONE_PLACE, SEALED, OWN = "two stages, one place", "two stages, sealed sums", "two stages, own noise"
ORACLE = "true rows known, no privacy"
FITTED = ROOT / "docs" / "fitted-bound.md"
# For each row of the first table: its words, the stored result, and the label in it.
NEEDED = (
    ("DPS-PCA, noise of its proof", PUBLIC, "DPS-PCA, noise of its proof, dense start"),
    ("DPS-PCA, noise calibrated exactly", PUBLIC, "DPS-PCA exact"),
    ("one moment and a sparse step, one place", PUBLIC, "one release + sparse step, exact"),
    ("**two stages**, five hospitals' own noise", TWO, OWN),
    ("**two stages**, sealed sums", TWO, SEALED),
    ("**two stages**, one place", TWO, ONE_PLACE),
)


class Needed(NamedTuple):
    """Hold how many patients a method needs for a median error of TARGET, with its 95 % interval."""

    patients: float
    low: float
    high: float


class TableErrors(NamedTuple):
    """Hold a table's medians at k = 2 and epsilon = 1: "with the default bound → with a fitted one"."""

    name: str
    errors: str

    @property
    def ratio(self) -> float:
        before, after = map(float, self.errors.split("→"))
        return after / before


def rounded(number: float, digits: int = 2) -> str:
    """Return a number to `digits` significant digits, with commas and without a power of ten."""
    if not number:
        return "0"
    return f"{number:,.{max(digits - 1 - math.floor(math.log10(abs(number))), 0)}f}"


def count(patients: float, digits: int = 2) -> str:
    """Return a number of patients to `digits` significant digits."""
    return f"{float(f'{patients:.{digits}g}'):,.0f}"


@cache
def needed(words: str) -> Needed:
    """Return the patients that the method of these words needs, read between stored runs."""
    ((_, name, label),) = (row for row in NEEDED if row[0] == words)
    table = patients_needed(results.stored(name).table, TARGET, level=0.95).set_index("label")
    return Needed(*(float(table.loc[label, column]) for column in Needed._fields))


@cache
def medians(name: str) -> pd.DataFrame:
    """Return the median errors of a stored result: a row for each n, a column for each label."""
    return results.stored(name).table.groupby(["n", "label"])["sin_theta"].median().unstack()


@cache
def reached() -> pd.DataFrame:
    """Return the share of runs of two stages whose error is at most TARGET, as `medians` has it."""
    table = results.stored(TWO).table
    return (table["sin_theta"] <= TARGET).groupby([table["n"], table["label"]]).mean().unstack()


@cache
def part(name: str) -> list[dict[str, Any]]:
    """Return the records of a part of data/report.json."""
    records: list[dict[str, Any]] = json.loads((DATA / "report.json").read_text(encoding="utf-8"))[name][
        "records"
    ]
    return records


@cache
def predicted(n: int, own_noise: bool) -> tuple[float, float]:
    """Return the closed form's error at the setting of the stored runs, and the chance of all features."""
    chosen = results.recipe(TWO)
    model = chosen.population
    assert isinstance(model, SpikedModel) and chosen.s_hat is not None  # as its file says
    hospitals = 5 if own_noise else 1
    eigenvalues = model.eigenvalues / model.norm_bound(n) ** 2
    setting = Setting(model.d, n, model.k, model.s, chosen.s_hat, hospitals, 4, eigenvalues, BUDGET)
    bound = BOUNDS["two_stage_own_noise_prediction" if own_noise else "two_stage_prediction"](setting)
    return bound.final, bound.quantities["support_probability"]


def fitted_rows(standardised: bool) -> list[dict[str, str]]:
    """Return the rows of docs/fitted-bound.md's table of errors, by the names of its columns."""
    _, _, text = FITTED.read_text(encoding="utf-8").partition(
        "**Standardised rows**" if standardised else "**Centred rows**"
    )
    lines = [line for line in text.split("\n\n")[1].splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    return [dict(zip(head, row, strict=True)) for row in rows]


@cache
def comparisons(standardised: bool) -> tuple[TableErrors, ...]:
    """Return every table's errors at k = 2 and epsilon = 1, in the order of docs/fitted-bound.md."""
    tables = []
    for row in fitted_rows(standardised):
        errors = row["k = 2, ε = 1"]
        if "→" in errors:
            tables.append(TableErrors(re.sub(r" *\(.*", "", row["table"]), errors))
    return tuple(tables)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose columns, but for the first, are aligned to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _needed_table() -> str:
    rows = [["DPS-PCA, Algorithm 1 as printed (closed form)", count(ge.algorithm_1_patients(TARGET)), ""]]
    for words, _, _ in NEEDED:
        patients = needed(words)
        digits = 3 if patients.patients > 1e5 else 2
        ends = f"{count(patients.low, 3)} to {count(patients.high, 3)}"
        rows.append([words, count(patients.patients, digits), ends])
    return markdown(["method", "patients", "95 % interval"], rows)


def _errors_table() -> str:
    errors, shares = medians(TWO), reached()
    rows = []
    for n in errors.index:
        cells = [f"{n:,}", rounded(errors.loc[n, ORACLE])]
        for label in (ONE_PLACE, OWN):
            cells += [rounded(errors.loc[n, label]), f"{shares.loc[n, label]:.0%}".replace("%", " %")]
        rows.append(cells)
    head = ["patients", "features known, no privacy", "one place", "at most 0.2", "own noise", "at most 0.2"]
    return markdown(head, rows)


def _predicted_table() -> str:
    errors, shares = medians(TWO), reached()
    rows = []
    for n in (3000, 4000, 5000, 6000, 8000, 12000, 24000):
        cells = [f"{n:,}"]
        for label in (ONE_PLACE, OWN):
            error, chance = predicted(n, label == OWN)
            cells += [
                f"{rounded(error)}, {rounded(errors.loc[n, label])}" if chance >= 0.5 else "",
                f"{chance:.2f}, {shares.loc[n, label]:.2f}",
            ]
        rows.append(cells)
    head = ["patients", "one place: error", "chance", "five hospitals, own noise: error", "chance"]
    return markdown(head, rows)


def _steps_table() -> str:
    first, second = (
        f"$d$ = {at['d']}, $ŝ$ = {at['s_hat']}, $n$ = {at['n']:,}" for at in part("steps")[0]["seen"]
    )
    rows = [[row["words"], *(rounded(at["median"]) for at in row["seen"])] for row in part("steps")]
    return markdown(["what is released", first, second], rows)


def _case_words(case: dict[str, Any]) -> list[str]:
    spikes = case["spike"] if isinstance(case["spike"], list) else [case["spike"]]
    return [
        *(str(case[name]) for name in ("d", "k", "s", "s_hat")),
        f"{case['n']:,}",
        "/".join(f"{spike:g}" for spike in spikes),
        str(case["providers"]),
        case["stage_one"],
    ]


def _cases_table() -> str:
    rows = []
    for case in part("cases"):
        seen = f"{rounded(case['seen'])} ({case['predicted'] / case['seen']:.2f})"
        chances = [f"{case['chance']:.2f}", f"{case['share']:.2f}"]
        rows.append([*_case_words(case), rounded(case["predicted"]), seen, *chances])
    head = ["$d$", "$k$", "$s$", "$ŝ$", "$n$", "spikes", "hospitals", "stage 1"]
    return markdown([*head, "predicted", "seen (ratio)", "chance", "seen"], rows)


def _weak_table() -> str:
    rows = [
        [
            f"{row['spike']:g}",
            *(rounded(row[words]) for words in ("one moment", "two stages", "stacked rounds")),
        ]
        for row in part("weak")
    ]
    return markdown(["spike", "one moment, rows of length 1", "two stages", "stacked rounds"], rows)


def _skewed_table() -> str:
    rows = [[row["residuals"], rounded(row["unit"]), rounded(row["plain"])] for row in part("skewed")]
    return markdown(["residuals", "rows of length 1", "plain PCA"], rows)


def _ratios_table() -> str:
    columns = [f"k = {k}, ε = {epsilon}" for k in (2, 3) for epsilon in ("0.5", "1", "2")]
    rows = []
    for standardised in (False, True):
        means = [row for row in fitted_rows(standardised) if row["table"].startswith("geometric")]
        for words, row in zip(("ten tables", "five later tables"), means, strict=True):
            kind = "standardised" if standardised else "centred"
            rows.append([f"{kind}, {words}", *(row[column].strip("*") for column in columns)])
    return markdown(["rows", *columns], rows)


TABLES = {
    "needed": _needed_table,
    "errors": _errors_table,
    "predicted": _predicted_table,
    "steps": _steps_table,
    "cases": _cases_table,
    "weak": _weak_table,
    "skewed": _skewed_table,
    "ratios": _ratios_table,
}
# Tables with numbers that rest on eigenvalues of drawn matrices, whose last digit another processor may turn.
NEARLY = frozenset({"predicted"})


def statements() -> tuple[str, ...]:
    """Return phrases of the report, without its line breaks, with the numbers that their sources give."""
    z = gaussian.noise_multiplier(BUDGET)
    one, own = needed("**two stages**, one place"), needed("**two stages**, five hospitals' own noise")
    sparse, proof = needed("one moment and a sparse step, one place"), needed("DPS-PCA, noise of its proof")
    d, k, s_hat, rounds, bulk, spike = 1000, 5, 50, two_stage.ROUNDS, 5.0, 100.0  # of section 6.1
    gain = (k * spike + (d - k) * bulk) / (k * spike + (s_hat - k) * bulk)
    stages, moment = 8 * (d * k * rounds + s_hat * (s_hat + 1) // 2), 8 * d * (d + 1) // 2
    colluding = [gaussian.epsilon_of(z * math.sqrt(left / 5), BUDGET.delta) for left in (4, 1)]
    shares = [two_stage.selection_share(z, 1.0, d, n) for n in (3500, 10_000)]
    errors = medians(TWO).loc[10_000:24_000]
    price = errors[ONE_PLACE] / errors[ORACLE]
    ratios = [case["predicted"] / case["seen"] for case in part("cases")]
    low = max(case["share"] - case["chance"] for case in part("cases"))
    normal = part("skewed")[0]
    leukaemia = next(each.ratio for each in comparisons(False) if each.name == "acute leukaemia")
    means = [
        float(cell.strip("*"))
        for kind in (False, True)
        for row in fitted_rows(kind)
        for cell in row.values()
        if row["table"].startswith("geometric") and cell.startswith("**")
    ]
    squares = [sign_square(x / 100) for x in range(50, 251)]
    best = max(squares)
    few, many = _paid(False, 10**9), _paid(True, 10)
    return (
        f"two stages need {count(one.patients)} patients at one trusted place",
        f"{count(own.patients)} in five hospitals that trust nobody",
        f"needs {count(sparse.patients)}, and DPS-PCA with the noise of its proof {count(proof.patients, 3)}",
        f"{100 * few:.0f} to {100 * many:.0f} % of the budget",
        f"{min(means):.2f} to {max(means):.2f} times as much as a public bound",
        f"{random_guess(d, k):.2f} at $d=1000$, $k=5$",
        f"{z:.2f} at $\\varepsilon=1$, $\\delta=10^{{-5}}$, and "
        f"{gaussian.noise_multiplier(Budget(1.0, 1e-6)):.2f} at $\\delta=10^{{-6}}$",
        f"{math.sqrt(d / (2 * k)):.0f} times at $d=1000$, $k=5$",
        f"signal that is {gain:.1f} times as large",
        f"{count(stages / 1e3)} kB at $d=1000$, $k=5$, $T={rounds}$, $ŝ={s_hat}$",
        f"takes {moment / 1e6:.1f} MB",
        f"one of five turns $\\varepsilon=1$ into {colluding[0]:.2f}",
        f"four of five turn it into {colluding[1]:.2f}",
        "the factor is "
        + " and ".join(f"{normalised_product.mean_length(i):.2f} at $k={i}$" for i in (1, 5)),
        f"$w$ is {shares[0]:.1f} with 3,500 patients and {shares[1]:.2f} with 10,000",
        f"$w={two_stage.SHARE_WITHOUT_N}$",
        f"at most {math.sqrt(best):.2f}, at $\\alpha={0.5 + squares.index(best) / 100:.2f}$",
        f"at most {math.ceil(100 / math.sqrt(best)) / 100:.2f} times the floor",
        f"costs {price.min():.1f} to {price.max():.1f} times the error",
        f"within {math.ceil(100 * max(abs(ratio - 1) for ratio in ratios))} % at all fifteen settings",
        f"up to {low:.2f} too low",
        f"a guess errs {random_guess(400, 2):.2f}",
        f"err {normal['unit'] / normal['plain']:.1f} times as much as PCA",
        f"errs {leukaemia:.1f} times as much with centred rows",
    )


def sign_square(alpha: float) -> float:
    """Return R of the floor's theorem."""
    return alpha**2 * gaussian_floor.sign_error(alpha)


def _paid(standardised: bool, patients: int) -> float:
    """Return the share of the budget, of a table of ten numbers, that pays for all but the moment."""
    rule = FittedBound(Layout.of_numbers(10), Budget(1.0, 1e-6), patients, standardised)
    return 1 - rule.shares["moment"]


# Phrases whose numbers are measured in another page or docstring, and that source.
QUOTED = (
    ("32 of 34", FITTED),
    ("17 of 21", FITTED),
    ("0.98 to 1.00", FITTED),
    ("4,000", FITTED),
    ("0.62 and 0.56", FITTED),
    ("151", FITTED),
    ("1.4 times as much", ROOT / "benchmarks" / "fitted_bound.py"),
    ("0.7 times the median", FITTED),
    ("over 8 % more than before", FITTED),
)
