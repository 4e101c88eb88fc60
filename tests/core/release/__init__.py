"""Tests of dppca_core/release."""
