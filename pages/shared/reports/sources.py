"""Show where the numbers come from: paper, equation, seed, versions, in an expander at a page's foot."""

import platform
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import version

import streamlit as st

from dppca_core.datasets import TABLES, clipped_share
from dppca_core.experiments.explorer.experiment import DPS_PCA  # DPS-PCA
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from dppca_core.populations.gaussian_patients import rows_drawn
from pages.shared import text
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
_TITLE = "Where this comes from"


@cache  # each version is read from a file
def versions(names: tuple[str, ...] = ("numpy", "scipy", "streamlit")) -> str:
    """Return the versions of Python and of these packages, by default of those that draw and compute."""
    return ", ".join((f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names)))


def foot(
    settings: Settings, about: Callable[[], Iterable[str]], formulas: str, note: str = "", title: str = _TITLE
) -> None:
    """Show an expander with paragraphs, the formulas, the seed and the versions.

    Args:
        settings: Of the page.
        about: Returns the paragraphs; called once the expander is open.
        formulas: How the numbers are computed.
        note: What stands after the versions.
        title: Of the expander.
    """
    expander = st.expander(title, key="origins", on_change="rerun")
    if not expander.open:
        return
    with expander:
        for paragraph in (*about(), formulas):
            st.markdown(paragraph)
        st.caption(f"Seed {settings['seed']}; {versions()}. {note}".strip())


def page(
    results: Results,
    epsilon: float,
    settings: Settings,
    *,
    measured: str = "",
    runs: str = "",
    theorem: str = "",
) -> None:
    """Show sources, seeds and limits of a page that measures `results` and shows them at this epsilon.

    Args:
        measured: How the numbers were measured, where it is not as on the front page.
        runs: How often, where it is not as on the front page.
        theorem: The constants of Theorem 4.3, where the page has sliders for them.
    """
    table = "| method | source | whom it trusts | guarantee |\n|---|---|---|---|\n" + "\n".join(
        f"| {m.title} | {m.reference} | {text.TRUST_TITLES[m.trust].lower()} | {m.guarantee} |"
        for m in METHODS.values()
    )

    def about() -> Iterator[str]:
        yield measured or how_measured(results, runs)
        yield table
        yield constants(results, epsilon, theorem)

    foot(settings, about, _FORMULAS, LIMITS)


def constants(results: Results, epsilon: float, theorem: str = "") -> str:
    """Return the constants of the formulas. theorem: those of Theorem 4.3, where others than usual."""
    experiment, setting = results.experiment, results.setting(epsilon)
    return (
        f"Public row bound B = {results.truth.bound:.4g}; λ_k/B² = "
        f"{setting.eigenvalues[experiment.k - 1]:.4g}, λ_k+1/B² = {setting.eigenvalues[experiment.k]:.4g}; "
        f"seed {experiment.seed}; δ = {text.number(experiment.delta)}; "
        f"{theorem or f'τ = {setting.tau:g}, C1 = C2 = 1'} (the paper names no values)."
    )


def how_measured(results: Results, runs: str = "") -> str:
    """Return on what data and how often the numbers are simulated, as Markdown."""
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
    return (
        f"**Simulation**, {how_often}{draws}; {method.title} is {method.reference}, Algorithm 1, on the "
        "population of its section 5: k equal spikes on s features, the other eigenvalues uniform. Second "
        "moments are drawn from their exact (Wishart) law, so n costs nothing. Rows are divided by a "
        f"public bound that all {experiment.n:,} patients respect with probability "
        f"{1 - experiment.failure:g}. Truth is the population's."
        + (_STAND_INS if scaled and rows_drawn(experiment.n, experiment.d) < experiment.n else "")
        + ("" if runs else f" At an ε not shown there {few}.")
    )
