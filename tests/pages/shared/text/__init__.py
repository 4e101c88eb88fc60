"""Tests of pages/shared/text."""
