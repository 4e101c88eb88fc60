"""Say what a screen consists of: blocks of plain values and callables. No Streamlit here.

A page's document is a generator of blocks, so that each is shown as it comes. What folds and menus hold is
made when they are opened, or for the file. Events are data. Words are Markdown, and a block without words
shows nothing but keeps its place: what stands below it is not built again when the words come.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dppca_core.experiments import Recipe
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.shared.background.engine import Cells, NextCell
from pages.shared.background.sweep_jobs import Job
from pages.shared.document import file
from pages.shared.settings.setting import Value

_LOOK_SECONDS = 0.05  # between looks whether a sweep has ended


@dataclass(frozen=True)
class Sets:
    """Say that an event, whose value is the index of an option, sets a setting to it."""

    setting: str
    options: tuple[Value, ...]

    def at(self, index: float) -> Value:
        """Return the option of an index, which the browser may send out of range."""
        return self.options[min(max(int(index), 0), len(self.options) - 1)]


@dataclass(frozen=True)
class Picks:
    """Say that a click on a point sets two settings: to the name of its trace, and to its place across."""

    name: str
    across: str


@dataclass(frozen=True)
class Headline:
    """The answer to the page's question, in a sentence."""

    sentence: str


@dataclass(frozen=True)
class Text:
    """A paragraph, list or formula."""

    words: str


@dataclass(frozen=True)
class Note:
    """A paragraph in small type: how to read what stands above it."""

    words: str


@dataclass(frozen=True)
class Notice:
    """What a reader must not overlook, such as runs that failed. warns: whether something is wrong."""

    words: str
    warns: bool = False


@dataclass(frozen=True)
class Quote:
    """Plain text to be copied, such as a paragraph for a protocol."""

    words: str


@dataclass(frozen=True)
class Section:
    """The heading of what follows."""

    title: str


@dataclass(frozen=True)
class Table:
    """A small table, whose cells may hold Markdown.

    Attributes:
        frame: The cells, under the names of their columns.
        wide: Whether it may be wider than a page: a screen scrolls and sorts it. Its cells are plain.
        name: Its key in the session's state, where its rows can be chosen.
        on_row: What each row sets when it is chosen, by the settings' keys.
    """

    frame: pd.DataFrame
    wide: bool = False
    name: str = ""
    on_row: Sequence[Mapping[str, Value]] = ()


@dataclass(frozen=True)
class Figure:
    """A figure, which brings its menu "Download" by itself.

    Attributes:
        name: Its key in the session's state.
        payload: What the browser draws: Plotly's data and layout; with frames, which a slider moves through.
        title: What stands above it in files.
        stem: The name of its files, without what follows the dot.
        alt_text: Its main finding, for those who cannot see it; frames have their own words.
        table: Returns the runs behind it; None offers the marks that are drawn.
        code: Returns what gives its numbers, as a script and for `python -m dppca_core.experiments`.
        recipe: Returns a sweep that the command can continue in place of that; None where there is none.
        on_use, on_move: What the slider through its frames sets, and the second one on a telephone.
        on_pick: What a click on a point sets.
        ahead: Whether browsers fetch what is one press of a slider away.
    """

    name: str
    payload: dict[str, Any]
    title: str
    stem: str
    alt_text: str = ""
    table: Callable[[], pd.DataFrame] | None = None
    code: Callable[[], FigureRecipe] | None = None
    recipe: Callable[[], Recipe | None] | None = None
    on_use: Sets | None = None
    on_move: Sets | None = None
    on_pick: Picks | None = None
    ahead: bool = False

    def _repr_html_(self) -> str:
        return file.frame(file.of_figure(self.payload, self.title, self.alt_text))


@dataclass(frozen=True)
class Choose:
    """A box that chooses one of some options of a setting.

    shown: the option that is; None for what was asked for, or the first where that is not possible.
    """

    setting: str
    options: tuple[Value, ...]
    shown: Value | None = None


@dataclass(frozen=True)
class Press:
    """A button that sets a setting. note: what stands beside it."""

    label: str
    setting: str
    value: Value
    note: str = ""


@dataclass(frozen=True)
class Start:
    """A button that starts a sweep in one of the visitor's slots."""

    label: str
    slot: str
    recipe: Recipe


@dataclass(frozen=True)
class Visit:
    """A button that opens another page, by its file, at the present settings but for some."""

    label: str
    page: str
    settings: Mapping[str, Value]


Control = str | Choose | Press | Start | Visit


@dataclass(frozen=True)
class Controls:
    """Controls beside each other, by the keys of their settings. They do not stand within `Live`.

    A file has none: it lists the settings. on_telephone: whether only a telephone shows them.
    """

    name: str
    controls: tuple[Control, ...]
    on_telephone: bool = False


@dataclass(frozen=True)
class Running:
    """How far a sweep has come, and the button that stops it. A file has the runs that are there.

    complete: what is shown in its place, in small type, once all runs are there.
    """

    job: Job
    slot: str
    complete: str = ""


@dataclass(frozen=True)
class Fold:
    """What is shown once its title is pressed. A file shows it too."""

    title: str
    name: str
    blocks: "Callable[[], Iterable[Block]]"


@dataclass(frozen=True)
class Asked:
    """What takes so long that only the press of a button makes it, until something else changes.

    A file leaves it out.
    """

    label: str
    name: str
    blocks: "Callable[[], Iterable[Block]]"


@dataclass(frozen=True)
class Card:
    """Blocks within a border, which belong together."""

    blocks: "tuple[Block, ...]"


@dataclass(frozen=True)
class Columns:
    """Blocks side by side, where there is room: a tuple for each column."""

    columns: "tuple[tuple[Block, ...], ...]"


@dataclass(frozen=True)
class Save:
    """A button that saves a file, made when it is pressed, outside of the session; kind: its MIME type."""

    label: str
    file: str
    make: Callable[[], str | bytes]
    kind: str


@dataclass(frozen=True)
class OnScreen:
    """Blocks that the file leaves out, such as what to try next."""

    blocks: "tuple[Block, ...]"


@dataclass(frozen=True)
class Measuring:
    """Say where the cells of a part of a page come from.

    Attributes:
        cells: Where they are kept.
        next_cell: Returns the cell to measure next, or None when the part is complete.
        first: Measures what a first view needs, in steps.
        answer: The cell that a visitor waits for; by default the one that is measured first.
        later: Returns what is measured next once the part is complete, by others.
        ahead: Measures ahead what the visitor may choose next: from settings to a view of them.
    """

    cells: Cells
    next_cell: NextCell
    first: Callable[[], Iterator[None]] = field(default=lambda: iter(()))
    answer: tuple[Any, ...] | None = None
    later: NextCell | None = None
    ahead: Callable[[Mapping[str, Any]], Any] | None = None

    @property
    def awaited(self) -> tuple[Cells, tuple[Any, ...]] | None:
        """Return the cell that a visitor waits for, with its store; None once there is an answer."""
        if (missing := self.next_cell()) is None:
            return None
        store, cell = self.cells.located(*(self.answer or missing))
        done = store.answers if self.answer is None else not store.missing([cell])
        return None if done else (store, cell)


@dataclass(frozen=True)
class Interactive:
    """What asks its visitor, such as an uploader: `show` renders it on a screen, and a file leaves it out."""

    show: Callable[[], None]


@dataclass(frozen=True)
class Live:
    """The part of a page that is called again while more is measured.

    measuring: what is measured beside it; or a function that says whether more is to come.
    """

    name: str
    blocks: "Callable[[], Iterable[Block]]"
    measuring: Measuring | Callable[[], bool]

    def complete(self) -> None:
        """Measure all that is missing, or wait until it is there."""
        if not isinstance(self.measuring, Measuring):
            while self.measuring():
                time.sleep(_LOOK_SECONDS)
            return
        for _ in self.measuring.first():
            pass
        while (cell := self.measuring.next_cell()) is not None:
            self.measuring.cells.try_cell(*cell)


@dataclass(frozen=True)
class OwnersOnly:
    """Blocks made from private rows, which no file may have: it is no `Block`, and `html` refuses it."""

    blocks: "tuple[Block, ...]"


Block = (
    Headline
    | Text
    | Note
    | Notice
    | Quote
    | Section
    | Table
    | Figure
    | Controls
    | Running
    | Fold
    | Asked
    | Card
    | Columns
    | Save
    | OnScreen
    | Interactive
    | Live
)

Blocks = Iterable[Block]


@dataclass(frozen=True)
class Frame:
    """What a file has and a screen does not.

    Attributes:
        settings: (label, value) in words.
        promise: What patients are promised, in words.
        limits: Sentences on what the numbers do not show.
        made: When it was made, with which seed and versions.
        compact: Whether it prints on one sheet: in small type, without settings, limits and link.
    """

    settings: Sequence[tuple[str, str]]
    promise: str
    limits: Sequence[str]
    made: str
    compact: bool = False
