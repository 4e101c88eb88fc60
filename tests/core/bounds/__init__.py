"""Tests of dppca_core/bounds."""
