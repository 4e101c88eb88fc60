"""Tests of pages/shared/background."""
