"""Tests of pages/explore/bounds."""
