"""Form sentences on the picture of patients on two components, and on what a release loses.

The picture counts patients in cells of a grid, with noise. `rows` is how many rows one patient can have at
most. No Streamlit here.
"""

from collections.abc import Mapping
from typing import Any

from dppca_core.release.score_histogram import ScoreRequest
from pages.hospitals.your_data.charts import SURE
from pages.hospitals.your_data.text import epsilon, literal, noun
from pages.shared import text

TITLE = "Patients on the first two components"
ONE_COMPONENT = "One component has no picture of patients: ask for two."
ON_NOISE = "No picture of patients is offered: of the first two components one at least is mostly noise."
ON_REHEARSED_NOISE = "No picture of patients is offered: the rehearsed components err too much."
UNLIKE = "This picture is of another release's components."
TOO_WIDE = "Of so many measurements no run is drawn here: neither the picture nor its losses are rehearsed."
LOSSES = (
    "Measured on invented rows. The label is a yes or no: half of it is the strongest pattern, half is "
    "chance. So nobody can be right much more than 75 % of the time."
)
AFTER = (
    "The picture of your own table comes after a release of its components, by the same dictionary and of "
    "the same hospitals."
)
END = "Anybody may see the result."


def grid(cells: int, std: float, rows: int, groups: int) -> str:
    """Return in how many cells the picture counts patients or rows, and with how much noise.

    cells: their number along each component. std: of the noise in a cell's count. rows: how many one patient
    can have at most. groups: into how many the patients are split, each with its own picture.
    """
    units = noun(rows)
    split = f" Each of {groups:,} groups has its own picture." if groups > 1 else ""
    return (
        f"The picture counts {units} in {cells} by {cells} cells, each with noise of ±{text.short(std)}. "
        f"{units.capitalize()} beyond the edges count in the outermost cells.{split}"
    )


def first_columns(listed: int, columns: int) -> str:
    """Return that not all columns can be chosen, and how to get one that is not listed."""
    return f"The first {listed:,} of {columns:,} columns are listed: move yours to the front of the file."


def twin(distance: float, groups: int) -> str:
    """Return what the twin's two pictures, with and without noise, are.

    distance: the share of the picture that noise puts into wrong cells. groups: of patients, 1 for no split.
    """
    part = f", 1 of {groups:,} groups of equal size" if groups > 1 else ""
    return (
        f"Both are of the synthetic twin{part}, and free. Noise puts {text.percent(distance)} of the picture "
        "in the wrong cells."
    )


def stop(distance: float) -> str:
    """Return the warning that too large a share of the twin's picture, `distance`, is noise."""
    return (
        f"**On the twin {text.percent(distance)} of this picture is noise.** Take fewer cells or groups, or "
        "a larger slice of the budget."
    )


def question(request: ScoreRequest, n: int) -> str:
    """Return the question that is asked before the picture of n patients or rows is paid for."""
    first, second = request.shape[1:]
    split = "" if request.group is None else f", split by {literal(request.group.column)}"
    many = noun(request.rows_per_patient)
    return f"**Release how many of {n:,} {many} are in each of {first} by {second} cells{split}?**"


def legend(rows: int) -> str:
    """Return how to read a picture."""
    return (
        f"Grey cells are within {SURE} times the noise of 0: they may hold no {noun(rows)} at all. "
        "Counts below 0 are drawn as 0."
    )


def cost(document: Mapping[str, Any]) -> str:
    """Return what a picture did cost, and its guarantee."""
    paid, delta = epsilon(document["budget"]["epsilon"]), document["budget"]["delta"]
    guarantee = literal(document["guarantee"]).replace(f"{delta:g}", text.number(delta))
    return f"It cost {paid}, which is on the account. {guarantee}"
