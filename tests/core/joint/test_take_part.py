"""Taking part: one payment, one file, the same after kill -9; no patient moves it further than it pays."""

import itertools
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from dppca_core import tables
from dppca_core.accounting import closed_form
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, OverLimitError
from dppca_core.join.__main__ import main as join
from dppca_core.joint import answer as answers
from dppca_core.joint import in_words, take_part
from dppca_core.release import discrete_gaussian
from dppca_core.release.projector import ON_A_GOOD_EVENT
from dppca_core.tables import Column, Schema
from tests.core.joint import studies
from tests.core.joint.studies import NAMES, SCHEMA, N, frame, part_of, paying, plan, raw, silence

KINDS = {
    "centred": {},
    "standardised": {"rows": "standardised"},
    "sparse": {"s_hat": 3},
    "length 1": {"rows": "public"},
    "directions": {"rows": "public", "method": "dpdis_pca"},
    "whole moment": {"rows": "public", "method": "dpdis_pca", "rank": SCHEMA.d},
    "projector": {"rows": "public", "method": "federated_projector"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_asked_again_it_gives_the_same_file_and_pays_nothing(kind):
    agreed = plan(**KINDS[kind])
    part = part_of(agreed, "South")
    payer = paying(part)
    assert part.earlier(payer).payment is None
    sent = part.answer(payer)
    (payment,) = payer.balance().payments
    again = part_of(agreed, "South").answer(payer)
    assert again.to_json(agreed) == sent.to_json(agreed)
    assert payer.balance().payments == (payment,) and part.earlier(payer).payment == payment
    # It costs what the plan says, and no more.
    epsilon = closed_form.epsilon_of(payment.events, 1e-6)
    assert 2.0 * (1 - 1e-4) < epsilon <= 2.0
    assert len(sent.to_json(agreed)) == pytest.approx(in_words.file_bytes(agreed, part.hospital), abs=3)
    assert agreed.digest in str(payment.about)


def test_a_changed_plan_is_another_plan_and_costs_again():
    agreed = plan()
    part = part_of(agreed, "South")
    payer = paying(part)
    part.answer(payer)
    other = part_of(replace(agreed, name="Five clinics, again"), "South")
    assert other.earlier(payer) == (None, 1)
    assert "This plan, or table, is another, and costs again." in in_words.price(other, payer)[0]
    assert other.answer(payer).to_json(other.plan) != part.answer(payer).to_json(agreed)
    assert len(payer.balance().payments) == 2


def test_another_table_of_the_same_patients_costs_again():
    agreed, book = plan(), Book()
    payer = paying(part_of(agreed, "South"), book)
    part_of(agreed, "South").answer(payer)
    corrected = frame("South")
    corrected.loc[0, "age"] = 1.5
    part = part_of(agreed, "South", tables.from_frame(corrected, "corrected"))
    its_payer = part.payer(book)
    its_payer.put_in(1)
    assert part.earlier(its_payer) == (None, 1)
    part.answer(its_payer)
    assert len(payer.balance().payments) == 2


def test_beyond_the_limit_nothing_is_paid_or_drawn(monkeypatch):
    part = part_of(plan(), "South")
    payer, drawn = paying(part, limit=Limit(1.9, 1e-6)), []
    monkeypatch.setattr(discrete_gaussian, "add_noise", lambda *given: drawn.append(given))
    assert "That is beyond your limit, and will be refused." in in_words.price(part, payer)
    with pytest.raises(OverLimitError, match="nothing was spent"):
        part.answer(payer)
    assert not drawn and not payer.balance().payments


def test_of_two_who_take_part_at_once_one_pays(tmp_path):
    """The second finds another account than the one it was shown, or the payment, and draws nothing."""
    part = part_of(plan(), "South")
    paying(part, Book(tmp_path / "book"))

    def take(_):
        payer = part.payer(Book(tmp_path / "book"))
        try:
            return part.answer(payer).to_json(part.plan)
        except ValueError as reason:
            return str(reason)

    with ThreadPoolExecutor(4) as pool:
        given = set(pool.map(take, range(4)))
    files = {each for each in given if isinstance(each, bytes)}
    assert len(files) == 1 and len(part.payer(Book(tmp_path / "book")).balance().payments) == 1
    assert all("another release was made on this account meanwhile" in each for each in given - files)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (lambda table: table.drop(columns="age"), "age"),
        (lambda table: table.head(100), "South has 100 patients where the plan states 300: agree on another"),
        (lambda table: table.assign(age="?!"), "age"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(changed, says):
    with pytest.raises(ValueError, match=says) as refused:
        part_of(plan(), "South", tables.from_frame(changed(frame("South")), "ours"))
    assert "?!" not in str(refused.value)


def test_a_hospitals_own_dictionary_may_know_more_words_alone():
    words = SCHEMA.columns[-1].changed(synonyms=(("female", "f"),))
    ours = SCHEMA.changed(columns=(*SCHEMA.columns[:-1], words))
    table = raw("South")
    assert take_part.prepare(plan(), "South", table, ours).n == N
    with pytest.raises(ValueError, match="the dictionary is not the plan's"):
        take_part.prepare(plan(), "South", table, SCHEMA.changed(bound=1.0))


def neighbours(agreed, monkeypatch, hospital="South"):
    """Yield answers without noise, before and after one patient is replaced by one at the ends of ranges."""
    rng = np.random.default_rng(5)
    silence(monkeypatch)

    def answered(table):
        part = part_of(agreed, hospital, tables.from_frame(table, "ours"))
        return part.answer(paying(part, limit=Limit(1e9, 1e-6)))

    for _ in range(6):
        table = frame(hospital)
        first, second = table.copy(), table
        for each in (first, second):
            each.loc[0, list(studies.NUMBERS)] = rng.choice([-4.0, 4.0, 0.0], len(studies.NUMBERS))
            each.loc[0, "sex"] = rng.choice(["f", "m"])
        yield answered(first), answered(second)


@pytest.mark.parametrize("kind", ["centred", "standardised"])
def test_one_patient_moves_no_sum_further_than_is_paid_for(kind, monkeypatch):
    """Of the whole path from the table. Later steps depend on the first, and are looked at given it."""
    agreed = plan(**KINDS[kind])
    rule = agreed.rule(agreed.hospital("South"), N)
    largest = 0.0
    for before, after in neighbours(agreed, monkeypatch):
        moved = N * np.linalg.norm(before.arrays["squares"] - after.arrays["squares"])
        largest = max(largest, moved / rule.sensitivity("squares"))
    assert 0.5 < largest <= 1 + 1e-9


def test_one_patient_moves_mean_tails_and_moment_no_further_given_what_came_before(monkeypatch):
    """The steps before are as one release drew them."""
    agreed = plan()
    rule = agreed.rule(agreed.hospital("South"), N)
    silence(monkeypatch)
    rng, largest = np.random.default_rng(6), dict.fromkeys(rule.steps, 0.0)
    base = part_of(agreed, "South")
    kept = base.answer(paying(base, limit=Limit(1e9, 1e-6))).arrays
    frame_of = rule.released_frame(kept)
    bound = rule.bound(kept["tails"], frame_of)
    for _ in range(200):
        pair = base.table.held.encoded[:2].copy()
        pair[:, :4] = rng.choice([-1.0, 1.0, 0.0], (2, 4))
        pair[:, 4:] = [[0.5, -0.5], [-0.5, 0.5]]
        sums = {
            "squares": rule.squares(pair),
            "mean": rule.mean(pair, rule.mean_bound(kept["squares"])),
            "tails": rule.tails(pair, frame_of),
        }
        short = rule.fitted(pair, frame_of, bound) * bound
        sums["moment"] = np.array([np.outer(row, row).ravel() for row in short])
        for step, (first, second) in sums.items():
            most = rule.sensitivity(step, bound if step == "moment" else rule.mean_bound(kept["squares"]))
            largest[step] = max(largest[step], np.linalg.norm(first - second) / most)
    assert all(0.5 < each <= 1 + 1e-9 for each in largest.values())


def _join_until(folder, arguments, point):
    """Take part, or go on, and be killed at the moment with this number."""
    points, writing, noise, move = itertools.count(), Book.writing, discrete_gaussian.add_noise, os.replace

    def pass_point():
        if next(points) == point:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def watched(self):
        with writing(self) as book:
            yield book
            pass_point()  # it is written, and not committed
        pass_point()

    def moved(*paths):
        pass_point()
        move(*paths)
        pass_point()

    Book.writing, os.replace = watched, moved
    discrete_gaussian.add_noise = lambda *given: (noise(*given), pass_point())[0]
    os.environ["DPPCA_ACCOUNTS"] = str(folder / "book")
    os._exit(join(arguments))


def forked(target, *given):
    process = multiprocessing.get_context("fork").Process(target=target, args=given)
    process.start()
    process.join()
    return process.exitcode


def study_folder(folder, agreed, hospital):
    folder.mkdir()
    (folder / "plan.json").write_bytes(agreed.to_json())
    frame(hospital).to_csv(folder / "ours.csv", index=False)
    arguments = [str(folder / "plan.json"), str(folder / "ours.csv"), "--hospital", hospital]
    arguments += ["--out", str(folder), "--limit", "3", "--yes", "--words", " ".join(agreed.words[:2])]
    return arguments


def steps_of(path):
    with Book(path / "book" / "accounts.sqlite3").reading() as book:
        return book.execute("SELECT step, content FROM steps ORDER BY number").fetchall()


def test_taking_part_that_is_killed_at_any_moment_goes_on_to_the_same_file(tmp_path, monkeypatch, capfd):
    """kill -9 at every write of the book, after every draw, and about that of the file: one payment."""
    agreed = plan()
    # What it imports and caches, each process would have to.
    monkeypatch.setenv("DPPCA_ACCOUNTS", str(tmp_path / "warm" / "book"))
    assert join(study_folder(tmp_path / "warm", agreed, "South")) == 0
    for point in itertools.count():
        folder = tmp_path / f"{point}"
        arguments = study_folder(folder, agreed, "South")
        victim = forked(_join_until, folder, arguments, point)
        before, path = steps_of(folder), folder / "answer-South.json"
        early = path.read_bytes() if path.exists() else None
        if victim == 0:
            break
        assert victim == -signal.SIGKILL
        monkeypatch.setenv("DPPCA_ACCOUNTS", str(folder / "book"))
        assert join(arguments) == 0
        after = steps_of(folder)
        assert after[: len(before)] == before and len(after) == 5
        payer = part_of(agreed, "South", raw_of(folder)).payer(Book(folder / "book" / "accounts.sqlite3"))
        assert len(payer.balance().payments) == 1
        sent = path.read_bytes()
        assert early in (None, sent)
        answers.from_json(agreed, sent)
    # The limit, the payment, four steps and the document, each with two moments; five draws, of which the
    # moment has two; and the file's own two.
    assert point == 2 * 7 + 5 + 2
    capfd.readouterr()


def raw_of(folder):
    return tables.read(folder / "ours.csv", "ours.csv")


def _join_with_seed(folder, arguments, seed):
    discrete_gaussian.add_noise = studies.SeededNoise(seed)
    os.environ["DPPCA_ACCOUNTS"] = str(folder / "book")
    os._exit(join(arguments))


def test_five_processes_in_five_folders_are_one_process_to_the_bit(tmp_path, monkeypatch, capfd):
    agreed = plan()
    for seed, name in enumerate(NAMES):
        folder = tmp_path / name
        arguments = study_folder(folder, agreed, name)
        assert forked(_join_with_seed, folder, arguments, seed) == 0
    book = Book()
    for seed, name in enumerate(NAMES):
        monkeypatch.setattr(discrete_gaussian, "add_noise", studies.SeededNoise(seed))
        part = part_of(agreed, name, raw_of(tmp_path / name))
        sent = part.answer(paying(part, book)).to_json(agreed)
        assert (tmp_path / name / part.hospital.file_name).read_bytes() == sent
    capfd.readouterr()


def test_another_file_of_that_name_is_not_written_over(tmp_path):
    agreed = plan()
    sent = studies.answer(agreed, "South")
    (tmp_path / "answer-South.json").write_text("ours")
    with pytest.raises(ValueError, match=r"answer-South\.json is there already"):
        take_part.write(tmp_path, agreed, sent)
    assert (tmp_path / "answer-South.json").read_text() == "ours"


def test_patients_with_several_rows_count_once():
    agreed = plan(patient_column="id", counting="merged")
    table = frame("South")
    doubled = tables.from_frame(
        table.loc[table.index.repeat(2)].assign(id=np.repeat(np.arange(N), 2)), "rows"
    )
    part = part_of(agreed, "South", doubled)
    assert part.n == N and part.request.averaged
    part.answer(paying(part))
    assert "two rows" not in " ".join(in_words.plan(agreed))


def test_patients_who_are_left_out_are_counted():
    columns = tuple(column.changed(fill=None) for column in SCHEMA.columns)
    agreed = plan(dictionary=Schema(columns))
    table = frame("South")
    table.loc[:29, "age"] = np.nan
    part = part_of(agreed, "South", tables.from_frame(table, "ours"))
    sent = part.answer(paying(part))
    assert part.n == N and sent.arrays["mean"].shape == (SCHEMA.d + 1,)


def test_a_projector_says_at_each_step_that_it_holds_on_a_good_event_only():
    agreed = plan(**KINDS["projector"])
    part = part_of(agreed, "South")
    sent = part.answer(paying(part)).to_json(agreed).decode()
    assert '"promise": "on a good event"' in sent
    for sentences in (in_words.plan(agreed), in_words.guarantee(part)):
        assert ON_A_GOOD_EVENT in sentences
    assert "never recommended for real patients" in in_words.prediction(agreed)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_what_leaves_is_said_field_by_field(kind):
    agreed = plan(**KINDS[kind])
    fields = in_words.leaves(agreed)
    sent = studies.answer(agreed, "South")
    assert {each.name: each.size for each in fields if each.noisy} == {
        name: array.nbytes for name, array in sent.arrays.items()
    }


def test_numbers_alone_have_no_categories():
    numbers = Schema(tuple(Column(name, "number", -4.0, 4.0, fill=0.0) for name in studies.NUMBERS))
    agreed = plan(dictionary=numbers)
    assert set(answers.shapes(agreed)) == {"squares", "mean", "tails", "moment"}
    categories = Schema(tuple(Column(n, "category", categories=("a", "b"), fill="a") for n in "xyz"))
    assert set(answers.shapes(plan(dictionary=categories, k=1))) == {"mean", "tails", "moment"}
