"""A question that is open while the table joins another account: it is paid into the joined account."""

from pages.hospitals.your_data import accounts, session
from tests.pages.hospitals.your_data.table_page import DICTIONARY, limited
from tests.pages.hospitals.your_data.test_cohorts import UNLIKE, bring


def test_a_job_pays_into_the_account_of_the_moment_when_it_is_confirmed(monkeypatch):
    page = limited()
    bring(page, UNLIKE)
    page.open_dictionary(DICTIONARY)
    page.press("Set this limit")
    page.press("Release")
    state = page.state
    job = state.pending
    monkeypatch.setattr(session, "current", lambda: state)
    accounts.join(state.raw, accounts.others(state.raw)[0])
    assert state.pending is None
    job.confirm()
    job.wait(30)
    assert len(session.ledger(state.raw).account().entries) == (job.result is not None) == 1
