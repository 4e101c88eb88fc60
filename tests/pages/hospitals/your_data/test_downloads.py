"""What can be downloaded of a release: one file and its parts, the same bytes in every run."""

import io
import json
import zipfile

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.release import bundle
from pages.hospitals.your_data import results
from tests.pages.hospitals.your_data.table_page import limited, released


def test_downloads_are_the_same_ready_bytes_in_every_run(monkeypatch):
    """A file built when its button is pressed is lost if the page runs between the press and the file."""
    given = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, *a, **k: given.update({label: data}))
    monkeypatch.setattr(
        DeltaGenerator, "download_button", lambda self, label, data, *a, **k: given.update({label: data})
    )
    page = released()
    first = dict(given)
    for label in ("Download the loadings (CSV)", "Download all of it (JSON)", "Export it (JSON lines)"):
        assert isinstance(first[label], str), label
    assert isinstance(first["Save the dictionary"], str) and isinstance(first["Download the page"], bytes)
    assert json.loads(first["Download all of it (JSON)"]) == page.state.releases[0].result.document
    monkeypatch.setattr(results, "file_of_release", lambda *_: pytest.fail("written again"))
    page.run()
    assert given == first


def test_how_columns_were_chosen_is_asked_and_stands_in_all_that_leaves(built):
    page = limited()
    assert next(button for button in page.app.button if button.label.startswith("Release")).disabled
    page.say_how_chosen()
    page.app.text_input(key=f"own chosen {page.state.tables_loaded} sentence").set_value("<b>protocol</b> 7")
    page.run()
    page.release()
    says = "fixed before the data were seen: <b>protocol</b> 7"
    result = page.state.releases[0].result
    assert result.document["how columns and k were chosen"] == says
    assert any(says in limit for limit in built().frame().limits)
    assert says in page.state.cache_by_name["downloads"][1][1]["account.jsonl"]
    page.ask()  # asked for, and then stated otherwise: it is asked for anew
    page.say_how_chosen("not stated")
    assert not page.has_button("Spend")


def test_everything_is_one_file_that_is_built_once(monkeypatch):
    builds, files = [], bundle.files
    monkeypatch.setattr(bundle, "files", lambda *given: builds.append(given) or files(*given))
    page = released()
    labels = [button.proto.label for button in page.app.get("download_button")]
    assert labels.index("Download everything (ZIP)") + 1 == labels.index("Download the loadings (CSV)")
    first = page.state.cache_by_name["downloads"][1][0]
    page.run()
    page.move("view", "plain")
    assert len(builds) == 1 and page.state.cache_by_name["downloads"][1][0] is first
    assert isinstance(first, bytes) and zipfile.is_zipfile(io.BytesIO(first))
