"""Test that colours are seen on both backgrounds, and that lines differ in more than colour."""

import itertools
import tomllib

import numpy as np
import pytest

from pages.explore.bounds import charts as bound_charts
from pages.hospitals.providers.charts import differing as site_charts
from pages.learn.privacy.charts import accountings
from pages.shared.charts import style
from tests.test_layers import ROOT

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
THEMES = {name: THEME | THEME[name] for name in ("light", "dark")}
DRAWN = {
    *(look.colour for look in style.LOOKS.values()),
    *(look.colour for look in (*site_charts.KIND_LOOKS.values(), *accountings.LOOKS.values())),
    *(bound_charts.bound_look(name).colour for name in bound_charts.BOUNDS),
    *style.SERIES,
    *style.ORDERED,
    style.GUESS,
    style.THEOREM[0],
    style.NOT_PRIVATE,
    style.TRUE,
    style.look("a method of tomorrow").colour,
    style.NOBODY,
    style.SEALED_SUMS,
    style.ONE_PLACE,
}
SIDES = (style.THE_PATIENT, style.ANOTHER_PATIENT)  # two data sets, drawn by the privacy page and the story
# What people without one kind of cones see of linear red, green and blue (Machado et al. 2009, table 1).
WITHOUT_CONES = {
    "red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
# From linear red, green and blue to the tristimulus values of sRGB, in units of white's.
TRISTIMULUS = [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0178, 0.1095, 0.8727]]


def channels(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def linear(colour):
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)]


def luminance(colour):
    """Return the relative luminance, as WCAG 2.1 defines it."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def difference(first, other, seen):
    """Return the distance of two colours in CIE L*a*b*, as they are `seen`; about 2 is just noticeable."""
    places = []
    for colour in (first, other):
        x, y, z = np.cbrt(np.maximum(TRISTIMULUS @ np.clip(seen @ np.array(linear(colour)), 0, 1), 0.009))
        places.append((116 * y - 16, 500 * (x - y), 200 * (y - z)))
    return float(np.linalg.norm(np.subtract(*places)))


def contrast(first, other):
    low, high = sorted((luminance(first), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def over(colour, share, ground):
    """Return a colour of this opacity on a ground."""
    mixed = [share * a + (1 - share) * b for a, b in zip(channels(colour), channels(ground), strict=True)]
    return "#" + "".join(f"{round(255 * c):02x}" for c in mixed)


def test_the_formula_is_that_of_the_standard():
    """Black on white is 21:1; #767676 is the lightest grey with 4.5:1 on white; orange on white has 2.3:1."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") >= 4.5 > contrast("#777777", "#ffffff")
    assert contrast("#E69F00", "#ffffff") < 3


@pytest.mark.parametrize("theme", THEMES)
def test_what_is_drawn_has_three_to_one(theme):
    """WCAG 2.1, 1.4.11 asks for it, against the page that charts stand on."""
    page = THEMES[theme]["backgroundColor"]
    assert {colour: contrast(colour, page) for colour in (*DRAWN, *SIDES) if contrast(colour, page) < 3} == {}


@pytest.mark.parametrize("cones", WITHOUT_CONES)
def test_two_data_sets_are_told_apart_without_red_green_or_blue_cones(cones):
    """Vermilion and olive fail the same test."""
    seen = np.array(WITHOUT_CONES[cones])
    assert difference(*SIDES, seen) > 25
    assert cones == "blue" or difference("#D55E00", SIDES[1], seen) < 25


@pytest.mark.parametrize("cones", WITHOUT_CONES)
def test_meanings_side_by_side_are_told_apart_without_red_green_or_blue_cones(cones):
    meanings = (
        style.PRIVATE,
        style.NOT_PRIVATE,
        style.TRUE,
        style.NOBODY,
        style.SEALED_SUMS,
        style.ONE_PLACE,
    )
    seen = np.array(WITHOUT_CONES[cones])
    assert min(difference(*pair, seen) for pair in itertools.combinations(meanings, 2)) > 20


def test_two_data_sets_have_colours_of_their_own():
    assert len({*SIDES}) == 2 and not DRAWN & {*SIDES}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ground", ["backgroundColor", "secondaryBackgroundColor"])
def test_text_has_four_and_a_half_to_one(theme, ground):
    """WCAG 2.1, 1.4.3: text, captions (60 % of it), the primary colour as text, also on a tenth of it."""
    look = THEMES[theme]
    page, text, primary = look[ground], look["textColor"], look["primaryColor"]
    assert contrast(text, page) >= 4.5
    assert contrast(over(text, 0.6, page), page) >= 4.5
    assert contrast(primary, page) >= 4.5
    assert contrast(primary, over(primary, 0.1, page)) >= 4.5


def test_regions_are_named_in_ink_that_is_read_on_them():
    for ground, ink in zip(style.REGIONS, style.ON_REGIONS, strict=True):
        assert contrast(ground, ink) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_signs_are_read_on_a_heat_maps_colours(theme):
    for ground in (style.NEGATIVE, style.POSITIVE):
        assert contrast(ground, THEMES[theme]["textColor"]) >= 3


@pytest.mark.parametrize(
    "looks",
    [style.LOOKS, site_charts.KIND_LOOKS, accountings.LOOKS],
    ids=["methods", "kinds", "costs"],
)
def test_lines_are_told_apart_without_colour(looks):
    for (first, a), (other, b) in itertools.combinations(looks.items(), 2):
        assert (a.symbol, a.dash) != (b.symbol, b.dash), (first, other)


def test_bounds_are_told_apart_without_colour():
    marks = [bound_charts.bound_look(name).symbol for name in bound_charts.BOUNDS]
    kinds = [bound_charts.BOUNDS[name].kind for name in bound_charts.BOUNDS]
    assert len(set(zip(marks, kinds, strict=True))) == len(marks)
