"""Tests of pages/tests/pages."""
