"""Estimate the seconds of what simulations are made of, on one core; the constants are measured."""

import math

from dppca_core.methods import METHODS


def eigenproblem_seconds(d: int) -> float:
    """Estimate the time of one d x d eigenproblem: 1.6 ms at d = 200, growing by d^2.4."""
    return 1.6e-3 * math.exp(2.4 * math.log(d / 200))


def run_seconds(name: str, d: int, k: int, providers: int) -> float:
    """Estimate the time of a run of a method on patients that are there, with their rows."""
    return METHODS[name].cost(d, k, providers) * eigenproblem_seconds(d)


def draw_seconds(d: int) -> float:
    """Estimate the time of drawing the second moment of patients: 70 ms at d = 1000."""
    return 7e-11 * d**3


def draw_rows_seconds(d: int) -> float:
    """Estimate the time of drawing their rows as well, scaled to length 1: 1.1 s at d = 1000."""
    return 1.1e-9 * d**3
