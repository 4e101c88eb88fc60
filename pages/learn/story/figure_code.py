"""Write the Python that gives the numbers of each step of the story."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.learn.story import view
from pages.shared.reports import python_code

_ERRORS = """
from dataclasses import replace
import numpy as np
import pandas as pd
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import ALL
from dppca_core.numerics.subspace_metrics import largest_angles, sin_thetas

setting, rows = $setting, {}
for sizes, epsilon, repeats in $points:
    at = replace(setting, sizes=sizes, budget=replace(setting.budget, epsilon=epsilon))
    for title, methods in $methods.items():
        spreads = []
        for method in methods:
            protocol = PROTOCOLS[method]
            hospital = at.hospitals[0] if protocol.alone else ALL
            bases = np.array([at.estimate(protocol, hospital, r).basis for r in range(repeats)])
            sines, angles = sin_thetas(bases, at.truth.basis), largest_angles(bases, at.truth.basis)
            spreads.append((np.median(sines), np.quantile($error, [0.1, 0.5, 0.9])))
        rows[title, sum(sizes), epsilon] = min(spreads, key=lambda spread: spread[0])[1]  # who errs least
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
        return python_code.program(_WEIGHTS, setting=setting, method=method)
    return _errors(step, settings)


def _errors(step: int, settings: Mapping[str, Any]) -> str:
    """Return the code of a step's bars or curves, in the unit that its chart has."""
    setting, way = view.to_setting(settings), settings["story.way"]
    unit, k = view.unit(settings, setting), str(setting.k)
    shown = python_code.error(unit.metric, "sines", "angles", k=k)
    methods: dict[str, Sequence[str]] = {
        "with noise": view.working(settings, way),
        "without noise": view.OPEN,
    }
    points = view.along_privacy(settings) if step == 5 else view.along_patients(settings)
    if step in (1, 7):
        drawn = view.measure_sharing(settings) if step == 1 else view.measure_joined(settings)
        methods = {"together": view.OPEN, "alone": view.OPEN_ALONE}
        if step == 7:
            methods = {each: view.working(settings, each) for each in view.WORKING}
            methods |= {"alone, in-house": view.IN_HOUSE, "alone, published": view.PROTECTED}
        points = list(dict.fromkeys((setting, view.lone(setting))))
        parts = unit.parts(drawn.spreads)
        shown = f"{parts} * sines**2 / {k}" if parts else shown
    few = step in (5, 6)
    at = [(p.sizes, p.budget.epsilon, view.runs(p, few=few and p != setting)) for p in points]
    template = _ERRORS.replace("$error", shown)
    return python_code.program(template, setting=setting, points=at, methods=methods)
