"""Tests of pages/hospitals/providers."""
