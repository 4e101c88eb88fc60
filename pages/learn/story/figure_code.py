"""Write the Python that gives the numbers of each step of the story."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.learn.story import view
from pages.shared.reports import python_code

_ERRORS = """
from dataclasses import replace
import numpy as np
import pandas as pd
from dppca_core import sin_theta
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import ALL

setting, rows = $setting, {}
for sizes, epsilon, repeats in $points:
    for title, methods in $methods.items():
        spreads = []
        for method in methods:
            spent = $free if method == $noiseless else epsilon
            at = replace(setting, sizes=sizes, budget=replace(setting.budget, epsilon=spent))
            bases = [at.estimate(PROTOCOLS[method.split()[0]], ALL, r).basis for r in range(repeats)]
            spreads.append(np.quantile([sin_theta(v, at.truth.basis) for v in bases], [0.1, 0.5, 0.9]))
        rows[title, sum(sizes), epsilon] = min(spreads, key=lambda spread: spread[1])  # who errs least
table = pd.DataFrame(rows, index=["10 %", "50 %", "90 %"]).T
print(table)
"""
_RECORD = """
import pandas as pd
from dppca_core.experiments.demonstrations import differencing

setting = $setting
totals = differencing.pair(setting.population, max(setting.sizes), $patient, setting.scaling, setting.seed)
rebuilt = totals.bound * differencing.rebuilt(totals.with_, totals.without)
table = pd.DataFrame({"patient": differencing.turned(totals.patient), "from two totals": rebuilt})
print(table)
"""
_WEIGHTS = """
import numpy as np
import pandas as pd
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import ALL

setting = $setting
basis = setting.estimate(PROTOCOLS[$method], ALL, 0).basis
weights = {"true": setting.truth.basis, "released": basis}
table = pd.DataFrame({name: np.linalg.norm(each, axis=1) for name, each in weights.items()})
print(table)
"""
_ATTACK = """
import pandas as pd
from dppca_core.experiments.demonstrations.neighbours import picture

shown = picture($budget, seed=$seed)
table = pd.DataFrame({side: [one.read for one in getattr(shown, side)] for side in ("here", "there")})
print(table.rename(columns={"here": "with the patient", "there": "without"}))
"""


def program(step: int, settings: Mapping[str, Any]) -> str:
    """Return the code of a step of the story."""
    setting, way = view.to_setting(settings), settings["story.way"]
    if step == 2:
        return python_code.program(_RECORD, setting=setting, patient=settings["story.patient"] - 1)
    if step == 4:
        seed = settings["seed"] + settings["story.draw"] - 1
        return python_code.program(_ATTACK, budget=setting.budget, seed=seed)
    if step in (3, 8):
        method = view.measure_weights(settings, way if step == 8 else "").method
        noiseless = method == view.NOISELESS
        values = {"setting": view.noiseless(setting) if noiseless else setting, "method": method.split()[0]}
        return python_code.program(_WEIGHTS, **values)
    methods: dict[str, Sequence[str]] = {"without noise": view.OPEN}
    if step == 7:
        methods = {**view.WORKING, "alone, published": view.PROTECTED, "alone, in-house": view.IN_HOUSE}
    elif step in (5, 6):
        methods["with noise"] = view.WORKING[way]
    along = {5: view.along_privacy, 6: view.along_patients}.get(step)
    points = [setting, view.largest_hospital(setting)] if along is None else along(settings)
    at = [(p.sizes, p.budget.epsilon, view.runs(p, few=along is not None and p != setting)) for p in points]
    values = {"setting": setting, "points": at, "methods": methods, "noiseless": view.NOISELESS}
    return python_code.program(_ERRORS, free=view.NO_NOISE, **values)
