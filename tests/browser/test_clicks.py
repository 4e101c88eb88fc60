"""Count the clicks from an upload to the bundle: a press, a file that is chosen or a typed cell is one."""

import csv
import io
import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from scripts.started import serving
from tests.browser.conftest import AT_REST, choose_file, downloaded, open_own_data

pytestmark = pytest.mark.browser

TABLE, DICTIONARY = 0, 1  # uploaders, as they stand
RELEASE = re.compile("^Release")
CODED = {"age": ("integer", 18, 100), "weight": ("number", 30, 200), "pulse": ("number", 30, 220)}
CODED |= {"crp": ("number", 0, 300), "sodium": ("number", 110, 170)}


def visits() -> bytes:
    """Return visits of 400 patients, with words among numbers and a column that gets no range."""
    rng, lines = np.random.default_rng(5), []
    for patient in range(400):
        for visit in range(rng.integers(1, 4)):
            line: dict[str, object] = {"record_id": f"P-{patient:04}", "visit": visit + 1}
            line |= {name: round(rng.uniform(low, high), 1) for name, (_, low, high) in CODED.items()}
            line |= {"sex": rng.choice(["1", "2"]), "albumin": round(rng.uniform(20, 50), 1)}
            lines.append(line)
    frame = pd.DataFrame(lines, dtype=object)
    frame.loc[::40, "crp"], frame.loc[::50, "pulse"] = "<5", "unknown"
    return frame.to_csv(index=False).encode()


def redcap() -> bytes:
    """Return REDCap's dictionary of the visits: ranges for all numbers but one, and codes."""
    head = ["Variable / Field Name", "Field Type", "Choices, Calculations, OR Slider Labels"]
    kind, *ends = "Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max"
    file = io.StringIO()
    writer = csv.DictWriter(file, [*head, kind, *ends, "Identifier?"], restval="")
    writer.writeheader()
    writer.writerow(dict(zip(head, ("record_id", "text", ""), strict=True)))
    for name, (validation, low, high) in CODED.items():
        line = dict(zip(head, (name, "text", ""), strict=True))
        writer.writerow(line | {kind: validation, ends[0]: f"{low}", ends[1]: f"{high}"})
    writer.writerow(dict(zip(head, ("albumin", "text", ""), strict=True)) | {kind: "number"})
    writer.writerow(dict(zip(head, ("sex", "radio", "1, male | 2, female"), strict=True)))
    return file.getvalue().encode()


class Analyst:
    """Do what an analyst does at the screen, and count it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.clicks = page, 0
        open_own_data(page, f"{address}your_data?repeats=1")

    def rest(self) -> None:
        """Wait until no script runs: Streamlit may drop what is pressed meanwhile."""
        self.page.wait_for_selector(AT_REST)

    def give(self, uploader: int, name: str, data: bytes, taken: str = "named columns") -> None:
        self.clicks += 1
        choose_file(self.page, uploader, name, data, taken)

    def press(self, label: str | re.Pattern[str], role: str = "button") -> None:
        self.clicks += 1
        self.rest()
        button = self.page.get_by_role("button", name=label)
        (button if role == "button" else self.page.get_by_text(label)).last.click()

    def save(self, label: str) -> bytes:
        self.clicks += 1
        self.rest()
        return downloaded(self.page, label)

    def release(self, first: bool) -> list[str]:
        """Release what is ready, and return the names of the files in the bundle."""
        self.page.get_by_text("Ready:").wait_for()
        if first:
            self.press("Set this limit")
        self.press("from the literature or a code book", "radio")
        expect(self.page.get_by_role("button", name=RELEASE)).to_be_enabled()
        self.press(RELEASE)
        self.press("Spend and release")
        self.page.get_by_role("button", name="Download everything (ZIP)").wait_for()
        return zipfile.ZipFile(io.BytesIO(self.save("Download everything (ZIP)"))).namelist()


@pytest.fixture
def quiet(tmp_path):
    """Yield the address of a server whose book is empty."""
    with serving(DPPCA_ACCOUNTS=str(tmp_path)) as address:
        yield address


def test_visits_are_released_in_ten_clicks_and_again_in_six(newcomer, quiet):
    """With REDCap's dictionary; then with the dictionary that was saved, which names the patients' column."""
    page = newcomer.new_page()
    analyst = Analyst(page, quiet)
    analyst.give(TABLE, "visits.csv", visits())
    analyst.press("Yes, and a column names the patient", "radio")
    analyst.give(DICTIONARY, "redcap.csv", redcap(), "Left out, as no range is stated: albumin")
    analyst.press("Map these words")
    assert "apply.R" in analyst.release(first=True) and analyst.clicks <= 10
    first = analyst.clicks
    page.get_by_text("Columns and ranges").click()
    saved = downloaded(page, "Save the dictionary")

    again = Analyst(page, quiet)
    again.give(TABLE, "visits.csv", visits())
    stated = "Your dictionary says that record_id names the patient."
    again.give(DICTIONARY, "dictionary.json", saved, stated)
    assert "apply.R" in again.release(first=False) and again.clicks <= 6 < first
    page.close()


def test_a_template_takes_two_clicks_more(newcomer, quiet):
    """Its ranges are filled in by a spreadsheet; what is left blank is left out."""
    page = newcomer.new_page()
    analyst = Analyst(page, quiet)
    analyst.give(TABLE, "visits.csv", visits())
    analyst.press("Yes, and a column names the patient", "radio")
    page.get_by_text("Choose the measurements that count, or open a dictionary.").wait_for()
    template = pd.read_csv(io.BytesIO(analyst.save("Template for a spreadsheet")), dtype="str")
    template = template.set_index("name")
    assert template.loc["sex", "kind"] == "category" and template["lowest"].isna().all()
    for name, (_, low, high) in CODED.items():
        template.loc[name, ["lowest", "highest"]] = [str(low), str(high)]
    template.loc["sex", "categories"] = "1; 2"
    filled = template.reset_index().to_csv(index=False).encode()
    analyst.give(DICTIONARY, "template.csv", filled, "Left out, as no range is stated")
    analyst.press("Map these words")
    assert "apply.R" in analyst.release(first=True) and analyst.clicks <= 12
    page.close()
