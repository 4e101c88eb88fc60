"""The plan that hospitals and server agreed on before a run: public, and the same at all of them.

Each hospital keeps its own copy and answers nothing else: a server cannot change the method, the noise, the
number of rounds or another hospital's size by asking.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.mechanisms.paid_lengths import Layout
from dppca_core.privacy import Budget

Option = float | int | str | None  # the value of a method's option; None stands for its default
MOST_HOSPITALS = 10_000
MOST_PATIENTS = 10**12  # of one hospital
MOST_FEATURES = 10**6
MOST_MIDDLE = 1e9  # of a range, in units of half of it
FITTED = ("centred", "standardised")
_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")  # it names files


class PlannedColumn(NamedTuple):
    """State what one column of a table is once it is encoded (`paid_lengths.Layout`).

    categories: their number; 0 for a number. answered: whether every patient has exactly one of them. middle:
    of the range of each encoded column, as many as categories, or one.
    """

    categories: int
    answered: bool
    middle: tuple[float, ...]


def columns_of(layout: Layout) -> tuple[PlannedColumn, ...]:
    starts = {pair[0].start: pair for pair in zip(layout.blocks, layout.answered, strict=True)}
    columns: list[PlannedColumn] = []
    begin = 0
    while begin < layout.d:
        block, answered = starts.get(begin, (slice(begin, begin + 1), True))
        categories = 0 if layout.numbers[begin] else block.stop - begin
        columns.append(PlannedColumn(categories, answered, tuple(layout.middle[block].tolist())))
        begin = block.stop
    return tuple(columns)


@dataclass(frozen=True)
class Plan:
    """Hold what hospitals and server agreed on for one run. Raises ValueError for a field out of its range.

    run: its name, which also names files. method: key of `protocol.EXCHANGES`. sizes: numbers of patients of
    the hospitals, which are public. budget: of the whole run, for each hospital's patients. options: those of
    the method; those left out have their defaults. names: what the hospitals are called in sentences; none
    for "Hospital 1" and so on. mean_share: of the budget (as 1/z^2, z the noise multiplier), pays in a first
    round for the mean at which rows are centred; 0 has no such round. scale_share: pays in the next round for
    the scales that rows are divided by, likewise. fitted: "centred" or "standardised" for rows whose bound is
    fitted to their lengths (`fitted_rounds`); "" has none. columns: with a fitted bound, what the encoded
    columns are. complete: with a fitted bound, whether no patient is left out for a missing cell.
    """

    run: str
    method: str
    sizes: tuple[int, ...]
    d: int
    k: int
    budget: Budget
    options: tuple[tuple[str, Option], ...] = ()
    names: tuple[str, ...] = ()
    mean_share: float = 0.0
    scale_share: float = 0.0
    fitted: str = ""
    columns: tuple[PlannedColumn, ...] = ()
    complete: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.run, str) or not _RUN_NAME.fullmatch(self.run):
            raise ValueError(f"run must be 1 to 64 letters, digits, - and _, got {self.run!r}")
        checks.instance(str, method=self.method)
        checks.instance(Budget, budget=self.budget)
        checks.whole(2, MOST_FEATURES, d=self.d)
        checks.whole(1, self.d - 1, k=self.k)
        checks.whole(1, MOST_HOSPITALS, hospitals=len(self.sizes))
        for size in self.sizes:
            checks.whole(1, MOST_PATIENTS, sizes=size)
        if self.names and len(self.names) != len(self.sizes):
            raise ValueError(f"names must be one for each of {len(self.sizes)} hospitals, got {self.names!r}")
        for name in self.names:
            checks.instance(str, names=name)
        checks.not_negative(mean_share=self.mean_share, scale_share=self.scale_share)
        for share in (self.mean_share, self.scale_share, self.mean_share + self.scale_share):
            if share:
                gaussian.remaining(self.budget, share)  # for what it raises: a share must leave something
        checks.one_of(("", *FITTED), fitted=self.fitted)
        if self.fitted:
            self._check_fitted()
        elif self.columns or self.complete is not True:
            raise ValueError("columns, and complete, are stated for a fitted bound alone")

    def _check_fitted(self) -> None:
        checks.one_of(("exact",), accounting=self.budget.accounting)
        checks.instance(bool, complete=self.complete)
        if self.mean_share or self.scale_share:
            raise ValueError("a fitted bound has shares of its own: mean_share and scale_share must be 0")
        for column in self.columns:
            checks.whole(0, MOST_FEATURES, categories=column.categories)
            checks.instance(bool, answered=column.answered)
            for value in column.middle:
                checks.within(-MOST_MIDDLE, MOST_MIDDLE, middle=value)
            if len(column.middle) != max(column.categories, 1):
                raise ValueError(
                    f"middle must have a number for each encoded column, got {checks.shown(column.middle)}"
                )
        if sum(len(column.middle) for column in self.columns) != self.d:
            raise ValueError(f"columns must be encoded as {self.d}")
        checks.whole(1, self.layout.rank - 1, k=self.k)

    @property
    def layout(self) -> Layout:
        sizes, answered, middles = zip(*self.columns, strict=True)
        return Layout.of_columns(sizes, answered, np.concatenate(middles).astype(float), self.complete)

    @property
    def hospitals(self) -> int:
        return len(self.sizes)

    @property
    def after_mean(self) -> "Plan":
        """Return the plan of the rounds after the mean: with what the mean leaves of the budget.

        Its scale_share is a share of that rest, and so larger. Without a paid mean it is the plan itself.
        """
        if not self.mean_share:
            return self
        budget, left = gaussian.remaining(self.budget, self.mean_share), 1 - self.mean_share
        return replace(self, budget=budget, mean_share=0.0, scale_share=self.scale_share / left)

    @property
    def after_scales(self) -> "Plan":
        """Return the plan of the method's own rounds, whose budget is what mean and scales leave.

        Both shares are 0 in it, since they are spent by then. Without either it is the plan itself.
        """
        plan = self.after_mean
        if not plan.scale_share:
            return plan
        return replace(plan, budget=gaussian.remaining(plan.budget, plan.scale_share), scale_share=0.0)

    @property
    def method_options(self) -> dict[str, Option]:
        return dict(self.options)

    def sizes_of(self, hospitals: Iterable[int]) -> list[int]:
        return [self.sizes[hospital] for hospital in sorted(hospitals)]

    def name(self, hospital: int) -> str:
        return self.names[hospital] if self.names else f"Hospital {hospital + 1}"


def to_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan as a dictionary that JSON can hold; `from_dict` gives the same plan back.

    A share of 0 is left out, and so is a fitted bound that there is not: people read and write plans.
    """
    json_value = asdict(plan) | {"sizes": list(plan.sizes), "names": list(plan.names)}
    json_value["columns"] = [[*column[:2], list(column.middle)] for column in plan.columns]
    for name in ("mean_share", "scale_share", "fitted", "columns"):
        if not json_value[name]:
            del json_value[name]
    if plan.complete:
        del json_value["complete"]
    return json_value | {"options": plan.method_options}


def from_dict(json_value: object) -> Plan:
    """Return the plan of a dictionary from JSON, which may be anything that a file can hold."""
    given = _checked_fields("plan", json_value, Plan)
    budget = Budget(**_checked_fields("budget", given["budget"], Budget))
    options = given.get("options", {})
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise ValueError(f"options must be an object, got {checks.shown(options)}")
    for name, value in options.items():
        if value is not None and not isinstance(value, int | float | str):
            raise ValueError(f"{name} must be a number or a word, got {checks.shown(value)}")
    lists = {}
    for name in ("sizes", "names", "columns"):
        if not isinstance(given.get(name, []), list):
            raise ValueError(f"{name} must be a list, got {checks.shown(given[name])}")
        lists[name] = tuple(given.get(name, []))
    lists["columns"] = tuple(map(_column, lists["columns"]))
    return Plan(**given | lists | {"budget": budget, "options": tuple(sorted(options.items()))})


def _column(json_value: object) -> PlannedColumn:
    if not isinstance(json_value, list) or len(json_value) != 3 or not isinstance(json_value[2], list):
        raise ValueError(
            f"columns must be of categories, answered and middle, got {checks.shown(json_value)}"
        )
    return PlannedColumn(json_value[0], json_value[1], tuple(json_value[2]))


def _checked_fields(what: str, json_value: object, kind: type[Plan] | type[Budget]) -> dict[str, Any]:
    """Return a dictionary once its keys are checked: fields of `kind` alone, and all that need a value."""
    if not isinstance(json_value, Mapping):
        raise ValueError(f"{what} must be an object, got {checks.shown(json_value)}")
    if unknown := json_value.keys() - {field.name for field in fields(kind)}:
        raise ValueError(f"{what} has no {checks.shown(sorted(map(str, unknown))[0])}")
    for field in fields(kind):
        if field.default is MISSING and field.name not in json_value:
            raise ValueError(f"{what} must have {field.name}")
    return dict(json_value)
