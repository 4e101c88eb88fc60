"""Define the settings of the page on a visitor's own table. No Streamlit here.

Their keys begin with "own.", so that they are other settings than the explorer's of the same name. A choice
is one control (`Choice`): its options, its default and its words.
"""

from collections.abc import Mapping

from dppca_core.methods import METHODS
from dppca_core.release.request import OFFERED
from pages.shared import text
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, among, switch

RECOMMENDED = "recommended"
NO_GUESS = "none"
UNKNOWN = "unknown"
# The weakest spike over the top of the bulk, by a visitor's guess.
RATIOS = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
CENTRES = {
    "rule": "usual values, else a paid mean",
    "paid": "a mean that is paid for",
    "public": "public: usual values, or middles",
}
SCALES = {"public": "public: ranges of the dictionary", "paid": "scales that are paid for"}
BY_RULE = "rule"
# SHARES of the budget pay for a mean or scales. SLICES are epsilons for eigenvalues.
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
SLICES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
USABLE = tuple(percent / 100 for percent in range(100, 0, -1))
DELTAS = tuple(10.0**-power for power in range(12, 3, -1))


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    """Return the settings of a person's own table: what a release asks for, never what the table holds."""
    titles = {name: METHODS[name].title for name in OFFERED}

    def like(key: str, default: float | int, label: str = "", plain: str = "", help: str = "") -> Choice:
        """Return a control with the options of the shared setting `key`, under this page's key.

        default: the option that this page begins with. label, plain, help: its names for analysts and in
        plain view and its help, where they are others than those of the shared setting.
        """
        same = shared[key]
        names = (label or same.label, plain or same.plain)
        link = f"own.{same.parameter}"
        words = {option: same.text(option) for option in same.options if isinstance(option, str)} or None
        return Choice(f"own.{key}", *names, same.options, default, words, help or same.help, link_name=link)

    def by_rule(key: str, options: tuple[float, ...], label: str, plain: str, help: str) -> Choice:
        """Return a control whose first option is that the value follows by rule.

        label, plain: its names for analysts and in plain view.
        """
        return Choice(key, label, plain, (BY_RULE, *options), BY_RULE, {BY_RULE: "by rule"}, help)

    return [
        like(
            *("providers", 1, "Number of hospitals", "Number of hospitals"),
            help="1: all patients in one place. More: patients are assigned at random, to rehearse methods "
            "for several hospitals.",
        ),
        among(
            *("own.method", "Method", {RECOMMENDED: "Recommended for this table"} | titles),
            help="Recommended: the method that is predicted to err least on the worst of three populations.",
            link_words={RECOMMENDED: RECOMMENDED},
        ),
        like("epsilon", 0.5),
        Choice(
            *("own.delta", shared["delta"].label, shared["delta"].plain, DELTAS, 1e-6),
            help=shared["delta"].help,
            plain_words={delta: text.one_in(delta) for delta in DELTAS},
        ),
        switch("own.delta_set", "Failure chance set by hand"),
        among(
            *("own.centre", "Centre of the rows", CENTRES),
        ),
        by_rule(
            *("own.mean_share", SHARES, "Share for the mean", "Part that the mean costs"),
            "By rule it follows from ε, δ, and how many patients and measurements there are.",
        ),
        among(
            *("own.scale", "Scale of the measurements", SCALES),
            help="Paid scales divide each measurement by its spread: components are then of correlations.",
        ),
        by_rule(
            *("own.scale_share", SHARES, "Share for the scales", "Part that the scales cost"),
            "By rule it is three tenths of what the mean leaves.",
        ),
        like("k", 2),
        like("s_hat", 10),
        Choice(
            "own.rank", "R, directions that each hospital sends", "Directions sent", tuple(range(1, 51)), 5
        ),
        like("s", 10, "Columns that matter s, your guess", "Measurements that matter, your guess"),
        Choice(
            *("own.ratio", "Spike against bulk, your guess", "Pattern against background, your guess"),
            *((NO_GUESS, *RATIOS), NO_GUESS, {ratio: f"{ratio:g} to 1" for ratio in RATIOS}),
            help="A guess adds a curve. The rehearsal stays that of the worst population.",
            link_words={ratio: f"{ratio:g}" for ratio in RATIOS},
        ),
        Choice(
            "own.usable",
            label="Usable patients, a public share",
            plain="Patients with no missing value, a public share",
            options=(UNKNOWN, *USABLE),
            default=UNKNOWN,
            words={UNKNOWN: "not known"} | {share: text.percent(share) for share in USABLE},
            help="Type it, from how the data were collected or from an earlier study. Do not count it in "
            "this table: it becomes public.",
            link_words={share: f"{share:g}" for share in USABLE},
        ),
        Choice("own.slice", "Slice ε of the budget", "Slice of the privacy budget", SLICES, 0.05),
        switch("own.shown", "Show exact values (do not share this screen)"),
    ]


PANEL = Panel(hidden=True)
