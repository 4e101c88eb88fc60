"""Test the class's page, its file's address and how fast a class has it."""

import gzip

import pytest

from pages.learn.classroom import lesson_file, text
from pages.learn.classroom.lesson import build, frames, paper

PAGE = "learn/classroom/page.py"
CONTENT = build.stored()


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("http://127.0.0.1:8501/classroom", ""),
        ("http://localhost:8501/classroom", ""),
        ("http://[::1]:8501/classroom", ""),
        (None, ""),
        ("https://pca.example.org/classroom?x=1", "https://pca.example.org/lesson.html"),
        ("http://ward:8501/classroom", "http://ward:8501/lesson.html"),
    ],
)
def test_a_code_is_drawn_only_where_others_reach_the_file(url, link):
    assert lesson_file.address(url) == link


def test_the_code_is_one_and_dark_on_white():
    drawn = lesson_file.qr_code("https://pca.example.org/lesson.html")
    assert drawn.startswith("<svg") and "#fff" in drawn and "#000" in drawn


def test_two_hundred_downloads_take_less_than_ten_seconds():
    assert gzip.decompress(lesson_file.packed()) == lesson_file.whole()
    assert lesson_file.seconds() < 10
    assert f"{lesson_file.seconds():.1f} seconds" in text.download()


def test_the_timetable_is_of_45_minutes():
    rows = text.timetable(CONTENT)
    assert rows[0]["Minutes"] == "0 to 8" and rows[-1]["Minutes"] == "40 to 45"
    assert [row["Screen"] for row in rows[:-1]] == [screen["title"] for screen in CONTENT["screens"]]


def test_the_answers_name_what_is_right_and_each_mistake():
    listed = text.answers(CONTENT)
    for screen in CONTENT["screens"]:
        for outcome in screen["predict"]["outcomes"]:
            assert outcome["says"] in listed
    goal = frames.COUNT_EPSILONS[frames.count_goal()]
    assert f"at most 60 times in 100. **{goal:g}**" in listed


def test_the_page_has_the_lesson_and_says_how_to_hand_it_out(screen):
    page = screen(PAGE)
    assert page.notices == text.ON_THIS_MACHINE
    assert [fold.label for fold in page.app.expander] == ["Answers of the lesson", "Answers of the exercises"]
    (frame,) = page.app.get("iframe")
    assert frame.proto.src == lesson_file.PATH


@pytest.mark.parametrize(("name", "key"), [("worksheet", False), ("key", True)])
def test_papers_are_what_the_command_writes(name, key):
    assert paper.html(CONTENT, key).encode() == paper.stored(name), "run `make lesson`"


def test_only_the_key_has_answers():
    worksheet, key = (paper.stored(name).decode() for name in ("worksheet", "key"))
    assert "<b>" not in worksheet and worksheet.count("&nbsp;") > 15
    right = frames.count(frames.DRAWS[0])[frames.COUNT_EPSILONS.index(frames.ASKED_EPSILON)].right
    assert f"<b>{right}</b> " in key.replace("</span>", " ")
