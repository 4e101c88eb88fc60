"""Tests of dppca_core/federated."""
