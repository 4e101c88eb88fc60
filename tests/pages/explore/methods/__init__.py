"""Tests of pages/explore/methods."""
