"""Test plain view: what a board never reads, and that its numbers are the analyst's."""

import json
import re
from typing import Any

import numpy as np
import pytest

from dppca_core.experiments import no_privacy
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.experiments.verdicts import gain
from dppca_core.methods import METHODS
from pages.explore.explorer import document
from pages.explore.explorer.model import Explorer, PlainExplorer
from pages.hospitals.providers.model import compared as providers_model
from pages.hospitals.providers.model.decision import JoiningBoard
from pages.shared import text
from pages.shared.plain import phrases, share_bars
from pages.shared.settings import catalogue
from tests.pages.conftest import Screen
from tests.pages.quiet import unmeasured, without_engine  # noqa: F401

FRONT = "explore/explorer/page.py"
# A page in plain view, and what its link says; add yours.
PLAIN = {
    "explorer": (FRONT, {}),
    "explorer, a table": (FRONT, {"data": "breast_cancer"}),
    "providers": ("hospitals/providers/page.py", {"share": "0.6"}),
    "planner": ("hospitals/planner/page.py", {}),
    "planner, a table": ("hospitals/planner/page.py", {"data": "breast_cancer"}),
    "hospitals that differ": ("hospitals/providers/page.py", {"sites.data": "clinical"}),
    "real hospitals": ("hospitals/providers/page.py", {"sites.data": "heart"}),
}
SMALL = {"d": "20", "n": "2000", "k": "2", "s": "5", "shat": "10", "N": "3"}
SETTINGS = catalogue.defaults_with(
    {"view": "plain", "d": 20, "n": 2000, "k": 2, "s": 5, "s_hat": 10, "providers": 3, "repeats": 3}
)
STATISTICIANS = {
    *(f"explore/{name}/page.py" for name in ("convergence", "bounds", "methods")),
    "learn/papers/page.py",
    "hospitals/who_sees_what/page.py",
}
_NAMES = {method.title for method in METHODS.values()} | set(METHODS) - {"full"}
_NEVER = re.compile(
    r"†|‡|[δσλγτΘŝ]|(?<!privacy loss )ε|"
    r"[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]|\d[eE][-+]?\d|\bsin\b|\bseeds?\b|\brounds?\b|\bPCA\b|\b(numpy|Python)\b",
    re.IGNORECASE,
)


def words_of(figure: dict[str, Any]) -> list[str]:
    layout = figure["layout"]
    axes = [axis for name, axis in layout.items() if re.match("[xy]axis", name)]
    entries = [entry for entry in figure.get("words", ()) if entry]
    keys = ("sentence", "alt_text", "odds", "notes", "theorem", "printed", "at")
    moved = [trace for frame in figure["frames"] if frame for trace in frame["traces"].values()]
    return [
        *(str(entry.get(key) or "") for entry in entries for key in keys),
        *(str(part) for axis in axes for part in (axis["title"]["text"], *axis.get("ticktext", ()))),
        *(str(trace.get(key, "")) for trace in (*figure["data"], *moved) for key in ("name", "texttemplate")),
        *(str(label) for label, *_ in figure.get("legend", ())),
        *map(str, (*figure.get("tiles", ()), *layout["meta"]["titles"], figure.get("scrub", ""))),
        *map(str, (figure["alt_text"], figure.get("progress", ""))),
    ]


def visible(page: Screen) -> str:
    """Return all that a page in plain view shows outside of its folds and menus, one piece a line."""
    app, parts = page.app, []
    for kind in ("title", "header", "markdown", "caption", "info", "warning", "error", "button", "checkbox"):
        parts += [str(getattr(box, "value", "")) for box in getattr(app, kind)]
        parts += [str(getattr(box, "label", "")) for box in getattr(app, kind)]
    for widget in (*app.select_slider, *app.selectbox):
        parts += [widget.label, *map(str, widget.options)]
    for table in app.table:
        parts.append(table.value.to_csv(index=False))
    for component in app.get("bidi_component"):
        payload = json.loads(component.proto.json)
        if "layout" in payload:
            parts += words_of(payload)
    # Markdown's emphasis is no asterisk that is seen.
    return "\n".join(re.sub(r"<[^>]*>", "", text.unmarked(part)) for part in parts)


def unreadable(shown: str) -> list[str]:
    marks = [match[0] for match in _NEVER.finditer(shown)] + (["*"] if "*" in shown else [])
    return sorted(
        {*marks, *(name for name in _NAMES if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", shown))}
    )


def long_sentences(shown: str, most: int = 20) -> list[str]:
    sentences = re.split(r"(?<=[.?!:;])\s+|\n", shown)
    return [each for each in sentences if len(re.findall(r"[^\s%]+", each)) > most]


@pytest.fixture(params=PLAIN, ids=str)
def board(request, screen, patient) -> Screen:
    path, link = PLAIN[request.param]
    return screen(path, view="plain", **SMALL | link)


def test_a_board_reads_no_names_marks_powers_or_symbols(board):
    assert unreadable(visible(board)) == []
    assert phrases.FOLD in [fold.label for fold in board.app.expander]


def test_the_headline_and_all_else_come_in_short_sentences(board):
    markdown = "\n".join(box.value for box in (*board.app.markdown, *board.app.caption))
    figures = [json.loads(each.proto.json) for each in board.app.get("bidi_component")]
    entries = [figure["words"][figure["active"]] for figure in figures if figure.get("words")]
    spoken = [entry[key] for entry in entries for key in ("sentence", "odds", "notes")]
    assert long_sentences("\n".join([markdown, *spoken])) == []


@pytest.mark.parametrize(
    "shown",
    ["DPS-PCA errs", "with seed 3", "1e-06", "‖sin Θ‖", "after 5 rounds", "Ours †", "best*", "two_stage"],
)
def test_the_check_finds_what_a_board_should_not_read(shown):
    assert unreadable(shown) and not unreadable("Around the background, 98.8 % since then.")


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("path", sorted(STATISTICIANS))
def test_a_page_for_statisticians_has_one_view_and_leaves_the_other_chosen(screen, path):
    page = screen(path, view="plain", **SMALL)
    assert "Detail" not in [control.label for control in page.app.get("button_group")]
    assert page.app.session_state["settings of the last run"]["view"] == "full"
    assert page.app.session_state["settings that the visitor asked for"].settings["view"] == "plain"


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("path", sorted({path for path, _ in PLAIN.values()} | STATISTICIANS))
def test_trust_is_chosen_where_it_makes_a_difference(screen, path):
    without = {"convergence", "bounds", "privacy", "papers", "story", "your_data", "who_sees_what"}
    shown = [box.key for box in screen(path, view="plain", **SMALL).app.sidebar.selectbox]
    assert ("trust" in shown) == (path.split("/")[1] not in without)


@pytest.mark.usefixtures("unmeasured")
def test_a_table_leaves_no_greyed_control_that_plain_privacy_does_not_use(screen):
    page = screen("learn/privacy/page.py", view="plain", data="breast_cancer", **SMALL)
    assert [box.label for box in page.app.sidebar.text_input] == []


@pytest.mark.parametrize("trust", list(share_bars.LOOKS))
def test_a_row_is_the_analyst_s_number_for_the_same_method(trust):
    """One number in both views: the median share over the same runs, which the core computes."""
    view = PlainExplorer(SETTINGS | {"trust": trust})
    view.results.try_cells((name, view.epsilon, r) for name in view.shown for r in range(3))
    row = share_bars.shares(view.results, view.epsilon, trust).row_of_trust(trust)
    analyst = Explorer(SETTINGS | {"trust": trust, "view": "full", "metric": "share"})
    words = analyst.payload()["words"][analyst.payload()["active"]]
    recommended = trusts.recommended(view.experiment, view.epsilon, trust)
    assert analyst.experiment.method == row.method == recommended.method
    assert words["tiles"][0][0] == text.recovered(row.share)
    fresh = Results(view.experiment)
    shares = [100 * (1 - fresh.cell(row.method, view.epsilon, r).sin[-1] ** 2 / 2) for r in range(3)]
    assert row.spread == pytest.approx(np.quantile(shares, [0.1, 0.5, 0.9]))


def test_all_pages_of_one_setting_have_one_number():
    """Explorer and providers agree: its protocols, and the first runs of its decision, of which it has 40."""
    view, board = PlainExplorer(SETTINGS), JoiningBoard(SETTINGS)
    view.results.try_cells((name, view.epsilon, r) for name in view.shown for r in range(3))
    shares = share_bars.shares(view.results, view.epsilon, "untrusted server").rows
    for row in shares:
        first = board.cells.runs.together(row.trust)[:3]
        assert row.spread == pytest.approx(np.quantile(first, [0.1, 0.5, 0.9]), rel=1e-9)
    analyst = SETTINGS | {"view": "full", "metric": "share"}
    results = CollaborationResults(providers_model.to_setting(analyst)[0])
    for cell in results.wanted():
        results.try_cell(*cell)
    grouped = providers_model.rows(results, analyst)
    medians = {row.protocol.key: row.error[1] for group in grouped.values() for row in group}
    named = [row for row in shares if row.method in medians]
    assert named and [row.share for row in named] == pytest.approx([medians[row.method] for row in named])


@pytest.mark.parametrize(("patients", "free"), [(10**7, True), (2000, False)])
def test_all_pages_say_alike_where_privacy_costs_nothing(patients, free):
    """So say both views of an answer within 8 of 10 runs without privacy, or better."""
    plain = SETTINGS | {"n": patients, "trust": "central", "s_hat": 5}
    view = PlainExplorer(plain)
    view.results.try_cells((name, view.epsilon, r) for name in view.shown for r in range(3))
    shares = share_bars.shares(view.results, view.epsilon, "central")
    least = trusts.share_recovered_quantiles(view.results, NO_PRIVACY, view.epsilon)[0]
    assert (shares.row_of_trust("central").share >= least) == free
    analyst = plain | {"view": "full", "metric": "share"}
    full = Explorer(analyst).payload()
    says = [
        view.payload()["words"][full["active"]]["odds"],
        full["words"][full["active"]]["sentence"],
        share_bars.description(shares),
    ]
    assert [text.NO_COST in each for each in says] == [free] * 3


def test_what_a_statistician_sets_changes_nothing_in_plain_view():
    odd = {"accounting": "as-printed", "scaling": "largest", "start": "near", "method": "dps_pca"}
    assert PlainExplorer(SETTINGS | odd).experiment == PlainExplorer(SETTINGS).experiment


def test_without_protection_is_the_best_answer_and_a_guess_is_k_of_d():
    view = PlainExplorer(SETTINGS)
    experiment = view.experiment
    view.results.try_cells((NO_PRIVACY, view.epsilon, r) for r in range(experiment.repeats))
    shares = share_bars.shares(view.results, view.epsilon, "central")
    free = no_privacy.error(experiment.population, experiment.n, 2, repeats=experiment.repeats)
    assert shares.unprotected == pytest.approx(100 * (1 - free**2 / 2), abs=1e-3) and shares.guess == 10


def test_without_rows_the_reference_lines_are_left():
    drawn = share_bars.traces(share_bars.Shares((), unprotected=90.0, guess=5.0))
    assert [trace["name"] for trace in drawn[1:]] == ["no privacy", "a random guess"]


def test_each_privacy_loss_has_its_own_rows_in_the_browser():
    view = PlainExplorer(SETTINGS)
    view.results.try_cells((name, epsilon, 0) for name in view.shown for epsilon in (0.1, 10.0))
    payload = view.payload()
    first = len(payload["data"]) - len(share_bars.traces(share_bars.shares(view.results, 1.0, "central"), 2))
    for epsilon in (0.1, 10.0):
        moved = payload["frames"][EPSILONS.index(epsilon)]["traces"]
        shares = share_bars.shares(view.results, epsilon, SETTINGS["trust"], view.shown)
        for i, row in enumerate(shares.rows):
            assert moved[str(first + 3 * i)]["x"][1] == pytest.approx(row.share, rel=1e-3)


@pytest.mark.parametrize(
    ("joined", "alone", "verdict"),
    [(99.9, 80.0, "less"), (80.0, 99.9, "more"), (99.98, 99.95, "level"), (11.0, 10.5, "neither")],
)
def test_a_verdict_can_say_no_and_ignores_what_no_board_would_notice(joined, alone, verdict):
    pair = [
        share_bars.ShareRow("", np.array([share - 0.2, share, min(share + 0.2, 100)]), "")
        for share in (joined, alone)
    ]
    assert gain(pair[0].spread, pair[1].spread, 10.0, 2) == verdict


def test_the_report_of_a_board_has_versions_and_names_in_its_sources_alone():
    view = PlainExplorer(SETTINGS)
    view.results.try_cells(view.results.first(view.epsilon, view.shown))
    made = document.plain(view)
    lines = [made.frame().promise, made.frame().made, *made.frame().limits]
    lines += [f"{label} {value}" for label, value in made.frame().settings]
    assert unreadable("\n".join(lines)) == [] and long_sentences("\n".join(lines)) == []
    before, sources = made.html().split(f"<h2>{phrases.FOLD}</h2>")
    assert "numpy" in sources and "numpy" not in before
