"""The page on a table of one's own as its tests use it, and the table that they upload."""

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd

from dppca_core.accounts.book import Book, BookTable, default_path
from dppca_core.tables import Column, Schema
from tests.pages.conftest import Screen
from tests.waiting import PATIENCE_SECONDS

PAGE = "hospitals/your_data/page.py"
CANARY = "Zanzibar-7731"
FILE, COLUMN = f"{CANARY}-file.csv", f"{CANARY}-column"
NUMBER = 61.62636465
ROWS = 120


def patients(seed=0, n=ROWS):
    rng = np.random.default_rng(seed)
    age, weight = rng.uniform(20, 90, n).round(1), rng.uniform(45, 120, n).round(1)
    frame = pd.DataFrame({"age": age, "weight": weight, "pulse": (220 - age + rng.normal(0, 5, n)).round(1)})
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["clinic"] = rng.choice(["north", "south"], n)
    return frame


def marked(n=ROWS):
    """Return patients with a word, a column and a number that occur nowhere else."""
    frame = patients(n=n)
    frame.loc[3, "clinic"], frame.loc[5, "weight"] = CANARY, NUMBER
    return frame.assign(**{COLUMN: 1.0})


DICTIONARY = Schema(
    (
        Column("age", "number", 0, 120, fill=60.0),
        Column("weight", "number", 30, 200, fill=80.0),
        Column("pulse", "number", 30, 220),
    )
)
WIDE = Schema((*DICTIONARY.columns, Column("sex", "category", categories=("f", "m"), fill="")))


def csv(frame):
    return frame.to_csv(index=False).encode()


def parquet(frame):
    file = io.BytesIO()
    frame.to_parquet(file, index=False)
    return file.getvalue()


TABLE, OTHER_TABLE = csv(patients()), csv(patients(seed=1))


class TablePage(Screen):
    """The page on a table of one's own, and what a person does there."""

    def __init__(self, **link):
        super().__init__(PAGE, **link)

    @property
    def state(self):
        return self.app.session_state["own table"]

    def upload(self, data=TABLE, name="ours.csv"):
        self.app.file_uploader(key=f"own file {self.state.uploader}").set_value((name, data, "text/csv"))
        self.run()

    def answer(self, rows=1):
        self.answer_rows("unnamed" if rows > 1 else "one")
        if rows > 1:
            self.most_rows.set_value(rows)
            self.run()

    def answer_rows(self, answer):
        """Answer whether a patient can have several rows: "one", "named" or "unnamed"."""
        self.rows_question.set_value(answer)
        self.run()

    @property
    def rows_question(self):
        return next(box for box in self.app.radio if box.key.startswith("own several"))

    @property
    def most_rows(self):
        return next(box for box in self.app.number_input if box.label.startswith("Most rows that"))

    @property
    def kept(self):
        return next(box for box in self.app.number_input if box.label.startswith("Most rows of"))

    def open_dictionary(self, schema=DICTIONARY, name="d.json"):
        data = schema if isinstance(schema, bytes) else schema.to_json().encode()
        key = f"own dictionary {self.state.uploader}"
        self.app.file_uploader(key=key).set_value((name, data, "application/json"))
        self.run()

    def choose_hospitals(self, column="clinic"):
        box = next(
            box for box in self.app.selectbox if box.label.startswith("Column that names the hospital")
        )
        box.set_value(box.options.index(column))
        self.run()

    def type_line(self, **changes):
        key = self.app.data_editor[0].key
        self.app.session_state[key] = {"edited_rows": {0: changes}, "added_rows": [], "deleted_rows": []}
        self.run()

    def press(self, start):
        next(button for button in self.app.button if button.label.startswith(start)).click()
        self.run()

    def has_button(self, *starts):
        return any(button.label.startswith(starts) for button in self.app.button)

    def say_how_chosen(self, answer="fixed before the data were seen"):
        """Answer how columns and k were chosen, which a release waits for."""
        self.app.radio(key=f"own chosen {self.state.tables_loaded}").set_value(answer)
        self.run()

    def ask(self, label="Release"):
        """Press what asks for a release; what it waits for is answered."""
        if not self.state.how_chosen[0]:
            self.say_how_chosen()
        self.press(label)

    def release(self, label="Release"):
        """Ask for a release, confirm it, and wait until it is drawn."""
        self.ask(label)
        self.spend()

    def spend(self):
        """Confirm what was asked for, and wait until it is drawn."""
        self.press("Spend")
        for job in self.state.confirmed:
            job.wait(PATIENCE_SECONDS)
        self.run()

    @property
    def errors(self):
        return "\n".join(box.value for box in self.app.error)

    @property
    def warnings(self):
        return "\n".join(box.value for box in self.app.warning)

    @property
    def everything(self):
        successes = (box.value for box in self.app.success)
        return "\n".join((self.markdown, self.captions, self.notices, self.warnings, *successes))

    @property
    def spent(self):
        return self.app.get("progress")[0].proto.text

    @property
    def drawn(self):
        return "".join(figure.proto.json for figure in self.app.get("bidi_component"))

    @property
    def payer(self):
        ready = self.state.ready
        raw = self.state.raw if ready is None else ready.raw  # a large table's key is known once it was read
        return (self.state.book or Book(default_path())).payer(BookTable(raw.key, raw.n, ()))

    @property
    def payments(self):
        return self.payer.balance().payments


def of_size(d, n, usual=False):
    """Return the public numbers of a table in one place; usual: whether its dictionary has usual values."""
    at = 0.0 if usual else None
    schema = Schema(tuple(Column(f"c{i}", "number", -1.0, 1.0, usual=at, fill=0.0) for i in range(d)))
    return SimpleNamespace(d=d, n=n, sizes=(n,), averaged=False, schema=schema)


def prepared(data=TABLE, dictionary=DICTIONARY, name="ours.csv", rows=1, **link):
    page = TablePage(**link)
    page.upload(data, name)
    page.answer(rows)
    page.open_dictionary(dictionary)
    return page


def limited(*table, **link):
    page = prepared(*table, **link)
    page.press("Set this limit")
    return page


def released(*table, **link):
    page = limited(*table, **link)
    page.release()
    return page
