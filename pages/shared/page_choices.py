"""Controls of one page alone: what it draws, of which method, with which constants. No Streamlit here.

Presets leave them as they are; the sidebar does not show them.
"""

from __future__ import annotations

from collections.abc import Mapping

from dppca_core import clinical, standardisation
from dppca_core.audited.planted import METHODS_ATTACKED
from dppca_core.bounds import BOUNDS
from dppca_core.experiments.alliances import MOST_HOSPITALS
from dppca_core.experiments.joining import STRENGTHS
from dppca_core.experiments.papers import FIGURES
from dppca_core.experiments.scene import EPSILONS
from dppca_core.experiments.seen import CARRIED
from dppca_core.experiments.site_recipe import HEART, SYNTHETIC
from dppca_core.experiments.ways import TRUSTS
from dppca_core.methods import METHODS
from dppca_core.private_release import OFFERED
from pages.shared.choice import Choice, Sizes
from pages.shared.plan_choices import of_planner
from pages.shared.story_choices import of_story
from pages.shared.text import JOIN_TITLES, JOIN_WAYS

SIN_BOUNDS = tuple(name for name, rule in BOUNDS.items() if rule.measure == "sin")
_FIRST_BOUNDS = ("ge2018", "dps_prediction", "sparse_minimax")


def _around(default: float) -> tuple[float, ...]:
    """1, 2, 5 in every decade from 10^-4 to 10^4, and the default."""
    steps = {float(f"{m}e{p}") for p in range(-4, 4) for m in (1, 2, 5)}
    return tuple(sorted(steps | {1e4, default}))


def _of_bounds() -> list[Choice]:
    """The bounds page's own controls: what is measured, what is drawn, and every free constant."""
    titles = {name: method.title for name, method in METHODS.items()}
    regions = {"closed form": "by the closed form", "theorem": "by Theorem 4.3"}
    own = [
        Choice("of", "Method measured", "Method measured", tuple(METHODS), "dps_pca", titles),
        Choice("map", "Regions", "Regions", tuple(regions), "closed form", regions),
        Choice("figure2", *("Draw Figure 2 of Ge et al.",) * 2, (False, True), False),
        Choice("tau", "Theorem 4.3's τ", "Theorem's slack", (1.0, 2.0, 2.5, 3.0, 3.3, 4.0, 5.0, 6.0), 3.3),
    ]
    for name in SIN_BOUNDS:
        title = BOUNDS[name].title
        own.append(Choice(f"show.{name}", title, title, (False, True), name in _FIRST_BOUNDS))
        for constant, default in BOUNDS[name].constants.items():
            symbol = BOUNDS[name].symbols[constant]
            own.append(Choice(f"{name}.{constant}", symbol, symbol, _around(float(default)), float(default)))
    return own


def _of_papers() -> list[Choice]:
    """The papers page's own controls: which figure, and which of its runs."""
    titles = {key: f"{figure.paper.rsplit(',', 1)[0]} · {figure.title}" for key, figure in FIGURES.items()}
    most = max(len(figure.runs) for figure in FIGURES.values())
    return [
        Choice("figure", "Figure or table", "Figure or table", tuple(titles), next(iter(titles)), titles),
        Choice("run", "Run", "Run", tuple(range(most)), 0),
    ]


_FIRST_METHODS = (
    *("dps_pca", "dpdis_pca", "analyze_gauss", "analyze_gauss_sparse", "cape"),
    *("ldp_pca", "pca"),
)
# What the methods page varies, by the word in links ("N" would read as "n" there), and its control.
SWEEPS = {key: key for key in ("eps", "delta", "n", "d", "k", "s")} | {"hospitals": "N"}
PANELS = {
    "error": "Error",
    "time": "Time per fit",
    "bytes": "Bytes sent",
    "needed": "Patients needed",
    "frontier": "Privacy against error",
}


def _of_comparison(shared: Mapping[str, Choice]) -> list[Choice]:
    """The methods page's own controls: which methods, what is swept, what is drawn."""
    titles = {name: method.title for name, method in METHODS.items()}
    over = {word: shared[key].label for word, key in SWEEPS.items()}
    targets = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
    used = [
        Choice(f"use.{name}", title, title, (False, True), name in _FIRST_METHODS)
        for name, title in titles.items()
    ]
    return [
        *used,
        Choice("compare.over", "Swept", "What is varied", tuple(SWEEPS), "eps", over),
        Choice("compare.panel", "Shown", "Shown", tuple(PANELS), "error", PANELS),
        Choice("compare.target", "Error wanted", "Error wanted", targets, 0.1),
        Choice("compare.release", "One release of", "One release of", tuple(METHODS), "dps_pca", titles),
        Choice("compare.at", "at ε", "at the privacy setting", EPSILONS, 1.0),
    ]


FAMILIES = ("eps", "delta", "n", "N", "d", "k", "s", "shat", "T")


def _of_rounds(shared: Mapping[str, Choice]) -> list[Choice]:
    """The convergence page's own controls. A method with a number of iterations keeps all its iterates."""
    titles = {name: method.title for name, method in METHODS.items() if "iterations" in method.uses}
    names = {key: shared[key].label for key in FAMILIES}
    plain = {key: shared[key].plain for key in FAMILIES}
    layouts = {"overlay": "one chart", "multiples": "side by side"}
    return [
        Choice("family", "Trajectories over", "Compare", FAMILIES, "eps", names, plain_words=plain),
        Choice("traced", "Method traced", "Method", tuple(titles), "dps_pca", titles),
        Choice("layout", "Layout", "Layout", tuple(layouts), "overlay", layouts),
    ]


SITE_METHODS = ("dpdis_pca", "federated_projector", "dps_pca", "analyze_gauss_sparse")
KIND_TITLES = {
    "public": "one public range for all",
    "own-ranges": "each laboratory's printed ranges",
    "pooled": "all patients' means and spreads",
    "within-site": "each hospital's means and spreads",
}


def _of_differences() -> list[Choice]:
    """The controls of the page on hospitals that differ."""
    data = {SYNTHETIC: "Synthetic clinical cohort", HEART: "Heart disease, four real hospitals"}
    titles = {name: METHODS[name].title for name in SITE_METHODS}
    differ = {"all": "all of these", **{name: f"{name} only" for name in clinical.DIFFERENCES}}
    against = {"own": "its own patients' directions", "common": "the directions common to all"}
    shares = (0.05, 0.1, 0.2, 0.3, 0.5)
    shown = {share: f"{100 * share:g} %" for share in shares}
    levels = {0.0: "0 (none)", **{level: f"{level:g}" for level in STRENGTHS[1:]}}
    kinds = {kind: KIND_TITLES[kind] for kind in standardisation.KINDS}
    return [
        Choice("sites.data", "Patients", "Patients", tuple(data), SYNTHETIC, data),
        Choice("sites.strength", "Site effects", "How much hospitals differ", STRENGTHS, 1.0, levels),
        Choice(
            "sites.differ", "In what hospitals differ", "In what they differ", tuple(differ), "all", differ
        ),
        Choice("sites.kind", "Standardised by", "Standardised by", tuple(kinds), "own-ranges", kinds),
        Choice("sites.method", "Method", "Method", SITE_METHODS, "dpdis_pca", titles),
        Choice(
            *(
                "sites.share",
                "Budget for means and spreads",
                "Privacy for means and spreads",
            ),
            shares,
            0.2,
            shown,
        ),
        Choice("sites.against", "Measured against", "Measured against", tuple(against), "own", against),
    ]


_RANKS = (*range(1, 21), 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000, 2000)


def _of_hospitals() -> list[Choice]:
    """The providers page's own controls: hospitals' sizes, what DPdisPCA sends, who is compared."""
    trusts = {"all": "everybody", **{trust: JOIN_TITLES[trust] for trust in TRUSTS}}
    sizes = {"": "those of the sliders"}
    panels = {
        "gain": "Joining or alone",
        "travel": "What travels",
        "rounds": "Round by round",
        "sees": "What the server sees",
        "pair": "Two who compare messages",
    }
    sources = {
        "simulated": "simulated here",
        "stored": "a stored run over a network",
        "own": "a record of your own",
    }
    hospitals = tuple(range(1, MOST_HOSPITALS + 1))
    return [
        Choice("join.panel", "Shown", "Shown", tuple(panels), "gain", panels),
        Sizes("join.sizes", "Hospitals' sizes", "Hospitals' sizes", ("",), "", sizes),
        Choice("join.rank", "R, directions DPdisPCA sends", "Directions DPdisPCA sends", _RANKS, 10),
        Choice("join.source", "Run", "Run", tuple(sources), "simulated", sources),
        Choice("join.way", "Way", "Way", CARRIED, "dps_pca", JOIN_WAYS),
        Choice("join.hospital", "Hospital", "Hospital", hospitals, 1),
        Choice("join.other", "and hospital", "and hospital", hospitals, 2),
        Choice("join.round", "Round", "Round", tuple(range(1, 51)), 50),  # one beyond the last is the last
        Choice("join.trust", "Compared", "Compared", tuple(trusts), "all", trusts),
    ]


RATIOS = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_CHANCES = tuple(10.0**-power for power in range(12, 3, -1))
SLICES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def _of_own_table(shared: Mapping[str, Choice]) -> list[Choice]:
    """Settings of a person's own table: what a release asks for, never what the table holds."""
    titles = {name: METHODS[name].title for name in OFFERED}
    encodings = {"utf-8": "UTF-8", "windows-1252": "Windows-1252"}

    def like(key: str, default: float | int, label: str = "", plain: str = "") -> Choice:
        same = shared[key]
        words = (label or same.label, plain or same.plain)
        return Choice(f"own.{key}", *words, same.options, default, help=same.help)

    return [
        Choice("own.encoding", "Text encoding", "Text encoding", tuple(encodings), "utf-8", encodings),
        Choice(
            *("own.N", "Number of hospitals", "Number of hospitals", shared["N"].options, 1),
            help="1: all patients in one place. More: patients are dealt at random, to rehearse DPS-PCA or "
            "DPdisPCA.",
        ),
        Choice("own.method", "Method", "Method", OFFERED, "analyze_gauss", titles),
        like("eps", 0.5),
        Choice("own.delta", "Failure chance δ", shared["delta"].plain, _CHANCES, 1e-6),
        like("k", 2),
        like("shat", 10),
        Choice(
            "own.rank", "R, directions that each hospital sends", "Directions sent", tuple(range(1, 51)), 5
        ),
        like("T", 4),
        like("burn", 2),
        like("s", 10, "Columns that matter s, your guess", "Measurements that matter, your guess"),
        Choice(
            *("own.ratio", "Spike against bulk, your guess", "Pattern against background, your guess"),
            *(RATIOS, 10.0, {ratio: f"{ratio:g} to 1" for ratio in RATIOS}),
        ),
        Choice("own.slice", "Slice ε of the budget", "Slice of the privacy budget", SLICES, 0.05),
        Choice("own.shown", *("Show what only you may see (not private)",) * 2, (False, True), False),
    ]


FALSE_ALARMS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
NO_BUG = "none"


def _of_privacy() -> list[Choice]:
    """The privacy page's own controls: what is attacked, how, how often, and what is broken."""
    titles = {name: METHODS[name].title for name in METHODS_ATTACKED}
    shares = {share: f"{100 * share:g} %" for share in FALSE_ALARMS}
    bugs = {
        NO_BUG: "none",
        "half": "noise half as large",
        "sensitivity": "sensitivity 1 for √2",
        "shared": "one noise for two hospitals",
        "unclipped": "a record three times too long",
    }
    plainly = bugs | {"sensitivity": "one patient's influence underrated"}
    draws = (1000, 5000, 20_000)
    return [
        Choice("attack.method", "Messages of", "Messages of", METHODS_ATTACKED, "dps_pca", titles),
        Choice(
            *("attack.alarms", "False alarms accepted", "False alarms the attacker accepts"),
            *(FALSE_ALARMS, 0.2, shares),
        ),
        Choice("attack.draws", "Releases drawn", "Releases drawn", draws, 5000),
        Choice("audit.bug", "Planted bug", "Mistake planted", tuple(bugs), NO_BUG, bugs, plain_words=plainly),
    ]


def of_pages(shared: Mapping[str, Choice]) -> dict[str, Choice]:
    """All of them by key; some are named after the shared controls."""
    own = [*_of_bounds(), *_of_papers(), *_of_comparison(shared), *_of_rounds(shared)]
    own += [
        *_of_hospitals(),
        *_of_differences(),
        *_of_own_table(shared),
        *_of_privacy(),
        *of_planner(),
        *of_story(),
    ]
    return {choice.key: choice for choice in own}
