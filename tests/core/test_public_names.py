"""Freeze the public names of version 1.0.0: what scripts, notebooks and papers may rely on.

A name that is gone or renamed fails, and so does a new parameter without a default, and a new name that no
list here has. To change one on purpose: raise the version in pyproject.toml and CITATION.cff, say in
CHANGELOG.md what to write instead, then change the list.
"""

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import dppca_core
from dppca_core import METHODS
from dppca_core.bounds import BOUNDS
from dppca_core.experiments import __main__ as command
from dppca_core.sklearn import PrivatePCA

ON_PURPOSE = (
    "a public name is gone or renamed: if that is meant, raise the version in pyproject.toml and "
    "CITATION.cff, say in CHANGELOG.md what takes its place, and change the list in this file"
)
UNLISTED = "a new public name: add it to {} in this file, and a line to CHANGELOG.md"

# What each module offers by name.
NAMES = {
    "dppca_core": "METHODS Bound Budget Cohort Estimate Guarantee Method Provider Release Setting "
    "SpikedModel TradeOff sin_theta",
    "dppca_core.bounds": "BOUNDS",
    "dppca_core.methods": "METHODS register",
    "dppca_core.sklearn": "PrivatePCA",
    "dppca_core.experiments": "Axis Progress Recipe Variant sweep variant",
    "dppca_core.tables": "Column JoinedTable OwnerCounts QuestionError Raw Schema at_random by_column "
    "content_key encode from_frame join read safe_cell safe_csv",
    "dppca_core.tables.transformer": "DictionaryEncoder",
    "dppca_core.accounts": "Account",
    "dppca_core.accounts.account": "Balance Limit",
    "dppca_core.accounts.book": "Book BookTable Payer default_path",
    "dppca_core.accounting.gaussian": "delta_of epsilon_of noise_multiplier",
    "dppca_core.accounting.closed_form": "epsilon_of multiplier_of",
    "dppca_core.accounting.dp_event": "to_dp_event",
    "dppca_core.accounting.trade_off": "TradeOff",
    "dppca_core.datasets": "cohort rows",
    "dppca_core.experiments.studies": "bounds compare convergence patients_needed",
    "dppca_core.populations.stated": "StatedCorrelations StatedEigenvalues",
    "dppca_core.release.bundle": "files",
    "dppca_core.records": "Assumption",
}
WITH_ALL = (
    "dppca_core",
    "dppca_core.experiments",
    "dppca_core.tables",
)  # these say themselves what is public

# The options of every method's fit, next to (cohort, *, k, budget, rng).
_TWO_STAGE = "s_hat iterations share signal stage_one scaling shrink start declared_n"
_STACKED = "iterations left_out start"
METHOD_OPTIONS = {
    "amin": "",
    "analyze_gauss": "noise shrink",
    "analyze_gauss_gap": "",
    "analyze_gauss_sparse": "s_hat noise shrink",
    "cape": "noise shrink",
    "dp_oja": "batches start",
    "dpdis_pca": "rank weights decomposition noise shrink",
    "dps_pca": "s_hat iterations burn_in provider_noise start",
    "fantope_pca": "penalty",
    "federated_projector": "spike variance constant send",
    "ldp_pca": "noise shrink",
    "ldp_sparse_pca": "penalty noise",
    "local_pca": "",
    "mod_sulq": "shrink",
    "noisy_power": "iterations width start",
    "oracle_pca": "support",
    "own_noise_sparse": "s_hat noise shrink",
    "pca": "",
    "ppca": "scans start",
    "sealed_sparse": "s_hat noise shrink",
    "sparse_pca": "s_hat iterations burn_in start",
    "sparse_pca_shrunk": "s_hat",
    "spiked_projector": "spike variance constant covariance",
    "stacked_rounds": _STACKED,
    "stacked_rounds_own_noise": _STACKED,
    "stacked_rounds_sealed": _STACKED,
    "sulq": "shrink",
    "two_stage": _TWO_STAGE,
    "two_stage_own_noise": _TWO_STAGE,
    "two_stage_sealed": _TWO_STAGE,
    "wishart": "shrink",
}
# The keywords of every bound, next to (setting).
BOUND_KEYWORDS = {
    "analyze_gauss": "c",
    "analyze_gauss_prediction": "",
    "cai_covariance": "c c_signal q",
    "cai_covariance_lower": "c c_signal q",
    "cai_projector": "c c_signal q",
    "cai_projector_lower": "c c_signal q",
    "dps_prediction": "",
    "gaussian_floor": "",
    "ge2018": "c1 c1_rows c2",
    "local_prediction": "",
    "noisy_power": "c start",
    "noisy_power_prediction": "",
    "ppca_laplace": "",
    "projector_prediction": "",
    "sparse_minimax": "c2",
    "two_stage_own_noise_prediction": "stage_one iterations",
    "two_stage_prediction": "stage_one iterations",
    "wang_xu_low": "c",
    "wang_xu_low_lower": "c c_n",
    "wang_xu_sparse": "c c_penalty",
    "wang_xu_sparse_lower": "c c_n",
}
# Parameters of functions, and of classes, whose fields they are.
PARAMETERS = {
    "dppca_core:Estimate": "basis iterates noise_std bytes_sent seconds spent spent_each covariance "
    "notes diagnostics features",
    "dppca_core:Budget": "epsilon delta neighbours accounting",
    "dppca_core:Setting": "d n k s s_hat providers iterations eigenvalues budget tau provider_noise "
    "burn_in start_error tails",
    "dppca_core:Bound": "terms total applies why source constants quantities",
    "dppca_core:Release": "noise_multiplier steps",
    "dppca_core:Guarantee": "epsilon delta",
    "dppca_core:Method": "title reference trust guarantee uses fit spends exact_at_one matrix cost scaling "
    "pools tuned audit name",
    "dppca_core:Cohort": "providers pooled bound columns",
    "dppca_core:Cohort.from_rows": "rows bound",
    "dppca_core:Cohort.together": "providers bound",
    "dppca_core:Provider": "n moment",
    "dppca_core:SpikedModel": "d k s spike bulk seed fall correlation tails",
    "dppca_core:SpikedModel.draw": "self n providers rng failure",
    "dppca_core:SpikedModel.norm_bound": "self n failure",
    "dppca_core:sin_theta": "basis truth",
    "dppca_core.records:Assumption": "holds text of_size",
    "dppca_core.experiments:sweep": "recipe executor progress cancel out known",
    "dppca_core.accounting.gaussian:noise_multiplier": "budget",
    "dppca_core.accounts.account:Limit": "epsilon delta neighbours",
    "dppca_core.accounts.book:Book": "path",
    "dppca_core.accounts.book:Book.payer": "self table owner",
    "dppca_core.accounts.book:BookTable": "key rows columns at",
    "dppca_core.datasets:cohort": "name sizes seed",
    "dppca_core.methods:register": "name method",
    "dppca_core.release.bundle:files": "document account payment",
    "dppca_core.tables:Schema": "columns bound",
    "dppca_core.tables:Column": "name kind low high categories fill usual missing_codes synonyms decimal "
    "group other_names unit",
    "dppca_core.tables:from_frame": "frame name",
    "dppca_core.tables.transformer:DictionaryEncoder": "schema",
    "dppca_core.sklearn:PrivatePCA": "n_components method epsilon delta bound center private_center scale "
    "private_scale neighbours accounting explained_variance params random_state hardened account",
}
FITTED = (
    "components_ n_components_ explained_variance_ explained_variance_ratio_ noise_variance_ "
    "singular_values_ n_samples_ mean_ scale_ bound_ method_ spent_ epsilon_ guarantee_ simulation_ notes_ "
    "recommendation_ release_ n_features_in_ feature_names_in_"
)
METHODS_OF_A_TRANSFORMER = "fit transform inverse_transform get_feature_names_out"
COMMAND = "RECIPE --out --executor"  # of python -m dppca_core.experiments


def named(path: str) -> Any:
    """Return what a path names, as "module:Class.method"."""
    module, _, name = path.partition(":")
    at: Any = import_module(module)
    for step in filter(None, name.split(".")):
        at = getattr(at, step)
    return at


def lost(listed: str, there: Iterable[str]) -> list[str]:
    """Return the names that a list has and that are not there."""
    return sorted(set(listed.split()) - set(there))


def breaks(listed: str, function: Callable[..., Any]) -> list[str]:
    """Return what stops a caller by the listed names: names that are gone, moved, or newly asked for."""
    parameters = inspect.signature(inspect.unwrap(function)).parameters
    kept = [name for name in parameters if name in listed.split()]
    moved = [] if kept == [name for name in listed.split() if name in kept] else [f"another order: {kept}"]
    needed = [
        f"{name} needs a value"
        for name, each in parameters.items()
        if name not in kept
        and each.default is each.empty
        and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    return [*lost(listed, parameters), *moved, *needed]


@pytest.mark.parametrize("module", NAMES)
def test_modules_offer_these_names(module):
    assert lost(NAMES[module], dir(import_module(module))) == [], ON_PURPOSE
    if module in WITH_ALL:
        offered = set(import_module(module).__all__)
        assert lost(NAMES[module], offered) == [], ON_PURPOSE
        assert sorted(offered - set(NAMES[module].split())) == [], UNLISTED.format("NAMES")


@pytest.mark.parametrize(("name", "registry"), [("METHOD_OPTIONS", METHODS), ("BOUND_KEYWORDS", BOUNDS)])
def test_registries_have_these_keys(name, registry):
    listed = globals()[name]
    assert sorted(set(listed) - set(registry)) == [], ON_PURPOSE
    assert sorted(set(registry) - set(listed)) == [], UNLISTED.format(name)


@pytest.mark.parametrize("name", METHOD_OPTIONS)
def test_methods_take_these_options(name):
    assert breaks(f"cohort k budget rng {METHOD_OPTIONS[name]}", METHODS[name].fit) == [], ON_PURPOSE


@pytest.mark.parametrize("name", BOUND_KEYWORDS)
def test_bounds_take_these_keywords(name):
    keywords = {*BOUNDS[name].constants, *BOUNDS[name].options}
    assert lost(BOUND_KEYWORDS[name], keywords) == [], ON_PURPOSE


@pytest.mark.parametrize("path", PARAMETERS)
def test_functions_and_records_take_these_parameters(path):
    assert breaks(PARAMETERS[path], named(path)) == [], ON_PURPOSE


def test_records_have_the_fields_that_they_are_made_of():
    for path in ("dppca_core:Estimate", "dppca_core:Setting", "dppca_core:Bound", "dppca_core:Method"):
        fields = named(path).__dataclass_fields__
        assert lost(PARAMETERS[path], fields) == [], ON_PURPOSE


def test_a_fitted_transformer_has_these_attributes():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(np.random.default_rng(0).normal(size=(500, 3)), columns=["a", "b", "c"])
    pca = PrivatePCA(epsilon=100.0, explained_variance=0.1, center=0, bound=5.0, random_state=0).fit(rows)
    assert lost(FITTED, dir(pca)) == [], ON_PURPOSE
    assert lost(METHODS_OF_A_TRANSFORMER, dir(pca)) == [], ON_PURPOSE
    assert lost(PARAMETERS["dppca_core.sklearn:PrivatePCA"], pca.get_params()) == [], ON_PURPOSE


def test_the_command_takes_these_arguments(capsys):
    with pytest.raises(SystemExit):
        command.main(["--help"])
    shown = capsys.readouterr().out.replace("]", " ").replace("[", " ").split()
    assert "dppca_core.experiments" in shown
    assert lost(COMMAND, shown) == [], ON_PURPOSE


def test_what_changes_is_seen():
    def renamed(basis, reference):
        """Take another name for the truth."""

    def swapped(truth, basis):
        """Take them the other way round."""

    def asks(basis, truth, weights):
        """Ask for one more."""

    def kind(basis, truth, *, weights=None):
        """Offer one more."""

    listed = PARAMETERS["dppca_core:sin_theta"]
    assert breaks(listed, renamed) == ["truth", "reference needs a value"]
    assert breaks(listed, swapped) == ["another order: ['truth', 'basis']"]
    assert breaks(listed, asks) == ["weights needs a value"]
    assert breaks(listed, kind) == []
    assert lost(NAMES["dppca_core"], set(dppca_core.__all__) - {"Budget"}) == ["Budget"]
