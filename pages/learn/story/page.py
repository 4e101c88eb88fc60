"""Give a talk for a hospital's board in eight steps, each with one chart and two controls."""

from pathlib import Path

import streamlit as st

from pages.learn.story import controls, glossary, handout, slides, text, view
from pages.learn.story.settings import STEPS, step_controls
from pages.learn.story.units import UNITS
from pages.shared.figure import component
from pages.shared.reports import sources, take_along
from pages.shared.settings import in_context, newcomer, widgets
from pages.shared.settings.catalogue import CHOICES

st.html(Path(__file__).with_name("story.css"))
settings = widgets.settings()
step = settings["story.step"]
with st.spinner(text.waiting(settings)):
    slide = slides.slide(settings)
newcomer.introduction("story", text.STEPS, over=step > 1)
with st.container(key="story"):
    with st.container(key="story-steps", horizontal=True, vertical_alignment="center"):
        controls.step_through()
        st.markdown(f"**Step {step} of {STEPS}.** {text.opening(settings)}")
    with st.container():  # always there: what follows must keep its position, or the figure is built again
        widgets.notices(plain=True)
    st.title(slide.title, anchor=False)
    left, right = st.columns([5, 7], gap="medium")
    with left:
        st.container(key="story-finding").markdown(slide.text.finding)
        st.container(key="story-more").markdown("  \n".join(slide.text.more))
        terms = "\n".join(f"- **{term}:** {words}" for term, words in slide.text.glosses)
        st.container(key="story-terms").markdown(terms)
        for place, key in zip(("first", "second"), step_controls(step, settings), strict=True):
            with st.container(key=f"story-{place}"):  # on a telephone the first stands above the chart
                widgets.show(key, glossary.CONTROLS.get(key) or CHOICES[key].plain, plain=True)
        if "epsilon" in step_controls(step, settings):
            in_context.show_published_releases(plain=True)
    with right, st.container(key="story-figure"):
        component.figure(slide.figure, key=f"story {step}", says=slide.text.sentences)
    if step == STEPS:
        handout.buttons(settings)
    st.markdown(f"**Try this:** {slide.text.try_this}")
    widgets.show_control("story.notes")
    if settings["story.notes"]:
        slides.notes(step, slide.text)
take_along.menu(
    *(f"story {step}", f"dppca-story-{step}", slide.title, lambda: slide.figure),
    code=lambda: view.code(settings),
)
fold = st.expander("For the statistician", key="statistician", on_change="rerun")
if fold.open:
    with fold:
        widgets.show_select_box("metric", UNITS)
        for paragraph in slides.for_the_statistician(settings):
            st.markdown(paragraph)
        st.caption(f"Seed {settings['seed']}. {sources.LIMITS}")
