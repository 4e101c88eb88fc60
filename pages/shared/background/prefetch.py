"""Measure ahead the settings that are one press of a slider away.

They are measured as far as a first view needs, and their figures built, while the visitor looks at the
screen. The browser fetches those figures (prefetch.js), so that a press is answered at once; the server's own
answer, which follows, draws the same. Fetching itself measures nothing.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, Protocol
from urllib.parse import urlencode

from dppca_core.experiments.explorer.results import MANY_FEATURES
from pages.shared.background import cache, engine, sessions
from pages.shared.charts import explorer_summary
from pages.shared.settings.catalogue import CHOICES, Settings, fixed, reconcile, sizes, to_link

SLIDERS = ("providers", "n", "k", "s", "d", "delta", "s_hat")  # epsilon is answered in the browser
Move = tuple[str, int]  # a slider, and the number of options that it was moved by last
_BYTES = 2**16  # of a figure of one epsilon, at most


class View(Protocol):
    """Stand for a page at some settings: `first` measures in steps what `payload`, its figure, needs.

    `first` leaves out of `first_cells` what takes long. `next_after` names what is measured into `results`
    once the page is complete.
    """

    results: engine.Cells

    def first(self) -> Iterator[None]: ...
    def first_cells(self) -> Iterator[tuple[Any, ...]]: ...
    def next_after(self) -> tuple[Any, ...] | None: ...
    def payload(self) -> dict[str, Any]: ...


def begin(now: Settings, move: Move | None, view: Callable[[Settings], View]) -> None:
    """Have the engine measure each `view` one press away, first the one that repeats the last move.

    They wait until the screen is complete. Only where that takes longer than a visitor looks, the one that
    repeats the last move comes first.
    """
    following, *others = one_press_away(now, move).values()
    waits = sizes(now)[1] < MANY_FEATURES
    urgent = iter(()) if waits or not move or move[0] not in SLIDERS else measure(following, view)
    screen = view(now)
    after = engine.engine().missing_cells(screen.results, screen.next_after, engine.PATIENCE_SECONDS)
    ahead = (measure(settings, view) for settings in others)
    other = chain(measure(following, view), after, chain.from_iterable(ahead))
    engine.engine().prefetch(sessions.visitor(), urgent, other)


def one_press_away(now: Settings, move: Move | None) -> dict[Move, Settings]:
    """Return the settings after each press: of the slider moved last, onwards and back, then of others."""
    key, last_step = move or (SLIDERS[0], 1)  # a slider, and the options by which it moved
    onwards = 1 if last_step > 0 else -1
    moves = [(key, onwards), (key, -onwards), *((name, step) for name in SLIDERS for step in (1, -1))]
    movable = [name for name in SLIDERS if name not in fixed(now)]
    settings_by_move = {}
    for name, step in dict.fromkeys(moves):
        options = CHOICES[name].options
        index = options.index(now[name]) + step
        if name in movable and 0 <= index < len(options):
            settings_by_move[name, step] = reconcile(now | {name: options[index]}, (name,))[0]
    return settings_by_move


def measure(settings: Settings, view: Callable[[Settings], View]) -> engine.Steps:
    """Measure what a first view of these settings needs, in steps, and build its figure at the end."""
    page = view(settings)
    yield from page.first()
    wanted = list(page.first_cells())
    missing = partial(page.results.first_missing, wanted)
    yield from engine.engine().missing_cells(page.results, missing, engine.PATIENCE_SECONDS)
    if missing() is not None:  # it takes too long for a look ahead
        return
    # Of the frames, one for each epsilon, only that of the epsilon on screen is kept.
    cache.CELLS.put(_key(settings), explorer_summary.at_active(page.payload()), _BYTES)
    yield None


def ready(now: Settings) -> dict[str, Any]:
    """Return the figures measured so far for settings one press away, as prefetch.js takes them.

    "near" has them by slider and option's index, "here" the sliders' indices now, "known" their number, and
    "all" the number that there may be.
    """
    away = one_press_away(now, move=None)
    figures: dict[str, Any] = {}
    for (key, _), settings in away.items():
        figure = cache.CELLS.peek(_key(settings))
        if figure is not None:
            figures.setdefault(key, {})[CHOICES[key].options.index(settings[key])] = figure
    here = {key: CHOICES[key].options.index(now[key]) for key in figures}
    return {"near": figures, "here": here, "known": sum(map(len, figures.values())), "all": len(away)}


def link(now: Settings) -> dict[str, str]:
    """Return what makes the browser fetch figures for these settings; empty where many visitors look."""
    return {"near": urlencode(to_link(now))} if engine.engine().prefetches() else {}


def _key(settings: Settings) -> tuple[Any, ...]:
    return "next press", *(settings[key] for key in CHOICES if key in settings)
