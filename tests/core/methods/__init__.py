"""Tests of dppca_core/methods."""
