"""Define the settings of the page on a visitor's own table. No Streamlit here.

Their keys begin with "own.", so that they are other settings than the explorer's of the same name. A choice
is one control (`Choice`): its options, its default and its words.
"""

from collections.abc import Mapping
from dataclasses import replace

from dppca_core.methods import METHODS
from dppca_core.records import RELEASED
from dppca_core.release.request import OFFERED
from pages.shared import text
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, Value, among, switch

RECOMMENDED = "recommended"
UNKNOWN = "unknown"
# What a measurement counts by, which decides what is estimated.
RANGES, EQUAL_WEIGHT = "ranges", "equal"
COUNTS = {RANGES: "Public ranges", EQUAL_WEIGHT: "Equal weight"}
# SLICES are epsilons for eigenvalues.
SLICES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
USABLE = tuple(percent / 100 for percent in range(100, 0, -1))
DELTAS = tuple(10.0**-power for power in range(12, 3, -1))


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    """Return the settings of a person's own table: what a release asks for, never what the table holds."""
    titles = {name: METHODS[name].title for name in OFFERED}

    def like(key: str, default: Value) -> Choice:
        """Return a control like that of the shared setting `key`, with this page's key and default."""
        same = shared[key]
        words: dict[Value, str] = {each: same.text(each) for each in same.options if isinstance(each, str)}
        return replace(
            same,
            key=f"own.{key}",
            default=default,
            words=words or None,
            plain_words=None,
            link_name=f"own.{same.parameter}",
        )

    return [
        replace(
            like("providers", 1),
            label="Number of hospitals",
            plain="Number of hospitals",
            help="1: all patients in one place. More: patients are assigned at random, to rehearse methods "
            "for several hospitals.",
        ),
        like("trust", "secure aggregation"),
        among(
            "own.method",
            "Method",
            {RECOMMENDED: "Recommended for this table"} | titles,
            help="Recommended: one noisy moment, whose bound is fitted to the rows.",
            link_words={RECOMMENDED: RECOMMENDED},
        ),
        like("epsilon", 0.5),
        Choice(
            "own.delta",
            shared["delta"].label,
            shared["delta"].plain,
            options=DELTAS,
            default=1e-6,
            help=shared["delta"].help,
            plain_words={delta: text.one_in(delta) for delta in DELTAS},
        ),
        switch("own.delta_set", "Failure chance set by hand"),
        among(
            "own.counts",
            "What should count?",
            COUNTS,
            help="It decides what is estimated: on real tables the two answers are far apart, at any budget.",
        ),
        like("k", 2),
        like("s_hat", RELEASED),
        Choice(
            "own.rank",
            "R, directions that each hospital sends",
            "Directions sent",
            options=tuple(range(1, 51)),
            default=5,
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
