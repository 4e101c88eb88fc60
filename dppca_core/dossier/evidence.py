"""What stands behind each claim of the dossier: a proof, a test, or the words "not checked".

Lines follow the levels of the pyramid of NIST SP 800-226 as NIST's news of December 2023 describes them: on
top the direct measures of a guarantee, then what can undermine it, below it how data are collected. It is a
framework and no form, so that topics are in our words.
"""

from typing import NamedTuple

from dppca_core.dossier.agreement import YEARS, Agreement, blank
from dppca_core.federated.protocol import EXCHANGES
from dppca_core.release.request import STACKED_ROUNDS

NOT_CHECKED, ONLY_THERE = "not checked", "only the hospital knows"
TOP, MIDDLE, BOTTOM = "top: the guarantee", "middle: what can undermine it", "bottom: data collection"
_AUDITS = "tests/core/methods/test_audit_methods.py"
_PROTOCOL = "tests/core/federated/test_protocol.py"
_STAGES = "tests/core/methods/test_two_stage.py"
_SENSITIVITY = "tests/core/mechanisms/test_sensitivity.py"
_STAGE_AUDITS = "tests/core/methods/test_audit_two_stage.py"
_NOISE = "tests/core/accounting/test_gaussian.py::test_multiplier_agrees_with_dp_accounting"
_COMPOSED = "tests/core/accounting/test_gaussian.py::test_steps_compose_as_dp_accounting_composes_them"
_NETWORK = "docs/federated.md"


class EvidenceLine(NamedTuple):
    """Hold what holds here of one topic.

    link: a file of this repository, with the name of a test after "::"; NOT_CHECKED; or ONLY_THERE.
    is_attack: whether the test attacks simulated neighbouring tables.
    """

    level: str
    topic: str
    says: str
    link: str
    is_attack: bool = False


def lines(agreement: Agreement) -> tuple[EvidenceLine, ...]:
    """Return a line for each topic, from the top of the pyramid down."""
    budget, method = agreement.budget, agreement.method
    yearly = agreement.over_years(1)
    moment = f"{_SENSITIVITY}::test_replacing_a_patient_moves_the_moment_by_at_most_the_sensitivity"
    planted = f"{_SENSITIVITY}::test_the_search_refutes_a_planted_smaller_constant"
    line = EvidenceLine
    moved = planted
    in_rounds = method.chooses_rows or method.name in STACKED_ROUNDS
    if in_rounds:
        moved = f"{_STAGE_AUDITS}::test_a_round_charged_at_sensitivity_1_is_refuted"
    kept, halved = (
        f"{_AUDITS}::test_{test}" for test in ("methods_keep_their_promise", "half_the_noise_is_refuted")
    )
    again = f"{_PROTOCOL}::test_a_round_asked_again_is_repeated_and_costs_nothing"
    refused = f"{_PROTOCOL}::test_a_hospital_refuses_beyond_its_limit"
    exact = f"ε = {budget.epsilon:g}, δ = {budget.delta:g}, by exact calibration"
    return (
        line(TOP, "privacy loss", exact, _NOISE),
        line(TOP, "unit of privacy", "one patient's record in one hospital is replaced", moment),
        line(TOP, "patients in several hospitals", "they are protected less", _NETWORK),
        line(TOP, "several releases", f"one a year for {YEARS} years: ε = {yearly.epsilon:.4g}", _COMPOSED),
        line(MIDDLE, "algorithm", f"{method.title}: its proof, in words", f"docs/methods/{method.name}.md"),
        line(MIDDLE, "proof by machine", "no machine has checked the proofs", NOT_CHECKED),
        line(
            MIDDLE,
            "how far a record moves a sum",
            "a constant that is too small is noticed",
            moved,
            in_rounds,
        ),
        line(MIDDLE, "attacks on the method", "no lower limit of ε is above the claim", kept, is_attack=True),
        line(MIDDLE, "planted faults", "half the noise is noticed", halved, is_attack=True),
        *_of_trust(agreement.noise_by),
        line(MIDDLE, "noise in floating point", "its last bits can tell more than the formula", NOT_CHECKED),
        line(MIDDLE, "time", "how long a run takes may tell something", NOT_CHECKED),
        line(MIDDLE, "a question asked again", "a hospital repeats its answer, and pays once", again),
        line(MIDDLE, "beyond the limit", "a hospital refuses", refused),
        _over_a_network(agreement),
        line(MIDDLE, "accuracy, and for whom", "no group of patients was looked at apart", NOT_CHECKED),
        line(BOTTOM, "access to records", blank("who can read them"), ONLY_THERE),
        line(BOTTOM, "consent and collection", blank("how they were collected"), ONLY_THERE),
        line(BOTTOM, "the server", blank("who runs it, and where"), ONLY_THERE),
        line(BOTTOM, "real patients", f"all numbers are of {agreement.patients}", NOT_CHECKED),
    )


def _over_a_network(agreement: Agreement) -> EvidenceLine:
    topic = "over a network"
    if agreement.noise_by == "secure aggregation":
        return EvidenceLine(MIDDLE, topic, "hospitals refuse: sealed sums are simulated only", _NETWORK)
    if agreement.noise_by == "untrusted server" and agreement.method.name in EXCHANGES:
        return EvidenceLine(MIDDLE, topic, "hospitals run it by their own code and plans", _NETWORK)
    return EvidenceLine(MIDDLE, topic, "there is no network protocol for it here", NOT_CHECKED)


def _of_trust(noise_by: str) -> tuple[EvidenceLine, ...]:
    line = EvidenceLine
    if noise_by == "untrusted server":
        test = f"{_PROTOCOL}::test_shared_noise_is_undone_by_two_and_own_noise_is_not"
        return (line(MIDDLE, "trust", "nobody: each hospital's messages alone keep its guarantee", test),)
    if noise_by == "central":
        test = f"{_STAGES}::test_sealed_sums_have_the_law_of_one_place"
        return (
            line(MIDDLE, "trust", "one place, which reads all sums; noise as in sealed sums", test),
            line(MIDDLE, "a breach of that place", "it holds sums without noise", NOT_CHECKED),
        )
    one_sum = f"{_PROTOCOL}::test_the_server_sees_one_sum_of_a_secure_aggregation"
    alone = f"{_STAGE_AUDITS}::test_noise_for_sealed_sums_sent_alone_is_refuted"
    colluding = "t of N leave (N - t)/N of the noise's variance"
    return (
        line(MIDDLE, "trust", "sealed sums: the server sees one sum, as simulated", one_sum),
        line(MIDDLE, "a seal that breaks", "a message alone has too little noise", alone, is_attack=True),
        line(MIDDLE, "a product for sealed sums", "none that we know; simulated only", NOT_CHECKED),
        line(MIDDLE, "hospitals that collude", colluding, NOT_CHECKED),
    )
