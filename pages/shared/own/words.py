"""Sentences of the page on a person's own table. No Streamlit here."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from dppca_core import composition
from dppca_core.ledger_lines import Account
from dppca_core.methods import METHODS
from dppca_core.private_release import HARDENED, Released, Request
from dppca_core.spectrum_release import Spectrum
from dppca_core.tables import Raw, Schema, limits
from dppca_core.types import Budget, Event
from pages.shared import text, visitors
from pages.shared.own.diagnostics import Verdict
from pages.shared.own.large import Large
from pages.shared.own.order import Order
from pages.shared.own.table import Prepared

NOT_PRIVATE = ":red-badge[not private] Only you may see this: it is computed from the patients' rows."
ONCE = "It cannot be taken back: what is spent stays spent, also if you stop it or close the page."
# Where a word joiner, which is not seen, keeps Markdown from finding an address; it does so behind escapes.
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_MARKUP = re.compile(r"([\\`*_\[\]<>$~|#]|:(?=\w))")


def literal(said: str) -> str:
    """A text in which names that people chose are not read as Markdown, nor made addresses that lead away."""
    return _ADDRESS.sub("\u2060", _MARKUP.sub(r"\\\1", said))


def refusal(reason: str) -> str:
    """Why something was refused, as one sentence."""
    said = literal(reason)
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith(('.', '?')) else '.'}"


def held(most: int) -> str:
    """How large a file may be, in MB, and how long its table is held."""
    return (
        f"Up to {most:,} MB; a file of more than {limits.MOST_BYTES / 2**20:,.0f} MB is read in pieces, of "
        "which only sums are kept. One for which this server has no memory left is refused before it is "
        f"read. Your table is forgotten when you say so, or {visitors.KEPT_SECONDS / 60:.0f} minutes after "
        "the page is closed."
    )


def brought(raw: Raw | Large) -> str:
    """What was brought, in one line."""
    count = raw.n if isinstance(raw, Raw) else raw.rows
    rows = "" if count is None else f"{count:,} rows, "
    said = f"**{literal(raw.name)}** ({raw.form}): {rows}{len(raw.columns):,} named columns."
    if raw.unnamed:
        places = ", ".join(str(place) for place in raw.unnamed[:3])
        said += f" Column {places} has no name and is left out."
    return said


def ready(own: Prepared, plain: bool) -> str:
    """What a release would be of."""
    measured = text.count(own.d, "measurement", "measurements") if plain else f"d = {own.d:,} features"
    sizes = sorted(own.sizes)
    each = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    hospitals = text.count(len(sizes), "hospital", "hospitals")
    n, many = ("", "") if plain else ("n = ", "N = ")
    return f"**Ready:** {n}{own.n:,} patients in {many}{hospitals} ({each} each), {measured}."


def public_number(own: Prepared) -> str:
    """What counts as public beside the dictionary."""
    return counts_public(own.by_column, own.schema)


def counts_public(by_column: bool, schema: Schema) -> str:
    """The same, of the dictionary and how patients were dealt."""
    said = "The number of patients, and of each hospital's, counts as public and is part of every release."
    if by_column:
        said += " Dealt by a column, it tells how many patients have each of that column's values."
    if any(column.fill is None for column in schema.columns):
        said += (
            " A patient with a missing cell is left out of the sums and still counted, so the number says "
            "nothing of who that was; eigenvalues come out smaller by the share that is left out."
        )
    return said


def bound(own: Prepared, plain: bool) -> str:
    """What the row bound is."""
    size = f"{own.schema.bound:.4g}"
    if plain:
        return (
            f"No patient counts for more than a length of {size}: longer rows are shortened to it, and the "
            "noise hides a row of that length. Smaller is less noise and more shortening."
        )
    return (
        f"Every row is clipped to norm B = {size}, and noise is proportional to B². Without a number of your "
        "own, B is the root mean square norm of rows spread evenly over the ranges; no row is longer than "
        f" {own.schema.longest:.4g}."
    )


def of_owner(own: Prepared) -> list[str]:
    """Counts of rows and cells: not private."""
    counts = own.owner
    said = [
        f"{counts.rows:,} rows were read, {counts.dropped:,} left out for a missing cell, "
        f"{counts.filled:,} missing cells filled in.",
        f"{text.percent(counts.clipped_share)} of the patients used are longer than the bound and shortened.",
    ]
    names = [column.name for column in own.schema.columns]
    far = sorted(zip(counts.outside, names, strict=True), reverse=True)
    listed = [f"{literal(name)} {count:,}" for count, name in far[:5] if count]
    if listed:
        said.append(f"Cells outside their range or categories: {', '.join(listed)}.")
    constant = [literal(name) for name in own.raw.constant if name in names]
    if constant:
        said.append(f"The same for every patient, so it says nothing: {', '.join(constant[:5])}.")
    return said


_composed = lru_cache(maxsize=256)(composition.total)  # of noise multipliers: nothing of a table


def total(account: Account, more: tuple[Event, ...] = ()) -> composition.Total:
    """What the releases so far cost at the limit's delta, with `more` events."""
    assert account.limit is not None
    return _composed((*account.events, *more), account.limit.delta)


def privacy(epsilon: float, plain: bool) -> str:
    """An epsilon as the reader knows it."""
    return f"privacy loss {text.short(epsilon)}" if plain else f"ε = {text.short(epsilon)}"


def by(request: Request, plain: bool) -> str:
    """What would be released."""
    title = METHODS[request.method].title
    return f"A release by {title} with {privacy(request.budget.epsilon, plain)}"


def price(what: str, events: tuple[Event, ...], account: Account, plain: bool) -> str:
    """What a release will cost and what is left, before it is made."""
    assert account.limit is not None
    most, now = account.limit.epsilon, total(account).epsilon
    after = total(account, events).epsilon
    left = max(most - after, 0.0)
    if not composition.within(after, most):
        return (
            f"{what} would bring the total to {privacy(after, plain)}, beyond the limit "
            f"{text.number(most)}: ask for less."
        )
    return (
        f"{what} brings what is spent from {text.short(now)} to {text.short(after)} of "
        f"your limit {text.number(most)}, and leaves {text.short(left)}."
    )


def of_spectrum(budget: Budget, plain: bool) -> str:
    """What a release of eigenvalues is called."""
    what = "The strength of every direction" if plain else "A release of all eigenvalues"
    return f"{what} with {privacy(budget.epsilon, plain)}"


def ratio(found: Spectrum, k: int) -> float:
    """Mean of the k largest over the largest of the rest, were those spread evenly from zero up."""
    rest = 2 * float(found.eigenvalues[k:].mean())
    return float(found.eigenvalues[:k].mean()) / rest if rest > 0 else math.inf


def spectrum(found: Spectrum, k: int, plain: bool) -> str:
    """What paid eigenvalues say of the twin."""
    top = ", ".join(text.short(value) for value in found.eigenvalues[:k])
    least = "Strength" if plain else "Eigenvalues"
    said = f"**{least} that you paid for:** {top}, each give or take {text.short(2 * found.std)}; "
    if float(found.eigenvalues[k - 1]) < 2 * found.std:
        return f"{said}the noise is as large, so this slice cannot tell a pattern."
    return f"{said}the pattern is about {text.short(ratio(found, k))} times the background."


def confirm(request: Request, own: Prepared, account: Account, plain: bool) -> str:
    """What the person confirms."""
    what = text.count(request.k, "direction", "directions") if plain else f"k = {request.k} components"
    cost = price(by(request, plain), request.events, account, plain)
    return (
        f"**Release {what} of {own.n:,} patients?** {cost} {ONCE} The noise is "
        "drawn once, and anybody may see the result."
    )


def over(events: tuple[Event, ...], account: Account) -> bool:
    """Whether it would go beyond the limit."""
    assert account.limit is not None
    return not composition.within(total(account, events).epsilon, account.limit.epsilon)


def ended(order: Order[Any]) -> str:
    """Why an order has no result."""
    return {
        "stopped": "Stopped: it is on the ledger and paid for, and nothing of it was shown.",
        "refused": f"Nothing was released: {refusal(order.said)}",
        "unwritten": f"Nothing was released: the ledger could not be written ({order.said}). Whether it was "
        "paid for stands on it.",
        "failed": f"Nothing was released: the program failed ({order.said}). The ledger says what is paid.",
    }[order.state]


def hardening(method: str, plain: bool) -> str:
    """Which noise it will be."""
    if method in HARDENED:
        if plain:
            return "Its noise is drawn by a vetted library and is exact."
        return "Noise: OpenDP's discrete Gaussian on an exact integer sum. Eigenvalues come with it."
    if plain:
        return "Its noise is drawn in ordinary computer arithmetic: **not hardened** against experts."
    return (
        "Noise: a Gaussian in floating point, **not hardened**: last digits can tell more than the guarantee "
        "allows. Eigenvalues are not released."
    )


def try_this(table: bool, prepared: bool, released: bool, settings: Mapping[str, Any]) -> str:
    """What to do next."""
    if not table:
        return "take the breast cancer table as if it were yours, and release its directions."
    if not prepared:
        return "type the range of two columns from a code book, and see the table get ready."
    if not released:
        return (
            "move the guesses of the synthetic twin until it looks like your field, find the privacy that it "
            "needs there, and only then release."
        )
    if not settings["own.shown"]:
        return "turn on what only you may see, and compare the release with the answer without privacy."
    return "bring the same table again under another name: its ledger is found by its content."


def promise(found: Released, plain: bool) -> str:
    """The guarantee in a sentence: as odds for a board."""
    budget = found.document["parameters"]["budget"]
    if plain:
        return text.odds(budget["epsilon"], budget["delta"], budget["neighbours"])
    guarantee: str = found.document["guarantee"]
    return guarantee.replace(f"{budget['delta']:g}", text.number(budget["delta"]))


def loadings(found: Released, features: Sequence[str], plain: bool) -> pd.DataFrame:
    """The components as a table, one row a feature."""
    what = "direction" if plain else "component"
    columns = {f"{what} {j + 1}": found.basis[:, j] for j in range(found.basis.shape[1])}
    return pd.DataFrame({"feature": list(features), **columns})


def eigenvalues(found: Released, plain: bool) -> str:
    """The released eigenvalues, in one line."""
    assert found.eigenvalues is not None
    listed = ", ".join(text.short(max(value, 0.0)) for value in found.eigenvalues)
    what = "Strength of each direction" if plain else "Private eigenvalues of the scaled rows (shares of B²)"
    return f"{what}: {listed}."


def unread(order: Order[Any]) -> str:
    """Why a large table was not read."""
    return {
        "stopped": "Reading was stopped.",
        "refused": refusal(order.said),
    }.get(order.state, "The file cannot be read as a table.")


def left(account: Account, plain: bool) -> str:
    """What is spent of the limit and what is left."""
    assert account.limit is not None
    most, spent = account.limit.epsilon, total(account).epsilon
    what = "privacy loss" if plain else "ε"
    return (
        f"{text.short(spent)} of the limit {what} = {text.number(most)} is spent, "
        f"{text.short(max(most - spent, 0.0))} is left"
    )


def verdict(found: Verdict, k: int, plain: bool) -> str:
    """How good a release is, in one sentence; not private."""
    directions = text.count(k, "direction", "directions")
    share = text.percent(found.energy)
    error = f"error {text.error(found.error)}"
    if not plain:
        error = f"‖sin Θ‖ = {text.error(found.error)}"
    said = f"Against PCA without privacy of the same rows: {error}, where guessing has "
    said += f"{text.short(found.guess)}; it captures {share} of what the best {directions} hold."
    if found.error > 0.9 * found.guess:
        said += (
            " **It is hardly better than a guess:** ask for fewer directions or measurements, or pay more."
        )
    return said


def worth(scores: pd.DataFrame) -> str:
    """What privacy costs a classifier, in one sentence."""
    released, plain, _, guess = scores["right"]
    if plain <= guess + 0.01:
        return "So few components do not tell it, with or without privacy."
    kept = max(released - guess, 0.0) / (plain - guess)
    share = text.percent(min(kept, 1.0))
    return f"Of what as many components gain over guessing, the released ones keep {share}."
