"""Test that every control begins at its setting: a browser may have missed the run that set it."""

from urllib.parse import parse_qsl

import pytest

from pages.shared.settings.catalogue import CHOICES
from tests.pages.visited import PAGES, Visit

OFF_DEFAULT = (
    "view=full&eps=2&N=10&ghost=true&loadings=true&metric=projector&compare.over=d&use.cape=false"
    "&figure=ge-4b&attack.alarms=0.5&attack.draws=1000&join.trust=server&join.rank=5&sites.strength=2&tau=0.2"
    "&plan.asked=hospitals"
)
# One of those that are there now, and nothing once a setting differs from the preset.
VARYING = ("plan.way", "compare.release", "method", "preset")
WITHOUT_CONTROLS = "learn/classroom/page.py"
KINDS = ("select_slider", "selectbox", "checkbox", "toggle", "button_group")


def begins_at(kind: str, proto) -> object:
    """Return the place of the option that a browser shows which has never heard of this control."""
    if kind in ("checkbox", "toggle"):
        return proto.default
    return (
        int(proto.default) if kind == "selectbox" else int(proto.default[0]) if len(proto.default) else None
    )


@pytest.mark.parametrize("page", [page for page in PAGES if page != WITHOUT_CONTROLS])
def test_every_control_begins_at_its_setting(page):
    app = Visit(page, dict(parse_qsl(OFF_DEFAULT))).page.app
    app.run()
    now = app.session_state["settings of the last run"]
    shown = {(kind, control.key): control.proto for kind in KINDS for control in app.get(kind)}
    bound = {at: proto for at, proto in shown.items() if at[1] in CHOICES and at[1] not in VARYING}
    assert bound
    for (kind, key), proto in bound.items():
        value = now[key]
        place = value if isinstance(value, bool) else CHOICES[key].options.index(value)
        assert begins_at(kind, proto) == place, key
        assert proto.disabled or not proto.set_value, "what nobody else moved would jump back"
