"""Which of a table's columns stands for which name, as a person types and confirms it. No Streamlit here."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from dppca_core.tables import safe_cell
from dppca_core.tables.name_matching import suggest

NAME, COLUMN, HOW = "name", "column", "how"  # columns of the editable table
NOT_MEASURED, SUGGESTED = "not measured there", "suggested"
MOST_LISTED = 200  # names: more are renamed by a script


class ColumnMapping:
    """Hold names, the columns among which each is looked for, and the answers: a column, or None for none.

    Suggestions come from the names alone. `none` is the answer that there is no column. `draft` is what the
    editor began with, and `answers` what it says; `version` changes with the draft. The editor has a download
    of its own, so no name may be a formula there.
    """

    def __init__(self, names: Sequence[str], columns: Sequence[str], none: str = NOT_MEASURED) -> None:
        self.names = tuple(names)
        self.suggested = suggest(names, columns) if len(names) <= MOST_LISTED else {}
        self.draft: dict[str, str | None] = dict(self.suggested)
        self.answers = dict(self.draft)
        self.version = 0
        self.of_label: dict[str, str | None] = {none: None}
        for position, column in enumerate(columns, 1):
            label = safe_cell(column)
            self.of_label[f"{label} ({position})" if label in self.of_label else label] = column

    @property
    def unanswered(self) -> list[str]:
        return [name for name in self.names if name not in self.answers]

    @property
    def twice(self) -> str:
        """Return a column that is chosen for two names, or nothing."""
        chosen = Counter(column for column in self.answers.values() if column is not None)
        return next((column for column, times in chosen.items() if times > 1), "")

    def to_frame(self) -> pd.DataFrame:
        """Return the draft as an editable table."""
        label = {column: label for label, column in self.of_label.items()}
        rows = [
            (
                safe_cell(name),
                label[self.draft[name]] if name in self.draft else None,
                SUGGESTED if self.draft.get(name, name) == self.suggested.get(name) else "",
            )
            for name in self.names
        ]
        return pd.DataFrame(rows, columns=[NAME, COLUMN, HOW]).astype("str")

    def take(self, typed: pd.DataFrame) -> None:
        """Take over the answers of an edited table."""
        labels = zip(self.names, typed[COLUMN], strict=True)
        self.answers = {name: self.of_label[label] for name, label in labels if label in self.of_label}

    def restart(self) -> None:
        """Let the editor begin with the answers as they are."""
        self.draft, self.version = dict(self.answers), self.version + 1

    def leave_out_rest(self) -> None:
        """Answer that what is unanswered was not measured."""
        self.answers |= dict.fromkeys(self.unanswered)
        self.restart()
