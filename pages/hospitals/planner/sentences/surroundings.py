"""Form what stands around the answer: title, hint, sources and limits."""

from collections.abc import Iterator
from pathlib import Path

from dppca_core.bounds import BOUNDS
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.records import Bound
from pages.hospitals.planner.model.evaluated import method, title
from pages.hospitals.planner.model.planner import Planner
from pages.hospitals.planner.sentences import answer
from pages.hospitals.planner.sentences.numbers import stricter_upwards, target_in_words, target_name, value
from pages.shared import text
from pages.shared.reports import sources
from pages.shared.settings.catalogue import CHOICES

TITLE = "How many patients?"
STEPS = (
    "The thick line shows how many patients a study needs.",
    "Set the error that you accept, then move privacy.",
    "Below the line the study is too small.",
)
INTRODUCTION = "What a study needs, by a formula where there is one, and by simulation."
PARAGRAPH_TITLE = "For a protocol or an ethics application"
CLOSED_FORM = (
    "**Closed forms** to first order, derived for this tool and checked against simulation in its tests, at "
    "ten settings within 15 % in the number of patients. Of two stages they are of half of the runs, and the "
    "chance that stage 1 keeps all features that matter stands beside them: below 90 % the answer is called "
    "a guess, as the edge may lie elsewhere by 20 %."
)
TUNING = (
    "**Tuned**: rows of length 1 in place of a public bound where the closed form then needs less, which is "
    "the limit of ever lower clip bounds; and the rounds of each method's own rule at its answer. Both come "
    "from public numbers alone: sizes, features kept, the budget, and a declared share of the components."
)
SIMULATION = (
    "**Simulation**: bisection with runs of the method itself on fresh synthetic patients, until the last "
    "value that misses the target and the first that reaches it are within 15 %; all runs near the answer "
    "are read together, and the interval holds 95 % of readings off resampled runs. It begins near the "
    "answer of a method with a formula and the same trust, and by itself where it takes two seconds."
)
FLOOR = (
    "**Floor**: with fewer patients, every combination of Gaussian releases errs more than the target on "
    "some table with these eigenvalues. Its rows are no longer than the root of their sum, and its pattern "
    "can lie in any measurements. This is to first order, for the root mean square error against the "
    "table's own components."
)
FORMULA = Path(__file__).with_name("formula.md").read_text(encoding="utf-8")
ENERGY_LOST = (
    "Captured energy lost: each pair of directions j ≤ k < i that turns by sin²Θ_ij loses "
    "(λ_j − λ_i) sin²Θ_ij; summed over pairs, over the sum of the k leading eigenvalues."
)
_OTHER_METHOD = "choose another *Method*, and see how the answer depends on whom you trust."


def try_this(planner: Planner) -> str:
    return f"**Try this:** {_hint(planner)}"


def _hint(planner: Planner) -> str:
    asked, name, now = planner.asked, planner.focus, planner.answer()
    if now.kind in ("simulation", "evaluating", "too large"):
        return _OTHER_METHOD
    if now.value is None:
        # With these two reasons the target is too lax, with any other too strict.
        up = (now.kind in ("guess", "first order")) == stricter_upwards(planner)
        way_out = f"move *{target_name(planner)}* {'up' if up else 'down'}"
        return f"{way_out}, or choose another *Method*, until a bold line appears."
    key, option = planner.suggestion()
    choice, changed = CHOICES[key], planner.changed({key: option})
    needed_then = changed.answer(name).value
    # A real table has no other number of patients, and a slider at its end stays where it is.
    if needed_then is None or (key == "n" and planner.bundled is not None) or option == planner.settings[key]:
        return _OTHER_METHOD
    label, option_text = choice.label, choice.text(option)
    if key == "plan.target":
        label, option_text = target_name(planner), target_in_words(planner.settings, float(option))
    change = f"{value(now.value, asked)} to {value(needed_then, asked)}"
    hint = f"set *{label}* to {option_text}: {title(name)} goes from {change}."
    summed = [each.answer("dps_pca_summed").value for each in (planner, changed)]
    if asked == "hospitals" and name == "dps_pca" and None not in summed:
        hint += (
            " Each hospital adds noise of its own, so small ones are many times worse; where sums are kept "
            f"secret they go from {' to '.join(value(needed, asked) for needed in summed if needed)}."
        )
    return hint if planner.bundled is not None else f"{hint} Then confirm it by simulation."


def about(planner: Planner) -> Iterator[str]:
    yield f"{CLOSED_FORM} {SIMULATION} {TUNING}"
    if answer.floor(planner):
        yield FLOOR
    lines = ["| method | source | whom it trusts | guarantee | closed form |", "|---|---|---|---|---|"]
    for name in planner.listed:
        planned, runs = PLANNED_METHODS[name], method(name)
        formula = "none: by small simulations" if planner.plan(name).predicted else "none: by simulation"
        if planned.rule:
            formula = BOUNDS[planned.rule].title
        trust = text.TRUST_TITLES[planned.trust].lower()
        cells = (title(name), runs.reference, trust, runs.guarantee_at(planner.settings["k"]), formula)
        lines.append(f"| {' | '.join(cells)} |")
    yield "\n".join(lines)
    yield sources.accounting(planner.settings)
    yield FORMULA


def assumptions(planner: Planner, bound: Bound) -> Iterator[str]:
    """Yield the closed form in focus, and its assumptions with their numbers at the answer."""
    rule = planner.plan().rule
    badge = ":green[every assumption holds]" if bound.applies else ":orange[an assumption fails]"
    # As `Planner.bound` evaluates it: without a solution of the formula there is no answer to evaluate it at.
    where = "at this setting" if planner.answer().solution is None else "at the answer"
    yield f"**{rule.title}** · {badge} {where}\n\n$$\n{rule.formula}\n$$"
    marks = {True: ":green[✓]", False: ":red[✗]"}
    yield "  \n".join(f"{marks[each.holds]} {each.text}" for each in bound.why)
    if planner.energetic:
        yield ENERGY_LOST


def confirmed(planner: Planner) -> str:
    if planner.simulation is None and planner.plan().no_formula and not planner.plan().predicted:
        return "Nothing was simulated."
    if planner.simulation is None:
        return "By prediction only: no simulation was asked for."
    unfinished = planner.simulation.state == "measuring"
    return "The simulation had not ended when this was made." if unfinished else ""
