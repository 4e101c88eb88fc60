"""The sentences on packages that can be installed, beside ours."""

from dppca_core.numerics.subspace_metrics import random_guess
from pages.explore.methods.model import packages
from pages.explore.methods.model.packages import BEST_PACKAGE, NO_PRIVACY, OURS
from pages.shared import text

_GIVEN_UP = {  # what ours do better, each with the recipe that gives up this one and all before it
    "sparsity": "without sparsity",
    "noise that is alike in all directions": "without sparsity, mirrored noise",
    "exact accounting": BEST_PACKAGE,
}


def finding(neighbours: str) -> str:
    """Return who errs least at the largest d, by how much, and which part of our method that is due to.

    The factor between a package's error and ours is a product: each of `_GIVEN_UP` is given up in turn.
    """
    measured = packages.rows("sparse population", neighbours)
    d = int(measured["d"].max())
    error = measured[measured["d"] == d].set_index("recipe")["error"]
    ours = min(OURS, key=lambda name: error[name])
    rival, sparse = error.get(BEST_PACKAGE, float("nan")), next(iter(OURS))
    start = (
        f"At {d} features **{ours}** errs {text.error(error[ours])}, "
        f"PCA without privacy {text.error(error[NO_PRIVACY])}"
    )
    if rival != rival:  # NaN: no answer within the time limit
        return f"{start}; {BEST_PACKAGE} had no answer in {packages.stored().record['limit_seconds']:.0f} s."
    # From ours, `sparse`, to the package: each next recipe gives up one more part.
    steps = [error[sparse], *(error[recipe] for recipe in _GIVEN_UP.values())]
    parts = {part: after / before for part, before, after in zip(_GIVEN_UP, steps, steps[1:], strict=False)}
    factors = ", ".join(f"{part} {factor:.2f}" for part, factor in parts.items())
    return (
        f"{start} and the best that a package gives, {BEST_PACKAGE}, {text.error(rival)}. That is "
        f"{rival / error[sparse]:.2f} times as much. Three factors multiply to this: {factors}. Most is due "
        f"to {max(parts, key=lambda part: parts[part])}. {_on_table(neighbours)}"
    )


def _on_table(neighbours: str) -> str:
    """Return the errors on the real table, where no sparsity is known to hold.

    Of our methods it names the one with the sparse step and the one without.
    """
    measured = packages.rows("breast_cancer", neighbours)
    error = measured[measured["neighbours"] == neighbours].set_index("recipe")["error"]
    d, n = int(measured["d"].iloc[0]), int(measured["n"].iloc[0])
    shown = {name: error[name] for name in (next(iter(OURS)), "without sparsity", BEST_PACKAGE)}
    # An error that does not equal itself is NaN: no answer, so it is left out.
    errors = ", ".join(f"{name} {text.error(value)}" for name, value in shown.items() if value == value)
    guess = text.error(random_guess(d, packages.stored().record["settings"]["k"]))
    return f"On the breast cancer table, {n} patients: {errors}, a random guess {guess}."


def notes(neighbours: str) -> str:
    """Return what was run, what had no answer within the time limit, when, and with which versions."""
    record, errors = packages.stored()
    setting, versions = record["settings"], record["versions"]
    parts = [
        f"All had the same rows, ε = {setting['epsilon']:g}, δ = {text.number(setting['delta'])}, "
        f"k = {setting['k']}, {setting['s']} true features and twice as many kept. "
        f"{text.sentence(text.RELATIONS[neighbours])}."
    ]
    patients = errors[errors["population"] == "sparse population"].groupby("n")["d"].unique()
    parts += [
        f"{n:,} patients were drawn with {text.listed([str(d) for d in sizes])} features."
        for n, sizes in patients.items()
    ]
    silent = errors[(errors["kind"] == "peer") & errors["error"].isna()]
    for recipe, group in silent.groupby("recipe"):
        sizes = ", ".join(str(d) for d in sorted(set(group["d"])))
        parts.append(f"{recipe}: no answer in {record['limit_seconds']:.0f} s at {sizes} features.")
    if neighbours != "replace-one":
        parts.append("The packages' own PCA protects a changed record: it is shown where one is replaced.")
    used = ", ".join(f"{name} {version}" for name, version in versions.items())
    parts.append(f"Measured {record['date']} by `make bench-peers` with {used}.")
    return " ".join(parts)
