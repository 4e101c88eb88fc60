"""Tests of pages/explore/convergence."""
