"""Tests of pages/explore/explorer."""
