"""What a visitor may ask for next: the settings that are one press of a slider away.

They are measured as far as a first look needs, and their figures built, while the visitor looks at what is on
the screen: then a press finds its answer.
"""

from collections.abc import Iterator
from itertools import chain

from dppca_core.datasets import TABLES
from pages.shared import cached, choices, readout, scenes
from pages.shared.choices import CHOICES, FIXED_BY_TABLE, Settings

SLIDERS = ("N", "n", "k", "s", "d", "delta", "shat")  # epsilon is answered in the browser
Move = tuple[str, int]  # a slider, and by how many options it was moved last


def begin(now: Settings, move: Move | None) -> None:
    """Have the worker measure what may be asked for next; the next press of the same slider comes first."""
    following, *others = one_press_away(now, move)
    first = look(following) if move and move[0] in SLIDERS else iter(())
    cached.ahead(first, chain.from_iterable(look(settings) for settings in (following, *others)))


def one_press_away(now: Settings, move: Move | None) -> list[Settings]:
    """The slider that was moved last goes on, then back, then each other slider either way."""
    key, step = move or (SLIDERS[0], 1)
    onwards = 1 if step > 0 else -1
    moves = [(key, onwards), (key, -onwards), *((name, way) for name in SLIDERS for way in (1, -1))]
    fixed = FIXED_BY_TABLE if now["data"] in TABLES else ()
    found = []
    for name, way in dict.fromkeys(moves):
        options = CHOICES[name].options
        place = options.index(now[name]) + way
        if name in SLIDERS and name not in fixed and 0 <= place < len(options):
            found.append(choices.reconcile(now | {name: options[place]}, name)[0])
    return found


def look(settings: Settings) -> Iterator[None]:
    """A first look at these settings, in steps."""
    scene, epsilon = scenes.of(settings)
    found = cached.results(scene)
    yield from found.steps(found.first(epsilon))
    readout.payload(found, epsilon, settings)
    yield
