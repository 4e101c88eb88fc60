"""A click whose run of the page is interrupted by a newer run, as by the second click of a double click.

Streamlit may end a run wherever it is asked for something, also in the middle of what a button does. Whatever
was done by then, the button still works, and it works once.
"""

import sys
from dataclasses import replace

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.exceptions import RerunException

from dppca_core.release.ledger import SessionLedger
from tests.pages.hospitals.your_data.table_page import limited, released
from tests.pages.hospitals.your_data.test_cohorts import UNLIKE, YES, bring
from tests.waiting import PATIENCE_SECONDS


class Interruption:
    """Interrupt a run of the page, once it is due, at the first chance inside a function of this name.

    doubled: whether the newer run has the click too. Otherwise it is of another widget.
    """

    def __init__(self, monkeypatch, inside, doubled):
        self.inside, self.doubled = inside, doubled
        self.due = self.has_come = False
        self.data = None
        run, yields = ScriptRunner._run_script, ScriptRunner._maybe_handle_execution_control_request

        def watched_run(runner, data):
            self.data = data
            return run(runner, data)

        def watched_yield(runner):
            if self.due and runner._execing and self.is_inside():
                self.due, self.has_come = False, True
                raise RerunException(self.newer())
            return yields(runner)

        monkeypatch.setattr(ScriptRunner, "_run_script", watched_run)
        monkeypatch.setattr(ScriptRunner, "_maybe_handle_execution_control_request", watched_yield)

    def is_inside(self):
        frame = sys._getframe()
        while frame is not None and frame.f_code.co_name != self.inside:
            frame = frame.f_back
        return frame is not None

    def newer(self):
        """Return what the newer run begins with: the widgets' values of the run that it ends."""
        states = type(self.data.widget_states)()
        kept = [w for w in self.data.widget_states.widgets if self.doubled or not w.trigger_value]
        states.widgets.extend(kept)
        return replace(self.data, widget_states=states)


@pytest.mark.parametrize("doubled", [True, False], ids=["by a second click", "by another widget"])
@pytest.mark.parametrize("kept", ["on disk", "in the session"])
def test_a_release_is_made_once(kept, doubled, monkeypatch, request):
    """The job was marked as running before it ran, and the button did nothing any more."""
    if kept == "on disk":
        request.getfixturevalue("folder")
    newer, page = Interruption(monkeypatch, "_confirm", doubled), limited()
    page.press("Release")
    newer.due = True
    page.press("Spend")
    assert newer.has_come
    assert page.has_button("Spend") != doubled
    if not doubled:
        page.press("Spend")
    for job in page.state.confirmed:
        job.wait(PATIENCE_SECONDS)
    page.run()
    assert page.app.dataframe[-1].value["what"].tolist() == ["Analyze Gauss"]


def test_a_table_joins_an_account_wholly(monkeypatch):
    """A run that ended once the releases had moved left a table that was of no account, and an error."""
    newer, page = Interruption(monkeypatch, "join", doubled=False), released()
    bring(page, UNLIKE)
    page.press("Set this limit")
    page.release()
    box = next(box for box in page.app.selectbox if box.label.startswith("Or pay into"))
    box.set_value(0)
    page.run()
    move = SessionLedger.take_over
    monkeypatch.setattr(
        SessionLedger, "take_over", lambda *given: (move(*given), setattr(newer, "due", True))[0]
    )
    page.press(YES)
    assert newer.due
    assert len(page.app.dataframe[-1].value) == 2 and "2 tables pay into it" in page.markdown
