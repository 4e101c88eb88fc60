"""Bind all settings to the link, and show the widgets that set them."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.populations import stated_text
from pages.shared import text
from pages.shared.plain import phrases
from pages.shared.settings import catalogue, newcomer, widget_keys
from pages.shared.settings.catalogue import CHOICES, Settings
from pages.shared.settings.setting import Choice

_LAST = "settings of the last run"  # this and the next seven are keys of the session's state
_WANTED = "settings that the visitor asked for"
_NOTICES = "sentences about what was changed"
_MOVED = "settings moved since the last run"
_LAST_MOVE = "slider moved last, and by how much"
_HEADLINE = "headline shown last"
_FULL_ONLY = "whether the page has no plain view"
_REFUSED = "text of numbers that was refused, and why"
_HIDDEN = "whether the page hides what pages share"
_SWITCHES = (  # key, label, help
    ("ghost", "Keep the last result", "The previous setting stays in the figure, dotted."),
    ("loadings", "Loadings", "The loadings of one release, beside the true ones."),
)

_MOST_LETTERS = 500_000  # of a table of 200 features with all digits

# By whether the options are numbers.
_CONTROLS: dict[bool, Callable[..., object]] = {True: st.select_slider, False: st.selectbox}


class Wanted(NamedTuple):
    """Hold what a visitor asked for, from which the possible settings follow.

    It is kept, so that a control that had to give way comes back once nothing stands against it.

    Attributes:
        settings: As they were asked for, which need not be possible together.
        moved: Keys of controls in the order in which they were moved, each once.
        by_hand: Whether a setting that pages share was set. Until then each page opens at its own preset.
    """

    settings: Settings
    moved: tuple[str, ...] = ()
    by_hand: bool = False

    @property
    def possible(self) -> Settings:
        return catalogue.reconcile(self.settings, self.moved)[0]

    def after(self, moves: Settings) -> "Wanted":
        moved = (*(key for key in self.moved if key not in moves), *moves)
        return Wanted(self.settings | moves, moved, self.by_hand or bool(catalogue.shared(moves)))

    def on(self, preset: str) -> "Wanted":
        if self.by_hand or self.settings["preset"] == preset:
            return self
        return Wanted(catalogue.with_preset(self.settings, preset))


def _first_wanted(preset: str) -> tuple[Wanted, list[str]]:
    """Return what the session's first link asks for, and sentences on what of it is not possible."""
    params = st.query_params.to_dict()
    settings, sentences = catalogue.open_link(params, preset)
    asked = catalogue.shared(
        catalogue.OF_PARAMETER[name].key for name in params if name in catalogue.OF_PARAMETER
    )
    return Wanted(settings, by_hand=bool(asked)), sentences


def widget_arguments(
    setting: str, value: Any, widget: str = "", also: Settings | None = None
) -> dict[str, Any]:
    """Return the arguments that bind a widget, which shows this value, to its setting.

    widget: its name, where a setting has two widgets. also: other settings that a move of it sets as well.
    """

    def remember(moved_to: Any) -> None:
        st.session_state.setdefault(_MOVED, {}).update({setting: moved_to} | (also or {}))

    follows = setting not in st.session_state.get(_MOVED, {})
    return widget_keys.widget_arguments(widget or setting, value, remember, follows)


def set_to(key: str, value: object) -> None:
    """Set a setting from a page's own button, as of the next run of the page."""
    st.session_state.setdefault(_MOVED, {})[key] = value
    widget_keys.forget_moved_widget()


def follow(key: str, value: object) -> Settings:
    """Set a setting before its widget is shown, unless its flag `{key}_set` is on; return all settings."""
    if not st.session_state[_LAST][f"{key}_set"]:
        st.session_state[_WANTED].settings[key] = value
        st.session_state[_LAST][key] = value
    return settings()


def has_pending_move() -> bool:
    """Return whether a fragment has moved a setting, which only a run of the whole page applies."""
    return _MOVED in st.session_state


def set_all(requested: Settings) -> None:
    possible, _ = catalogue.reconcile(requested)
    st.session_state[_LAST], st.session_state[_NOTICES] = possible, []
    st.session_state[_WANTED] = Wanted(possible, by_hand=True)
    st.session_state.pop(_MOVED, None)
    widget_keys.forget_moved_widget()


def label_with_ends(choice: Choice, plain: bool) -> str:
    """Return a control's name and the meaning of its ends, without markup, for screen readers."""
    ends = choice.key == "epsilon" or (choice.key == "delta" and not plain)  # in plain view it would wrap
    return choice.name(plain) + (": strict ↔ loose" if ends else "")


def show(key: str, name: str, plain: bool, widget: str = "", **more: Any) -> None:
    """Show a control under this name; `more` adds or replaces arguments of the widget.

    Each widget has its setting as its default: a browser whose connection broke may have missed the run that
    set it, and then takes the default as chosen. widget: its name, where a setting has two widgets.
    """
    choice, now = CHOICES[key], settings()[key]
    default = {"value": now} if choice.numeric else {"index": choice.options.index(now)}
    options = {"options": choice.options, "format_func": partial(choice.option, plain=plain)}
    _CONTROLS[choice.numeric](name, **options | widget_arguments(key, now, widget) | default | more)


def update(preset: str, full_only: bool = False, hidden: bool = False) -> Settings:
    """Make the settings of link and widgets possible, and set the link. Call it before any widget.

    preset: that at which the page opens. full_only: whether the page has no plain view. hidden: whether it
    shows no settings that pages share, so that nothing is said of them.
    """
    widget_keys.finish()
    if _WANTED not in st.session_state:
        wanted, sentences = _first_wanted(preset)
    else:
        before: Wanted = st.session_state[_WANTED]
        shown, pending = before.possible, st.session_state.get(_MOVED, {})
        moves = {key: value for key, value in pending.items() if shown[key] != value}
        _note_move(shown, moves)
        wanted = before.after(moves).on(preset)
        # Where nothing moved the page refreshed itself, so the earlier notices still apply.
        sentences = st.session_state[_NOTICES]
        if moves:
            _, sentences = catalogue.reconcile(wanted.settings, wanted.moved, shown)
    # Streamlit may interrupt this run after any statement when the user moves another widget, so the state
    # must be consistent after each line.
    st.session_state[_NOTICES] = sentences
    now = wanted.possible | ({"view": "full"} if full_only else {})
    st.session_state[_LAST], st.session_state[_FULL_ONLY], st.session_state[_HIDDEN] = now, full_only, hidden
    st.session_state[_WANTED] = wanted
    st.session_state.pop(_MOVED, None)
    link = catalogue.to_link(now, named=wanted.by_hand)
    if st.query_params.to_dict() != link:
        st.query_params.from_dict(link)
    return now


def _note_move(before: Settings, moves: Settings) -> None:
    """Note the slider that was moved, and how far: what it may be moved to next is prefetched."""
    moved = next((key for key in moves if CHOICES[key].numeric), None)
    if moved is not None:
        options = CHOICES[moved].options
        st.session_state[_LAST_MOVE] = moved, options.index(moves[moved]) - options.index(before[moved])


def show_control(key: str) -> None:
    choice, now = CHOICES[key], settings()
    plain = now["view"] == "plain"
    if isinstance(choice.default, bool):
        st.checkbox(choice.name(plain), now[key], help=choice.help or None, **widget_arguments(key, now[key]))
    else:
        show(key, label_with_ends(choice, plain), plain, help=choice.help or None)


def beside(name: str, spec: int | Sequence[float]) -> list[DeltaGenerator]:
    """Return columns for controls in a row, which a telephone scrolls sideways; spec: as `columns` has it."""
    return st.container(key=f"row-of-{name}").columns(spec, vertical_alignment="bottom")


def view_switches(
    shown: Collection[str] = ("view", "ghost", "loadings"), download: Callable[[], object] | None = None
) -> None:
    """Show the switches of what is shown, not measured: detail, ghost (the last result, dotted), loadings."""
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        for key, name, help_text in _SWITCHES:
            if key in shown:
                now = settings()[key]
                st.toggle(name, now, help=help_text, width="content", **widget_arguments(key, now))
        if "view" in shown and not st.session_state.get(_FULL_ONLY):
            show_word_control("view", width="content")
        if download is not None:
            download()


def show_word_control(
    key: str, control: Callable[..., object] = st.segmented_control, widget: str = "", **more: Any
) -> None:
    """Show a segmented control, or another `control`; `more` may replace its default."""
    choice = CHOICES[key]
    options = {"options": choice.options, "default": settings()[key], "format_func": choice.text} | more
    binding = widget_arguments(key, options["default"], widget)
    control(choice.label, label_visibility="collapsed", required=True, **options | binding)


def settings() -> Settings:
    return dict(st.session_state[_LAST])


def last_move() -> tuple[str, int] | None:
    """Return the key of the slider that was moved last, and by how many options; None before any was."""
    return st.session_state.get(_LAST_MOVE)


def notices() -> None:
    sentences = st.session_state[_NOTICES]
    if sentences:
        st.info("  \n".join(sentences).replace("*", r"\*"))
    now = settings()
    warning = phrases.delta_too_large if now["view"] == "plain" else text.large_delta
    note = warning(now["delta"], catalogue.sizes(now)[0])  # by the number of patients
    if note and not st.session_state.get(_HIDDEN):
        st.caption(note)


def head(
    title: str,
    introduction: str,
    steps: Sequence[str] = (),
    shown: Collection[str] = ("view",),
    beside: str = "",
    download: Callable[[], object] | None = None,
) -> Settings:
    """Show a page's title, switches and notices; return the settings of all controls.

    Arguments are as `Document` has them. download: shows the button that downloads the page.
    """
    page = re.sub(r"\W+", "_", title.lower())
    with st.container(key="title", horizontal=True, vertical_alignment="center"):
        st.title(title, anchor=False)
        view_switches(shown, download)
    with st.container(key="lead", horizontal=True, vertical_alignment="center"):
        if steps:
            newcomer.introduction(page, steps, introduction)
        else:
            st.markdown(introduction)
        if beside:
            show_word_control(beside, width="content")
    with st.container():  # always there: what follows must keep its position, or the figure is built again
        notices()
    return settings()


def headline(sentence: str) -> None:
    if has_pending_move():  # a fragment runs, which does not apply the move: run the whole page
        st.rerun()
    shown = f"**{sentence}**"
    if sentence == text.MEASURING:
        # The last answer, made invisible, keeps the room of the next one: what stands below does not jump.
        shown = f"{shown}\n\n{st.session_state.get(_HEADLINE, '&nbsp;')}"
    else:
        st.session_state[_HEADLINE] = shown
    st.container(key="headline").markdown(shown)


def show_on_telephone(*keys: str) -> None:
    now = settings()
    fixed, plain = catalogue.fixed(now), now["view"] == "plain"
    with st.container(key="main-settings", horizontal=True):
        for key in keys:
            if key not in fixed:
                show(key, CHOICES[key].name(plain), plain, widget=f"telephone {key}")


def show_numbers(key: str, plain: bool, **more: Any) -> str:
    """Show a field for eigenvalues or correlations, and return why its text is refused, or "".

    Text that is refused stays in the field, so that it can be corrected; the setting stays as it was.
    """
    choice, value = CHOICES[key], settings()[key]
    text, refused = st.session_state.get(_REFUSED, ("", ""))
    shown = text if refused else stated_text.shown(value)

    def remember(typed: str) -> None:
        st.session_state[_REFUSED] = ("", "")
        try:
            st.session_state.setdefault(_MOVED, {})[key] = stated_text.typed(typed)
        except ValueError as reason:
            st.session_state[_REFUSED] = (typed, str(reason))

    binding = widget_keys.widget_arguments(key, shown, remember, key not in st.session_state.get(_MOVED, {}))
    st.text_area(choice.name(plain), shown, help=choice.help, max_chars=_MOST_LETTERS, **binding | more)
    return str(refused)


def show_panel_pills(key: str) -> None:
    show_word_control(key, st.pills, wrap=True)


def show_select_box(key: str, options: Sequence[Any], shown: Any = None, also: Settings | None = None) -> Any:
    """Show a box that chooses one of `options`, and return the option that it shows.

    The link keeps what was asked for, even while that is not among them: then the first is shown, by default.
    also: other settings that a choice sets as well.
    """
    choice, asked = CHOICES[key], settings()[key]
    if shown is None:
        shown = asked if asked in options else options[0]
    option_text = partial(choice.option, plain=settings()["view"] == "plain")
    binding = widget_arguments(key, shown, also=also)
    st.selectbox(choice.label, options, options.index(shown), format_func=option_text, **binding)
    return shown
