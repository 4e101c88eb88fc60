"""Write the front page as a report: what privacy costs at one setting."""

from typing import Any

from dppca_core.bounds import BOUNDS
from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS
from dppca_core.experiments.explorer.experiment import DPS_PCA  # DPS-PCA, which `_FORMULAS` are about
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from pages.explore.explorer import text as page_text
from pages.explore.explorer.view import ExplorerView
from pages.shared import text
from pages.shared.charts import explorer_text, loadings, unit
from pages.shared.reports import html_report, phrases, sources
from pages.shared.settings import sidebar

_ERROR_DEFINITIONS = {
    "sin": "Error: ‖sin Θ‖_F, of the angles Θ between the subspaces.",
    "projector": "Error: ‖VVᵀ − WWᵀ‖_F = √2 ‖sin Θ‖_F.",
    "energy": "Captured energy: tr(VᵀΣV) over the sum of the k leading eigenvalues of Σ.",
    "share": "Share of the pattern recovered: 1 − ‖sin Θ‖²_F / k; k random directions of d recover k/d.",
    "degrees": "Largest angle: of the principal angles Θ between the subspaces, in degrees.",
}
_FORMULAS = (
    "Algorithm: K_t = Σ_i (n_i/n)(Σ̂_i Q_t + G_i/n_i), G_i ~ N(0, σ²); Q_t+1 = qr(threshold_ŝ(qr(K_t))).",
    "Closed form after a burn-in: sin² ≈ k [(s−k) + (ŝ−s) f²] [(c σ/(n λ_k))² / (1−r²) + "
    "λ_k b / (n (λ_k−b)²)], c = √N, N or 1 by noise mode, f² the mean square of the noise rows that "
    "thresholding selects, r = b/λ_k.",
)


def build(view: ExplorerView, link: str) -> html_report.Report:
    """Return all that the page shows at this epsilon, as measured so far; link: restores this screen."""
    results, epsilon, settings, payload = view.results, view.epsilon, view.settings, view.payload()
    words = payload["words"][payload["active"]]  # those that stand beside the figure at this epsilon
    tiles = [(label, *values) for label, values in zip(payload["tiles"], words["tiles"], strict=True)]
    method = METHODS[results.experiment.method]
    constants = text.unmarked(sources.constants(results, epsilon))
    formulas = [*_formulas(method.name), phrases.accounting(settings), constants]
    texts = [
        ("The method", text.unmarked(page_text.why(results.experiment, epsilon, settings["trust"]))),
        ("Two stages", page_text.two_stages(results, epsilon, settings, view.shown)),
        ("No privacy", page_text.NO_PRIVACY_IS),
    ]
    scaling = page_text.of_scaling(results, epsilon, settings["trust"])
    texts += [("The same rows for all", scaling)] if scaling else []
    numbers = f"{method.title} in four numbers"
    return html_report.Report(
        title=page_text.TITLE,
        sentence=words["sentence"],
        settings=phrases.settings_in_words(settings, (*sidebar.MAIN, *sidebar.MORE)),
        figures=_figures(view, payload),
        texts=texts,
        tables=[html_report.ReportTable(numbers, ("", "", ""), tiles)],
        guarantee=_guarantee(results, epsilon),
        limits=_limits(view, payload),
        sources=[
            text.unmarked(sources.how_measured(results)),
            *formulas,
            *phrases.methods(results.methods, results.experiment.k),
        ],
        link=link,
        made=html_report.made(results.experiment.seed),
    )


def _formulas(method: str) -> tuple[str, ...]:
    """Return a method's algorithm and the formula of its closed form, if it has one, as plain text."""
    if method == DPS_PCA:
        return _FORMULAS
    reference = f"Algorithm: {METHODS[method].title}, {METHODS[method].reference}."
    form = CLOSED_FORMS.get(method)
    return (reference, f"Closed form: {BOUNDS[form].title}, {BOUNDS[form].formula}") if form else (reference,)


def _figures(view: ExplorerView, payload: dict[str, Any]) -> list[html_report.ReportFigure]:
    """Return the page's figure at this epsilon, and the loadings of the first run unless that has failed.

    payload: what the page's own figure draws, with its words.
    """
    results, epsilon = view.results, view.epsilon
    words = payload["words"][payload["active"]]
    drawn = payload["layout"]["meta"]["picture"]
    first = "The answer as a picture, the cost" if drawn else "The cost by round,"  # what panel 1 shows
    finding = f"{words.get('spoken', words['sentence'])} {_ERROR_DEFINITIONS[unit(view.settings)]}"
    figures = [html_report.ReportFigure(payload, f"{first} by privacy loss and by method", finding)]
    method = results.experiment.method
    if (method, epsilon, 0) in results.failed:  # repeat 0 is the first run
        return figures
    share = text.percent(results.cell(method, epsilon, 0).support)
    title = "Loadings of one release, turned onto the true ones"
    features = "features with the largest true loadings"
    kept = f"it kept {share} of the {results.support_size:,} {features}."
    if results.support_size >= results.experiment.d:
        kept = "every feature is kept."
    finding = f"Left the true loadings, right those that one run found: {kept}"
    figure = loadings.loadings(results, results.estimate(method, epsilon, 0).basis)
    return [*figures, html_report.ReportFigure(figure, title, finding)]


def _guarantee(results: Results, epsilon: float) -> str:
    """Return the guarantee of the method shown, with the odds at the epsilon that its noise truly gives.

    A method calibrated as its paper prints may keep another epsilon than the one that is set.
    """
    experiment = results.experiment
    true_epsilon = explorer_text.true_epsilon(results, epsilon)
    odds = text.odds(true_epsilon, experiment.delta)
    caution = explorer_text.printed(results, epsilon, (experiment.method,))
    relation = text.RELATIONS[experiment.neighbours]
    return (
        f"{METHODS[experiment.method].title}, over all that it releases together, is asked for (ε, δ) = "
        f"({text.number(epsilon)}, {text.number(experiment.delta)}); {relation}. {odds} {caution}"
    ).strip()


def _limits(view: ExplorerView, payload: dict[str, Any]) -> list[str]:
    """Return the sentences on what the numbers do not show, such as that the patients are simulated.

    payload: what the page's own figure draws, with its words.
    """
    experiment, words = view.experiment, payload["words"][payload["active"]]
    limits = [words["theorem"], text.large_delta(experiment.delta, experiment.n), words["notes"]]
    if isinstance(experiment.population, str):  # the name of a table
        limits.append(page_text.NOT_PRIVATE)
    else:
        limits += [page_text.SIMULATED, page_text.features_lost(view.settings["s"], experiment.s_hat)]
    if experiment.start_error is not None and experiment.method == DPS_PCA:
        limits.append(page_text.starts_near(experiment.start_error))
    if not payload["complete"]:
        limits.append(f"Made while measuring went on: {payload['progress']}.")
    return [limit for limit in (*limits, page_text.REFERENCE, sources.LIMITS) if limit]
