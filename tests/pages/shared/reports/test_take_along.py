"""Test what is taken along of every figure: its code and its recipe give what is drawn."""

import ast
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from dppca_core.experiments import __main__ as command
from dppca_core.experiments.figure_tables import figure_recipe
from dppca_core.experiments.sweeps import recipe_file
from pages.shared.charts.traces import as_shown
from pages.shared.document import streamlit
from pages.shared.reports import number_tables, python_code, take_along
from pages.shared.settings import catalogue
from scripts.started import ROOT
from tests.pages.conftest import Screen
from tests.pages.quiet import few_points, without_engine  # noqa: F401
from tests.waiting import eventually

pytestmark = pytest.mark.usefixtures("without_engine", "few_points")

QUICK = {"d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10", "T": "3", "repeats": "1"}
# Of each page's figures the coordinate and the series that its code must give, all of their numbers.
DRAWN = {
    ("explore/explorer", "loadings=true"): {
        "live": ("y", "^Two stages, own noise"),
        "loadings figure": ("z", "true|found"),
    },
    ("explore/convergence", "repeats=2 metric=projector"): {"overlay figure": ("y", r"^ε = [\d.]+(, 10|$)")},
    ("explore/convergence", "layout=multiples traced=two_stage"): {"multiples figure": ("y", r"^ε = ")},
    ("explore/methods", "repeats=2 metric=projector"): {
        "methods figure": ("y", "PCA|Gauss|CAPE"),
        "peers figure": ("y", "PCA|Gauss"),
    },
    ("explore/explorer", "metric=degrees all=true"): {"live": ("y", "^Two stages, own noise")},
    ("explore/convergence", "metric=share"): {"overlay figure": ("y", r"^ε = [\d.]+(, 10|$)")},
    ("explore/bounds", "metric=share"): {
        "bounds figure": ("y", "PCA, |Vu & Lei"),
        "terms figure": ("", ""),
        "regime figure": ("", ""),
    },
    ("explore/methods", "compare.panel=needed"): {"needed figure": ("x", ""), "peers figure": ("", "")},
    ("explore/methods", "compare.panel=frontier"): {
        "frontier figure": ("y", "PCA|Gauss|CAPE"),
        "release figure": ("z", "true|found"),
        "peers figure": ("", ""),
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
    ("hospitals/who_sees_what", "sees.panel=rounds"): {"ring figure": ("y", "^error")},
    ("hospitals/who_sees_what", "sees.panel=rounds join.source=stored"): {"ring figure": ("y", "^error")},
    ("hospitals/who_sees_what", "sees.panel=sees"): {"sees figure": ("z", "received|without")},
    ("hospitals/who_sees_what", "sees.panel=pair"): {"pair figure": ("y", "entries")},
    ("hospitals/providers", "sites.data=heart"): {
        "standardising figure": ("x", "range|means"),
        "hospitals figure": ("x", "^alone|^joined$"),
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
    ("learn/story", "story.step=1"): {"story 1": ("x", "^share recovered")},
    ("learn/story", "story.step=2"): {"story 2": ("x", "own values|worked out")},
    ("learn/story", "story.step=3"): {"story 3": ("x", "no privacy|true")},
    ("learn/story", "story.step=4"): {"story 4": ("", "")},
    ("learn/story", "story.step=5"): {"story 5": ("y", "with privacy|no privacy")},
    ("learn/story", "story.step=6"): {"story 6": ("y", "with privacy|no privacy")},
    ("learn/story", "story.step=7"): {"story 7": ("x", "^share recovered")},
    ("learn/story", "story.step=8"): {"story 8": ("x", "with privacy|true")},
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
    columns = (table if isinstance(table, pd.DataFrame) else table.to_frame()).reset_index()
    values = columns.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float).ravel()
    return values[np.isfinite(values)]


def drawn(figure, coordinate, series):
    traces = [trace for trace in as_shown(figure)["data"] if re.search(series, str(trace.get("name")))]
    values = [np.array(trace.get(coordinate) or [], dtype=float).ravel() for trace in traces]
    return np.concatenate(values)


@pytest.mark.parametrize(("place", "figures"), DRAWN.items(), ids=[" ".join(place) for place in DRAWN])
def test_the_code_of_a_figure_gives_what_is_drawn(place, figures, monkeypatch):
    offered = menus(monkeypatch, *place)
    assert offered.keys() == figures.keys()
    for key, (coordinate, series) in figures.items():

        def wanted(key=key, coordinate=coordinate, series=series):
            values = drawn(offered[key]["figure"](), coordinate, series)
            return values[np.isfinite(values)]

        if coordinate:  # a busy machine shows a page before anything is measured: it is opened again
            assert eventually(lambda: len(wanted()) or offered.update(menus(monkeypatch, *place)))
        source, names = offered[key]["code"](), {}
        program = python_code.of_table(source)
        assert len(program.splitlines()) <= 60 and max(map(len, program.splitlines())) <= 110, program
        exec(compile(program, key, "exec"), names)
        if not coordinate:
            continue
        given = numbers(names["table"])
        read = figure_recipe.from_dict(json.loads(json.dumps(source.to_dict())))
        assert read == source  # what the command runs
        near = [np.isclose(given, value, rtol=1e-3, atol=1e-9).any() for value in wanted()]
        assert all(near), (key, wanted()[~np.array(near)])


def test_code_runs_alone_and_prints(monkeypatch):
    offered = menus(monkeypatch, "explore/explorer", "")
    program = [sys.executable, "-c", python_code.of_table(offered["live"]["code"]())]
    ran = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0 and "dps_pca" in ran.stdout, ran.stderr


@pytest.mark.parametrize(
    ("page", "key"),
    [("explore/explorer", "live"), ("explore/bounds", "bounds figure")],
    ids=["live", "bounds"],
)
def test_the_command_runs_the_recipe_to_what_is_drawn(page, key, monkeypatch, tmp_path):
    offered = menus(monkeypatch, page, "provider_noise=shared" if page == "explore/explorer" else "")
    recipe, out = tmp_path / "recipe.json", tmp_path / "runs.csv"
    recipe.write_text(json.dumps(recipe_file.to_dict(offered[key]["recipe"]())))
    assert command.main([str(recipe), "--out", str(out), "--executor", "serial"]) == 0
    runs = pd.read_csv(out).set_index("epsilon")["sin_theta"]
    figure, series = offered[key]["figure"](), "^(Two stages, own noise|DPS-PCA)(, measured)?$"
    epsilons, medians = drawn(figure, "x", series), drawn(figure, "y", series)
    assert len(epsilons) >= 7  # a page that has just been opened draws these first
    np.testing.assert_allclose(
        [runs.loc[np.isclose(runs.index, each)].item() for each in epsilons], medians, 1e-3
    )


def test_no_recipe_is_offered_that_a_sweep_cannot_run(monkeypatch):
    assert menus(monkeypatch, "explore/explorer", "start=near")["live"]["recipe"]() is None


def calls(tree, *names):
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return sum(getattr(each, "attr", getattr(each, "id", "")) in names for each in called)


def test_every_figure_has_its_menu():
    for path in (ROOT / "pages").glob("*/*/*.py"):
        text = path.read_text(encoding="utf-8")
        shown = text.count("component.figure(")
        assert shown <= calls(ast.parse(text), "menu", "_take_along"), path


def test_data_have_every_mark_with_its_arms():
    """The marks of a figure without a table of runs: lines, arms, and a heat map cell by cell.

    A cover of its cells, as that of loadings that may be noise, is no number.
    """
    line = {"name": "a<b>b</b>", "x": [1, 2, 3], "y": [0.5, None, 0.25]}
    dots = {"x": [4.0], "y": ["one"], "error_x": {"array": [0.1], "arrayminus": [0.2]}, "xaxis": "x2"}
    heat = {"z": [[1, 2], [3, 4]], "x": ["p", "q"], "y": ["r", "s"], "name": "map"}
    cover = {"z": [[1, None], [None, 1]], "x": heat["x"], "y": heat["y"], "hoverinfo": "skip"}
    titles = {"xaxis": {"title": {"text": "ε"}}, "xaxis2": {"title": {"text": "error"}}}
    table = number_tables.frame({"data": [line, dots, heat, cover], "layout": titles, "frames": []})
    assert table["series"].tolist() == ["a b", "a b", "", "map", "map", "map", "map"]
    assert table["across"].tolist()[:3] == ["ε", "ε", "error"]
    assert table["y"].tolist()[:3] == [0.5, 0.25, "one"] and table["x_below"][2] == 0.2
    assert table["value"].tolist()[3:] == [1, 2, 3, 4]


def test_the_menu_opens_and_builds_nothing_before(monkeypatch):
    built = []
    monkeypatch.setattr(take_along, "_save_buttons", lambda key, data: built.append(tuple(data.values())))
    screen = Screen("explore/explorer/page.py", **QUICK)
    assert not built and not screen.app.get("code")
    screen.app.session_state["live along"] = True
    screen.run()
    assert built == [("live", "dppca-explorer", "Explorer")]
    assert "sweep(" not in screen.app.code[0].value and "EPSILONS" in screen.app.code[0].value
    labels = [button.proto.label for button in screen.app.get("download_button")]
    assert labels[1:5] == ["Data (CSV)", "Chart (HTML)", "Recipe (JSON)", "Code (Python)"]


def test_links_have_the_address_that_the_visitor_sees(monkeypatch):
    """Behind a proxy, under another name and a path; what was in the address before is left out."""
    seen = "https://pca.hospital.example/cost/planner?eps=9#top"
    monkeypatch.setattr(type(st.context), "url", property(lambda context: seen))
    settings = catalogue.defaults() | {"epsilon": 2.0}
    there = "https://pca.hospital.example/cost/planner?preset=large-study&eps=2"
    assert streamlit.link(settings) == there
