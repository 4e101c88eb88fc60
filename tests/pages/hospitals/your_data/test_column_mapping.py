"""Which column stands for which name: only a column that is still the suggested one is marked as such."""

from pages.hospitals.your_data.column_mapping import COLUMN, HOW, NAME, NOT_MEASURED, SUGGESTED, ColumnMapping


def rows_of(mapping):
    """Return the editor's rows by name: the label of the column, and how it was chosen."""
    frame = mapping.to_frame({}).set_index(NAME)
    return {name: (row[COLUMN], row[HOW]) for name, row in frame.iterrows()}


def test_a_name_that_was_left_out_is_not_called_suggested():
    mapping = ColumnMapping(["age", "sex"], ["AGE (years)", "ward"])
    assert mapping.suggested == {"age": "AGE (years)"} and rows_of(mapping)["sex"][1] == ""
    mapping.leave_out_rest()
    assert mapping.answers["sex"] is None
    assert rows_of(mapping) == {"age": ("AGE (years)", SUGGESTED), "sex": (NOT_MEASURED, "")}


def test_a_suggestion_that_was_taken_back_is_not_called_suggested():
    """Without an answer, with another one and without a column: also where the column has the name itself."""
    for column in ("age", "AGE (years)"):
        mapping = ColumnMapping(["age"], [column, "ward"])
        assert rows_of(mapping)["age"] == (column, SUGGESTED)
        for answers in ({}, {"age": "ward"}, {"age": None}):
            mapping.answers = answers
            mapping.restart()
            assert rows_of(mapping)["age"][1] == ""
