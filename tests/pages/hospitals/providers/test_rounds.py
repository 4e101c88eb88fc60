"""One run on the providers page: its rounds, its messages, two who compare them, and real runs' records."""

import contextlib
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from dppca_core import Budget, datasets
from dppca_core.experiments.collaboration import transcript
from dppca_core.federated import coordinator, in_process, record
from dppca_core.federated.exchange import ALL
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise
from pages.hospitals.providers import (
    message_charts,
    network_diagram,
    run_panels,
    run_text,
    runs,
)
from pages.hospitals.providers import (
    view as joins,
)
from pages.shared import text
from pages.shared.reports import downloads
from pages.shared.settings import catalogue

PAGE = "hospitals/providers/page.py"
SMALL = {"d": "30", "n": "20000", "k": "2", "s": "6", "shat": "10", "N": "3", "T": "4"}
SYMBOLS = ("ε", "δ", "Θ", "σ", "ŝ", "ᵢ")
SIZES = (190, 190, 189)


def settings(**changed):
    small = {"d": 30, "n": 20_000, "k": 2, "s": 6, "s_hat": 10, "providers": 3, "iterations": 4}
    return catalogue.defaults() | small | changed


def simulated(way, **changed):
    of, _ = joins.recipe(settings(**changed))
    return runs.from_transcript(transcript.simulate(of, way))


def real(names=("North", "South", "East")):
    """What a server would have written of three hospitals with the breast-cancer table."""
    options = (("iterations", 3), ("s_hat", 30))
    plan = Plan("demo", "dps_pca", SIZES, 30, 2, Budget(1e3, 1e-5), options, names)
    noise = [Noise(seed=(1, i)) for i in range(3)]
    cohort = datasets.cohort("breast_cancer", SIZES, 0)
    start = coordinator.public_start(plan, np.random.default_rng(0))
    found, _ = in_process.simulate(plan, cohort, noise, start)
    return found


def raw(found):
    return "\n".join(record.lines(found)).encode()


@pytest.mark.parametrize("way", transcript.CARRIED)
def test_the_ring_has_a_step_for_every_question_and_answer_with_its_bytes(way):
    shown = simulated(way, largest_share=0.6)
    figure = network_diagram.figure(shown, settings())
    rounds = shown.record.rounds
    asked = sum(done.question.payload > 0 for done in rounds)
    assert len(figure["frames"]) == len(figure["words"]) == len(rounds) + asked
    last = figure["frames"][figure["active"]]["traces"]
    sent = next(iter(rounds[-1].answers.values())).message.payload
    assert last["4"]["text"] == [text.size(sent)] * 3 == [figure["words"][-1]["tiles"][2][0]] * 3
    assert last["6"]["y"][-1] == pytest.approx(shown.errors[-1], rel=1e-3)
    width = np.array(figure["data"][5]["marker"]["size"])
    np.testing.assert_allclose((width / width[0]) ** 2, [1, 1 / 3, 1 / 3], rtol=1e-2)
    masked = ["masked" in words["sentence"] for words in figure["words"][1::2]]
    assert all(masked) if shown.summed else not any(masked)
    assert "<script" in downloads.html(figure, "rounds")


PHONE = 86  # pixels of the ring's radius where the screen has 390


def boxes(trace, anchors):
    """(left, below, right, above) in pixels of each text, at 6.2 pixels a letter and 14 a line."""
    for x, y, words, anchor in zip(trace["x"], trace["y"], trace["text"], anchors, strict=True):
        lines = words.split("<br>")
        wide, tall = 6.2 * max(map(len, lines)), 14.0 * len(lines)
        left = PHONE * x - {"left": wide, "center": wide / 2, "right": 0}[anchor.split()[1]]
        below = PHONE * y - {"bottom": tall, "middle": tall / 2, "top": 0}[anchor.split()[0]]
        yield left, below, left + wide, below + tall


def inside(points, box):
    """How many of these points, in radii, lie inside a box of pixels."""
    points = PHONE * np.asarray(points)
    return int(((points > box[:2]) & (points < box[2:])).all(axis=1).sum())


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 9, 12])
def test_on_a_telephone_no_words_lie_on_arrows_dots_or_the_server(count):
    figure = network_diagram.figure(simulated("dps_pca", providers=count, n=10**6), settings())
    data, turn = figure["data"], np.linspace(0, 2 * np.pi, 60)
    dots = data[5]
    circles = np.concatenate(
        [
            np.stack([x + w / 2 / PHONE * np.cos(turn), y + w / 2 / PHONE * np.sin(turn)], axis=1)
            for x, y, w in zip(dots["x"], dots["y"], dots["marker"]["size"], strict=True)
        ]
    )
    shafts = []
    for trace in (data[0], data[2]):
        ends = np.array([[x, y] for x, y in zip(trace["x"], trace["y"], strict=True) if x is not None])
        shafts += [(1 - t) * ends[::2] + t * ends[1::2] for t in np.linspace(0, 1, 40)]
    square = np.stack(np.meshgrid(*[np.linspace(-22, 22, 12) / PHONE] * 2), axis=-1).reshape(-1, 2)
    for frame in figure["frames"][-2:]:
        labels = frame["traces"]["4"]
        assert len(labels["text"]) == (count if count <= 6 else 0)
        for box in boxes(labels, ["middle center"] * len(labels["text"])):
            assert inside(np.concatenate([*shafts, circles, square]), box) == 0
    names = list(boxes(data[7], data[7]["textposition"]))
    assert len(names) == count
    for box in names:
        assert inside(circles, box) == 0 and abs(box[0]) < 178 and abs(box[2]) < 178


def test_what_takes_seconds_says_so_first(screen, monkeypatch):
    said = []

    @contextlib.contextmanager
    def spinner(words):
        said.append(words)
        yield

    monkeypatch.setattr(run_panels.st, "spinner", spinner)
    screen(PAGE, **SMALL | {"join.panel": "rounds"})
    assert said == [
        "Passing the messages of 3 hospitals with 20,000 patients and 30 measurements of each: about 1 s."
    ]


def test_bytes_so_far_add_up():
    shown = simulated("dps_pca")
    asked = sum(done.question.payload for done in shown.record.rounds)
    assert run_text.travelled(shown, 4, True) == 3 * (asked + 4 * 8 * 30 * 2)
    last = shown.record.rounds[-1].question.payload
    assert run_text.travelled(shown, 4, False) == 3 * (asked + 3 * 8 * 30 * 2)
    assert run_text.travelled(shown, 3, True) == 3 * (asked - last + 3 * 8 * 30 * 2)


def test_the_scatter_is_the_message_against_what_it_hides():
    shown = simulated("dps_pca")
    figure = message_charts.message(shown, 1, settings())
    dots = next(i for i, trace in enumerate(figure["data"]) if trace["name"] == "entries")
    done, hidden = shown.record.rounds[2], shown.transcript.hidden[2]
    drawn = figure["frames"][2]["traces"][str(dots)]
    np.testing.assert_allclose(drawn["x"], hidden[1]["product"].ravel(), rtol=1e-3)
    np.testing.assert_allclose(drawn["y"], done.answers[1].message.arrays["product"].ravel(), rtol=1e-3)
    heats = [trace for trace in figure["data"] if trace["type"] == "heatmap"]
    assert len(heats) == 2 and len({(h["zmin"], h["zmax"]) for h in heats}) == 1
    assert len(figure["words"]) == 4 and "the noise is" in figure["words"][0]["sentence"]
    secure = simulated("dps_pca secure")
    assert (
        "the sum of all messages" in message_charts.message(secure, ALL, settings())["words"][0]["sentence"]
    )


def test_two_who_compare_recover_the_difference_only_where_noise_is_shared():
    runs_apart = [simulated(way) for way in ("dps_pca shared", "dps_pca")]
    figure = message_charts.pair(*runs_apart, 0, 2, settings())
    for frame, words in zip(figure["frames"], figure["words"], strict=True):
        shared, own = frame["traces"]["1"], frame["traces"]["3"]
        np.testing.assert_allclose(shared["x"], shared["y"], rtol=1e-3)
        assert np.std(np.subtract(own["y"], own["x"])) > 1
        assert "two messages give the difference of the two hospitals' sums exactly" in words["sentence"]
    table = run_panels.differences(*runs_apart, 0, 2)
    worst = table.groupby("noise")["relative_error"].max()
    assert worst["shared"] < 1e-12 and worst["independent"] > 0.1


@pytest.mark.parametrize("panel", ["rounds", "sees", "pair"])
@pytest.mark.parametrize("view", ["board", "analyst"])
def test_the_views_of_a_run_open_and_a_board_sees_no_symbols(screen, panel, view):
    page = screen(PAGE, view=view, **SMALL | {"join.panel": panel, "join.hospital": "9"})
    assert page.figure["frames"] and page.figure["active"] == len(page.figure["frames"]) - 1
    assert page.link["join.panel"] == panel and "Try this" in page.markdown
    if panel != "rounds":
        assert page.app.selectbox(key="join.hospital").value == 3
    if view == "board":
        drawn = {key: page.figure[key] for key in ("layout", "words", "tiles", "legend")}
        said = page.markdown + page.captions + json.dumps(drawn, ensure_ascii=False)
        assert [symbol for symbol in SYMBOLS if symbol in said] == []


def test_the_round_of_the_link_is_shown_first(screen):
    page = screen(PAGE, **SMALL | {"join.panel": "rounds", "join.round": "2"})
    assert page.words()["at"] == "round 2: answers"
    page = screen(PAGE, **SMALL | {"join.panel": "sees", "join.round": "2", "join.way": "full"})
    assert page.words()["at"] == "round 1 of 1"


def test_one_hospital_has_nobody_to_compare_with(screen):
    page = screen(PAGE, **SMALL | {"join.panel": "pair", "N": "1"})
    assert "nobody to compare its messages with" in page.notices
    page = screen(PAGE, **SMALL | {"join.panel": "pair", "join.hospital": "2", "join.other": "2"})
    assert "shown beside hospital 3" in page.captions


def test_what_is_too_large_is_refused_in_a_sentence(screen):
    link = {"join.panel": "rounds", "d": "2000", "n": "1000000", "N": "200", "repeats": "1"}
    assert "Not simulated message by message: 200 hospitals' own moments take 6.4 GB" in (
        screen(PAGE, **link).notices
    )


def test_a_stored_run_is_shown_with_its_own_settings(screen, tmp_path, monkeypatch):
    (tmp_path / "breast-cancer.jsonl").write_bytes(raw(real()))
    monkeypatch.setattr(runs, "STORED", tmp_path)
    runs.open_stored.cache_clear()
    page = screen(PAGE, **SMALL | {"join.panel": "rounds", "join.source": "stored"})
    assert (
        "DPS-PCA with 3 hospitals and 569 patients in 3 rounds, between separate processes" in page.markdown
    )
    assert "It ends with error" in page.markdown and "the sliders do not move it" in page.captions
    page = screen(PAGE, **SMALL | {"join.panel": "sees", "join.source": "stored", "join.hospital": "2"})
    assert "What the server sees of South" in page.words()["sentence"]
    assert "no record of a real run holds it" in page.words()["sentence"]
    runs.open_stored.cache_clear()
    monkeypatch.setattr(runs, "STORED", tmp_path / "nothing")
    assert (
        "No run is stored"
        in screen(PAGE, **SMALL | {"join.panel": "rounds", "join.source": "stored"}).notices
    )


def test_a_damaged_stored_run_is_one_sentence(screen, tmp_path, monkeypatch):
    name = runs.stored()[0]
    whole = (runs.STORED / f"{name}.jsonl").read_text(encoding="utf-8")
    (tmp_path / f"{name}.jsonl").write_text(whole[: len(whole) // 3].replace("{", "[", 3), encoding="utf-8")
    monkeypatch.setattr(runs, "STORED", tmp_path)
    runs.open_stored.cache_clear()
    page = screen(PAGE, **SMALL | {"join.panel": "rounds", "join.source": "stored"})
    assert f"data/runs/{name}.jsonl cannot be read: " in page.notices
    runs.open_stored.cache_clear()


def test_stored_runs_came_to_their_end_between_processes():
    assert runs.stored()
    for name in runs.stored():
        shown = runs.open_stored(name)
        assert shown.record.basis is not None and shown.over_network
        answers = [one for done in shown.record.rounds for one in done.answers.values()]
        assert all(one.wire_bytes > one.message.payload > 0 for one in answers)
        assert shown.errors is not None and shown.errors[-1] < shown.errors[0]


def test_a_message_is_not_called_what_travels_on_the_wire():
    """The record knows a message with its header: an engine's and its encryption's own bytes it does not."""
    shown = runs.open_stored(runs.stored()[0])
    answers = [one for done in shown.record.rounds for one in done.answers.values()]
    numbers, whole = (
        text.size(sum(sizes))
        for sizes in ([a.message.payload for a in answers], [a.wire_bytes for a in answers])
    )
    said = run_text.overhead(shown)
    assert f"hold {numbers} of numbers, {whole} with their headers." in said and "not in the record" in said
    titles = run_text.tile_titles(shown)
    assert "wire" not in " ".join([said, *titles, *run_panels.table(shown).columns])
    assert run_text.overhead(simulated("dps_pca")) == ""


def test_a_run_of_unknown_truth_shows_how_far_it_moved():
    found = real()
    unknown = runs.from_record(found)
    assert unknown.errors is None
    figure = network_diagram.figure(unknown, settings())
    assert figure["tiles"][0] == "Moved by this round"
    last = figure["frames"][-1]["traces"]["6"]
    assert last["x"] == [1, 2, 3]
    np.testing.assert_allclose(last["y"], transcript.moves(found), rtol=1e-3)


def test_a_hospital_that_fails_is_told_and_a_run_without_an_end_as_well():
    found = real()
    first, second = found.rounds[:2]
    why = {2: "did not answer within 5 s"}
    broken = record.Round(2, second.question, {0: second.answers[0]}, why, second.basis, 1.0)
    ended = "The run ended in round 2: East did not answer within 5 s."
    shown = runs.read(raw(record.Record(found.plan, found.start, (first, broken), ended)))
    figure = network_diagram.figure(shown, settings())
    assert figure["words"][-1]["notes"] == "East did not answer within 5 s."
    assert figure["frames"][-1]["traces"]["5"]["marker"]["symbol"][2] == "circle-x-open"
    assert "It did not come to its end" in run_text.headline(shown)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"", "a record must have lines, got none"),
        (b"\xff\xfe\x00", "This file is not a run's record: it is not text."),
        (b"{}", "line 1 is not of a record"),
        (b"not json", "line 1 is not of a record: it is not JSON"),
        (raw(real()).splitlines()[0], "This run has no round to show."),
        (raw(real()).replace(b'"round":2', b'"round":3', 1), "line 3 is not of a record: round must be 2"),
    ],
)
def test_a_bad_file_is_one_sentence(given, says):
    with pytest.raises(ValueError, match=re.escape(says)) as refused:
        runs.read(given)
    assert "\n" not in str(refused.value)


def changed(line, **fields):
    """A whole record with these fields of one line, or of its plan, set to something else."""
    lines = raw(real()).decode().splitlines()
    plain = json.loads(lines[line])
    (plain["plan"] if line == 0 else plain).update(fields)
    return "\n".join([*lines[:line], json.dumps(plain), *lines[line + 1 :]]).encode()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (changed(0, method="a" * 20_000), "line 2 is not of a record: method must be one of"),
        (changed(0, names=["a" * 20_000]), "line 1 is not of a record: names must be one for each"),
        (b"[" * 100_000, "line 1 is not of a record: it is not JSON."),
        (b"1" * 5_000, "line 1 is not of a record: it is not JSON."),
        (changed(1, faults={"0": "x\n" * 9_000, "9": ""}), "line 2 is not of a record: hospital must be one"),
        (
            raw(real()).splitlines()[0] + b'\n{"kind":"end","seconds":0,"ended":"' + b"a " * 9_000 + b'"}',
            "This run has no round to show. a a",
        ),
    ],
)
def test_whatever_a_record_holds_its_refusal_is_a_short_sentence_in_our_words(given, says):
    with pytest.raises(ValueError, match=re.escape(says)) as refused:
        runs.read(given)
    said = str(refused.value)
    assert len(said) < 240 and "\n" not in said and "sys." not in said and "recursion" not in said


def test_a_record_may_begin_with_a_byte_order_mark():
    assert runs.read(b"\xef\xbb\xbf" + raw(real())).record.plan == real().plan


def test_what_a_record_says_stays_short_on_the_screen():
    shown = runs.read(changed(4, ended="no\n" * 9_000, seconds=1e308))
    assert len(run_text.headline(shown)) < 200
    shown = runs.read(changed(1, faults={str(i): "did\nnot answer " * 999 for i in range(3)}, seconds=1e308))
    first = run_text.step(shown, 1, True, settings())
    assert first["notes"].startswith("North did not answer did not") and "\n" not in first["notes"]
    assert len(first["notes"]) < 600 and max(len(words) for words in first["tiles"][3]) < 40


def test_the_first_few_faults_are_told_and_the_others_counted():
    found = real()
    (first, *_) = found.rounds
    why = dict.fromkeys(range(200), "did not answer")
    plan = replace(found.plan, sizes=(1,) * 200, names=())
    lost = record.Round(1, first.question, {}, why, None, 1.0)
    shown = runs.from_record(record.Record(plan, found.start, (lost,), "Nobody answered."))
    assert run_text.step(shown, 1, True, settings())["notes"].endswith("not answer. And 195 more.")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.012, "12 ms"),
        (3.46, "3.5 s"),
        (300.0, "5 min"),
        (9e3, "2.5 h"),
        (3.456e6, "40 days"),
        (1e308, "1.2e303 days"),
    ],
)
def test_a_duration_has_the_unit_of_a_person(seconds, said):
    assert text.duration(seconds) == said


@pytest.mark.parametrize("panel", ["rounds", "sees"])
def test_a_record_that_cannot_be_drawn_is_a_sentence(screen, monkeypatch, panel):
    def too_large(*_):
        raise OverflowError("int too large to convert to float")

    drawing = "figure" if panel == "rounds" else "message"
    monkeypatch.setattr(network_diagram if panel == "rounds" else message_charts, drawing, too_large)
    monkeypatch.setattr(run_panels.st, "file_uploader", lambda *_, **__: io.BytesIO(raw(real())))
    page = screen(PAGE, **SMALL | {"join.panel": panel, "join.source": "own"})
    assert [box.value for box in page.app.text if "This run cannot be drawn" in box.value]


def test_a_file_too_large_is_not_read(monkeypatch):
    monkeypatch.setattr(runs, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="this page reads up to 1 kB"):
        runs.read(raw(real()))


def test_names_of_a_record_cannot_carry_markup():
    shown = runs.from_record(real(names=('<a href="x">N</a>', "![](http://x)", "")))
    assert [shown.name(i) for i in range(3)] == ["a hrefxNa", "(httpx)", "Hospital 3"]
