"""Tests of pages/explore."""
