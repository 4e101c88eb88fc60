"""Fill in the markup of a figure: empty on a page, where scripts write it; with words in a file."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

_HERE = Path(__file__).parent
_CHART = jinja2.Template((_HERE / "chart.html").read_text(encoding="utf-8"), autoescape=True)


def of_figure(words: Mapping[str, Any], tiles: Iterable[str], alt_text: str = "") -> Markup:
    """Return the markup with a frame's words; tiles: their titles. alt_text: the figure in words."""
    drawn = list(zip(tiles, words.get("tiles", ()), strict=False))
    in_words = words.get("alt_text") or words.get("sentence") or alt_text or "A chart that is being drawn"
    return Markup(_CHART.render(words=words, tiles=drawn, alt_text=in_words))
