"""Write the Python that gives the numbers of the figures of bounds."""

from collections.abc import Sequence

from dppca_core.experiments.explorer.results import Results
from pages.explore.bounds import controls
from pages.shared.charts.metric_axis import error_unit
from pages.shared.reports import python_code
from pages.shared.settings.catalogue import Settings

_HEAD = """
import numpy as np
import pandas as pd
from dppca_core.experiments.explorer.closed_forms import evaluate
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results

experiment = $experiment
results = Results(experiment)
"""
_AGAINST_EPSILON = (
    _HEAD
    + """repeats = range(results.repeats_of($method))
results.try_cells(($method, epsilon, repeat) for repeat in repeats for epsilon in EPSILONS)
runs = {e: [results.cell($method, e, repeat) for repeat in repeats] for e in EPSILONS}
errors = {e: [$error for cell in cells] for e, cells in runs.items()}
table = pd.DataFrame({e: np.quantile(values, [0.1, 0.5, 0.9]) for e, values in errors.items()}).T
for name, constants in $bounds.items():
    sine = np.array([evaluate(results, name, e, tau=$tau, **constants).final for e in EPSILONS], float)
    table[name] = $bound
print(table)
"""
)
_CHANCES = (
    _HEAD.replace("import evaluate", "import evaluate, found_all")
    + """repeats = range($repeats)
complete = [found_all(results.cell($method, e, repeat) for repeat in repeats) for e in EPSILONS]
bounds = [evaluate(results, $rule, e, tau=$tau, **$constants) for e in EPSILONS]
chances = [bound.quantities.get("support_probability") for bound in bounds]
table = pd.DataFrame({"share of runs": np.array(complete) / len(repeats), "predicted": chances}, EPSILONS)
print(table)
"""
)
_TERMS = """
import numpy as np
import pandas as pd
from dppca_core.experiments.explorer.closed_forms import evaluate
from dppca_core.experiments.explorer.results import Results

experiment = $experiment
results, epsilon = Results(experiment), $epsilon
bound = evaluate(results, "ge2018", epsilon, tau=$tau, **$constants)
runs = [results.cell("dps_pca", epsilon, repeat).sin for repeat in range(experiment.repeats)]
table = pd.DataFrame(np.quantile(runs, [0.1, 0.5, 0.9], axis=0).T, columns=["10 %", "50 %", "90 %"])
for term in bound.terms:  # sampling, privacy and optimisation, which add up; from the first round on
    table[term] = [np.nan, *np.broadcast_to(bound.terms[term], len(table) - 1)]
print(table)  # by round, in sin Theta
"""
_REGIMES = """
import pandas as pd
from dppca_core.bounds.regimes import REGIONS
from dppca_core.experiments.explorer.regime_map import regime_map
from dppca_core.experiments.explorer.results import Results

experiment = $experiment
regions = regime_map(Results(experiment), $by, $tau, **$constants)
print(dict(enumerate(REGIONS)))
table = pd.DataFrame(regions.codes, regions.epsilons, regions.patients)
print(table)
"""
_FIGURE_2 = """
import numpy as np
import pandas as pd
from dppca_core.bounds import ge_figure2

epsilons = np.linspace(*ge_figure2.EPSILONS, 60)
table = pd.DataFrame(ge_figure2.curves(epsilons), index=epsilons)
print(table)
"""


def against_epsilon(results: Results, names: Sequence[str], settings: Settings) -> str:
    """Return the code of the measured error and the bounds against epsilon."""
    bounds = {name: dict(controls.constants(settings, name)) for name in names}
    values = {"experiment": results.experiment, "method": settings["of"], "tau": settings["tau"]}
    metric, k = error_unit(settings), results.experiment.k
    # The largest angle of a bound follows from sin Theta for one component alone.
    angle = "np.degrees(np.arcsin(np.minimum(sine, 1)))" if k == 1 else "np.nan"
    measured = python_code.error(metric, "cell.sin[-1]", "cell.angle[-1]", k=str(k))
    template = _AGAINST_EPSILON.replace("$error", measured)
    template = template.replace("$bound\n", python_code.error(metric, "sine", angle, k=str(k)) + "\n")
    return python_code.program(template, bounds=bounds, **values)


def chances(results: Results, rule: str, settings: Settings) -> str:
    """Return the code of how often all true rows are recovered; `rule` is the method's closed form."""
    values = {"experiment": results.experiment, "method": settings["of"], "tau": settings["tau"]}
    values |= {"rule": rule, "constants": dict(controls.constants(settings, rule))}
    return python_code.program(_CHANCES, repeats=results.experiment.repeats, **values)


def terms(results: Results, settings: Settings) -> str:
    """Return the code of Theorem 4.3 term by term, beside the measured trajectory."""
    values = {"constants": dict(controls.constants(settings, "ge2018")), "tau": settings["tau"]}
    values |= {"experiment": results.experiment, "epsilon": settings["epsilon"]}
    return python_code.program(_TERMS, **values)


def regimes(results: Results, constants: tuple[tuple[str, float], ...], settings: Settings) -> str:
    """Return the code of the map of what dominates where."""
    values = {"by": settings["map"], "tau": settings["tau"], "constants": dict(constants)}
    return python_code.program(_REGIMES, experiment=results.experiment, **values)


def figure_2() -> str:
    return python_code.program(_FIGURE_2)
