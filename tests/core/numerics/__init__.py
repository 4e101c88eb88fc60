"""Tests of dppca_core/numerics."""
