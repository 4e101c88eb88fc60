"""Test this page in plain view through a whole release: plain words outside of folds, the core's numbers."""

import numpy as np
import pytest

from dppca_core import Budget
from dppca_core.numerics import subspace_metrics
from dppca_core.release.request import Request
from pages.hospitals.your_data import (
    account_text,
    owner_only_document,
    plain_text,
    rehearsal,
    release_request,
    twin_runs,
)
from pages.hospitals.your_data.account_text import Spending
from pages.hospitals.your_data.rehearsal import StopSign
from pages.shared.document.blocks import Text
from pages.shared.plain import phrases
from pages.shared.text.privacy_phrases import odds
from tests.pages.hospitals.outside_folds import shown, technical
from tests.pages.hospitals.your_data.table_page import WIDE, TablePage, limited, prepared


def words(page):
    """Return what is shown outside of folds, without names of columns and of files that visitors chose."""
    text = shown(page.app.main)
    for name in (*page.state.chosen, "(JSON lines)"):
        text = text.replace(name, "")
    return text


def in_words(file):
    """Return what a file says outside of folds, without names of columns."""
    frame, blocks = file.frame(), file.blocks()
    words = [part.words for part in blocks if isinstance(part, Text)]
    parts = [file.title, *words, *map(str, frame.settings), frame.promise, *frame.limits]
    return "\n".join(parts).replace("**", "")


def test_a_whole_release_has_no_technical_word_outside_of_folds(built):
    page = TablePage(view="plain", **{"own.eps": "8", "own.delta_set": "false"})
    assert not technical(words(page))
    page.press("Try it with the breast cancer")
    assert not technical(words(page)), technical(words(page))
    last = dict(page.app.session_state["settings of the last run"])
    table = page.state.ready
    asked = release_request.requested(last, table, None, 1)
    twin = rehearsal.rehearse(asked, table.schema, table.sizes, last)
    share = 100 * (1 - np.median(twin_runs.run_errors(twin)) ** 2 / 2)
    assert plain_text.rehearsed(share, 100 * 2 / table.d) in page.markdown
    assert plain_text.rehearsed(share, 100 * 2 / table.d).replace("**", "") in in_words(built())
    assert not technical(in_words(built())), technical(in_words(built()))
    next(box for box in page.app.number_input if box.label == "Privacy loss in total").set_value(16.0)
    page.press("Set this limit")
    account = page.payer.balance()
    spent = account_text.spending(account, asked.events)
    assert plain_text.price("", 8.0, spent, 1, 8.0) in words(page) and "half" in plain_text.part(0.5)
    assert odds(8.0, 1e-6) in words(page)
    page.release()
    page.app.checkbox(key="own.shown").check()
    page.run()
    assert not technical(words(page)), technical(words(page))
    assert plain_text.releases(1) in words(page)
    compared = owner_only_document.compare(table, page.state.releases[0].result)
    recovered = 100 * float(subspace_metrics.share_recovered(compared.error, 2))
    assert phrases.percent(recovered) in words(page)
    assert not technical(in_words(built())), technical(in_words(built()))
    assert phrases.percent(recovered) not in in_words(built())


def test_a_poor_rehearsal_says_what_would_do_and_rows_of_a_patient_count():
    page = limited(dictionary=WIDE, view="plain", **{"own.eps": "1", "own.k": "1"})
    settings = dict(page.app.session_state["settings of the last run"])
    table = page.state.ready
    sign = rehearsal.stop_sign(
        rehearsal.rehearse(
            release_request.requested(settings, table, None, 1), table.schema, table.sizes, settings
        ),
        lambda epsilon: rehearsal.rehearse(
            release_request.requested(settings | {"own.epsilon": epsilon}, table, None, 1),
            table.schema,
            table.sizes,
            settings,
        ),
    )
    assert plain_text.stop(sign) in page.warnings and page.has_button("Release anyway")
    page = prepared(dictionary=WIDE, rows=8, view="plain", **{"own.eps": "0.5"})
    page.press("Set this limit")
    settings = dict(page.app.session_state["settings of the last run"])
    request = release_request.requested(settings, page.state.ready, None, 8)
    assert f"their privacy loss is {request.patient_epsilon:.2f}" in words(page)
    assert odds(request.patient_epsilon, 1e-6) in words(page)
    assert not technical(words(page)), technical(words(page))


@pytest.mark.parametrize(
    ("spent", "sentence"),
    [
        (Spending(0.0, 0.5, 1.0), "This uses half of your privacy budget."),
        (Spending(0.5, 0.72, 1.0), "This uses 22 % of your privacy budget."),
        (Spending(0.75, 1.0, 1.0), "This uses a quarter of your privacy budget."),
        (Spending(0.75, 1.01, 1.0), "more than what is left"),
    ],
)
def test_a_price_is_a_part_of_the_budget(spent, sentence):
    assert sentence in plain_text.price("", 1.0, spent, 1, 1.0)


def test_every_sentence_is_short():
    sign = StopSign(0.5, 0.1, 0.07, 569, 0.5, 1, 8.0, 1900)
    sentences = [
        *(value for value in vars(plain_text).values() if isinstance(value, str) and " " in value),
        *(plain_text.stop(each) for each in (sign, sign._replace(needed=None), sign._replace(unprotected=1))),
        plain_text.rehearsed(4.0, 6.7),
        plain_text.price("", 1.0, Spending(0, 0.5, 1.0), 8, 10.3),
        plain_text.promise(Request("analyze_gauss", 3, 2, Budget(1.0, 1e-2)), 569),
        plain_text.verdict(77.0, 6.7),
    ]
    for sentence in sentences:
        for each in sentence.replace("?", ".").split(". "):
            assert len(each.split()) <= 20, each
