"""Show a document as a page of the dashboard. Elements get their keys from the blocks' names."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, assert_never
from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.shared.background import prefetch, refresh, sweep_jobs, sweep_status
from pages.shared.document import blocks as b
from pages.shared.document.html import Document
from pages.shared.figure import component
from pages.shared.reports import take_along
from pages.shared.server.base_path import base_path
from pages.shared.settings import widget_keys, widgets
from pages.shared.settings.catalogue import CHOICES, Settings, to_link

_HELP = "This page as one file: it opens and prints anywhere, without the network."
# Pixels. Without them a column would keep its first width, that of a dash.
_NUMBER_WIDTH, _WORD_WIDTH = 78, 100


def show(document: Document, above: Callable[[], None] = lambda: None) -> None:
    """Show a page: its title with the button that downloads it, and its blocks.

    above: shows the controls that stand above the blocks.
    """
    address = link(widgets.settings())  # known while the page runs, not when the button is pressed

    def download() -> None:
        st.download_button(
            "Download the page",
            lambda: document.html(address),
            f"{document.stem}.html",
            "text/html",
            on_click="ignore",  # the page does not run again
            help=_HELP,
            type="tertiary",
            icon=":material/download:",
            key="download page",
        )

    widgets.head(
        document.title,
        document.question,
        document.steps,
        shown=document.switches,
        beside=document.beside,
        download=download,
    )
    above()
    show_blocks(document.blocks())


def link(settings: Settings) -> str:
    """Return the address that restores this screen; it lacks the server's where that is unknown."""
    address = urlsplit(st.context.url or "./")
    front = address.path.rstrip("/") == base_path()
    path = f"{base_path()}/" if front else address.path
    return address._replace(path=path, query=urlencode(to_link(settings)), fragment="").geturl()


def show_blocks(parts: "Iterable[b.Block | b.OwnersOnly]") -> None:
    for part in parts:
        show_block(part)


def show_block(part: "b.Block | b.OwnersOnly") -> None:
    match part:
        case b.Headline(sentence):
            widgets.headline(sentence)
        case b.Text(words):
            _placed(st.markdown, words)
        case b.Note(words):
            _placed(st.caption, words)
        case b.Notice(words, warns):
            _placed(st.warning if warns else st.info, words)
        case b.Quote(words):
            st.code(words, language=None, wrap_lines=True)
        case b.Section(title):
            st.header(title)
        case b.Table():
            _table(part)
        case b.Figure():
            _figure(part)
        case b.Controls(name, controls, on_telephone):
            _controls(name, controls, on_telephone)
        case b.Running(job, slot, complete):
            with st.container(height=72, border=False):  # the same height with the bar as without
                sweep_status.show(job, slot)
                if job.state == "complete":
                    st.caption(complete)
        case b.Fold(title, name, blocks):
            fold = st.expander(title, key=name, on_change="rerun")
            if fold.open:
                with fold:
                    show_blocks(blocks())
        case b.Asked(label, name, blocks):
            if st.button(label, key=name):
                show_blocks(blocks())
        case b.Card(blocks):
            with st.container(border=True):
                show_blocks(blocks)
        case b.Columns(columns):
            for place, column in zip(st.columns(len(columns)), columns, strict=True):
                with place:
                    show_blocks(column)
        case b.Save(label, name, make, kind):
            st.download_button(label, make, name, kind, on_click="ignore", key=f"save {name}")
        case b.OnScreen(blocks) | b.OwnersOnly(blocks):
            show_blocks(blocks)
        case b.Interactive(show):
            show()
        case b.Live():
            _live(part)
        case _:
            assert_never(part)


def _placed(show: Callable[[str], object], words: str) -> None:
    """Show words within a container, which keeps their place while there are none."""
    with st.container():
        if words:
            show(words)


def _table(block: b.Table) -> None:
    if not block.wide:
        st.table(block.frame, hide_index=True, border="horizontal")
        return
    # Only short headings and words fit these widths.
    columns: dict[str, Any] = {
        name: st.column_config.TextColumn(width=_WORD_WIDTH)
        for name in map(str, block.frame.select_dtypes("str"))
        if max(map(len, [name, *map(str, block.frame[name])])) < 14
    }
    columns |= {
        name: st.column_config.NumberColumn(format="%.3g", width=_NUMBER_WIDTH if len(name) < 10 else None)
        for name in map(str, block.frame.select_dtypes("float"))
    }
    columns[block.frame.columns[0]] = st.column_config.TextColumn(pinned=True)
    shape: dict[str, Any] = {"hide_index": True, "height": "content", "column_config": columns}
    if not block.on_row:
        st.dataframe(block.frame, **shape)
        return

    def choose() -> None:
        for row in st.session_state[block.name]["selection"]["rows"]:
            for key, value in block.on_row[row].items():
                widgets.set_to(key, value)

    st.dataframe(block.frame, **shape, key=block.name, on_select=choose, selection_mode="single-row")


def _figure(block: b.Figure) -> None:
    payload = block.payload
    if block.on_move is not None:
        payload = payload | {"second": _second(block.on_move)}
    if block.ahead:
        payload = payload | prefetch.link(widgets.settings())
    component.figure(
        payload,
        key=block.name,
        alt_text=block.alt_text,
        **{f"on_{event}": act for event, act in _events(block).items()},
    )
    take_along.menu(
        block.name,
        block.stem,
        block.title,
        lambda: block.payload,
        table=block.table,
        code=block.code,
        recipe=block.recipe,
    )


def _events(block: b.Figure) -> dict[str, Callable[[Any], None]]:
    acts: dict[str, Callable[[Any], None]] = {
        event: partial(_set, sets)
        for event, sets in (("use", block.on_use), ("move", block.on_move))
        if sets is not None
    }
    return acts if block.on_pick is None else acts | {"pick": partial(_pick, block.on_pick)}


def _set(sets: b.Sets, index: float) -> None:
    widgets.set_to(sets.setting, sets.at(index))


def _pick(picks: b.Picks, point: Mapping[str, Any]) -> None:
    """Set what a click on a point chooses; on what is no option, such as a random guess, nothing."""
    if point["name"] in CHOICES[picks.name].options:
        widgets.set_to(picks.name, point["name"])
        widgets.set_to(picks.across, CHOICES[picks.across].nearest(float(point["x"])))


def _second(sets: b.Sets) -> dict[str, Any]:
    choice, now = CHOICES[sets.setting], widgets.settings()
    options = [choice.text(option) for option in sets.options]
    label = choice.name(plain=now["view"] == "plain")
    return {"label": label, "options": options, "at": sets.options.index(now[sets.setting])}


def _controls(name: str, controls: "tuple[b.Control, ...]", on_telephone: bool) -> None:
    if on_telephone:
        widgets.show_on_telephone(*(str(each) for each in controls))
        return
    shown = [each for each in controls if each]
    # One control alone takes half of the width.
    for column, each in zip(widgets.beside(name, max(len(shown), 2)), shown, strict=False):
        with column:
            _control(each)


def _control(control: "b.Control") -> None:
    match control:
        case str():
            widgets.show_control(control)
        case b.Choose(setting, options, shown):
            widgets.show_select_box(setting, options, shown)
        case b.Press(label, setting, value, note):
            on_click = widget_keys.finished_by_next_run(widgets.set_to)
            st.button(label, on_click=on_click, args=(setting, value), key=f"{setting} button")
            if note:
                st.caption(note)
        case b.Start(label, slot, recipe):
            start: Callable[..., Any] = sweep_jobs.start
            st.button(label, on_click=start, args=(slot, recipe), key=f"start {slot}: {label}")
        case b.Visit(label, page, settings):
            if st.button(label, key=f"visit {page}"):
                widgets.set_all({**widgets.settings(), **settings})
                st.switch_page(page)


def _live(block: b.Live) -> None:
    def part() -> None:
        # A figure in this part has moved a setting: run the whole page, which applies it.
        if widgets.has_pending_move():
            st.rerun()
        show_blocks(block.blocks())

    measuring = block.measuring
    if not isinstance(measuring, b.Measuring):
        refresh.while_more(part, measuring)
        return
    refresh.while_cells_come(block.name, part, measuring)
    if measuring.ahead is not None and not refresh.asks(measuring):
        prefetch.begin(widgets.settings(), widgets.last_move(), measuring.ahead)
