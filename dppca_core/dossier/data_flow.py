"""What goes between our hospital and the server, by field and bytes: for an impact assessment.

Counted are 64-bit numbers. What a network, an encryption or the key agreement of secure aggregation add is
not. Where the number of features kept follows from the release it is at most all of them, so that bytes are
the most that are sent.
"""

from typing import NamedTuple

from dppca_core.dossier.agreement import Agreement
from dppca_core.experiments.collaboration.protocols import NUMBER
from dppca_core.mechanisms import normalised_product, stacked, two_stage
from dppca_core.records import RELEASED
from dppca_core.release.registry_record import IN_WORDS
from dppca_core.release.request import STACKED_ROUNDS


class DataField(NamedTuple):
    """Hold one field of a message, which our hospital sends or receives.

    personal: whether it is computed from our patients' records alone, before noise. times: how often it goes
    in one run. numbers: how many it has each time, at most.
    """

    sent: bool
    what: str
    personal: bool
    times: int
    numbers: int
    protection: str

    @property
    def total_bytes(self) -> int:
        return NUMBER * self.times * self.numbers


def data_flow(agreement: Agreement) -> tuple[DataField, ...]:
    """Return all that one run sends and brings, in the order of its first time."""
    setting, method = agreement.setting, agreement.method
    d, k = setting.experiment.d, setting.k
    protection, public = IN_WORDS[agreement.noise_by].protection, "none needed: made of what was released"
    moment = f"sums of products of pairs of {'the chosen' if method.chooses_rows else 'all'} measurements"
    product = DataField(
        True, "sums of products of measurements and the last patterns", True, 0, d * k, protection
    )
    asked = DataField(False, "the last patterns", False, 0, d * k, public)
    result = DataField(False, "the patterns found", False, 1, d * k, public)
    if method.chooses_rows:
        rounds, kept = _rounds_of_stages(agreement), agreement.options["s_hat"]
        most = d if kept == RELEASED else int(kept)
        return (
            asked._replace(times=rounds),
            product._replace(times=rounds),
            DataField(False, "which measurements were chosen", False, 1, most, public),
            DataField(True, moment, True, 1, most * (most + 1) // 2, protection),
            result,
        )
    if method.name in STACKED_ROUNDS:
        return asked._replace(times=stacked.ROUNDS), product._replace(times=stacked.ROUNDS), result
    return DataField(True, moment, True, 1, d * (d + 1) // 2, protection), result


def bytes_sent(agreement: Agreement) -> int:
    return sum(field.total_bytes for field in data_flow(agreement) if field.sent)


def messages_sent(agreement: Agreement) -> int:
    return sum(field.times for field in data_flow(agreement) if field.sent)


def _rounds_of_stages(agreement: Agreement) -> int:
    """Return the number of rounds of the first stage, which follows from public numbers."""
    setting = agreement.setting
    factor = normalised_product.noise_factor(agreement.method.trust, len(setting.hospitals))
    rule = two_stage.division(
        agreement.arrangement.budget,
        factor,
        d=setting.experiment.d,
        n=setting.n,
        s_hat=agreement.options["s_hat"],
    )
    return rule.rounds
