"""Tests of dppca_core/dossier."""
