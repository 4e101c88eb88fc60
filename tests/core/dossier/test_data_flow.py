"""Test bytes against the runs of methods, and against the messages of a protocol."""

import numpy as np
import pytest

from dppca_core.dossier.data_flow import bytes_sent, data_flow, messages_sent
from dppca_core.experiments import draws
from dppca_core.federated.in_process import simulate
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise
from dppca_core.methods import METHODS
from dppca_core.numerics import block_power
from dppca_core.release.registry_record import IN_WORDS
from tests.core.dossier.agreements import SETTINGS, TRUSTS, agreement

ALL_METHODS = {
    f"{base}_{trust}" for base in ("two_stage", "stacked_rounds") for trust in ("own_noise", "sealed")
} | {"own_noise_sparse", "sealed_sparse"}


def cohort(setting):
    return draws.cohort(setting.population, setting.sizes, draws.PUBLIC, setting.seed, 0)


def test_the_settings_run_every_method_that_can_be_recommended():
    signed = [agreement(setting, trust) for setting in SETTINGS.values() for trust in TRUSTS]
    assert {each.arrangement.method for each in signed} == ALL_METHODS


@pytest.mark.parametrize("trust", TRUSTS)
@pytest.mark.parametrize("name", SETTINGS)
def test_bytes_are_those_of_a_run(name, trust):
    signed = agreement(SETTINGS[name], trust)
    run = METHODS[signed.arrangement.method].fit(
        cohort(signed.setting),
        k=signed.setting.k,
        budget=signed.arrangement.budget,
        rng=np.random.default_rng(0),
        **signed.options,
    )
    if name == "chosen":  # at most all features are kept
        d, kept = signed.setting.experiment.d, np.count_nonzero(run.basis.any(axis=1))
        spared = 8 * (d * (d + 1) - kept * (kept + 1)) // 2
        assert bytes_sent(signed) - spared <= run.bytes_sent <= bytes_sent(signed)
    else:
        assert bytes_sent(signed) == run.bytes_sent


@pytest.mark.parametrize("trust", ["untrusted server", "secure aggregation"])
def test_fields_are_the_messages_of_the_protocol(trust):
    signed = agreement(SETTINGS["stages"], trust)
    setting, d = signed.setting, signed.setting.experiment.d
    options = (("iterations", messages_sent(signed) - 1), ("s_hat", signed.options["s_hat"]))
    plan = Plan("trial", signed.arrangement.method, setting.sizes, d, setting.k, signed.budget, options)
    start = block_power.random_start(d, setting.k, np.random.default_rng(0))
    noise = [Noise((7, i)) for i in range(len(setting.sizes))]
    record, states = simulate(plan, cohort(setting), noise, start)
    ours = [sent.answer for sent in states[setting.ours].sent.values()]
    assert len(ours) == messages_sent(signed)
    assert sum(answer.payload for answer in ours) == bytes_sent(signed)
    *asked, result = (field for field in data_flow(signed) if not field.sent)
    assert sum(each.question.payload for each in record.rounds) == sum(field.total_bytes for field in asked)
    assert result.total_bytes == record.rounds[-1].basis.nbytes


@pytest.mark.parametrize("trust", TRUSTS)
def test_what_is_sent_is_of_patients_and_what_protects_it_depends_on_trust(trust):
    for setting in SETTINGS.values():
        for field in data_flow(agreement(setting, trust)):
            assert field.sent == field.personal == (field.protection == IN_WORDS[trust].protection)
