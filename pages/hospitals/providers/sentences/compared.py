"""Form the sentences and the table on protocols: the error of each, and what it transmits.

By a protocol hospitals either join or work alone. Alone they are protected ("alone"), as one that publishes
must be, or unprotected ("alone, none"), as one that keeps its result in-house may be. A `Row` holds the
errors of one protocol at one hospital, or at all of them (`ALL`).
"""

import math

import pandas as pd

from dppca_core.datasets import PATIENTS, TABLES
from dppca_core.experiments.collaboration.experiment import ALL, CollaborationExperiment
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS, Protocol
from dppca_core.methods import METHODS
from pages.hospitals.providers.model.compared import (
    Row,
    advised,
    advised_alone,
    next_cell,
    rows,
    without_privacy,
)
from pages.hospitals.providers.settings import JOIN_TITLES
from pages.shared import text
from pages.shared.background import refresh
from pages.shared.charts.metric_axis import QUANTITIES, error_unit, random_guess, value_text
from pages.shared.settings.catalogue import Settings

BYTES_NOTE = (
    "Bytes of 64-bit numbers: a network, encryption and the keys of sealed sums come on top. Symmetric "
    "matrices travel as their upper triangle; all who join get the result."
)
_SERVER_SEES = {"sum": "only sums", "messages": "noisy messages", "differences": "exact differences"}
_COLUMNS = (
    "protocol",
    "who",
    "the server sees",
    "rounds",
    "sent a round",
    "received in all",
    "both ways in all",
    "error",
    "energy captured",
)


def title(protocol: Protocol, recipe: CollaborationExperiment) -> str:
    name = protocol.title
    if protocol.key == "dpdis_pca":
        name += f", {text.count(recipe.rank, 'direction', 'directions')}"
    return name


def heading(trust: str, hospital: int, recipe: CollaborationExperiment) -> str:
    if hospital == ALL:
        return JOIN_TITLES[trust]
    return f"{JOIN_TITLES[trust]}: {text.patients(recipe.sizes[hospital])} patients"


def numbers(results: CollaborationResults, settings: Settings) -> str:
    """Return the errors of joining by trust, of staying alone and of a random guess.

    Until every part is measured it says so instead, or that some have no answer.
    """
    recipe = results.recipe
    grouped = rows(results, settings | {"join.trust": "all"})
    joined = [advised(grouped, settings, trust) for trust in text.JOINING]
    alone = [
        advised_alone(grouped, settings, recipe.sizes[hospital], hospital) for hospital in recipe.hospitals
    ]
    kept = [without_privacy(grouped, hospital) for hospital in recipe.hospitals]
    together, lone = [each for each in joined if each], [each.row for each in alone if each]
    open_rows = [row for row in kept if row]
    if (len(together), len(lone), len(open_rows)) != (len(joined), len(alone), len(kept)):
        nothing_comes = next_cell(results, settings) is None
        return "Some ways of joining have no answer at this setting." if nothing_comes else text.MEASURING
    table = TABLES.get(settings["data"])
    singular, plural = table.row_noun if table else PATIENTS
    patients, guess = text.count(recipe.n, singular, plural), random_guess(settings, recipe.d, recipe.k)
    metric = error_unit(settings)
    guess_text, error = value_text(metric, guess), QUANTITIES.get(metric, "error")
    directions = text.count(recipe.k, "direction", "directions")
    if len(recipe.sizes) == 1:
        return (
            f"With {patients} it finds the {directions} with {error} {lone[0].text} to publish. For its own "
            f"use, without privacy: {open_rows[0].text}. A random guess: {guess_text}."
        )
    parts: list[str] = []
    for words, each in zip(text.JOINING.values(), together, strict=True):
        name = title(each.row.protocol, recipe)
        if each.near_guess:
            name = "near a guess: no method is recommended"
        # Only the first part names the quantity.
        parts.append(f"{words}: {'' if parts else f'{error} '}{each.row.text} ({name}).")
    hospitals = text.count(len(recipe.sizes), "hospital", "hospitals")
    # One hospital of each size is measured alone.
    who = "One of them" if len(recipe.hospitals) == 1 else "The largest"
    return (
        f"{hospitals} with {patients} join to find the {directions}. "
        f"{' '.join(parts)} {who} alone, to publish: {_first_and_last(lone)}. "
        f"For its own use, without privacy: {_first_and_last(open_rows)}. A random guess: {guess_text}."
    )


def _first_and_last(alone: list[Row]) -> str:
    """Return the error of the largest hospital, the first, and of the smallest if it is another."""
    last = f", the smallest {alone[-1].text}" if len(alone) > 1 else ""
    return f"{alone[0].text}{last}"


def table(results: CollaborationResults, settings: Settings) -> pd.DataFrame:
    recipe, lines = results.recipe, []
    for trust, members in rows(results, settings).items():
        for row in members:
            sent, sees = recipe.traffic(row.protocol), _SERVER_SEES.get(row.protocol.sees, row.protocol.sees)
            sizes = [
                text.size(count) if count else "–"
                for count in (sent.most_sent, sent.bytes_received, sent.total)
            ]
            measured = [row.text, f"{row.energy[1]:.3f}"]  # at 1 is the median of three quantiles
            values = measured if math.isfinite(row.middle) else ["…", "…"]
            name, where = title(row.protocol, recipe), heading(trust, row.hospital, recipe)
            lines.append([name, where, sees, sent.rounds, *sizes, *values])
    return pd.DataFrame(lines, columns=_COLUMNS)


def notes(results: CollaborationResults, settings: Settings, grouped: dict[str, list[Row]]) -> str:
    """Return the notes below the chart: runs, guarantees, hospitals shown and protocols left out."""
    recipe = results.recipe
    shown = [row.protocol for members in grouped.values() for row in members]
    kinds = {title(each, recipe): METHODS[each.method].guarantee_at(recipe.k) for each in shown}
    shown_alone = "alone, the largest, the median and the smallest hospital are shown"
    if len(set(recipe.sizes)) <= 5:  # of more sizes, `CollaborationExperiment.hospitals` takes three
        shown_alone = "alone, one hospital of each size is shown"
    parts = [_number_of_runs(results, settings), text.guarantee_notes(kinds).rstrip(".")]
    parts += [shown_alone] if len(recipe.hospitals) < len(recipe.sizes) else []
    for reason, keys in text.names_by_value(results.refused).items():
        names = [title(PROTOCOLS[key], recipe) for key in keys]
        parts.append(f"left out: {', '.join(names)}, as {reason}")
    return ". ".join(text.sentence(part) for part in parts if part) + "."


def _number_of_runs(results: CollaborationResults, settings: Settings) -> str:
    """Return how many runs the dots are medians of; slow protocols have fewer than the others."""
    if next_cell(results, settings) is None:
        repeats = results.recipe.repeats
        fewest = min(results.repeats_of(key) for key in (*results.live, *results.slow))
        before = "at most " if results.failed else "" if fewest == repeats else f"{fewest} to "
        return f"Dots are medians of {before}{text.count(repeats, 'run', 'runs')}, bars hold 8 of 10"
    if not results.cells:
        return "No run is measured yet; dots come as runs end"
    return f"{refresh.coming(len(results.cells))}; dots are medians of what is there, bars hold 8 of 10"


def about(recipe: CollaborationExperiment) -> str:
    runs = text.count(recipe.repeats, "run", "runs")
    methods = (
        "Hospitals hold different patients, so each has the whole privacy budget, alone or joined. DPS-PCA: "
        "Ge, Wang, Wang & Liu, AISTATS 2018, Figure 1 and Algorithm 1, whose line 8 draws one noise for all. "
        "DPdisPCA and full moments: Imtiaz & Sarwate, ICASSP 2018. Messages are those of the program's own "
        "protocol, passed in one process; in a stored or given run, between processes."
    )
    if isinstance(recipe.population, str):
        return (
            f"**Simulation on a real table**, {runs}, each with its own noise. Rows are assigned to "
            "hospitals at random, clipped to a public bound. Truth is PCA without privacy on the whole "
            f"table; errors are therefore *not private*. {methods}"
        )
    drawn = (
        "Second moments are drawn from their exact (Wishart) law, each hospital's given the sum of all. Rows "
        "are divided by a public bound."
    )
    if recipe.population.tails is not None:
        drawn = text.heavy_rows(recipe.population.tails)
    return (
        f"**Simulation**, {runs} over {text.count(recipe.patient_draws, 'draw', 'draws')} of patients. "
        f"{drawn} Truth is the population's. {methods}"
    )


def bytes_line(grouped: dict[str, list[Row]], recipe: CollaborationExperiment) -> str:
    joined = [row for members in grouped.values() for row in members if row.hospital == ALL]
    sent = {title(row.protocol, recipe): recipe.traffic(row.protocol) for row in joined}
    if not sent:
        return "Nothing travels: who stays alone sends nothing and gets nothing."
    ranked = sorted(sent, key=lambda name: sent[name].most_sent)
    least, most = ranked[0], ranked[-1]
    if len(sent) == 1:
        up, received = text.size(sent[least].most_sent), text.size(sent[least].bytes_received)
        return f"With {least} a hospital sends {up} in a round and receives {received} in all."
    cheapest = min(sent, key=lambda name: sent[name].total)
    return (
        f"In a round a hospital sends least with {least} ({text.size(sent[least].most_sent)}) and most with "
        f"{most} ({text.size(sent[most].most_sent)}); in all rounds, both ways, least with {cheapest} "
        f"({text.size(sent[cheapest].total)})."
    )
