"""A run of a page that is interrupted by a newer one, in the middle of what a click or a move does."""

import sys
from dataclasses import replace

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.exceptions import RerunException


class Interruption:
    """Interrupt a run of the page once, at a chance that it has inside a function of this name.

    `due` is the number of the chance, from 1, counted from when it is set; it is 0 once the interruption has
    come. doubled: whether the newer run has the click too. Otherwise it is of another widget.
    """

    def __init__(self, monkeypatch, inside, doubled=False):
        self.inside, self.doubled, self.due = inside, doubled, 0
        self.data = None
        run, yields = ScriptRunner._run_script, ScriptRunner._maybe_handle_execution_control_request

        def watched_run(runner, data):
            self.data = data
            return run(runner, data)

        def watched_yield(runner):
            if self.due and runner._execing and self.is_inside():
                self.due -= 1
                if not self.due:
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
