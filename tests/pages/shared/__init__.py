"""Tests of pages/shared."""
