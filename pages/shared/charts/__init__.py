"""Draw tables as figures, by plain functions, in one style."""
# ruff: noqa: F403 -- this package gathers the names of what every chart is made of

from pages.shared.charts.metric_axis import *
from pages.shared.charts.traces import *
