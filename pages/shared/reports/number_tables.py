"""Write the numbers of a figure as tables, for readers who cannot see it or run no scripts."""

import html
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pandas as pd

from pages.shared.charts import as_shown

_MOST_MARKS = 200  # longer lines are left out: nobody reads so many numbers
_MARKUP = re.compile(r"</?(?:b|i|sub|sup|span)(?: [^>]*)?>|<br>")

Row = tuple[str, ...]


def tables(figure: dict[str, Any]) -> list[tuple[Row, list[Row]]]:
    """Return the column names of each panel of a figure, and a row for each mark that is named and drawn."""
    panels: dict[tuple[str, str], tuple[Row, list[Row]]] = {}
    for trace, x_axis, y_axis in _drawn(figure):
        if not (trace.get("name") or trace.get("z")) or x_axis.get("showticklabels") is False:
            continue  # without a name, or a picture, whose axes have no numbers
        x_title, y_title = _title(x_axis, "at"), _title(y_axis, "value")
        # z: a heat map, whose cells have a place in both axes and a value. The first column is the series.
        names = ("", _title(y_axis, ""), x_title, "value") if trace.get("z") else ("", x_title, y_title)
        axes = trace.get("xaxis", "x"), trace.get("yaxis", "y")  # the panel's names
        columns, rows = panels.setdefault(axes, (names, []))
        if len(names) == len(columns):  # those of the panel's first trace
            rows.extend(_rows(trace, x_axis, y_axis))
    return [(columns, rows) for columns, rows in panels.values() if rows]


def frame(figure: dict[str, Any]) -> pd.DataFrame:
    """Return every mark that is drawn: its axes' titles, its series, where it is, and its error bars."""
    parts = []
    for trace, x_axis, y_axis in _drawn(figure):
        series = plainly(str(trace.get("name") or ""))
        titles = {"across": _title(x_axis, ""), "up": _title(y_axis, ""), "series": series}
        if trace.get("z"):  # a heat map: a row for each cell
            cells = pd.DataFrame(trace["z"], trace.get("y"), trace.get("x"))
            column = cells.rename_axis(index="y", columns="x").stack(future_stack=True)
            assert isinstance(column, pd.Series)  # the names of columns have one level
            parts.append(column.rename("value").reset_index().assign(**titles))
            continue
        columns = {name: trace[name] for name in "xy" if trace.get(name) is not None}
        for name, (side, key) in product("xy", (("above", "array"), ("below", "arrayminus"))):
            if ends := trace.get(f"error_{name}", {}).get(key):
                columns[f"{name}_{side}"] = ends
        marks = pd.DataFrame({name: pd.Series(list(values)) for name, values in columns.items()})
        parts.append(marks.dropna(how="any", subset=[*{"x", "y"} & {*columns}]).assign(**titles))
    order = ["across", "up", "series", "x", "y", "value", "x_below", "x_above", "y_below", "y_above"]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=order[:5])
    return table[[name for name in order if name in table]]


def _drawn(figure: dict[str, Any]) -> Iterator[tuple[dict[str, Any], ...]]:
    drawn = as_shown(figure)
    for trace in drawn["data"]:
        # A heat map without a name that tells nothing when it is pointed at covers cells of another.
        is_cover = bool(trace.get("z")) and not trace.get("name") and trace.get("hoverinfo") == "skip"
        if trace.get("visible", True) is True and not is_cover:
            axes = (f"{name}axis{trace.get(f'{name}axis', name)[1:]}" for name in "xy")  # "x2" is "xaxis2"
            yield trace, *(drawn["layout"].get(axis, {}) for axis in axes)


def plainly(words: str) -> str:
    return html.unescape(_MARKUP.sub(" ", words)).strip()


def _title(axis: dict[str, Any], otherwise: str) -> str:
    return plainly(axis.get("title", {}).get("text", "")) or otherwise


def _rows(trace: dict[str, Any], x_axis: dict[str, Any], y_axis: dict[str, Any]) -> Iterator[Row]:
    """Return a row for each mark: series, x, y; of a heat map series, y, x and the cell's value."""
    name = plainly(str(trace.get("name") or ""))
    x, y, z = (trace.get(key) for key in "xyz")
    if z is not None:
        for i, row in enumerate(z):
            for j, cell in enumerate(row):
                if cell is not None:
                    yield name, _tick_text(y, i, y_axis), _tick_text(x, j, x_axis), _number(cell)
        return
    if x is None or y is None or len(y) > _MOST_MARKS or trace.get("mode") == "text":
        return
    for i, value in enumerate(y):
        if value is not None and i < len(x) and x[i] is not None:
            yield name, _tick_text(x, i, x_axis), _tick_text(y, i, y_axis)


def _tick_text(values: Sequence[Any] | None, i: int, axis: dict[str, Any]) -> str:
    """Return the value of mark i as its axis labels it; without values marks are numbered from 1."""
    value = i + 1 if values is None else values[i]
    ticks = axis.get("tickvals") or ()
    if value in ticks and axis.get("ticktext"):
        return plainly(str(axis["ticktext"][list(ticks).index(value)]))
    return _number(value)


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else plainly(str(value))
