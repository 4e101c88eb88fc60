"""Tests of pages/shared/reports."""
