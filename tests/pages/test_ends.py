"""Test every page with its sliders at their ends: no NaN or infinity in a sentence, a table or a figure.

`make fuzz` moves each slider alone as well.
"""

import pytest

from pages.shared.settings.catalogue import OF_PARAMETER
from tests import hostile
from tests.pages.visited import PAGES, Visit

NUMERIC = [name for name, choice in OF_PARAMETER.items() if choice.numeric]
# In the suite four pages at one of their ends; every page at both with `make fuzz`.
ENDS = [(page, -((i + turn) % 2)) for turn in (0, 1) for i, page in enumerate(PAGES)]
ALONE = [(page, key, end) for key in NUMERIC for end in (0, -1) for page in PAGES]


def at(key: str, end: int) -> str:
    choice = OF_PARAMETER[key]
    return choice.link(choice.options[end])


@pytest.mark.parametrize(("page", "end"), [ENDS[i] for i in hostile.cases(4, 1.0) if i < len(ENDS)])
def test_all_sliders_at_an_end(page, end, waiting):
    Visit(page, {key: at(key, end) for key in NUMERIC})


def test_each_slider_alone_at_an_end(waiting):
    def visit(case):
        page, key, end = ALONE[(case * 37) % len(ALONE)]
        Visit(
            page,
            {key: at(key, end), "repeats": "2"} | ({"repeats": at(key, end)} if key == "repeats" else {}),
        )

    hostile.each(hostile.cases(1, 0.1), visit)
