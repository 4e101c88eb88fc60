"""Tests of dppca_core/tables."""
