"""Tests of dppca_core/mechanisms."""
