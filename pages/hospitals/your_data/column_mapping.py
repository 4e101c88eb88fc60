"""Hold which of a table's columns stands for which name, as a person answers in an editable table.

The names are those of another table or of a data dictionary. No Streamlit here; `mapping_editor` renders it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from dppca_core.tables import safe_cell
from dppca_core.tables.name_matching import suggest

NAME, COLUMN, HOW = "name", "column", "how"  # columns of the editable table
NOT_MEASURED, SUGGESTED = "not measured there", "suggested"
MOST_LISTED = 200  # names: more are renamed by a script


class ColumnMapping:
    """Hold the question which of some columns stands for each name, and the answers so far.

    `answers` has a column for a name, or None if none stands for it; a name without an answer is not in it.
    `suggested` are the columns that the dictionary states, or that are called alike. `draft` holds the
    answers that the editor began with: Streamlit keeps what is typed as changes to these, so a draft goes
    with a `version`, which is part of the editor's key. `of_label` leads from an option of the editor to its
    column.

    none: how the option reads that no column stands for a name. other_names: what files call a column, by its
    name, as the dictionary states it.
    """

    def __init__(
        self,
        names: Sequence[str],
        columns: Sequence[str],
        none: str = NOT_MEASURED,
        other_names: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.names = tuple(names)
        self.suggested = suggest(names, columns, other_names) if len(names) <= MOST_LISTED else {}
        self.draft: dict[str, str | None] = dict(self.suggested)
        self.answers = dict(self.draft)
        self.version = 0
        self.of_label: dict[str, str | None] = {none: None}
        for position, column in enumerate(columns, 1):
            # The editor's table can be downloaded, and a spreadsheet must not read a name in it as a formula.
            label = safe_cell(column)
            # Two names can be one label: then the position tells them apart.
            self.of_label[f"{label} ({position})" if label in self.of_label else label] = column

    @property
    def unanswered(self) -> list[str]:
        return [name for name in self.names if name not in self.answers]

    @property
    def twice(self) -> str:
        chosen = Counter(column for column in self.answers.values() if column is not None)
        return next((column for column, times in chosen.items() if times > 1), "")

    def to_frame(self, units: Mapping[str, str]) -> pd.DataFrame:
        """Return the draft as the editor's table: names, labels of columns, and which were suggested."""
        label = {column: label for label, column in self.of_label.items()}  # by column, None for no column
        rows = [
            (
                safe_cell(f"{name} ({units[name]})" if name in units else name),
                label[self.draft[name]] if name in self.draft else None,
                SUGGESTED if name in self.suggested and self.draft.get(name) == self.suggested[name] else "",
            )
            for name in self.names
        ]
        return pd.DataFrame(rows, columns=[NAME, COLUMN, HOW]).astype("str")

    def take(self, typed: pd.DataFrame) -> None:
        """Replace the answers by those of the edited table, whose rows are the names in their order."""
        labels = zip(self.names, typed[COLUMN], strict=True)
        self.answers = {name: self.of_label[label] for name, label in labels if label in self.of_label}

    def restart(self) -> None:
        """Let a new editor, under another version, begin with the answers as they are."""
        self.draft, self.version = dict(self.answers), self.version + 1

    def leave_out_rest(self) -> None:
        self.answers |= dict.fromkeys(self.unanswered)
        self.restart()
