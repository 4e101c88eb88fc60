"""The recipe of a sweep, as a frozen value: population or table, methods, swept parameters, repeats."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from typing import Literal, NamedTuple

from dppca_core import checks, datasets
from dppca_core.experiments.draws import Scaling
from dppca_core.methods import METHODS
from dppca_core.populations.elliptical import MOST_PATIENTS
from dppca_core.populations.synthetic import Synthetic
from dppca_core.privacy import ACCOUNTINGS, NEIGHBOURS, AccountingKind, Budget, Neighbours
from dppca_core.records import PROVIDER_NOISE, RELEASED, SCALINGS, TUNED, ProviderNoise

Value = float | int
Scalar = float | int | str | bool | None
Point = tuple[Value, ...]  # one value of each swept parameter, in the recipe's order
WHOLE = ("n", "d", "k", "s", "s_hat", "providers", "iterations")
SWEPT = ("epsilon", "delta", "spike", *WHOLE)
OF_POPULATION = ("d", "k", "s", "spike")
METRICS = {  # by its word in a recipe, the column of a sweep's table
    "sin": "sin_theta",
    "projector": "projector_distance",
    "energy": "captured_energy",
    "support": "support_found",
    "covariance": "covariance_error",
    "rounds": "sin_theta_by_round",
    "angle": "largest_angle",
    "angle rounds": "largest_angle_by_round",
}
BY_ROUND = {"rounds": "sin_theta", "angle rounds": "largest_angle"}  # each with its column in a long table
_OPTIONS_OF_ALL = ("scaling", "neighbours", "accounting", "providers", "alone")  # of every method
MOST_CELLS = 10_000_000  # a sweep lists its cells beforehand, at some hundred bytes each
_NEVER_OPTIONS = ("cohort", "k", "budget", "rng", "start", "support")  # what a sweep sets itself, and arrays
# The checks of a recipe's fields, and of its variants' options of the same name.
_CHECKS: Mapping[str, Callable[..., None]] = {
    "providers": partial(checks.whole, 1),
    "iterations": partial(checks.whole, 1),
    "s_hat": partial(checks.whole, 1),
    "burn_in": partial(checks.whole, 0),
    "provider_noise": partial(checks.one_of, PROVIDER_NOISE),
    "neighbours": partial(checks.one_of, NEIGHBOURS),
    "accounting": partial(checks.one_of, ACCOUNTINGS),
    "alone": partial(checks.instance, bool),
    "scaling": partial(checks.one_of, SCALINGS),
    "known": partial(checks.instance, bool),
    "patients_each": partial(checks.whole, 1),
    "repeats": partial(checks.whole, 1),
    "seed": partial(checks.whole, 0),
    "largest_share": partial(checks.within, 0.0, 1.0),
}


def _check(name: str, value: object, suffix: str = "") -> None:
    """Raise ValueError for an unsuitable field or option; suffix: what the message adds to its name."""
    if name in _CHECKS and not (value is None and name in ("s_hat", "patients_each")):
        _CHECKS[name](**{name + suffix: value})


@dataclass(frozen=True)
class Axis:
    """An axis names a swept parameter and its values.

    Args:
        name: One of `SWEPT`.
        values: The values, each once.

    Raises:
        ValueError: For an unknown parameter, or no, repeated or unsuitable values.
    """

    name: str
    values: Point

    def __post_init__(self) -> None:
        checks.one_of(SWEPT, swept=self.name)
        check = partial(checks.whole, 1, MOST_PATIENTS) if self.name in WHOLE else checks.positive
        for value in self.values:
            check(**{self.name: value})
        if self.name not in WHOLE:  # 1 and 1.0 are the same epsilon, also in a file; the class is frozen
            object.__setattr__(self, "values", tuple(float(value) for value in self.values))
        if not self.values or len(set(self.values)) < len(self.values):
            raise ValueError(
                f"values of {self.name} must be given, each once, got {checks.shown(self.values)}"
            )


@dataclass(frozen=True)
class Variant:
    """A variant is a method with options, under a label; the function `variant` makes one.

    Args:
        method: A key of `METHODS`.
        label: The name of its rows and curves.
        options: Pairs of a name and a value, which take precedence over the recipe's: parameters of the
            method, `scaling` of its rows ("inside" or "unit"), `neighbours` and `accounting` of its budget,
            `iterations="tuned"` and the `signal` declared for it where the method has a rule,
            `s_hat="released"` where it has two stages (the first one's release chooses the features),
            `providers`, `alone` (true: the largest hospital by itself), or `known` (true: spike and variance
            are the population's, as if public).

    Raises:
        ValueError: For an unknown method or option, or an unsuitable value.
    """

    method: str
    label: str
    options: tuple[tuple[str, Scalar], ...] = ()

    def __post_init__(self) -> None:
        checks.one_of(METHODS, method=self.method)
        if not isinstance(self.label, str) or not self.label.isprintable() or not self.label:
            raise ValueError(f"label must be one line of text, got {checks.shown(self.label)}")
        parameters = inspect.signature(METHODS[self.method].fit).parameters
        allowed = {*parameters, *_OPTIONS_OF_ALL}.difference(_NEVER_OPTIONS)
        if "variance" in parameters:  # a method that supposes the spectrum to be public
            allowed.add("known")
        by_rule = set[tuple[str, Scalar]]()  # words in place of a number, not checked as one
        if METHODS[self.method].tuned:
            by_rule.add(("iterations", TUNED))
            if ("iterations", TUNED) in self.options:
                allowed.add("signal")
        if METHODS[self.method].chooses_rows:
            by_rule.add(("s_hat", RELEASED))
        for name, value in self.options:
            checks.one_of(allowed, **{f"options of {self.method}": name})
            if not isinstance(value, (float, int, str, bool, type(None))):
                raise ValueError(
                    f"{name} of {self.method} must be a number, a word or null, got {checks.shown(value)}"
                )
            if (name, value) not in by_rule:
                _check(name, value, f" of {self.method}")


def variant(method: str, label: str = "", **options: Scalar) -> Variant:
    """Return a method with options, for a recipe.

    Args:
        method: A key of `METHODS`.
        label: The name of its rows and curves; without a label it is the method's name.
        options: Options that take precedence over the recipe's; `Variant` lists them.

    Returns:
        The variant.

    Raises:
        ValueError: For an unknown method or option, or an unsuitable value.
    """
    return Variant(method, label or method, tuple(sorted(options.items())))


class Key(NamedTuple):
    """Name a cell of a sweep, one run and so one row of its table: variant, swept values, and repeat."""

    label: str
    point: Point
    repeat: int


@dataclass(frozen=True)
class Recipe:
    """A recipe holds everything that a sweep's table depends on.

    A point that cannot be run, as s_hat < k, becomes a failed row of the table.

    Args:
        population: A population with a public covariance, or the name of a table.
        methods: The methods with their options.
        swept: One or two swept parameters; the table has all combinations of their values.
        n: The patients; of a table, only where fewer than all of its rows are drawn.
        k: The number of directions, of a table; a model has its own.
        epsilon: The privacy loss.
        delta: Its chance of failure.
        s_hat: The features that sparse methods keep; None leaves each method its default.
        providers: The number of hospitals.
        largest_share: The share of the patients in the largest hospital, 0 for equal hospitals.
        iterations: The rounds of iterative methods.
        burn_in: Their first rounds, in which all features are kept.
        provider_noise: DPS-PCA's noise across hospitals.
        neighbours: The neighbouring relation of the budget.
        accounting: The accounting of the budget.
        scaling: The rule that brings rows to a length of at most 1; `draws.Scaling` describes it.
        failure: The chance that some row exceeds the public bound.
        bound: The public bound.
        patients_each: The patients of a hospital: n patients are in n / patients_each hospitals, whatever
            `providers` is.
        repeats: The runs of every method at every point.
        metrics: The columns that are measured: sin (sin Theta), projector (distance), energy (captured, of
            the truth's second moment), support (its share that was recovered), covariance (Frobenius error
            relative to the truth's, for methods that return one), rounds (sin Theta of every iterate), angle
            (the largest principal angle, in degrees) and angle rounds (that of every iterate).
        seed: The seed of patients and noise.

    Raises:
        ValueError: For an unsuitable field, by its name, or for more than `MOST_CELLS` cells.
    """

    population: Synthetic | str
    methods: tuple[Variant, ...]
    swept: tuple[Axis, ...]
    n: int | None = None
    k: int | None = None
    epsilon: float = 1.0
    delta: float = 1e-5
    s_hat: int | None = None
    providers: int = 1
    largest_share: float = 0.0
    iterations: int = 10
    burn_in: int = 2
    provider_noise: ProviderNoise = "independent"
    neighbours: Neighbours = "replace-one"
    accounting: AccountingKind = "exact"
    scaling: Literal["bound", "bound-sqrt-d", "clipped", "largest", "unit"] = "bound"
    failure: float = 0.01
    bound: float | None = None
    patients_each: int | None = None
    repeats: int = 10
    metrics: tuple[str, ...] = ("sin",)
    seed: int = 0

    def __post_init__(self) -> None:
        Budget(self.epsilon, self.delta, self.neighbours, self.accounting)  # for the errors that it raises
        for name, value in vars(self).items():
            if name != "scaling":  # `Scaling` knows more kinds than a method does
                _check(name, value)
        scaling = self.scaling_rule
        if scaling.kind in ("unit", "clipped") and {"energy", "covariance"}.intersection(self.metrics):
            raise ValueError("metrics cannot be energy or covariance where each row has its own scale")
        for name, chosen in (("methods", self.methods), ("metrics", self.metrics), ("swept", self.swept)):
            if not isinstance(chosen, tuple) or not chosen:
                raise ValueError(f"{name} must be a tuple of one or more, got {checks.shown(chosen)}")
        for metric in self.metrics:
            checks.one_of(METRICS, metrics=metric)
        labels = [chosen.label for chosen in self.methods]
        names = [axis.name for axis in self.swept]
        for name, words in (("labels", labels), ("metrics", list(self.metrics)), ("swept", names)):
            if len(set(words)) < len(words):
                raise ValueError(f"{name} must differ from each other, got {checks.shown(words)}")
        checks.whole(1, 2, **{"number of swept parameters": len(self.swept)})
        checks.whole(1, MOST_CELLS, **{"number of cells (methods x points x repeats)": self.size})
        self._check_population(names)

    def _check_population(self, swept: list[str]) -> None:
        if isinstance(self.population, Synthetic):
            if self.n is not None or "n" not in swept:
                checks.whole(1, MOST_PATIENTS, n=self.n)
            if self.k not in (None, self.population.k):
                raise ValueError(
                    f"k must be the population's, {self.population.k}, got {checks.shown(self.k)}"
                )
            has = {field.name for field in fields(self.population) if field.init}
            for name in {*OF_POPULATION}.intersection(swept) - has:
                raise ValueError(f"{name} cannot be swept for {type(self.population).__name__}")
            return
        checks.one_of(datasets.names(), population=self.population)
        datasets.require(self.population)
        table = datasets.table(self.population)
        for name in {"d", "s", "spike"}.intersection(swept):
            raise ValueError(
                f"{name} can be swept for a synthetic population only, got {checks.shown(self.population)}"
            )
        if self.n is not None:
            checks.whole(1, table.n, n=self.n)
        if self.bound is not None:
            raise ValueError(
                f"bound must be left out: {self.population} has its own, got {checks.shown(self.bound)}"
            )
        if self.k is not None or "k" not in swept:
            checks.whole(1, table.d - 1, k=self.k)
        if "support" in self.metrics and self.s_hat is None:
            raise ValueError("s_hat must be given to measure the support found in a table")

    @property
    def swept_names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.swept)

    @property
    def size(self) -> int:
        return math.prod((len(self.methods), *(len(axis.values) for axis in self.swept), self.repeats))

    def cells(self) -> list[Key]:
        """Return all cells, in the order of the table: method, point, repeat."""
        labels = [chosen.label for chosen in self.methods]
        points = product(*(axis.values for axis in self.swept))
        return [Key(*cell) for cell in product(labels, points, range(self.repeats))]

    @property
    def scaling_rule(self) -> Scaling:
        return Scaling(self.scaling, self.failure, self.bound)

    def hospitals_at(self, values: Mapping[str, Value]) -> int:
        n = values.get("n", self.n)
        if self.patients_each is not None and n is not None:
            return max(round(n / self.patients_each), 1)
        return int(values.get("providers", self.providers))
