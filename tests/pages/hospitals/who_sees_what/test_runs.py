"""Test one run: its rounds, its messages, two who compare them, and recorded runs."""

import contextlib
import functools
import html
import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
import streamlit

from dppca_core import Budget, datasets
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.federated import coordinator, in_process, record
from dppca_core.federated.exchange import ALL
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise
from pages.hospitals.who_sees_what import document, model, sentences
from pages.hospitals.who_sees_what.charts import messages as message_charts
from pages.hospitals.who_sees_what.charts import network
from pages.hospitals.who_sees_what.sentences import messages, rounds
from pages.shared import text
from pages.shared.document import file
from pages.shared.settings import catalogue
from tests.core.federated.test_record import lines

PAGE = "hospitals/who_sees_what/page.py"
SMALL = {"d": "30", "n": "20000", "k": "2", "s": "6", "shat": "10", "N": "3", "T": "4"}
SYMBOLS = ("ε", "δ", "Θ", "σ", "ŝ", "ᵢ")
SIZES = (190, 190, 189)
NAMES = ("North", "South", "East")


def settings(**changed):
    small = {"d": 30, "n": 20_000, "k": 2, "s": 6, "s_hat": 10, "providers": 3, "iterations": 4}
    return catalogue.defaults() | small | changed


def at(**changed):
    return model.Messages(settings(**changed))


@functools.cache
def simulated(key, **changed):
    return transcript.simulate(at(**changed).recipe, key)


@functools.cache
def recorded(names=NAMES):
    """Return what a server would have written of three hospitals with the breast-cancer table."""
    options = (("iterations", 3), ("s_hat", 30))
    plan = Plan("demo", "dps_pca", SIZES, 30, 2, Budget(1e3, 1e-5), options, names)
    noise = [Noise(seed=(1, i)) for i in range(3)]
    start = coordinator.public_start(plan, np.random.default_rng(0))
    result, _ = in_process.simulate(plan, datasets.cohort("breast_cancer", SIZES, 0), noise, start)
    return result


def raw(run):
    return "\n".join(lines(run)).encode()


@pytest.mark.parametrize("key", ["dps_pca shared", "dps_pca secure", "federated_projector"])
def test_the_ring_has_a_step_for_every_question_and_answer_with_its_bytes(key):
    shown = simulated(key, largest_share=0.6)
    figure = network.figure(shown, settings())
    rounds = shown.record.rounds
    asked = sum(done.question.payload > 0 for done in rounds)
    assert len(figure["frames"]) == len(figure["words"]) == len(rounds) + asked
    last = figure["frames"][figure["active"]]["traces"]
    sent = next(iter(rounds[-1].answers.values())).message.payload
    assert last["4"]["text"] == [text.size(sent)] * 3 == [figure["words"][-1]["tiles"][2][0]] * 3
    assert last["6"]["y"][-1] == pytest.approx(shown.errors[-1], rel=1e-3)
    width = np.array(figure["data"][5]["marker"]["size"])
    np.testing.assert_allclose((width / width[0]) ** 2, [1, 1 / 3, 1 / 3], rtol=1e-2)
    masked = {words["tiles"][2][1] == "masked" for words in figure["words"] if words["tiles"][2][0] != "–"}
    assert masked == {shown.sealed}
    assert "<script" in file.of_figure(figure, "rounds")


PHONE = 86  # pixels of the ring's radius where the screen has 390


def boxes(trace, anchors):
    """Return (left, below, right, above) in pixels of each text, at 6.2 pixels a letter and 14 a line."""
    for x, y, words, anchor in zip(trace["x"], trace["y"], trace["text"], anchors, strict=True):
        lines = words.split("<br>")
        wide, tall = 6.2 * max(map(len, lines)), 14.0 * len(lines)
        left = PHONE * x - {"left": wide, "center": wide / 2, "right": 0}[anchor.split()[1]]
        below = PHONE * y - {"bottom": tall, "middle": tall / 2, "top": 0}[anchor.split()[0]]
        yield left, below, left + wide, below + tall


def inside(points, box):
    """Count the points, in radii, inside a box of pixels."""
    points = PHONE * np.asarray(points)
    return int(((points > box[:2]) & (points < box[2:])).all(axis=1).sum())


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6, 12])
def test_on_a_telephone_no_words_lie_on_arrows_dots_or_the_server(count):
    figure = network.figure(simulated("dps_pca", providers=count, n=10**6), settings())
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


def test_a_run_that_takes_seconds_is_announced(screen, monkeypatch):
    announced = []

    @contextlib.contextmanager
    def spinner(words):
        announced.append(words)
        yield

    monkeypatch.setattr(streamlit, "spinner", spinner)
    page = screen(PAGE, **SMALL | {"sees.panel": "rounds"})
    recipe = model.Messages(page.settings).recipe
    assert announced == [sentences.passing(recipe, PROTOCOLS["dps_pca"])]


def test_a_run_that_takes_long_is_simulated_once_it_is_asked_for(screen, monkeypatch):
    monkeypatch.setattr(transcript, "seconds", lambda *_: 12.0)
    page = screen(PAGE, **SMALL | {"sees.panel": "rounds", "seed": "61"})
    headline = rounds.headline(simulated("dps_pca", seed=61), page.settings)
    assert text.first_answer_takes(12.0) in page.markdown and headline not in page.markdown
    page.app.button(key="measure messages").click()
    page.run()
    assert headline in page.markdown and text.first_answer_takes(12.0) not in page.markdown


def test_bytes_so_far_add_up():
    shown = simulated("dps_pca")
    asked = sum(done.question.payload for done in shown.record.rounds)
    assert rounds.travelled(shown, 4, True) == 3 * (asked + 4 * 8 * 30 * 2)
    last = shown.record.rounds[-1].question.payload
    assert rounds.travelled(shown, 4, False) == 3 * (asked + 3 * 8 * 30 * 2)
    assert rounds.travelled(shown, 3, True) == 3 * (asked - last + 3 * 8 * 30 * 2)


def test_the_scatter_is_the_message_against_what_it_hides():
    shown = simulated("dps_pca")
    figure = message_charts.message(shown, 1, settings())
    dots = next(i for i, trace in enumerate(figure["data"]) if trace["name"] == "entries")
    done, hidden = shown.record.rounds[2], shown.noiseless[2]
    drawn = figure["frames"][2]["traces"][str(dots)]
    np.testing.assert_allclose(drawn["x"], hidden[1]["product"].ravel(), rtol=1e-3)
    np.testing.assert_allclose(drawn["y"], done.answers[1].message.arrays["product"].ravel(), rtol=1e-3)
    heats = [trace for trace in figure["data"] if trace["type"] == "heatmap"]
    assert len(heats) == 2
    assert (
        len(
            {
                (cells["zmin"], cells["zmax"])
                for frame in figure["frames"]
                for cells in frame["traces"].values()
                if "zmin" in cells
            }
        )
        == 1
    )
    noise = np.std(np.subtract(done.answers[1].message.arrays["product"], hidden[1]["product"]))
    assert len(figure["words"]) == 4 and figure["words"][2]["tiles"][0][0] == text.short(noise)


def test_the_sum_is_shown_where_single_messages_are_masked():
    secure = simulated("dps_pca secure")
    figure = message_charts.message(secure, ALL, settings())
    received = secure.record.rounds[0].answers[ALL].message.arrays
    total = transcript.message_matrix(received, secure.record.plan, ALL)
    np.testing.assert_allclose(figure["frames"][0]["traces"]["3"]["y"], total.ravel(), rtol=1e-3)


def test_two_who_compare_recover_the_difference_only_where_noise_is_shared():
    pair = [simulated(key) for key in ("dps_pca shared", "dps_pca")]
    figure = message_charts.pair(*pair, 0, 2, settings())
    for frame, words in zip(figure["frames"], figure["words"], strict=True):
        shared, independent = frame["traces"]["1"], frame["traces"]["3"]
        np.testing.assert_allclose(shared["x"], shared["y"], rtol=1e-3)
        assert np.std(np.subtract(independent["y"], independent["x"])) > 1
        assert "exactly" in words["sentence"]
    worst = model.differences(at(), 0, 2).groupby("noise")["relative_error"].max()
    assert worst["shared"] < 1e-12 and worst["independent"] > 0.1


@pytest.mark.parametrize("panel", ["rounds", "sees", "pair"])
def test_a_view_of_a_run_opens_at_its_end(screen, panel):
    page = screen(PAGE, **SMALL | {"sees.panel": panel, "join.hospital": "9"})
    assert page.figure["frames"] and page.figure["active"] == len(page.figure["frames"]) - 1
    assert page.link.get("sees.panel", "rounds") == panel
    if panel != "rounds":
        assert page.app.selectbox(key="join.hospital").value == 3


@pytest.mark.parametrize(
    ("link", "at"),
    [
        ({"sees.panel": "rounds"}, "round 2: answers"),
        ({"sees.panel": "sees", "join.way": "full"}, "round 1 of 1"),
        ({"sees.panel": "pair"}, "round 2 of 4"),
    ],
)
def test_the_round_of_the_link_is_shown_first(page, link, at):
    assert page(PAGE, **SMALL | link | {"join.round": "2"}).words()["at"] == at


def test_a_hospital_is_compared_with_another_only(page):
    alone = page(PAGE, **SMALL | {"sees.panel": "pair", "N": "1"})
    assert sentences.NOBODY_TO_COMPARE in alone.notices
    same = page(PAGE, **SMALL | {"sees.panel": "pair", "join.hospital": "3", "join.other": "3"})
    assert "shown beside hospital 1." in same.captions


def test_a_run_that_is_too_large_is_refused_with_its_reason(page):
    page = page(PAGE, **{"sees.panel": "rounds", "d": "2000", "n": "1000000", "N": "200", "repeats": "1"})
    reason = transcript.why_refused(model.Messages(page.settings).recipe, PROTOCOLS["dps_pca"])
    assert reason and page.notices == f"Not simulated message by message: {reason}."


@pytest.fixture
def stored_in(tmp_path, monkeypatch):
    """Store runs in a folder of the test's own, which begins empty."""
    monkeypatch.setattr(model, "STORED", tmp_path)
    model.open_stored.cache_clear()
    yield tmp_path
    model.open_stored.cache_clear()


def texts(page):
    return [box.value for box in page.app.code]


def stored_page(screen, panel, **link):
    return screen(PAGE, **SMALL | {"sees.panel": panel, "join.source": "stored"} | link)


def test_a_stored_run_is_shown_with_its_recorded_settings(screen, stored_in):
    (stored_in / "breast-cancer.jsonl").write_bytes(raw(recorded()))
    shown = model.open_stored("breast-cancer")
    page = stored_page(screen, "rounds")
    assert shown.over_network and rounds.headline(shown, catalogue.defaults()) in page.markdown
    assert sentences.SLIDERS_DO_NOT_MOVE_IT in page.captions
    page = stored_page(screen, "sees", **{"join.hospital": "2"})
    assert model.name(shown, 1) == "South" and [trace["name"] for trace in page.figure["data"]] == [
        "received"
    ]
    last = model.MessagePair(shown, 3, 1)
    assert last.exact is None and page.words() == messages.message(last)


def test_no_stored_run_is_one_sentence(screen, stored_in):
    assert texts(stored_page(screen, "rounds")) == ["No run is stored with this program."]


def test_a_damaged_stored_run_is_one_sentence(screen, stored_in):
    whole = raw(recorded()).decode()
    (stored_in / "cut.jsonl").write_text(whole[: len(whole) // 3].replace("{", "[", 3), encoding="utf-8")
    (sentence,) = texts(stored_page(screen, "rounds"))
    assert sentence.startswith("data/runs/cut.jsonl cannot be read: ")


def test_stored_runs_came_to_their_end_between_processes():
    assert model.stored()
    for name in model.stored():
        shown = model.open_stored(name)
        assert shown.record.basis is not None and shown.over_network
        answers = [answer for done in shown.record.rounds for answer in done.answers.values()]
        assert all(answer.wire_bytes > answer.message.payload > 0 for answer in answers)
        assert shown.errors is not None and shown.errors[-1] < shown.errors[0]


def test_a_message_is_not_called_what_travels_on_the_wire():
    """The record knows a message with its header, not what an engine and its encryption add."""
    shown = model.open_stored(model.stored()[0])
    answers = [answer for done in shown.record.rounds for answer in done.answers.values()]
    sizes = [sum(a.message.payload for a in answers), sum(a.wire_bytes for a in answers)]
    overhead = rounds.overhead(shown)
    assert [part for part in map(text.size, sizes) if part not in overhead] == []
    assert "wire" not in " ".join([overhead, *rounds.tile_titles(shown), *model.table(shown).columns])
    assert rounds.overhead(simulated("dps_pca")) == ""


def test_a_run_of_unknown_truth_shows_how_far_it_moved():
    unknown = model.from_record(recorded())
    assert unknown.errors is None
    last = network.figure(unknown, settings())["frames"][-1]["traces"]["6"]
    assert last["x"] == [1, 2, 3]
    np.testing.assert_allclose(last["y"], transcript.basis_moves(recorded()), rtol=1e-3)


def test_a_hospital_that_fails_is_named_and_so_is_a_run_without_an_end():
    first, second, third = recorded().rounds
    why = {2: "did not answer within 5 s"}
    broken = record.Round(2, second.question, {0: second.answers[0]}, why, second.basis, 1.0)
    ended = "The run ended in round 2: East did not answer within 5 s."
    shown = model.read(raw(record.Record(recorded().plan, recorded().start, (first, broken), ended)))
    figure = network.figure(shown, settings())
    assert figure["words"][-1]["notes"] == f"East {why[2]}."
    assert figure["frames"][-1]["traces"]["5"]["marker"]["symbol"][2] == "circle-x-open"
    assert "It did not come to its end" in rounds.headline(shown, catalogue.defaults())
    later = model.from_record(record.Record(recorded().plan, recorded().start, (first, broken, third)))
    last = network.figure(later, settings())["frames"][-1]["traces"]
    assert last["5"]["marker"]["symbol"] == ["circle", "circle", "circle-x-open"]


def changed(line, **fields):
    """Return a whole record with these fields of one line, or of its plan, set to something else."""
    lines = raw(recorded()).decode().splitlines()
    plain = json.loads(lines[line])
    (plain["plan"] if line == 0 else plain).update(fields)
    return "\n".join([*lines[:line], json.dumps(plain), *lines[line + 1 :]]).encode()


PLAN_LINE = raw(recorded()).splitlines()[0]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (b"", "a record must have lines, got none"),
        (b"\xff\xfe\x00", "This file is not a run's record: it is not in UTF-8."),
        (b"[" * 100_000, "line 1 is not of a record: it is not JSON."),
        (b"1" * 5_000, "line 1 is not of a record: it is not JSON."),
        (PLAN_LINE, "This run has no round to show."),
        (
            raw(recorded()).replace(b'"round":2', b'"round":3', 1),
            "line 3 is not of a record: round must be 2",
        ),
        (changed(0, method="a" * 20_000), "line 1 is not of a record: method must be one of"),
        (changed(0, names=["a" * 20_000]), "line 1 is not of a record: names must be one for each"),
        (changed(1, faults={"0": "x\n" * 9_000, "9": ""}), "line 2 is not of a record: hospital must be one"),
        (
            PLAN_LINE + b'\n{"kind":"end","seconds":0,"ended":"' + b"a " * 9_000 + b'"}',
            "This run has no round to show. a a",
        ),
    ],
)
def test_a_bad_file_is_refused_in_one_short_sentence(file, reason):
    with pytest.raises(ValueError, match=re.escape(reason)) as refused:
        model.read(file)
    sentence = str(refused.value)
    assert len(sentence) < 240 and not re.search(r"\n|sys\.|recursion", sentence)


def test_a_record_may_begin_with_a_byte_order_mark():
    assert model.read(b"\xef\xbb\xbf" + raw(recorded())).record.plan == recorded().plan


def test_words_of_a_record_stay_short_on_the_screen():
    shown = model.read(changed(4, ended="no\n" * 9_000, seconds=1e308))
    assert len(rounds.headline(shown, catalogue.defaults())) < 200
    shown = model.read(changed(1, faults={str(i): "did\nnot answer " * 999 for i in range(3)}, seconds=1e308))
    first = rounds.step(shown, 1, True, settings())
    assert first["notes"].startswith("North did not answer did not") and "\n" not in first["notes"]
    assert len(first["notes"]) < 600 and max(len(words) for words in first["tiles"][3]) < 40


def test_the_first_few_faults_are_written_and_the_others_counted():
    first = recorded().rounds[0]
    plan = replace(recorded().plan, sizes=(1,) * 200, names=())
    lost = record.Round(1, first.question, {}, dict.fromkeys(range(200), "did not answer"), None, 1.0)
    shown = model.from_record(record.Record(plan, recorded().start, (lost,), "Nobody answered."))
    assert rounds.travelled(shown, 1, True) == 200 * first.question.payload
    notes = rounds.step(shown, 1, True, settings())["notes"]
    assert notes.count("did not answer") == 5 and notes.endswith("195 more.")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.012, "12 ms"),
        (0.2, "200 ms"),
        (3.46, "3.5 s"),
        (89, "89 s"),
        (300.0, "5 min"),
        (7200, "2 h"),
        (1e308, "1.2e303 days"),
    ],
)
def test_a_duration_has_the_unit_of_a_person(seconds, words):
    assert text.duration(seconds) == words


@pytest.mark.parametrize(("panel", "drawing"), [("rounds", network.figure), ("sees", message_charts.message)])
def test_a_record_that_cannot_be_drawn_is_a_sentence(page, monkeypatch, panel, drawing):
    def too_large(*_):
        raise OverflowError("int too large to convert to float")

    uploaded = model.Recorded(model.read(raw(recorded())))
    page = page(PAGE, **SMALL | {"sees.panel": panel, "join.source": "own"})
    page.read(document.showing(model.Messages(page.settings, uploaded)))
    assert page.figures and page.notices == ""
    monkeypatch.setattr(sys.modules[drawing.__module__], drawing.__name__, too_large)
    page.read(document.showing(model.Messages(page.settings, uploaded)))
    assert page.notices == sentences.CANNOT_BE_DRAWN and not page.figures


def test_an_uploaded_record_is_shown_on_screen_and_in_its_file_or_why_it_is_not(screen):
    """A reason that quotes the file is no Markdown, and so no link or picture."""
    page = screen(PAGE, **SMALL | {"sees.panel": "rounds", "join.source": "own"})
    assert sentences.UPLOAD_A_RECORD in page.captions
    page.app.file_uploader[0].set_value(("run.jsonl", raw(recorded()), "application/json"))
    page.run()
    shown = model.Recorded(model.read(raw(recorded())))
    assert rounds.headline(shown.run, page.settings) in page.markdown and not texts(page)
    whole = html.unescape(document.showing(model.Messages(page.settings, shown)).html())
    assert sentences.promise(shown.run.record.plan.budget) in whole
    page.app.file_uploader[0].set_value(("run.jsonl", changed(0, method="![](http://x)"), "application/json"))
    page.run()
    (reason,) = texts(page)
    assert reason.startswith("This file is not a run's record: ") and "http://x" not in page.markdown
    whole = document.showing(model.Messages(page.settings, why_none=reason)).html()
    assert reason in html.unescape(whole) and "<img" not in whole


def test_a_file_too_large_is_not_read(monkeypatch):
    monkeypatch.setattr(model, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="this page reads up to 1 kB"):
        model.read(raw(recorded()))


def test_names_of_a_record_cannot_carry_markup():
    shown = model.from_record(recorded(('<a href="x">N</a>', "![](http://x)", "")))
    assert [model.name(shown, i) for i in range(3)] == ["a hrefxNa", "(httpx)", "Hospital 3"]


def test_a_single_hospital_is_shown_how_to_add_others():
    alone = at(providers=1, **{"sees.panel": "pair"})
    assert sentences.try_this(alone).startswith("**Try this:** move *Hospitals N* to 5")


@pytest.mark.parametrize(
    ("changed", "simulated"),
    [({"d": 2000, "n": 10**6, "providers": 200}, False), ({"d": 200, "n": 10**6}, True)],
)
def test_no_hint_is_about_what_is_not_simulated(changed, simulated):
    hint = sentences.try_this(at(**changed, **{"sees.panel": "pair"}))
    assert ("points stay on the line" in hint) == simulated
