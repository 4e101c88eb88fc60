"""Tests of dppca_core/auditing."""
