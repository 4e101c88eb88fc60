"""Test the file of the lesson: its numbers against the core's, its answers, its size."""

import gzip
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from dppca_core.numerics import linalg
from pages.learn.classroom import lesson_file
from pages.learn.classroom.lesson import build, frames, screens

TEXT = lesson_file.whole().decode()
STORED = build.stored()
COUNT, MEAN, POINTS, ANGLE, WAYS = STORED["screens"]
EVERY_DRAW = pytest.mark.parametrize("draw", range(len(frames.DRAWS)))
LIMIT, PACKED_LIMIT = 500_000, 150_000  # bytes
NUMBER = r"(\d+(?:\.\d+)?)"


def sentences(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield from re.split(r"(?<=[.?!:;])\s+", part)
    elif isinstance(part, dict):
        for key, value in part.items():
            yield from () if key in ("key", "terms", "formula", "draws") else sentences(value)
    elif isinstance(part, list):
        for value in part:
            yield from sentences(value)


def test_the_file_is_what_the_command_writes():
    assert build.html(STORED) == TEXT, "run `make lesson`"


def test_the_numbers_are_the_cores(monkeypatch):
    """Of the first draw, which a class sees, all is computed again."""
    monkeypatch.setattr(frames, "DRAWS", frames.DRAWS[:1])
    for computed, stored in zip(screens.screens(), STORED["screens"], strict=True):
        computed["setup"] |= {"reach": stored["setup"].get("reach")}  # which follows from all draws
        expected = stored | {"draws": stored["draws"][:1], "setup": {"reach": None, **stored["setup"]}}
        assert json.loads(json.dumps(computed)) == expected


def test_it_is_small_and_asks_for_nothing():
    assert len(TEXT.encode()) <= LIMIT and len(gzip.compress(TEXT.encode(), 6)) <= PACKED_LIMIT
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', TEXT)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert re.findall(r"https?://[^\s\"'<]+", TEXT) == ["http://www.w3.org/2000/svg"]


def test_each_screen_predicts_moves_and_explains():
    for screen in STORED["screens"]:
        for asked in (screen["predict"], screen["task"]):
            assert sum(outcome["right"] for outcome in asked["outcomes"]) == 1
            assert all(outcome["says"] for outcome in asked["outcomes"])
        assert len(screen["predict"]["outcomes"]) >= 4
        assert len(list(sentences(" ".join(screen["explain"]).replace(":", ",")))) == 3
        assert screen["formula"] and screen["claim"]


def test_sentences_are_short():
    long = [s for s in sentences(STORED["screens"]) if len(re.findall(r"[^\s%+=·−]+", s)) > 20]
    assert long == []


@EVERY_DRAW
def test_a_slider_has_one_right_place_and_starts_elsewhere(draw):
    for screen in (COUNT, MEAN, ANGLE, WAYS):
        answers = screen["draws"][draw]["answers"][0]
        right = [i for i, outcome in enumerate(answers) if screen["task"]["outcomes"][outcome]["right"]]
        assert right == list(range(right[0], right[-1] + 1)) and len(right) <= 3
        assert screen["ways"][0]["start"] not in right
        for way, shown in zip(screen["ways"], screen["draws"][draw]["frames"], strict=True):
            assert len(way["values"]) == len(shown)


@EVERY_DRAW
def test_the_attacker_is_right_as_often_as_the_dots_and_the_formula_say(draw):
    limit = COUNT["setup"]["limit"]
    for epsilon, frame in zip(frames.COUNT_EPSILONS, COUNT["draws"][draw]["frames"][0], strict=True):
        right = sum(value > limit for value in frame["having"]) + sum(v <= limit for v in frame["lacking"])
        guess, counted = (float(n) for n in re.findall(rf"{NUMBER} times(?: in 100)?\.", frame["says"]))
        assert counted == right
        std = frames.count(frames.DRAWS[draw])[frames.COUNT_EPSILONS.index(epsilon)].std
        assert guess == round(100 * norm.cdf(1 / (2 * std))) if std else guess == 100


def test_outcomes_of_a_number_cover_all_that_can_be_typed():
    says = {value: screens.judged(COUNT, value) for value in (0, 49, 50, 52, 55, 60, 73, 90, 99, 100)}
    assert says[55]["right"] and not any(says[v]["right"] for v in says if v not in (52, 55))
    names = [says[value]["name"] for value in (49, 50, 73, 99, 60)]
    assert names == ["less than a coin", "50, as a coin", "73, the most allowed", "95 or more", "too many"]


@EVERY_DRAW
def test_the_error_of_a_mean_is_that_of_many_releases(draw):
    values = frames.blood_values()
    for cap, drawn in zip(frames.CAPS, frames.mean(frames.DRAWS[draw]), strict=True):
        assert drawn.shift == pytest.approx(np.minimum(values, cap).mean() - values.mean())
        many = drawn.shift + drawn.std * np.random.default_rng(draw).standard_normal(100_000)
        assert drawn.error == pytest.approx(math.sqrt(np.mean(many**2)), rel=0.02)
        assert drawn.bars.sum() == len(values)


@EVERY_DRAW
def test_one_patient_can_turn_the_line_and_the_lines_are_told_apart(draw):
    cloud = frames.cloud(frames.DRAWS[draw])
    reach = POINTS["setup"]["reach"]
    most = 0.0
    for i in range(frames.POINTS):
        for corner in ((-reach, reach), (reach, -reach)):
            points = cloud.points.copy()
            points[i] = corner
            x, y = linalg.top_eigenspace(np.cov(points.T), 1)[:, 0]
            turned = abs(math.degrees(math.atan2(y, x)) - cloud.component) % 180
            most = max(most, min(turned, 180 - turned))
    assert most > frames.TURNED
    assert cloud.component - cloud.regression > frames.LINE_TOLERANCE


@EVERY_DRAW
def test_four_times_the_patients_quarter_the_angle(draw):
    few, many = (frames.angle_at(frames.DRAWS[draw], n) for n in (2000, 8000))
    assert few / many == pytest.approx(4, rel=0.2)


@EVERY_DRAW
def test_what_is_said_of_ways_holds_for_every_draw(draw):
    shown = WAYS["draws"][draw]["frames"][0]
    at = shown[frames.SIZES.index(frames.ASKED_SIZE)]["shares"]
    alone, published, nobody, sealed, place = at
    assert sealed > alone + 2 and alone > nobody + 5 and nobody > published + 5
    assert sealed == pytest.approx(place, abs=1)
    for frame in shown:  # the published method recovers no more than the best
        best, paper = frame["shares"][2:], frame["published"][2:]
        assert all(ours >= theirs - 1 for ours, theirs in zip(best, paper, strict=True))
