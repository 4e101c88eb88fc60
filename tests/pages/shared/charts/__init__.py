"""Tests of pages/shared/charts."""
