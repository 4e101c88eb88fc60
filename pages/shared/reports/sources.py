"""Say where the numbers come from: paper, equation, seed, versions, in a fold at a page's foot."""

import platform
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version

from dppca_core.bounds import BOUNDS
from dppca_core.datasets import TABLES, clipped_share
from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS
from dppca_core.experiments.explorer.experiment import DPS_PCA, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from dppca_core.populations.gaussian_patients import rows_drawn
from dppca_core.populations.synthetic import Synthetic
from pages.shared import text
from pages.shared.document.blocks import Blocks, Fold, Note, Text
from pages.shared.settings.catalogue import Settings

_FORMULAS = r"""
$$
K_t=\sum_i\tfrac{n_i}{n}\Big(\hat\Sigma_iQ_t+\tfrac{G_i}{n_i}\Big),\quad G_i\sim N(0,\sigma^2),\quad
Q_{t+1}=\mathrm{qr}\big(\mathrm{threshold}_{\hat s}(\mathrm{qr}(K_t))\big)
$$

Exact accounting: $\sigma=\sqrt T\,\Delta\,z$ with
$\delta=\Phi(\tfrac1{2z}-\varepsilon z)-e^{\varepsilon}\Phi(-\tfrac1{2z}-\varepsilon z)$ and
$\Delta=\sqrt2$ (replace one, $k\ge2$) or $1$. As printed (with the logarithm of Lemma A.1 restored):
$\sigma=\tfrac{2T}{\varepsilon}\sqrt{2\ln(2T/\delta)}$.

Closed form after a burn-in, with $c=\sqrt N,\,N$ or $1$ by noise mode and $f^2$ the mean square of the
noise rows that thresholding selects:

$$
\sin^2\approx k\,[(s-k)+(\hat s-s)f^2]\,
\Big[\frac{(c\,\sigma/n\lambda_k)^2}{1-r^2}+\frac{\lambda_k b}{n(\lambda_k-b)^2}\Big]
$$
"""
_STAND_INS = (
    " Methods that scale each patient to length 1 read a sample of patients, corrected to stand for all. "
    "Beside all patients drawn one by one, their squared error agrees within 8 % at d = 100. From d = 400 up "
    "this is known to 20 % only."
)
LIMITS = (
    "Privacy is per patient, at the accounting shown; noise here is seeded and drawn in floating point: a "
    "study tool, not a hardened release."
)
_NOT_PRIVATE = "The errors are computed from the rows of the table without noise: they are not private."
_SIMULATED = "The patients are simulated: data that differ from the settings above err otherwise."
_NO_SEED = "No seed: noise from the operating system"
_TITLE = "Where this comes from"


@cache  # each version is read from a file
def versions(names: tuple[str, ...] = ("numpy", "scipy", "streamlit")) -> str:
    return ", ".join((f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names)))


def today() -> str:
    now = datetime.now(UTC)
    return f"{now.day} {now:%B %Y}."


def made(seed: int | None) -> str:
    """Return when a file was made, with which seed (None: a release has none) and which versions."""
    return f"{today()} {_NO_SEED if seed is None else f'Seed {seed}'}. {versions()}."


def limits(experiment: ExplorerExperiment) -> tuple[str, ...]:
    on_table = experiment.table is not None
    return text.large_delta(experiment.delta, experiment.n), _NOT_PRIVATE if on_table else _SIMULATED, LIMITS


def fold(
    settings: Settings,
    about: Callable[[], Iterable[str]],
    note: str = "",
    title: str = _TITLE,
) -> Fold:
    """Return the fold at a page's foot: paragraphs, the seed and the versions, with a note after them.

    about: returns the paragraphs, as Markdown; called once the fold is open.
    """

    def parts() -> Blocks:
        for paragraph in about():
            yield Text(paragraph)
        yield Note(f"Seed {settings['seed']}; {versions()}. {note}".strip())

    return Fold(title, "origins", parts)


def of_results(
    results: Results,
    epsilon: float,
    settings: Settings,
    *,
    measured: str = "",
    runs: str = "",
    theorem: str = "",
) -> Fold:
    """Return sources, seeds and limits of a page that measures `results` and shows them at this epsilon.

    measured, runs: how and how often, where not as on the front page. theorem: the constants of Theorem 4.3,
    where the page has sliders for them.
    """

    def about() -> Iterator[str]:
        yield measured or how_measured(results, runs)
        yield "| method | source | whom it trusts | guarantee |\n|---|---|---|---|\n" + "\n".join(
            f"| {m.title} | {m.reference} | {text.TRUST_TITLES[m.trust].lower()} | "
            f"{text.guarantee(m.guarantee_at(results.experiment.k))} |"
            for m in METHODS.values()
        )
        yield f"{constants(results, epsilon, theorem)} {accounting(settings)} {as_gaussian(results, epsilon)}"
        form = CLOSED_FORMS.get(results.experiment.method)
        if form is not None and results.experiment.method != DPS_PCA:
            yield f"{BOUNDS[form].title}:\n\n$$\n{BOUNDS[form].formula}\n$$"
        yield _FORMULAS

    return fold(settings, about, LIMITS)


def as_gaussian(results: Results, epsilon: float) -> str:
    """Return the mu of the experiment's method, as its noise truly is, or why it has none."""
    experiment = results.experiment
    method, options = METHODS[experiment.method], experiment.options(experiment.method)
    trade_off = method.trade_off(experiment.budget(epsilon), d=experiment.d, k=experiment.k, **options)
    if trade_off is None:
        return ""
    if trade_off.mu is None:
        return trade_off.why_no_mu
    return (
        f"As Gaussian differential privacy, {method.title} has μ = {trade_off.mu:.4g} here; ε follows at any "
        "δ (Dong, Roth & Su 2022)."
    )


def accounting(settings: Settings) -> str:
    if settings["accounting"] == "as-printed":
        return (
            "Noise as printed: DPS-PCA σ = (2T/ε) √(2 ln(2T/δ)), the logarithm of its Lemma A.1 restored; "
            "methods of one release σ = √(2 ln(1.25/δ)) / ε."
        )
    replaced = settings["neighbours"] == "replace-one"
    change = "√2 (replace one; 1 for DPS-PCA with k = 1)" if replaced else "1 (add or remove)"
    if settings["accounting"] == "zcdp":
        return f"zCDP accounting: σ = Δ √(T / 2ρ), with ρ the largest that implies (ε, δ), Δ = {change}."
    return (
        f"Exact accounting: σ = √T Δ z with δ = Φ(1/(2z) − εz) − e^ε Φ(−1/(2z) − εz), Δ = {change} "
        "(Balle & Wang 2018)."
    )


def constants(results: Results, epsilon: float, theorem: str = "") -> str:
    experiment, setting = results.experiment, results.setting(epsilon)
    return (
        f"Public row bound B = {results.truth.bound:.4g}; λ_k/B² = "
        f"{setting.eigenvalues[experiment.k - 1]:.4g}, λ_k+1/B² = {setting.eigenvalues[experiment.k]:.4g}; "
        f"seed {experiment.seed}; δ = {text.number(experiment.delta)}; "
        f"{theorem or f'τ = {setting.tau:g}, C1 = C2 = 1'} (the paper names no values)."
    )


def how_measured(results: Results, runs: str = "") -> str:
    experiment = results.experiment
    population = experiment.population
    how_often = runs or f"{experiment.repeats} runs, each with its own noise"
    if isinstance(population, str):
        table = TABLES[population]
        clipped = 100 * clipped_share(population)
        return (
            f"**Simulation on a real table**, {how_often}. {table.title}: {table.source}; licence "
            f"{table.licence}. Rows are standardised and clipped to norm {table.bound:g} by constants "
            f"stored with the program. {table.provenance} The bound clips {clipped:.1f} % of the rows "
            "(*not private*: computed from the rows). Truth is PCA without privacy on the same clipped "
            "rows of all hospitals together; errors are therefore *not private* either."
        )
    many = experiment.patient_draws > 1
    draws = f", over {experiment.patient_draws} draws of patients" if many else ", over one draw of patients"
    if runs:  # a sweep draws each run's patients anew
        draws = ", and its own draw of patients"
    method = METHODS[DPS_PCA]
    few = "is one run" if results.sweep_repeats == 1 else f"are {results.sweep_repeats} runs"
    scaled = any(METHODS[name].scaling == "unit" for name in results.live_methods)  # of the live methods
    drawn = (
        "Second moments are drawn from their exact (Wishart) law, so n costs nothing. Rows are divided by a "
        f"public bound that all {experiment.n:,} patients respect with probability "
        f"{1 - experiment.failure:g}."
    )
    if isinstance(population, Synthetic) and population.tails is not None:
        drawn = text.heavy_rows(population.tails)
    about = text.population(population) if isinstance(population, Synthetic) else ""
    return (
        f"**Simulation**, {how_often}{draws}; {method.title} is {method.reference}, Algorithm 1, on {about}. "
        f"{drawn} Truth is the population's."
        + (_STAND_INS if scaled and rows_drawn(experiment.n, experiment.d) < experiment.n else "")
        + ("" if runs else f" At an ε not shown there {few}.")
    )
