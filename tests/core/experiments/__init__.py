"""Tests of dppca_core/experiments."""
