"""Compute every number of the lesson with the core.

A frame is what a screen shows at one position of its control. A class sees the same draw, one of DRAWS, the
seed of patients and noise; *New draw* shows the next one. What a screen asks is answered by its frames.
"""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dppca_core import datasets
from dppca_core.accounting import gaussian
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.arrays import Array
from dppca_core.auditing import membership
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments import draws, no_privacy
from dppca_core.experiments.collaboration.experiment import ALL, CollaborationExperiment
from dppca_core.experiments.collaboration.protocols import ALONE, PROTOCOLS
from dppca_core.experiments.explorer import picture, trusts
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics import linalg, moments, subspace_metrics
from dppca_core.populations import heart_disease
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget

DRAWS = (1, 2, 3, 4, 5)
RELEASES = 20  # of the same answer that a screen shows beside each other
LARGEST_DELTA = 1e-6

# Screen 1: the patients of a ward, and how many have a disease if the patient is among them.
WARD, WITH_PATIENT = 100, 41
COUNT_EPSILONS = (*(epsilon for epsilon in EPSILONS if epsilon >= 0.25), math.inf)  # inf: no noise
ASKED_EPSILON, ALLOWED_GUESS = 1.0, 60.0  # of the screen's two questions

# Screen 2: blood values of one hospital's patients, no one's counted as more than a cap.
MEAN_OF, HOSPITAL, MEAN_EPSILON = "chol", "Cleveland", 0.2
CAPS = tuple(range(160, 601, 20))
BARS = tuple(range(100, 601, 20))  # edges of the picture's bars
GOOD_CAP = 1.1  # times the least error: a cap that errs no more is as good

# Screen 3: two measurements of as many patients, which can be dragged.
POINTS, TABLE, MEASUREMENTS = 12, "breast_cancer", ("mean radius", "mean compactness")
LINE_TOLERANCE, TURNED = 5, 30  # degrees

# Screen 4: one component, what one moves of it, and where the others are meanwhile.
MODEL = SpikedModel(d=50, k=1, s=10, spike=100.0, bulk=(0.0, 10.0), seed=0)
METHOD = "analyze_gauss"  # noise once on all second moments: what the screen's formula says
BASE: dict[str, Any] = {"n": 2000, "epsilon": 1.0, "d": 50}
MOVED: dict[str, tuple[Any, ...]] = {
    "n": (500, 700, 1000, 1400, 2000, 2800, 4000, 5600, 8000, 11_000, 16_000),
    "epsilon": tuple(epsilon for epsilon in EPSILONS if 0.1 <= epsilon <= 10)[::2],
    "d": (10, 20, 35, 50, 75, 100, 150, 200),
}
ASKED_N, TIMES = 2000, 4  # the screen asks what so many times the patients do
SEEN, GOAL_ANGLE = 150, 10.0  # patients in the picture; the angle that is asked for

# Screen 5: hospitals of one size, and how they find three components.
HOSPITALS, K, S_HAT = 50, 3, 20
RARE = SpikedModel(d=50, k=K, s=10, spike=20.0, bulk=(0.0, 15.0), seed=0)
SIZES = (50, 100, 200, 400, 800, 1600)
JOIN_EPSILON, ASKED_SIZE, RUNS = 1.0, 200, 10
NEEDED_SHARE = 95.0  # of the pattern, which the screen asks for
# DPS-PCA as published; in one place its noise is that of sealed sums.
PUBLISHED = dict.fromkeys(TRUSTS, "dps_pca secure") | {"untrusted server": "dps_pca"}


def delta(n: int) -> float:
    return min(LARGEST_DELTA, 0.01 / n)


class CountFrame(NamedTuple):
    """Hold counts released with the patient and with another, and how well an attacker tells them apart."""

    with_patient: Array
    with_another: Array
    std: float  # of the noise
    guess: float  # how often in 100 the best attacker is right
    right: int  # how often in these releases


def count(draw: int) -> list[CountFrame]:
    """Return the frames of screen 1, one for each of COUNT_EPSILONS; one patient moves a count by 1."""
    normals = draws.generator(draw, 0, "lesson count").standard_normal((2, RELEASES))
    return [_count_frame(normals, epsilon) for epsilon in COUNT_EPSILONS]


def _count_frame(normals: Array, epsilon: float) -> CountFrame:
    if math.isinf(epsilon):
        std, guess = 0.0, 1.0
    else:
        std = gaussian.noise_multiplier(Budget(epsilon, delta(WARD)))
        guess = TradeOff(std).best_guess()
    having, lacking = np.round(np.array([[WITH_PATIENT], [WITH_PATIENT - 1]]) + std * normals, 1)
    limit = WITH_PATIENT - 0.5
    right = int(np.sum(having > limit) + np.sum(lacking <= limit))
    return CountFrame(having, lacking, std, 100 * guess, right)


def by_chance() -> tuple[int, int]:
    """Return between which numbers of right guesses a coin ends 95 times in 100, in a frame's releases."""
    return membership.coin_span(2 * RELEASES)


def largest_guess() -> float:
    """Return how often in 100 an attacker is right at most, whatever method has screen 1's promise."""
    return 100 * TradeOff.allowed(ASKED_EPSILON, delta(WARD)).best_guess()


def count_goal() -> int:
    """Return the position of the loosest promise that screen 1's second question allows."""
    return max(i for i, frame in enumerate(count(DRAWS[0])) if frame.guess <= ALLOWED_GUESS)


class MeanFrame(NamedTuple):
    """Hold what a cap does to a mean."""

    bars: Array  # patients in each bar of the picture, after the cap
    means: Array  # of RELEASES releases
    shift: float  # how far the cap alone moves the mean
    std: float  # of the noise
    error: float  # root mean square distance of a release from the true mean
    cut: int  # patients whose value is cut


@lru_cache(maxsize=1)
def blood_values() -> Array:
    values = heart_disease.recorded()[HOSPITAL][:, list(heart_disease.MEASUREMENTS).index(MEAN_OF)]
    return values[np.isfinite(values)]


def mean(draw: int) -> list[MeanFrame]:
    values = blood_values()
    normals = draws.generator(draw, 0, "lesson mean").standard_normal(RELEASES)
    multiplier = gaussian.noise_multiplier(Budget(MEAN_EPSILON, delta(len(values))))
    frames = []
    for cap in CAPS:
        clipped = cap * moments.clip_rows(values[:, None], float(cap))[:, 0]
        # Values lie between 0 and the cap: one patient moves their sum by at most the cap.
        shift, std = float(clipped.mean() - values.mean()), cap * multiplier / len(values)
        bars = np.histogram(clipped, BARS)[0]
        means = np.round(clipped.mean() + std * normals, 1)
        cut = int(np.sum(values > cap))
        frames.append(MeanFrame(bars, means, shift, std, math.hypot(shift, std), cut))
    return frames


def good_caps() -> tuple[int, int]:
    """Return the positions of the lowest and the highest cap that is about as good as the best."""
    errors = [frame.error for frame in mean(DRAWS[0])]
    good = [i for i, error in enumerate(errors) if error <= GOOD_CAP * min(errors)]
    return good[0], good[-1]


class Cloud(NamedTuple):
    """Hold screen 3's points, (POINTS, 2), and the angles in degrees from the first axis, from 0 to 180."""

    points: Array  # in public scales
    component: float  # of the line along which points spread most
    regression: float  # of the line that predicts the second measurement from the first
    kept: float  # the share of the spread along the component


def cloud(draw: int) -> Cloud:
    """Return the patients of screen 3, drawn from a real table, and what PCA says of them."""
    names = datasets.table(TABLE).features
    columns = np.array([names.index(name) for name in MEASUREMENTS])
    chosen = draws.generator(draw, 0, "lesson points").permutation(datasets.table(TABLE).n)[:POINTS]
    points = np.round(datasets.rows(TABLE)[np.ix_(chosen, columns)], 2)
    moment = np.cov(points.T)
    component = linalg.top_eigenspace(moment, 1)[:, 0]
    kept = subspace_metrics.captured_energy(component[:, None], moment, float(np.trace(moment)))
    return Cloud(points, _degrees(*component), _degrees(moment[0, 0], moment[0, 1]), kept)


def _degrees(x: float, y: float) -> float:
    return math.degrees(math.atan2(y, x)) % 180


class AngleFrame(NamedTuple):
    """Hold the angles of RELEASES private components to the true one in degrees, and their median's size."""

    angles: Array
    median: float
    spread: tuple[float, float]  # of patients, along the true component and across it in the picture's plane


@lru_cache(maxsize=len(DRAWS) * sum(map(len, MOVED.values())))
def angle(draw: int, n: int, epsilon: float, d: int) -> AngleFrame:
    """Return a frame of screen 4: the patients of one place, and METHOD."""
    experiment = ExplorerExperiment(
        population=replace(MODEL, d=d),
        n=n,
        k=MODEL.k,
        s_hat=min(S_HAT, d),
        delta=delta(n),
        providers=1,
        repeats=RELEASES,
        seed=draw,
        method=METHOD,
    )
    results = Results(experiment, (METHOD,))
    planes = [results.measure((METHOD, epsilon, repeat)).plane for repeat in range(RELEASES)]
    turns = np.array([plane.angle for plane in planes if plane])
    along, across = np.median([(plane.along, plane.across) for plane in planes if plane], axis=0)
    return AngleFrame(np.round(turns, 1), float(np.median(np.abs(turns))), (1.0, float(across / along)))


def angles(draw: int, moved: str) -> list[AngleFrame]:
    return [angle(draw, **BASE | {moved: value}) for value in MOVED[moved]]


def patients() -> Array:
    """Return the standard normals that make screen 4's patients, (SEEN, 2)."""
    return picture.patients()[:SEEN]


def angle_at(draw: int, n: int) -> float:
    return angle(draw, **BASE | {"n": n}).median


def angle_goal(draw: int) -> int:
    """Return the position of the fewest patients that reach GOAL_ANGLE, and go on reaching it."""
    medians = [frame.median for frame in angles(draw, "n")]
    return min(i for i in range(len(medians)) if max(medians[i:]) <= GOAL_ANGLE)


class Ways(NamedTuple):
    """Hold the share of the pattern recovered in %, in the median of RUNS runs, by every way."""

    alone: float  # one hospital for its own use, with no privacy
    alone_published: float  # one hospital, with privacy
    together: dict[str, float]  # all with privacy, by whom they trust, with the recommended method
    published: dict[str, float]  # the same for the published method


@lru_cache(maxsize=len(DRAWS) * len(SIZES))
def ways(draw: int, size: int) -> Ways:
    """Return the frame of screen 5; size: the patients of each hospital."""
    n = HOSPITALS * size
    budget = Budget(JOIN_EPSILON, delta(n))
    setting = CollaborationExperiment(RARE, (size,) * HOSPITALS, K, S_HAT, K, budget, repeats=RUNS, seed=draw)
    experiment = ExplorerExperiment(RARE, n, K, S_HAT, budget.delta, HOSPITALS, seed=draw)

    def share(protocol: str, cohort: int = ALL) -> float:
        sines = [
            subspace_metrics.sin_theta(setting.estimate(PROTOCOLS[protocol], cohort, run).basis, truth)
            for run in range(RUNS)
        ]
        return float(trusts.spread(sines, K)[1])

    truth = setting.truth.basis
    lone = ALONE[trusts.recommended_alone(experiment, JOIN_EPSILON, size).method].key
    _, free = no_privacy.of_best_way(RARE, size, K, seed=draw, repeats=RUNS)
    best = {trust: trusts.recommended(experiment, JOIN_EPSILON, trust).method for trust in TRUSTS}
    return Ways(
        alone=float(trusts.spread(list(free.sin), K)[1]),
        alone_published=share(lone, 0),
        together={trust: share(method) for trust, method in best.items()},
        published={trust: share(protocol) for trust, protocol in PUBLISHED.items()},
    )


def guess() -> float:
    """Return the share of the pattern that a random guess recovers, in %."""
    sine = subspace_metrics.random_guess(RARE.d, K)
    return float(100 * subspace_metrics.share_recovered(sine, K))


def ways_goal(draw: int) -> int:
    """Return the position of the smallest hospitals that recover NEEDED_SHARE where they trust nobody."""
    shares = [ways(draw, size).together["untrusted server"] for size in SIZES]
    return min(i for i in range(len(SIZES)) if min(shares[i:]) >= NEEDED_SHARE)
