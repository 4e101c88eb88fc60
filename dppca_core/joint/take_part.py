"""Take part in a joint study: one hospital's own table, its price, its payment, and its file.

    part = take_part.prepare(plan, "North", table)        # reads the table, and releases nothing
    payer = part.payer(book)                              # the account of that table
    part.earlier(payer)                                   # what this account has paid for plans
    answer = part.answer(payer)                           # pays, draws, and keeps each step in the book
    write(folder, part.plan, answer)

The release is `private_release.make`, of this table alone. All in the file is of its steps, kept in the book
before they were used: so whoever asks again, or was interrupted, gets the same file and pays nothing.
"""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dppca_core.accounts.account import Payment
from dppca_core.accounts.book import Book, BookTable, Payer, sync_folder
from dppca_core.arrays import Array, Part
from dppca_core.federated.one_round import upper_triangle
from dppca_core.joint import answer as answers
from dppca_core.joint.answer import JointAnswer
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.methods import dpdis_pca
from dppca_core.privacy import Event
from dppca_core.release import discrete_gaussian, how_chosen, private_release, projector
from dppca_core.release.projector import ProjectorRequest
from dppca_core.release.request import Request
from dppca_core.tables import Raw, Schema
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.encode import prepare as prepare_table

_CHOSEN = "a joint plan with the digest "


class Earlier(NamedTuple):
    """Hold what the account of a table has paid for joint studies before.

    payment: for this very plan and table; None where there was none. others: how many payments there were for
    other plans, or for this one from another table.
    """

    payment: Payment | None
    others: int


@dataclass(frozen=True, eq=False)
class TakingPart:
    """Hold one hospital's table, ready for a plan. All of it is private but plan, hospital and n."""

    plan: JointPlan
    hospital: PlannedHospital
    table: PreparedTable = field(repr=False)

    @property
    def n(self) -> int:
        return self.table.n

    @property
    def request(self) -> Request | ProjectorRequest:
        """Return what is released of this table. It is public."""
        if self.plan.method == projector.METHOD:
            plan = self.plan
            return ProjectorRequest(plan.d, plan.k, plan.budget(self.hospital), averaged=plan.averaged)
        return self.plan.request(self.hospital, self.n)

    @property
    def events(self) -> tuple[Event, ...]:
        """Return what taking part costs."""
        return self.request.events

    @property
    def public(self) -> dict[str, Any]:
        """Return what is public of the table. Another plan, or another hospital of it, is another release."""
        return self.table.public | {"joint plan": self.plan.digest, "hospital": self.hospital.name}

    def payer(self, book: Book, owner: str | None = None) -> Payer:
        """Return what pays for this table, from the account that the table is in."""
        columns = tuple(column.name for column in self.plan.dictionary.columns)
        return book.payer(BookTable(self.table.raw.key, self.table.raw.n, columns), owner)

    def earlier(self, payer: Payer) -> Earlier:
        """Return what this account has paid for joint studies. Raises as `Payer.account` does."""
        return self._earlier(payer, payer.balance().payments)

    def _earlier(self, payer: Payer, payments: Sequence[Payment]) -> Earlier:
        same, others = None, 0
        for payment in payments:
            stated = str(payment.about.get(how_chosen.KEY, ""))
            if _CHOSEN not in stated:
                continue
            drawn = payer.drawn(payment.id)
            if drawn is not None and drawn.asked == self._asked:
                same = same or payment
            else:
                others += 1
        return Earlier(same, others)

    def answer(
        self,
        payer: Payer,
        shown: Any = None,
        progress: discrete_gaussian.Progress = lambda share: True,
    ) -> JointAnswer:
        """Pay for the release, unless it is paid for, draw what is not drawn, and return the answer.

        shown: the account at which the price was shown; None takes the one that there is. progress: as for
        `private_release.make`.

        Raises OverLimitError beyond the account's limit, and ValueError, before anything is paid, for what
        cannot be released, and where something else was paid for meanwhile.
        """
        # Of two that take part at once, the second finds another account than expected, and pays nothing.
        now = payer.balance() if shown is None else shown
        paid = self._earlier(payer, now.payments).payment
        if self.plan.method == projector.METHOD:
            arrays = self._projected(payer, paid, now)
        else:
            arrays = self._released(payer, paid, now, progress)
        # What a combiner would refuse is not sent.
        answers.check_arrays(self.plan, self.hospital, self.n, arrays)
        return JointAnswer(self.hospital, self.n, arrays)

    @property
    def _chosen(self) -> str:
        return how_chosen.statement("fixed before the data were seen", f"{_CHOSEN}{self.plan.digest}")

    @property
    def _asked(self) -> dict[str, Any]:
        request, features = self.request, self.plan.dictionary.features
        if isinstance(request, ProjectorRequest):
            return projector.as_asked(request, [self.n], features, self.public)
        return private_release.as_asked(request, [self.n], features, self.public)

    @property
    def _part(self) -> Part:
        parts = self.table.encoded_parts if self.plan.fitted else self.table.parts
        return parts[0]

    def _released(
        self,
        payer: Payer,
        paid: Payment | None,
        expected: Any,
        progress: discrete_gaussian.Progress,
    ) -> dict[str, Array]:
        request = self.request
        assert isinstance(request, Request)
        made = private_release.make(
            request,
            [self._part],
            payer,
            features=self.plan.dictionary.features,
            public=self.public,
            expected=None if paid else expected,
            progress=progress,
            resumed=paid,
            chosen=self._chosen,
            layout=self.plan.layout if self.plan.fitted else None,
        )
        drawn = payer.drawn(made.payment.id)
        assert drawn is not None  # it was made just now
        arrays = {}
        for name in answers.shapes(self.plan):
            if name == "moment":
                arrays[name] = upper_triangle(drawn.drawn("moment 1"))
            elif name == "directions":
                rank = request.method_options["rank"]
                arrays[name] = dpdis_pca.compress(drawn.drawn("moment 1"), rank, "eigh")
            else:
                arrays[name] = drawn.drawn(name)
        return arrays

    def _projected(self, payer: Payer, paid: Payment | None, expected: Any) -> dict[str, Array]:
        request = self.request
        assert isinstance(request, ProjectorRequest)
        _, released = projector.make(
            request,
            self._part,
            payer,
            features=self.plan.dictionary.features,
            public=self.public,
            expected=None if paid else expected,
            resumed=paid,
            chosen=self._chosen,
        )
        worth = np.array([released.std, released.spike, released.variance])
        return {"projector": upper_triangle(released.matrix), "worth": worth}


def prepare(plan: JointPlan, hospital: str, table: Raw, dictionary: Schema | None = None) -> TakingPart:
    """Return a hospital's table, encoded as the plan says. Nothing is paid or released.

    hospital: its name in the plan. dictionary: the hospital's own, which may know more words of its cells,
    and must be the plan's in everything else.

    Raises ValueError, one sentence that quotes no cell, for a hospital that is not in the plan, a table that
    does not fit its dictionary, or a number of patients that is far from the stated one.
    """
    planned = plan.hospital(hospital)
    schema = plan.dictionary if dictionary is None else dictionary
    if schema.published != plan.dictionary.published:
        raise ValueError("the dictionary is not the plan's: only other words for its cells may differ")
    prepared = prepare_table(table, schema, None, 1, plan.patient_column or None, plan.counting)
    answers.check_patients(planned, prepared.n)
    return TakingPart(plan, planned, prepared)


def write(folder: Path, plan: JointPlan, answer: JointAnswer) -> Path:
    """Write a hospital's file, all of it or nothing, and return its path.

    The same answer gives the same bytes. Raises ValueError where another answer has that name, and OSError.
    """
    path, data = folder / answer.hospital.file_name, answer.to_json(plan)
    if path.exists():
        if path.read_bytes() == data:
            return path
        raise ValueError(f"{path.name} is there already, and is another file: move it away first")
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
    sync_folder(folder)
    return path
