"""Tests of dppca_core/accounting."""
