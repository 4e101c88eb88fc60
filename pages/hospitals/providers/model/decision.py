"""Hold the decision whether our hospital should join: the verdict, its bars, and what would change it."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.dossier.agreement import Agreement
from dppca_core.experiments.decision import decision, rule
from dppca_core.experiments.decision import hospitals as core_hospitals
from dppca_core.experiments.decision.cells import TURNS, VERDICT, VERDICTS
from dppca_core.experiments.decision.decision import JoiningDecision
from dppca_core.experiments.decision.hospitals import LEAST_REPEATS, JoiningExperiment, JoiningHospital
from dppca_core.experiments.decision.outcomes import ALONE_AT, MOST_MEASURED, TOGETHER, WITHOUT, Arm
from dppca_core.experiments.decision.predictions import Along, Reversal
from dppca_core.experiments.decision.rule import Answer
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.privacy import Budget
from pages.shared.background import cache, engine
from pages.shared.charts import style
from pages.shared.document.blocks import Measuring
from pages.shared.plain import decisions, share_bars
from pages.shared.settings import hospitals
from pages.shared.settings.catalogue import Settings


class AnswerGroup(NamedTuple):
    """Hold hospitals that get one answer: their indices, and the answers of one or of both neighbours."""

    hospitals: tuple[int, ...]
    answers: tuple[Answer, ...]


class Decided:
    """Hold the decision of one setting, as far as it is measured.

    trust: whom they trust in the bar of all together. brief: whether only the verdict and the bars are asked
    for. cells: the runs, which all visitors with the same hospitals share.
    """

    def __init__(self, setting: JoiningExperiment, trust: str, *, brief: bool = True) -> None:
        self.setting, self.trust, self.brief = setting, trust, brief
        self.cells = cache.joining_cells(setting)

    @property
    def ours(self) -> JoiningHospital:
        return self.setting.hospitals[self.setting.ours]

    @property
    def measuring(self) -> Measuring:
        missing = partial(self.cells.next_missing, self.brief)
        return Measuring(self.cells, missing, partial(engine.missing_cells, self.cells, missing))

    def complete(self) -> None:
        while (cell := self.cells.next_missing(self.brief)) is not None:
            self.cells.try_cell(*cell)

    @property
    def decision(self) -> JoiningDecision | None:
        decision: JoiningDecision | None = self.cells.cells.get((VERDICT,))
        return decision

    @property
    def failed(self) -> Mapping[Arm, str]:
        """Return why runs failed; what follows from runs fails with them."""
        return {cell[:2]: reason for cell, reason in list(self.cells.failed.items()) if len(cell) == 3}

    @property
    def hopeless(self) -> bool:
        return (VERDICT,) in self.cells.failed

    @property
    def repeats(self) -> int:
        """Return how many runs our verdict needs: more, once the first have left it open."""
        return self.cells.runs.setting.repeats

    @property
    def done(self) -> int:
        return min(len(self.cells.shares((TOGETHER, trust))) for trust in share_bars.LOOKS)

    @property
    def outcomes(self) -> Mapping[str, Array] | None:
        """Return all quantities that claims compare, by name; None until their runs are there."""
        complete = self.decision is not None and len(self.cells.shares((WITHOUT, ""))) >= self.repeats
        return self.cells.runs.quantities() if complete else None

    def turns(self, along: Along) -> tuple[Reversal, ...] | None:
        turns: tuple[Reversal, ...] | None = self.cells.cells.get((TURNS, along))
        return turns

    def bars(self) -> share_bars.Shares:
        """Return the three bars: alone, together with privacy, together without.

        A spread is the median between the ends of its 99 % interval; NaN where there are too few runs.
        """
        publish, look = self.setting.use == "publish", share_bars.LOOKS[self.trust]
        alone = style.PRIVATE if publish else style.NOT_PRIVATE
        drawn = (
            (
                decisions.alone_label(self.ours.patients, self.setting.use),
                (ALONE_AT, self.setting.ours),
                alone,
            ),
            (decisions.together_label(self.trust), (TOGETHER, self.trust), look.colour),
            (decisions.WITHOUT, (WITHOUT, ""), style.NOT_PRIVATE),
        )
        made = tuple(
            share_bars.ShareRow(label, self._spread(arm), colour, stands_out=arm[0] == TOGETHER)
            for label, arm, colour in drawn
        )
        return share_bars.Shares(made, float("nan"), self.cells.runs.guess)

    def _spread(self, arm: Arm) -> Array:
        shares = self.cells.shares(arm)
        if len(shares) < LEAST_REPEATS:
            return np.full(3, np.nan)
        lower, upper = rule.median_interval(shares)
        return np.array([lower, np.median(shares), upper])

    def groups(self) -> list[AnswerGroup] | None:
        """Return the hospitals by their answers, the smallest first; None until they are known.

        Up to eight sizes have an answer each. Of more, hospitals of one answer in succession are one group.
        """
        decided = self.cells.cells.get((VERDICTS,))
        if decided is None:
            return None
        setting, our = self.setting, self.decision
        rank = {i: setting.rank(i) for i in range(len(setting.hospitals))}
        few = len(set(rank.values())) <= MOST_MEASURED

        def answers(i: int) -> tuple[Answer, ...]:
            final = (our if our and each.hospital == our.hospital else each for each in decided[i])
            return tuple(dict.fromkeys(each.answer for each in final))

        def alike(i: int) -> tuple[object, tuple[Answer, ...]]:
            return (rank[i] if few else None), answers(i)

        ordered = sorted(rank, key=lambda i: (rank[i], i != setting.ours, i))
        return [AnswerGroup(tuple(group), key[1]) for key, group in groupby(ordered, key=alike)]

    def code(self) -> FigureRecipe:
        return FigureRecipe("decision.shares", {"setting": self.cells.runs.setting, "trust": self.trust})


class JoiningBoard(Decided):
    """Hold the page's decision, and the settings that would follow if something happened."""

    def __init__(self, settings: Settings, names: Sequence[str] = ()) -> None:
        self.settings = settings
        self.names = hospitals.named(settings, names)
        super().__init__(hospitals.to_setting(settings), settings["trust"], brief=False)

    @property
    def agreement(self) -> Agreement:
        """Return what a board would sign, once there is a verdict.

        Where joining is not worth it under the trust that is set, it is the least trust under which it is.
        """
        assert self.decision is not None
        runs, evidence = self.cells.runs, self.decision.evidence
        worth = [trust for trust in share_bars.LOOKS if evidence[trust].passes]
        trust = self.trust if self.trust in worth or not worth else worth[0]
        return Agreement(runs.setting, self.decision, decision.bars(runs, trust), trust)

    @property
    def cautious(self) -> tuple[int, Decided]:
        """Return the most cautious hospital, and the decision if it asks for half of its ε."""
        after = core_hospitals.halved(self.setting)
        pairs = zip(self.setting.hospitals, after.hospitals, strict=True)
        index = next(i for i, (before, now) in enumerate(pairs) if before != now)
        return index, Decided(after, self.trust)

    @property
    def leaving(self) -> tuple[int, Decided] | None:
        """Return the largest other hospital, and the decision if it leaves; None for a single one."""
        setting = self.setting
        others = [i for i in range(len(setting.hospitals)) if i != setting.ours]
        if not others:
            return None
        index = max(others, key=lambda i: (setting.sizes[i], -i))
        return index, Decided(core_hospitals.without(setting, index), self.trust)

    def colluding(self, hospitals_of_server: int) -> float:
        """Return the ε that sealed sums leave the others where so many hospitals tell the server their noise.

        Each of N adds 1/N of the variance of the noise for the strictest ε, and the server takes off what it
        is told.
        """
        count = len(self.setting.hospitals)
        multiplier = gaussian.noise_multiplier(Budget(self.setting.strictest, self.setting.delta))
        left = (count - hospitals_of_server) / count
        return gaussian.epsilon_of(multiplier * left**0.5, self.setting.delta)

    def complete(self) -> None:
        """Measure what would follow, once the decision itself is known: a file has it."""
        if self.decision is None:
            return
        super().complete()
        for case in (self.cautious, self.leaving):
            if case is not None:
                case[1].complete()
