"""Tests of pages/hospitals."""
