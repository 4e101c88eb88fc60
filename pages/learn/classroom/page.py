"""Give a lesson of 45 minutes that runs on telephones, on paper, and as exercises to hand in."""

import streamlit as st

from pages.learn.classroom import exercises, lesson_file, text
from pages.learn.classroom.lesson import build, paper
from pages.shared.server.base_path import base_path
from pages.shared.settings import newcomer, widgets

FRAME_HEIGHT = 820  # pixels: a screen of the lesson on a desk

st.title(text.TITLE, anchor=False)
newcomer.introduction("classroom", text.STEPS, text.INTRODUCTION)
widgets.notices()
content = build.stored()
with st.container(horizontal=True):
    for label, data, name in (
        ("Download the lesson", lesson_file.whole(), "lesson.html"),
        ("Download the worksheet", paper.stored("worksheet"), "worksheet.html"),
        ("Download the key", paper.stored("key"), "key.html"),
    ):
        st.download_button(label, data, name, "text/html", on_click="ignore")
address = lesson_file.address(st.context.url)
if address:
    with st.expander("QR code for the class"):
        st.image(lesson_file.qr_code(address), alt=f"QR code of {address}")
        st.markdown(f"[{address}]({address})")
else:
    st.info(text.ON_THIS_MACHINE)
st.caption(text.download())
st.markdown(f"**Try this:** {text.TRY_THIS}")
st.iframe(f"{base_path()}{lesson_file.PATH}", height=FRAME_HEIGHT, alt="The lesson")
st.header("Timetable")
st.table(text.timetable(content), hide_index=True, border="horizontal")
st.header("What a student must know")
st.markdown("\n".join(f"- {each}" for each in text.MUST_KNOW))
st.header("Exercises to hand in")
st.markdown(exercises.tasks(here=True))
st.header("For the teacher")
with st.expander("Answers of the lesson"):
    st.markdown(text.answers(content))
with st.expander("Answers of the exercises"):
    st.markdown(exercises.solutions())
