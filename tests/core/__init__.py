"""Tests of the numerical core: no screen, no network."""
