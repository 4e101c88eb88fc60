"""A joint study by mail on the page: taking part, paid once, and the answers put together.

The study is the one of the core's tests: five clinics of 300 invented patients.
"""

import json
from functools import cache

import pytest

from dppca_core.accounts.book import Book, default_path
from dppca_core.joint import combine, document, in_words, take_part
from dppca_core.release import bundle, discrete_gaussian
from pages.hospitals.your_data import mail_document, mail_text
from tests.core.joint import studies
from tests.pages.hospitals.outside_folds import shown, technical
from tests.pages.hospitals.your_data.table_page import TablePage, csv
from tests.pages.interruption import Interruption
from tests.waiting import PATIENCE_SECONDS

AGREED = studies.plan()
NORTH = csv(studies.frame("North"))


@cache
def answers():
    return {each.hospital.file_name: each.to_json(AGREED) for each in studies.answers(AGREED)}


class MailPage(TablePage):
    """The page with its fold of studies by mail open."""

    def __init__(self, plan=AGREED, data=NORTH, **link):
        super().__init__(**link)
        self.app.session_state["own mail"] = True
        self.run()
        if data is not None:
            self.upload(data, "north.csv")
        if plan is not None:
            self.open_plan(plan)

    def open_plan(self, plan):
        data = plan if isinstance(plan, bytes) else plan.to_json()
        self.app.file_uploader(key=f"own plan {self.state.uploader}").set_value(
            ("plan.json", data, "application/json")
        )
        self.run()

    def choose(self, hospital="North"):
        box = next(box for box in self.app.selectbox if box.label == mail_text.WHO)
        box.set_value(hospital)
        self.run()

    def set_limit(self, limit=10.0):
        next(box for box in self.app.number_input if box.label == "Privacy loss in total").set_value(limit)
        self.press("Set this limit")

    def compare(self):
        next(box for box in self.app.checkbox if box.label == mail_text.COMPARED).check()
        self.run()

    def take_part(self):
        """Pay for the answer of the chosen hospital, and wait for it."""
        self.compare()
        self.press(mail_text.ASK)
        self.spend()

    def combine(self, files):
        key = next(box.key for box in self.app.file_uploader if box.key.startswith("own answers"))
        given = [(name, data, "application/json") for name, data in files]
        self.app.file_uploader(key=key).set_value(given)
        self.run()

    @property
    def file(self):
        return self.state.last("mail").result

    @property
    def downloads(self):
        return [button.proto.label for button in self.app.get("download_button")]


def taking_part(plan=AGREED, limit=10.0, **more):
    page = MailPage(plan, **more)
    page.choose()
    page.set_limit(limit)
    return page


def test_taking_part_pays_once_and_gives_the_same_file_again(folder):
    page = taking_part()
    assert " ".join(AGREED.words) in [box.value for box in page.app.code]
    assert not page.has_button("Spend") and mail_text.COMPARE in page.captions
    assert next(b for b in page.app.button if b.label == mail_text.ASK).disabled
    assert f"{in_words.file_bytes(AGREED, AGREED.hospitals[0]):,} bytes" in page.markdown
    page.take_part()
    first = page.file
    sent = combine.read(AGREED, {first.name: first.data})
    assert first.name == "answer-North.json" and sent[0].hospital.name == "North"
    assert f"Download {first.name}" in page.downloads
    # The command's way, from the same book: the same bytes, and nothing more is paid.
    part = take_part.prepare(AGREED, "North", studies.tables.read(NORTH, "north.csv"))
    payer = part.payer(Book(default_path()))
    assert part.answer(payer).to_json(AGREED) == first.data
    (payment,) = payer.balance().payments
    again = MailPage()  # another session
    again.choose()
    assert mail_text.PAID in again.markdown and not again.has_button(mail_text.ASK)
    again.press(mail_text.AGAIN)
    for job in again.state.confirmed:
        job.wait(PATIENCE_SECONDS)
    again.run()
    assert again.file.data == first.data
    assert [each.id for each in payer.balance().payments] == [payment.id]
    # It is no release of the page's own, and nothing that was interrupted.
    assert not again.state.releases and "interrupted" not in again.warnings


def test_a_click_that_is_interrupted_pays_once(monkeypatch):
    newer, page = Interruption(monkeypatch, "_make_pending", doubled=True), taking_part()
    page.compare()
    newer.due = 1
    page.press(mail_text.ASK)
    assert newer.due == 0 and page.has_button("Spend")
    page.spend()
    assert page.file.name == "answer-North.json" and len(page.payments) == 1


def test_an_answer_is_kept_on_reruns_without_its_table_and_on_a_closed_fold():
    page = taking_part()
    page.take_part()
    page.press("Forget it")
    assert f"Download {page.file.name}" in page.downloads and page.state.mail.prepared is None
    page.app.session_state["own mail"] = False
    page.run()
    page.app.session_state["own mail"] = True
    page.run()
    assert f"Download {page.file.name}" in page.downloads and page.state.mail.plan == AGREED


def test_what_was_stopped_goes_on_for_nothing(folder, monkeypatch):
    draw, drawn = discrete_gaussian.add_noise, []

    def stopping(*given, **options):
        drawn.append(given)
        if len(drawn) == 2:
            raise discrete_gaussian.StoppedError
        return draw(*given, **options)

    monkeypatch.setattr(discrete_gaussian, "add_noise", stopping)
    page = taking_part()
    page.take_part()
    assert "You can go on with it for nothing" in page.warnings
    other = MailPage()  # in another session, with more steps to draw
    other.choose()
    assert mail_text.PAID in other.markdown
    other.press(mail_text.AGAIN)
    for job in other.state.confirmed:
        job.wait(PATIENCE_SECONDS)
    other.run()
    assert combine.read(AGREED, {"a": other.file.data})
    assert len(other.payments) == 1


def test_an_interrupted_answer_is_not_taken_for_another_dictionary(folder, monkeypatch):
    def stopping(*_, **__):
        raise discrete_gaussian.StoppedError

    with monkeypatch.context() as stopped:
        stopped.setattr(discrete_gaussian, "add_noise", stopping)
        page = taking_part()
        page.take_part()
    page = TablePage()
    page.upload(NORTH, "north.csv")
    page.answer()
    page.open_dictionary(AGREED.dictionary)
    assert "It is the answer of North to the plan of a joint study" in page.warnings
    assert "another dictionary" not in page.warnings and "cannot be shown" not in page.warnings


def test_a_table_that_is_ready_on_the_page_has_its_account_there():
    page = MailPage()
    page.answer()
    page.open_dictionary(AGREED.dictionary)
    page.choose()
    assert mail_text.LIMIT_ABOVE in page.notices
    page.set_limit()
    page.take_part()
    assert page.file.name == "answer-North.json" and len(page.payments) == 1


def test_a_larger_price_than_the_limit_is_not_asked_for():
    page = taking_part(limit=0.5)
    page.compare()
    assert "beyond the limit" in page.markdown
    assert next(b for b in page.app.button if b.label == mail_text.ASK).disabled


REFUSED_PLANS = {
    "no json": (b"not json", "cannot be read"),
    "another file": (b"{}", "lacks"),
    "an answer": (b'{"format": "dppca joint answer 1"}', "lacks"),
    "deep": (b"[" * 100_000, "cannot be read"),
    "huge name": (json.dumps(AGREED.to_plain() | {"name": "x" * 9999}).encode(), "letters"),
}


@pytest.mark.parametrize("name", REFUSED_PLANS)
def test_a_bad_plan_is_refused_in_one_sentence(name):
    data, reason = REFUSED_PLANS[name]
    page = MailPage(data, data=None)
    assert reason in page.errors and page.errors.count("\n") == 0
    assert page.state.mail.plan is None


def test_a_table_that_does_not_fit_is_refused_without_a_cell():
    page = MailPage(data=NORTH.replace(b"age", b"aged"))
    page.choose()
    assert "age" in page.errors and not page.has_button(mail_text.ASK)
    small = MailPage(data=csv(studies.frame("North", n=40)))
    small.choose()
    assert "agree on another plan" in small.errors


def test_answers_put_together_are_those_of_the_command(offered):
    page = MailPage(data=None)
    page.combine(answers().items())
    made = combine.combine(AGREED, combine.read(AGREED, answers()))
    for sentence in in_words.missing(made):
        assert sentence in page.markdown
    for hospital in AGREED.hospitals:
        assert hospital.name in str(page.app.table[-1].value)
    built = [each() for each in offered]
    assert bundle.pack(document.files(made)) in built
    whole = next(each for each in built if isinstance(each, bytes) and each.startswith(b"<!doctype"))
    assert AGREED.words[0] in whole.decode() and "pulse" in whole.decode()
    assert not page.state.confirmed  # it needs no account


def test_fewer_answers_say_what_that_costs_and_bad_ones_are_refused():
    page, files = MailPage(data=None), list(answers().items())
    page.combine(files[:3])
    assert "3 of 5 hospitals have answered" in page.markdown and "predicted error is" in page.markdown
    name, data = files[0]
    for bad, reason in (
        ([(name, data), (name, data)], "are both of"),
        ([(name, data.replace(b'"patients": 300', b'"patients": 301'))], "damaged or changed"),
        ([(name, b"\xff")], "cannot be read"),
        ([("plan.json", AGREED.to_json())], "no answer to a joint plan"),
    ):
        page.combine(bad)
        assert reason in page.errors and page.errors.count("\n") == 0, page.errors
    other = studies.plan(name="Another")
    page.open_plan(other)
    page.combine(files[:1])
    assert "answers another plan" in page.errors
    page.combine(files[:0])
    assert not page.errors


def test_plain_view_has_plain_words_and_the_file_too():
    page = taking_part(view="plain")
    page.take_part()
    page.combine(answers().items())
    words = shown(page.app.main)
    for known in (*AGREED.dictionary.features, "(JSON lines)", " ".join(AGREED.words)):
        words = words.replace(known, "")
    assert not technical(words), technical(words)
    made = combine.combine(AGREED, combine.read(AGREED, answers()))
    html = mail_document.file_of(made, plain=True).html("https://dashboard.example/")
    assert "Pattern" in html and "North" in html


def test_a_projector_says_that_its_promise_needs_an_event():
    page = taking_part(studies.plan("public", method="federated_projector", epsilon=2.0))
    assert "Do not use it for real patients" in page.warnings
    page.take_part()
    assert page.file.name == "answer-North.json"


def test_nobody_else_gets_the_answer(folder, visitor):
    visitor("ann")
    page = taking_part()
    page.take_part()
    visitor("ben")
    other = MailPage()
    other.choose()
    assert "another person" in other.errors or "account" in other.errors
    assert not other.has_button(mail_text.AGAIN, mail_text.ASK)
