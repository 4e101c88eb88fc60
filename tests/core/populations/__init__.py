"""Tests of dppca_core/populations."""
