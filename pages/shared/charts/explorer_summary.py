"""Build the front page's figure with its text for every epsilon, once for all visitors."""

import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import RUNS, Results
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import METHODS
from pages.shared.background import cache
from pages.shared.background.engine import NextCell
from pages.shared.charts import Scale, explorer, explorer_text, style
from pages.shared.charts.explorer import BoundPair
from pages.shared.settings.catalogue import Settings

Build = Callable[[Results, Settings, tuple[str, ...]], dict[str, Any]]
_NOT_DRAWN = ("epsilon", "ghost", "loadings")  # settings whose changes need no new figure
_BYTES = cache.MB  # of a view's figure, at most
_GROWN = 1.1  # while runs come, redraw when 10 % more are finished, or any at the epsilon that is shown


def payload(
    results: Results,
    epsilon: float,
    settings: Settings,
    shown: tuple[str, ...] | None = None,
    build: Build | None = None,
    next_cell: NextCell | None = None,
) -> dict[str, Any]:
    """Return everything that the component draws: figure, frames, text and the active epsilon.

    All but the active epsilon is built once for all visitors, and rebuilt when enough has been measured
    since. shown: the methods that stand side by side; all of them by default. build: makes figure and text;
    `explorer_figure` by default. next_cell: what is measured next; by default what the analyst's view needs.
    """
    beside = results.methods if shown is None else shown
    drawn = {key: value for key, value in settings.items() if key not in _NOT_DRAWN}
    next_missing = next_cell or partial(results.next_missing, epsilon, settings["slow"])
    missing = next_missing() is not None
    # Count before building: other threads go on measuring. A failed run changes the text as well.
    measured = len(results.cells) + len(results.failed)
    view = ("figure", results.experiment, tuple(drawn.values()), beside)  # whose figure is kept
    method = results.experiment.method
    runs_here = len(results.measured(method, epsilon))
    built = cache.CELLS.peek(view)
    current = built is not None and measured == built["version"]
    if built is not None and missing and measured < _GROWN * built["version"]:  # hardly more than then
        current = current or runs_here == built["runs"][epsilon]
    if built is None or not current:
        scene = f"{zlib.crc32(repr((drawn, beside)).encode()):08x}"  # identifies the settings drawn
        runs = {at: len(results.measured(method, at)) for at in EPSILONS}
        figure = (build or explorer_figure)(results, settings, beside)
        built = cache.CELLS.put(view, figure | {"scene": scene, "version": measured, "runs": runs}, _BYTES)
    sent = {name: part for name, part in built.items() if name != "runs"}
    return sent | {
        "active": EPSILONS.index(epsilon),
        "ghost": settings["ghost"],
        "follow": "epsilon",  # the page's slider, with which the browser moves through the frames
        "complete": not missing,
        "progress": f"{built['version']:,} runs measured, more coming" if missing else "",
    }


def at_active(whole: dict[str, Any]) -> dict[str, Any]:
    """Return the payload with the frame and the text of its active epsilon alone.

    "base", the numbers from which browsers make a picture's points, is left out: it is the same for all
    settings of a population's kind or a table, and the browser has it.
    """
    active = whole["active"]
    only = {
        part: [frame if at == active else None for at, frame in enumerate(whole[part])]
        for part in ("frames", "words")
    }
    return {name: part for name, part in (whole | only).items() if name != "base"}


def explorer_figure(
    results: Results, settings: Settings, beside: tuple[str, ...], drawn: Any = None
) -> dict[str, Any]:
    """Return figure, frames and text; beside: the methods compared. drawn: the picture in panel 1, if any."""
    scale = Scale(results, settings)
    bounds = [explorer.bounds_at(results, epsilon, theorem=drawn is None) for epsilon in EPSILONS]
    words = [
        explorer_text.words(results, epsilon, scale, pair, beside)
        for epsilon, pair in zip(EPSILONS, bounds, strict=True)
    ]
    if drawn:
        for epsilon, entry in zip(EPSILONS, words, strict=True):
            entry["alt_text"] = f"{entry['sentence']} {drawn.alt_text(epsilon)}".strip()
    return explorer.explorer(results, settings, bounds, beside, drawn) | {
        "scrub": "Privacy loss ε",
        "tiles": explorer_text.tile_titles(results, settings),
        "words": words,
        "legend": _legend(results, bounds if scale.bounds_drawn else [], drawn),
    }


def _legend(results: Results, bounds: list[BoundPair], drawn: Any) -> list[tuple[str, str, str, str]]:
    """Return (label, colour, dash, kind of mark) of all that is drawn; bounds: [] if the metric has none."""
    free = style.look(NO_PRIVACY)
    items = [
        *(drawn.legend if drawn else ()),
        (f"{METHODS[results.experiment.method].title}, median", style.PRIVATE, "solid", "line"),
        ("10-90 % of runs", style.faded(style.PRIVATE, 0.3), "solid", "band"),
        *([(RUNS[NO_PRIVACY].title, free.colour, free.dash, "line")] if results.has_reference else ()),
        ("random guess", style.GUESS, "dot", "line"),
    ]
    if any(prediction.applies for _, prediction in bounds):
        items.insert(-2, ("closed-form prediction", style.PRIVATE, "dash", "line"))
    if any(theorem.applies for theorem, _ in bounds):
        names = ("Theorem 4.3: sampling", "+ privacy", "+ optimisation")
        dashes = zip(names, style.THEOREM_DASHES, strict=True)
        items += [(name, style.THEOREM[0], dash, "line") for name, dash in dashes]
    return items
