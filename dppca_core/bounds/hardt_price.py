"""The noisy power method: Hardt & Price (NeurIPS 2014), Theorem 2.1 as quoted, and a closed form.

Let e < 1 be an error, X the last iterate, of p columns, sigma_j the sample's eigenvalues, and G the fresh
noise of each of L steps. If

    5 |G| <= e gap,    5 |U_k^T G| <= gap (sqrt p - sqrt(k-1)) / (t sqrt d),    gap = sigma_k - sigma_{k+1},
    L >= C sigma_k / gap log(d t / e),

then |(I - X X^T) U_k| <= e in operator norm, so sin Theta <= sqrt k e, with probability
1 - t^(-Omega(p+1-k)) - exp(-Omega(d)). Read in Balcan, Du, Wang & Yu (COLT 2016), except that the probability
is as recalled; C is unspecified, as are the constants of the exponents.

Here p = k. The entries of G are independent, with the standard deviation sigma_G of the method's own
calibration. For the norms we take limits that hold in all L steps with probability 1 - 2 L exp(-tau^2/2)
(Davidson & Szarek 2001):

    |G| <= sigma_G (sqrt d + sqrt p + tau),    |U_k^T G| <= sigma_G (sqrt k + sqrt p + tau).

The theorem speaks of the sample's subspace: sampling, to first order, is added by the triangle inequality.
Closed form: fresh noise in each step and sampling, over all pairs (`dppca_core.bounds.perturbation`).
"""

import math

from dppca_core.bounds import perturbation
from dppca_core.bounds.rule import BoundRule, Check, check_gap, make_bound, spectrum
from dppca_core.methods.noisy_power import sum_noise_std
from dppca_core.records import Bound, Setting

SOURCE = "Hardt & Price, NeurIPS 2014, Theorem 2.1, as quoted by Balcan, Du, Wang & Yu, COLT 2016"


def noise_std(setting: Setting) -> float:
    """Return sigma_G, the std of each entry of G on the scale of means over n patients.

    The printed noise is proportional to the iterate's largest entry, max|X_t|, which is not known beforehand:
    it is taken at its largest, 1.
    """
    return sum_noise_std(setting.budget, setting.k, setting.iterations, largest=1.0) / setting.n


def noisy_power(setting: Setting, *, c: float = 1.0, start: float = 10.0) -> Bound:
    """Return the theorem's bound on sin Theta of the noisy power method.

    Args:
        c: Constant of the number of steps.
        start: t, how unlucky a random start may be: a larger one covers more of the possible starts.

    Returns:
        The bound; its terms priv and sampling add up.
    """
    d, k, steps = setting.d, setting.k, setting.iterations
    top, bulk = spectrum(setting)
    std, width = noise_std(setting), float(top[-1] - bulk[0])
    # Limits of |G| and of |U_k^T G| that hold in every step, and e, the error that the first of them allows.
    norm = std * (math.sqrt(d) + math.sqrt(k) + setting.tau)
    inside = std * (2 * math.sqrt(k) + setting.tau)
    reached = 5 * norm / width
    # How much noise on the truth, and how few steps, the theorem allows.
    room = width * (math.sqrt(k) - math.sqrt(k - 1)) / (start * math.sqrt(d))
    needed = c * float(top[-1]) / width * max(math.log(d * start / reached), 0.0)
    fails = 2 * steps * math.exp(-(setting.tau**2) / 2)
    conditions = (
        check_gap(top, bulk),
        (reached < 1, f"noise: e = 5‖G‖/gap = {reached:.3g} should be below 1"),
        (5 * inside <= room, f"noise on the truth: 5‖UᵀG‖ = {5 * inside:.3g} should be at most {room:.3g}"),
        (steps >= needed, f"T = {steps} steps should be at least {needed:.3g}"),
        (fails < 1, f"the probability of such noise, at least {1 - fails:.3g}, should be above 0"),
    )
    terms = {
        "priv": math.sqrt(k) * reached,
        "sampling": math.sqrt(perturbation.sampling(top, bulk, setting.n)),
    }
    quantities = {"noise_std": std, "steps_needed": needed, "probability": 1 - fails}
    return make_bound(conditions, terms, sum(terms.values()), quantities)


def noisy_power_prediction(setting: Setting) -> Bound:
    """Predict sin Theta of the noisy power method.

    Returns:
        The prediction; its terms privacy and sampling add in squares.
    """
    top, bulk = spectrum(setting)
    std = noise_std(setting)
    over, under = perturbation.pair_eigenvalues(top, bulk)
    private = perturbation.iterated_pairs(over, under, std)
    sampled = perturbation.sampling_pairs(over, under, setting.n)
    exact: Check = (
        setting.budget.accounting != "as-printed",
        "noise known beforehand: as printed it scales with the iterate's largest entry",
    )
    total = math.sqrt(float((private + sampled).sum()))
    conditions = (perturbation.check_converged(setting, total), check_gap(top, bulk), exact)
    return perturbation.predict(setting, private, sampled, over - under, conditions, {"noise_std": std})


BOUNDS = (
    BoundRule(
        title="Hardt & Price 2014",
        kind="upper",
        methods=("noisy_power",),
        formula=(
            r"\sin\Theta \le \sqrt k\,\frac{5\,\sigma_G(\sqrt d+\sqrt k+\tau)}{\lambda_k-\lambda_{k+1}}"
            r"+\mathrm{sampling}"
        ),
        compute=noisy_power,
        source=SOURCE,
        symbols={"c": "C of the steps", "start": "t of the start"},
    ),
    BoundRule(
        title="Closed form for the noisy power method",
        methods=("noisy_power",),
        formula=(
            r"\sin^2\Theta \approx \sum_{j\le k<i}\frac{(\sigma_G/\lambda_j)^2}{1-(\lambda_i/\lambda_j)^2}"
            r"+\frac{\lambda_i\lambda_j}{n(\lambda_j-\lambda_i)^2}"
        ),
        compute=noisy_power_prediction,
    ),
)
