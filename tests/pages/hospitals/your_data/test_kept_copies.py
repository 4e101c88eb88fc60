"""A finished release without a folder of ledgers comes back to its tab, also from a server started anew."""

import io
import json
import zipfile

import numpy as np
import pytest

from dppca_core.release import bundle
from dppca_core.release.ledger import SessionLedger
from pages.hospitals.your_data import kept_copies, ledger_text, session, text, unsaved_warning
from tests.pages.hospitals.your_data.table_page import (
    CANARY,
    COLUMN,
    FILE,
    NUMBER,
    WIDE,
    TablePage,
    csv,
    limited,
    marked,
    patients,
    released,
)


@pytest.fixture
def kept(state_home):
    """List the copies on the server's disk."""
    return lambda: list(state_home.rglob("*.kept"))


def restart():
    """Forget all sessions, as a server that is started anew has."""
    session.sessions().clear()


def test_it_comes_back_to_the_tab_with_its_token_and_to_nobody_else(kept):
    former = released(csv(marked()), WIDE, FILE)
    job, token = former.state.releases[0], former.state.token
    assert len(kept()) == 1 and text.COPIED in former.markdown
    restart()
    stranger, tab = TablePage(), TablePage()
    unsaved_warning.take_over(stranger.state, "x" * len(token), armed=True)
    unsaved_warning.take_over(tab.state, token, armed=True)
    for page in (stranger, tab):
        page.run()
    assert not stranger.state.releases and ledger_text.missing(False) in stranger.warnings
    again = tab.state.releases[0]
    assert again.result.document == job.result.document and again.result.entry == job.result.entry
    np.testing.assert_array_equal(again.result.basis, job.result.basis)
    np.testing.assert_array_equal(again.result.loading_std, job.result.loading_std)
    assert ledger_text.RESTORED in tab.notices and ledger_text.missing(False) not in tab.warnings
    assert tab.guarded["armed"] and tab.guarded["token"] == token and not tab.state.ledgers
    packed = tab.state.cache_by_name["downloads"][1][0]
    assert packed == former.state.cache_by_name["downloads"][1][0]
    again.mark_downloaded()
    tab.run()
    assert kept() == [] and not tab.guarded["armed"] and ledger_text.RESTORED not in tab.notices
    restart()
    late = TablePage()
    unsaved_warning.take_over(late.state, token, armed=False)
    assert not late.state.releases


def test_no_cell_and_no_file_name_is_in_it(kept, monkeypatch):
    """As it is before it is encrypted."""
    written, dumps = [], json.dumps
    monkeypatch.setattr(json, "dumps", lambda *a, **k: written.append(dumps(*a, **k)) or written[-1])
    released(csv(marked()), WIDE, FILE)
    (plain,) = (line for line in written if line.startswith('{"document"'))
    assert "age" in plain
    for private in (CANARY, COLUMN, str(NUMBER), FILE):
        assert private not in plain


def test_a_downloaded_release_or_one_of_a_folder_leaves_no_copy(kept, folder):
    page = released()
    assert kept() == [] and text.COPIED not in page.markdown and text.ON_SERVER in page.markdown


def test_a_reloaded_tab_keeps_its_token_so_that_its_copies_stay(kept, absent):
    former = released()
    token = former.become("former")
    absent.add("former")
    tab = TablePage()
    before = tab.state.token
    unsaved_warning.take_over(tab.state, token, armed=True)
    tab.run()
    assert tab.state.token == token != before and len(kept()) == 1
    restart()
    last = TablePage()
    unsaved_warning.take_over(last.state, token, armed=True)
    assert len(last.state.releases) == 1


def test_a_release_that_ends_once_its_page_has_gone_is_kept_too(kept, monkeypatch):
    """By the thread that draws it: no run of the page keeps it here."""
    monkeypatch.setattr(unsaved_warning, "guard", lambda state: None)
    former = released()
    assert len(kept()) == 1
    restart()
    tab = TablePage()
    unsaved_warning.take_over(tab.state, former.state.token, armed=True)
    assert len(tab.state.releases) == 1


def test_where_it_cannot_be_kept_the_page_says_so(kept, state_home):
    (state_home / "dppca").mkdir(mode=0o700)
    (state_home / "dppca" / "kept").touch()
    page = released()
    assert kept() == [] and text.IN_SESSION in page.markdown and page.state.releases[0].result is not None


def test_how_columns_were_chosen_is_asked_and_stands_in_all_that_leaves(built):
    page = limited()
    page.app.selectbox(key=f"own chosen {page.state.tables_loaded}").set_value(
        "fixed before the data were seen"
    )
    page.app.text_input(key=f"own chosen {page.state.tables_loaded} sentence").set_value("<b>protocol</b> 7")
    page.run()
    page.release()
    says = "fixed before the data were seen: <b>protocol</b> 7"
    result = page.state.releases[0].result
    assert result.document["how columns and k were chosen"] == says
    assert any(says in limit for limit in built().limits)
    assert says in page.state.cache_by_name["downloads"][1][1]["ledger.jsonl"]
    page.press("Release")  # asked for, and then stated otherwise: it is asked for anew
    page.app.selectbox(key=f"own chosen {page.state.tables_loaded}").set_value("not stated")
    page.run()
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


def test_a_paid_picture_comes_back_too_with_the_line_that_paid(kept):
    former = released(csv(patients(n=3000)), **{"own.eps": "0.3"})
    former.release("Release this picture")
    former.state.releases[0].mark_downloaded()
    (job,) = (job for job in former.state.to_download if not job.downloaded)
    assert len(kept()) == 1 and text.COPIED in former.markdown
    restart()
    tab = TablePage()
    unsaved_warning.take_over(tab.state, former.state.token, armed=True)
    tab.run()
    (again,) = tab.state.to_download
    assert again.what.request == job.what.request and again.what.table.schema == job.what.table.schema
    assert again.result.document == job.result.document and again.result.std == job.result.std
    np.testing.assert_array_equal(again.result.counts, job.result.counts)
    assert tab.guarded["armed"] and ledger_text.RESTORED in tab.notices
    line = bundle.ledger_lines(kept_copies.account(again), again.result.entry)
    ledger = SessionLedger()
    assert ledger.merge(line).entries == (job.result.entry,)
    again.mark_downloaded()
    assert kept() == []
