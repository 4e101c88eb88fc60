"""What the providers page says: who gains by joining whom, and what each way sends and shows."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dppca_core.datasets import PATIENTS, TABLES
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS, Protocol
from dppca_core.experiments.collaboration.setting import ALL, CollaborationSetting
from dppca_core.methods import METHODS
from pages.hospitals.providers.view import GainScale, Row, best, rows
from pages.shared import text
from pages.shared.background import refresh
from pages.shared.settings.catalogue import Settings
from pages.shared.text.verdicts import Gain, gain

SEES = {
    "everything": "everything",
    "sum": "only sums",
    "messages": "noisy messages",
    "differences": "exact differences",
    "nothing": "nothing",
}
_JOINING = {
    "untrusted server": "without trusting the server",
    "secure aggregation": "with sums that nobody can look into",
    "central": "with a curator whom all trust",
}
MEASURING = "Measuring …"


def title(way: Protocol, of: CollaborationSetting, plain: bool) -> str:
    """What a way is called, with the mark of its guarantee."""
    name = text.JOIN_WAYS.get(way.key, METHODS[way.method].title)
    if way.key == "dpdis_pca":
        name += f", {of.rank} directions" if plain else f", R = {of.rank}"
    return name + text.GUARANTEE_MARKS.get(METHODS[way.method].guarantee_at(of.k), "")


def place(of: CollaborationSetting, hospital: int) -> str:
    """Which hospital this is among those measured alone."""
    if len(of.hospitals) == 1:
        return "any" if len(of.sizes) > 1 else "the only one"
    if hospital == of.hospitals[0]:
        return "largest"
    if hospital == of.hospitals[-1]:
        return "smallest"
    return "median" if len(of.hospitals) == 3 else f"no. {hospital + 1}"


def heading(trust: str, hospital: int, of: CollaborationSetting) -> str:
    """What stands over the lines of those who trust so, at one hospital."""
    if hospital == ALL:
        return text.JOIN_TITLES[trust]
    return f"{text.JOIN_TITLES[trust]}: {place(of, hospital)} ({text.patients(of.sizes[hospital])})"


def headline(found: CollaborationResults, settings: Settings) -> str:
    """Joining by whom one trusts, beside staying alone, in numbers; and what that comes to."""
    of, scale = found.recipe, GainScale(found, settings)
    grouped = rows(found, settings | {"join.trust": "all"})
    joined = {trust: best(grouped, trust) for trust in _JOINING}
    alone = [best(grouped, "alone", hospital) for hospital in of.hospitals]
    in_house = [best(grouped, "alone, none", hospital) for hospital in of.hospitals]
    if not all(joined.values()) or not all(alone) or not all(in_house):
        over = found.failed and found.next_missing(settings["slow"]) is None
        return "Some ways of joining have no answer at this setting." if over else MEASURING
    people = text.count(of.n, _people(settings, 1), _people(settings, 2))
    if len(of.sizes) == 1:
        return (
            f"One hospital has nobody to join: with {people} it finds the "
            f"{text.count(of.k, 'direction', 'directions')} with error "
            f"{text.error(alone[0].middle)} by itself, protecting them, and {text.error(in_house[0].middle)} "
            f"in-house, unprotected; guessing {text.short(scale.guess)}."
        )
    parts = []
    for trust, words in _JOINING.items():
        row = joined[trust]
        by = "" if scale.plain else f" ({title(row.way, of, scale.plain)})"
        parts.append(f"{words} {text.error(row.middle)}{by}")
    among = text.count(len(of.sizes), "hospital", "hospitals")
    who = "One of them" if len(of.hospitals) == 1 else "The largest"
    last, open_last = (
        f", the smallest {text.error(own[-1].middle)}" if len(own) > 1 else "" for own in (alone, in_house)
    )
    said = (
        f"Joined, {among} with {people} find the {text.count(of.k, 'direction', 'directions')} with error "
        f"{', '.join(parts)}. {who} alone, protecting its {_people(settings, 2)} as well: "
        f"{text.error(alone[0].middle)}{last}. In-house, unprotected: {text.error(in_house[0].middle)}"
        f"{open_last}. Guessing: {text.short(scale.guess)}."
    )
    untrusted = joined["untrusted server"]
    judged = advice(untrusted, in_house, alone, scale).removesuffix(".")
    return f"{said} {judged}{_better_but(grouped, untrusted, of, scale)}."


def _better_but(
    grouped: Mapping[str, list[Row]], joined: Row, of: CollaborationSetting, scale: GainScale
) -> str:
    """What errs less with as little trust, but promises less; empty where nothing does."""
    better = [row for row in grouped["untrusted server"] if row.middle < joined.middle]
    if not better:
        return ""
    least = min(better, key=lambda row: row.middle)
    promise = METHODS[least.way.method].guarantee_at(of.k)
    words = (text.PLAIN_GUARANTEES if scale.plain else text.GUARANTEES)[promise]
    return f"; {title(least.way, of, scale.plain)}, {words}, would have error {text.error(least.middle)}"


def _people(settings: Settings, count: int) -> str:
    table = TABLES.get(settings["data"])
    singular, plural = table.row_noun if table else PATIENTS
    return singular if count == 1 else plural


_GAINS: dict[Gain, str] = {
    "less": "pays for {who}{alike}",
    "more": "does not pay for {who}{alike}, which {err} less alone",
    "level": "changes little for {who}{alike}",
    "neither": "does not help {who}{alike}, nor does staying alone: both are hardly better than a guess",
}
_GAINS_ALIKE: dict[Gain, str] = {
    "less": "pays for each of them",
    "more": "does not pay: each of them errs less alone",
    "level": "changes little for any of them",
    "neither": "does not help, nor does staying alone: both are hardly better than a guess",
}
# Who may stay in-house may do best there, so nothing is said to pay where only what is published is compared.
_PUBLISHED: dict[Gain, str] = {
    "less": "errs less than {who} alone and protected",
    "more": "errs more than {who} alone and protected",
}


def advice(joined: Row, in_house: list[Row], protected: list[Row], scale: GainScale) -> str:
    """Return for whom joining a server that nobody trusts pays in-house, and where it errs less in public.

    A hospital that stays alone needs protection only for what it publishes.
    """
    known, published = (verdict(joined, alone, scale) for alone in (in_house, protected))
    if known == published:
        return f"Joining a server that nobody trusts {known}."
    to_publish = verdict(joined, protected, scale, publish=True)
    return f"For use in-house, joining a server that nobody trusts {known}. To publish, it {to_publish}."


def verdict(joined: Row, alone: list[Row], scale: GainScale, publish: bool = False) -> str:
    """Return how joining compares with staying alone, as the end of a sentence.

    publish: say it of errors with protection only, in words that do not advise to join.
    """
    gains = [gain(joined.error, row.error, scale.guess) for row in alone]
    templates = _GAINS | _PUBLISHED if publish else _GAINS
    if len(alone) == 1:
        template = (_GAINS_ALIKE | _PUBLISHED if publish else _GAINS_ALIKE)[gains[0]]
        return template.format(who="each of them")
    if gains[0] == gains[-1]:
        both = "the largest hospital and the smallest"
        return templates[gains[0]].format(who=both, alike=" alike", err="err")
    ends = ((gains[0], "largest"), (gains[-1], "smallest"))
    parts = [
        templates[result].format(who=f"the {size} hospital", alike="", err="errs") for result, size in ends
    ]
    return ", and ".join(parts)


def table(found: CollaborationResults, settings: Settings) -> pd.DataFrame:
    """Every way: whom it trusts, what the server sees, what a hospital sends and gets, its median error."""
    of, scale = found.recipe, GainScale(found, settings)
    lines = []
    for trust, own in rows(found, settings).items():
        for row in own:
            sent = of.traffic(row.way)
            lines.append(
                {
                    "way": title(row.way, of, scale.plain),
                    "who": heading(trust, row.hospital, of),
                    "the server sees": SEES[row.way.sees],
                    "rounds": sent.rounds,
                    "sent a round": text.size(sent.up) if sent.up else "–",
                    "received in all": text.size(sent.received) if sent.received else "–",
                    "both ways in all": text.size(sent.total) if sent.total else "–",
                    "error": "…" if row.error is None else text.error(row.middle),
                    "energy captured": "…" if row.energy is None else f"{row.energy[1]:.3f}",
                }
            )
    return pd.DataFrame(lines)


def notes(found: CollaborationResults, settings: Settings) -> str:
    """How often was run, what the marks mean, who is left out, and what is not counted."""
    of = found.recipe
    board = settings["view"] == "board"
    said = [_measured(found, settings)]
    shown = [way for way in PROTOCOLS.values() if settings["join.trust"] in ("all", way.trust)]
    marks = text.guarantee_notes({METHODS[way.method].guarantee_at(of.k) for way in shown}, board)
    said += [marks] if marks else []
    if len(of.hospitals) < len(of.sizes) and len(of.sizes) > 1:
        equal = len(of.hospitals) == 1
        said.append(
            "hospitals of one size are alike, so one of them stands for all"
            if equal
            else "alone, one hospital of each size is shown"
            if len(set(of.sizes)) <= 5
            else "alone, the largest, the median and the smallest hospital are shown"
        )
    reasons: dict[str, list[str]] = {}
    for key, reason in found.refused.items():
        reasons.setdefault(reason, []).append(title(PROTOCOLS[key], of, board))
    said += [f"left out: {', '.join(names)}, as {reason}" for reason, names in reasons.items()]
    return ". ".join(text.sentence(part) for part in said) + "."


def _measured(found: CollaborationResults, settings: Settings) -> str:
    """Of how many runs the dots are medians, now or in the end."""
    done = len(found.cells)
    if found.next_missing(settings["slow"]) is None:
        of = found.recipe
        fewest = min(found.repeats_of(key) for key in (*found.live, *found.slow))
        times = f"{of.repeats}" if fewest == of.repeats else f"{fewest} to {of.repeats}"
        times = f"at most {of.repeats}" if found.failed else times
        return f"Dots are medians of {times} {'run' if times == '1' else 'runs'}, bars hold 8 of 10"
    if not done:
        return "No run is measured yet; dots come as runs end"
    return f"{refresh.coming(done)}; dots are medians of what is there, bars hold 8 of 10"


def about(of: CollaborationSetting) -> str:
    """How these numbers come about."""
    runs = text.count(of.repeats, "run", "runs")
    ways = (
        "A hospital alone has the whole privacy budget for its own patients, as has each that joins: "
        "hospitals hold different patients. DPS-PCA in rounds: Ge, Wang, Wang & Liu, AISTATS 2018, Figure 1 "
        "and Algorithm 1, whose line 8 draws one noise for all. DPdisPCA and full moments: Imtiaz & Sarwate, "
        "ICASSP 2018. Rounds and messages are those of the program's own protocol, passed in one process; a "
        "stored or given run was passed between processes."
    )
    if isinstance(of.population, str):
        return (
            f"**Simulation on a real table**, {runs}, each with its own noise. Rows are dealt to hospitals "
            "at random, clipped to a public bound. Truth is PCA without privacy on the whole table; errors "
            f"are therefore *not private*. {ways}"
        )
    return (
        f"**Simulation**, {runs} over {text.count(of.patient_draws, 'draw', 'draws')} of patients. Second "
        "moments are drawn from their exact (Wishart) law, each hospital's given the sum of all. Rows are "
        f"divided by a public bound. Truth is the population's. {ways}"
    )


def bytes_line(grouped: Mapping[str, list[Row]], of: CollaborationSetting, plain: bool) -> str:
    """Who sends least and most a round, of those who join."""
    joined = [row for own in grouped.values() for row in own if row.hospital == ALL]
    if not joined:
        return "Nothing travels: who stays alone sends nothing and gets nothing."
    if len(joined) == 1:
        only = of.traffic(joined[0].way)
        return (
            f"With {title(joined[0].way, of, plain)} a hospital sends {text.size(only.up)} in a round and "
            f"receives {text.size(only.received)} in all."
        )
    ranked = sorted(joined, key=lambda row: of.traffic(row.way).up)
    whole = sorted(joined, key=lambda row: of.traffic(row.way).total)
    least, most = ranked[0], ranked[-1]
    return (
        f"In a round a hospital sends least with {title(least.way, of, plain)} "
        f"({text.size(of.traffic(least.way).up)}) and most with {title(most.way, of, plain)} "
        f"({text.size(of.traffic(most.way).up)}); in all rounds, both ways, least with "
        f"{title(whole[0].way, of, plain)} ({text.size(of.traffic(whole[0].way).total)})."
    )
