"""A talk for a hospital's board in eight steps: one chart and two controls each, speaker notes, a summary."""

from pathlib import Path

import streamlit as st

from pages.shared import (
    controls,
    exports,
    live,
    story_controls,
    story_origins,
    story_sheet,
    story_slides,
    story_terms,
    story_words,
)
from pages.shared.story_choices import STEPS
from pages.shared.story_choices import controls as controls_of

st.html(Path(__file__).parent.parent / "shared" / "story.css")
settings = controls.settings()
step = settings["story.step"]
with st.spinner(story_words.waiting(settings)):
    slide = story_slides.slide(settings)
with st.container(key="story"):
    with st.container(key="story-steps", horizontal=True, vertical_alignment="center"):
        story_controls.step_through("story.step", "Back", "Next")
        st.markdown(f"**Step {step} of {STEPS}.** {story_words.opening(settings)}")
    with st.container():  # always there: what follows must keep its place, or the figure is built anew
        controls.notices(plain=True)
    st.title(slide.said.title, anchor=False)
    left, right = st.columns([5, 7], gap="medium")
    with left:
        st.container(key="story-finding").markdown(slide.said.finding)
        st.markdown("  \n".join(slide.said.more))
        terms = "\n".join(f"- **{term}:** {words}" for term, words in slide.said.glosses)
        st.container(key="story-terms").markdown(terms)
        for key in controls_of(step, settings):
            controls.offer(key, story_terms.CONTROLS[key], plain=True)
    with right:
        live.figure(slide.figure, key=f"story {step}", save=f"dppca-story-{step}", says=slide.says)
    if step == STEPS:
        story_sheet.buttons(settings)
    st.markdown(f"**Try this:** {slide.said.try_this}")
    controls.choose("story.notes")
    if settings["story.notes"]:
        story_slides.notes(step, slide.said)
exports.downloads(lambda: slide.table, lambda: slide.figure, f"dppca-story-{step}", slide.said.title)
story_origins.page(settings)
