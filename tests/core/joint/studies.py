"""A small joint study for tests: a plan, tables of invented patients, and noise from a seed."""

from dataclasses import replace

import numpy as np
import pandas as pd

from dppca_core import tables
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.joint import take_part
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.release import discrete_gaussian
from dppca_core.tables import Column, Schema

NAMES = ("North", "South", "East Side", "West", "Mid")
N = 300
NUMBERS = ("age", "weight", "height", "pulse")
SCHEMA = Schema(
    (
        *(Column(name, "number", -4.0, 4.0, fill=0.0) for name in NUMBERS),
        Column("sex", "category", categories=("f", "m"), fill="f"),
    )
)
LIMIT = Limit(10.0, 1e-6)
PATTERN = np.linalg.qr(np.random.default_rng(7).standard_normal((len(NUMBERS) + 1, 2)))[0]


def plan(rows="centred", *, hospitals=NAMES, epsilon=2.0, **changed):
    planned = tuple(PlannedHospital(name, N, epsilon, 1e-6) for name in hospitals)
    stated = {
        "name": "Five clinics",
        "dictionary": SCHEMA,
        "method": "own_noise_sparse",
        "rows": rows,
        "k": 2,
    }
    return JointPlan(**stated | {"hospitals": planned} | changed)


def loud(agreed, epsilon=1e8):
    """Return a plan with hardly any noise."""
    hospitals = tuple(replace(hospital, epsilon=epsilon) for hospital in agreed.hospitals)
    return replace(agreed, hospitals=hospitals)


def frame(hospital, n=N, shift=0.15):
    rng = np.random.default_rng(NAMES.index(hospital))
    latent = rng.standard_normal((n, 2)) * (1.5, 1.0)
    values = (
        latent @ PATTERN.T + 0.4 * rng.standard_normal((n, len(NUMBERS) + 1)) + shift * NAMES.index(hospital)
    )
    table = pd.DataFrame(values[:, :-1].round(3), columns=list(NUMBERS))
    return table.assign(sex=np.where(values[:, -1] > 0, "f", "m"))


def raw(hospital, n=N):
    return tables.from_frame(frame(hospital, n), f"{hospital}.csv")


def part_of(agreed, hospital, table=None):
    return take_part.prepare(agreed, hospital, raw(hospital) if table is None else table)


def paying(part, book=None, limit=LIMIT):
    payer = part.payer(book or Book())
    payer.set_limit(replace(limit, neighbours=part.plan.neighbours))
    return payer


def answer(agreed, hospital, book=None, limit=LIMIT):
    part = part_of(agreed, hospital)
    return part.answer(paying(part, book, limit))


def answers(agreed, limit=LIMIT):
    book = Book()
    return [answer(agreed, hospital.name, book, limit) for hospital in agreed.hospitals]


class SeededNoise:
    """Stand in for `discrete_gaussian.add_noise`: the same whole numbers for one seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, whole, std, keep_drawing=lambda drawn: True):
        keep_drawing(len(whole))
        return whole + np.round(std * self.rng.standard_normal(len(whole)))


def silence(monkeypatch):
    monkeypatch.setattr(discrete_gaussian, "add_noise", lambda whole, std, *_: np.asarray(whole, dtype=float))
