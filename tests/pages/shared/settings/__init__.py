"""Tests of pages/shared/settings."""
