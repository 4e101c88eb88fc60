"""Test what is taken along of every figure: its code and its recipe give what is drawn, and data leave whole."""

import re

import numpy as np
import pandas as pd
import pytest

from pages.shared.charts.traces import frozen
from pages.shared.reports import take_along
from tests.pages.conftest import Screen

QUICK = {"d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10", "T": "3", "repeats": "1"}
# Of each page's figures the coordinate and the series that its code must give, all of their numbers.
DRAWN = {
    ("explore/explorer", "loadings=true"): {
        "live": ("y", "^DPS-PCA"),
        "loadings figure": ("z", "true|found"),
    },
    ("explore/convergence", "repeats=2 metric=projector"): {"overlay figure": ("y", r"^ε = [\d.]+(, 10|$)")},
    ("explore/convergence", "layout=multiples traced=two_stage"): {"multiples figure": ("y", r"^ε = ")},
    ("explore/methods", "repeats=2 metric=projector"): {
        "methods figure": ("y", "PCA|Gauss|CAPE"),
        "peers figure": ("y", "PCA|Gauss"),
    },
    ("explore/methods", "compare.panel=needed"): {"needed figure": ("x", "")},
    ("explore/methods", "compare.panel=frontier"): {
        "frontier figure": ("y", "PCA|Gauss|CAPE"),
        "release figure": ("z", "true|found"),
    },
    ("explore/bounds", "of=two_stage figure2=true"): {
        "bounds figure": ("y", "PCA, |stages$|two stages|DPS-PCA$|Vu & Lei"),
        "chances figure": ("y", "chance|share"),
        "terms figure": ("y", "measured"),
        "regime figure": ("z", "None"),
        "figure 2": ("y", "overall|sampling|privacy|optim"),
    },
    ("hospitals/providers", ""): {"joining figure": ("x", "error|captured")},
    ("hospitals/providers", "join.panel=travel"): {"bytes figure": ("x", "sent|both")},
    ("hospitals/providers", "join.panel=rounds"): {"ring figure": ("y", "^error")},
    ("hospitals/providers", "join.panel=rounds join.source=stored"): {"ring figure": ("y", "^error")},
    ("hospitals/providers", "join.panel=sees"): {"sees figure": ("z", "received|without")},
    ("hospitals/providers", "join.panel=pair"): {"pair figure": ("y", "entries")},
    ("hospitals/differences", "sites.data=heart"): {
        "standardising figure": ("x", "range|means"),
        "joining figure": ("x", "^alone|^joined$"),
        "missing figure": ("z", "None"),
    },
    ("hospitals/planner", "plan.trust=central"): {"plan figure": ("y", "Gauss|power|PPCA|Two-stage")},
    ("learn/privacy", ""): {
        "releases figure": ("x", "^read"),
        "readings figure": ("", ""),  # it has the draws' histogram
        "errors figure": ("y", "chosen|measured"),
        "failure figure": ("y", "expected"),
        "noise figure": ("y", "printed|omposition|CDP|Exact"),
        "charged figure": ("y", "printed|omposition|CDP|Exact"),
        "audit figure": ("x", "None"),
    },
    **{
        ("learn/story", f"story.step={step}"): {f"story {step}": ("x", "PCA|together|alone")} for step in (1,)
    },
    ("learn/story", "story.step=2"): {"story 2": ("x", "own values|worked out")},
    ("learn/story", "story.step=3"): {"story 3": ("x", "found|true")},
    ("learn/story", "story.step=4"): {"story 4": ("x", "never")},
    ("learn/story", "story.step=5"): {"story 5": ("y", "with noise|without")},
    ("learn/story", "story.step=6"): {"story 6": ("y", "with noise|without")},
    ("learn/story", "story.step=7"): {"story 7": ("x", "alone|place|sum|own noise")},
    ("learn/story", "story.step=8"): {"story 8": ("x", "with noise|true")},
    ("learn/papers", "figure=ge-2"): {"paper figure": ("y", "^(overall|sampling|privacy|optimisation)$")},
    ("learn/papers", "figure=ge-3a"): {"paper figure": ("y", r"^ε = [\d.]+$")},
}


def menus(monkeypatch, page, link):
    """Open a page, and return what its menus offer, by their figure's key, once all sweeps have ended."""
    offered = {}

    def keep(key, name, title, figure, **more):
        offered[key] = {"name": name, "figure": figure} | more

    monkeypatch.setattr(take_along, "menu", keep)
    chosen = dict(pair.split("=") for pair in link.split())
    screen = Screen(f"{page}/page.py", **(QUICK | chosen))
    if "convergence" in page or "methods" in page:
        screen.settle()
    return offered


def numbers(table):
    """Return all numbers of a table, its index's too."""
    columns = (table if isinstance(table, pd.DataFrame) else table.to_frame()).reset_index()
    values = columns.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float).ravel()
    return values[np.isfinite(values)]


def drawn(figure, coordinate, series):
    """Return the numbers of a figure's series."""
    traces = [trace for trace in frozen(figure)["data"] if re.search(series, str(trace.get("name")))]
    values = [np.array(trace.get(coordinate) or [], dtype=float).ravel() for trace in traces]
    return np.concatenate(values)


@pytest.mark.parametrize(("place", "figures"), DRAWN.items(), ids=[" ".join(place) for place in DRAWN])
def test_the_code_of_a_figure_gives_what_is_drawn(place, figures, monkeypatch):
    offered = menus(monkeypatch, *place)
    assert offered.keys() == figures.keys()
    for key, (coordinate, series) in figures.items():
        program, names = offered[key]["code"](), {}
        assert len(program.splitlines()) < 40 and max(map(len, program.splitlines())) <= 110, program
        exec(compile(program, key, "exec"), names)
        if not coordinate:
            continue
        wanted = drawn(offered[key]["figure"](), coordinate, series)
        wanted = wanted[np.isfinite(wanted)]
        given = numbers(names["table"])
        assert len(wanted) > 0
        near = [np.isclose(given, value, rtol=1e-3, atol=1e-9).any() for value in wanted]
        assert all(near), (key, wanted[~np.array(near)])
