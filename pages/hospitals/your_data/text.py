"""Sentences of the page on a person's own table. No Streamlit here."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dppca_core.accounting import closed_form
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from dppca_core.release.ledger_records import Account, Entry
from dppca_core.release.private_release import Released, Request
from dppca_core.release.spectrum import Spectrum
from dppca_core.tables import Raw, Schema, limits
from pages.hospitals.your_data import unit_text
from pages.hospitals.your_data.large_table import LargeTable
from pages.hospitals.your_data.owner_only_diagnostics import (
    COVARIANCE,
    MOMENT,
    NEARLY_THE_MEAN,
    PARTLY_THE_MEAN,
    ReleaseVerdict,
)
from pages.hospitals.your_data.prepared_table import PreparedTable
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.shared import text
from pages.shared.background import sessions

NO_BETTER = "At this setting the release would be no better than a guess: do not release."
MOST_IN_ONE = 0.8  # share of the released eigenvalues' sum
HARDLY = 0.9  # of a guess's error, from which on an error is no better
CLOSE = 0.5  # of a guess's error, below which less noise would change the release little
NOT_PRIVATE = ":red-badge[not private] Only you may see this: it is computed from the patients' rows."
# Where a word joiner, which is not seen, keeps Markdown from finding an address; it does so behind escapes.
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_MARKUP = re.compile(r"([\\`*_\[\]<>$~|#]|:(?=\w))")


def literal(raw: str) -> str:
    """A text in which names that people chose are not read as Markdown, nor made addresses that lead away."""
    return _ADDRESS.sub("\u2060", _MARKUP.sub(r"\\\1", raw))


def refusal(reason: str) -> str:
    """Why something was refused, as one sentence."""
    sentence = literal(reason)
    return f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence.endswith(('.', '?')) else '.'}"


def held(most: int) -> str:
    """How large a file may be, in MB, and how long its table is held."""
    return (
        f"Up to {most:,} MB; a file of more than {limits.MOST_BYTES / 2**20:,.0f} MB is read in pieces, of "
        "which only sums are kept. One for which this server has no memory left is refused before it is "
        f"read. Your table is forgotten when you say so, or {sessions.KEPT_SECONDS / 60:.0f} minutes after "
        "the page is closed."
    )


def brought(raw: Raw | LargeTable) -> str:
    """What was brought, in one line."""
    count = raw.n if isinstance(raw, Raw) else raw.rows
    rows = "" if count is None else f"{count:,} rows, "
    line = f"**{literal(raw.name)}** ({raw.form}): {rows}{len(raw.columns):,} named columns."
    if raw.unnamed:
        places = ", ".join(str(place) for place in raw.unnamed[:3])
        line += f" Column {places} has no name and is left out."
    return line


def ready(prepared: PreparedTable, rows: int, plain: bool) -> str:
    """What a release would be of."""
    measured = (
        text.count(prepared.d, "measurement", "measurements") if plain else f"d = {prepared.d:,} features"
    )
    sizes = sorted(prepared.sizes)
    each = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    n, many = ("", "") if plain else ("n = ", "N = ")
    where = f"{many}{where_patients_are(len(sizes))} ({each} each)"
    if len(sizes) == 1:
        where = where_patients_are(1)
    return f"**Ready:** {n}{prepared.n:,} {unit_text.noun(rows)} in {where}, {measured}."


def where_patients_are(hospitals: int) -> str:
    """Return "one place" or "3 hospitals", to stand after "patients in"."""
    return "one place" if hospitals == 1 else f"{hospitals:,} hospitals"


def at_random(rows: int) -> str:
    """Say that the hospitals are invented, for whom the page has dealt rows to them."""
    return (
        f"{unit_text.noun(rows).capitalize()} are dealt to hospitals at random: these hospitals do not "
        "exist. This is to rehearse DPS-PCA or DPdisPCA."
    )


def dealt_at_random(hospitals: int) -> str:
    """Say where patients are whose hospitals are invented."""
    return f"dealt at random to {hospitals:,} hospitals that do not exist"


def rehearsed(request: Request, hospitals: int, plain: bool) -> str:
    """Say what is rehearsed, which is what a press of Release would make."""
    title = METHODS[request.method].title
    place = f"{unit_text.noun(request.rows_per_patient)} in {where_patients_are(hospitals)}"
    if plain:
        components = text.count(request.k, "direction", "directions")
        chance = text.one_in(request.budget.delta)
        setting = f"privacy loss {text.number(request.budget.epsilon)}, failure chance {chance}"
        return f"**Rehearsed is what *Release* would make:** {title}, {components}, {setting}, {place}."
    options = {"rank": "R", "burn_in": "burn-in"}
    given = [f"k = {request.k}"]
    given += [f"{options.get(name) or text.symbols(name)} = {value}" for name, value in request.own.items()]
    given += [f"ε = {text.number(request.budget.epsilon)}", f"δ = {text.number(request.budget.delta)}"]
    return f"**Rehearsed is what *Release* would make:** {title}, {', '.join(given)}, {place}."


def mean_zero(rows: int) -> str:
    """Say in what a twin differs from a table whose first component is the mean."""
    return (
        f"The invented {unit_text.noun(rows)} have mean zero. Yours may not: then the first component may "
        "be their mean, not a pattern."
    )


def in_one_place(method: str, hospitals: int) -> str:
    """Say what a method for several hospitals is where all patients are in one; nothing elsewhere."""
    if hospitals > 1 or METHODS[method].trust == "central":
        return ""
    return (
        f"{METHODS[method].title} is made for several hospitals. Here all patients are in one place: that "
        "place adds all the noise, and nobody else sees a row."
    )


def clipped(prepared: PreparedTable, clip: float | None) -> str:
    """Say how the twin's rows keep within their bound, and whether a release does the same."""
    if clip is not None:
        return (
            "The twin's long rows are shortened as a release shortens yours, if your rows spread evenly over "
            "their ranges."
        )
    return (
        "So many rows are not drawn one by one: the twin shortens none, and its bound holds the longest. A "
        f"release shortens rows beyond {prepared.schema.bound:.4g}, which usually needs less noise."
    )


def public_number(prepared: PreparedTable, rows: int) -> str:
    """What counts as public beside the dictionary."""
    return counts_public(prepared.by_column, prepared.schema, rows)


def counts_public(by_column: bool, schema: Schema, rows: int) -> str:
    """The same, of the dictionary and how patients were dealt."""
    noun, unit = unit_text.noun(rows), "patient" if rows == 1 else "row"
    sentence = f"The number of {noun}, and of each hospital's, counts as public and is part of every release."
    if rows > 1:
        sentence += f" So does your statement that a patient has at most {rows:,} rows."
    if by_column:
        sentence += f" Dealt by a column, it tells how many {noun} have each of that column's values."
    if any(column.fill is None for column in schema.columns):
        sentence += (
            f" A {unit} with a missing cell is left out of the sums and still counted, so the number says "
            "nothing of which that was; eigenvalues come out smaller by the share that is left out."
        )
    return sentence


def bound(prepared: PreparedTable, rows: int, plain: bool) -> str:
    """What the row bound is."""
    size = f"{prepared.schema.bound:.4g}"
    if plain:
        return (
            f"No {'patient' if rows == 1 else 'row'} counts for more than a length of {size}: longer rows "
            "are shortened to it, and the noise hides a row of that length. Smaller is less noise and more "
            "shortening."
        )
    return (
        f"Every row is clipped to norm B = {size}, and noise is proportional to B². Without a number of your "
        "own, B is the root mean square norm of rows spread evenly over the ranges; no row is longer than "
        f" {prepared.schema.longest:.4g}."
    )


def owner_counts(prepared: PreparedTable) -> list[str]:
    """Counts of rows and cells: not private."""
    counts = prepared.owner
    lines = [
        f"{counts.rows:,} rows were read, {counts.dropped:,} left out for a missing cell, "
        f"{counts.filled:,} missing cells filled in.",
        f"{text.percent(counts.clipped_share)} of the rows used are longer than the bound and shortened.",
    ]
    names = [column.name for column in prepared.schema.columns]
    far = sorted(zip(counts.outside, names, strict=True), reverse=True)
    listed = [f"{literal(name)} {count:,}" for count, name in far[:5] if count]
    if listed:
        lines.append(f"Cells outside their range or categories: {', '.join(listed)}.")
    constant = [literal(name) for name in prepared.raw.constant if name in names]
    if constant:
        lines.append(f"The same in every row, so it says nothing: {', '.join(constant[:5])}.")
    return lines


def ratio(paid: Spectrum, k: int) -> float:
    """Mean of the k largest over the largest of the rest, were those spread evenly from zero up."""
    rest = 2 * float(paid.eigenvalues[k:].mean())
    return float(paid.eigenvalues[:k].mean()) / rest if rest > 0 else math.inf


def spectrum(paid: Spectrum, k: int, plain: bool) -> str:
    """What paid eigenvalues say of the twin."""
    top = ", ".join(text.short(value) for value in paid.eigenvalues[:k])
    least = "Strength" if plain else "Eigenvalues"
    sentence = f"**{least} that you paid for:** {top}, each give or take {text.short(2 * paid.std)}; "
    if float(paid.eigenvalues[k - 1]) < 2 * paid.std:
        return f"{sentence}the noise is as large, so this slice cannot tell a pattern."
    return f"{sentence}the pattern is about {text.short(ratio(paid, k))} times the background."


def ended(job: ReleaseJob[Any]) -> str:
    """Why an job has no result."""
    return {
        "stopped": "Stopped: it is on the ledger and paid for, and nothing of it was shown.",
        "refused": f"Nothing was released: {refusal(job.message)}",
        "unwritten": f"Nothing was released: the ledger could not be written ({job.message}). Whether it was "
        "paid for stands on it.",
        "failed": f"Nothing was released: the program failed ({job.message}). The ledger says what is paid.",
    }[job.state]


RETURNED = (
    "The page was reloaded, and what you released before is still here. Download it now. The table is gone "
    "from the page: bring it again to release more."
)
CAME_OVER = (
    "The other tab has gone, and what you released there is here now. Download it now. The table is gone: "
    "bring it again to release more."
)
ELSEWHERE = (
    "This is a copy of another tab. What you released is in that one: download it there. It comes here if "
    "that tab is closed."
)
STILL_DRAWN = "A release that you paid for is still being drawn. It appears here when it is ready."
UNSAVED = "**Not downloaded yet.** This release is in this session only, and is lost when the page is closed."
_LISTED = 3


def missing(on_disk: bool) -> str:
    """Say that this server has nothing more of what a tab paid for, and what can be done."""
    bring = "Bring the table again to see what its ledger says"
    if not on_disk:
        bring = "Its ledger was in the session only, and is gone too: import it again if you exported it"
    return (
        "This tab had a paid release that was not downloaded, and this server no longer has it. It was "
        f"started anew, or the page was away for too long. {bring}. Another release costs anew."
    )


def lost(absent: Sequence[Entry], account: Account, plain: bool) -> str:
    """Return which paid releases this session does not have, and what can be done."""
    listed = []
    for entry in absent[-_LISTED:]:
        cost = "" if account.limit is None else closed_form.epsilon_of(entry.events, account.limit.delta)
        price = f", {unit_text.epsilon(cost, plain)}" if cost != "" else ""
        listed.append(f"{literal(entry.title)} on {literal(entry.at[:16].replace('T', ' '))} UTC{price}")
    more = f" and {len(absent) - _LISTED:,} earlier" if len(absent) > _LISTED else ""
    single = len(absent) == 1
    return (
        f"The ledger holds {text.count(len(absent), 'paid release', 'paid releases')} that this session does "
        f"not have: {'; '.join(listed)}{more}. {'It' if single else 'They'} cannot be shown again. Look in your "
        "downloads folder, or ask who made it. Another release costs anew."
    )


def try_this(table: bool, answered: bool, prepared: bool, released: bool, settings: Mapping[str, Any]) -> str:
    """What to do next."""
    if not table:
        return "take the breast cancer table as if it were yours, and release its directions."
    if not answered:
        return "say how many rows one patient can have, from how the table was made."
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


def promise(released: Released, plain: bool) -> str:
    """The guarantee in a sentence: as odds for a board."""
    budget = released.document["parameters"]["budget"]
    if plain:
        rows, cost = released.document["rows per patient"], released.document["epsilon for a patient"]
        return unit_text.odds(Budget(**budget), rows, cost)
    guarantee: str = released.document["guarantee"]
    return guarantee.replace(f"{budget['delta']:g}", text.number(budget["delta"]))


def loadings(released: Released, features: Sequence[str], plain: bool) -> pd.DataFrame:
    """The components as a table, one row a feature."""
    what = "direction" if plain else "component"
    columns = {f"{what} {j + 1}": released.basis[:, j] for j in range(released.basis.shape[1])}
    return pd.DataFrame({"feature": list(features), **columns})


def eigenvalues(released: Released, plain: bool) -> str:
    """The released eigenvalues, in one line."""
    assert released.eigenvalues is not None
    listed = ", ".join(text.short(max(value, 0.0)) for value in released.eigenvalues)
    what = "Strength of each direction" if plain else "Private eigenvalues of the scaled rows (shares of B²)"
    return f"{what}: {listed}."


def unread(job: ReleaseJob[Any]) -> str:
    """Why a large table was not read."""
    return {
        "stopped": "Reading was stopped.",
        "refused": refusal(job.message),
    }.get(job.state, "The file cannot be read as a table.")


def near_the_mean(cosine: float, rows: int, plain: bool) -> str:
    """Say whether the first released component is the patients' mean, or partly is; not private."""
    mean = f"the mean of your {unit_text.noun(rows)}"
    first = f"The first released {'direction' if plain else 'component'}"
    size = f"cosine {cosine:.3f}"
    if cosine >= NEARLY_THE_MEAN:
        return (
            f"**{first} is nearly {mean}, not a pattern** ({size}). "
            "It says where they lie within the ranges, not how they differ."
        )
    if cosine >= PARTLY_THE_MEAN:
        return (
            f"**{first} is partly {mean}** ({size}). "
            "It mixes where they lie within the ranges with how they differ."
        )
    return f"{first} is not {mean} ({size})."


def verdict(measured: ReleaseVerdict, uncentred: ReleaseVerdict, k: int, cosine: float, plain: bool) -> str:
    """Say how good a release is against the components of the covariance; not private.

    uncentred: the same against what it estimates. cosine: of the first component with the mean.
    """
    against = "PCA without privacy, with your rows centred at their own mean"
    sentence = f"Against {against}: {_error_and_energy(measured, k, plain)}"
    if measured.error > HARDLY * measured.guess:
        advice = "ask for fewer directions or measurements, or pay more"
        # Less noise only brings a release closer to what it estimates, which has the mean in it.
        if cosine >= PARTLY_THE_MEAN or uncentred.error < CLOSE * uncentred.guess:
            advice = "paying more does not help, because the mean takes the place of a pattern"
        sentence += f" **It is hardly better than a guess:** {advice}."
    return sentence


def verdict_uncentred(measured: ReleaseVerdict, k: int, plain: bool) -> str:
    """How good a release is against what it estimates; not private."""
    against = "what the release estimates, rows centred at the middle of their public ranges"
    return f"Against {against}: {_error_and_energy(measured, k, plain)}"


def _error_and_energy(measured: ReleaseVerdict, k: int, plain: bool) -> str:
    error = f"{'error' if plain else '‖sin Θ‖ ='} {text.error(measured.error)}"
    best = text.count(k, "direction", "directions")
    return (
        f"{error}, where guessing has {text.short(measured.guess)}. It captures {text.percent(measured.energy)} of "
        f"what the best {best} {'holds' if k == 1 else 'hold'}."
    )


def worth(scores: pd.DataFrame) -> str:
    """What privacy costs a classifier, against both answers without privacy; not private."""
    released, covariance, moment, _, guess = scores["right"]
    parts = [_kept(released, plain, guess) for plain in (covariance, moment)]
    named = [f"{what}: {part}" for what, part in zip((COVARIANCE, MOMENT), parts, strict=True)]
    return f"Against as many components without privacy, {'; '.join(named)}."


def _kept(released: float, plain: float, guess: float) -> str:
    if plain <= guess + 0.01:
        return "so few do not tell it, with or without privacy"
    kept = max(released - guess, 0.0) / (plain - guess)
    return f"the released ones keep {text.percent(min(kept, 1.0))} of the gain over guessing"


def centring(released: Released | None, plain: bool) -> str:
    """Say that the first component may be the mean: in public, from nothing but the release itself.

    The mean is private, so the measured cosine is `near_the_mean`, for the owner. A first eigenvalue that
    holds most of the released ones is what a large mean does, and so may a strong pattern.
    """
    what = "direction" if plain else "component"
    limit = (
        "Rows are centred at the middle of their public ranges, not at their mean. The first "
        f"{what} may be the mean and not a pattern."
    )
    if released is None or released.eigenvalues is None or len(released.eigenvalues) < 2:
        return limit
    values = np.maximum(released.eigenvalues, 0.0)
    share = float(values[0] / values.sum()) if values.sum() > 0 else 0.0
    if share < MOST_IN_ONE:
        return limit
    return f"{limit} It holds {text.percent(share)} of the released strength, as a large mean would."
